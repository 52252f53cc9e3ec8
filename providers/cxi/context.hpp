// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <infiniband/driver.h>

namespace cxi {

/// Opens a device for a process. NULL with errno set when the kernel or the environment refuses.
verbs_context* alloc_context(ibv_device* device, int cmd_fd, void* private_data) noexcept;

}  // namespace cxi
