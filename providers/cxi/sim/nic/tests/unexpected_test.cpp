// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Lists: overflow and what is claimed from it, unlinking, searching, local management, rendezvous.
#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class Unexpected : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 3;
  void SetUp() override { pte = b.add_pte(pid, index); }
  void overflow(unsigned id, uint64_t offset = 65536, uint64_t length = 65536) {
    auto entry = b.buffer(pte, C_PTL_LIST_OVERFLOW, id, offset, length);
    entry.manage_local = 1;
    b.target.push(entry);
    go(b.target);
    run();
  }
  c_full_dma_cmd put(uint64_t match, uint32_t length, uint64_t from = 0) {
    auto command = a.put(dfa(2, pid, index), index, from, length);
    command.match_bits = match;
    command.user_ptr = match;
    return command;
  }
  void send(const c_full_dma_cmd& command) {
    a.tx.push(command);
    go(a.tx);
    run();
  }
  void tell(const c_target_cmd& command) {
    b.target.push(command);
    go(b.target);
    run();
  }
  c_target_cmd receive(unsigned id, uint64_t match, uint64_t ignore = 0) {
    auto entry = b.buffer(pte, C_PTL_LIST_PRIORITY, id, 1 << 20, 1 << 20);
    entry.match_bits = match;
    entry.ignore_bits = ignore;
    entry.use_once = 1;
    return entry;
  }
  c_target_cmd search(unsigned opcode, unsigned id, uint64_t match, uint64_t ignore, bool once) {
    auto command = append_cmd(pte, C_PTL_LIST_UNEXPECTED, id);
    command.command.opcode = opcode & 0xf;
    command.match_bits = match;
    command.ignore_bits = ignore;
    command.use_once = once;
    command.length = (uint64_t{1} << 56) - 1;
    return command;
  }
  c_event_target_long next() {
    const auto event = b.target_eq.next();
    EXPECT_TRUE(event);
    return event ? event->tgt_long : c_event_target_long{};
  }
  unsigned ack_list() {
    const auto event = a.init_eq.next();
    EXPECT_TRUE(event);
    return event ? event->init_short.ptl_list : 99u;
  }
  unsigned pte = 0;
};

TEST_F(Unexpected, AMessageThatNobodyAwaitsLandsInOverflowAndIsClaimedByAnAppend) {
  overflow(50);
  a.fill(0, 100, 1);
  auto command = put(0x11, 100);
  command.remote_offset = 0x2222;
  send(command);
  EXPECT_EQ(ack_list(), C_PTL_LIST_OVERFLOW);
  const auto arrived = next();
  EXPECT_EQ(b.target_eq.last_size, 64u) << "never short";
  EXPECT_EQ(arrived.event_type, C_EVENT_PUT);
  EXPECT_EQ(arrived.buffer_id, 50);
  EXPECT_EQ(arrived.ptl_list, C_PTL_LIST_OVERFLOW);
  EXPECT_EQ(arrived.start, b.iova(65536));
  uint64_t offset = 0;
  EXPECT_EQ(b.device->unexpected_offsets(pte, {&offset, 1}), 1u);
  EXPECT_EQ(offset, 0x2222u);

  tell(receive(60, 0x11));
  const auto claimed = next();
  EXPECT_EQ(claimed.event_type, C_EVENT_PUT_OVERFLOW);
  EXPECT_EQ(claimed.buffer_id, 60);
  EXPECT_EQ(claimed.start, b.iova(65536));
  EXPECT_EQ(claimed.mlength, 100u);
  EXPECT_EQ(claimed.rlength, 100u);
  EXPECT_EQ(claimed.match_bits, 0x11u);
  EXPECT_TRUE(claimed.auto_unlinked);
  EXPECT_FALSE(b.target_eq.next()) << "no LINK, the entry never existed";
  EXPECT_EQ(b.device->unexpected_offsets(pte, {}), 0u);
  send(put(0x11, 8));
  EXPECT_EQ(ack_list(), C_PTL_LIST_OVERFLOW);
}

TEST_F(Unexpected, AnAppendTakesTheOldestMessageItMatches) {
  overflow(50);
  send(put(1, 10));
  send(put(2, 20));
  send(put(2, 30));
  for (int i = 0; i < 3; i++)
    next();
  tell(receive(60, 2));
  EXPECT_EQ(next().rlength, 20u);
  tell(receive(61, 0, ~uint64_t{0}));
  EXPECT_EQ(next().rlength, 10u);
}

