// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Counting events: what counts, when the value is written back, and what a threshold sets off.
#include <cerrno>

#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class Counting : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 3;
  static constexpr uint64_t wb_at = 1 << 20;
  void SetUp() override {
    pte = b.add_pte(pid, index);
    ct = a.device->create_ct(a.rgid, a.memory, a.memory->va() + wb_at).value;
    ASSERT_EQ(a.device->set_cp(a.rgid, 0, default_vni, 3, 0), 0);
    a.add_cmdq(trig, true, {.triggered = true});
  }
  void expose(bool counted = false, unsigned b_ct = 0) {
    auto entry = b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 4096);
    entry.event_ct_comm = counted;
    entry.ct = b_ct & 0x7ff;
    b.target.push(entry);
    go(b.target);
    run();
  }
  c_full_dma_cmd put(uint32_t length = 8) {
    auto command = a.put(dfa(2, pid, index), index, 0, length);
    command.ct = ct & 0x7ff;
    return command;
  }
  c_ct_cmd ct_cmd(unsigned opcode, unsigned n) {
    c_ct_cmd c{};
    c.command.cmd_type = C_CMD_TYPE_CT;
    c.command.cmd_size = opcode == C_CMD_CT_TRIG_DMA ? C_CMD_SIZE_128B : C_CMD_SIZE_64B;
    c.command.opcode = opcode & 0xf;
    c.ct = n & 0x7ff;
    return c;
  }
  void tell(const c_ct_cmd& command) {
    std::byte bytes[64] = {};
    std::memcpy(bytes, &command, sizeof(command));
    trig.push_bytes(bytes, sizeof(bytes));
    go(trig);
    run();
  }
  template <class Dma>
  void trigger(unsigned trig_ct, uint64_t threshold, const Dma& dma_cmd) {
    std::byte command[128] = {};
    auto head = ct_cmd(C_CMD_CT_TRIG_DMA, 0);
    head.trig_ct = trig_ct & 0x7ff;
    head.threshold = threshold & CT_SUCCESS_MASK;
    std::memcpy(command, &head, sizeof(head));
    std::memcpy(command + 24, &dma_cmd, sizeof(dma_cmd));
    trig.push_bytes(command, 128);
    go(trig);
    run();
  }
  void send(const c_full_dma_cmd& command) {
    a.tx.push(command);
    go(a.tx);
    run();
  }
  uint64_t success(Node& node, unsigned n) { return node.device->read_ct(n).value.success; }
  unsigned failure(unsigned n) { return a.device->read_ct(n).value.failure; }
  c_ct_writeback written() {
    c_ct_writeback w;
    std::memcpy(&w, a.memory->at(wb_at), sizeof(w));
    return w;
  }
  unsigned pte = 0, ct = 0;
  CommandWriter trig{256, true};
};

TEST_F(Counting, CommandsCountSendsAcknowledgementsAndBytes) {
  expose();
  auto command = put(100);
  command.event_success_disable = 1;
  command.event_ct_ack = 1;
  send(command);
  EXPECT_EQ(success(a, ct), 1u);
  command.event_ct_send = 1;
  send(command);
  EXPECT_EQ(success(a, ct), 3u);
  command.event_ct_send = 0;
  command.event_ct_bytes = 1;
  send(command);
  EXPECT_EQ(success(a, ct), 103u);
  EXPECT_FALSE(a.init_eq.next());
  EXPECT_FALSE(written().ct_writeback) << "plain increments are not written back";
}

TEST_F(Counting, FailuresCountApartAndAreWrittenBack) {
  auto command = put();
  command.event_ct_ack = 1;
  send(command);
  EXPECT_EQ(success(a, ct), 0u);
  EXPECT_EQ(failure(ct), 1u);
  EXPECT_TRUE(written().ct_writeback);
  EXPECT_EQ(written().ct_failure, 1u);
}

TEST_F(Counting, ListEntriesCountWhatTheyTake) {
  const unsigned b_ct = b.device->create_ct(b.rgid, nullptr, 0).value;
  expose(true, b_ct);
  send(put());
  send(put());
  EXPECT_EQ(success(b, b_ct), 2u);
}

TEST_F(Counting, ValuesWrapAndSaturate) {
  ASSERT_EQ(a.device->set_ct(ct, CT_SUCCESS_MASK, 126), 0);
  ASSERT_EQ(a.device->add_ct(ct, 2, 5), 0);
  EXPECT_EQ(success(a, ct), 1u);
  EXPECT_EQ(failure(ct), 127u);
  EXPECT_EQ(a.device->set_ct(ct, CT_SUCCESS_MASK + 1, std::nullopt), EINVAL);
  EXPECT_EQ(a.device->add_ct(ct, 0, 128), EINVAL);
  EXPECT_EQ(a.device->create_ct(a.rgid, a.memory, 4).error, EINVAL);
  EXPECT_EQ(a.device->read_ct(77).error, EINVAL);
}

