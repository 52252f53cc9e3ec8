// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The GID table.
#pragma once

#include <infiniband/driver.h>

#include <string_view>

namespace verbs {

// The type that a text of sysfs names. False for one that is not known.
bool parse_gid_type(std::string_view text, ibv_gid_type_sysfs& type) noexcept;

// One entry, by ioctl or, on kernels without, from sysfs (where which says what parts are needed).
// 0 or an errno value: ENODATA for an empty slot.
int query_gid_entry(ibv_context& context, uint32_t port, uint32_t index, ibv_gid_entry& entry,
                    uint32_t flags, size_t entry_size, uint32_t which) noexcept;

}  // namespace verbs