TEST_F(Unexpected, APersistentAppendTakesAllAndIsLinked) {
  overflow(50);
  for (uint32_t i = 1; i <= 3; i++)
    send(put(7, i));
  for (int i = 0; i < 3; i++)
    next();
  auto entry = receive(60, 7);
  entry.use_once = 0;
  entry.event_link_disable = 0;
  tell(entry);
  for (uint32_t i = 1; i <= 3; i++) {
    const auto event = next();
    EXPECT_EQ(event.event_type, C_EVENT_PUT_OVERFLOW);
    EXPECT_EQ(event.rlength, i);
    EXPECT_FALSE(event.auto_unlinked);
  }
  EXPECT_EQ(next().event_type, C_EVENT_LINK);
  send(put(7, 9));
  for (int i = 0; i < 3; i++)
    EXPECT_EQ(ack_list(), C_PTL_LIST_OVERFLOW);
  EXPECT_EQ(ack_list(), C_PTL_LIST_PRIORITY);
}

TEST_F(Unexpected, WithoutAHeaderNothingCanBeClaimed) {
  auto entry = b.buffer(pte, C_PTL_LIST_OVERFLOW, 50, 65536, 1000);
  entry.unexpected_hdr_disable = 1;
  tell(entry);
  send(put(1, 10));
  next();
  EXPECT_EQ(b.device->unexpected_offsets(pte, {}), 0u);
}

TEST_F(Unexpected, GetsAreDelayed) {
  auto entry = b.buffer(pte, C_PTL_LIST_OVERFLOW, 50, 65536, 1000);
  entry.op_get = 1;
  tell(entry);
  auto get = put(1, 10);
  get.command.opcode = C_CMD_GET;
  send(get);
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_DELAYED);
  EXPECT_FALSE(b.target_eq.next());
}

TEST_F(Unexpected, SearchReportsAndKeeps) {
  overflow(50);
  for (uint64_t i = 0; i < 3; i++)
    send(put(i, 10 + static_cast<uint32_t>(i)));
  for (int i = 0; i < 3; i++)
    next();
  tell(search(C_CMD_TGT_SEARCH, 70, 1, 0, true));
  auto event = next();
  EXPECT_EQ(event.event_type, C_EVENT_SEARCH);
  EXPECT_EQ(event.return_code, C_RC_OK);
  EXPECT_EQ(event.buffer_id, 70);
  EXPECT_EQ(event.rlength, 11u);
  EXPECT_FALSE(b.target_eq.next());
  tell(search(C_CMD_TGT_SEARCH, 71, 9, 0, true));
  EXPECT_EQ(next().return_code, C_RC_NO_MATCH);
  tell(search(C_CMD_TGT_SEARCH, 72, 0, ~uint64_t{0}, false));
  for (uint32_t i = 0; i < 3; i++)
    EXPECT_EQ(next().rlength, 10 + i);
  EXPECT_EQ(next().return_code, C_RC_NO_MATCH) << "the terminator";
  EXPECT_EQ(b.device->unexpected_offsets(pte, {}), 3u);
}

TEST_F(Unexpected, SearchAndDeleteReportsAndTakes) {
  overflow(50);
  for (uint64_t i = 0; i < 3; i++)
    send(put(i, 10 + static_cast<uint32_t>(i)));
  for (int i = 0; i < 3; i++)
    next();
  tell(search(C_CMD_TGT_SEARCH_AND_DELETE, 70, 1, 0, true));
  auto event = next();
  EXPECT_EQ(event.event_type, C_EVENT_PUT_OVERFLOW);
  EXPECT_EQ(event.buffer_id, 70);
  EXPECT_EQ(event.rlength, 11u);
  EXPECT_FALSE(b.target_eq.next());
  tell(search(C_CMD_TGT_SEARCH_AND_DELETE, 71, 1, 0, true));
  EXPECT_EQ(next().return_code, C_RC_NO_MATCH);
  tell(search(C_CMD_TGT_SEARCH_AND_DELETE, 72, 0, ~uint64_t{0}, false));
  EXPECT_EQ(next().rlength, 10u);
  EXPECT_EQ(next().rlength, 12u);
  event = next();
  EXPECT_EQ(event.event_type, C_EVENT_SEARCH);
  EXPECT_EQ(event.return_code, C_RC_NO_MATCH);
}

