// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What the fuzzer does for hours, for a moment and always the same: its first corpus, and each
// input of it with some bytes changed.
#include <gtest/gtest.h>

#include <random>

#include "fuzz/world.hpp"

namespace sim::fuzz {
namespace {

class RandomActs : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomActs, LeaveBystandersAloneAndNothingBehind) {
  auto input = first_corpus()[GetParam()];
  run(input.data(), input.size());
  std::mt19937 random(GetParam());
  for (unsigned i = 0; i < 40; ++i)
    input[random() % input.size()] = static_cast<uint8_t>(random());
  run(input.data(), input.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomActs, ::testing::Range(0u, 64u));

}  // namespace
}  // namespace sim::fuzz
