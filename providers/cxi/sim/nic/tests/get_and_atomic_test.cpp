// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Gets, restricted transfers, multicast and atomic operations through the whole engine.
#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class Remote : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 3;
  unsigned expose(PteConfig config, uint64_t offset, uint64_t length, bool events = true) {
    const unsigned pte = b.add_pte(pid, index, config);
    auto entry = b.buffer(pte, C_PTL_LIST_PRIORITY, 1, offset, length);
    entry.op_put = entry.op_get = 1;
    entry.event_comm_disable = !events;
    b.target.push(entry);
    go(b.target);
    run();
    return pte;
  }
  c_full_dma_cmd get(uint64_t to, uint64_t from, uint32_t length) {
    auto command = a.put(dfa(2, pid, index), index, to, length);
    command.command.opcode = C_CMD_GET;
    command.remote_offset = from & ((uint64_t{1} << 56) - 1);
    command.user_ptr = 0x99;
    return command;
  }
  c_event_initiator_short run_one() {
    go(a.tx);
    run();
    const auto event = a.init_eq.next();
    EXPECT_TRUE(event);
    return event ? event->init_short : c_event_initiator_short{};
  }
};

TEST_F(Remote, AGetBringsData) {
  expose({.matching = true}, 4096, 65536);
  b.fill(0, 70000, 3);
  a.tx.push(get(100, 8, 1000));
  const auto reply = run_one();
  EXPECT_EQ(reply.event_type, C_EVENT_REPLY);
  EXPECT_EQ(reply.return_code, C_RC_OK);
  EXPECT_EQ(reply.mlength, 1000u);
  EXPECT_EQ(reply.user_ptr, 0x99u);
  EXPECT_FALSE(reply.rendezvous);
  EXPECT_EQ(a.text(100, 1000), b.text(4096 + 8, 1000));
  const auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_short.event_type, C_EVENT_GET);
  EXPECT_EQ(event->tgt_short.length, 1000u);
}

TEST_F(Remote, ALongGetArrivesInPieces) {
  const uint32_t length = (3 << 20) + 77;
  expose({.matching = true, .long_events = true}, 0, 4 << 20);
  b.fill(5, length, 3);
  a.tx.push(get(1, 5, length));
  const auto reply = run_one();
  EXPECT_EQ(reply.mlength, length);
  EXPECT_EQ(a.text(1, length), b.text(5, length));
  EXPECT_FALSE(a.init_eq.next());
  EXPECT_EQ(b.target_eq.next()->tgt_long.mlength, length);
}

TEST_F(Remote, AGetPastTheEndBringsWhatIsThere) {
  expose({.matching = true}, 0, 100);
  a.tx.push(get(0, 90, 50));
  EXPECT_EQ(run_one().mlength, 10u);
}

TEST_F(Remote, AGetOfNothingIsAnswered) {
  expose({.matching = true}, 0, 100);
  auto command = get(0, 0, 0);
  command.lac = 0;
  command.local_addr = 0;
  a.tx.push(command);
  const auto reply = run_one();
  EXPECT_EQ(reply.return_code, C_RC_OK);
  EXPECT_EQ(reply.mlength, 0u);
}

TEST_F(Remote, AGetIntoMemoryThatMayNotBeWrittenIsALocalError) {
  expose({.matching = true}, 0, 100);
  const auto ro = a.device->map_memory(a.rgid, a.memory, a.memory->va(), 4096, true, false).value;
  auto command = get(0, 0, 50);
  command.local_addr = ro.iova & ((uint64_t{1} << 57) - 1);
  a.tx.push(command);
  const auto reply = run_one();
  EXPECT_EQ(reply.return_code, C_RC_PAGE_PERM_ERROR);
  EXPECT_FALSE(reply.tgt_error);
}

