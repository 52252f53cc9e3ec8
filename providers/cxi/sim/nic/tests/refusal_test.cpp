// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What a target refuses and with which code; that nothing is written and nobody is told there.
#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class Refusal : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 48;
  uint32_t to_b(unsigned p = pid, unsigned i = index) const { return dfa(2, p, i); }

  // A memory entry as a region of 1000 bytes with key 0x1000 makes it, and the guard behind it.
  void make_memory_entry() {
    pte = b.add_pte(pid, index, {.matching = true, .long_events = true, .space_check = true});
    auto entry = b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 4096, 1000);
    entry.match_bits = 0x1000;
    entry.ignore_bits = 0;
    entry.no_truncate = 1;
    entry.event_comm_disable = 1;
    b.target.push(entry);
    // With immediate data: bit 62, an event, nothing else different.
    entry.match_bits |= uint64_t{1} << 62;
    entry.buffer_id = 2;
    entry.event_comm_disable = 0;
    b.target.push(entry);
    go(b.target);
    ListEntry guard;
    guard.list = C_PTL_LIST_OVERFLOW;
    guard.match_bits = uint64_t{1} << 62;
    guard.ignore_bits = ~(uint64_t{1} << 62);
    guard.length = (uint64_t{1} << 56) - 1;
    guard.event_comm_disable = true;
    ASSERT_EQ(b.device->append(pte, guard), 0);
    run();
    b.fill(0, 8192, 5);
    before = b.text(0, 8192);
  }
  c_full_dma_cmd write_to(uint64_t key, uint64_t offset, uint32_t length) {
    auto put = a.put(to_b(), index, 0, length);
    put.match_bits = key;
    put.remote_offset = offset & ((uint64_t{1} << 56) - 1);
    return put;
  }
  c_event_initiator_short answer(const c_full_dma_cmd& command) {
    a.tx.push(command);
    go(a.tx);
    run();
    const auto event = a.init_eq.next();
    EXPECT_TRUE(event);
    a.init_eq.ack();
    return event ? event->init_short : c_event_initiator_short{};
  }
  void expect_refused(const c_full_dma_cmd& command, unsigned code) {
    const auto event = answer(command);
    EXPECT_EQ(event.return_code, code);
    EXPECT_TRUE(event.tgt_error);
    EXPECT_EQ(event.mlength, 0u);
    EXPECT_FALSE(b.target_eq.next()) << "nothing is raised at the target";
    EXPECT_EQ(b.text(0, 8192), before);
  }
  unsigned pte = 0;
  std::string before = std::string(8192, '\0');
};

constexpr uint64_t immediate = uint64_t{1} << 62;

TEST_F(Refusal, AKeyReachesItsRegionOnly) {
  make_memory_entry();
  EXPECT_EQ(answer(write_to(0x1000, 10, 20)).return_code, C_RC_OK);
  EXPECT_FALSE(b.target_eq.next());
  EXPECT_EQ(answer(write_to(0x1000 | immediate, 10, 20)).return_code, C_RC_OK);
  EXPECT_EQ(b.target_eq.next()->tgt_long.buffer_id, 2);
}

TEST_F(Refusal, AWrongKeyFindsNoEntryAndWithImmediateTheGuard) {
  make_memory_entry();
  expect_refused(write_to(0x1001, 0, 20), C_RC_ENTRY_NOT_FOUND);
  expect_refused(write_to(0x1001 | immediate, 0, 20), C_RC_OP_VIOLATION);
}

TEST_F(Refusal, AnAccessPastTheEndMatchesNothing) {
  make_memory_entry();
  expect_refused(write_to(0x1000, 990, 11), C_RC_ENTRY_NOT_FOUND);
  expect_refused(write_to(0x1000 | immediate, 990, 11), C_RC_OP_VIOLATION);
  expect_refused(write_to(0x1000, 1001, 0), C_RC_ENTRY_NOT_FOUND);
  expect_refused(write_to(0x1000, uint64_t(-8), 8), C_RC_ENTRY_NOT_FOUND);
  EXPECT_EQ(answer(write_to(0x1000, 1000, 0)).return_code, C_RC_OK);
}

