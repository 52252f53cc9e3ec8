// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "staging.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace cxi {
namespace {

std::unique_ptr<UnitMap> empty_map() {
  return std::make_unique<UnitMap>();  // cleared, as calloc() would
}

TEST(UnitMap, GivesEveryUnitOnce) {
  auto map = empty_map();
  for (std::uint32_t i = 0; i < UnitMap::units; i++)
    ASSERT_EQ(map->take(1), i);
  EXPECT_EQ(map->take(1), UnitMap::none);
  map->give_back(777, 1);
  EXPECT_EQ(map->take(1), 777u);
}

TEST(UnitMap, FindsARowAcrossWords) {
  auto map = empty_map();
  ASSERT_EQ(map->take(UnitMap::units), 0u);
  map->give_back(60, 10);
  EXPECT_EQ(map->take(11), UnitMap::none);
  EXPECT_EQ(map->take(10), 60u);
}

TEST(UnitMap, SearchesAgainFromTheStart) {
  auto map = empty_map();
  const std::uint32_t half = UnitMap::units / 2;
  ASSERT_EQ(map->take(half), 0u);
  ASSERT_EQ(map->take(half - 3), half);
  map->give_back(0, half);
  EXPECT_EQ(map->take(4), 0u);
}

TEST(UnitMap, RefusesNothingAndTooMuch) {
  auto map = empty_map();
  EXPECT_EQ(map->take(0), UnitMap::none);
  EXPECT_EQ(map->take(UnitMap::units + 1), UnitMap::none);
}

TEST(Staging, BlocksDoNotOverlap) {
  auto staging = std::make_unique<Staging>();
  const std::uint32_t first = staging->take(513);
  const std::uint32_t second = staging->take(1);
  EXPECT_EQ(first, 0u);
  EXPECT_EQ(second, 1024u);
  staging->give_back(first, 513);
  EXPECT_EQ(staging->take(Staging::bytes), UnitMap::none);
  staging->give_back(second, 1);
  EXPECT_EQ(staging->take(Staging::bytes), 0u);
}

}  // namespace
}  // namespace cxi