TEST_F(Remote, NomatchCommandsMakeEventsOfErrorsOnly) {
  expose({.matching = false}, 0, 4096);
  b.fill(0, 4096, 8);
  c_nomatch_dma_cmd command{};
  command.command.cmd_type = C_CMD_TYPE_DMA;
  command.command.cmd_size = C_CMD_SIZE_32B;
  command.command.opcode = C_CMD_NOMATCH_GET;
  command.index_ext = index;
  command.lac = a.map.lac & 7;
  command.restricted = 1;
  const uint32_t to = dfa(2, pid, index);
  std::memcpy(&command.dfa, &to, 4);
  command.local_addr = a.iova(0) & ((uint64_t{1} << 57) - 1);
  command.request_len = 512;
  command.eq = a.init_eq.eqn & 0x7ff;
  a.tx.push(command);
  go(a.tx);
  run();
  EXPECT_FALSE(a.init_eq.next());
  EXPECT_EQ(a.text(0, 512), b.text(0, 512));
  command.remote_offset = 4000;
  a.tx.push(command);
  const auto reply = run_one();
  EXPECT_EQ(reply.event_type, C_EVENT_REPLY);
  EXPECT_EQ(reply.return_code, C_RC_NO_SPACE);
}

TEST_F(Remote, WhatFailsTellsHowMuchWasDone) {
  expose({.matching = true, .long_events = true}, 0, 4 << 20);
  b.memory->gone = true;
  a.tx.push(get(0, 0, 1000));
  auto reply = run_one();
  EXPECT_EQ(reply.return_code, C_RC_NO_TRANSLATION);
  EXPECT_EQ(reply.mlength, 0u);
  EXPECT_EQ(b.target_eq.next()->tgt_long.mlength, 0u);
  a.tx.push(get(0, 0, 3 << 20));
  reply = run_one();
  EXPECT_EQ(reply.return_code, C_RC_NO_TRANSLATION);
  EXPECT_EQ(reply.mlength, 0u);
  auto amo = a.amo(C_CMD_ATOMIC, dfa(2, pid, index), index, C_AMO_OP_SUM, C_AMO_TYPE_UINT32_T, 4);
  a.tx.push(amo);
  EXPECT_EQ(run_one().mlength, 0u);
  b.memory->gone = false;
  amo.remote_offset = 1;
  a.tx.push(amo);
  const auto ack = run_one();
  EXPECT_EQ(ack.return_code, C_RC_AMO_ALIGN_ERROR);
  EXPECT_EQ(ack.mlength, 0u);
}

TEST_F(Remote, APutThatIsCutOffTellsHowMuchArrived) {
  const unsigned pte = expose({.matching = true, .long_events = true}, 0, 4 << 20);
  a.tx.push(a.put(dfa(2, pid, index), index, 0, 4 << 20));
  go(a.tx);
  a.device->step();
  b.device->step();
  EXPECT_EQ(b.device->invalidate_le(pte, C_PTL_LIST_PRIORITY, 1), 0);
  const auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_long.return_code, C_RC_MST_CANCELLED);
  EXPECT_GT(event->tgt_long.mlength, 0u);
  EXPECT_LT(event->tgt_long.mlength, 4u << 20);
  EXPECT_EQ(event->tgt_long.rlength, 4u << 20);
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.mlength, event->tgt_long.mlength);
}

TEST_F(Remote, RestrictedTransfersOfSeveralPacketsAreOneCommand) {
  expose({.matching = false}, 4096, 1 << 20, false);
  a.fill(0, 100001, 2);
  auto command = a.put(dfa(2, pid, index), index, 0, 100001);
  command.restricted = 1;
  command.remote_offset = 10;
  command.user_ptr = 7;
  a.tx.push(command);
  auto event = run_one();
  EXPECT_EQ(event.return_code, C_RC_OK);
  EXPECT_EQ(event.mlength, 100001u);
  EXPECT_EQ(event.user_ptr, 7u);
  EXPECT_EQ(a.text(0, 100001), b.text(4096 + 10, 100001));
  EXPECT_FALSE(a.init_eq.next());
  auto back = get(2 << 20, 10, 100001);
  back.restricted = 1;
  a.tx.push(back);
  event = run_one();
  EXPECT_EQ(event.event_type, C_EVENT_REPLY);
  EXPECT_EQ(event.mlength, 100001u);
  EXPECT_EQ(a.text(2 << 20, 100001), a.text(0, 100001));
}