TEST_F(Counting, CommandsSetIncreaseAndWriteBack) {
  auto command = ct_cmd(C_CMD_CT_SET, ct);
  command.set_ct_success = 1;
  command.ct_success = 40;
  tell(command);
  EXPECT_EQ(success(a, ct), 40u);
  EXPECT_FALSE(written().ct_writeback);
  command.command.opcode = C_CMD_CT_INC;
  command.ct_success = 2;
  tell(command);
  EXPECT_EQ(success(a, ct), 42u);
  tell(ct_cmd(C_CMD_CT_GET, ct));
  EXPECT_TRUE(written().ct_writeback);
  EXPECT_EQ(written().ct_success, 42u);
}

TEST_F(Counting, ATriggeredPutWaitsForItsThreshold) {
  expose();
  trigger(ct, 2, put());
  a.device->add_ct(ct, 1, 0);
  run();
  EXPECT_FALSE(b.target_eq.next());
  a.device->add_ct(ct, 1, 0);
  run();
  EXPECT_TRUE(b.target_eq.next());
  EXPECT_EQ(a.init_eq.next()->init_short.event_type, C_EVENT_ACK);
}

TEST_F(Counting, AThresholdThatIsReachedFiresAtOnceAndFailuresDoNotCount) {
  expose();
  a.device->set_ct(ct, 5, std::nullopt);
  trigger(ct, 5, put());
  EXPECT_TRUE(b.target_eq.next());
  a.device->add_ct(ct, 0, 100);
  trigger(ct, 6, put());
  EXPECT_FALSE(b.target_eq.next());
}

TEST_F(Counting, OperationsFireInThresholdOrder) {
  expose();
  for (const uint64_t threshold : {3, 1, 2}) {
    auto command = put();
    command.match_bits = threshold;
    trigger(ct, threshold, command);
  }
  a.device->add_ct(ct, 3, 0);
  run();
  for (uint64_t i = 1; i <= 3; i++)
    EXPECT_EQ(b.target_eq.next()->tgt_short.match_bits, i);
}

TEST_F(Counting, CountersChain) {
  const unsigned second = a.device->create_ct(a.rgid, nullptr, 0).value;
  auto command = ct_cmd(C_CMD_CT_TRIG_INC, second);
  command.trig_ct = ct & 0x7ff;
  command.threshold = 1;
  command.set_ct_success = 1;
  command.ct_success = 10;
  tell(command);
  auto event = ct_cmd(C_CMD_CT_TRIG_EVENT, 0);
  event.trig_ct = second & 0x7ff;
  event.threshold = 10;
  event.eq = a.init_eq.eqn & 0x7ff;
  tell(event);
  EXPECT_FALSE(a.init_eq.next());
  a.device->add_ct(ct, 1, 0);
  run();
  EXPECT_EQ(success(a, second), 10u);
  const auto got = a.init_eq.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->trig_short.event_type, C_EVENT_TRIGGERED_OP);
  EXPECT_EQ(got->trig_short.ct_handle, second);
  EXPECT_EQ(got->trig_short.threshold, 10u);
}

TEST_F(Counting, ATriggeredEventWithoutAQueueIsAWriteBackAtAThreshold) {
  auto event = ct_cmd(C_CMD_CT_TRIG_EVENT, 0);
  event.trig_ct = ct & 0x7ff;
  event.threshold = 3;
  tell(event);
  a.device->add_ct(ct, 3, 0);
  run();
  EXPECT_EQ(written().ct_success, 3u);
  EXPECT_FALSE(a.init_eq.next());
}

TEST_F(Counting, CancelledOperationsDoNotFire) {
  expose();
  trigger(ct, 1, put());
  tell(ct_cmd(C_CMD_CT_CANCEL, ct));
  a.device->add_ct(ct, 5, 0);
  run();
  EXPECT_FALSE(b.target_eq.next());
}

TEST_F(Counting, AQueueStallsWithoutATriggeredEntryAndGoesOnWhenOneIsFree) {
  auto event = ct_cmd(C_CMD_CT_TRIG_EVENT, 0);
  event.trig_ct = ct & 0x7ff;
  event.threshold = 1;
  for (int i = 0; i < 2048; i++)
    tell(event);
  const auto stalled_at = trig.status().rd_ptr;
  tell(event);
  EXPECT_EQ(trig.status().rd_ptr, stalled_at);
  EXPECT_TRUE(a.interrupts.failures.empty());
  a.device->add_ct(ct, 1, 0);
  run();
  EXPECT_NE(trig.status().rd_ptr, stalled_at);
}

TEST_F(Counting, RightsOfEmbeddedCommandsAreCheckedWhenTheyAreParsed) {
  auto command = put();
  command.eq = 1999;
  trigger(ct, 100, command);
  EXPECT_EQ(a.init_eq.next()->cmd_fail.return_code, C_RC_PERM_VIOLATION);
}

