// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Arming, records from the channel, and what is acknowledged when.
#include <gmock/gmock.h>

#include "fake_objects.hpp"

namespace cxi {
namespace {

class Notifying : public QpOnPaper {};

using Word = cassini::csr::c_ee_cfg_eq_sw_state;

TEST_F(Notifying, AcknowledgementNamesTheSlotAndKeepsInterruptsOff) {
  ASSERT_EQ(receive(1, 0, 8), 0);
  nic.put({.pte = pte, .buffer_id = 1});
  poll();
  acknowledge(*cq, true);
  EXPECT_EQ(Word::rd_ptr::decode(sw_state), 2u);
  EXPECT_EQ(Word::event_int_disable::decode(sw_state), 1u);
}

TEST_F(Notifying, TheValueStepsWithEveryRecordAndAcknowledgementsRepeatTheArmedOne) {
  req_notify_cq(&cq->ibv.cq, 0);
  EXPECT_EQ(Word::event_int_disable::decode(sw_state), 0u);
  EXPECT_EQ(Word::spare::decode(sw_state), 1u);
  cq_event(&cq->ibv.cq);
  ASSERT_EQ(receive(1, 0, 8), 0);
  nic.put({.pte = pte, .buffer_id = 1});
  poll();
  acknowledge(*cq, true);
  EXPECT_EQ(Word::spare::decode(sw_state), 1u);
  req_notify_cq(&cq->ibv.cq, 0);
  EXPECT_EQ(Word::spare::decode(sw_state), 2u);
}

TEST_F(Notifying, ArmingWhileARecordIsOnItsWayIsNotLost) {
  req_notify_cq(&cq->ibv.cq, 0);
  req_notify_cq(&cq->ibv.cq, 0);
  EXPECT_EQ(Word::spare::decode(sw_state), 1u);
  cq_event(&cq->ibv.cq);
  EXPECT_EQ(Word::spare::decode(sw_state), 2u);
  cq_event(&cq->ibv.cq);
  EXPECT_EQ(Word::spare::decode(sw_state), 2u);
}

TEST_F(Notifying, ALaterWakeUpDoesNotReplaceAnEarlierOne) {
  cq->has_channel = true;
  wake_at(*cq, 700);
  EXPECT_EQ(cq->wake_ns, 0u);  // nobody sleeps
  req_notify_cq(&cq->ibv.cq, 0);
  wake_at(*cq, 700);
  wake_at(*cq, 900);
  EXPECT_EQ(cq->wake_ns, 700u);
  wake_at(*cq, 1);
  wake_at(*cq, 700);
  EXPECT_EQ(cq->wake_ns, 1u);
  cq_event(&cq->ibv.cq);
  req_notify_cq(&cq->ibv.cq, 0);
  wake_at(*cq, 900);
  EXPECT_EQ(cq->wake_ns, 900u);
}

TEST_F(Notifying, ArmingWhileARecordIsOnItsWayDoesNotForgetRepeats) {
  cq->has_channel = true;
  ASSERT_EQ(send(1, 8), 0);
  nic.answer(user(0), C_RC_ENTRY_NOT_FOUND, 0, true);
  poll();
  req_notify_cq(&cq->ibv.cq, 0);
  EXPECT_GT(cq->wake_ns, 1u);  // the repeat
  req_notify_cq(&cq->ibv.cq, 0);
  cq_event(&cq->ibv.cq);
  EXPECT_EQ(cq->wake_ns, 1u);
}

TEST_F(Notifying, AQueueWithLittleRoomForMessagesIsAcknowledgedEarly) {
  constexpr std::uint32_t ring_slots = 16, fixed = 2;
  for (const auto& [reserve, after] : {std::pair{0u, 2u}, {10u, 2u}, {11u, 1u}, {14u, 1u}}) {
    cq->reserve = reserve;
    limit_unacknowledged(*cq);
    EXPECT_EQ(cq->ack_after, after) << reserve << " of " << ring_slots - fixed;
  }
  ASSERT_EQ(receive(1, 0, 8), 0);
  nic.put({.pte = pte, .buffer_id = 1});
  poll();
  EXPECT_EQ(Word::rd_ptr::decode(sw_state), 2u);
}

TEST_F(Notifying, TheValueComesRoundAfterSixteenRecords) {
  for (unsigned i = 1; i <= 20; i++) {
    req_notify_cq(&cq->ibv.cq, 0);
    EXPECT_EQ(Word::spare::decode(sw_state), i % 16);
    cq_event(&cq->ibv.cq);
  }
}

}  // namespace
}  // namespace cxi
