// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "event_ring.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "ring_writer_of_events.hpp"

namespace cxi {
namespace {

class EventRingTest : public testing::Test {
 protected:
  EventRingTest() : nic_(4) { ring_.init(nic_.memory(), nic_.bytes()); }

  NicSide nic_;
  EventRing ring_;
};

TEST_F(EventRingTest, IsEmptyAtFirst) {
  EXPECT_FALSE(ring_.peek());
  EXPECT_EQ(ring_.read_slot(), 1u);
}

TEST_F(EventRingTest, ReadsTheThreeSizes) {
  nic_.answer(0x1234, C_RC_OK, 5);
  nic_.fill(16);
  nic_.long_answer(0x5678, C_RC_OK, 6, 7, 8);
  nic_.put({.pte = 3, .buffer_id = 9, .mlength = 10, .rlength = 10});
  const EventView first = ring_.peek();
  ASSERT_TRUE(first);
  EXPECT_EQ(first.bytes, 16u);
  EXPECT_EQ(first.type(), unsigned{C_EVENT_ACK});
  EXPECT_EQ(first.return_code(), unsigned{C_RC_OK});
  ring_.consume(first);
  EXPECT_EQ(ring_.peek().type(), unsigned{C_EVENT_NULL_EVENT});
  ring_.consume(ring_.peek());
  EXPECT_EQ(ring_.peek().bytes, 32u);
  EXPECT_EQ(ring_.read_slot(), 1u);
  ring_.consume(ring_.peek());
  EXPECT_EQ(ring_.read_slot(), 2u);
  EXPECT_EQ(ring_.peek().bytes, 64u);
  ring_.consume(ring_.peek());
  EXPECT_FALSE(ring_.peek());
}

TEST_F(EventRingTest, WaitsForTheLastByte) {
  std::byte* at = nic_.put({.pte = 3, .buffer_id = 9});
  const std::byte last = at[63];
  at[63] = std::byte{0};
  EXPECT_FALSE(ring_.peek());
  at[63] = last;
  EXPECT_TRUE(ring_.peek());
}

TEST_F(EventRingTest, ZeroesWhatItConsumesAndWrapsBehindTheStatus) {
  for (unsigned lap = 0; lap < 3; lap++)
    for (std::uint16_t id = 1; id <= 3; id++) {
      nic_.put({.pte = 1, .buffer_id = id});
      const EventView event = ring_.peek();
      ASSERT_TRUE(event);
      EXPECT_EQ(cassini::c_event_target_long::buffer_id::get(event.at), id);
      EXPECT_EQ(ring_.read_slot(), id);
      ring_.consume(event);
      EXPECT_FALSE(ring_.peek());
    }
  for (std::uint32_t i = 64; i < nic_.bytes(); i++)
    EXPECT_EQ(nic_.memory()[i], std::byte{0});
}

TEST_F(EventRingTest, LooksAheadWithoutConsuming) {
  nic_.answer(1, C_RC_OK, 0);
  nic_.answer(2, C_RC_OK, 0);
  nic_.fill(32);
  nic_.put({.pte = 1, .buffer_id = 1});
  std::vector<unsigned> seen;
  ring_.look_ahead([&](EventView event) { seen.push_back(event.type()); });
  EXPECT_EQ(seen,
            (std::vector<unsigned>{C_EVENT_ACK, C_EVENT_ACK, C_EVENT_NULL_EVENT, C_EVENT_PUT}));
  EXPECT_EQ(ring_.position(), 64u);
}

TEST_F(EventRingTest, LookingAheadEndsInAFullRing) {
  for (std::uint16_t id = 1; id <= 3; id++)
    nic_.put({.pte = 1, .buffer_id = id});
  unsigned count = 0;
  ring_.look_ahead([&](EventView) { count++; });
  EXPECT_EQ(count, 3u);
}

TEST_F(EventRingTest, ABlankKeepsItsPlaceAndItsWorth) {
  nic_.answer(1, C_RC_OK, 0);
  nic_.answer(2, C_RC_OK, 0);
  ring_.blank(ring_.peek(), true);
  const EventView first = ring_.peek();
  EXPECT_EQ(first.bytes, 16u);
  EXPECT_EQ(first.type(), unsigned{C_EVENT_NULL_EVENT});
  EXPECT_TRUE(EventRing::is_counted_blank(first));
  ring_.consume(first);
  ring_.blank(ring_.peek(), false);
  EXPECT_FALSE(EventRing::is_counted_blank(ring_.peek()));
}

TEST_F(EventRingTest, AFillerOfTheNicCountsForNothing) {
  nic_.fill(16);
  EXPECT_FALSE(EventRing::is_counted_blank(ring_.peek()));
}

class CarryingTest : public EventRingTest {
 protected:
  ~CarryingTest() override { ring_.drop_carried(); }
  void begin() {
    ring_.begin_carry(static_cast<std::byte*>(std::malloc(ring_.carry_room())), counted_);
  }
  std::uint64_t user_of(EventView event) {
    return cassini::c_event_initiator_short::user_ptr::get(event.at);
  }
  std::vector<std::uint64_t> users() {
    std::vector<std::uint64_t> all;
    ring_.look_ahead([&](EventView event) { all.push_back(user_of(event)); });
    return all;
  }

