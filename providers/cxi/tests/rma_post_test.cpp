// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Remote requests: their commands, and what several answers of one come to.
#include <gmock/gmock.h>

#include "fake_objects.hpp"

namespace cxi {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Put = cassini::c_full_dma_cmd;

constexpr std::uint64_t plain_key = 0x8000000000000123;
constexpr std::uint64_t indexed_key = 0xa000000000000123;

class RemoteRequests : public QpOnPaper {
 protected:
  RemoteRequests() {
    cq->credits = 8;
    qp->send.slots_lac = 4;
    qp->send.slots_iova = 0x5000'0000;
  }
  int rma(ibv_wr_opcode opcode, std::uint64_t wr_id, std::uint64_t remote_key, unsigned pieces,
          unsigned flags = IBV_SEND_SIGNALED) {
    ibv_sge sges[4];
    for (unsigned i = 0; i < pieces; i++)
      sges[i] = {reinterpret_cast<std::uintptr_t>(buffer.data()) + i * 500, piece_bytes, key};
    ibv_send_wr wr = {};
    wr.wr_id = wr_id;
    wr.sg_list = sges;
    wr.num_sge = static_cast<int>(pieces);
    wr.opcode = opcode;
    wr.send_flags = flags;
    wr.imm_data = 0x11223344;
    wr.wr.ru_rdma.ah = &ah->ibv;
    wr.wr.ru_rdma.remote_addr = 0x1000;
    wr.wr.ru_rdma.rkey64 = remote_key;
    ibv_send_wr* bad = nullptr;
    return post_send(&qp->ibv.qp, &wr, &bad);
  }
  std::uint32_t piece_bytes = 100;
  const std::byte* command(unsigned n) const { return tx_ring.data() + (4 + n) * 64; }
  std::uint32_t target(unsigned portal) const {
    return fabric_address(ah->peer, portal, context->geometry);
  }
  std::vector<ibv_wc_status> statuses() {
    std::vector<ibv_wc_status> found;
    for (const ibv_wc& wc : poll())
      found.push_back(wc.status);
    return found;
  }
};

TEST_F(RemoteRequests, AWriteGoesToTheMemoryEntryOfItsTarget) {
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 1, plain_key, 1), 0);
  EXPECT_EQ(Put::command::opcode::get(command(0)), std::uint64_t{C_CMD_PUT});
  EXPECT_EQ(Put::dfa::get(command(0)), target(48 + 33));
  EXPECT_EQ(Put::index_ext::get(command(0)), (48 + 33) & 31u);
  EXPECT_EQ(Put::match_bits::get(command(0)), plain_key);
  EXPECT_EQ(Put::remote_offset::get(command(0)), 0x1000u);
  EXPECT_EQ(Put::local_addr::get(command(0)), 0x1000'0000u);
  EXPECT_EQ(Put::request_len::get(command(0)), 100u);
  EXPECT_EQ(Put::initiator::get(command(0)), qp->initiator);
}

TEST_F(RemoteRequests, AReadGoesToTheReadIndex) {
  ASSERT_EQ(rma(IBV_WR_RDMA_READ, 1, plain_key, 1), 0);
  EXPECT_EQ(Put::command::opcode::get(command(0)), std::uint64_t{C_CMD_GET});
  EXPECT_EQ(Put::dfa::get(command(0)), target(176 + 33));
  EXPECT_EQ(Put::match_bits::get(command(0)), plain_key);
}

TEST_F(RemoteRequests, IndexedRegionsHaveIndicesOfTheirOwn) {
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 1, indexed_key, 1), 0);
  ASSERT_EQ(rma(IBV_WR_RDMA_READ, 1, indexed_key, 1), 0);
  EXPECT_EQ(Put::dfa::get(command(0)), target(96 + 3));
  EXPECT_EQ(Put::dfa::get(command(1)), target(224 + 3));
  EXPECT_EQ(Put::match_bits::get(command(0)), indexed_key | std::uint64_t{33} << 30);
}

TEST_F(RemoteRequests, AWriteWithImmediateIsOneCommandThatNamesItsSource) {
  piece_bytes = 60;
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE_WITH_IMM, 1, plain_key, 3, 0), 0);
  EXPECT_EQ(Put::match_bits::get(command(0)), plain_key | std::uint64_t{1} << 62);
  EXPECT_EQ(Put::header_data::get(command(0)), 0x11223344u);
  EXPECT_EQ(Put::initiator::get(command(0)), 0x77u);
  EXPECT_EQ(Put::request_len::get(command(0)), 180u);
  EXPECT_EQ(Put::local_addr::get(command(0)), 0x5000'0000u + payload_offset);
  EXPECT_EQ(tx_doorbell, 5u);
}