TEST_F(Refusal, AMissingRightIsAnOperationViolation) {
  make_memory_entry();
  auto get = write_to(0x1000, 0, 20);
  get.command.opcode = C_CMD_GET;
  expect_refused(get, C_RC_OP_VIOLATION);
  get.match_bits |= immediate;
  expect_refused(get, C_RC_OP_VIOLATION);
  get.match_bits = 0x77 | immediate;
  expect_refused(get, C_RC_OP_VIOLATION);  // the guard again, not DELAYED
}

TEST_F(Refusal, AMatchWithoutEventSpaceIsNotFoundAndFallsThroughToNothing) {
  EqConfig tight;
  tight.reserved_slots = 61;  // one slot for the network in a ring of 64
  EventReader small(64);
  b.add_eq(small, tight);
  b.target_eq.eqn = small.eqn;
  make_memory_entry();
  EXPECT_EQ(answer(write_to(0x1000 | immediate, 0, 8)).return_code, C_RC_OK);
  EXPECT_TRUE(small.next());
  before = b.text(0, 8192);
  expect_refused(write_to(0x1000 | immediate, 100, 8), C_RC_ENTRY_NOT_FOUND);
  EXPECT_EQ(answer(write_to(0x1000, 100, 8)).return_code, C_RC_OK) << "no event, no space needed";
  before = b.text(0, 8192);
  expect_refused(write_to(0x1001 | immediate, 0, 8), C_RC_OP_VIOLATION);
  small.ack();
  EXPECT_EQ(answer(write_to(0x1000 | immediate, 0, 8)).return_code, C_RC_OK);
}

TEST_F(Refusal, LookUpCodesTellVniFromPlace) {
  make_memory_entry();
  auto command = write_to(0x1000, 0, 8);
  const uint32_t elsewhere = to_b(pid + 1);
  std::memcpy(&command.dfa, &elsewhere, 4);
  expect_refused(command, C_RC_PTLTE_NOT_FOUND);
  command = write_to(0x1000, 0, 8);
  command.index_ext = (index + 1) & 0x1f;
  expect_refused(command, C_RC_PTLTE_NOT_FOUND);
  b.device->unmap_portal(default_vni, pid, index);
  expect_refused(write_to(0x1000, 0, 8), C_RC_VNI_NOT_FOUND);
}

TEST_F(Refusal, ADfaOfNoKnownFormatIsRefusedAtTheSource) {
  auto command = write_to(0x1000, 0, 8);
  const uint32_t strange = 0xff800000;
  std::memcpy(&command.dfa, &strange, 4);
  const auto event = answer(command);
  EXPECT_EQ(event.return_code, C_RC_INVALID_DFA_FORMAT);
  EXPECT_FALSE(event.tgt_error);
}

TEST_F(Refusal, ADisabledEntryRefusesAndCounts) {
  make_memory_entry();
  ASSERT_EQ(b.device->set_pte_state(pte, PteState::disabled, 0), 0);
  expect_refused(write_to(0x1000, 0, 8), C_RC_PT_DISABLED);
  expect_refused(write_to(0x1000, 0, 8), C_RC_PT_DISABLED);
  EXPECT_EQ(b.device->query_pte(pte).value.drop_count, 2u);
  EXPECT_EQ(b.device->set_pte_state(pte, PteState::enabled, 1), EAGAIN);
  EXPECT_EQ(b.device->set_pte_state(pte, PteState::enabled, 0xffffff), 0);
  EXPECT_EQ(b.device->query_pte(pte).value.drop_count, 0u);
  EXPECT_EQ(answer(write_to(0x1000, 0, 8)).return_code, C_RC_OK);
}

TEST_F(Refusal, MemoryThatIsGoneAtTheTargetIsTheTargetsError) {
  make_memory_entry();
  b.device->unmap_memory(b.rgid, b.map.id);
  expect_refused(write_to(0x1000, 0, 8), C_RC_NO_TRANSLATION);
}