TEST_F(Remote, ARestrictedTransferReportsTheFirstErrorOfItsParts) {
  expose({.matching = false}, 4096, 5000, false);
  auto command = a.put(dfa(2, pid, index), index, 0, 8192);
  command.restricted = 1;
  a.tx.push(command);
  const auto event = run_one();
  EXPECT_EQ(event.return_code, C_RC_NO_SPACE);
  EXPECT_TRUE(event.tgt_error);
  EXPECT_FALSE(a.init_eq.next());
}

TEST_F(Remote, RestrictedRequestsHaveNoInitiatorAndNoMatchBits) {
  expose({.matching = false}, 0, 4096);
  auto command = a.put(dfa(2, pid, index), index, 0, 16);
  command.restricted = 1;
  command.match_bits = 55;
  const uint32_t initiator = 66;
  std::memcpy(&command.initiator, &initiator, 4);
  a.tx.push(command);
  run_one();
  const auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_short.match_bits, 0u);
  EXPECT_EQ(event->tgt_short.initiator, 0u);
}

TEST_F(Remote, RestrictedRequestsAreNotForMatchingEntries) {
  expose({.matching = true}, 0, 4096);
  auto command = a.put(dfa(2, pid, index), index, 0, 16);
  command.restricted = 1;
  a.tx.push(command);
  EXPECT_EQ(run_one().return_code, C_RC_ILLEGAL_OP);
}

TEST_F(Remote, RestrictedUnicastToALocallyManagedEntryNeedsPermission) {
  const unsigned pte = b.add_pte(pid, index, {.matching = false});
  auto entry = b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 4096);
  entry.manage_local = 1;
  b.target.push(entry);
  go(b.target);
  auto command = a.put(dfa(2, pid, index), index, 0, 16);
  command.restricted = 1;
  a.tx.push(command);
  EXPECT_EQ(run_one().return_code, C_RC_RESTRICTED_UNICAST);
}

TEST_F(Remote, MulticastReachesEveryMember) {
  const uint32_t group = 0x155, group_index = 2;
  for (Node* node : {&a, &b}) {
    const unsigned pte = node->device->create_pte(node->rgid, {.eqn = node->target_eq.eqn}).value;
    ASSERT_EQ(node->device->map_multicast(pte, default_vni, group | group_index << 13), 0);
    ASSERT_EQ(node->device->set_pte_state(pte, PteState::enabled, 0), 0);
    node->target.push(node->buffer(pte, C_PTL_LIST_PRIORITY, 1, 4096, 100));
    go(node->target);
  }
  run();
  a.fill(0, 32, 4);
  auto command = a.put(0xff800007 | group << 3, group_index, 0, 32);
  command.restricted = 1;
  command.reduction = 1;
  a.tx.push(command);
  EXPECT_EQ(run_one().return_code, C_RC_OK);
  EXPECT_EQ(a.text(4096, 32), a.text(0, 32));
  EXPECT_EQ(b.text(4096, 32), a.text(0, 32));
  EXPECT_TRUE(a.target_eq.next());
  EXPECT_TRUE(b.target_eq.next());
}

class Atomic : public Remote {
 protected:
  c_dma_amo_cmd amo(unsigned opcode, unsigned op, unsigned type, uint32_t length) {
    return a.amo(opcode, dfa(2, pid, index), index, op, type, length);
  }
  template <class T>
  T& at(Node& node, uint64_t offset) {
    return *reinterpret_cast<T*>(node.memory->at(offset));
  }
};

