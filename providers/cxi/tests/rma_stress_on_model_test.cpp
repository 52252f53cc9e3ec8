// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Remote access while other things happen: full queues, regions that come and go, threads.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "rma_on_model.hpp"

namespace on_model {
namespace {

class Turmoil : public Rma {};

TEST_F(Turmoil, AFullQueueOfTheTargetLosesNoImmediate) {
  constexpr unsigned many = 40'000;  // more than the ring of the target's queue holds
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(window), 0);
  source = create_qp({.send_wr = 64, .rnr_retry = 0});
  unsigned accepted = 0;
  ibv_wc_status last = IBV_WC_SUCCESS;
  while (last == IBV_WC_SUCCESS && accepted < many) {
    last = outcome(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 8, window.mr()->rkey64, 0);
    accepted += last == IBV_WC_SUCCESS;
  }
  ASSERT_EQ(last, IBV_WC_RNR_RETRY_EXC_ERR);
  // What brings no event to the target still gets through.
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 8, window.mr()->rkey64, 8), IBV_WC_SUCCESS);
  EXPECT_EQ(outcome(IBV_WR_RDMA_READ, 0, 8, window.mr()->rkey64, 8), IBV_WC_SUCCESS);
  // A patient sender waits for room.
  source = create_qp({.rnr_retry = 7});
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 8, window.mr()->rkey64, 0), 0);
  ibv_wc wc;
  for (unsigned i = 0; i < 50; i++)
    ASSERT_EQ(ibv_poll_cq(cq.get(), 1, &wc), 0);
  for (const ibv_wc& each : wait(target_cq.get(), accepted))
    ASSERT_EQ(each.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(wait(target_cq.get(), 1)[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  expect_quiet_and_usable();
}

TEST_F(Turmoil, AQueuePairThatGoesLeavesPlacesForTheAnswersOfOthers) {
  constexpr unsigned requests = 64, pieces = 4;
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(window), 0);
  CqPtr shared = create_cq(1);
  QpPtr goes = create_qp({.send_wr = 256}, shared.get(), shared.get());
  source = create_qp({.send_wr = requests, .sges = pieces}, shared.get(), shared.get());
  ibv_sge sges[pieces];
  for (unsigned i = 0; i < pieces; i++)
    sges[i] = {local(100 * i), 10, mr->lkey};
  // More commands than the requests of this queue pair would have brought places for.
  for (unsigned i = 0; i < requests; i++)
    ASSERT_EQ(rma_list(IBV_WR_RDMA_WRITE, i, sges, pieces, window.mr()->rkey64, 0, 0), 0) << i;
  goes.reset();
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 0, 8, window.mr()->rkey64, 0), 0);
  EXPECT_EQ(wait(shared.get(), 1)[0].status, IBV_WC_SUCCESS);
  source.reset();
}

TEST_F(Turmoil, ARegionThatGoesCutsWritesOffAndHarmsNobody) {
  std::vector<std::uint8_t> memory(256 * 1024);
  for (unsigned round = 0; round < 40; round++) {
    Mr region(made(ibv_reg_mr(pd.get(), memory.data(), memory.size(), all_rights), "mr"));
    ASSERT_EQ(ibv_attach_mr(target.get(), region.get()), 0);
    for (unsigned i = 0; i < 8; i++)
      ASSERT_EQ(rma(i % 2 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, 256 * 1024,
                    static_cast<std::uint32_t>(memory.size()), region->rkey64, 0),
                0);
    if (round % 2) {
      ASSERT_EQ(ibv_detach_mr(target.get(), region.get()), 0);
    }
    region.reset();
    std::fill(memory.begin(), memory.end(), std::uint8_t{0x11});
    for (const ibv_wc& wc : wait(8))
      EXPECT_THAT(wc.status, testing::AnyOf(IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR));
    // Nothing arrives once the region is gone.
    ASSERT_EQ(memory, std::vector<std::uint8_t>(memory.size(), 0x11)) << round;
  }
  expect_quiet_and_usable();
}

TEST_F(Turmoil, RegionsComeAndGoWhileOthersPollAndWrite) {
  Window steady(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(steady), 0);
  std::atomic<bool> stop_writing = false;
  std::atomic<bool> stop_polling = false;
  std::atomic<unsigned> told = 0;
  std::thread poller([&] {
    ibv_wc wc[8];
    while (!stop_polling) {
      const int found = ibv_poll_cq(target_cq.get(), 8, wc);
      for (int i = 0; i < found; i++)
        EXPECT_EQ(wc[i].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
      told += static_cast<unsigned>(found);
      if (found == 0) std::this_thread::yield();
    }
  });
  unsigned written = 0;
  std::thread writer([&] {
    while (!stop_writing) {
      EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 64, steady.mr()->rkey64, 0), IBV_WC_SUCCESS);
      written++;
    }
  });
  for (unsigned i = 0; i < 300; i++) {
    Window window(pd.get(), 4096, i % 3 ? all_rights : all_rights | indexed_access);
    EXPECT_EQ(attach(window), 0);
    if (i % 2) {
      EXPECT_EQ(detach(window), 0);
    }
  }
  while (told == 0)
    std::this_thread::yield();
  stop_writing = true;
  writer.join();  // its last write may wait for room that only the poller makes
  stop_polling = true;
  poller.join();
  const auto rest = wait(target_cq.get(), written - told);
  EXPECT_EQ(rest.size() + told, written);
  expect_quiet_and_usable();
}

TEST_F(Turmoil, ASleeperIsWokenByAnImmediate) {
  CqPtr watched = create_cq(64, channel.get());
  QpPtr other = create_qp({}, watched.get(), watched.get());
  to_target = address_of(other);
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(ibv_attach_mr(other.get(), window.mr()), 0);
  for (unsigned i = 0; i < 20; i++) {
    ASSERT_EQ(ibv_req_notify_cq(watched.get(), 0), 0);
    ASSERT_EQ(outcome(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 8, window.mr()->rkey64, 0), IBV_WC_SUCCESS);
    ibv_cq* from = nullptr;
    void* user = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &user), 0);
    EXPECT_EQ(from, watched.get());
    ibv_ack_cq_events(from, 1);
    EXPECT_EQ(wait(watched.get(), 1)[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  }
}

TEST_F(Turmoil, AbsoluteQueuePairsServeOtherJobs) {
  Job foreign = alloc_job(10);
  Key foreign_key(made(ibv_create_jkey(pd.get(), foreign.get(), 0), "jkey"));
  QpPtr absolute(made(try_create_qp(pd.get(), target_cq.get(), target_cq.get(), nullptr,
                                    {.source_qpn = 1u << 31 | 40u << 12 | (target->qp_num & 0xfff),
                                     .explicit_qpn = true}),
                      "absolute qp"));
  to_target = address_of(absolute->qp_num);
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(ibv_attach_mr(absolute.get(), window.mr()), 0);
  for (const std::uint32_t jkey : {key->jkey, foreign_key->jkey}) {
    EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, window.mr()->rkey64, 0, jkey), IBV_WC_SUCCESS);
    EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, 77, 0, jkey), IBV_WC_REM_ACCESS_ERR);
  }
  ibv_mr_init_attr attr = {};
  attr.length = 4096;
  attr.access = all_rights;
  attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_JKEY;
  Window restricted(4096);
  attr.addr = restricted.data();
  attr.job_key = key.get();
  restricted.region = Mr(made(ibv_reg_mr_ex(pd.get(), &attr), "mr"));
  EXPECT_EQ(ibv_attach_mr(absolute.get(), restricted.mr()), EOPNOTSUPP);
}

}  // namespace
}  // namespace on_model