  NicSide next_{8};
  std::uint32_t counted_ = 0;
};

TEST_F(CarryingTest, ReadsTheOldRingsEventsFirst) {
  nic_.answer(1, C_RC_OK, 0);
  ring_.consume(ring_.peek());
  nic_.answer(2, C_RC_OK, 0);
  nic_.fill(32);
  nic_.answer(3, C_RC_OK, 0);
  begin();
  EXPECT_FALSE(ring_.carry(counted_));
  nic_.answer(4, C_RC_OK, 0);
  nic_.eq_switch();
  EXPECT_TRUE(ring_.carry(counted_));
  ring_.go_on_in(next_.memory(), next_.bytes());
  next_.answer(5, C_RC_OK, 0);
  EXPECT_EQ(users(), (std::vector<std::uint64_t>{2, 3, 4, 5}));
  for (std::uint64_t user = 2; user <= 4; user++) {
    EXPECT_TRUE(ring_.carrying());
    ASSERT_EQ(user_of(ring_.peek()), user);
    ring_.consume(ring_.peek());
    EXPECT_EQ(ring_.position(), 64u);
  }
  EXPECT_FALSE(ring_.carrying());
  EXPECT_EQ(user_of(ring_.peek()), 5u);
  ring_.consume(ring_.peek());
  EXPECT_EQ(ring_.position(), 80u);
}

TEST_F(CarryingTest, CountsBlanksAndLeavesThemBehind) {
  nic_.answer(1, C_RC_OK, 0);
  nic_.answer(2, C_RC_OK, 0);
  nic_.fill(32);
  ring_.blank(ring_.peek(), true);
  begin();
  nic_.eq_switch();
  EXPECT_TRUE(ring_.carry(counted_));
  EXPECT_EQ(counted_, 1u);
  ring_.go_on_in(next_.memory(), next_.bytes());
  EXPECT_EQ(users(), (std::vector<std::uint64_t>{2}));
  ring_.blank(ring_.peek(), true);  // of what is carried
  begin();
  EXPECT_EQ(counted_, 2u);
  EXPECT_FALSE(ring_.carrying());
}

TEST_F(CarryingTest, CarriesOnWhatItCarries) {
  nic_.answer(1, C_RC_OK, 0);
  nic_.answer(2, C_RC_OK, 0);
  begin();
  nic_.eq_switch();
  ASSERT_TRUE(ring_.carry(counted_));
  ring_.go_on_in(next_.memory(), next_.bytes());
  ring_.consume(ring_.peek());
  next_.answer(3, C_RC_OK, 0);
  begin();
  next_.eq_switch();
  ASSERT_TRUE(ring_.carry(counted_));
  NicSide third(4);
  ring_.go_on_in(third.memory(), third.bytes());
  third.answer(4, C_RC_OK, 0);
  EXPECT_EQ(users(), (std::vector<std::uint64_t>{2, 3, 4}));
  ring_.drop_carried();
}

class SettingAsideTest : public CarryingTest {
 protected:
  void set_aside() {
    ring_.set_aside(static_cast<std::byte*>(std::malloc(ring_.carry_room())), counted_);
  }
  void put(std::uint16_t id) { nic_.put({.pte = 1, .buffer_id = id}); }
  /// Of the second event that is still to be read.
  void blank_second(bool counted) {
    unsigned number = 0;
    ring_.look_ahead([&](EventView event) {
      if (number++ == 1) ring_.blank(event, counted);
    });
  }
  unsigned take() {
    const EventView event = ring_.peek();
    const auto id = static_cast<unsigned>(cassini::c_event_target_long::buffer_id::get(event.at));
    ring_.consume(event);
    return id;
  }
};

TEST_F(SettingAsideTest, FreesThePlacesOfFillersOnly) {
  put(1);
  put(2);
  put(3);
  blank_second(false);
  set_aside();
  EXPECT_EQ(ring_.position(), 64u);  // once round
  EXPECT_EQ(ring_.read_slot(), 2u);  // two of three places are still taken
  for (std::uint32_t i = 64; i < nic_.bytes(); i++)
    EXPECT_EQ(nic_.memory()[i], std::byte{0});
  put(4);
  EXPECT_EQ(take(), 1u);
  EXPECT_EQ(ring_.read_slot(), 3u);
  EXPECT_TRUE(ring_.carrying());
  EXPECT_EQ(take(), 3u);
  EXPECT_EQ(ring_.read_slot(), 1u);
  EXPECT_FALSE(ring_.carrying());
  EXPECT_EQ(take(), 4u);
  EXPECT_EQ(ring_.read_slot(), 2u);
  EXPECT_FALSE(ring_.peek());
}

TEST_F(SettingAsideTest, AgainAndAgainTakesNoMoreThanWasThere) {
  put(1);
  for (std::uint16_t id = 2; id < 40; id++) {
    put(id);
    blank_second(id % 2);
    set_aside();
    EXPECT_EQ(counted_, (id - 1u) / 2) << id;
    EXPECT_EQ(ring_.read_slot(), 1u + (id - 1u) % 3) << id;
  }
  EXPECT_EQ(take(), 1u);
  EXPECT_FALSE(ring_.carrying());
}

TEST_F(SettingAsideTest, BehindWhatWasCarriedOver) {
  put(1);
  begin();
  nic_.eq_switch();
  ASSERT_TRUE(ring_.carry(counted_));
  ring_.go_on_in(next_.memory(), next_.bytes());
  next_.put({.pte = 1, .buffer_id = 2});
  set_aside();
  EXPECT_EQ(ring_.read_slot(), 1u);
  EXPECT_FALSE(ring_.owes());
  EXPECT_EQ(take(), 1u);
  EXPECT_TRUE(ring_.owes());
  EXPECT_EQ(ring_.read_slot(), 1u);
  EXPECT_EQ(take(), 2u);
  EXPECT_EQ(ring_.read_slot(), 2u);
}

TEST_F(SettingAsideTest, NothingIsOwedToARingThatTheNicHasLeft) {
  put(1);
  put(2);
  set_aside();
  EXPECT_TRUE(ring_.owes());
  begin();
  nic_.eq_switch();
  ASSERT_TRUE(ring_.carry(counted_));
  ring_.go_on_in(next_.memory(), next_.bytes());
  EXPECT_FALSE(ring_.owes());
  EXPECT_EQ(take(), 1u);
  EXPECT_EQ(ring_.read_slot(), 1u);
  EXPECT_EQ(take(), 2u);
  EXPECT_EQ(ring_.read_slot(), 1u);
}

}  // namespace
}  // namespace cxi
