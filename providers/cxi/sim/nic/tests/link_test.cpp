// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Peers that cannot be reached, notification, and the trace.
#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class Link : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 3;
  static constexpr uint64_t give_up = 1'000'000'000;
  void SetUp() override {
    const unsigned pte = b.add_pte(pid, index);
    b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 4, 0, 100));
    go(b.target);
    run();
  }
  void send(uint64_t mark, uint32_t nid = 2) {
    auto put = a.put(dfa(nid, pid, index), index, 0, 8);
    put.user_ptr = mark;
    put.match_bits = mark;
    a.tx.push(put);
    go(a.tx);
    run();
  }
  void expect_answer(uint64_t mark, unsigned code) {
    const auto event = a.init_eq.next();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->init_short.user_ptr, mark);
    EXPECT_EQ(event->init_short.return_code, code);
  }
};

TEST_F(Link, ADownPeerIsGivenUpAfterTheConfiguredTimeAndNotBefore) {
  b.device->set_link(false);
  send(1);
  send(2);
  clock.mono += give_up - 2;
  run();
  EXPECT_FALSE(a.init_eq.next());
  ASSERT_TRUE(a.device->next_due_ns());
  clock.mono += 2'000'000;
  run();
  expect_answer(1, C_RC_UNDELIVERABLE);
  expect_answer(2, C_RC_UNDELIVERABLE);
  EXPECT_FALSE(a.device->next_due_ns());
}

TEST_F(Link, AnUnknownNidIsUndeliverable) {
  send(1, 99);
  clock.mono += give_up;
  run();
  expect_answer(1, C_RC_UNDELIVERABLE);
}

TEST_F(Link, WhatWasHeldBackGoesOutInOrderWhenThePeerIsBack) {
  a.device->set_link(false);
  EXPECT_FALSE(a.device->link_up());
  for (uint64_t i = 0; i < 5; i++)
    send(i);
  clock.mono += give_up / 2;
  run();
  a.device->set_link(true);
  clock.mono += 2'000'000;
  run();
  for (uint64_t i = 0; i < 5; i++) {
    const auto event = b.target_eq.next();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->tgt_short.match_bits, i);
    expect_answer(i, C_RC_OK);
  }
}

TEST_F(Link, APeerKnownToBeDownFailsFastAndIsTriedAgain) {
  b.device->set_link(false);
  send(1);
  clock.mono += give_up;
  run();
  expect_answer(1, C_RC_UNDELIVERABLE);
  send(2);
  expect_answer(2, C_RC_UNDELIVERABLE);
  b.device->set_link(true);
  send(3);
  expect_answer(3, C_RC_OK);
  b.device->set_link(false);
  send(4);
  EXPECT_FALSE(a.init_eq.next()) << "it was up in between";
}

TEST_F(Link, AnAnswerThatIsLostEndsInATimeOut) {
  a.tx.push(a.put(dfa(2, pid, index), index, 0, 8));
  go(a.tx);
  a.device->step();  // sent
  a.device->set_link(false);
  run();
  EXPECT_TRUE(b.target_eq.next()) << "it has taken effect";
  clock.mono += give_up + 2'000'000;
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_UNDELIVERABLE);
  a.device->set_link(true);
  clock.mono += give_up;
  run();
  EXPECT_FALSE(a.init_eq.next());
}

TEST_F(Link, OneDeadPeerDoesNotHoldUpTheOthers) {
  send(1, 99);
  send(2);
  expect_answer(2, C_RC_OK);
}

TEST_F(Link, ANicThatGoesAwayLeavesItsPeersAlive) {
  { Node c(3, *fabric, clock, trace); }
  send(1, 3);
  clock.mono += give_up;
  run();
  expect_answer(1, C_RC_UNDELIVERABLE);
}

