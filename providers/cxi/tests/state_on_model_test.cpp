// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// States of queue pairs: what they hold back, flush and forget.
#include <gmock/gmock.h>

#include "on_model.hpp"

namespace on_model {
namespace {

using testing::ElementsAre;

class States : public OnModel {};

TEST_F(States, ErrorFlushesInOrderAndResetMakesUsableAgain) {
  QpPtr a = create_qp();
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  for (unsigned round = 0; round < 3; round++) {
    for (unsigned i = 0; i < 5; i++)
      ASSERT_EQ(receive(a, i, 4096, 64), 0);
    for (unsigned i = 0; i < 5; i++)
      ASSERT_EQ(send(a, to_b, 10 + i, 0, 64), 0);  // no receive
    ASSERT_EQ(set_state(a, IBV_QPS_ERR), 0);
    std::vector<std::uint64_t> sends, receives;
    for (const ibv_wc& wc : wait(10)) {
      EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
      (wc.wr_id < 10 ? receives : sends).push_back(wc.wr_id);
    }
    EXPECT_THAT(receives, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(sends, ElementsAre(10, 11, 12, 13, 14));
    ASSERT_EQ(send(a, to_b, 20, 0, 64), 0);
    EXPECT_EQ(wait(1)[0].status, IBV_WC_WR_FLUSH_ERR);
    ASSERT_EQ(set_state(a, IBV_QPS_RESET), 0);
    EXPECT_EQ(send(a, to_b, 20, 0, 64), EINVAL);
    ASSERT_EQ(set_state(a, IBV_QPS_RTS), 0);
    ASSERT_EQ(receive(b, 1, 4096, 64), 0);
    ASSERT_EQ(send(a, to_b, 2, 0, 64), 0);
    for (const ibv_wc& wc : wait(2))
      EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    Ah to_a = address_of(a);
    ASSERT_EQ(receive(a, 3, 4096, 64), 0);
    ASSERT_EQ(send(b, to_a, 4, 0, 1000), 0);  // cut
    EXPECT_THAT((std::vector{wait(1)[0].status, wait(1)[0].status}),
                testing::UnorderedElementsAre(IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR));
  }
}

TEST_F(States, ResetForgetsWhatWasNotPolled) {
  QpPtr a = create_qp();
  for (unsigned i = 0; i < 5; i++)
    ASSERT_EQ(receive(a, i, 4096, 64), 0);
  ASSERT_EQ(set_state(a, IBV_QPS_ERR), 0);
  ASSERT_EQ(set_state(a, IBV_QPS_RESET), 0);
  ibv_wc wc;
  EXPECT_EQ(ibv_poll_cq(cq.get(), 1, &wc), 0);
}

TEST_F(States, OnlySomeChangesExist) {
  QpPtr a = create_qp();
  EXPECT_NE(set_state(a, IBV_QPS_INIT), 0);
  EXPECT_NE(set_state(a, IBV_QPS_RESET), 0);
  ibv_qp_attr attr = {};
  ibv_qp_init_attr init = {};
  ASSERT_EQ(ibv_query_qp(a.get(), &attr, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
}

TEST_F(States, RepeatAttributesAreEchoed) {
  QpPtr a = create_qp({.rnr_retry = 3, .retry_cnt = 2});
  ibv_qp_attr attr = {};
  ibv_qp_init_attr init = {};
  ASSERT_EQ(ibv_query_qp(a.get(), &attr, IBV_QP_RNR_RETRY, &init), 0);
  EXPECT_EQ(attr.rnr_retry, 3);
  EXPECT_EQ(attr.retry_cnt, 2);
  EXPECT_EQ(attr.min_rnr_timer, 12);
  EXPECT_EQ(init.cap.max_send_wr, 16u);
  EXPECT_EQ(init.cap.max_inline_data, 192u);
  attr.rnr_retry = 5;
  attr.min_rnr_timer = 31;
  attr.qp_state = IBV_QPS_RTS;
  ASSERT_EQ(ibv_modify_qp(a.get(), &attr, IBV_QP_STATE | IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER),
            0);
  ASSERT_EQ(ibv_query_qp(a.get(), &attr, IBV_QP_RNR_RETRY, &init), 0);
  EXPECT_EQ(attr.rnr_retry, 5);
  EXPECT_EQ(attr.min_rnr_timer, 31);
  attr.rnr_retry = 8;
  EXPECT_EQ(ibv_modify_qp(a.get(), &attr, IBV_QP_RNR_RETRY), EINVAL);
}

TEST_F(States, DestroyingLeavesNoCompletionBehind) {
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  for (unsigned round = 0; round < 10; round++) {
    QpPtr a = create_qp();
    for (unsigned i = 0; i < 8; i++)
      ASSERT_EQ(receive(b, 100 + i, 4096, 64), 0);
    for (unsigned i = 0; i < 8; i++)
      ASSERT_EQ(send(a, to_b, i, 0, 64), 0);
    for (unsigned i = 0; i < 4; i++)
      ASSERT_EQ(receive(a, 50 + i, 4096, 64), 0);
    a.reset();
    unsigned receives = 0;
    ibv_wc wc;
    while (ibv_poll_cq(cq.get(), 1, &wc) > 0) {
      EXPECT_GE(wc.wr_id, 100u);
      receives++;
    }
    EXPECT_LE(receives, 8u);
    ASSERT_EQ(set_state(b, IBV_QPS_ERR), 0);
    wait(8 - receives);
    ASSERT_EQ(set_state(b, IBV_QPS_RESET), 0);
    ASSERT_EQ(set_state(b, IBV_QPS_RTS), 0);
  }
}

}  // namespace
}  // namespace on_model