TEST_F(Counting, TransferCommandsAreNotForTriggeredQueues) {
  trig.push(put());
  go(trig);
  run();
  EXPECT_EQ(a.init_eq.next()->cmd_fail.return_code, C_RC_OP_VIOLATION);
}

TEST_F(Counting, ACounterOfAnotherGroupIsNotToBeNamed) {
  const unsigned other = a.device->alloc_rgid().value;
  const unsigned foreign = a.device->create_ct(other, nullptr, 0).value;
  tell(ct_cmd(C_CMD_CT_GET, foreign));
  EXPECT_EQ(a.init_eq.next()->cmd_fail.return_code, C_RC_PERM_VIOLATION);
}

TEST_F(Counting, DestroyingACounterDropsWhatWaitsForIt) {
  expose();
  trigger(ct, 1, put());
  a.device->destroy_ct(ct);
  const unsigned again = a.device->create_ct(a.rgid, nullptr, 0).value;
  EXPECT_EQ(again, ct);
  a.device->add_ct(again, 1, 0);
  run();
  EXPECT_FALSE(b.target_eq.next());
}

TEST_F(Counting, OperationsWithOneThresholdFireInTheOrderOfTheirCommands) {
  expose();
  for (uint64_t i = 0; i < 20; i++) {
    auto command = put(0);
    command.user_ptr = i;
    trigger(ct, 7, command);
  }
  auto earlier = put(0);
  earlier.user_ptr = 100;
  trigger(ct, 6, earlier);
  a.device->add_ct(ct, 7, 0);
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.user_ptr, 100u);
  for (uint64_t i = 0; i < 20; i++)
    EXPECT_EQ(a.init_eq.next()->init_short.user_ptr, i);
}

TEST_F(Counting, TheHighestThresholdIsReachedByTheHighestValueOnly) {
  expose();
  trigger(ct, CT_SUCCESS_MASK, put());
  a.device->add_ct(ct, uint64_t{CT_SUCCESS_MASK} - 1, 0);
  run();
  EXPECT_FALSE(a.init_eq.next());
  a.device->add_ct(ct, 3, 0);  // past it, which is 1
  run();
  EXPECT_FALSE(a.init_eq.next());
  a.device->add_ct(ct, uint64_t{CT_SUCCESS_MASK} - 1, 0);
  run();
  EXPECT_TRUE(a.init_eq.next());
}

TEST_F(Counting, CounterZeroIsNone) {
  auto command = ct_cmd(C_CMD_CT_INC, 0);
  command.set_ct_success = 1;
  command.ct_success = 1;
  for (const unsigned opcode : {C_CMD_CT_SET, C_CMD_CT_GET, C_CMD_CT_INC, C_CMD_CT_CANCEL}) {
    command.command.opcode = opcode & 0xf;
    tell(command);
  }
  command.command.opcode = C_CMD_CT_TRIG_INC;
  command.trig_ct = ct & 0x7ff;
  tell(command);
  EXPECT_FALSE(a.init_eq.next()) << "no command failure";
  EXPECT_EQ(success(a, ct), 0u);
  command.trig_ct = 0;
  tell(command);
  ASSERT_TRUE(a.init_eq.next()) << "but a trigger needs one";
  EXPECT_EQ(a.init_eq.last_code, unsigned{C_RC_PERM_VIOLATION});
}

TEST_F(Counting, ASendThatCannotReadItsDataCountsAsAFailure) {
  expose();
  auto command = put();
  command.event_ct_send = 1;
  command.local_addr = 0x1000;
  send(command);
  EXPECT_EQ(success(a, ct), 0u);
  EXPECT_EQ(failure(ct), 1u);
  command.event_ct_ack = 1;
  send(command);
  EXPECT_EQ(failure(ct), 3u);
}

TEST_F(Counting, CancellingLeavesWhatHasBeenSetOff) {
  expose();
  // Set off in a pass in which it has no room: its queue has as much under way as it may have.
  auto nowhere = a.put(dfa(99, pid, index), index, 0, 0);
  nowhere.eq = 0;
  for (int i = 0; i < 128; i++)
    trigger(ct, 0, nowhere);
  trigger(ct, 0, put());
  trigger(ct, 5, put());
  tell(ct_cmd(C_CMD_CT_CANCEL, ct));
  a.device->add_ct(ct, 5, 0);
  run();
  EXPECT_FALSE(a.init_eq.next());
  clock.mono += 1'002'000'000;
  run();
  EXPECT_TRUE(a.init_eq.next());
  EXPECT_EQ(a.init_eq.last_code, unsigned{C_RC_OK});
  EXPECT_FALSE(a.init_eq.next()) << "the one that waited for 5 was cancelled";
}

}  // namespace
}  // namespace sim::nic::testing