TEST_F(Atomic, FetchingAddReturnsTheOldValue) {
  expose({.matching = true, .long_events = true}, 4096, 64);
  at<uint64_t>(b, 4096 + 8) = 100;
  at<uint64_t>(a, 0) = 23;
  auto command = amo(C_CMD_FETCHING_ATOMIC, C_AMO_OP_SUM, C_AMO_TYPE_UINT64_T, 8);
  command.remote_offset = 8;
  command.user_ptr = 0x42;
  a.tx.push(command);
  const auto reply = run_one();
  EXPECT_EQ(reply.event_type, C_EVENT_REPLY);
  EXPECT_EQ(reply.return_code, C_RC_OK);
  EXPECT_EQ(reply.user_ptr, 0x42u);
  EXPECT_EQ(reply.mlength, 8u);
  EXPECT_EQ(at<uint64_t>(a, 64), 100u);
  EXPECT_EQ(at<uint64_t>(b, 4096 + 8), 123u);
  const auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_long.event_type, C_EVENT_FETCH_ATOMIC);
  EXPECT_EQ(event->tgt_long.atomic_op, C_AMO_OP_SUM);
  EXPECT_EQ(event->tgt_long.atomic_type, C_AMO_TYPE_UINT64_T);
}

TEST_F(Atomic, CompareAndSwapComparesOperandTwoAndStoresOperandOne) {
  expose({.matching = true}, 4096, 64);
  at<uint64_t>(b, 4096) = 7;
  at<uint64_t>(a, 0) = 99;
  auto command = amo(C_CMD_FETCHING_ATOMIC, C_AMO_OP_CSWAP, C_AMO_TYPE_UINT64_T, 8);
  command.cswap_op = C_AMO_OP_CSWAP_EQ;
  command.op2_word1 = 8;
  a.tx.push(command);
  EXPECT_EQ(run_one().return_code, C_RC_OK);
  EXPECT_EQ(at<uint64_t>(b, 4096), 7u);
  EXPECT_EQ(at<uint64_t>(a, 64), 7u);
  command.op2_word1 = 7;
  a.tx.push(command);
  EXPECT_EQ(run_one().return_code, C_RC_OK);
  EXPECT_EQ(at<uint64_t>(b, 4096), 99u);
}

TEST_F(Atomic, NonFetchingOnesAreAcknowledged) {
  expose({.matching = true}, 4096, 64);
  at<uint32_t>(a, 0) = 0xf0;
  a.tx.push(amo(C_CMD_ATOMIC, C_AMO_OP_BOR, C_AMO_TYPE_UINT32_T, 4));
  const auto ack = run_one();
  EXPECT_EQ(ack.event_type, C_EVENT_ACK);
  EXPECT_EQ(at<uint32_t>(b, 4096), 0xf0u);
}

TEST_F(Atomic, ImmediateOnesCarryTheirOperands) {
  expose({.matching = false}, 4096, 64);
  auto state = cstate(a.init_eq.eqn, index, 0x31);
  state.write_lac = a.map.lac & 7;
  a.tx.push(state);
  struct {
    c_idc_hdr head;
    c_small_amo_payload amo;
  } __attribute__((packed)) small{};
  small.head.command.cmd_size = C_CMD_SIZE_32B;
  small.head.command.opcode = C_CMD_ATOMIC;
  small.head.length = 32;
  const uint32_t to = dfa(2, pid, index);
  std::memcpy(&small.head.dfa, &to, 4);
  small.amo.amo_op = C_AMO_OP_SUM;
  small.amo.amo_type = C_AMO_TYPE_INT32_T;
  small.amo.op1_word1 = 5;
  a.tx.push(small);
  EXPECT_EQ(run_one().user_ptr, 0x31u);
  EXPECT_EQ(at<int32_t>(b, 4096), 5);
  c_idc_amo_cmd large{};
  large.idc_header = small.head;
  large.idc_header.command.cmd_size = C_CMD_SIZE_64B;
  large.idc_header.command.opcode = C_CMD_FETCHING_ATOMIC;
  large.idc_header.length = 64;
  large.local_addr = a.iova(128) & ((uint64_t{1} << 57) - 1);
  large.atomic_op = C_AMO_OP_CSWAP;
  large.atomic_type = C_AMO_TYPE_INT32_T;
  large.cswap_op = C_AMO_OP_CSWAP_EQ;
  large.op1_word1 = 77;
  large.op2_word1 = 5;
  a.tx.push(large);
  EXPECT_EQ(run_one().event_type, C_EVENT_REPLY);
  EXPECT_EQ(at<int32_t>(a, 128), 5);
  EXPECT_EQ(at<int32_t>(b, 4096), 77);
}

