// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Keys of remote regions, as applications have them and as messages carry them. Pure.
#pragma once

#include <cstdint>

#include "rdma/cxiverbs-abi.h"

namespace cxi {

/// What a key of 32 bits stands for.
constexpr std::uint64_t widen_remote_key(std::uint32_t key) noexcept {
  constexpr std::uint32_t low = (1u << CXI_ABI_RKEY_SERIAL_BITS) - 1;
  return (key & CXI_ABI_RKEY32_DRIVER ? CXI_ABI_RKEY_DRIVER : 0) |
         (key & CXI_ABI_RKEY32_INDEXED ? CXI_ABI_RKEY_INDEXED : 0) | (key & low);
}

/// Where a remote access goes.
struct RemoteKey {
  bool possible;  ///< some region may have the key; no message is sent for one that none can have
  bool indexed;   ///< the region has a portal index of its own
  std::uint32_t index;
  std::uint64_t match_bits;
};

/// Takes a key apart for an access to the region as a queue pair with this resource index attached
/// it. The bits that choose an entry are the initiator's: a key that brings them along is none.
constexpr RemoteKey take_remote_key(std::uint64_t key, std::uint32_t ri) noexcept {
  constexpr std::uint64_t low = (std::uint64_t{1} << CXI_ABI_RKEY_SERIAL_BITS) - 1;
  constexpr std::uint64_t driver_bits = CXI_ABI_RKEY_DRIVER | CXI_ABI_RKEY_INDEXED | low;
  RemoteKey result = {};
  const bool driver = key & CXI_ABI_RKEY_DRIVER;
  result.possible = !(key & ~(driver ? driver_bits : std::uint64_t{CXI_ABI_RKEY_USER_MASK}));
  result.indexed = driver && (key & CXI_ABI_RKEY_INDEXED);
  result.match_bits = key;
  if (!result.indexed) return result;
  result.index = static_cast<std::uint32_t>(key & ((1u << CXI_ABI_RKEY_INDEX_BITS) - 1));
  result.possible = result.possible && result.index < CXI_ABI_NUM_INDEXED;
  result.match_bits |= std::uint64_t{ri} << CXI_ABI_RKEY_RI_SHIFT;
  return result;
}

}  // namespace cxi
