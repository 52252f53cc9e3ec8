// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What keeps remote accesses apart: keys, ranges, rights, attaching, registering, in front of the
// software NIC.
#include "rma_on_model.hpp"

namespace on_model {
namespace {

class Refusals : public Rma {};
class Attaching : public Rma {};
class Registering : public Rma {};

constexpr ibv_wr_opcode transfers[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
                                       IBV_WR_RDMA_WRITE_WITH_IMM};

TEST_F(Refusals, KeysThatNameNothing) {
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(window), 0);
  const std::uint64_t key64 = window.mr()->rkey64;
  const std::uint64_t wrong[] = {key64 + 1,
                                 key64 ^ 1ull << 63,
                                 key64 | 1ull << 62,
                                 key64 | 1ull << 60,
                                 key64 | 1ull << 61,
                                 key64 | 1ull << 40,
                                 0,
                                 ~0ull};
  for (const ibv_wr_opcode opcode : transfers)
    for (const std::uint64_t bad : wrong) {
      EXPECT_EQ(outcome(opcode, 0, 64, bad, 0), IBV_WC_REM_ACCESS_ERR) << opcode << " " << bad;
      EXPECT_EQ(outcome(opcode, 0, 0, bad, 0), IBV_WC_REM_ACCESS_ERR) << opcode << " " << bad;
    }
  EXPECT_TRUE(window.untouched());
  expect_quiet_and_usable();
}

TEST_F(Refusals, RangesPastTheEnd) {
  Window window(pd.get(), 5000, all_rights);
  ASSERT_EQ(attach(window), 0);
  const std::uint64_t key64 = window.mr()->rkey64;
  for (const ibv_wr_opcode opcode : transfers) {
    EXPECT_EQ(outcome(opcode, 0, 5001, key64, 0), IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(outcome(opcode, 0, 2, key64, 4999), IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(outcome(opcode, 0, 1, key64, 5000), IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(outcome(opcode, 0, 8, key64, ~0ull - 3), IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(outcome(opcode, 0, 8, key64, 1ull << 56), IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(outcome(opcode, 0, 0, key64, 5001), IBV_WC_REM_ACCESS_ERR);
  }
  EXPECT_TRUE(window.untouched());
  expect_quiet_and_usable();
}

TEST_F(Refusals, RightsThatWereNotGiven) {
  Window readable(pd.get(), 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
  Window writable(pd.get(), 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  Window closed(pd.get(), 4096, IBV_ACCESS_LOCAL_WRITE);
  for (Window* window : {&readable, &writable, &closed})
    ASSERT_EQ(attach(*window), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 8, readable.mr()->rkey64, 0), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 8, readable.mr()->rkey64, 0),
            IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(outcome(IBV_WR_RDMA_READ, 0, 8, writable.mr()->rkey64, 0), IBV_WC_REM_ACCESS_ERR);
  for (const ibv_wr_opcode opcode : transfers)
    EXPECT_EQ(outcome(opcode, 0, 8, closed.mr()->rkey64, 0), IBV_WC_REM_ACCESS_ERR);
  for (const Window* window : {&readable, &writable, &closed})
    EXPECT_TRUE(window->untouched());
  expect_quiet_and_usable();
}

TEST_F(Refusals, RegionsThatAreNotAttachedHere) {
  Window window(pd.get(), 4096, all_rights);
  const std::uint64_t key64 = window.mr()->rkey64;
  for (const ibv_wr_opcode opcode : transfers)
    EXPECT_EQ(outcome(opcode, 0, 64, key64, 0), IBV_WC_REM_ACCESS_ERR);
  QpPtr other = create_qp({}, target_cq.get(), target_cq.get());
  ASSERT_EQ(ibv_attach_mr(other.get(), window.mr()), 0);
  for (const ibv_wr_opcode opcode : transfers)
    EXPECT_EQ(outcome(opcode, 0, 64, key64, 0), IBV_WC_REM_ACCESS_ERR);
  ASSERT_EQ(attach(window), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_READ, 0, 64, key64, 0), IBV_WC_SUCCESS);
  ASSERT_EQ(detach(window), 0);
  for (const ibv_wr_opcode opcode : transfers)
    EXPECT_EQ(outcome(opcode, 0, 64, key64, 0), IBV_WC_REM_ACCESS_ERR);
  EXPECT_TRUE(window.untouched());
  expect_quiet_and_usable();
}

TEST_F(Refusals, KeysOfRegionsThatAreGone) {
  std::uint64_t stale = 0;
  std::vector<std::uint8_t> memory(4096, 0x5c);
  {
    Mr gone(made(ibv_reg_mr(pd.get(), memory.data(), memory.size(), all_rights), "mr"));
    ASSERT_EQ(ibv_attach_mr(target.get(), gone.get()), 0);
    stale = gone->rkey64;
  }
  Mr again(made(ibv_reg_mr(pd.get(), memory.data(), memory.size(), all_rights), "mr"));
  ASSERT_EQ(ibv_attach_mr(target.get(), again.get()), 0);
  EXPECT_NE(again->rkey64, stale);
  for (const ibv_wr_opcode opcode : transfers)
    EXPECT_EQ(outcome(opcode, 0, 64, stale, 0), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(memory, std::vector<std::uint8_t>(4096, 0x5c));
  expect_quiet_and_usable();
}

TEST_F(Refusals, AnotherJobReachesNothing) {
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(window), 0);
  Job foreign = alloc_job(10);
  Key foreign_key(made(ibv_create_jkey(pd.get(), foreign.get(), 0), "jkey"));
  for (const ibv_wr_opcode opcode : transfers)
    EXPECT_EQ(outcome(opcode, 0, 64, window.mr()->rkey64, 0, foreign_key->jkey),
              IBV_WC_RETRY_EXC_ERR);
  EXPECT_TRUE(window.untouched());
  expect_quiet_and_usable();
}

TEST_F(Refusals, LocalKeysThatDoNotAllowIt) {
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(window), 0);
  std::vector<std::uint8_t> constant(4096, 3);
  Mr readable(made(ibv_reg_mr(pd.get(), constant.data(), constant.size(), 0), "mr"));
  ibv_sge sge = {reinterpret_cast<std::uintptr_t>(constant.data()), 64, readable->lkey};
  ASSERT_EQ(rma_list(IBV_WR_RDMA_WRITE, 1, &sge, 1, window.mr()->rkey64, 0), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
  ASSERT_EQ(rma_list(IBV_WR_RDMA_READ, 1, &sge, 1, window.mr()->rkey64, 64), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(constant, std::vector<std::uint8_t>(4096, 3));
  expect_quiet_and_usable();
}

TEST_F(Attaching, RefusesWhatMakesNoSense) {
  Window window(pd.get(), 4096, all_rights);
  EXPECT_EQ(detach(window), EINVAL);
  ASSERT_EQ(attach(window), 0);
  EXPECT_EQ(attach(window), EEXIST);
  ASSERT_EQ(detach(window), 0);
  EXPECT_EQ(detach(window), EINVAL);
  ASSERT_EQ(attach(window), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, window.mr()->rkey64, 0), IBV_WC_SUCCESS);
  Pd other(made(ibv_alloc_pd(context.get()), "pd"));
  Window foreign(other.get(), 4096, all_rights);
  EXPECT_EQ(attach(foreign), EINVAL);
}

TEST_F(Attaching, WorksInEveryStateAndOutlivesThem) {
  Window before(pd.get(), 4096, all_rights);
  Window during(pd.get(), 4096, all_rights);
  Window gone(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(before), 0);
  ASSERT_EQ(attach(gone), 0);
  ASSERT_EQ(set_state(target, IBV_QPS_ERR), 0);
  ASSERT_EQ(attach(during), 0);
  ASSERT_EQ(detach(gone), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, before.mr()->rkey64, 0), IBV_WC_RETRY_EXC_ERR);
  ASSERT_EQ(set_state(target, IBV_QPS_RESET), 0);
  ASSERT_EQ(set_state(target, IBV_QPS_RTS), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, before.mr()->rkey64, 0), IBV_WC_SUCCESS);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, during.mr()->rkey64, 0), IBV_WC_SUCCESS);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, gone.mr()->rkey64, 0), IBV_WC_REM_ACCESS_ERR);
  EXPECT_TRUE(gone.untouched());
}

