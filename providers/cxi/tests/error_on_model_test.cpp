// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Requests that fail, and what is refused.
#include "on_model.hpp"

namespace on_model {
namespace {

class Errors : public OnModel {};

TEST_F(Errors, NoReceiveIsRetriedAndGivenUp) {
  QpPtr a = create_qp({.rnr_retry = 2});
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  ASSERT_EQ(send(a, to_b, 1, 0, 64, 0), 0);  // an error is reported unasked
  const ibv_wc wc = wait(1)[0];
  EXPECT_EQ(wc.status, IBV_WC_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(wc.vendor_err, 18u);
  ASSERT_EQ(receive(b, 2, 4096, 64), 0);
  ASSERT_EQ(send(a, to_b, 3, 0, 64), 0);
  for (const ibv_wc& good : wait(2))
    EXPECT_EQ(good.status, IBV_WC_SUCCESS);
}

TEST_F(Errors, ATargetThatIsNotThereIsRetriedAndGivenUp) {
  QpPtr a = create_qp({.retry_cnt = 2});
  Ah nowhere = address_of((a->qp_num & 0xfff) | 40 << 12);
  ASSERT_EQ(send(a, nowhere, 1, 0, 64), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_RETRY_EXC_ERR);
}

TEST_F(Errors, ATargetThatAppearsInTimeGetsTheMessage) {
  QpPtr a = create_qp({.rnr_retry = 7, .retry_cnt = 7});
  const std::uint32_t qpn = (a->qp_num & 0xfff) | 41 << 12;
  Ah later = address_of(qpn);
  ASSERT_EQ(send(a, later, 1, 0, 64), 0);
  QpPtr b = create_qp({.source_qpn = qpn, .explicit_qpn = true});
  EXPECT_EQ(b->qp_num, qpn);
  ASSERT_EQ(receive(b, 2, 4096, 64), 0);
  for (const ibv_wc& wc : wait(2))
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
}

TEST_F(Errors, KeysThatDoNotAllowIt) {
  QpPtr a = create_qp();
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  const auto base = reinterpret_cast<std::uintptr_t>(buffer.data());
  ibv_sge past = {base + buffer.size() - 8, 9, mr->lkey};
  ASSERT_EQ(send_list(a, to_b.get(), 1, &past, 1), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_LOC_PROT_ERR);
  std::vector<std::uint8_t> other(4096);
  ibv_mr* gone = made(ibv_reg_mr(pd.get(), other.data(), other.size(), 0), "mr");
  ibv_sge sge = {reinterpret_cast<std::uintptr_t>(other.data()), 64, gone->lkey};
  ASSERT_EQ(receive_list(b, 2, &sge, 1), 0);  // not writable
  EXPECT_EQ(wait(1)[0].status, IBV_WC_LOC_PROT_ERR);
  ASSERT_EQ(ibv_dereg_mr(gone), 0);
  ASSERT_EQ(send_list(a, to_b.get(), 3, &sge, 1), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_LOC_PROT_ERR);
  ASSERT_EQ(receive(b, 4, 4096, 64), 0);
  ASSERT_EQ(send(a, to_b, 5, 0, 64), 0);
  for (const ibv_wc& wc : wait(2))
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
}

TEST_F(Errors, WhatIsNotSupportedSaysSo) {
  QpPtr a = create_qp();
  EXPECT_EQ(try_create_qp(pd.get(), cq.get(), cq.get(), key.get(),
                          {.operations = IBV_QP_EX_WITH_ATOMIC_WRITE}),
            nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  ibv_qp_init_attr rc = {};
  rc.send_cq = rc.recv_cq = cq.get();
  rc.qp_type = IBV_QPT_RC;
  EXPECT_EQ(ibv_create_qp(pd.get(), &rc), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  ibv_ah_attr_ex bad = address(0x01000000);
  EXPECT_EQ(ibv_create_ah_ex(pd.get(), &bad), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace on_model