TEST_F(Unexpected, UnlinkAlwaysAnswers) {
  tell(receive(60, 1));
  auto unlink = append_cmd(pte, C_PTL_LIST_PRIORITY, 60);
  unlink.command.opcode = C_CMD_TGT_UNLINK;
  tell(unlink);
  auto event = next();
  EXPECT_EQ(event.event_type, C_EVENT_UNLINK);
  EXPECT_EQ(b.target_eq.last_size, 64u);
  EXPECT_EQ(event.return_code, C_RC_OK);
  EXPECT_EQ(event.buffer_id, 60);
  EXPECT_FALSE(event.auto_unlinked);
  tell(unlink);
  EXPECT_EQ(next().return_code, C_RC_ENTRY_NOT_FOUND);
  send(put(1, 8));
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_ENTRY_NOT_FOUND);
}

TEST_F(Unexpected, UseOnceWithAllEventsTellsLinkUnlinkThenPut) {
  auto entry = receive(60, 1);
  entry.event_link_disable = entry.event_unlink_disable = 0;
  tell(entry);
  send(put(1, 8));
  EXPECT_EQ(next().event_type, C_EVENT_LINK);
  const auto unlinked = next();
  EXPECT_EQ(unlinked.event_type, C_EVENT_UNLINK);
  EXPECT_TRUE(unlinked.auto_unlinked);
  const auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(b.target_eq.last_size, 32u);
  EXPECT_EQ(event->tgt_short.event_type, C_EVENT_PUT);
  EXPECT_FALSE(event->tgt_short.auto_unlinked);
}

TEST_F(Unexpected, LocallyManagedBuffersFillUpAndUnlinkBelowMinFree) {
  auto entry = b.buffer(pte, C_PTL_LIST_PRIORITY, 60, 4096, 100);
  entry.manage_local = 1;
  entry.min_free = 30;
  tell(entry);
  auto command = put(1, 40);
  command.remote_offset = 77;  // plays no part in where it goes
  a.fill(0, 40, 1);
  send(command);
  EXPECT_FALSE(b.target_eq.next()->tgt_short.auto_unlinked);
  EXPECT_EQ(b.text(4096, 40), a.text(0, 40));
  command = put(1, 31, 2048);
  a.fill(2048, 31, 9);
  send(command);
  EXPECT_TRUE(b.target_eq.next()->tgt_short.auto_unlinked) << "29 bytes are left";
  EXPECT_EQ(b.text(4096 + 40, 31), a.text(2048, 31));
  send(put(1, 1));
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_OK);
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_OK);
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_ENTRY_NOT_FOUND);
}

TEST_F(Unexpected, MatchEventsComeBeforeTheData) {
  const unsigned other =
      b.add_pte(pid, 9, {.matching = true, .long_events = true, .event_match = true});
  b.target.push(b.buffer(other, C_PTL_LIST_PRIORITY, 1, 0, 4 << 20));
  go(b.target);
  send(a.put(dfa(2, pid, 9), 9, 0, 2 << 20));
  EXPECT_EQ(next().event_type, C_EVENT_MATCH);
  EXPECT_EQ(next().event_type, C_EVENT_PUT);
}

TEST_F(Unexpected, InvalidationCutsOffWhatIsStillArriving) {
  auto entry = b.buffer(pte, C_PTL_LIST_PRIORITY, 60, 0, 4 << 20);
  tell(entry);
  a.tx.push(put(1, 4 << 20));
  go(a.tx);
  a.device->step();
  b.device->step();
  EXPECT_EQ(b.device->invalidate_le(pte, C_PTL_LIST_PRIORITY, 61), 0);
  EXPECT_FALSE(b.target_eq.next());
  EXPECT_EQ(b.device->invalidate_le(pte, C_PTL_LIST_PRIORITY, 60), 0);
  next();
  EXPECT_EQ(b.target_eq.last_code, C_RC_MST_CANCELLED);
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_MST_CANCELLED);
  EXPECT_FALSE(b.target_eq.next());
}

