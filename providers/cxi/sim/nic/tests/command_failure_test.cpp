// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands that stop their queue, and commands that have no right to what they name.
#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class Failure : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 3;

  void expect_failure(CommandWriter& queue, unsigned code, unsigned slot) {
    go(queue);
    run();
    const bool target = &queue == &a.target;
    const auto event = a.init_eq.next();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->cmd_fail.event_type, C_EVENT_COMMAND_FAILURE);
    EXPECT_EQ(event->cmd_fail.return_code, code);
    EXPECT_EQ(event->cmd_fail.fail_loc, slot);
    EXPECT_EQ(event->cmd_fail.is_target, target);
    EXPECT_EQ(event->cmd_fail.cq_id, target ? queue.index - 1024 : queue.index);
    EXPECT_EQ(queue.status().return_code, code);
    EXPECT_EQ(queue.status().rd_ptr, slot);
    ASSERT_EQ(a.interrupts.failures.size(), 1u);
    EXPECT_EQ(a.interrupts.failures[0], std::pair(queue.index, target));
    // The queue stays stopped.
    queue.push(cq_cmd(C_CMD_CQ_NOOP));
    go(queue);
    run();
    EXPECT_EQ(queue.status().rd_ptr, slot);
  }
  c_full_dma_cmd put() { return a.put(dfa(2, pid, index), index, 0, 8); }
};

TEST_F(Failure, ForeignEventQueuesCountersAndEntriesAreNotToBeNamed) {
  const unsigned other = a.device->alloc_rgid().value;
  EventReader eq(64);
  const unsigned eqn = a.device->create_eq(other, {.ring = eq.ring, .sw_state = eq.sw_state}).value;
  auto command = put();
  command.eq = eqn & 0x7ff;
  a.tx.push(command);
  expect_failure(a.tx, C_RC_PERM_VIOLATION, 4);
  EXPECT_FALSE(eq.next());
}

TEST_F(Failure, AForeignCounterIsNotToBeNamed) {
  const unsigned other = a.device->alloc_rgid().value;
  const unsigned ct = a.device->create_ct(other, nullptr, 0).value;
  auto command = put();
  command.ct = ct & 0x7ff;
  command.event_ct_ack = 1;
  a.tx.push(command);
  expect_failure(a.tx, C_RC_PERM_VIOLATION, 4);
  EXPECT_EQ(a.device->read_ct(ct).value.success, 0u);
}

TEST_F(Failure, AForeignEventQueueInCstateIsNotToBeNamed) {
  a.tx.push(cstate(1999, index));
  expect_failure(a.tx, C_RC_PERM_VIOLATION, 4);
}

TEST_F(Failure, AForeignPortalEntryIsNotToBeNamed) {
  const unsigned other = a.device->alloc_rgid().value;
  const unsigned pte = a.device->create_pte(other, {}).value;
  a.target.push(append_cmd(pte, C_PTL_LIST_PRIORITY, 1));
  expect_failure(a.target, C_RC_PERM_VIOLATION, 4);
}

TEST_F(Failure, APortalEntryThatDoesNotExistIsNotToBeNamed) {
  a.target.push(set_state_cmd(2000, C_PTLTE_ENABLED, 0));
  expect_failure(a.target, C_RC_PERM_VIOLATION, 4);
}

TEST_F(Failure, AnLcidWithoutAProfileIsAPermissionViolation) {
  a.tx.push(cq_cmd(C_CMD_CQ_LCID, 9));
  a.tx.push(cq_cmd(C_CMD_CQ_NOOP));
  expect_failure(a.tx, C_RC_PERM_VIOLATION, 4);
}

TEST_F(Failure, ATransferThroughARevokedProfileIsAPermissionViolation) {
  a.device->clear_cp(a.rgid, 1);
  a.tx.push(put());
  expect_failure(a.tx, C_RC_PERM_VIOLATION, 4);
}

TEST_F(Failure, LcidHasToStartOn128BytesAndBeFollowedByANoop) {
  a.tx.push(cq_cmd(C_CMD_CQ_NOOP));
  a.tx.push(cq_cmd(C_CMD_CQ_LCID, 1));
  expect_failure(a.tx, C_RC_CMD_ALIGN_ERROR, 5);
}

