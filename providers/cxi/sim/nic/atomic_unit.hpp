// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Atomic operations on one element (behaviour 8). Pure: memory in, memory out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "nic/packets.hpp"

namespace sim::nic {

using AtomicValue = std::array<std::byte, 16>;

/// C_RC_OK, AMO_INVAL_OP_ERROR (this operation on this type) or AMO_LENGTH_ERROR.
int check_atomic(const AtomicOperands& operands, uint32_t length);

struct AtomicResult {
  AtomicValue value{};  // what the memory holds afterwards
  int exceptions = 0;   // FE_* flags of a floating-point operation
};

/// Applies a checked operation to what the memory holds.
AtomicResult apply_atomic(const AtomicOperands& operands, const AtomicValue& memory);

}  // namespace sim::nic