TEST_F(Unexpected, ResettingTheListsTakesEverythingWithoutEvents) {
  overflow(50);
  send(put(1, 10));
  next();
  tell(receive(60, 2));
  b.device->reset_lists(pte);
  EXPECT_EQ(b.device->query_pte(pte).value.les_allocated, 0u);
  EXPECT_EQ(b.device->unexpected_offsets(pte, {}), 0u);
  EXPECT_FALSE(b.target_eq.next());
}

class Rendezvous : public Unexpected {
 protected:
  static constexpr uint64_t source_at = 4096;
  void SetUp() override {
    Unexpected::SetUp();
    a.init_eq.ack();
    source = a.add_pte(9, 255, {.matching = true, .long_events = true});
    auto le = a.buffer(source, C_PTL_LIST_PRIORITY, 90, 0, 4 << 20);
    le.op_put = 0;
    le.op_get = 1;
    a.target.push(le);
    go(a.target);
    a.fill(source_at, length, 6);
    // Nothing may force short events: a short one has no room for a rendezvous.
    b.device->destroy_pte(pte);
    pte = b.add_pte(pid, index, {.matching = true, .long_events = true});
    run();
  }
  c_full_dma_cmd rendezvous() {
    auto command = put(0xabcd000000000011, length, source_at);
    command.command.opcode = C_CMD_RENDEZVOUS_PUT;
    command.eager_length = eager;
    command.rendezvous_id = 0x5a;
    command.use_offset_for_get = 1;
    command.remote_offset = source_at;
    const uint32_t initiator = 9u << 23 | 1;
    std::memcpy(&command.initiator, &initiator, 4);
    return command;
  }
  static constexpr uint32_t length = 700000, eager = 2048;
  unsigned source = 0;
};

TEST_F(Rendezvous, ExpectedMessagesAreFetchedByTheNic) {
  tell(receive(60, 0xabcd000000000011));
  send(rendezvous());
  EXPECT_EQ(a.text(source_at, length), b.text(1 << 20, length));
  std::map<unsigned, c_event_target_long> events;
  c_event_initiator_short reply{};
  while (const auto event = b.target_eq.next()) {
    if (event->hdr.event_type == C_EVENT_REPLY)
      reply = event->init_short;
    else
      events[event->hdr.event_type] = event->tgt_long;
  }
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[C_EVENT_PUT].mlength, eager);
  EXPECT_EQ(events[C_EVENT_PUT].rlength, length);
  EXPECT_TRUE(events[C_EVENT_PUT].rendezvous);
  EXPECT_TRUE(events[C_EVENT_PUT].get_issued);
  EXPECT_EQ(events[C_EVENT_PUT].rendezvous_id, 0x5a);
  const auto& r = events[C_EVENT_RENDEZVOUS];
  uint32_t get_target;
  std::memcpy(&get_target, &r.initiator, 4);
  EXPECT_EQ(get_target, dfa(1, 9, 255));
  EXPECT_EQ(r.start, b.iova((1 << 20) + eager));
  EXPECT_EQ(r.remote_offset, source_at + eager);
  EXPECT_EQ(r.match_bits, 0xabcd000000000f5aull);
  EXPECT_EQ(reply.return_code, C_RC_OK);
  EXPECT_TRUE(reply.rendezvous);
  EXPECT_EQ(reply.mlength, length - eager);
  cxi_rdzv_user_ptr user;
  user.raw = reply.user_ptr;
  EXPECT_EQ(user.src_nid, 1u);
  EXPECT_EQ(user.src_pid, 9u);
  EXPECT_EQ(user.ptlte_index, pte);
  EXPECT_EQ(user.rendezvous_id, 0x5a);
  EXPECT_EQ(user.buffer_id, 60);
  // At the source: the answer, and the get that says that the buffer is free.
  EXPECT_EQ(a.init_eq.next()->init_short.event_type, C_EVENT_ACK);
  const auto got = a.target_eq.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->tgt_long.event_type, C_EVENT_GET);
  EXPECT_EQ(got->tgt_long.buffer_id, 90);
  EXPECT_EQ(got->tgt_long.mlength, length - eager);
}