TEST_F(RemoteRequests, InlineBytesLieInTheSlot) {
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 1, plain_key, 1, 0), 0);
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 2, plain_key, 1, IBV_SEND_INLINE), 0);
  EXPECT_EQ(Put::lac::get(command(1)), 4u);
  EXPECT_EQ(Put::local_addr::get(command(1)), 0x5000'0000u + send_slot_bytes + payload_offset);
  EXPECT_EQ(rma(IBV_WR_RDMA_READ, 2, plain_key, 1, IBV_SEND_INLINE), EINVAL);
}

TEST_F(RemoteRequests, PiecesFollowEachOtherAtTheTarget) {
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 1, plain_key, 3), 0);
  EXPECT_EQ(tx_doorbell, 7u);
  for (unsigned i = 0; i < 3; i++) {
    EXPECT_EQ(Put::local_addr::get(command(i)), 0x1000'0000u + i * 500);
    EXPECT_EQ(Put::remote_offset::get(command(i)), 0x1000u + i * 100);
    EXPECT_EQ(Put::request_len::get(command(i)), 100u);
    EXPECT_EQ(Put::user_ptr::get(command(i)), user(0));
  }
}

TEST_F(RemoteRequests, TheLastAnswerCompletes) {
  ASSERT_EQ(rma(IBV_WR_RDMA_READ, 5, plain_key, 3), 0);
  for (unsigned i = 0; i < 2; i++) {
    nic.answer(user(0), C_RC_OK, 100, false, C_EVENT_REPLY);
    EXPECT_THAT(poll(), IsEmpty());
  }
  nic.answer(user(0), C_RC_OK, 100, false, C_EVENT_REPLY);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 1u);
  EXPECT_EQ(wc[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc[0].opcode, IBV_WC_RDMA_READ);
  EXPECT_EQ(wc[0].byte_len, 300u);
}

TEST_F(RemoteRequests, EveryCommandNeedsACredit) {
  cq->credits = 2;
  EXPECT_EQ(rma(IBV_WR_RDMA_WRITE, 1, plain_key, 3), ENOMEM);
  EXPECT_EQ(cq->credits, 2);
  EXPECT_EQ(tx_doorbell, 0u);
  EXPECT_EQ(rma(IBV_WR_RDMA_WRITE, 1, plain_key, 2), 0);
  EXPECT_EQ(cq->credits, 0);
}

TEST_F(RemoteRequests, AFinalErrorCountsMoreThanOneThatCanBeRepeated) {
  for (const bool first : {true, false}) {
    ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 1, plain_key, 3), 0);
    const std::uint64_t request = user(first ? 0 : 1);
    nic.answer(request, first ? C_RC_OP_VIOLATION : C_RC_PT_DISABLED, 0, true);
    nic.answer(request, first ? C_RC_PT_DISABLED : C_RC_OP_VIOLATION, 0, true);
    EXPECT_THAT(poll(), IsEmpty());
    nic.answer(request, C_RC_OK, 100);
    const auto wc = poll();
    ASSERT_EQ(wc.size(), 1u);
    EXPECT_EQ(wc[0].status, IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(wc[0].vendor_err, unsigned{C_RC_OP_VIOLATION});
  }
}

TEST_F(RemoteRequests, ARepeatIsTheWholeRequest) {
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 1, plain_key, 2), 0);
  nic.answer(user(0), C_RC_PT_DISABLED, 0, true);
  nic.answer(user(0), C_RC_OK, 100);
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_EQ(qp->send.waiting, 1u);
  qp->send.requests[0].due_ns = qp->send.next_due_ns = 1;
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_EQ(tx_doorbell, 8u);
  nic.answer(user(0), C_RC_OK, 100);
  EXPECT_THAT(poll(), IsEmpty());
  nic.answer(user(0), C_RC_OK, 100);
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_SUCCESS));
}

TEST_F(RemoteRequests, FlushedRequestsGiveTheirCreditsBack) {
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 1, plain_key, 3), 0);
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 2, plain_key, 2), 0);
  EXPECT_EQ(cq->credits, 3);
  nic.answer(user(0), C_RC_OK, 100);
  flush_send(*qp);
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR));
  EXPECT_EQ(cq->credits, 7);  // the eighth comes back when its place in the ring does
}

