// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What becomes of requests when a queue pair, or the device, goes out of service.
#include <gmock/gmock.h>

#include "fake_objects.hpp"

namespace cxi {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Flushing : public QpOnPaper {};

TEST_F(Flushing, FinishedRequestsKeepTheirStatusTheRestAreFlushedInOrder) {
  for (std::uint64_t id = 1; id <= 4; id++)
    ASSERT_EQ(send(id, 8), 0);
  nic.answer(user(1), C_RC_OK, 8);
  nic.answer(user(2), C_RC_ENTRY_NOT_FOUND, 0, true);
  qp->state = IBV_QPS_ERR;
  flush_send(*qp);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 4u);
  for (std::uint64_t id = 1; id <= 4; id++)
    EXPECT_EQ(wc[id - 1].wr_id, id);
  EXPECT_EQ(wc[0].status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(wc[1].status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc[2].status, IBV_WC_WR_FLUSH_ERR);  // refused, and not repeated any more
  EXPECT_EQ(wc[3].status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(Flushing, ReceivesThatATookMessageComeFirst) {
  for (std::uint64_t id = 1; id <= 3; id++)
    ASSERT_EQ(receive(id, 0, 8), 0);
  nic.put({.pte = pte, .buffer_id = 2});
  qp->state = IBV_QPS_ERR;
  flush_recv(*qp);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 3u);
  EXPECT_EQ(wc[0].wr_id, 2u);
  EXPECT_EQ(wc[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc[1].wr_id, 1u);
  EXPECT_EQ(wc[1].status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(wc[2].wr_id, 3u);
}

TEST_F(Flushing, WhatIsPostedInErrorIsFlushedAtOnce) {
  qp->state = IBV_QPS_ERR;
  ASSERT_EQ(send(1, 8), 0);
  ASSERT_EQ(receive(2, 0, 8), 0);
  for (const ibv_wc& wc : poll())
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(tx_doorbell, 0u);
  EXPECT_EQ(tgt_doorbell, 0u);
}

TEST_F(Flushing, NothingCanBePostedInReset) {
  qp->state = IBV_QPS_RESET;
  EXPECT_EQ(send(1, 8), EINVAL);
  EXPECT_EQ(receive(2, 0, 8), EINVAL);
}

TEST_F(Flushing, ForgettingLeavesNoCompletionAndReturnsTheCredits) {
  ASSERT_EQ(send(1, 8), 0);
  ASSERT_EQ(send(2, 8), 0);
  ASSERT_EQ(receive(3, 0, 8), 0);
  nic.answer(user(0), C_RC_OK, 8);
  nic.fill(16);
  nic.fill(32);
  nic.put({.pte = pte, .buffer_id = 1});
  forget_send(*qp);
  forget_recv(*qp);
  EXPECT_THAT(poll(), IsEmpty());
  acknowledge(*cq, true);
  EXPECT_EQ(cq->credits, static_cast<int>(depth));
  EXPECT_EQ(qp->recv.used, 0u);
}

TEST_F(Flushing, ADeadDeviceFlushesWhatIsOutstanding) {
  ASSERT_EQ(send(1, 8), 0);
  ASSERT_EQ(receive(2, 0, 8), 0);
  context->dead = true;
  EXPECT_EQ(poll().size(), 2u);
  ASSERT_EQ(send(3, 8), 0);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 1u);
  EXPECT_EQ(wc[0].status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(Flushing, WhatABuilderHadBegunIsFlushedWhenTheDeviceIsGone) {
  ibv_qp_ex* ex = &qp->ibv.qp_ex;
  ex->wr_start(ex);
  ex->wr_id = 5;
  ex->wr_flags = 0;
  ex->wr_send(ex);
  ex->wr_set_ru_addr(ex, &ah->ibv, 0);
  ex->wr_set_sge(ex, key, reinterpret_cast<std::uintptr_t>(buffer.data()), 8);
  ex->wr_id = 6;
  ex->wr_send(ex);
  ex->wr_set_ru_addr(ex, &ah->ibv, 0);
  ex->wr_set_sge(ex, key, reinterpret_cast<std::uintptr_t>(buffer.data()), 8);
  context->dead = true;
  EXPECT_THAT(poll(), IsEmpty());
  ASSERT_EQ(ex->wr_complete(ex), 0);
  EXPECT_EQ(tx_doorbell, 0u);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 2u);
  EXPECT_EQ(wc[0].wr_id, 5u);
  EXPECT_EQ(wc[1].wr_id, 6u);
  for (const ibv_wc& each : wc)
    EXPECT_EQ(each.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(cq->credits, static_cast<int>(depth));
}

TEST_F(Flushing, ForgettingOneDirectionLeavesTheOther) {
  qp->state = IBV_QPS_ERR;
  ASSERT_EQ(send(1, 8), 0);
  ASSERT_EQ(receive(2, 0, 8), 0);
  forget_send(*qp);
  EXPECT_THAT(polled_ids(), ElementsAre(2));
}

TEST_F(Flushing, TheThreadOfAQueueWithoutALockFollowsAFailureItself) {
  cq->lock.set_single_threaded();
  cq->single_threaded = true;
  ASSERT_EQ(send(1, 8), 0);
  hear_of_failure(*qp);
  EXPECT_EQ(qp->state, IBV_QPS_RTS);
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_EQ(qp->state, IBV_QPS_ERR);
  EXPECT_EQ(poll().size(), 1u);
}

TEST_F(Flushing, AFailureOfAQueueWithALockIsFollowedAtOnce) {
  ASSERT_EQ(send(1, 8), 0);
  hear_of_failure(*qp);
  EXPECT_EQ(qp->state, IBV_QPS_ERR);
  EXPECT_EQ(poll().size(), 1u);
}

TEST_F(Flushing, ACommandThatTheNicRefusesEndsTheQueuePair) {
  ASSERT_EQ(send(1, 8), 0);
  ASSERT_EQ(receive(2, 0, 8), 0);
  nic.command_failure(99, false);  // somebody else's
  nic.command_failure(18, false);  // the number of the target queue, among transmit queues
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_EQ(qp->state, IBV_QPS_RTS);
  nic.command_failure(17, false);
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_EQ(qp->state, IBV_QPS_ERR);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 2u);
  for (const ibv_wc& flushed : wc)
    EXPECT_EQ(flushed.status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(Flushing, AFailureWaitsForAPollWhileOthersMakeChanges) {
  nic.command_failure(17, false);
  {
    MutexGuard topology(context->topology);
    EXPECT_THAT(poll(), IsEmpty());
    EXPECT_EQ(qp->state, IBV_QPS_RTS);
  }
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_EQ(qp->state, IBV_QPS_ERR);
}

TEST_F(Flushing, ATargetCommandThatTheNicRefusesDoesTheSame) {
  nic.command_failure(18, true);
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_EQ(qp->state, IBV_QPS_ERR);
}

TEST_F(Flushing, AFailureBeforeAResetIsNoneAfterIt) {
  nic.command_failure(17, false);
  nic.command_failure(18, true);
  forget_send(*qp);
  forget_recv(*qp);
  nic.command_failure(99, false);  // somebody else's stays
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_EQ(qp->state, IBV_QPS_RTS);
}

}  // namespace
}  // namespace cxi
