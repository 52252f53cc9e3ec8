// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The largest messages, the highest addresses, the ends of counters and rings, and how much of a
// NIC's memory long transfers take.
#include <cerrno>

#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

constexpr uint32_t longest = 0xffffffff;  // the most that one command can ask for

// Memory of any size that holds nothing, and knows how far it was reached.
class VastMemory : public GuestMemory {
 public:
  static constexpr uint64_t va = 0x10'0000'0000, bytes = uint64_t{8} << 30;
  bool read(uint64_t at, std::span<std::byte> out) override {
    read_to = std::max(read_to, at + out.size() - va);
    return at >= va && at + out.size() <= va + bytes;
  }
  bool write(uint64_t at, std::span<const std::byte> in) override {
    written_to = std::max(written_to, at + in.size() - va);
    return at >= va && at + in.size() <= va + bytes;
  }
  uint64_t read_to = 0, written_to = 0;
};

class Limits : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 3;
  void SetUp() override {
    here = map(a, memory_here);
    there = map(b, memory_there);
  }
  static Mapping map(Node& node, std::shared_ptr<GuestMemory> memory) {
    const auto made = node.device->map_memory(node.rgid, std::move(memory), VastMemory::va,
                                              VastMemory::bytes, true, true);
    EXPECT_EQ(made.error, 0);
    return made.value;
  }
  c_target_cmd all_of_it(unsigned pte, unsigned list) {
    auto entry = append_cmd(pte, list, 1);
    entry.op_get = 1;
    entry.lac = there.lac & 7;
    entry.start = there.iova & ((uint64_t{1} << 57) - 1);
    entry.length = VastMemory::bytes;
    return entry;
  }
  c_full_dma_cmd longest_of(unsigned opcode) {
    auto command = dma(opcode, dfa(2, pid, index), index);
    command.lac = here.lac & 7;
    command.local_addr = here.iova & ((uint64_t{1} << 57) - 1);
    command.request_len = longest;
    command.eq = a.init_eq.eqn & 0x7ff;
    return command;
  }
  c_event_initiator_short send(const c_full_dma_cmd& command) {
    a.tx.push(command);
    go(a.tx);
    run(100000);
    const auto event = a.init_eq.next();
    EXPECT_TRUE(event);
    return event ? event->init_short : c_event_initiator_short{};
  }
  std::shared_ptr<VastMemory> memory_here = std::make_shared<VastMemory>(),
                              memory_there = std::make_shared<VastMemory>();
  Mapping here, there;
};

TEST_F(Limits, APutOfTheGreatestLengthIsOneMessage) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .long_events = true});
  b.target.push(all_of_it(pte, C_PTL_LIST_PRIORITY));
  go(b.target);
  const auto ack = send(longest_of(C_CMD_PUT));
  EXPECT_EQ(ack.return_code, C_RC_OK);
  EXPECT_EQ(ack.mlength, longest);
  const auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_long.mlength, longest);
  EXPECT_EQ(event->tgt_long.rlength, longest);
  EXPECT_EQ(memory_here->read_to, longest);
  EXPECT_EQ(memory_there->written_to, longest);
}

TEST_F(Limits, AGetOfTheGreatestLengthIsOneMessage) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .long_events = true});
  b.target.push(all_of_it(pte, C_PTL_LIST_PRIORITY));
  go(b.target);
  const auto reply = send(longest_of(C_CMD_GET));
  EXPECT_EQ(reply.return_code, C_RC_OK);
  EXPECT_EQ(reply.mlength, longest);
  EXPECT_EQ(memory_here->written_to, longest);
  EXPECT_EQ(memory_there->read_to, longest);
}

TEST_F(Limits, ARawMessageOfTheGreatestLengthIsCutAndNotWrapped) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .long_events = true});
  b.target.push(all_of_it(pte, C_PTL_LIST_REQUEST));
  go(b.target);
  const auto ack = send(longest_of(C_CMD_PUT));
  EXPECT_EQ(ack.return_code, C_RC_OK);
  EXPECT_EQ(ack.mlength, longest - 63) << "what was placed behind the header";
  EXPECT_EQ(b.target_eq.next()->tgt_long.event_type, C_EVENT_STATE_CHANGE);
  const auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_long.mlength, longest) << "as much as the field can tell";
  EXPECT_EQ(event->tgt_long.rlength, longest);
  EXPECT_EQ(memory_there->written_to, longest);
}

TEST_F(Limits, AnAddressOf57BitsIsOutOfRange) {
  constexpr uint64_t top = uint64_t{1} << 56;  // the highest bit of the field
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .long_events = true});
  auto entry = all_of_it(pte, C_PTL_LIST_PRIORITY);
  entry.start |= top;
  b.target.push(entry);
  go(b.target);
  auto put = longest_of(C_CMD_PUT);
  put.request_len = 8;
  auto event = send(put);
  EXPECT_EQ(event.return_code, C_RC_ADDR_OUT_OF_RANGE);
  EXPECT_TRUE(event.tgt_error);
  EXPECT_EQ(memory_there->written_to, 0u);
  put.local_addr |= top;
  event = send(put);
  EXPECT_EQ(event.return_code, C_RC_ADDR_OUT_OF_RANGE);
  EXPECT_FALSE(event.tgt_error);
}

