// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The function tables of an open device.
#pragma once

#include <infiniband/driver.h>

namespace verbs {

// What a device does for verbs that its provider does not have.
extern const verbs_context_ops default_ops;

void set_default_ops(verbs_context& context) noexcept;

// Functions that inline verbs reach through the context, but that are the library's own.
void set_library_entry_points(verbs_context& context) noexcept;

}  // namespace verbs
