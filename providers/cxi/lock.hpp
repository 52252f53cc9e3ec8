// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The lock of the data path: held for tens of nanoseconds, hardly ever contended, and switched off
// where the application promised that one thread uses the object and all that reaches it.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace cxi {

class Lock {
 public:
  /// Called once, before the object is visible to other threads.
  void set_single_threaded() noexcept { off_ = true; }
  /// Called by that one thread, outside of the lock: others will come to use the object.
  void set_shared() noexcept { off_ = false; }

  void lock() noexcept {
    if (off_) return;
    if (waiting_.load(std::memory_order_relaxed) == 0) [[likely]]
      for (unsigned spins = 0; spins < 64; spins++)
        if (try_take()) return;
    wait_for_it();
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
  /// The holder may have lost its processor, or never let go of it: who polls without a pause takes
  /// the lock again before anybody else sees it free, unless it is told that somebody waits.
  void wait_for_it() noexcept {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    do
      sched_yield();
    while (!try_take());
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }

  std::atomic<bool> taken_;
  bool off_;
  std::atomic<std::uint32_t> waiting_;  // threads that have waited long
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
