// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Where events go in the ring, and when there is room.
#include "nic/event_queue.hpp"

#include <cerrno>
#include <deque>
#include <random>

#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

EventBytes event_of(size_t size, uint64_t mark = 0) {
  if (size == 64) {
    TargetEvent e;
    e.type = C_EVENT_LINK;
    e.return_code = C_RC_OK;
    e.match_bits = mark;
    return encode_long(e, 0);
  }
  InitiatorEvent e;
  e.type = C_EVENT_ACK;
  e.return_code = C_RC_OK;
  e.user_ptr = mark;
  return encode(e, size == 32, 0);
}

class Ring : public ::testing::Test {
 protected:
  void make(size_t slots, EqConfig config = {}) {
    reader = std::make_unique<EventReader>(slots);
    config.ring = reader->ring;
    config.sw_state = reader->sw_state;
    queue = std::make_unique<EventQueue>(3, 1, config);
  }
  bool write(size_t size, uint64_t mark = 0) { return queue->write(event_of(size, mark), 0); }
  std::vector<unsigned> raw_types() {
    std::vector<unsigned> out;
    while (auto e = reader->next_raw())
      out.push_back(e->hdr.event_type);
    return out;
  }
  std::unique_ptr<EventReader> reader;
  std::unique_ptr<EventQueue> queue;
};

TEST_F(Ring, EventsAreAlignedToTheirSizeAndGapsArePadded) {
  make(16);
  write(16);
  write(32);
  write(64);
  constexpr unsigned ack = C_EVENT_ACK, null = C_EVENT_NULL_EVENT, link = C_EVENT_LINK;
  EXPECT_EQ(raw_types(), (std::vector<unsigned>{ack, null, ack, link}));
  EXPECT_EQ(reader->at, 3u * 64);
  write(16);
  write(64);
  EXPECT_EQ(raw_types(), (std::vector<unsigned>{ack, null, null, link}));
}

TEST_F(Ring, FourShortEventsShareASlot) {
  make(16);
  for (uint64_t i = 0; i < 4; i++)
    write(16, i);
  for (uint64_t i = 0; i < 4; i++)
    EXPECT_EQ(reader->next_raw()->init_short.user_ptr, i);
  EXPECT_EQ(reader->at, 2u * 64);
}

TEST_F(Ring, WithoutCombiningEachEventHasASlotOfItsOwn) {
  make(16, {.combining_disable = true});
  write(16);
  write(16);
  EXPECT_TRUE(reader->next());
  EXPECT_TRUE(reader->next());
  EXPECT_EQ(reader->at, 2u * 64 + 16);
}

TEST_F(Ring, ContinuesAtSlotOneAfterTheEnd) {
  make(6);
  for (uint64_t i = 0; i < 100; i++) {
    ASSERT_TRUE(write(64, i));
    const auto e = reader->next();
    ASSERT_TRUE(e);
    EXPECT_EQ(e->tgt_long.match_bits, i);
    reader->ack();
  }
}

TEST_F(Ring, EventsOfAnySizeComeOnceAndInOrderHoweverTheRingIsReadAndResized) {
  std::mt19937_64 random{3};
  const auto below = [&](uint64_t n) { return random() % n; };
  for (int round = 0; round < 60; round++) {
    make(3 + below(40), {.combining_disable = round % 3 == 0});
    std::deque<uint64_t> expected;
    std::optional<SharedPages> next;  // ring, while there is a resize
    const auto read = [&] {
      auto event = reader->next();
      if (event && event->hdr.event_type == C_EVENT_EQ_SWITCH) {
        reader->ring = *next;
        reader->at = 64;
        reader->buffer_b = !reader->buffer_b;
        reader->ack();
        next.reset();
        ASSERT_EQ(queue->complete_resize(), 0);
        event = reader->next();
      }
      ASSERT_EQ(event.has_value(), !expected.empty());
      if (!event) return;
      EXPECT_EQ(reader->last_size == 64 ? event->tgt_long.match_bits : event->init_short.user_ptr,
                expected.front());
      expected.pop_front();
    };
    unsigned promised = 0;
    uint64_t mark = 0;
    for (int step = 0; step < 1500; step++) {
      const EventBytes event = event_of(size_t{16} << below(3), mark + 1);
      if (below(50) == 0) {
        auto pages = make_pages((3 + below(40)) * 64);
        if (queue->begin_resize(pages, 0) == 0) next = std::move(pages);
      }
      queue->end_switch(0);
      switch (below(6)) {
        case 0:
          promised += queue->promise(1);
          break;
        case 1:
          if (promised == 0) break;
          promised--;
          queue->write_promised(event, 0);
          expected.push_back(++mark);
          break;
        case 2:
          reader->ack();
          break;
        case 3:
          read();
          break;
        default:
          if (queue->write(event, 0)) expected.push_back(++mark);
          break;
      }
    }
    EXPECT_GT(mark, 20u);
    while (!expected.empty() && !HasFailure())
      read();
    EXPECT_EQ(reader->next().has_value(), next && !queue->wants_switch());
  }
}