TEST_F(Failure, LcidWithoutTheNoopIsAnInvalidArgument) {
  a.tx.push(cq_cmd(C_CMD_CQ_LCID, 1));
  a.tx.push(put());
  expect_failure(a.tx, C_RC_CMD_INVALID_ARG, 5);
}

TEST_F(Failure, UnalignedCommandsAreAnAlignmentError) {
  a.tx.pad(1);
  *a.tx.unit(a.tx.wp32) = static_cast<std::byte>(C_CMD_TYPE_DMA | C_CMD_SIZE_64B << 2);
  a.tx.wp32 += 3;
  expect_failure(a.tx, C_RC_CMD_ALIGN_ERROR, 4);
}

TEST_F(Failure, CounterCommandsAreNotForTransferQueues) {
  auto command = cq_cmd(C_CMD_CQ_NOOP);
  command.command.cmd_type = C_CMD_TYPE_CT;
  a.tx.push(command);
  expect_failure(a.tx, C_RC_OP_VIOLATION, 4);
}

TEST_F(Failure, TargetCommandsAreNotForTransmitQueues) {
  a.tx.push(append_cmd(1, C_PTL_LIST_PRIORITY, 1));
  expect_failure(a.tx, C_RC_OP_VIOLATION, 4);
}

TEST_F(Failure, EthernetIsNotForQueuesWithoutIt) {
  auto command = put();
  command.command.opcode = C_CMD_ETHERNET_TX;
  a.tx.push(command);
  expect_failure(a.tx, C_RC_OP_VIOLATION, 4);
}

TEST_F(Failure, TransferCommandsAreNotForTargetQueues) {
  a.target.push(put());
  expect_failure(a.target, C_RC_CMD_INVALID_ARG, 4);
}

TEST_F(Failure, TheUnexpectedListCannotBeAppendedTo) {
  const unsigned pte = a.add_pte(pid, index);
  a.target.push(append_cmd(pte, C_PTL_LIST_UNEXPECTED, 1));
  expect_failure(a.target, C_RC_CMD_INVALID_ARG, 4);
}

TEST_F(Failure, AMessageLongerThanItsCommandIsAnInvalidArgument) {
  auto message = small_message(dfa(2, pid, index), "x", 0, 0, 0);
  message.command[1] = std::byte{65};  // the command has 64 bytes
  a.tx.push_bytes(message.command, message.bytes);
  expect_failure(a.tx, C_RC_CMD_INVALID_ARG, 4);
}

TEST_F(Failure, AMessageShorterThanItsHeaderIsAnInvalidArgument) {
  auto message = small_message(dfa(2, pid, index), "x", 0, 0, 0);
  message.command[1] = std::byte{31};
  a.tx.push_bytes(message.command, message.bytes);
  expect_failure(a.tx, C_RC_CMD_INVALID_ARG, 4);
}

TEST_F(Failure, ASmallMessageHasAtLeast64Bytes) {
  auto message = small_message(dfa(2, pid, index), "", 0, 0, 0);
  message.command[0] = static_cast<std::byte>(C_CMD_SMALL_MESSAGE << 4);
  a.tx.push_bytes(message.command, 32);
  expect_failure(a.tx, C_RC_CMD_INVALID_ARG, 4);
}

TEST_F(Failure, ABadWritePointerIsNotExecutedAndTheQueueGoesOn) {
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 4, 0, 100));
  go(b.target);
  run();
  a.tx.push(put());
  a.tx.write_doorbell(60000);
  run();
  EXPECT_EQ(a.tx.status().rd_ptr, 4u);
  EXPECT_TRUE(a.interrupts.failures.empty());
  go(a.tx);
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_OK);
}

TEST_F(Failure, RestartMakesAStoppedQueueUsable) {
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 4, 0, 100));
  go(b.target);
  a.tx.push(cstate(1999, index));
  go(a.tx);
  run();
  EXPECT_TRUE(a.init_eq.next());
  a.device->restart_cmdq(a.tx.index);
  a.tx.wp32 = C_CQ_FIRST_WR_PTR_32;
  EXPECT_EQ(a.tx.status().return_code, C_RC_OK);
  EXPECT_EQ(a.tx.status().rd_ptr, 4u);
  a.tx.push(put());
  go(a.tx);
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_OK);
}

