// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion counters, in front of the software NIC.
#include <gmock/gmock.h>

#include <thread>

#include "rma_on_model.hpp"

namespace on_model {
namespace {

using CounterPtr = Owned<ibv_comp_cntr, ibv_destroy_comp_cntr>;

constexpr std::uint32_t sends = IBV_QP_ATTACH_COMP_CNTR_OP_SEND;
constexpr std::uint32_t receives = IBV_QP_ATTACH_COMP_CNTR_OP_RECV;
constexpr std::uint32_t reads = IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ;
constexpr std::uint32_t writes = IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE;

class Counters : public Rma {
 protected:
  CounterPtr create(ibv_comp_cntr_type type = IBV_COMP_CNTR_TYPE_WRS) {
    ibv_comp_cntr_init_attr attr = {};
    attr.type = type;
    return CounterPtr(made(ibv_create_comp_cntr(context.get(), &attr), "counter"));
  }
  static int count(const QpPtr& qp, const CounterPtr& counter, std::uint32_t operations) {
    ibv_qp_attach_comp_cntr_attr attr = {};
    attr.op_mask = operations;
    return ibv_qp_attach_comp_cntr(qp.get(), counter.get(), &attr);
  }
  static std::uint64_t value(const CounterPtr& counter) {
    std::uint64_t found = ~0ull;
    EXPECT_EQ(ibv_read_comp_cntr(counter.get(), &found), 0);
    return found;
  }
  static std::uint64_t errors(const CounterPtr& counter) {
    std::uint64_t found = ~0ull;
    EXPECT_EQ(ibv_read_err_comp_cntr(counter.get(), &found), 0);
    return found;
  }
  /// Reads until the counter has the value.
  static void wait_for(const CounterPtr& counter, std::uint64_t wanted) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (value(counter) != wanted && std::chrono::steady_clock::now() < give_up)
      std::this_thread::yield();
    EXPECT_EQ(value(counter), wanted);
  }
  /// The queue pair is destroyed first, since it keeps its counters busy.
  void forget_source() {
    source.reset();
    target.reset();
  }
};

TEST_F(Counters, AreSetAddedToAndRead) {
  CounterPtr counter = create();
  EXPECT_EQ(value(counter), 0u);
  EXPECT_EQ(ibv_set_comp_cntr(counter.get(), 40), 0);
  EXPECT_EQ(ibv_inc_comp_cntr(counter.get(), 2), 0);
  EXPECT_EQ(value(counter), 42u);
  EXPECT_EQ(ibv_set_err_comp_cntr(counter.get(), 500), 0);
  EXPECT_EQ(ibv_inc_err_comp_cntr(counter.get(), 3), 0);
  EXPECT_EQ(errors(counter), 503u);
  EXPECT_EQ(value(counter), 42u);
  EXPECT_EQ(ibv_set_comp_cntr(counter.get(), 1ull << 48), EINVAL);
  EXPECT_EQ(ibv_set_err_comp_cntr(counter.get(), 1ull << 48), EINVAL);
  EXPECT_EQ(ibv_inc_comp_cntr(counter.get(), 1ull << 48), EINVAL);
  EXPECT_EQ(ibv_inc_err_comp_cntr(counter.get(), 1ull << 48), EINVAL);
  EXPECT_EQ(value(counter), 42u);
  EXPECT_EQ(errors(counter), 503u);
  ibv_comp_cntr_caps caps = {};
  ASSERT_EQ(ibv_query_comp_cntr_caps(context.get(), &caps), 0);
  EXPECT_EQ(caps.max_value, (1ull << 48) - 1);
  EXPECT_EQ(caps.supported_qp_attach_ops, sends | receives | reads | writes);
  EXPECT_GT(caps.max_counters, 0u);
}

TEST_F(Counters, StartAgainBehindTheLargestValue) {
  CounterPtr counter = create();
  constexpr std::uint64_t most = (1ull << 48) - 1;
  ASSERT_EQ(ibv_set_comp_cntr(counter.get(), most), 0);
  ASSERT_EQ(ibv_set_err_comp_cntr(counter.get(), most), 0);
  EXPECT_EQ(value(counter), most);
  EXPECT_EQ(errors(counter), most);
  ASSERT_EQ(ibv_inc_comp_cntr(counter.get(), 3), 0);
  ASSERT_EQ(ibv_inc_err_comp_cntr(counter.get(), most), 0);
  EXPECT_EQ(value(counter), 2u);
  EXPECT_EQ(errors(counter), most - 1);
  ASSERT_EQ(ibv_set_comp_cntr(counter.get(), most), 0);
  ASSERT_EQ(count(source, counter, sends), 0);
  ASSERT_EQ(receive(target, 1, 500'000, 4096), 0);
  ASSERT_EQ(send(source, to_target, 1, 0, 64, 0), 0);
  wait_for(counter, 0);
  forget_source();
}

TEST_F(Counters, CountSuccessesWithoutAPoll) {
  CounterPtr sent = create(), received = create(), got = create(), put = create();
  ASSERT_EQ(count(source, sent, sends), 0);
  ASSERT_EQ(count(target, received, receives), 0);
  ASSERT_EQ(count(source, got, reads), 0);
  ASSERT_EQ(count(source, put, writes), 0);
  Window window(pd.get(), 16'384, all_rights);
  ASSERT_EQ(attach(window), 0);
  const std::uint64_t key64 = window.mr()->rkey64;
  for (unsigned i = 0; i < 3; i++)
    ASSERT_EQ(receive(target, i, 500'000, 4096), 0);
  ASSERT_EQ(send(source, to_target, 1, 0, 64, 0), 0);
  ASSERT_EQ(send(source, to_target, 1, 0, 1000, 0), 0);
  ASSERT_EQ(send(source, to_target, 1, 0, 0, 0), 0);
  ibv_sge pieces[3] = {
      {local(0), 10, mr->lkey}, {local(100), 20, mr->lkey}, {local(300), 5, mr->lkey}};
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 0, 100, key64, 0, 0), 0);
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 100, key64, 0, 0), 0);
  ASSERT_EQ(rma_list(IBV_WR_RDMA_WRITE, 1, pieces, 3, key64, 0, 0), 0);
  ASSERT_EQ(rma(IBV_WR_RDMA_READ, 0, 100, key64, 0, 0), 0);
  ASSERT_EQ(rma_list(IBV_WR_RDMA_READ, 1, pieces, 3, key64, 0, 0), 0);
  wait_for(sent, 3);
  wait_for(received, 3);
  wait_for(put, 3);
  wait_for(got, 2);
  for (const CounterPtr* counter : {&sent, &received, &got, &put})
    EXPECT_EQ(errors(*counter), 0u);
  ASSERT_EQ(ibv_set_comp_cntr(put.get(), 0), 0);
  EXPECT_EQ(value(put), 0u);
  forget_source();
}

TEST_F(Counters, CountBytes) {
  CounterPtr sent = create(IBV_COMP_CNTR_TYPE_BYTES), received = create(IBV_COMP_CNTR_TYPE_BYTES);
  CounterPtr moved = create(IBV_COMP_CNTR_TYPE_BYTES);
  ASSERT_EQ(count(source, sent, sends), 0);
  ASSERT_EQ(count(target, received, receives), 0);
  ASSERT_EQ(count(source, moved, reads | writes), 0);
  Window window(pd.get(), 16'384, all_rights);
  ASSERT_EQ(attach(window), 0);
  for (unsigned i = 0; i < 2; i++)
    ASSERT_EQ(receive(target, i, 500'000, 4096), 0);
  ASSERT_EQ(send(source, to_target, 1, 0, 64, 0), 0);
  ASSERT_EQ(send(source, to_target, 1, 0, 1000, 0), 0);
  ibv_sge pieces[2] = {{local(0), 10, mr->lkey}, {local(100), 20, mr->lkey}};
  ASSERT_EQ(rma_list(IBV_WR_RDMA_WRITE, 1, pieces, 2, window.mr()->rkey64, 0, 0), 0);
  ASSERT_EQ(rma(IBV_WR_RDMA_READ, 0, 5000, window.mr()->rkey64, 0, 0), 0);
  wait_for(sent, 1064);
  wait_for(received, 1064);
  wait_for(moved, 5030);
  forget_source();
}

TEST_F(Counters, AreEnoughForAProgramThatNeverPolls) {
  CqPtr unread = create_cq(4);
  source = create_qp({.send_wr = 4}, unread.get(), unread.get());
  CounterPtr put = create();
  ASSERT_EQ(count(source, put, writes), 0);
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(window), 0);
  constexpr unsigned many = 500;
  for (unsigned i = 0; i < many; i++) {
    int err;
    while ((err = rma(IBV_WR_RDMA_WRITE, 0, 64, window.mr()->rkey64, 0, 0)) == ENOMEM)
      EXPECT_LE(value(put), i);
    ASSERT_EQ(err, 0);
  }
  wait_for(put, many);
  forget_source();
}

TEST_F(Counters, ErrorsAreThoseOfTheCompletions) {
  CounterPtr sent = create(), received = create(), put = create();
  source = create_qp({.rnr_retry = 2, .retry_cnt = 1});
  ASSERT_EQ(count(source, sent, sends), 0);
  ASSERT_EQ(count(target, received, receives), 0);
  ASSERT_EQ(count(source, put, writes), 0);
  ASSERT_EQ(send(source, to_target, 1, 0, 64), 0);  // no receive
  EXPECT_EQ(wait(1)[0].status, IBV_WC_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(errors(sent), 1u);
  ASSERT_EQ(receive(target, 1, 0, 64), 0);
  ASSERT_EQ(send(source, to_target, 1, 0, 1000), 0);  // cut
  EXPECT_EQ(wait(1)[0].status, IBV_WC_REM_INV_REQ_ERR);
  EXPECT_EQ(wait(target_cq.get(), 1)[0].status, IBV_WC_LOC_LEN_ERR);
  EXPECT_EQ(errors(sent), 2u);
  EXPECT_EQ(errors(received), 1u);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, 1, 0), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, 1ull << 62, 0), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(errors(put), 2u);
  ASSERT_EQ(receive(target, 1, 0, 64), 0);
  ASSERT_EQ(set_state(target, IBV_QPS_ERR), 0);
  EXPECT_EQ(errors(received), 2u);
  for (const CounterPtr* counter : {&sent, &received, &put})
    EXPECT_EQ(value(*counter), 0u);
  forget_source();
}

TEST_F(Counters, ReadingBringsRepeatsForward) {
  CounterPtr sent = create();
  ASSERT_EQ(count(source, sent, sends), 0);
  ASSERT_EQ(send(source, to_target, 1, 0, 64, 0), 0);  // no receive yet
  EXPECT_EQ(value(sent), 0u);
  ASSERT_EQ(receive(target, 1, 0, 64), 0);
  wait_for(sent, 1);
  forget_source();
}

TEST_F(Counters, RefuseWhatTheyCannotCount) {
  CounterPtr counter = create(), other = create();
  EXPECT_EQ(count(source, counter, 0), EINVAL);
  EXPECT_EQ(count(source, counter, 1u << 9), EINVAL);
  EXPECT_EQ(count(source, counter, IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ), EOPNOTSUPP);
  ASSERT_EQ(count(source, counter, sends), 0);
  EXPECT_EQ(count(source, other, sends | reads), EBUSY);
  EXPECT_EQ(ibv_destroy_comp_cntr(counter.get()), EBUSY);
  ibv_comp_cntr_init_attr attr = {};
  attr.flags = 1;
  EXPECT_EQ(ibv_create_comp_cntr(context.get(), &attr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  attr.flags = 0;
  attr.type = static_cast<ibv_comp_cntr_type>(2);
  EXPECT_EQ(ibv_create_comp_cntr(context.get(), &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  forget_source();
}

}  // namespace
}  // namespace on_model
