// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Remote reads and writes, and atomics, in front of the software NIC.
#include "rma_on_model.hpp"

#include <endian.h>
#include <unistd.h>

namespace on_model {
namespace {

class Transfers : public Rma {};
class Atomics : public Rma {};

TEST_F(Transfers, AWriteChangesWhatItNamesAndNothingElse) {
  Window window(pd.get(), 20'000, all_rights);
  ASSERT_EQ(attach(window), 0);
  for (const std::uint32_t length : {0u, 1u, 8u, 192u, 193u, 2048u, 2049u, 12'345u}) {
    std::fill_n(window.data(), window.length, Window::fill);
    ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 3, length, window.mr()->rkey64, 777), 0);
    const ibv_wc wc = wait(1)[0];
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS) << length;
    EXPECT_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
    EXPECT_EQ(wc.byte_len, length);
    EXPECT_EQ(std::memcmp(window.data() + 777, buffer.data() + 3, length), 0);
    EXPECT_TRUE(window.untouched_but(777, length));
  }
  expect_quiet_and_usable();
}

TEST_F(Transfers, AReadBringsWhatItNamesAndChangesNothing) {
  Window window(pd.get(), 20'000, IBV_ACCESS_REMOTE_READ);
  std::iota(window.data(), window.data() + window.length, std::uint8_t{9});
  const std::vector<std::uint8_t> before(window.data(), window.data() + window.length);
  ASSERT_EQ(attach(window), 0);
  for (const std::uint32_t length : {0u, 1u, 8u, 2048u, 2049u, 12'345u}) {
    std::fill(buffer.begin(), buffer.end(), std::uint8_t{0xee});
    ASSERT_EQ(rma(IBV_WR_RDMA_READ, 100, length, window.mr()->rkey64, 555), 0);
    const ibv_wc wc = wait(1)[0];
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS) << length;
    EXPECT_EQ(wc.opcode, IBV_WC_RDMA_READ);
    EXPECT_EQ(std::memcmp(window.data() + 555, buffer.data() + 100, length), 0);
    EXPECT_EQ(buffer[99], 0xee);
    EXPECT_EQ(buffer[100 + length], 0xee);
  }
  EXPECT_EQ(std::memcmp(window.data(), before.data(), before.size()), 0);
  expect_quiet_and_usable();
}

TEST_F(Transfers, WholeMegabytes) {
  Window window(pd.get(), 1 << 20, all_rights);
  ASSERT_EQ(attach(window), 0);
  ASSERT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 1 << 20, window.mr()->rkey64, 0), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(window.data(), buffer.data(), 1 << 20), 0);
  std::fill(buffer.begin(), buffer.end(), std::uint8_t{0});
  ASSERT_EQ(outcome(IBV_WR_RDMA_READ, 0, 1 << 20, window.mr()->rkey64, 0), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(window.data(), buffer.data(), 1 << 20), 0);
  EXPECT_TRUE(window.untouched_but(0, 1 << 20));
}

TEST_F(Transfers, SeveralPiecesAreOneRequest) {
  Window window(pd.get(), 16 * 1000, all_rights);
  ASSERT_EQ(attach(window), 0);
  ibv_sge pieces[16];
  for (unsigned i = 0; i < 16; i++)
    pieces[i] = {local((15 - i) * 1100), 900, mr->lkey};
  for (unsigned round = 0; round < 100; round++) {
    ASSERT_EQ(rma_list(IBV_WR_RDMA_WRITE, round, pieces, 16, window.mr()->rkey64, 50), 0);
    const ibv_wc wc = wait(1)[0];
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    EXPECT_EQ(wc.wr_id, round);
    EXPECT_EQ(wc.byte_len, 16 * 900u);
  }
  for (unsigned i = 0; i < 16; i++)
    EXPECT_EQ(std::memcmp(window.data() + 50 + i * 900, buffer.data() + (15 - i) * 1100, 900), 0);
  EXPECT_TRUE(window.untouched_but(50, 16 * 900));
  std::fill(buffer.begin(), buffer.end(), std::uint8_t{0xee});
  ASSERT_EQ(rma_list(IBV_WR_RDMA_READ, 1, pieces, 16, window.mr()->rkey64, 50), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
  for (unsigned i = 0; i < 16; i++)
    EXPECT_EQ(std::memcmp(window.data() + 50 + i * 900, buffer.data() + (15 - i) * 1100, 900), 0);
  for (unsigned i = 0; i < 16; i++)
    EXPECT_EQ(buffer[i * 1100 + 900], 0xee);
  ibv_wc wc;
  EXPECT_EQ(ibv_poll_cq(cq.get(), 1, &wc), 0);
}

TEST_F(Transfers, InlineWritesNeedNoKeyAndTakeTheirBytesAtOnce) {
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(window), 0);
  std::array<std::uint8_t, 150> message;
  message.fill(0x21);
  ibv_sge sge = {reinterpret_cast<std::uintptr_t>(message.data()), 150, 0};
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM}) {
    message.fill(0x21);
    ASSERT_EQ(
        rma_list(opcode, 1, &sge, 1, window.mr()->rkey64, 10, IBV_SEND_INLINE | IBV_SEND_SIGNALED),
        0);
    message.fill(0x99);
    EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
    EXPECT_EQ(window.data()[10], 0x21);
    EXPECT_EQ(window.data()[159], 0x21);
    EXPECT_TRUE(window.untouched_but(10, 150));
  }
  EXPECT_EQ(rma_list(IBV_WR_RDMA_READ, 1, &sge, 1, window.mr()->rkey64, 10, IBV_SEND_INLINE),
            EINVAL);
}

