// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The lock of the data path: held for tens of nanoseconds, hardly ever contended, and switched off
// where the application promised that one thread uses the object.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace cxi {

class Lock {
 public:
  /// Called once, before the object is visible to other threads.
  void set_single_threaded() noexcept { off_ = true; }

  void lock() noexcept {
    if (off_) return;
    for (unsigned spins = 0; !try_take(); spins++)
      if (spins >= 64) sched_yield();  // the holder may have lost its CPU
  }
  bool try_lock() noexcept { return off_ || try_take(); }
  void unlock() noexcept {
    if (!off_) taken_.store(false, std::memory_order_release);
  }

 private:
  bool try_take() noexcept {
    return !taken_.load(std::memory_order_relaxed) &&
           !taken_.exchange(true, std::memory_order_acquire);
  }

  std::atomic<bool> taken_;
  bool off_;
};

template <class L>
class [[nodiscard]] Guard {
 public:
  explicit Guard(L& lock) noexcept : lock_(lock) { lock_.lock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { lock_.unlock(); }

 private:
  L& lock_;
};

}  // namespace cxi
