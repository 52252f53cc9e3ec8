// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Receives: from an event in the ring to a completion.
#include <gmock/gmock.h>

#include "fake_objects.hpp"

namespace cxi {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Receiving : public QpOnPaper {};

TEST_F(Receiving, AMessageCompletesTheReceiveThatItTook) {
  ASSERT_EQ(receive(1, 0, 64), 0);
  ASSERT_EQ(receive(2, 64, 64), 0);
  using Append = cassini::c_target_cmd;
  EXPECT_EQ(Append::buffer_id::get(tgt_ring.data() + 4 * 64), 1u);
  EXPECT_EQ(Append::start::get(tgt_ring.data() + 5 * 64), 0x1000'0040u);
  EXPECT_EQ(tgt_doorbell, 6u);
  nic.put({.pte = pte,
           .buffer_id = 2,
           .mlength = 20,
           .rlength = 20,
           .initiator = initiator(9, 0x456, {9}),
           .match_bits = send_bits::src_id::encode(0xabc) | send_bits::ri::encode(33) |
                         send_bits::immediate::encode(1),
           .header_data = 0xfeca0000,
           .vni = 10});
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 1u);
  EXPECT_EQ(wc[0].wr_id, 2u);
  EXPECT_EQ(wc[0].opcode, IBV_WC_RECV);
  EXPECT_EQ(wc[0].byte_len, 20u);
  EXPECT_EQ(wc[0].wc_flags, unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(wc[0].imm_data, 0xfeca0000u);
  EXPECT_EQ(wc[0].src_qp, qpn::make(9, 33));
}

TEST_F(Receiving, ExtendedReadersShowTheRest) {
  ASSERT_EQ(receive(1, 0, 64), 0);
  nic.put({.pte = pte,
           .buffer_id = 1,
           .match_bits = send_bits::src_id::encode(0xabc) | send_bits::immediate::encode(2),
           .header_data = 0x1122334455667788,
           .vni = 10});
  ibv_cq_ex* ex = &cq->ibv.cq_ex;
  ibv_poll_cq_attr attr = {};
  ASSERT_EQ(ex->start_poll(ex, &attr), 0);
  EXPECT_EQ(ex->wr_id, 1u);
  EXPECT_EQ(ex->status, IBV_WC_SUCCESS);
  EXPECT_EQ(ex->read_imm64_data(ex), 0x1122334455667788u);
  EXPECT_EQ(ex->read_src_id(ex), 0xabcu);
  EXPECT_EQ(ex->read_job_id(ex), 10u);
  EXPECT_EQ(ex->next_poll(ex), ENOENT);
  ex->end_poll(ex);
  EXPECT_EQ(ex->start_poll(ex, &attr), ENOENT);
  attr.comp_mask = 1;
  EXPECT_EQ(ex->start_poll(ex, &attr), EINVAL);
}

TEST_F(Receiving, AMessageThatWasCutIsALengthError) {
  ASSERT_EQ(receive(1, 0, 64), 0);
  nic.put({.pte = pte, .buffer_id = 1, .mlength = 64, .rlength = 65});
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 1u);
  EXPECT_EQ(wc[0].status, IBV_WC_LOC_LEN_ERR);
}

TEST_F(Receiving, UnknownAndRepeatedBuffersAreIgnored) {
  ASSERT_EQ(receive(1, 0, 64), 0);
  nic.put({.pte = pte, .buffer_id = 0});
  nic.put({.pte = pte, .buffer_id = depth + 1});
  nic.put({.pte = pte, .buffer_id = 2});
  nic.put({.pte = pte + 5, .buffer_id = 1});
  EXPECT_THAT(poll(), IsEmpty());
  nic.put({.pte = pte, .buffer_id = 1});
  nic.put({.pte = pte, .buffer_id = 1});
  EXPECT_THAT(polled_ids(), ElementsAre(1));
}

TEST_F(Receiving, MoreThanTheQueueHoldsIsRefusedUntilOneCompletes) {
  for (std::uint64_t id = 0; id < depth; id++)
    ASSERT_EQ(receive(id, 0, 8), 0);
  EXPECT_EQ(receive(9, 0, 8), ENOMEM);
  nic.put({.pte = pte, .buffer_id = 1});
  poll();
  EXPECT_EQ(receive(9, 0, 8), 0);
}

TEST_F(Receiving, SeveralPiecesAreStagedAndScattered) {
  auto staging = std::make_unique<std::array<Staging, 2>>();
  std::vector<std::byte> arena(Staging::bytes);
  pd->staging = staging->data();
  (*staging)[1].memory = arena.data();
  (*staging)[1].iova = 0x5000'0000;
  (*staging)[1].lac = 6;
  const auto base = reinterpret_cast<std::uintptr_t>(buffer.data());
  ibv_sge sges[] = {{base, 4, key}, {base + 100, 4, key}};
  ibv_recv_wr wr = {};
  wr.wr_id = 1;
  wr.sg_list = sges;
  wr.num_sge = 2;
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(post_recv(&qp->ibv.qp, &wr, &bad), 0);
  using Append = cassini::c_target_cmd;
  const std::byte* append = tgt_ring.data() + 4 * 64;
  EXPECT_EQ(Append::start::get(append), 0x5000'0000u);
  EXPECT_EQ(Append::lac::get(append), 6u);
  EXPECT_EQ(Append::length::get(append), 8u);
  std::memcpy(arena.data(), "abcdefgh", 8);
  nic.put({.pte = pte, .buffer_id = 1, .mlength = 6, .rlength = 6});
  ASSERT_THAT(polled_ids(), ElementsAre(1));
  EXPECT_EQ(std::memcmp(buffer.data(), "abcd", 4), 0);
  EXPECT_EQ(std::memcmp(buffer.data() + 100, "ef\0\0", 4), 0);
  EXPECT_EQ((*staging)[1].take(Staging::bytes), 0u);  // the block came back
}

TEST_F(Receiving, ABadLocalKeyIsACompletion) {
  key++;
  ASSERT_EQ(receive(1, 0, 8), 0);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 1u);
  EXPECT_EQ(wc[0].status, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(tgt_doorbell, 0u);
}

TEST_F(Receiving, TimestampsAreCompletedFromTheClock) {
  cq->timestamps = true;
  ASSERT_EQ(receive(1, 0, 8), 0);
  const std::uint64_t now = realtime_ns() / 1'000'000'000;
  nic.put({.pte = pte, .buffer_id = 1, .ns = 123, .seconds = static_cast<std::uint8_t>(now & 3)});
  Completion completion;
  ASSERT_TRUE(poll_one(*cq, completion));
  EXPECT_EQ(completion.timestamp_ns, now * 1'000'000'000 + 123);
}

}  // namespace
}  // namespace cxi
