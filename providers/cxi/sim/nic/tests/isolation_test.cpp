// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What one program leaves behind or takes for itself, and another one on the same NIC does not
// notice: numbers that are given out again, and what all programs draw from.
#include <cerrno>

#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class Isolation : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 3;
  void SetUp() override { other = a.device->alloc_rgid().value; }
  // The number of a counter of the first program becomes the other program's.
  void hand_over(unsigned ct) {
    a.device->destroy_ct(ct);
    ASSERT_EQ(a.device->create_ct(other, nullptr, 0).value, ct);
  }
  void expect_uncounted(unsigned ct) {
    const auto value = a.device->read_ct(ct).value;
    EXPECT_EQ(value.success, 0u);
    EXPECT_EQ(value.failure, 0u);
  }
  c_full_dma_cmd put_to_b(uint32_t length = 8) {
    return a.put(dfa(2, pid, index), index, 0, length);
  }
  void push_trigger(CommandWriter& queue, unsigned opcode, unsigned trig_ct, unsigned ct,
                    uint64_t threshold) {
    std::byte bytes[64] = {};
    c_ct_cmd c{};
    c.command.cmd_type = C_CMD_TYPE_CT;
    c.command.cmd_size = C_CMD_SIZE_64B;
    c.command.opcode = opcode & 0xf;
    c.trig_ct = trig_ct & 0x7ff;
    c.ct = ct & 0x7ff;
    c.threshold = threshold & CT_SUCCESS_MASK;
    c.set_ct_success = 1;
    c.ct_success = 9;
    std::memcpy(bytes, &c, sizeof c);
    queue.push_bytes(bytes, sizeof bytes);
    go(queue);
  }
  unsigned other = 0;
};

TEST_F(Isolation, ACommandDoesNotCountOnACounterThatIsAnothersByNow) {
  b.add_pte(pid, index);
  const unsigned ct = a.device->create_ct(a.rgid, nullptr, 0).value;
  auto put = put_to_b();
  put.ct = ct & 0x7ff;
  put.event_ct_ack = 1;
  a.tx.push(put);
  go(a.tx);
  a.device->step();  // sent, not answered
  hand_over(ct);
  run();
  EXPECT_TRUE(a.init_eq.next());
  expect_uncounted(ct);
}

TEST_F(Isolation, AListEntryDoesNotCountOnACounterThatIsAnothersByNow) {
  const unsigned pte = a.add_pte(pid, index);
  const unsigned ct = a.device->create_ct(a.rgid, nullptr, 0).value;
  auto entry = a.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 4096);
  entry.ct = ct & 0x7ff;
  entry.event_ct_comm = 1;
  a.target.push(entry);
  go(a.target);
  run();
  hand_over(ct);
  a.tx.push(a.put(dfa(1, pid, index), index, 0, 8));
  go(a.tx);
  run();
  EXPECT_TRUE(a.target_eq.next());
  expect_uncounted(ct);
}

TEST_F(Isolation, ATriggeredOperationDoesNotChangeACounterThatIsAnothersByNow) {
  ASSERT_EQ(a.device->set_cp(a.rgid, 0, default_vni, 3, 0), 0);
  CommandWriter trig(64, true);
  a.add_cmdq(trig, true, {.triggered = true});
  const unsigned first = a.device->create_ct(a.rgid, nullptr, 0).value;
  for (const unsigned opcode : {C_CMD_CT_TRIG_INC, C_CMD_CT_TRIG_SET}) {
    const unsigned ct = a.device->create_ct(a.rgid, nullptr, 0).value;
    push_trigger(trig, opcode, first, ct, 1);
    run();
    hand_over(ct);
  }
  a.device->add_ct(first, 1, 0);
  run();
  expect_uncounted(first + 1);
  expect_uncounted(first + 2);
}

