// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "ring.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace cxi {
namespace {

class Ring : public testing::Test {
 protected:
  explicit Ring(std::uint32_t slots = 64) : memory_(slots * 64, std::byte{0xee}) {
    ring_.init(memory_.data(), slots);
  }
  std::uint32_t unit_of(const std::byte* place) const {
    return static_cast<std::uint32_t>((place - memory_.data()) / 32);
  }
  bool is_noop(std::uint32_t unit) const {
    for (unsigned i = 0; i < 8; i++)
      if (memory_[unit * 32 + i] != std::byte{0}) return false;
    return true;
  }

  std::vector<std::byte> memory_;
  RingWriter ring_;
};

TEST_F(Ring, PadsEveryCommandToItsOwnSize) {
  // Rows: position mod 8; columns: commands of 32, 64, 128 and 256 bytes.
  constexpr std::array<std::array<unsigned, 4>, 8> expected{{{0, 0, 0, 0},
                                                             {0, 1, 3, 7},
                                                             {0, 0, 2, 6},
                                                             {0, 1, 1, 5},
                                                             {0, 0, 0, 4},
                                                             {0, 1, 3, 3},
                                                             {0, 0, 2, 2},
                                                             {0, 1, 1, 1}}};
  for (unsigned position = 0; position < 8; position++)
    for (unsigned size = 0; size < 4; size++)
      EXPECT_EQ(RingWriter::padding(8 + position, 1u << size), expected[position][size])
          << "position " << position << ", " << (32u << size) << " bytes";
}

TEST_F(Ring, StartsBehindTheStatusAndPadsWithNoops) {
  EXPECT_EQ(unit_of(ring_.reserve(1)), 8u);
  EXPECT_EQ(unit_of(ring_.reserve(4)), 12u);
  for (std::uint32_t unit = 9; unit < 12; unit++)
    EXPECT_TRUE(is_noop(unit)) << unit;
  EXPECT_FALSE(is_noop(8));
  EXPECT_FALSE(is_noop(12));
}

TEST_F(Ring, PublishesWholeSlots) {
  EXPECT_FALSE(ring_.pending());
  ring_.reserve(1);
  EXPECT_TRUE(ring_.pending());
  EXPECT_EQ(ring_.publish(), 5u);
  EXPECT_TRUE(is_noop(9));
  EXPECT_FALSE(ring_.pending());
  ring_.reserve(2);
  EXPECT_EQ(ring_.publish(), 6u);
}

TEST_F(Ring, AnEmptyRingOf64SlotsHasRoomFor59) {
  EXPECT_EQ(ring_.free_units(), 118u);
  unsigned slots = 0;
  while (ring_.reserve(2))
    slots++;
  EXPECT_EQ(slots, 59u);
}

TEST_F(Ring, RefusesWhatDoesNotFitAndStaysAsItWas) {
  while (ring_.free_units() >= 4)
    ring_.reserve(2);
  ASSERT_EQ(ring_.free_units(), 2u);
  const std::uint32_t before = ring_.mark();
  EXPECT_EQ(ring_.reserve(4), nullptr);
  EXPECT_EQ(ring_.mark(), before);
  EXPECT_NE(ring_.reserve(2), nullptr);
}

TEST_F(Ring, WrapsToTheFirstCommandSlot) {
  for (unsigned i = 0; i < 59; i++)
    ASSERT_NE(ring_.reserve(2), nullptr);
  EXPECT_EQ(ring_.publish(), 63u);
  ring_.set_read_slot(40);
  EXPECT_EQ(unit_of(ring_.reserve(2)), 126u);
  EXPECT_EQ(unit_of(ring_.reserve(2)), 8u);
  EXPECT_EQ(ring_.publish(), 5u);
  EXPECT_EQ(ring_.free_units(), 2 * (40u - 5u) - 2);
}

TEST_F(Ring, PaddingAtTheEndLeadsToTheFirstSlotToo) {
  for (unsigned i = 0; i < 59; i++)
    ASSERT_NE(ring_.reserve(2), nullptr);
  ring_.set_read_slot(60);
  EXPECT_EQ(unit_of(ring_.reserve(8)), 8u);
  EXPECT_TRUE(is_noop(126));
  EXPECT_TRUE(is_noop(127));
}

TEST_F(Ring, TakesBackWhatWasNotAnnounced) {
  ring_.reserve(2);
  ring_.publish();
  const std::uint32_t mark = ring_.mark();
  ring_.reserve(8);
  ring_.back_to(mark);
  EXPECT_FALSE(ring_.pending());
  EXPECT_EQ(unit_of(ring_.reserve(2)), 10u);
}

// Whatever is written, commands are aligned, inside the ring and never on top of unread ones.
TEST_F(Ring, NeverOverwritesWhatTheNicHasNotRead) {
  constexpr std::array<std::uint32_t, 7> sizes{1, 8, 2, 1, 4, 2, 8};
  std::vector<std::uint32_t> unread;
  std::uint32_t read_slot = 4;
  for (unsigned step = 0; step < 2000; step++) {
    const std::uint32_t units = sizes[(step * 5 + step / 7) % sizes.size()];
    const std::byte* place = ring_.reserve(units);
    if (!place) {  // the NIC reads everything that was announced
      read_slot = ring_.publish();
      ring_.set_read_slot(read_slot);
      unread.clear();
      continue;
    }
    const std::uint32_t unit = unit_of(place);
    ASSERT_EQ(unit % units, 0u);
    ASSERT_GE(unit, 8u);
    ASSERT_LE(unit + units, 128u);
    for (std::uint32_t other : unread)
      ASSERT_TRUE(other < unit || other >= unit + units);
    unread.push_back(unit);
  }
}

}  // namespace
}  // namespace cxi