TEST_F(Attaching, KeepsCompletionsThatWereNotPolled) {
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(receive(target, 1, 0, 64), 0);
  ASSERT_EQ(attach(window), 0);  // and the receive is posted: the message will be the first
  ASSERT_EQ(send(source, to_target, 2, 0, 64, 0), 0);
  ASSERT_EQ(outcome(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 64, window.mr()->rkey64, 0), IBV_WC_SUCCESS);
  ASSERT_EQ(detach(window), 0);
  ASSERT_EQ(attach(window), 0);
  const auto found = wait(target_cq.get(), 2);
  EXPECT_EQ(found[0].opcode, IBV_WC_RECV);
  EXPECT_EQ(found[1].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  expect_quiet_and_usable();
}

TEST_F(Attaching, AgainAndAgainWithoutAPoll) {
  Window window(pd.get(), 4096, all_rights);
  for (unsigned i = 0; i < 3000; i++) {
    ASSERT_EQ(attach(window), 0) << i;
    ASSERT_EQ(detach(window), 0) << i;
  }
  expect_quiet_and_usable();
}

TEST_F(Attaching, AgainAndAgainBesideCompletionsThatNobodyPolls) {
  Window window(pd.get(), 4096, all_rights);
  Window other(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(window), 0);
  const auto arrive = [&] {
    return outcome(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 8, window.mr()->rkey64, 0);
  };
  ASSERT_EQ(arrive(), IBV_WC_SUCCESS);
  const auto change = [&] {
    for (unsigned i = 0; i < 300; i++) {
      ASSERT_EQ(attach(other), 0) << i;
      ASSERT_EQ(detach(other), 0) << i;
    }
  };
  change();
  // The queue takes no more than it would otherwise.
  source = create_qp({.rnr_retry = 0});
  unsigned arrived = 1;
  while (arrive() == IBV_WC_SUCCESS)
    arrived++;
  EXPECT_LT(arrived, 1000u);
  change();
  EXPECT_EQ(arrive(), IBV_WC_RNR_RETRY_EXC_ERR);
  for (const ibv_wc& wc : wait(target_cq.get(), arrived))
    ASSERT_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  expect_quiet_and_usable();
  EXPECT_EQ(arrive(), IBV_WC_SUCCESS);
}

TEST_F(Attaching, EndsWithTheQueuePair) {
  Window window(pd.get(), 4096, all_rights);
  Window indexed(pd.get(), 4096, all_rights | indexed_access);
  for (unsigned i = 0; i < 20; i++) {
    QpPtr other = create_qp({}, target_cq.get(), target_cq.get());
    ASSERT_EQ(ibv_attach_mr(other.get(), window.mr()), 0);
    ASSERT_EQ(ibv_attach_mr(other.get(), indexed.mr()), 0);
  }
  ASSERT_EQ(attach(window), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, window.mr()->rkey64, 0), IBV_WC_SUCCESS);
}