TEST_F(Ring, HoldsTwoSlotsLessThanItsSizeAndDropsWhatIsMore) {
  make(8);
  for (int i = 0; i < 6; i++)
    EXPECT_TRUE(write(64));
  EXPECT_FALSE(write(64));
  EXPECT_EQ(queue->dropped(), 1u);
  reader->next();
  EXPECT_FALSE(write(64)) << "read, but not acknowledged";
  reader->ack();
  EXPECT_TRUE(write(64));
}

TEST_F(Ring, DropsAreReportedInTheStatusUntilAcknowledged) {
  make(8);
  for (int i = 0; i < 7; i++)
    write(64);
  auto status = reader->status();
  EXPECT_TRUE(status.unackd_dropped_event);
  EXPECT_EQ(status.event_slots_free, 0u);
  const bool seq = status.event_drop_seq_no;
  EXPECT_TRUE(seq);
  while (reader->next()) {
  }
  reader->drop_seq = seq;
  reader->ack();
  for (int i = 0; i < 6; i++)
    EXPECT_TRUE(write(64));
  write(64);
  EXPECT_NE(reader->status().event_drop_seq_no, seq) << "a new series of drops";
}

TEST_F(Ring, DropStatusCanBeDisabled) {
  make(8, {.drop_status_disable = true});
  for (int i = 0; i < 7; i++)
    write(64);
  EXPECT_FALSE(reader->status().unackd_dropped_event);
}

TEST_F(Ring, NetworkEventsCannotTakeTheReserve) {
  make(12, {.reserved_slots = 4});  // 10 usable
  EXPECT_TRUE(queue->promise(6));
  EXPECT_FALSE(queue->promise(1));
  for (int i = 0; i < 4; i++)
    EXPECT_TRUE(write(64));
  EXPECT_FALSE(write(64)) << "the promises hold";
  for (int i = 0; i < 6; i++)
    queue->write_promised(event_of(64), 0);
  int seen = 0;
  while (reader->next())
    seen++;
  EXPECT_EQ(seen, 10);
}

TEST_F(Ring, APromiseGivenBackIsRoomAgain) {
  make(8);
  EXPECT_TRUE(queue->promise(6));
  EXPECT_FALSE(write(16));
  queue->unpromise(6);
  EXPECT_TRUE(write(16));
}

TEST_F(Ring, ReserveIsAdjustedWithinLimits) {
  make(64);
  EXPECT_EQ(queue->adjust_reserve(10), 0);
  EXPECT_EQ(queue->reserved(), 10u);
  EXPECT_EQ(queue->adjust_reserve(-11), EINVAL);
  EXPECT_EQ(queue->adjust_reserve(20000), EINVAL);
  EXPECT_EQ(queue->adjust_reserve(54), ENOSPC);
  EXPECT_EQ(queue->adjust_reserve(-10), 0);
  EXPECT_EQ(queue->reserved(), 0u);
}

TEST_F(Ring, AReadPointerThatRunsAheadIsIgnored) {
  make(8);
  write(64);
  write(64);
  EXPECT_TRUE(queue->promise(4));
  for (const uint64_t bad : {uint64_t{5}, uint64_t{0}, uint64_t{8}, uint64_t{0x3ffffff}}) {
    reader->write_state(bad, false, 0);
    EXPECT_FALSE(write(64)) << bad << ": only two have been written";
  }
  reader->write_state(3, false, 0);
  EXPECT_TRUE(write(64));
}