TEST_F(Limits, AnOffsetThatLeavesTheAddressSpaceReachesNothing) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .long_events = true});
  auto entry = all_of_it(pte, C_PTL_LIST_PRIORITY);
  entry.length = (uint64_t{1} << 56) - 1;  // no end
  b.target.push(entry);
  go(b.target);
  auto put = longest_of(C_CMD_PUT);
  put.request_len = 8;
  put.remote_offset = (uint64_t{1} << 56) - 16;  // would be 16 bytes before the start
  EXPECT_EQ(send(put).return_code, C_RC_ADDR_OUT_OF_RANGE);
  EXPECT_EQ(memory_there->written_to, 0u);
}

TEST_F(Limits, ACounterTakesAsMuchAsItHoldsAndWrapsBehindIt) {
  const unsigned ct = a.device->create_ct(a.rgid, nullptr, 0).value;
  EXPECT_EQ(a.device->add_ct(ct, CT_SUCCESS_MASK + 1, 0), EINVAL);
  EXPECT_EQ(a.device->read_ct(ct).value.success, 0u);
  EXPECT_EQ(a.device->add_ct(ct, CT_SUCCESS_MASK, 0), 0);
  EXPECT_EQ(a.device->read_ct(ct).value.success, uint64_t{CT_SUCCESS_MASK});
  EXPECT_EQ(a.device->add_ct(ct, CT_SUCCESS_MASK, 0), 0);
  EXPECT_EQ(a.device->read_ct(ct).value.success, uint64_t{CT_SUCCESS_MASK} - 1);
}

TEST_F(Limits, LongTransfersDoNotFillTheMemoryOfANicThatIsBehind) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true});
  b.target.push(all_of_it(pte, C_PTL_LIST_PRIORITY));
  go(b.target);
  run();
  std::vector<CommandWriter> queues;
  constexpr unsigned transfers = 40;
  for (unsigned i = 0; i < transfers; i++) {
    queues.emplace_back(64, false);
    a.add_cmdq(queues.back(), true);
    auto put = longest_of(C_CMD_PUT);
    put.request_len = i % 2 ? 32 << 20 : 512 << 10;
    for (int n = 0; n < 3; n++)
      queues.back().push(put);
    go(queues.back());
  }
  size_t most = 0;
  for (int i = 0; i < 200; i++) {  // b does nothing
    a.device->step();
    most = std::max(most, fabric->backlog(2));
  }
  EXPECT_GT(most, size_t{8} << 20);
  EXPECT_LT(most, size_t{48} << 20);
  run(100000);
  unsigned done = 0;
  while (a.init_eq.next())
    done += a.init_eq.last_code == C_RC_OK;
  EXPECT_EQ(done, 3 * transfers);
}

TEST_F(Limits, LongTransfersTakeTurns) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true});
  b.target.push(all_of_it(pte, C_PTL_LIST_PRIORITY));
  go(b.target);
  run();
  std::vector<CommandWriter> queues;
  for (uint64_t i = 0; i < 40; i++) {
    queues.emplace_back(64, false);
    a.add_cmdq(queues.back(), true);
    auto put = longest_of(C_CMD_PUT);
    put.request_len = i == 39 ? 2 << 20 : longest;
    put.user_ptr = i;
    queues.back().push(put);
    go(queues.back());
  }
  bool done = false;
  for (int i = 0; i < 400 && !done; i++) {
    a.device->step();
    b.device->step();
    if (const auto event = a.init_eq.next()) {
      EXPECT_EQ(event->init_short.user_ptr, 39u);
      done = true;
    }
  }
  EXPECT_TRUE(done) << "a short transfer behind long ones";
  for (auto& queue : queues)
    a.device->stop_cmdq(queue.index);
}

TEST_F(Limits, WhoStopsAQueueDoesNotWaitForALongGet) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true});
  b.target.push(all_of_it(pte, C_PTL_LIST_PRIORITY));
  go(b.target);
  run();
  a.tx.push(longest_of(C_CMD_GET));
  go(a.tx);
  for (int i = 0; i < 3; i++) {
    a.device->step();
    b.device->step();
  }
  a.device->stop_cmdq(a.tx.index);
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_CANCELED);
  const uint64_t so_far = memory_here->written_to;
  EXPECT_LT(so_far, uint64_t{64} << 20);
  run(20);
  EXPECT_EQ(memory_here->written_to, so_far);
  EXPECT_FALSE(a.init_eq.next());
}

}  // namespace
}  // namespace sim::nic::testing
