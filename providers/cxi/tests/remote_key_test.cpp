// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "remote_key.hpp"

#include <gtest/gtest.h>

namespace cxi {
namespace {

TEST(RemoteKeys, NarrowKeysStandForWideOnes) {
  EXPECT_EQ(widen_remote_key(0x80000123), 0x8000000000000123u);
  EXPECT_EQ(widen_remote_key(0xc0000123), 0xa000000000000123u);
  EXPECT_EQ(widen_remote_key(0x3fffffff), 0x3fffffffu);
  EXPECT_EQ(widen_remote_key(0), 0u);
}

TEST(RemoteKeys, PlainKeysAreMatchedAsTheyAre) {
  for (const std::uint64_t key : {0x8000000000000123u, 0x0fffffffffffffffu}) {
    const RemoteKey taken = take_remote_key(key, 33);
    EXPECT_TRUE(taken.possible);
    EXPECT_FALSE(taken.indexed);
    EXPECT_EQ(taken.match_bits, key);
  }
}

TEST(RemoteKeys, IndexedKeysNameAnIndexAndAQueuePair) {
  const RemoteKey taken = take_remote_key(0xa000000000000123, 33);
  EXPECT_TRUE(taken.possible);
  EXPECT_TRUE(taken.indexed);
  EXPECT_EQ(taken.index, 3u);
  EXPECT_EQ(taken.match_bits, 0xa000000000000123 | std::uint64_t{33} << 30);
  EXPECT_FALSE(take_remote_key(0xa00000000000001f, 0).possible);  // index 31
}

TEST(RemoteKeys, BitsThatAreTheInitiatorsMakeNoKey) {
  const std::uint64_t driver = 0x8000000000000123;
  for (unsigned bit = 30; bit < 63; bit++) {
    const bool indexed = bit == 61;
    EXPECT_EQ(take_remote_key(driver | std::uint64_t{1} << bit, 0).possible, indexed) << bit;
  }
  for (const unsigned bit : {60u, 61u, 62u})
    EXPECT_FALSE(take_remote_key(0x123 | std::uint64_t{1} << bit, 0).possible) << bit;
}

}  // namespace
}  // namespace cxi