TEST_F(Transfers, AWriteWithImmediateIsToldToTheTarget) {
  Window window(pd.get(), 60'000, all_rights);
  ASSERT_EQ(receive(target, 50, 4096, 64), 0);
  ASSERT_EQ(attach(window), 0);  // and the receive is posted
  for (const std::uint32_t length : {0u, 100u, 50'000u}) {
    std::fill_n(window.data(), window.length, Window::fill);
    ASSERT_EQ(rma(IBV_WR_RDMA_WRITE_WITH_IMM, 0, length, window.mr()->rkey64, 5), 0);
    EXPECT_EQ(wait(1)[0].opcode, IBV_WC_RDMA_WRITE);
    const ibv_wc wc = wait(target_cq.get(), 1)[0];
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    EXPECT_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    EXPECT_EQ(wc.wr_id, 0u);
    EXPECT_EQ(wc.byte_len, length);
    EXPECT_EQ(wc.wc_flags, unsigned{IBV_WC_WITH_IMM});
    EXPECT_EQ(wc.imm_data, htobe32(0x12345678));
    EXPECT_EQ(wc.qp_num, target->qp_num);
    EXPECT_EQ(wc.src_qp, 0u);
    EXPECT_EQ(std::memcmp(window.data() + 5, buffer.data(), length), 0);
    EXPECT_TRUE(window.untouched_but(5, length));
  }
  // The receive is still there.
  ASSERT_EQ(send(source, to_target, 1, 0, 8, 0), 0);
  EXPECT_EQ(wait(target_cq.get(), 1)[0].wr_id, 50u);
}

TEST_F(Transfers, AWriteWithImmediateOfSeveralPiecesIsOneMessage) {
  Window window(pd.get(), 60'000, all_rights);
  ASSERT_EQ(attach(window), 0);
  for (const std::uint32_t part : {20u, 5000u}) {
    ibv_sge pieces[3];
    for (unsigned i = 0; i < 3; i++)
      pieces[i] = {local(i * 7000), part, mr->lkey};
    ASSERT_EQ(rma_list(IBV_WR_RDMA_WRITE_WITH_IMM, 1, pieces, 3, window.mr()->rkey64, 0), 0);
    EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
    EXPECT_EQ(wait(target_cq.get(), 1)[0].byte_len, 3 * part);
    for (unsigned i = 0; i < 3; i++)
      EXPECT_EQ(std::memcmp(window.data() + i * part, buffer.data() + i * 7000, part), 0);
  }
}

TEST_F(Transfers, BuildersTakeKeysOfEitherWidth) {
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(window), 0);
  const std::uint32_t narrow = window.mr()->rkey;
  const std::uint64_t wide = window.mr()->rkey64;
  std::size_t at = 0;
  const auto expect_written = [&](auto operation) {
    EXPECT_EQ(build(operation, at, 40), IBV_WC_SUCCESS);
    EXPECT_EQ(std::memcmp(window.data() + at, buffer.data() + at, 40), 0);
    EXPECT_TRUE(window.untouched_but(0, at + 40));
    at += 40;
  };
  expect_written([&](ibv_qp_ex* ex) { ibv_wr_rdma_write(ex, narrow, at); });
  expect_written([&](ibv_qp_ex* ex) { ibv_wr_rdma_write64(ex, wide, at); });
  expect_written([&](ibv_qp_ex* ex) { ibv_wr_rdma_write_imm(ex, narrow, at, 1); });
  expect_written([&](ibv_qp_ex* ex) { ibv_wr_rdma_write64_imm(ex, wide, at, 2); });
  expect_written([&](ibv_qp_ex* ex) { ibv_wr_rdma_write_imm64(ex, narrow, at, 3); });
  expect_written([&](ibv_qp_ex* ex) { ibv_wr_rdma_write64_imm64(ex, wide, at, 4); });
  std::uint32_t immediate = 1;
  for (const ibv_wc& wc : wait(target_cq.get(), 4))
    EXPECT_EQ(wc.imm_data, immediate++);
  std::fill_n(window.data(), 80, std::uint8_t{0x77});
  EXPECT_EQ(build([&](ibv_qp_ex* ex) { ibv_wr_rdma_read(ex, narrow, 0); }, 5000, 40),
            IBV_WC_SUCCESS);
  EXPECT_EQ(build([&](ibv_qp_ex* ex) { ibv_wr_rdma_read64(ex, wide, 40); }, 5040, 40),
            IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(window.data(), buffer.data() + 5000, 80), 0);
}

TEST_F(Transfers, ExtendedQueueShowsWideImmediateJobAndSource) {
  ibv_cq_init_attr_ex attr = {};
  attr.cqe = 16;
  attr.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM64 | IBV_WC_EX_WITH_SRC_ID |
                  IBV_WC_EX_WITH_JOB_ID;
  CqPtr extended(ibv_cq_ex_to_cq(made(ibv_create_cq_ex(context.get(), &attr), "cq")));
  QpPtr other = create_qp({}, extended.get(), extended.get());
  to_target = address_of(other);
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(ibv_attach_mr(other.get(), window.mr()), 0);
  const std::uint64_t key64 = window.mr()->rkey64;
  ASSERT_EQ(build([&](ibv_qp_ex* ex) { ibv_wr_rdma_write64_imm64(ex, key64, 0, 0xcacacdeadbeef); },
                  0, 30),
            IBV_WC_SUCCESS);
  auto* ex = reinterpret_cast<ibv_cq_ex*>(extended.get());
  ibv_poll_cq_attr poll = {};
  while (ibv_start_poll(ex, &poll) == ENOENT) {
  }
  EXPECT_EQ(ex->wr_id, 0u);
  EXPECT_EQ(ibv_wc_read_opcode(ex), IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(ibv_wc_read_imm64_data(ex), 0xcacacdeadbeefu);
  EXPECT_EQ(ibv_wc_read_src_id(ex), 7u);
  EXPECT_EQ(ibv_wc_read_job_id(ex), 1u);
  EXPECT_EQ(ibv_wc_read_byte_len(ex), 30u);
  ibv_end_poll(ex);
}

TEST_F(Transfers, KeysOfTheApplication) {
  Window window(8192);
  ibv_mr_init_attr attr = {};
  attr.length = window.length;
  attr.access = all_rights;
  attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_RKEY;
  attr.addr = window.data();
  attr.rkey = 0x00abcdef;
  window.region = Mr(made(ibv_reg_mr_ex(pd.get(), &attr), "mr"));
  EXPECT_EQ(window.mr()->rkey64, 0x00abcdefu);
  EXPECT_EQ(window.mr()->rkey, 0x00abcdefu);
  ASSERT_EQ(attach(window), 0);
  EXPECT_EQ(outcome(IBV_WR_RDMA_WRITE, 0, 100, 0x00abcdef, 0), IBV_WC_SUCCESS);
  EXPECT_EQ(build([&](ibv_qp_ex* ex) { ibv_wr_rdma_write(ex, 0x00abcdef, 100); }, 100, 100),
            IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(window.data(), buffer.data(), 200), 0);
  EXPECT_TRUE(window.untouched_but(0, 200));
}

TEST_F(Transfers, UnfinishedTargetsAreRepeatedAsAWhole) {
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(window), 0);
  source = create_qp({.sges = 4, .retry_cnt = 7});
  ASSERT_EQ(set_state(target, IBV_QPS_ERR), 0);
  ibv_sge pieces[2] = {{local(0), 300, mr->lkey}, {local(1000), 300, mr->lkey}};
  ASSERT_EQ(rma_list(IBV_WR_RDMA_WRITE, 1, pieces, 2, window.mr()->rkey64, 0), 0);
  ibv_wc wc;
  for (unsigned i = 0; i < 6; i++) {  // each poll repeats it once at most, of seven times
    ASSERT_EQ(ibv_poll_cq(cq.get(), 1, &wc), 0);
    usleep(1000);
  }
  EXPECT_TRUE(window.untouched());
  ASSERT_EQ(set_state(target, IBV_QPS_RESET), 0);
  ASSERT_EQ(set_state(target, IBV_QPS_RTS), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(window.data() + 300, buffer.data() + 1000, 300), 0);
}

TEST_F(Atomics, AddAndSwapReturnWhatWasThere) {
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(window), 0);
  const std::uint32_t key32 = window.mr()->rkey;
  std::uint64_t value = 40;
  const auto there = [&] {
    std::memcpy(&value, window.data() + 16, sizeof(value));
    return value;
  };
  const auto result = [&] {
    std::uint64_t found;
    std::memcpy(&found, buffer.data() + 800, sizeof(found));
    return found;
  };
  std::memcpy(window.data() + 16, &value, sizeof(value));
  EXPECT_EQ(build([&](ibv_qp_ex* ex) { ibv_wr_atomic_fetch_add(ex, key32, 16, 2); }, 800, 8),
            IBV_WC_SUCCESS);
  EXPECT_EQ(result(), 40u);
  EXPECT_EQ(there(), 42u);
  EXPECT_EQ(build([&](ibv_qp_ex* ex) { ibv_wr_atomic_cmp_swp(ex, key32, 16, 41, 5); }, 800, 8),
            IBV_WC_SUCCESS);
  EXPECT_EQ(result(), 42u);
  EXPECT_EQ(there(), 42u);
  EXPECT_EQ(build([&](ibv_qp_ex* ex) { ibv_wr_atomic_cmp_swp(ex, key32, 16, 42, 5); }, 800, 8),
            IBV_WC_SUCCESS);
  EXPECT_EQ(result(), 42u);
  EXPECT_EQ(there(), 5u);
  EXPECT_EQ(build([&](ibv_qp_ex* ex) { ibv_wr_atomic_fetch_add(ex, key32, 16, ~0ull); }, 800, 8),
            IBV_WC_SUCCESS);
  EXPECT_EQ(there(), 4u);
  EXPECT_EQ(buffer[799], static_cast<std::uint8_t>(800));
  EXPECT_EQ(buffer[808], static_cast<std::uint8_t>(809));
  EXPECT_TRUE(window.untouched_but(16, 8));
  expect_quiet_and_usable();
}

TEST_F(Atomics, CanBePostedInLists) {
  Window window(pd.get(), 4096, all_rights);
  ASSERT_EQ(attach(window), 0);
  const std::uint64_t start = 40;
  std::memcpy(window.data() + 16, &start, sizeof(start));
  const std::uint64_t key64 = window.mr()->rkey64;
  const auto ended_with = [&](std::uint64_t before, std::uint64_t after) {
    EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
    std::uint64_t found, there;
    std::memcpy(&found, buffer.data() + 800, sizeof(found));
    std::memcpy(&there, window.data() + 16, sizeof(there));
    EXPECT_EQ(found, before);
    EXPECT_EQ(there, after);
  };
  EXPECT_EQ(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 800, key64, 16, 2, 99), 0);
  ended_with(40, 42);
  EXPECT_EQ(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 800, key64, 16, 41, 5), 0);
  ended_with(42, 42);
  EXPECT_EQ(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 800, key64, 16, 42, 5), 0);
  ended_with(42, 5);
  EXPECT_TRUE(window.untouched_but(16, 8));
  expect_quiet_and_usable();
}

