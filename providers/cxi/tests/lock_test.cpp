// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "lock.hpp"

#include <gtest/gtest.h>

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
}

}  // namespace
}  // namespace cxi
