// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <infiniband/driver.h>

#include <cstdint>

namespace cxi {

/// What verbs_open_device() may be given to hand to alloc_context().
struct OpenOptions {
  std::uint32_t svc_id;  // 0: the one that the environment names, else the default one
};

/// Opens a device for a process. NULL with errno set when the kernel or the environment refuses.
verbs_context* alloc_context(ibv_device* device, int cmd_fd, void* private_data) noexcept;

}  // namespace cxi