TEST_F(Failure, StopWaitsForWhatWasFetchedAndFetchesNoMore) {
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 4, 0, 100));
  go(b.target);
  run();
  a.tx.push(put());
  go(a.tx);
  a.device->step();  // sent, not answered
  a.tx.push(put());
  go(a.tx);
  a.device->stop_cmdq(a.tx.index);
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_OK);
  run();
  EXPECT_FALSE(a.init_eq.next());
  EXPECT_EQ(a.tx.status().rd_ptr, 5u);
}

TEST_F(Failure, StopGivesUpWhatCannotBeAnswered) {
  a.device->set_link(false);
  a.tx.push(put());
  go(a.tx);
  run();
  a.device->stop_cmdq(a.tx.index);
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_UNDELIVERABLE);
  a.device->destroy_cmdq(a.tx.index);
  a.device->set_link(true);
  run();
  EXPECT_FALSE(a.init_eq.next());
}

TEST_F(Failure, StopCutsOffALongPut) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .long_events = true});
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 4, 0, 4 << 20));
  go(b.target);
  run();
  a.tx.push(a.put(dfa(2, pid, index), index, 0, 4 << 20));
  go(a.tx);
  a.device->step();
  a.device->stop_cmdq(a.tx.index);
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_CANCELED);
  EXPECT_EQ(b.target_eq.next()->tgt_long.return_code, C_RC_SRC_ERROR);
}

TEST_F(Failure, AnUnrestrictedImmediatePutHasRoomFor192Bytes) {
  c_idc_hdr head{};
  head.command.cmd_size = C_CMD_SIZE_256B;
  head.command.opcode = C_CMD_PUT;
  head.length = 16 + 192;
  const uint32_t to = dfa(2, pid, index);
  std::memcpy(&head.dfa, &to, 4);
  std::byte command[256] = {};
  const auto push = [&] {
    std::memcpy(command, &head, sizeof head);
    a.tx.push_bytes(command, sizeof command);
  };
  auto state = cstate(0, index);
  state.restricted = 1;
  a.tx.push(state);
  head.length = 16 + 224;
  push();  // restricted ones take more
  a.tx.push(cstate(0, index));
  head.length = 16 + 192;
  push();
  head.length = 16 + 193;
  push();
  expect_failure(a.tx, C_RC_CMD_INVALID_ARG, static_cast<unsigned>(a.tx.wp32 / 2) - 4);
}

TEST_F(Failure, ACstateOfAnotherLengthIsAnInvalidArgument) {
  auto state = cstate(0, index);
  state.length = 31;
  a.tx.push(state);
  expect_failure(a.tx, C_RC_CMD_INVALID_ARG, 4);
}

TEST_F(Failure, ATransferOfAnotherSizeThanItsOwnIsAnInvalidArgument) {
  auto command = put();
  command.command.cmd_size = C_CMD_SIZE_128B;
  std::byte bytes[128] = {};
  std::memcpy(bytes, &command, sizeof command);
  a.tx.push_bytes(bytes, sizeof bytes);
  expect_failure(a.tx, C_RC_CMD_INVALID_ARG, 4);
}

TEST_F(Failure, ARendezvousIsNoShorterThanItsEagerPart) {
  auto command = put();
  command.command.opcode = C_CMD_RENDEZVOUS_PUT;
  command.request_len = 100;
  command.eager_length = 101;
  a.tx.push(command);
  expect_failure(a.tx, C_RC_CMD_INVALID_ARG, 4);
}

TEST_F(Failure, ARestrictedRendezvousIsAnInvalidArgument) {
  auto command = put();
  command.command.opcode = C_CMD_RENDEZVOUS_PUT;
  command.restricted = 1;
  a.tx.push(command);
  expect_failure(a.tx, C_RC_CMD_INVALID_ARG, 4);
}

TEST_F(Failure, ATriggeredQueueTakesNoImmediateCommand) {
  ASSERT_EQ(a.device->set_cp(a.rgid, 0, default_vni, 3, 0), 0);
  CommandWriter trig(64, true);
  a.add_cmdq(trig, true, {.triggered = true});
  std::byte bytes[64] = {};
  bytes[0] = std::byte{C_CMD_TYPE_IDC | C_CMD_SIZE_64B << 2};
  trig.push_bytes(bytes, sizeof bytes);
  expect_failure(trig, C_RC_OP_VIOLATION, 4);
}