TEST_F(Atomic, ErrorsNameTheirCause) {
  expose({.matching = true}, 4096, 64);
  const std::string before = b.text(4096, 64);
  a.tx.push(amo(C_CMD_ATOMIC, C_AMO_OP_BOR, C_AMO_TYPE_FLOAT_T, 4));
  EXPECT_EQ(run_one().return_code, C_RC_AMO_INVAL_OP_ERROR);
  a.tx.push(amo(C_CMD_ATOMIC, C_AMO_OP_SUM, C_AMO_TYPE_UINT64_T, 4));
  EXPECT_EQ(run_one().return_code, C_RC_AMO_LENGTH_ERROR);
  auto command = amo(C_CMD_ATOMIC, C_AMO_OP_SUM, C_AMO_TYPE_UINT64_T, 8);
  command.remote_offset = 4;
  a.tx.push(command);
  auto event = run_one();
  EXPECT_EQ(event.return_code, C_RC_AMO_ALIGN_ERROR);
  EXPECT_TRUE(event.tgt_error);
  command = amo(C_CMD_ATOMIC, 3, C_AMO_TYPE_UINT64_T, 8);
  a.tx.push(command);
  EXPECT_EQ(run_one().return_code, C_RC_AMO_INVAL_OP_ERROR);
  EXPECT_EQ(b.text(4096, 64), before);
}

TEST_F(Atomic, FetchingNeedsBothRights) {
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 4096, 64));  // put only
  go(b.target);
  a.tx.push(amo(C_CMD_FETCHING_ATOMIC, C_AMO_OP_SUM, C_AMO_TYPE_UINT64_T, 8));
  EXPECT_EQ(run_one().return_code, C_RC_OP_VIOLATION);
  a.tx.push(amo(C_CMD_ATOMIC, C_AMO_OP_SUM, C_AMO_TYPE_UINT64_T, 8));
  EXPECT_EQ(run_one().return_code, C_RC_OK);
}

TEST_F(Atomic, SignalledExceptionsAreReportedAndTheResultStored) {
  expose({.matching = true, .signal_overflow = true}, 4096, 64);
  at<float>(b, 4096) = 3e38f;
  at<float>(a, 0) = 3e38f;
  a.tx.push(amo(C_CMD_FETCHING_ATOMIC, C_AMO_OP_SUM, C_AMO_TYPE_FLOAT_T, 4));
  EXPECT_EQ(run_one().return_code, C_RC_AMO_FP_OVERFLOW);
  EXPECT_EQ(at<float>(a, 64), 3e38f);
  EXPECT_TRUE(std::isinf(at<float>(b, 4096)));
}

TEST_F(Atomic, ARestrictedOneOfAWrongLengthIsNotTakenForAnother) {
  expose({.matching = false}, 4096, 64);
  at<int32_t>(a, 0) = 5;
  auto command = amo(C_CMD_ATOMIC, C_AMO_OP_SUM, C_AMO_TYPE_INT32_T, 4096 + 4);
  command.restricted = 1;  // whose header has twelve bits for it
  a.tx.push(command);
  EXPECT_EQ(run_one().return_code, C_RC_AMO_LENGTH_ERROR);
  EXPECT_EQ(at<int32_t>(b, 4096), 0);
  command.request_len = 4;
  a.tx.push(command);
  EXPECT_EQ(run_one().return_code, C_RC_OK);
  EXPECT_EQ(at<int32_t>(b, 4096), 5);
}

}  // namespace
}  // namespace sim::nic::testing
