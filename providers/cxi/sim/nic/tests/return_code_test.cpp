// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Return codes that a program can cause and that no other test causes on its way (behaviour 9), and
// whom they name as the one to blame.
#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class ReturnCode : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 3;
  static constexpr uint64_t bits57 = (uint64_t{1} << 57) - 1;
  unsigned expose(PteConfig config = {.matching = true}, unsigned list = C_PTL_LIST_PRIORITY) {
    const unsigned pte = b.add_pte(pid, index, config);
    entry = b.buffer(pte, list, 1, 0, 4096);
    entry.op_get = 1;
    return pte;
  }
  void append() {
    b.target.push(entry);
    go(b.target);
    run();
  }
  template <class Command>
  c_event_initiator_short answer(const Command& command) {
    a.tx.push(command);
    go(a.tx);
    run();
    const auto event = a.init_eq.next();
    EXPECT_TRUE(event);
    return event ? event->init_short : c_event_initiator_short{};
  }
  c_full_dma_cmd put(uint32_t length = 8) { return a.put(dfa(2, pid, index), index, 0, length); }
  c_full_dma_cmd get() {
    auto command = put();
    command.command.opcode = C_CMD_GET;
    return command;
  }
  c_dma_amo_cmd amo(unsigned opcode) {
    return a.amo(opcode, dfa(2, pid, index), index, C_AMO_OP_SUM, C_AMO_TYPE_UINT64_T, 8);
  }
  void expect(const c_event_initiator_short& event, unsigned code, bool by_target) {
    EXPECT_EQ(event.return_code, code);
    EXPECT_EQ(event.tgt_error, by_target);
  }
  c_target_cmd entry{};
};

TEST_F(ReturnCode, AnAddressContextThatDoesNotExistIsInvalid) {
  expose();
  append();
  auto command = put();
  command.lac = 7;
  expect(answer(command), C_RC_INVALID_AC, false);
  command = get();
  command.lac = 7;
  expect(answer(command), C_RC_INVALID_AC, false);
  entry.lac = 7;
  entry.match_bits = 4;
  entry.ignore_bits = 0;
  const unsigned second = b.add_pte(pid, index + 1);
  entry.ptlte_index = second & 0x7ff;
  append();
  command = a.put(dfa(2, pid, index + 1), index + 1, 0, 8);
  command.match_bits = 4;
  expect(answer(command), C_RC_INVALID_AC, true);
}

TEST_F(ReturnCode, AnAddressBeyondTheWindowIsOutOfRange) {
  expose();
  append();
  auto command = put();
  command.local_addr = 8;
  expect(answer(command), C_RC_ADDR_OUT_OF_RANGE, false);
}

TEST_F(ReturnCode, AnAddressWithoutMemoryHasNoTranslation) {
  expose();
  append();
  auto command = put();
  command.local_addr = (a.iova(0) + a.memory->size() + 4096) & bits57;
  expect(answer(command), C_RC_NO_TRANSLATION, false);
  auto atomic = amo(C_CMD_ATOMIC);
  atomic.local_read_addr = command.local_addr;
  expect(answer(atomic), C_RC_NO_TRANSLATION, false);
  atomic = amo(C_CMD_FETCHING_ATOMIC);
  atomic.local_write_addr = command.local_addr;
  expect(answer(atomic), C_RC_NO_TRANSLATION, false);
}

TEST_F(ReturnCode, TheEventAtTheTargetHasTheCodeToo) {
  expose({.matching = true, .long_events = true});
  entry.start = (b.iova(0) + b.memory->size() + 4096) & bits57;
  append();
  expect(answer(put()), C_RC_NO_TRANSLATION, true);
  const auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_long.event_type, C_EVENT_PUT);
  EXPECT_EQ(event->tgt_long.return_code, C_RC_NO_TRANSLATION);
  EXPECT_EQ(event->tgt_long.mlength, 0u);
}

TEST_F(ReturnCode, GetsAndAtomicsThatFindOverflowAreDelayed) {
  expose({.matching = true}, C_PTL_LIST_OVERFLOW);
  append();
  expect(answer(get()), C_RC_DELAYED, true);
  expect(answer(amo(C_CMD_ATOMIC)), C_RC_DELAYED, true);
  expect(answer(amo(C_CMD_FETCHING_ATOMIC)), C_RC_DELAYED, true);
  EXPECT_FALSE(b.target_eq.next());
}

TEST_F(ReturnCode, GetsAndAtomicsToASoftwareManagedEntryAreDelayed) {
  const unsigned pte = expose({.matching = true}, C_PTL_LIST_REQUEST);
  append();
  ASSERT_EQ(b.device->set_pte_state(pte, PteState::software_managed, 0xffffff), EINVAL)
      << "from disabled only";
  ASSERT_EQ(b.device->set_pte_state(pte, PteState::disabled, 0), 0);
  ASSERT_EQ(b.device->set_pte_state(pte, PteState::software_managed, 0), 0);
  expect(answer(get()), C_RC_DELAYED, true);
  expect(answer(amo(C_CMD_FETCHING_ATOMIC)), C_RC_DELAYED, true);
}

TEST_F(ReturnCode, AResetEntryIsDisabled) {
  const unsigned pte = expose();
  append();
  b.target.push(set_state_cmd(pte, C_PTLTE_RESET, 0));
  go(b.target);
  expect(answer(put()), C_RC_PT_DISABLED, true);
  EXPECT_EQ(b.device->query_pte(pte).value.les_allocated, 0u);
}

TEST_F(ReturnCode, AnOrdinaryMessageThatIsLostIsUndeliverableAnAtomicOneOutOfOrderIsCancelled) {
  auto restricted = amo(C_CMD_ATOMIC);
  restricted.restricted = 1;
  const uint32_t nowhere = dfa(9, pid, index);
  std::memcpy(&restricted.dfa, &nowhere, 4);
  auto ordered = amo(C_CMD_ATOMIC);
  std::memcpy(&ordered.dfa, &nowhere, 4);
  ordered.user_ptr = 2;
  a.tx.push(restricted);
  a.tx.push(ordered);
  go(a.tx);
  run();
  EXPECT_FALSE(a.init_eq.next());
  clock.mono += 1'100'000'000;
  run();
  for (int i = 0; i < 2; i++) {
    const auto event = a.init_eq.next();
    ASSERT_TRUE(event);
    expect(event->init_short, event->init_short.user_ptr == 2 ? C_RC_UNDELIVERABLE : C_RC_CANCELED,
           false);
  }
}

TEST_F(ReturnCode, AMulticastThatCannotBeOneIsRefusedAtTheSource) {
  auto command = put();
  const uint32_t group = 0xff800007u | 0x155u << 3;
  std::memcpy(&command.dfa, &group, 4);
  expect(answer(command), C_RC_INVALID_DFA_FORMAT, false);  // not restricted
  command.restricted = 1;
  command.request_len = 2049;
  expect(answer(command), C_RC_INVALID_DFA_FORMAT, false);  // more than a packet
  command.request_len = 8;
  expect(answer(command), C_RC_OK, false);  // nobody answers, whoever is there
}

}  // namespace
}  // namespace sim::nic::testing
