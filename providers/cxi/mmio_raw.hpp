// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Order between this CPU and the NIC, and the stores that reach the NIC. Memory is coherent;
// doorbell pages may be mapped write-combining.
#pragma once

#include <atomic>
#include <cstdint>

namespace cxi {

/// What was written to memory before is visible to the NIC before what is stored after. Partner:
/// the NIC's fetch of commands after it has seen the write pointer.
inline void to_device_barrier() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  asm volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dmb oshst" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// Pushes write-combining stores out. Partner: none, it only bounds the time they may linger.
inline void flush_writes() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  asm volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dsb st" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// One 64-bit store to a device page.
inline void store_doorbell(volatile std::uint64_t* where, std::uint64_t value) noexcept {
  *where = value;
}

}  // namespace cxi
