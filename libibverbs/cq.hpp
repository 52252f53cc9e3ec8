// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion queues.
#pragma once

#include <infiniband/driver.h>

namespace verbs {

// ibv_create_cq_ex(), behind the inline verb.
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr) noexcept;

}  // namespace verbs