TEST_F(RemoteRequests, KeysAndRangesThatCannotBeEndInTheirTurn) {
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 1, plain_key, 1), 0);
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 2, plain_key | 1ull << 62, 1, 0), 0);
  EXPECT_EQ(tx_doorbell, 5u);
  nic.answer(user(0), C_RC_OK, 100);
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR));
}

TEST_F(RemoteRequests, TheLongestHasAByteLessThanFourGigabytes) {
  const std::uint32_t huge = add_region(buffer.data(), std::size_t{1} << 33, 0x1'0000'0000);
  const auto write = [&](std::uint32_t more) {
    ibv_sge sges[2] = {{reinterpret_cast<std::uintptr_t>(buffer.data()), 0xffffffff, huge},
                       {reinterpret_cast<std::uintptr_t>(buffer.data()), more, huge}};
    ibv_send_wr wr = {};
    wr.sg_list = sges;
    wr.num_sge = 2;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.wr.ru_rdma.ah = &ah->ibv;
    wr.wr.ru_rdma.rkey64 = plain_key;
    ibv_send_wr* bad = nullptr;
    return post_send(&qp->ibv.qp, &wr, &bad);
  };
  EXPECT_EQ(write(1), EINVAL);
  EXPECT_EQ(write(0), 0);
  EXPECT_EQ(Put::request_len::get(command(0)), 0xffffffffu);
}

TEST_F(RemoteRequests, AtomicsBringTheirOperandInTheSlot) {
  install_builder(*qp, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP);
  ibv_qp_ex* ex = &qp->ibv.qp_ex;
  ibv_wr_start(ex);
  ex->wr_id = 3;
  ex->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_atomic_cmp_swp(ex, 0x80000123, 0x40, 5, 6);
  ibv_wr_set_ru_addr(ex, &ah->ibv, 0);
  ibv_wr_set_sge(ex, key, reinterpret_cast<std::uintptr_t>(buffer.data()), 8);
  ASSERT_EQ(ibv_wr_complete(ex), 0);
  using Amo = cassini::c_dma_amo_cmd;
  const std::byte* amo = command(0);
  EXPECT_EQ(Amo::command::opcode::get(amo), std::uint64_t{C_CMD_FETCHING_ATOMIC});
  EXPECT_EQ(Amo::match_bits::get(amo), plain_key | std::uint64_t{1} << 60);
  EXPECT_EQ(Amo::local_read_addr::get(amo), 0x5000'0000u + operand_offset);
  EXPECT_EQ(Amo::lac::get(amo), 4u);
  EXPECT_EQ(Amo::local_write_addr::get(amo), 0x1000'0000u);
  EXPECT_EQ(Amo::write_lac::get(amo), 2u);
  EXPECT_EQ(Amo::op2_word1::get(amo), 5u);
  std::uint64_t operand = 0;
  std::memcpy(&operand, slots.data() + operand_offset, sizeof(operand));
  EXPECT_EQ(operand, 6u);
  nic.answer(user(0), C_RC_OK, 8, false, C_EVENT_REPLY);
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_SUCCESS));
}

TEST_F(RemoteRequests, ImmediateWritesOfOthersAreCompletionsWithoutAReceive) {
  context->receivers[pte + 1] = qp.get();
  ASSERT_EQ(receive(9, 0, 64), 0);
  nic.put({.pte = pte + 1,
           .buffer_id = 1,
           .mlength = 55,
           .rlength = 55,
           .initiator = 0x4321,
           .match_bits = plain_key | 1ull << 62,
           .header_data = 0x1122334455667788,
           .vni = 12});
  Completion completion;
  ASSERT_TRUE(poll_one(*cq, completion));
  EXPECT_EQ(completion.wr_id, 0u);
  EXPECT_EQ(completion.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(completion.byte_len, 55u);
  EXPECT_EQ(completion.immediate, 0x1122334455667788u);
  EXPECT_EQ(completion.src_id, 0x4321u);
  EXPECT_EQ(completion.src_qp, 0u);
  EXPECT_EQ(completion.job_id, 12u);
  nic.put({.pte = pte + 1, .buffer_id = 1, .code = C_RC_MST_CANCELLED});
  EXPECT_FALSE(poll_one(*cq, completion));
}

}  // namespace
}  // namespace cxi