TEST_F(Failure, AnImmediateCommandCannotBeTriggered) {
  ASSERT_EQ(a.device->set_cp(a.rgid, 0, default_vni, 3, 0), 0);
  CommandWriter trig(64, true);
  a.add_cmdq(trig, true, {.triggered = true});
  std::byte bytes[128] = {};
  c_ct_cmd head{};
  head.command.cmd_type = C_CMD_TYPE_CT;
  head.command.cmd_size = C_CMD_SIZE_128B;
  head.command.opcode = C_CMD_CT_TRIG_DMA;
  head.trig_ct = a.device->create_ct(a.rgid, nullptr, 0).value & 0x7ff;
  const auto message = small_message(dfa(2, pid, index), "x", 0, 0, 0);
  std::memcpy(bytes, &head, sizeof head);
  std::memcpy(bytes + 24, message.command, 64);
  trig.push_bytes(bytes, sizeof bytes);
  expect_failure(trig, C_RC_CMD_INVALID_ARG, 4);
}

class SmallAtomic : public Failure, public ::testing::WithParamInterface<std::pair<int, int>> {};

TEST_P(SmallAtomic, HasRoomForOneOperandOfOneWord) {
  struct {
    c_idc_hdr head;
    c_small_amo_payload amo;
  } __attribute__((packed)) small{};
  small.head.command.cmd_size = C_CMD_SIZE_32B;
  small.head.command.opcode = C_CMD_ATOMIC;
  small.head.length = 32;
  const uint32_t to = dfa(2, pid, index);
  std::memcpy(&small.head.dfa, &to, 4);
  small.amo.amo_op = static_cast<unsigned>(GetParam().first) & 0xf;
  small.amo.amo_type = static_cast<unsigned>(GetParam().second) & 0xf;
  a.tx.push(cstate(0, index));
  a.tx.push(small);
  expect_failure(a.tx, C_RC_CMD_INVALID_ARG, 4);
}

INSTANTIATE_TEST_SUITE_P(Operations, SmallAtomic,
                         ::testing::Values(std::pair(C_AMO_OP_CSWAP, C_AMO_TYPE_INT32_T),
                                           std::pair(C_AMO_OP_AXOR, C_AMO_TYPE_UINT64_T),
                                           std::pair(C_AMO_OP_SUM, C_AMO_TYPE_DOUBLE_COMPLEX_T)));

// The head of a command: its first two bytes say all that is wrong with it.
struct Head {
  enum Queue { transfers, triggers, target } queue;
  unsigned type, size, opcode;
  unsigned second;  // length of an immediate command, list or state of a target command
  unsigned code;
};

class Malformed : public Failure, public ::testing::WithParamInterface<Head> {};

TEST_P(Malformed, StopsItsQueueWithTheRightCode) {
  const Head& head = GetParam();
  CommandWriter triggers(64, true);
  ASSERT_EQ(a.device->set_cp(a.rgid, 0, default_vni, 3, 0), 0);
  a.add_cmdq(triggers, true, {.triggered = true});
  auto& queue = head.queue == Head::transfers  ? a.tx
                : head.queue == Head::triggers ? triggers
                                               : a.target;
  std::byte bytes[256] = {};
  bytes[0] = static_cast<std::byte>(head.type | head.size << 2 | head.opcode << 4);
  bytes[1] = static_cast<std::byte>(head.second);
  queue.push_bytes(bytes, size_t{32} << head.size);
  expect_failure(queue, head.code, 4);
}

constexpr unsigned idc = C_CMD_TYPE_IDC, dma_type = C_CMD_TYPE_DMA, cq = C_CMD_TYPE_CQ,
                   ct = C_CMD_TYPE_CT;
constexpr unsigned b32 = C_CMD_SIZE_32B, b64 = C_CMD_SIZE_64B, b128 = C_CMD_SIZE_128B,
                   b256 = C_CMD_SIZE_256B;
constexpr unsigned invalid = C_RC_CMD_INVALID_ARG, violation = C_RC_OP_VIOLATION;