TEST_F(Rendezvous, UnexpectedMessagesAreFetchedWhenTheyAreClaimed) {
  overflow(50, 3 << 20, 65536);
  send(rendezvous());
  EXPECT_EQ(ack_list(), C_PTL_LIST_OVERFLOW);
  EXPECT_EQ(next().mlength, eager);
  EXPECT_FALSE(a.target_eq.next());
  tell(receive(60, 0xabcd000000000011));
  EXPECT_EQ(next().event_type, C_EVENT_PUT_OVERFLOW);
  const auto event = next();
  EXPECT_EQ(event.event_type, C_EVENT_RENDEZVOUS);
  EXPECT_EQ(event.start, b.iova((1 << 20) + eager));
  EXPECT_EQ(b.target_eq.next()->init_short.event_type, C_EVENT_REPLY);
  EXPECT_EQ(a.text(source_at, eager), b.text(3 << 20, eager));
  EXPECT_EQ(a.text(source_at + eager, length - eager), b.text((1 << 20) + eager, length - eager));
}

TEST_F(Rendezvous, ABufferThatIsTooShortGetsWhatFits) {
  auto entry = receive(60, 0xabcd000000000011);
  entry.length = 10000;
  tell(entry);
  send(rendezvous());
  EXPECT_EQ(a.text(source_at, 10000), b.text(1 << 20, 10000));
  EXPECT_NE(a.text(source_at + 10000, 64), b.text((1 << 20) + 10000, 64));
}

TEST_F(Rendezvous, AMessageThatIsWholeInItsEagerPartIsFetchedAllTheSame) {
  tell(receive(60, 0xabcd000000000011));
  auto command = rendezvous();
  command.request_len = command.eager_length = 500;
  send(command);
  EXPECT_EQ(a.text(source_at, 500), b.text(1 << 20, 500));
  std::vector<unsigned> types;
  while (const auto event = b.target_eq.next()) {
    types.push_back(event->hdr.event_type);
    if (event->hdr.event_type == C_EVENT_REPLY) {
      EXPECT_EQ(event->init_short.mlength, 0u);
    }
  }
  EXPECT_THAT(types,
              ::testing::UnorderedElementsAre(C_EVENT_PUT, C_EVENT_RENDEZVOUS, C_EVENT_REPLY));
  EXPECT_EQ(a.target_eq.next()->tgt_long.event_type, C_EVENT_GET);
}

TEST_F(Rendezvous, SearchAndDeleteLeavesTheFetchingToSoftware) {
  overflow(50, 3 << 20, 65536);
  send(rendezvous());
  next();
  tell(search(C_CMD_TGT_SEARCH_AND_DELETE, 61, 0, ~uint64_t{0}, true));
  const auto event = next();
  EXPECT_EQ(event.event_type, C_EVENT_PUT_OVERFLOW);
  EXPECT_TRUE(event.rendezvous);
  EXPECT_EQ(event.rendezvous_id, 0x5a);
  EXPECT_EQ(event.mlength, eager);
  EXPECT_EQ(event.rlength, length);
  EXPECT_FALSE(b.target_eq.next()) << "no RENDEZVOUS";
  EXPECT_FALSE(a.target_eq.next()) << "no GET";
}

TEST_F(Rendezvous, ANicThatDoesNotFetchSaysSo) {
  Node c(3, *fabric, clock, trace, 1'000'000'000, true, false);
  const unsigned entry = c.add_pte(pid, index, {.matching = true, .long_events = true});
  c.target.push(c.buffer(entry, C_PTL_LIST_PRIORITY, 60, 1 << 20, 1 << 20));
  go(c.target);
  auto command = rendezvous();
  const uint32_t to = dfa(3, pid, index);
  std::memcpy(&command.dfa, &to, 4);
  c.device->step();
  a.tx.push(command);
  go(a.tx);
  for (int i = 0; i < 10; i++) {
    a.device->step();
    c.device->step();
  }
  unsigned events = 0;
  while (const auto event = c.target_eq.next()) {
    events++;
    EXPECT_FALSE(event->tgt_long.get_issued) << unsigned{event->hdr.event_type};
  }
  EXPECT_EQ(events, 2u) << "PUT and RENDEZVOUS, no REPLY";
  EXPECT_FALSE(a.target_eq.next());
  EXPECT_EQ(a.text(source_at, eager), c.text(1 << 20, eager));
  EXPECT_NE(a.text(source_at + eager, 64), c.text((1 << 20) + eager, 64));
}

TEST_F(Unexpected, AMessageThatIsTooLongUsesUpAUseOnceEntryAllTheSame) {
  auto entry = receive(60, 1);
  entry.length = 50;
  tell(entry);
  send(put(1, 80));
  const auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_short.length, 50u);
  EXPECT_TRUE(event->tgt_short.auto_unlinked);
  const auto ack = a.init_eq.next();
  EXPECT_EQ(ack->init_short.return_code, C_RC_OK) << "truncation is no error";
  EXPECT_EQ(ack->init_short.mlength, 50u);
  EXPECT_EQ(b.device->query_pte(pte).value.les_allocated, 0u);
}

