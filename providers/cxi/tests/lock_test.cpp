// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "lock.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

namespace cxi {
namespace {

TEST(Lock, KeepsOthersOut) {
  static Lock lock;
  constexpr unsigned each = 20'000;
  unsigned count = 0;
  const auto step = [&] {
    for (unsigned i = 0; i < each; i++) {
      Guard guard(lock);
      count++;
    }
  };
  std::thread other(step);
  step();
  other.join();
  EXPECT_EQ(count, 2 * each);
}

TEST(Lock, LetsInWhoWaitsWhileAnotherHardlyEverLetsGo) {
  // On one processor: who polls is interrupted where it holds the lock more often than not, and
  // takes it again and again while the other one's turn does not come.
  static Lock lock;
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  std::atomic<bool> enough = false;
  std::atomic<std::uint64_t> taken = 0;
  std::thread poller([&] {
    while (!enough) {
      Guard guard(lock);
      taken++;
    }
  });
  constexpr unsigned rounds = 20;
  std::uint64_t meanwhile = 0;
  for (unsigned i = 0; i < rounds; i++) {
    const std::uint64_t last = taken;
    while (taken == last)
      sched_yield();
    const std::uint64_t seen = taken;
    Guard guard(lock);
    meanwhile += taken - seen;
  }
  enough = true;
  poller.join();
  EXPECT_LT(meanwhile, rounds * 100);
  EXPECT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

TEST(Lock, IsTakenOnce) {
  static Lock lock;
  ASSERT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
}

TEST(Lock, OfOneThreadIsNoLock) {
  static Lock lock;
  lock.set_single_threaded();
  lock.lock();
  lock.lock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
  lock.set_shared();
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
}

}  // namespace
}  // namespace cxi