TEST_F(Atomics, WhatCannotBeDoneIsRefused) {
  Window window(pd.get(), 4096, all_rights);
  Window writable(pd.get(), 4096,
                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
  ASSERT_EQ(attach(window), 0);
  ASSERT_EQ(attach(writable), 0);
  const auto add_at = [&](const Window& where, std::uint64_t at) {
    return build([&](ibv_qp_ex* ex) { ibv_wr_atomic_fetch_add(ex, where.mr()->rkey, at, 1); }, 800,
                 8);
  };
  EXPECT_EQ(add_at(window, 4), IBV_WC_REM_INV_REQ_ERR);  // not aligned
  EXPECT_EQ(add_at(window, 4096), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(add_at(writable, 0), IBV_WC_REM_ACCESS_ERR);
  EXPECT_TRUE(window.untouched());
  EXPECT_TRUE(writable.untouched());
  ibv_qp_ex* ex = ibv_qp_to_qp_ex(source.get());
  for (const std::uint32_t length : {4u, 16u}) {
    ibv_wr_start(ex);
    ibv_wr_atomic_fetch_add(ex, window.mr()->rkey, 0, 1);
    ibv_wr_set_ru_addr(ex, ibv_ah_to_ah_ex(to_target.get()), 0);
    ibv_wr_set_sge(ex, mr->lkey, local(0), length);
    EXPECT_EQ(ibv_wr_complete(ex), EINVAL);
  }
  const std::uint64_t key64 = window.mr()->rkey64;
  EXPECT_EQ(rma(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 4, key64, 0), EINVAL);
  EXPECT_EQ(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 0, key64, 0, 1, 2, IBV_SEND_INLINE), EINVAL);
  EXPECT_TRUE(window.untouched());
  expect_quiet_and_usable();
}

}  // namespace
}  // namespace on_model