TEST_F(Unexpected, AnEntryThatClearsOffsetsPlacesEverythingAtTheStart) {
  const unsigned other =
      b.add_pte(pid, 9, {.matching = true, .long_events = true, .clear_remote_offset = true});
  b.target.push(b.buffer(other, C_PTL_LIST_PRIORITY, 1, 4096, 100));
  go(b.target);
  a.fill(0, 8, 3);
  auto command = a.put(dfa(2, pid, 9), 9, 0, 8);
  command.remote_offset = 5000;
  send(command);
  EXPECT_EQ(next().start, b.iova(4096));
  EXPECT_EQ(b.text(4096, 8), a.text(0, 8));
}

TEST_F(Unexpected, AlignedLocalManagementBeginsEachMessageAtACacheLine) {
  const unsigned other =
      b.add_pte(pid, 9, {.matching = true, .long_events = true, .align_lm = true});
  auto entry = b.buffer(other, C_PTL_LIST_PRIORITY, 1, 4096, 200);
  entry.manage_local = 1;
  tell(entry);
  const uint64_t first = b.iova(4096);
  for (const uint64_t expected : {first, (first + 10 + 63) / 64 * 64}) {
    send(a.put(dfa(2, pid, 9), 9, 0, 10));
    EXPECT_EQ(next().start, expected);
  }
}

TEST_F(Unexpected, EntriesOfLogicalPortalsMatchByRank) {
  const unsigned other =
      b.add_pte(pid, 9, {.matching = true, .long_events = true, .logical = true});
  auto entry = b.buffer(other, C_PTL_LIST_PRIORITY, 1, 4096, 100);
  const uint32_t rank = 0x712345;  // more bits than a NID has
  const uint32_t id = 511u << 23 | rank;
  std::memcpy(&entry.match_id, &id, 4);
  tell(entry);
  auto command = a.put(dfa(2, pid, 9), 9, 0, 10);
  for (const uint32_t sender : {77u << 23 | 0x12345u, 77u << 23 | rank}) {
    std::memcpy(&command.initiator, &sender, 4);
    send(command);
  }
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_ENTRY_NOT_FOUND);
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_OK);
  uint32_t told;
  const auto event = next();
  std::memcpy(&told, &event.initiator, 4);
  EXPECT_EQ(told, 77u << 23 | rank) << "as it was sent";
}

TEST_F(Unexpected, SearchesThatFindNothingSaySo) {
  for (const unsigned opcode : {C_CMD_TGT_SEARCH, C_CMD_TGT_SEARCH_AND_DELETE}) {
    for (const bool once : {true, false}) {
      tell(search(opcode, 61, 5, 0, once));
      const auto event = next();
      EXPECT_EQ(event.event_type, C_EVENT_SEARCH);
      EXPECT_EQ(event.return_code, C_RC_NO_MATCH);
      EXPECT_EQ(event.buffer_id, 61);
      EXPECT_EQ(b.target_eq.last_size, 64u);
      EXPECT_FALSE(b.target_eq.next());
    }
  }
}