TEST_F(Isolation, TheRendezvousOfAnEntryThatIsGoneTellsNobody) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .long_events = true});
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 1 << 20));
  go(b.target);
  run();
  auto put = a.put(dfa(2, pid, index), index, 0, 100000);
  put.command.opcode = C_CMD_RENDEZVOUS_PUT;
  put.eager_length = 1000;
  put.use_offset_for_get = 1;
  const uint32_t initiator = pid << 23 | 1;
  std::memcpy(&put.initiator, &initiator, 4);
  a.tx.push(put);
  go(a.tx);
  a.device->step();
  b.device->step();  // takes the message and asks for the rest
  unsigned events = 0;
  while (b.target_eq.next())
    events++;
  EXPECT_EQ(events, 2u) << "PUT and RENDEZVOUS";
  b.device->destroy_pte(pte);
  run();
  EXPECT_FALSE(b.target_eq.next()) << "no REPLY: whose event queue this is now, nobody knows";
  clock.mono += 10'000'000'000;
  run();
  EXPECT_FALSE(b.target_eq.next());
}

TEST_F(Isolation, TriggeredEntriesOfOneOwnerAreNotTakenByAnother) {
  auto few = std::make_shared<TriggeredEntries>(TriggeredEntries{2, 0});
  const auto start = [&](std::shared_ptr<TriggeredEntries> entries, CommandWriter& queue) {
    const unsigned rgid = a.device->alloc_rgid(std::move(entries)).value;
    EXPECT_EQ(a.device->set_cp(rgid, 0, default_vni, 3, 0), 0);
    queue.index =
        a.device->create_cmdq(rgid, {.triggered = true, .ring = queue.ring, .launch = queue.launch})
            .value;
    return a.device->create_ct(rgid, nullptr, 0).value;
  };
  CommandWriter greedy(64, true), modest(64, true);
  const unsigned ct = start(few, greedy), ct_of_other = start(nullptr, modest);
  for (int i = 0; i < 4; i++)
    push_trigger(greedy, C_CMD_CT_TRIG_EVENT, ct, 0, 1);
  run();
  EXPECT_EQ(few->in_use, 2u);
  EXPECT_EQ(greedy.status().rd_ptr, C_CQ_FIRST_WR_PTR + 2u) << "the queue stalls";
  push_trigger(modest, C_CMD_CT_TRIG_EVENT, ct_of_other, 0, 1);
  run();
  EXPECT_EQ(modest.status().rd_ptr, C_CQ_FIRST_WR_PTR + 1u) << "others go on";
  a.device->add_ct(ct, 1, 0);
  run();
  EXPECT_EQ(greedy.status().rd_ptr, C_CQ_FIRST_WR_PTR + 4u);
  EXPECT_EQ(few->in_use, 0u);
  a.device->destroy_cmdq(greedy.index);
  a.device->destroy_ct(ct);
  EXPECT_EQ(few->in_use, 0u);
}

TEST_F(Isolation, EntriesKeptForOnePortalEntryAreNotTakenByAnother) {
  PteConfig config{.matching = true};
  config.element = 1;
  const unsigned greedy = a.device->create_pte(a.rgid, config).value;
  config.list_entries = 2;
  const unsigned modest = a.device->create_pte(a.rgid, config).value;
  ListEntry entry;
  unsigned taken = 0;
  while (a.device->append(greedy, entry) == 0)
    taken++;
  EXPECT_EQ(taken, 16382u);
  EXPECT_EQ(a.device->append(modest, entry), 0);
  EXPECT_EQ(a.device->append(modest, entry), 0);
  EXPECT_EQ(a.device->append(modest, entry), ENOSPC);
  a.device->destroy_pte(modest);
  EXPECT_EQ(a.device->append(greedy, entry), 0) << "they are anybody's again";
  EXPECT_EQ(a.device->append(greedy, entry), 0);
  EXPECT_EQ(a.device->append(greedy, entry), ENOSPC);
}

