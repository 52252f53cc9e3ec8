// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion channels as the kernel makes them: the ones of providers that have none of their own.
#pragma once

#include <infiniband/driver.h>

namespace verbs {

ibv_comp_channel* create_comp_channel(ibv_context* context) noexcept;  // NULL with errno
int destroy_comp_channel(ibv_comp_channel* channel) noexcept;

}  // namespace verbs
