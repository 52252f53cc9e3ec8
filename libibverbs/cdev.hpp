// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Opening the character device behind an RDMA device.
#pragma once

#include <sys/types.h>

#include "scoped.hpp"

namespace verbs {

// Opens a uverbs device by name; if the node is missing or is another device than the number says,
// waits for a moment until udev has made the one under /dev/char. Empty, with errno, on failure.
Fd open_character_device(const char* name, dev_t number) noexcept;

}  // namespace verbs