TEST_F(Refusal, ATargetWriteErrorIsReportedOnBothSidesWhenEventsAreOn) {
  make_memory_entry();
  b.device->unmap_memory(b.rgid, b.map.id);
  EXPECT_EQ(answer(write_to(0x1000 | immediate, 0, 8)).return_code, C_RC_NO_TRANSLATION);
  const auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_long.return_code, C_RC_NO_TRANSLATION);
}

TEST_F(Refusal, ASourceThatCannotBeReadIsTheSourcesError) {
  make_memory_entry();
  a.device->unmap_memory(a.rgid, a.map.id);
  auto event = answer(write_to(0x1000, 0, 8));
  EXPECT_EQ(event.return_code, C_RC_NO_TRANSLATION);
  EXPECT_FALSE(event.tgt_error);
  EXPECT_EQ(b.text(0, 8192), before);
  auto foreign = write_to(0x1000, 0, 8);
  foreign.lac = 7;
  event = answer(foreign);
  EXPECT_EQ(event.return_code, C_RC_INVALID_AC);
  EXPECT_FALSE(event.tgt_error);
}

TEST_F(Refusal, AReadOnlySourceAndAWriteOnlyTargetAreRespected) {
  const auto ro = b.device->map_memory(b.rgid, b.memory, b.memory->va(), 4096, true, false).value;
  const unsigned entry = b.add_pte(pid, 1);
  auto le = append_cmd(entry, C_PTL_LIST_PRIORITY, 1);
  le.lac = ro.lac & 7;
  le.start = ro.iova & ((uint64_t{1} << 57) - 1);
  le.length = 100;
  b.target.push(le);
  go(b.target);
  auto put = a.put(to_b(pid, 1), 1, 0, 8);
  const auto event = answer(put);
  EXPECT_EQ(event.return_code, C_RC_PAGE_PERM_ERROR);
  EXPECT_TRUE(event.tgt_error);
}

TEST_F(Refusal, ANonMatchingEntryWithoutSpaceCheckHasNoSpace) {
  const unsigned entry = b.add_pte(pid, 1, {.matching = false});
  b.target.push(b.buffer(entry, C_PTL_LIST_PRIORITY, 1, 0, 10));
  go(b.target);
  EXPECT_EQ(answer(a.put(to_b(pid, 1), 1, 0, 11)).return_code, C_RC_NO_SPACE);
  EXPECT_EQ(answer(a.put(to_b(pid, 1), 1, 0, 10)).return_code, C_RC_OK);
}

TEST_F(Refusal, ALongPutThatIsRefusedStopsSending) {
  make_memory_entry();
  trace.on = true;
  expect_refused(write_to(0x9999, 0, 4 << 20), C_RC_ENTRY_NOT_FOUND);
  a.tx.push(write_to(0x1000, 0, 8));
  go(a.tx);
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_OK);
}

TEST_F(Refusal, ALongPutWhoseSourceEndsIsCutOffWithoutLeavingAnythingOpen) {
  const unsigned entry = b.add_pte(pid, 1, {.matching = true, .long_events = true});
  auto le = b.buffer(entry, C_PTL_LIST_PRIORITY, 3, 0, 4 << 20);
  le.use_once = 1;
  b.target.push(le);
  go(b.target);
  const auto half =
      a.device->map_memory(a.rgid, a.memory, a.memory->va(), 1 << 20, true, true).value;
  auto put = a.put(to_b(pid, 1), 1, 0, 2 << 20);
  put.local_addr = half.iova & ((uint64_t{1} << 57) - 1);
  const auto event = answer(put);
  EXPECT_EQ(event.return_code, C_RC_NO_TRANSLATION);
  EXPECT_FALSE(event.tgt_error);
  const auto at_target = b.target_eq.next();
  ASSERT_TRUE(at_target);
  EXPECT_EQ(at_target->tgt_long.return_code, C_RC_SRC_ERROR);
}

}  // namespace
}  // namespace sim::nic::testing
