// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Port queries.
#pragma once

#include <infiniband/driver.h>

#include <cstddef>

namespace verbs {

// ibv_query_port(), behind the inline verb: fills as much of the structure as the caller knows.
int query_port(ibv_context* context, uint8_t port, ibv_port_attr* attr, size_t size) noexcept;

}  // namespace verbs