TEST_F(Attaching, JobRestrictedRegionsStayInTheirJob) {
  Job foreign = alloc_job(10);
  Key foreign_key(made(ibv_create_jkey(pd.get(), foreign.get(), 0), "jkey"));
  const auto restricted_to = [&](Window& window, ibv_job_key* to) {
    ibv_mr_init_attr attr = {};
    attr.length = window.length;
    attr.access = all_rights;
    attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_JKEY;
    attr.addr = window.data();
    attr.job_key = to;
    window.region = Mr(made(ibv_reg_mr_ex(pd.get(), &attr), "mr"));
  };
  Window own(4096), other(4096);
  restricted_to(own, key.get());
  restricted_to(other, foreign_key.get());
  EXPECT_EQ(attach(other), EINVAL);
  ASSERT_EQ(attach(own), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 64, own.mr()->rkey64, 0), IBV_WC_SUCCESS);
  EXPECT_EQ(ibv_destroy_jkey(foreign_key.get()), EBUSY);
  other.region.reset();
}

TEST_F(Attaching, OneRegionThroughSeveralQueuePairs) {
  Window window(pd.get(), 4096, all_rights);
  Window indexed(pd.get(), 4096, all_rights | indexed_access);
  QpPtr other = create_qp({}, target_cq.get(), target_cq.get());
  Ah to_other = address_of(other);
  for (const Window* each : {&window, &indexed}) {
    ASSERT_EQ(attach(*each), 0);
    ASSERT_EQ(ibv_attach_mr(other.get(), each->mr()), 0);
  }
  for (const Window* each : {&window, &indexed}) {
    EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 64, each->mr()->rkey64, 0), IBV_WC_SUCCESS);
    EXPECT_EQ(wait(target_cq.get(), 1)[0].qp_num, target->qp_num);
    std::swap(to_target, to_other);
    EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 64, each->mr()->rkey64, 64), IBV_WC_SUCCESS);
    EXPECT_EQ(wait(target_cq.get(), 1)[0].qp_num, other->qp_num);
    std::swap(to_target, to_other);
  }
  for (const Window* each : {&window, &indexed}) {
    ASSERT_EQ(detach(*each), 0);
    for (const ibv_wr_opcode opcode : transfers)
      EXPECT_EQ(outcome(opcode, 0, 64, each->mr()->rkey64, 128), IBV_WC_REM_ACCESS_ERR);
    EXPECT_TRUE(each->untouched_but(0, 128));
  }
  std::swap(to_target, to_other);
  for (const Window* each : {&window, &indexed})
    EXPECT_EQ(outcome(IBV_WR_RDMA_READ, 0, 64, each->mr()->rkey64, 0), IBV_WC_SUCCESS);
}