TEST_F(Isolation, WhoSendsToNobodyLeavesOthersWhatTheyNeedToSend) {
  // Queues of one program, full of messages to a NIC that does not answer.
  std::vector<CommandWriter> queues;
  for (int i = 0; i < 20; i++) {
    queues.emplace_back(256, false);
    a.add_cmdq(queues.back(), true);
    for (int n = 0; n < 200; n++) {
      auto put = a.put(dfa(77, pid, index), index, 0, 0);
      put.eq = 0;
      queues.back().push(put);
    }
    go(queues.back());
  }
  run();
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 4096));
  go(b.target);
  ASSERT_EQ(a.device->set_cp(other, 1, default_vni, 3, 0), 0);
  CommandWriter queue(64, false);
  EventReader events(64);
  const unsigned eqn =
      a.device->create_eq(other, {.ring = events.ring, .sw_state = events.sw_state}).value;
  ASSERT_EQ(
      a.device->create_cmdq(other, {.ring = queue.ring, .launch = queue.launch, .lcid = 1}).error,
      0);
  auto put = dma(C_CMD_PUT, dfa(2, pid, index), index);
  put.eq = eqn & 0x7ff;
  queue.push(put);
  go(queue);
  run();
  EXPECT_TRUE(events.next());
  EXPECT_EQ(events.last_code, unsigned{C_RC_OK});
}

TEST_F(Isolation, AMessageThatIsTooLongToWaitIsDropped) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .lossless = true});
  const auto memory = std::make_shared<ProcessMemory>(0x10000000, size_t{80} << 20);
  const auto map =
      a.device->map_memory(a.rgid, memory, memory->va(), memory->size(), true, true).value;
  auto put = put_to_b(80 << 20);
  put.lac = map.lac & 7;
  put.local_addr = map.iova & ((uint64_t{1} << 57) - 1);
  a.tx.push(put);
  go(a.tx);
  run();
  const auto event = a.init_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->init_short.return_code, C_RC_DROPPED);
  // The next one waits, and is taken.
  a.tx.push(put_to_b());
  go(a.tx);
  run();
  EXPECT_FALSE(a.init_eq.next());
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 4096));
  go(b.target);
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_OK);
}

TEST_F(Isolation, ATriggeredTransferWithoutRoomHoldsUpItsOwnProgramOnly) {
  // One program's triggered transfers go to a NIC that does not answer.
  ASSERT_EQ(a.device->set_cp(a.rgid, 0, default_vni, 3, 0), 0);
  CommandWriter stuck(1024, true), lively(64, true);
  a.add_cmdq(stuck, true, {.triggered = true});
  const unsigned ct = a.device->create_ct(a.rgid, nullptr, 0).value;
  for (int i = 0; i < 200; i++) {
    std::byte command[128] = {};
    c_ct_cmd head{};
    head.command.cmd_type = C_CMD_TYPE_CT;
    head.command.cmd_size = C_CMD_SIZE_128B;
    head.command.opcode = C_CMD_CT_TRIG_DMA;
    head.trig_ct = ct & 0x7ff;
    auto put = a.put(dfa(77, pid, index), index, 0, 0);
    put.eq = 0;
    std::memcpy(command, &head, sizeof head);
    std::memcpy(command + 24, &put, sizeof put);
    stuck.push_bytes(command, sizeof command);
  }
  go(stuck);
  run();
  // The other program's are carried out.
  ASSERT_EQ(a.device->set_cp(other, 0, default_vni, 3, 0), 0);
  ASSERT_EQ(
      a.device
          ->create_cmdq(other, {.triggered = true, .ring = lively.ring, .launch = lively.launch})
          .error,
      0);
  const unsigned first = a.device->create_ct(other, nullptr, 0).value;
  const unsigned second = a.device->create_ct(other, nullptr, 0).value;
  push_trigger(lively, C_CMD_CT_TRIG_INC, first, second, 1);
  run();
  a.device->add_ct(first, 1, 0);
  run();
  EXPECT_EQ(a.device->read_ct(second).value.success, 9u);
}

TEST_F(Isolation, ANicWhosePeerIsAwayHasNothingToDoForIt) {
  const unsigned pte = b.add_pte(pid, index);
  auto entry = b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 4 << 20);
  entry.op_get = 1;
  b.target.push(entry);
  go(b.target);
  run();
  auto get = put_to_b(4 << 20);
  get.command.opcode = C_CMD_GET;
  a.tx.push(get);
  go(a.tx);
  a.device->step();
  b.device->step();  // sends the first pieces
  a.device->set_link(false);
  for (int i = 0; i < 10; i++)
    b.device->step();
  EXPECT_FALSE(b.device->step());
  a.device->set_link(true);
  clock.mono += 2'000'000;
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_OK);
}

}  // namespace
}  // namespace sim::nic::testing
