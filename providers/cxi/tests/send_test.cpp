// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Sends: from a request to commands, from their answers to a completion.
#include <gmock/gmock.h>

#include <functional>

#include "fake_objects.hpp"

namespace cxi {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Sending : public QpOnPaper {};

TEST_F(Sending, AnAnswerCompletesTheRequest) {
  ASSERT_EQ(send(42, 100), 0);
  EXPECT_THAT(poll(), IsEmpty());
  nic.answer(user(0), C_RC_OK, 100);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 1u);
  EXPECT_EQ(wc[0].wr_id, 42u);
  EXPECT_EQ(wc[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc[0].opcode, IBV_WC_SEND);
  EXPECT_EQ(wc[0].vendor_err, 0u);
  EXPECT_EQ(wc[0].qp_num, qp->ibv.qp.qp_num);
}

TEST_F(Sending, CompletionsComeInPostingOrder) {
  for (std::uint64_t id = 1; id <= 3; id++)
    ASSERT_EQ(send(id, 8), 0);
  nic.answer(user(2), C_RC_OK, 8);
  nic.answer(user(1), C_RC_OK, 8);
  EXPECT_THAT(poll(), IsEmpty());
  nic.answer(user(0), C_RC_OK, 8);
  EXPECT_THAT(polled_ids(), ElementsAre(1, 2, 3));
}

TEST_F(Sending, OneAtATimeLosesNothing) {
  for (std::uint64_t id = 1; id <= 3; id++)
    ASSERT_EQ(send(id, 8), 0);
  nic.answer(user(1), C_RC_OK, 8);
  nic.answer(user(0), C_RC_OK, 8);
  nic.answer(user(2), C_RC_OK, 8);
  for (std::uint64_t id = 1; id <= 3; id++) {
    const auto wc = poll(1);
    ASSERT_EQ(wc.size(), 1u);
    EXPECT_EQ(wc[0].wr_id, id);
  }
  EXPECT_THAT(poll(1), IsEmpty());
}

TEST_F(Sending, UnsignalledSuccessIsSwallowedAnErrorIsNot) {
  ASSERT_EQ(send(1, 8, 0), 0);
  ASSERT_EQ(send(2, 8, 0), 0);
  nic.answer(user(0), C_RC_OK, 8);
  EXPECT_THAT(poll(), IsEmpty());
  nic.answer(user(1), C_RC_UNDELIVERABLE, 0);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 1u);
  EXPECT_EQ(wc[0].wr_id, 2u);
  EXPECT_EQ(wc[0].status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(wc[0].vendor_err, unsigned{C_RC_UNDELIVERABLE});
}

TEST_F(Sending, SwallowedRequestsGiveTheirPlaceBack) {
  for (unsigned round = 0; round < 3 * depth; round++) {
    ASSERT_EQ(send(round, 8, 0), 0) << round;
    nic.answer(user(round % depth), C_RC_OK, 8);
    EXPECT_THAT(poll(), IsEmpty());
  }
}

TEST_F(Sending, AllSignalledQueuePairsReportEverything) {
  qp->signal_all = true;
  ASSERT_EQ(send(1, 8, 0), 0);
  nic.answer(user(0), C_RC_OK, 8);
  EXPECT_THAT(polled_ids(), ElementsAre(1));
}

TEST_F(Sending, AMessageThatWasCutIsAnErrorHereToo) {
  ASSERT_EQ(send(1, 100), 0);
  nic.answer(user(0), C_RC_OK, 60);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 1u);
  EXPECT_EQ(wc[0].status, IBV_WC_REM_INV_REQ_ERR);
}