INSTANTIATE_TEST_SUITE_P(
    Transfers, Malformed,
    ::testing::Values(Head{Head::transfers, dma_type, b64, 0, 0, invalid},
                      Head{Head::transfers, dma_type, b64, 7, 0, invalid},
                      Head{Head::transfers, dma_type, b64, 10, 0, invalid},
                      Head{Head::transfers, dma_type, b64, 15, 0, invalid},
                      Head{Head::transfers, dma_type, b32, C_CMD_PUT, 0, invalid},
                      Head{Head::transfers, dma_type, b128, C_CMD_GET, 0, invalid},
                      Head{Head::transfers, dma_type, b64, C_CMD_NOMATCH_PUT, 0, invalid},
                      Head{Head::transfers, dma_type, b64, C_CMD_ATOMIC, 0, invalid},
                      Head{Head::transfers, dma_type, b256, C_CMD_FETCHING_ATOMIC, 0, invalid},
                      Head{Head::transfers, dma_type, b128, C_CMD_ETHERNET_TX, 0, violation},
                      Head{Head::transfers, idc, b64, C_CMD_GET, 16, invalid},
                      Head{Head::transfers, idc, b64, C_CMD_RENDEZVOUS_PUT, 16, invalid},
                      Head{Head::transfers, idc, b32, C_CMD_PUT, 15, invalid},
                      Head{Head::transfers, idc, b32, C_CMD_PUT, 33, invalid},
                      Head{Head::transfers, idc, b256, C_CMD_PUT, 16 + 225, invalid},
                      Head{Head::transfers, idc, b64, C_CMD_SMALL_MESSAGE, 65, invalid},
                      Head{Head::transfers, idc, b256, C_CMD_SMALL_MESSAGE, 32 + 193, invalid},
                      Head{Head::transfers, idc, b64, C_CMD_CSTATE, 32, invalid},
                      Head{Head::transfers, idc, b64, C_CMD_ATOMIC, 32, invalid},
                      Head{Head::transfers, idc, b32, C_CMD_ATOMIC, 64, invalid},
                      Head{Head::transfers, idc, b32, C_CMD_FETCHING_ATOMIC, 32, invalid},
                      Head{Head::transfers, cq, b32, C_CMD_CQ_NOOP, 0, invalid},
                      Head{Head::transfers, cq, b128, C_CMD_CQ_FENCE, 0, invalid},
                      Head{Head::transfers, cq, b64, C_CMD_TGT_APPEND, 0, violation},
                      Head{Head::transfers, cq, b64, 15, 0, violation},
                      Head{Head::transfers, ct, b64, C_CMD_CT_NOOP, 0, violation}));

INSTANTIATE_TEST_SUITE_P(
    Triggers, Malformed,
    ::testing::Values(Head{Head::triggers, ct, b64, 9, 0, invalid},
                      Head{Head::triggers, ct, b128, C_CMD_CT_SET, 0, invalid},
                      Head{Head::triggers, ct, b64, C_CMD_CT_TRIG_DMA, 0, invalid},
                      Head{Head::triggers, ct, b128, C_CMD_CT_TRIG_DMA, 0, invalid},
                      Head{Head::triggers, ct, b32, C_CMD_CT_NOOP, 0, invalid},
                      Head{Head::triggers, dma_type, b64, C_CMD_PUT, 0, violation},
                      Head{Head::triggers, idc, b32, C_CMD_NOOP, 0, violation},
                      Head{Head::triggers, cq, b64, C_CMD_CQ_NOOP, 0, violation}));

INSTANTIATE_TEST_SUITE_P(
    Targets, Malformed,
    ::testing::Values(Head{Head::target, cq, b128, C_CMD_TGT_APPEND, 0, invalid},
                      Head{Head::target, cq, b32, C_CMD_CQ_NOOP, 0, invalid},
                      Head{Head::target, cq, b64, 13, 0, invalid},
                      Head{Head::target, cq, b64, C_CMD_CQ_FENCE, 0, invalid},
                      Head{Head::target, dma_type, b64, C_CMD_PUT, 0, invalid},
                      Head{Head::target, ct, b64, C_CMD_CT_SET, 0, invalid},
                      Head{Head::target, cq, b64, C_CMD_TGT_APPEND, C_PTL_LIST_UNEXPECTED, invalid},
                      Head{Head::target, cq, b64, C_CMD_TGT_UNLINK, C_PTL_LIST_UNEXPECTED, invalid},
                      Head{Head::target, cq, b64, C_CMD_TGT_SETSTATE, 4, invalid},
                      Head{Head::target, cq, b64, C_CMD_TGT_SETSTATE, 7, invalid}));

}  // namespace
}  // namespace sim::nic::testing