TEST_F(Ring, NotifiesOnceForEachArmedValue) {
  make(8);
  EXPECT_FALSE(queue->take_notification()) << "never armed";
  reader->arm(1);
  EXPECT_EQ(queue->take_notification(), 1);
  EXPECT_FALSE(queue->take_notification());
  reader->arm(1);  // an acknowledgement that repeats the value
  EXPECT_FALSE(queue->take_notification());
  reader->write_state(1, false, 2);
  EXPECT_FALSE(queue->take_notification()) << "disarmed";
  reader->arm(2);
  EXPECT_EQ(queue->take_notification(), 2);
}

TEST_F(Ring, StatusIsWrittenWhenAThresholdIsCrossed) {
  EqConfig config;
  config.status = {.count = 1, .base = 50, .delta = 0};
  make(101, config);  // threshold: 50 free of 100
  for (int i = 0; i < 49; i++)
    write(64);
  EXPECT_EQ(reader->status().timestamp_sec, 0u);
  queue->write(event_of(64), 9'000'000'000);
  auto status = reader->status();
  EXPECT_EQ(status.timestamp_sec, 9u);
  EXPECT_EQ(status.timestamp_sec_cpy, 9u);
  EXPECT_TRUE(status.thld_sts);
  EXPECT_EQ(status.event_slots_free, 49u);
  EXPECT_EQ(status.wr_ptr, 51u);
  while (reader->next()) {
  }
  reader->ack();
  for (int i = 0; i < 60; i++)
    queue->write(event_of(64), 11'000'000'000);
  EXPECT_EQ(reader->status().timestamp_sec, 11u);
}

TEST_F(Ring, ResizeEndsTheOldRingWithASwitchEvent) {
  make(8);
  write(64, 1);
  const SharedPages next = make_pages(16 * 64);
  EXPECT_EQ(queue->begin_resize(next, 0), 0);
  EXPECT_EQ(queue->begin_resize(next, 0), EINVAL);
  write(64, 2);
  EXPECT_TRUE(reader->next());
  EXPECT_EQ(reader->next()->hdr.event_type, C_EVENT_EQ_SWITCH);
  EXPECT_FALSE(reader->next());
  reader->ring = next;
  reader->at = 64;
  reader->buffer_b = true;
  EXPECT_EQ(queue->complete_resize(), 0);
  EXPECT_EQ(queue->complete_resize(), EINVAL);
  EXPECT_EQ(reader->next()->tgt_long.match_bits, 2u);
  reader->ack();
  for (int i = 0; i < 14; i++)
    EXPECT_TRUE(write(64)) << i;
  EXPECT_FALSE(write(64));
}

TEST_F(Ring, ResizeWaitsForRoomInTheOldRing) {
  make(5);  // three usable
  for (int i = 0; i < 3; i++)
    write(64);
  const SharedPages next = make_pages(16 * 64);
  EXPECT_EQ(queue->begin_resize(next, 0), 0);
  EXPECT_EQ(queue->complete_resize(), EINVAL);
  reader->next();
  reader->ack();
  EXPECT_TRUE(write(64, 9));
  reader->next();
  reader->next();
  EXPECT_EQ(reader->next()->hdr.event_type, C_EVENT_EQ_SWITCH);
  reader->ring = next;
  reader->at = 64;
  EXPECT_EQ(reader->next()->tgt_long.match_bits, 9u);
}

TEST_F(Ring, ADeferredSwitchIsTriedAgainWithoutAnEvent) {
  make(5);
  for (int i = 0; i < 3; i++)
    write(64);
  EXPECT_EQ(queue->begin_resize(make_pages(16 * 64), 0), 0);
  EXPECT_TRUE(queue->wants_switch());
  EXPECT_FALSE(queue->end_switch(0));
  for (int i = 0; i < 3; i++)
    reader->next();
  reader->ack();
  EXPECT_TRUE(queue->end_switch(0));
  EXPECT_FALSE(queue->wants_switch());
  EXPECT_EQ(reader->next()->hdr.event_type, C_EVENT_EQ_SWITCH);
}

TEST_F(Ring, ThresholdsHaveSixSignificantBits) {
  EqConfig config;
  config.status = {.count = 1, .base = 1, .delta = 0};
  make(513, config);  // 506 = 0b111111010 becomes 504
  for (int i = 0; i < 7; i++)
    queue->write(event_of(64), 9'000'000'000);
  EXPECT_EQ(reader->status().timestamp_sec, 0u) << "504 of 511 are free";
  queue->write(event_of(64), 9'000'000'000);
  EXPECT_EQ(reader->status().timestamp_sec, 9u);
}

TEST_F(Ring, EachStatusHasATimeOfItsOwn) {
  make(5);
  for (int i = 0; i < 3; i++)
    write(64);
  EXPECT_FALSE(queue->write(event_of(64), 9'000'000'000));
  EXPECT_EQ(reader->status().timestamp_ns, 0u);
  EXPECT_FALSE(queue->write(event_of(64), 9'000'000'000));
  EXPECT_EQ(reader->status().timestamp_sec, 9u);
  EXPECT_EQ(reader->status().timestamp_ns, 1u);
  EXPECT_EQ(reader->status().timestamp_ns_cpy, 1u);
}

TEST_F(Ring, AFreedQueueIsToldOfWithoutAnEvent) {
  EqConfig config;
  config.status = {.count = 1, .base = 50, .delta = 0};
  make(101, config);
  for (int i = 0; i < 60; i++)
    queue->write(event_of(64), 9'000'000'000);
  EXPECT_TRUE(reader->status().thld_sts);
  queue->look_at_thresholds(11'000'000'000);
  EXPECT_EQ(reader->status().timestamp_sec, 9u) << "nothing has changed";
  while (reader->next()) {
  }
  reader->ack();
  queue->look_at_thresholds(12'000'000'000);
  EXPECT_EQ(reader->status().timestamp_sec, 12u);
  EXPECT_FALSE(reader->status().thld_sts);
  EXPECT_EQ(reader->status().event_slots_free, 99u);
}

TEST_F(Ring, WhatIsPromisedFitsTheRingThatIsSwitchedTo) {
  make(16);
  for (int i = 0; i < 14; i++)
    EXPECT_TRUE(write(64));
  const SharedPages next = make_pages(6 * 64);  // four usable
  EXPECT_EQ(queue->begin_resize(next, 0), 0);
  EXPECT_TRUE(queue->wants_switch());
  for (int i = 0; i < 13; i++)
    reader->next();
  reader->ack();  // room for twelve more, and the switch
  unsigned promised = 0;
  while (promised < 14 && queue->promise(1))
    promised++;
  EXPECT_EQ(promised, 4u);
  EXPECT_EQ(queue->adjust_reserve(6), ENOSPC) << "nor can more be reserved than it has";
  for (unsigned i = 0; i < promised; i++)
    queue->write_promised(event_of(64, i), 0);
  reader->next();
  EXPECT_EQ(reader->next()->hdr.event_type, C_EVENT_EQ_SWITCH);
  reader->ring = next;
  reader->at = 64;
  for (unsigned i = 0; i < promised; i++)
    EXPECT_EQ(reader->next()->tgt_long.match_bits, i);
}

TEST_F(Ring, DropsAreNumberedAlternatelyOnceAcknowledged) {
  make(5);
  for (int i = 0; i < 3; i++)
    write(64);
  for (const bool number : {true, false, true}) {
    EXPECT_FALSE(write(64));
    EXPECT_EQ(reader->status().event_drop_seq_no, number);
    EXPECT_FALSE(write(64));
    EXPECT_EQ(reader->status().event_drop_seq_no, number) << "the same until it is acknowledged";
    EXPECT_TRUE(reader->status().unackd_dropped_event);
    reader->drop_seq = number;
    reader->next();
    reader->ack();
    EXPECT_TRUE(write(64)) << "the queue goes on";
  }
}

}  // namespace
}  // namespace sim::nic::testing