TEST_F(Attaching, IndexedRegionsKeepTheSamePromises) {
  Window window(pd.get(), 5000, all_rights | indexed_access);
  const std::uint64_t key64 = window.mr()->rkey64;
  ASSERT_TRUE(key64 >> 61 & 1);
  for (const ibv_wr_opcode opcode : transfers)
    EXPECT_EQ(outcome(opcode, 0, 64, key64, 0), IBV_WC_REM_ACCESS_ERR);
  ASSERT_EQ(attach(window), 0);
  for (const ibv_wr_opcode opcode : transfers) {
    EXPECT_EQ(outcome(opcode, 0, 5001, key64, 0), IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(outcome(opcode, 0, 64, key64 + 32, 0), IBV_WC_REM_ACCESS_ERR);  // another serial
    EXPECT_EQ(outcome(opcode, 0, 64, key64 ^ 1, 0), IBV_WC_REM_ACCESS_ERR);   // another index
  }
  EXPECT_TRUE(window.untouched());
  expect_quiet_and_usable();
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 10, 3000, key64, 7), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(window.data() + 7, buffer.data() + 10, 3000), 0);
  EXPECT_TRUE(window.untouched_but(7, 3000));
  EXPECT_EQ(outcome(IBV_WR_RDMA_READ, 10'000, 3000, key64, 7), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(window.data() + 7, buffer.data() + 10'000, 3000), 0);
  const std::uint32_t key32 = window.mr()->rkey;
  std::fill_n(window.data(), 8, std::uint8_t{0});
  EXPECT_EQ(build([&](ibv_qp_ex* ex) { ibv_wr_atomic_fetch_add(ex, key32, 0, 6); }, 0, 8),
            IBV_WC_SUCCESS);
  EXPECT_EQ(window.data()[0], 6);
  // What was not polled stays when the entry goes.
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 64, key64, 0), IBV_WC_SUCCESS);
  ASSERT_EQ(detach(window), 0);
  EXPECT_EQ(wait(target_cq.get(), 1)[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
}

TEST_F(Attaching, IndexedRegionsNeedOneReceiveQueue) {
  Window window(pd.get(), 4096, all_rights | indexed_access);
  ASSERT_EQ(attach(window), 0);
  EXPECT_EQ(ibv_attach_mr(source.get(), window.mr()), EOPNOTSUPP);
  Window plain(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(plain), 0);
  EXPECT_EQ(ibv_attach_mr(source.get(), plain.mr()), 0);
}

TEST_F(Registering, DerivedRegionsShareMemoryAndKeepTheParentAlive) {
  Window window(pd.get(), 8192, all_rights);
  ibv_mr_init_attr attr = {};
  attr.length = 1000;
  attr.access = all_rights;
  attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_CUR_MR;
  attr.addr = window.data() + 500;
  attr.cur_mr = window.mr();
  Mr derived(made(ibv_reg_mr_ex(pd.get(), &attr), "derived"));
  ASSERT_EQ(attach(window), 0);
  ASSERT_EQ(ibv_attach_mr(target.get(), derived.get()), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 1000, derived->rkey64, 0), IBV_WC_SUCCESS);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 1001, derived->rkey64, 0), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(std::memcmp(window.data() + 500, buffer.data(), 1000), 0);
  EXPECT_TRUE(window.untouched_but(500, 1000));
  EXPECT_EQ(ibv_dereg_mr(window.mr()), EBUSY);
  EXPECT_EQ(outcome(IBV_WR_RDMA_READ, 0, 8192, window.mr()->rkey64, 0), IBV_WC_SUCCESS);
  attr.addr = window.data() + 8000;
  EXPECT_EQ(ibv_reg_mr_ex(pd.get(), &attr), nullptr);  // past the parent's end
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Registering, RemoteAddressesAreOffsetsWhateverTheLocalOnesAre) {
  Window window(8192);
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(window.data()) & 4095;
  ibv_mr_init_attr attr = {};
  attr.length = window.length;
  attr.access = all_rights;
  attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA;
  attr.addr = window.data();
  attr.iova = 0x7000'0000'0000 + page;
  window.region = Mr(made(ibv_reg_mr_ex(pd.get(), &attr), "mr"));
  ASSERT_EQ(attach(window), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 700, window.mr()->rkey64, 11), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(window.data() + 11, buffer.data(), 700), 0);
  ibv_sge sge = {attr.iova + 2000, 500, window.mr()->lkey};
  ASSERT_EQ(rma_list(IBV_WR_RDMA_READ, 1, &sge, 1, window.mr()->rkey64, 11), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(window.data() + 2000, buffer.data(), 500), 0);
}

