// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Ranges that are kept out of children.
#include "../fork_ranges.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <set>
#include <string>
#include <vector>

using verbs::ForkRanges;

namespace {

std::vector<std::string> advised;
std::set<uintptr_t> bad_starts;

int advise(uintptr_t start, size_t length, int advice) {
  advised.push_back((advice == MADV_DONTFORK ? "+" : "-") + std::to_string(start) + "," +
                    std::to_string(length));
  return bad_starts.count(start) ? EINVAL : 0;
}

class ForkRangesTest : public testing::Test {
 protected:
  ForkRangesTest() {
    advised.clear();
    bad_starts.clear();
  }
  std::vector<std::string> take() { return std::exchange(advised, {}); }

  ForkRanges ranges{advise};
};

using Advice = std::vector<std::string>;

TEST_F(ForkRangesTest, ARangeIsKeptOutOnceAndGivenBackOnce) {
  EXPECT_EQ(ranges.add(100, 10), 0);
  EXPECT_EQ(ranges.add(100, 10), 0);
  EXPECT_EQ(take(), Advice{"+100,10"});
  EXPECT_EQ(ranges.remove(100, 10, 1), 0);
  EXPECT_EQ(take(), Advice{});
  EXPECT_EQ(ranges.remove(100, 10, 1), 0);
  EXPECT_EQ(take(), Advice{"-100,10"});
  EXPECT_EQ(ranges.pieces(), 0u);
}

TEST_F(ForkRangesTest, OnlyNewPartsOfAnOverlapAreKeptOut) {
  ranges.add(100, 10);
  take();
  EXPECT_EQ(ranges.add(105, 10), 0);
  EXPECT_EQ(take(), Advice{"+110,5"});
  ranges.remove(100, 10, 1);
  EXPECT_EQ(take(), Advice{"-100,5"});
  ranges.remove(105, 10, 1);
  EXPECT_EQ(take(), Advice{"-105,10"});
  EXPECT_EQ(ranges.pieces(), 0u);
}

TEST_F(ForkRangesTest, ARangeInsideAnotherChangesNothing) {
  ranges.add(100, 100);
  take();
  ranges.add(120, 10);
  EXPECT_EQ(take(), Advice{});
  EXPECT_EQ(ranges.pieces(), 4u);
  ranges.remove(120, 10, 1);
  EXPECT_EQ(ranges.pieces(), 2u);
  ranges.remove(100, 100, 1);
}

TEST_F(ForkRangesTest, ARangeOverGapsFillsThem) {
  ranges.add(100, 10);
  ranges.add(120, 10);
  take();
  ranges.add(90, 50);
  EXPECT_EQ(take(), (Advice{"+90,10", "+110,10", "+130,10"}));
  ranges.remove(90, 50, 1);
  ranges.remove(120, 10, 1);
  ranges.remove(100, 10, 1);
  EXPECT_EQ(take(), (Advice{"-90,10", "-110,10", "-130,10", "-120,10", "-100,10"}));
}

TEST_F(ForkRangesTest, AFailureUndoesWhatWasDone) {
  ranges.add(110, 10);
  take();
  bad_starts = {120};
  EXPECT_EQ(ranges.add(100, 30), EINVAL);
  EXPECT_EQ(take(), (Advice{"+100,10", "+120,10", "-100,10"}));
  EXPECT_EQ(ranges.pieces(), 2u);
  bad_starts.clear();
  ranges.remove(110, 10, 1);
  EXPECT_EQ(take(), Advice{"-110,10"});
}

TEST_F(ForkRangesTest, GivingBackGoesPageByPageIfItMust) {
  ranges.add(100, 20);
  take();
  bad_starts = {100};
  EXPECT_EQ(ranges.remove(100, 20, 10), 0);
  EXPECT_EQ(take(), (Advice{"-100,20", "-100,10", "-110,10"}));
  EXPECT_EQ(ranges.pieces(), 0u);
}

TEST_F(ForkRangesTest, GivingBackTooOftenIsHarmless) {
  EXPECT_EQ(ranges.remove(100, 10, 1), 0);
  EXPECT_EQ(take(), Advice{});
  EXPECT_EQ(ranges.pieces(), 0u);
}

TEST_F(ForkRangesTest, AnyOrderEndsWithNothing) {
  const std::pair<uintptr_t, size_t> all[] = {{10, 30}, {20, 5}, {35, 10}, {0, 100}, {39, 1}};
  for (const auto& [start, length] : all)
    EXPECT_EQ(ranges.add(start, length), 0);
  for (const auto& [start, length] : all)
    EXPECT_EQ(ranges.remove(start, length, 1), 0);
  EXPECT_EQ(ranges.pieces(), 0u);
  size_t kept = 0, given = 0;
  for (const auto& line : take())
    (line[0] == '+' ? kept : given)++;
  EXPECT_GT(kept, 0u);
  EXPECT_GT(given, 0u);
}

}  // namespace
