// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Order between this CPU and the NIC, and the stores that reach the NIC: those of the public header.
#pragma once

#include <cstdint>

#include "infiniband/cxidv_mmio.h"

namespace cxi {

/// What was written to memory before is visible to the NIC before what is stored after. Partner:
/// the NIC's fetch of commands after it has seen the write pointer.
inline void to_device_barrier() noexcept {
  cxidv_to_device_barrier();
}

/// What is read from memory after is no older than what the NIC wrote before the word that was read
/// before.
inline void from_device_barrier() noexcept {
  cxidv_from_device_barrier();
}

/// Pushes write-combining stores out. Partner: none, it only bounds the time they may linger.
inline void flush_writes() noexcept {
  cxidv_flush_writes();
}

/// One 64-bit store to a device page.
inline void store_doorbell(volatile std::uint64_t* where, std::uint64_t value) noexcept {
  cxidv_store_doorbell(where, value);
}

}  // namespace cxi