TEST_F(Sending, SmallMessagesTravelInTheCommand) {
  std::memset(buffer.data(), 0x5a, 192);
  ASSERT_EQ(send(1, 192), 0);
  using State = cassini::c_cstate_cmd;
  using Message = cassini::c_idc_msg_hdr;
  const std::byte* state = tx_ring.data() + 4 * 64;
  EXPECT_EQ(State::command::opcode::get(state), std::uint64_t{C_CMD_CSTATE});
  EXPECT_EQ(State::initiator::get(state), (own_pid << 23 | own_nid));
  EXPECT_EQ(State::index_ext::get(state), 33u & 31);
  EXPECT_EQ(State::eq::get(state), 0x21u);
  const std::byte* message = tx_ring.data() + 8 * 64;  // 256 bytes on their own boundary
  EXPECT_EQ(Message::command::opcode::get(message), std::uint64_t{C_CMD_SMALL_MESSAGE});
  EXPECT_EQ(Message::length::get(message), 224u);
  EXPECT_EQ(Message::user_ptr::get(message), user(0));
  EXPECT_EQ(Message::dfa::get(message), (0x456u << 12 | ((1u << 9) + 9)));
  EXPECT_EQ(Message::match_bits::get(message), 0x3'0000'0077u);
  EXPECT_EQ(message[32], std::byte{0x5a});
  EXPECT_EQ(message[223], std::byte{0x5a});
  EXPECT_EQ(tx_doorbell, 12u);
}

TEST_F(Sending, TheStateIsWrittenOnlyWhenItChanges) {
  ASSERT_EQ(send(1, 8), 0);
  EXPECT_EQ(tx_doorbell, 6u);
  ASSERT_EQ(send(2, 8), 0);
  EXPECT_EQ(tx_doorbell, 7u);
  ah->peer.ri = 34;
  ASSERT_EQ(send(3, 8), 0);
  EXPECT_EQ(tx_doorbell, 9u);
}