TEST_F(Link, ATargetDoesNotWaitForeverForTheRestOfAMessage) {
  EventReader small(64);
  b.add_eq(small, {.reserved_slots = 61});  // one slot for the network
  const unsigned pte = b.add_pte(pid, 9, {.eqn = small.eqn, .matching = true, .long_events = true});
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 4, 0, 4 << 20));
  go(b.target);
  run();
  a.tx.push(a.put(dfa(2, pid, 9), 9, 0, 4 << 20));
  go(a.tx);
  a.device->step();
  b.device->step();
  a.device->set_link(false);
  clock.mono += give_up * 2;
  run();
  const auto event = small.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_long.return_code, C_RC_MST_CANCELLED);
  small.ack();
  b.tx.push(b.put(dfa(2, pid, 9), 9, 0, 8));
  go(b.tx);
  run();
  EXPECT_EQ(b.init_eq.next()->init_short.return_code, C_RC_OK) << "its event slot is free again";
}

TEST_F(Link, EventsNotifyOnceForEachArming) {
  a.init_eq.arm(1);
  send(1);
  send(2);
  EXPECT_EQ(a.interrupts.events, (std::vector<std::pair<unsigned, unsigned>>{{a.init_eq.eqn, 1}}));
  a.init_eq.arm(2);
  send(3);
  EXPECT_EQ(a.interrupts.events.size(), 2u);
  EXPECT_EQ(a.interrupts.events.back().second, 2u);
}

TEST_F(Link, AQueueCanWakeAnother) {
  ASSERT_EQ(a.device->add_eq_wake(a.init_eq.eqn, a.target_eq.eqn), 0);
  ASSERT_EQ(a.device->add_eq_wake(a.init_eq.eqn, a.target_eq.eqn), 0);
  a.target_eq.arm(5);
  send(1);
  EXPECT_EQ(a.interrupts.events,
            (std::vector<std::pair<unsigned, unsigned>>{{a.target_eq.eqn, 5}}));
  a.device->remove_eq_wake(a.init_eq.eqn, a.target_eq.eqn);
  a.target_eq.arm(6);
  send(2);
  EXPECT_EQ(a.interrupts.events.size(), 2u) << "added twice, removed once";
  a.device->remove_eq_wake(a.init_eq.eqn, a.target_eq.eqn);
  a.target_eq.arm(7);
  send(3);
  EXPECT_EQ(a.interrupts.events.size(), 2u);
}

TEST_F(Link, PokingAQueueActsLikeAnEvent) {
  a.device->poke_eq(a.init_eq.eqn);
  EXPECT_TRUE(a.interrupts.events.empty());
  a.init_eq.arm(3);
  a.device->poke_eq(a.init_eq.eqn);
  EXPECT_EQ(a.interrupts.events.size(), 1u);
}

TEST_F(Link, TimestampEventsComeOnceASecond) {
  EventReader eq(64);
  a.add_eq(eq, {.timestamp_events = true});
  clock.mono += 2'000'000;
  run();
  const auto event = eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->timestamp.event_type, C_EVENT_TIMESTAMP);
  EXPECT_EQ(event->timestamp.timestamp_sec, clock.real / 1'000'000'000);
  run();
  EXPECT_FALSE(eq.next());
  clock.mono += 1'000'000'000;
  run();
  EXPECT_TRUE(eq.next());
}

TEST_F(Link, TheTraceTellsCommandPacketMatchAndEvents) {
  trace.on = true;
  send(0x77);
  const auto has = [&](const char* part) {
    return std::ranges::any_of(
        trace.lines, [&](const std::string& line) { return line.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(has("nic 1: queue 0: PUT to nid 2 pid 5 index 3 vni 10 length 8 match 0x77"));
  EXPECT_TRUE(has("nic 2: PUT from nid 1 vni 10 pid 5 index 3 length 8"));
  EXPECT_TRUE(has("nic 2: match: pte 1 buffer 4 in PRIORITY"));
  EXPECT_TRUE(has("PUT OK pte 1 buffer 4"));
  EXPECT_TRUE(has("ACK OK user_ptr 0x77 length 8"));
}

}  // namespace
}  // namespace sim::nic::testing