TEST_F(Registering, MembersThatContradictEachOtherAreRefused) {
  Window window(4096);
  ibv_mr_init_attr attr = {};
  attr.length = window.length;
  attr.access = all_rights;
  attr.addr = window.data();
  attr.fd = 0;
  for (const int mask :
       std::initializer_list<int>{IBV_REG_MR_MASK_FD, IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_ADDR,
                                  IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_IOVA,
                                  IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD_OFFSET,
                                  IBV_REG_MR_MASK_IOVA, IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_JKEY,
                                  IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_CUR_MR}) {
    attr.comp_mask = static_cast<std::uint32_t>(mask);
    errno = 0;
    EXPECT_EQ(ibv_reg_mr_ex(pd.get(), &attr), nullptr) << mask;
    EXPECT_EQ(errno, EINVAL) << mask;
  }
  Pd other(made(ibv_alloc_pd(context.get()), "pd"));
  Key other_key(made(ibv_create_jkey(other.get(), job.get(), 0), "jkey"));
  attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_JKEY;
  attr.job_key = other_key.get();
  EXPECT_EQ(ibv_reg_mr_ex(pd.get(), &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DERIVE_CNT;
  attr.derive_cnt = 5;
  Mr hinted(made(ibv_reg_mr_ex(pd.get(), &attr), "mr"));
}

TEST_F(Registering, RefusesWhatItCannotDo) {
  Window window(4096);
  const auto refused = [&](ibv_mr_init_attr attr) {
    attr.length = window.length;
    attr.addr = window.data();
    errno = 0;
    EXPECT_EQ(ibv_reg_mr_ex(pd.get(), &attr), nullptr);
    return errno;
  };
  ibv_mr_init_attr attr = {};
  attr.comp_mask = IBV_REG_MR_MASK_ADDR;
  attr.access = IBV_ACCESS_ON_DEMAND;
  EXPECT_EQ(refused(attr), EOPNOTSUPP);
  attr.access = IBV_ACCESS_REMOTE_WRITE;  // without local write
  EXPECT_EQ(refused(attr), EINVAL);
  attr.access = all_rights;
  attr.comp_mask |= IBV_REG_MR_MASK_RKEY;
  for (const unsigned bit : {60u, 61u, 62u, 63u}) {
    attr.rkey = 1ull << bit;
    EXPECT_EQ(refused(attr), EINVAL);
  }
  attr.length = window.length;
  attr.addr = window.data();
  attr.access = all_rights | indexed_access;  // an application's key is never indexed
  attr.rkey = 4321;
  Mr plain(made(ibv_reg_mr_ex(pd.get(), &attr), "mr"));
  EXPECT_EQ(plain->rkey64, 4321u);
}

}  // namespace
}  // namespace on_model