TEST_F(Sending, LargerMessagesAreFetchedFromMemory) {
  ASSERT_EQ(send(1, 193), 0);
  using Put = cassini::c_full_dma_cmd;
  const std::byte* put = tx_ring.data() + 4 * 64;
  EXPECT_EQ(Put::command::cmd_type::get(put), std::uint64_t{C_CMD_TYPE_DMA});
  EXPECT_EQ(Put::local_addr::get(put), 0x1000'0000u);
  EXPECT_EQ(Put::lac::get(put), 2u);
  EXPECT_EQ(Put::request_len::get(put), 193u);
  EXPECT_EQ(tx_doorbell, 5u);
}

TEST_F(Sending, AnotherJobKeySwitchesTheProfileAndBack) {
  ibv_sge sge = {reinterpret_cast<std::uintptr_t>(buffer.data()), 1000, key};
  ASSERT_EQ(send_list(1, &sge, 1, IBV_SEND_SIGNALED, peer_key), 0);
  using Lcid = cassini::c_cq_cmd;
  const std::byte* command = tx_ring.data() + 4 * 64;
  EXPECT_EQ(Lcid::command::opcode::get(command), std::uint64_t{C_CMD_CQ_LCID});
  EXPECT_EQ(Lcid::lcid::get(command), 2u);
  EXPECT_EQ(tx_doorbell, 7u);
  ASSERT_EQ(send_list(2, &sge, 1, IBV_SEND_SIGNALED, peer_key), 0);
  EXPECT_EQ(tx_doorbell, 8u);
  ASSERT_EQ(send_list(3, &sge, 1), 0);
  EXPECT_EQ(Lcid::lcid::get(tx_ring.data() + 8 * 64), 1u);
}

TEST_F(Sending, TheCompletionNamesTheJobInWhichItWasSent) {
  ibv_sge sge = {reinterpret_cast<std::uintptr_t>(buffer.data()), 8, key};
  ASSERT_EQ(send_list(1, &sge, 1, IBV_SEND_SIGNALED, peer_key), 0);
  ASSERT_EQ(send_list(2, &sge, 1), 0);
  nic.answer(user(0), C_RC_OK, 8);
  nic.answer(user(1), C_RC_OK, 8);
  Completion completion;
  ASSERT_TRUE(poll_one(*cq, completion));
  EXPECT_EQ(completion.job_id, 11u);
  ASSERT_TRUE(poll_one(*cq, completion));
  EXPECT_EQ(completion.job_id, 10u);
}

TEST_F(Sending, AStaleJobKeyIsRefused) {
  ibv_sge sge = {reinterpret_cast<std::uintptr_t>(buffer.data()), 8, key};
  EXPECT_EQ(send_list(1, &sge, 1, IBV_SEND_SIGNALED, 0x201), EINVAL);
  EXPECT_EQ(tx_doorbell, 0u);
}

TEST_F(Sending, ABadLocalKeyIsACompletionInItsTurn) {
  ASSERT_EQ(send(1, 8), 0);
  ibv_sge bad = {reinterpret_cast<std::uintptr_t>(buffer.data()), 8, key + 1};
  ASSERT_EQ(send_list(2, &bad, 1, 0), 0);
  ASSERT_EQ(send(3, 8), 0);
  EXPECT_THAT(poll(), IsEmpty());
  nic.answer(user(2), C_RC_OK, 8);
  nic.answer(user(0), C_RC_OK, 8);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 3u);
  EXPECT_EQ(wc[1].wr_id, 2u);
  EXPECT_EQ(wc[1].status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(Sending, ABadLocalKeyAloneCompletesWithoutAnyEvent) {
  ibv_sge bad = {reinterpret_cast<std::uintptr_t>(buffer.data()) - 1, 8, key};
  ASSERT_EQ(send_list(2, &bad, 1), 0);
  EXPECT_THAT(polled_ids(), ElementsAre(2));
}

TEST_F(Sending, MoreThanTheQueueHoldsIsRefused) {
  for (std::uint64_t id = 0; id < depth; id++)
    ASSERT_EQ(send(id, 8), 0);
  EXPECT_EQ(send(9, 8), ENOMEM);
}

TEST_F(Sending, WithoutACreditNothingIsSent) {
  cq->credits = 1;
  ASSERT_EQ(send(1, 8), 0);
  EXPECT_EQ(send(2, 8), ENOMEM);
  nic.answer(user(0), C_RC_OK, 8);
  nic.fill(16);
  nic.fill(32);
  EXPECT_THAT(polled_ids(), ElementsAre(1));
  poll();  // reads the fillers: now the slot is behind us and its credit comes back
  EXPECT_EQ(cq->credits, 1);
  EXPECT_EQ(send(2, 8), 0);
}

TEST_F(Sending, RefusedRequestsAreRepeatedAndFailInTheEnd) {
  ASSERT_EQ(send(1, 8), 0);
  nic.answer(user(0), C_RC_ENTRY_NOT_FOUND, 0, true);
  const std::uint64_t before = tx_doorbell;
  std::uint64_t spins = 0;
  while (tx_doorbell == before && spins++ < 100'000'000)
    EXPECT_THAT(poll(), IsEmpty());
  using Message = cassini::c_idc_msg_hdr;
  const std::byte* again = tx_ring.data() + before * 64;
  EXPECT_EQ(Message::user_ptr::get(again), user(0));
  nic.answer(user(0), C_RC_ENTRY_NOT_FOUND, 0, true);
  const auto wc = poll();
  ASSERT_EQ(wc.size(), 1u);
  EXPECT_EQ(wc[0].status, IBV_WC_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(wc[0].vendor_err, unsigned{C_RC_ENTRY_NOT_FOUND});
  EXPECT_EQ(cq->retrying, 0u);
}

TEST_F(Sending, EventsOfAnEarlierQueuePairAreDropped) {
  ASSERT_EQ(send(1, 8), 0);
  nic.answer(user(0) + (std::uint64_t{1} << 32), C_RC_OK, 8);
  nic.answer(user(0) + (std::uint64_t{1} << 16), C_RC_OK, 8);
  nic.answer(user(3), C_RC_OK, 8);
  EXPECT_THAT(poll(), IsEmpty());
  nic.answer(user(0), C_RC_OK, 8);
  EXPECT_THAT(polled_ids(), ElementsAre(1));
  // No place had been kept for them that could be given back.
  acknowledge(*cq, true);
  EXPECT_EQ(cq->credits, static_cast<int>(depth));
}

TEST_F(Sending, AnswersFromBeforeAResetAreDropped) {
  ASSERT_EQ(send(1, 8), 0);
  const std::uint64_t early = user(0);
  forget_send(*qp);
  for (std::uint64_t id = 2; id <= 5; id++)  // the last one where the first one was
    ASSERT_EQ(send(id, 8), 0);
  nic.answer(early, C_RC_OK, 8);
  for (std::uint32_t index : {1u, 2u, 3u})
    nic.answer(user(index), C_RC_OK, 8);
  EXPECT_THAT(polled_ids(), ElementsAre(2, 3, 4));
  look_at_answers(*cq);
  nic.answer(early, C_RC_UNDELIVERABLE, 0);
  look_at_answers(*cq);
  EXPECT_THAT(poll(), IsEmpty());
  nic.answer(user(0), C_RC_OK, 8);
  EXPECT_THAT(polled_ids(), ElementsAre(5));
  nic.fill(32);
  poll();
  acknowledge(*cq, true);
  EXPECT_EQ(cq->credits, static_cast<int>(depth));
}

TEST_F(Sending, AnAnswerThatComesTwiceCountsOnce) {
  ASSERT_EQ(send(1, 8), 0);
  ASSERT_EQ(send(2, 8), 0);
  for (unsigned i = 0; i < 3; i++)
    nic.answer(user(1), C_RC_OK, 8);
  nic.answer(user(0), C_RC_OK, 8);
  EXPECT_THAT(polled_ids(), ElementsAre(1, 2));
  acknowledge(*cq, true);
  EXPECT_EQ(cq->credits, static_cast<int>(depth));
}

TEST_F(Sending, CreditsAreTakenAsAWhole) {
  cq->credits = 3;
  EXPECT_FALSE(take_credits(*cq, 4));
  EXPECT_EQ(cq->credits, 3);
  EXPECT_TRUE(take_credits(*cq, 3));
  EXPECT_FALSE(take_credits(*cq, 1));
  EXPECT_EQ(cq->credits, 0);
}

TEST_F(Sending, BuilderSendsWhatPostSendWould) {
  ibv_qp_ex* ex = &qp->ibv.qp_ex;
  ex->wr_start(ex);
  ex->wr_id = 5;
  ex->wr_flags = IBV_SEND_SIGNALED;
  ex->wr_send_imm64(ex, 0x1122334455667788);
  ex->wr_set_job_key(ex, peer_key);
  ex->wr_set_inline_data(ex, buffer.data(), 16);
  ex->wr_set_ru_addr(ex, &ah->ibv, 0);
  EXPECT_EQ(tx_doorbell, 0u);
  ASSERT_EQ(ex->wr_complete(ex), 0);
  using Message = cassini::c_idc_msg_hdr;
  // Slots 4 and 5: the profile and its NOOP; 6: the state, padded; 7: the message.
  const std::byte* message = tx_ring.data() + 7 * 64;
  EXPECT_EQ(Message::header_data::get(message), 0x1122334455667788u);
  EXPECT_EQ(send_bits::immediate::decode(Message::match_bits::get(message)), 2u);
  nic.answer(user(0), C_RC_OK, 16);
  EXPECT_THAT(polled_ids(), ElementsAre(5));
}

TEST_F(Sending, TheOwnKeyOfAQueuePairKeepsItOnItsProfile) {
  qp->profile_key = peer_key;
  ibv_sge sge = {reinterpret_cast<std::uintptr_t>(buffer.data()), 8, key};
  ASSERT_EQ(send_list(1, &sge, 1, IBV_SEND_SIGNALED, peer_key), 0);
  using Message = cassini::c_idc_msg_hdr;
  // Slot 4: the state, padded; 5: the message. No command changes the profile.
  EXPECT_EQ(Message::user_ptr::get(tx_ring.data() + 5 * 64), user(0));
  EXPECT_EQ(tx_doorbell, 6u);
  EXPECT_EQ(send_list(2, &sge, 1, IBV_SEND_SIGNALED, peer_key + 256), EINVAL);  // a stale one
}

TEST_F(Sending, BuilderKeepsTheFirstErrorAndGivesEverythingUp) {
  ibv_qp_ex* ex = &qp->ibv.qp_ex;
  ex->wr_start(ex);
  ex->wr_send(ex);
  ex->wr_set_ru_addr(ex, &ah->ibv, 0);
  ex->wr_set_sge(ex, key, reinterpret_cast<std::uintptr_t>(buffer.data()), 8);
  ex->wr_send(ex);
  ex->wr_set_ru_addr(ex, &ah->ibv, 0);  // no data
  EXPECT_EQ(ex->wr_complete(ex), EINVAL);
  EXPECT_EQ(tx_doorbell, 0u);
  EXPECT_EQ(cq->credits, static_cast<int>(depth));
  ASSERT_EQ(send(7, 8), 0);
  nic.answer(user(0), C_RC_OK, 8);
  EXPECT_THAT(polled_ids(), ElementsAre(7));
}

TEST_F(Sending, BuilderTakesEachSetterOnceAndNeedsAddressAndData) {
  ibv_qp_ex* ex = &qp->ibv.qp_ex;
  const auto address = [&] { ex->wr_set_ru_addr(ex, &ah->ibv, 0); };
  const auto place = [&] { ex->wr_set_ru_addr(ex, nullptr, 0); };
  const auto job = [&] { ex->wr_set_job_key(ex, 1); };
  const auto data = [&] {
    ex->wr_set_sge(ex, key, reinterpret_cast<std::uintptr_t>(buffer.data()), 8);
  };
  const auto inline_data = [&] { ex->wr_set_inline_data(ex, buffer.data(), 8); };
  const auto build = [&](const std::vector<std::function<void()>>& setters) {
    ex->wr_start(ex);
    ex->wr_send(ex);
    for (const auto& set : setters)
      set();
    return ex->wr_complete(ex);
  };
  EXPECT_EQ(build({address, address, data}), EINVAL);
  EXPECT_EQ(build({address, place, data}), EINVAL);
  EXPECT_EQ(build({address, job, job, data}), EINVAL);
  EXPECT_EQ(build({address, data, data}), EINVAL);
  EXPECT_EQ(build({address, data, inline_data}), EINVAL);
  EXPECT_EQ(build({data}), EINVAL);
  EXPECT_EQ(build({address}), EINVAL);
  EXPECT_EQ(tx_doorbell, 0u);
  EXPECT_EQ(build({data, address}), 0);
}

TEST_F(Sending, AbortLeavesNothingBehind) {
  ibv_qp_ex* ex = &qp->ibv.qp_ex;
  ex->wr_start(ex);
  for (unsigned i = 0; i < depth; i++) {
    ex->wr_send(ex);
    ex->wr_set_ru_addr(ex, &ah->ibv, 0);
    ex->wr_set_sge(ex, key, reinterpret_cast<std::uintptr_t>(buffer.data()), 8);
  }
  ex->wr_abort(ex);
  EXPECT_EQ(cq->credits, static_cast<int>(depth));
  for (std::uint64_t id = 0; id < depth; id++)
    EXPECT_EQ(send(id, 8), 0);
}

TEST_F(Sending, InlineDataBeyondTheLimitIsRefused) {
  EXPECT_EQ(send(1, 193, IBV_SEND_INLINE | IBV_SEND_SIGNALED), EINVAL);
  EXPECT_EQ(send(1, 192, IBV_SEND_INLINE | IBV_SEND_SIGNALED), 0);
}

TEST_F(Sending, RepeatsOfWhatAnotherQueueReadsAreSeenFromTheReceiveQueue) {
  // Receives complete on a queue of their own, the only one that is polled.
  NicSide other_nic(8);
  std::uint64_t other_state = 0;
  auto other = std::make_unique<Cq>();
  other->context = context.get();
  other->ring.init(other_nic.memory(), other_nic.bytes());
  other->sw_state = &other_state;
  other->acked_slot = 1;
  qp->recv_cq = other.get();
  qp->recv.side.cq = other.get();
  qp->send.side.next_on_cq = nullptr;
  other->sides = &qp->recv.side;
  other->foreign_sends = 1;
  ASSERT_EQ(send(1, 8, 0), 0);
  nic.answer(user(0), C_RC_ENTRY_NOT_FOUND, 0, true);
  const std::uint64_t before = tx_doorbell;
  ibv_wc wc;
  std::uint64_t spins = 0;
  while (tx_doorbell == before && spins++ < 100'000'000)
    ASSERT_EQ(poll_cq(&other->ibv.cq, 1, &wc), 0);
  EXPECT_NE(tx_doorbell, before);
  EXPECT_EQ(other->retrying, 0u);
  EXPECT_EQ(cq->retrying, 0u);
}

}  // namespace
}  // namespace cxi