TEST_F(Unexpected, EntriesThatMatchNothingLookAtLengthsWhenTheCacheIsFull) {
  std::vector<unsigned> cached;
  for (int i = 0; i < 256; i++)
    cached.push_back(b.device->create_pte(b.rgid, {.eqn = b.target_eq.eqn}).value);
  const unsigned last = b.add_pte(pid, 20, {.matching = false});
  ASSERT_EQ(b.device->map_portal(cached[0], default_vni, pid, 21), 0);
  ASSERT_EQ(b.device->set_pte_state(cached[0], PteState::enabled, 0), 0);
  for (const unsigned entry : {last, cached[0]})
    b.target.push(b.buffer(entry, C_PTL_LIST_PRIORITY, 1, 4096, 100));
  go(b.target);
  for (const unsigned place : {20u, 21u})
    send(a.put(dfa(2, pid, place), place, 0, 101));
  const auto looked = a.init_eq.next();
  EXPECT_EQ(looked->init_short.return_code, C_RC_OK);
  EXPECT_EQ(looked->init_short.mlength, 100u);
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_NO_SPACE);
}

TEST_F(Rendezvous, TheOffsetForTheGetDoesNotKeepAMessageFromABufferThatHoldsIt) {
  overflow(50, 3 << 20, 65536);
  send(rendezvous());
  next();
  auto entry = receive(60, 0xabcd000000000011);
  entry.no_truncate = 1;
  entry.length = length;
  tell(entry);
  EXPECT_EQ(next().event_type, C_EVENT_PUT_OVERFLOW);
  EXPECT_EQ(next().event_type, C_EVENT_RENDEZVOUS);
}

TEST_F(Unexpected, AnEntryThatClearsOffsetsDoesSoForUnexpectedMessagesToo) {
  b.device->destroy_pte(pte);
  pte = b.add_pte(pid, index, {.matching = true, .clear_remote_offset = true});
  overflow(50);
  auto command = put(7, 100);
  command.remote_offset = 1000;
  send(command);
  next();
  auto entry = receive(60, 7);
  entry.no_truncate = 1;
  entry.length = 100;
  tell(entry);
  EXPECT_EQ(next().event_type, C_EVENT_PUT_OVERFLOW);
}

// What has been asked for by a rendezvous when its buffer goes.
class RendezvousUnderWay : public Rendezvous {
 protected:
  void SetUp() override {
    Rendezvous::SetUp();
    auto entry = receive(60, 0xabcd000000000011);
    entry.use_once = 0;
    tell(entry);
    a.tx.push(rendezvous());
    go(a.tx);
    a.device->step();
    b.device->step();  // PUT, RENDEZVOUS, and the get is out
    next();
    next();
  }
  std::string rest() { return b.text((1 << 20) + eager, length - eager); }
};

TEST_F(RendezvousUnderWay, IsCutOffByAnInvalidation) {
  const std::string before = rest();
  EXPECT_EQ(b.device->invalidate_le(pte, C_PTL_LIST_PRIORITY, 61), 0);
  EXPECT_FALSE(b.target_eq.next());
  EXPECT_EQ(b.device->invalidate_le(pte, C_PTL_LIST_PRIORITY, 60), 0);
  const auto reply = b.target_eq.next();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->init_short.event_type, C_EVENT_REPLY);
  EXPECT_TRUE(reply->init_short.rendezvous);
  EXPECT_EQ(reply->init_short.return_code, C_RC_MST_CANCELLED);
  run();
  EXPECT_EQ(rest(), before);
  EXPECT_FALSE(b.target_eq.next());
}

TEST_F(RendezvousUnderWay, EndsWithTheListsAndTellsNobody) {
  const std::string before = rest();
  b.device->reset_lists(pte);
  run();
  EXPECT_EQ(rest(), before);
  EXPECT_FALSE(b.target_eq.next());
}

TEST_F(RendezvousUnderWay, IsCompletedThoughItsEntryIsUnlinked) {
  auto unlink = append_cmd(pte, C_PTL_LIST_PRIORITY, 60);
  unlink.command.opcode = C_CMD_TGT_UNLINK;
  b.target.push(unlink);
  go(b.target);
  run();
  std::vector<std::pair<unsigned, unsigned>> events;
  while (const auto event = b.target_eq.next())
    events.emplace_back(event->hdr.event_type, b.target_eq.last_code);
  EXPECT_THAT(events, ::testing::UnorderedElementsAre(std::pair(C_EVENT_UNLINK, C_RC_OK),
                                                      std::pair(C_EVENT_REPLY, C_RC_OK)));
  EXPECT_EQ(rest(), a.text(source_at + eager, length - eager));
}

}  // namespace
}  // namespace sim::nic::testing
