// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// States of a portal entry, and the transitions that the NIC makes by itself.
#include <cerrno>

#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class FlowControl : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 3;
  c_full_dma_cmd put() { return a.put(dfa(2, pid, index), index, 0, 8); }
  unsigned send() {
    a.tx.push(put());
    go(a.tx);
    run();
    const auto event = a.init_eq.next();
    a.init_eq.ack();
    EXPECT_TRUE(event);
    return event ? event->init_short.return_code : 0u;
  }
  c_event_target_long target_event() {
    const auto event = b.target_eq.next();
    EXPECT_TRUE(event);
    return event ? event->tgt_long : c_event_target_long{};
  }
  void expect_state_change(unsigned state, unsigned reason, bool by_nic, unsigned code = C_RC_OK) {
    const auto event = target_event();
    EXPECT_EQ(event.event_type, C_EVENT_STATE_CHANGE);
    EXPECT_EQ(b.target_eq.last_size, 64u);
    EXPECT_EQ(event.initiator.state_change.ptlte_state, state);
    EXPECT_EQ(event.initiator.state_change.sc_reason, reason);
    EXPECT_EQ(event.initiator.state_change.sc_nic_auto, by_nic);
    EXPECT_EQ(event.return_code, code);
  }
  void set_state(unsigned pte, unsigned state, unsigned drop_count) {
    b.target.push(set_state_cmd(pte, state, drop_count));
    go(b.target);
    run();
  }
};

TEST_F(FlowControl, SetstateIsAnsweredByAnEventOf64Bytes) {
  const unsigned pte = b.device->create_pte(b.rgid, {.eqn = b.target_eq.eqn}).value;
  set_state(pte, C_PTLTE_ENABLED, 0);
  expect_state_change(C_PTLTE_ENABLED, 0, false);
  set_state(pte, C_PTLTE_DISABLED, 0);
  expect_state_change(C_PTLTE_DISABLED, 0, false);
}

TEST_F(FlowControl, AWrongDropCountChangesNothing) {
  const unsigned pte = b.add_pte(pid, index);
  set_state(pte, C_PTLTE_DISABLED, 0);
  expect_state_change(C_PTLTE_DISABLED, 0, false);
  EXPECT_EQ(send(), C_RC_PT_DISABLED);
  set_state(pte, C_PTLTE_ENABLED, 0);
  expect_state_change(C_PTLTE_DISABLED, 0, false, C_RC_NO_MATCH);
  EXPECT_EQ(b.device->query_pte(pte).value.drop_count, 1u);
  set_state(pte, C_PTLTE_ENABLED, 1);
  expect_state_change(C_PTLTE_ENABLED, 0, false);
  EXPECT_EQ(b.device->query_pte(pte).value.drop_count, 0u);
}

TEST_F(FlowControl, NoMatchDisablesTheEntryAndCountsTheCulprit) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .flow_control = true});
  EXPECT_EQ(send(), C_RC_PT_DISABLED);
  expect_state_change(C_PTLTE_DISABLED, C_SC_FC_NO_MATCH, true);
  EXPECT_EQ(send(), C_RC_PT_DISABLED);
  EXPECT_EQ(b.device->query_pte(pte).value.drop_count, 2u);
}

TEST_F(FlowControl, Cassini1DoesNotCountTheCulprit) {
  Node old(3, *fabric, clock, trace, 1'000'000'000, false);
  const unsigned pte = old.add_pte(pid, index, {.matching = true, .flow_control = true});
  for (int i = 0; i < 2; i++) {
    a.tx.push(a.put(dfa(3, pid, index), index, 0, 8));
    go(a.tx);
    for (int n = 0; n < 10; n++) {
      a.device->step();
      old.device->step();
    }
  }
  EXPECT_EQ(old.device->query_pte(pte).value.drop_count, 1u);
}

TEST_F(FlowControl, AFullEventQueueDisablesTheEntry) {
  EventReader small(64);
  b.add_eq(small, {.reserved_slots = 61});
  const unsigned pte = b.add_pte(
      pid, index, {.eqn = small.eqn, .matching = true, .flow_control = true, .long_events = true});
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 100));
  go(b.target);
  EXPECT_EQ(send(), C_RC_OK);
  EXPECT_EQ(send(), C_RC_PT_DISABLED);
  EXPECT_EQ(small.next()->tgt_long.event_type, C_EVENT_PUT);
  const auto event = small.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_long.initiator.state_change.sc_reason, C_SC_FC_EQ_FULL);
}

TEST_F(FlowControl, SoftwareManagedEntriesTakeRawMessages) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .flow_control = true});
  auto request = b.buffer(pte, C_PTL_LIST_REQUEST, 9, 0, 4096);
  request.manage_local = 1;
  b.target.push(request);
  go(b.target);
  run();
  ASSERT_EQ(b.device->set_pte_state(pte, PteState::disabled, 0), 0);
  EXPECT_EQ(b.device->set_pte_state(pte, PteState::software_managed, 5), EAGAIN);
  EXPECT_EQ(b.device->set_pte_state(pte, PteState::software_managed, 0), 0);
  EXPECT_EQ(b.device->set_pte_state(pte, PteState::software_managed, 0), 0) << "already";
  a.fill(0, 8, 4);
  auto command = put();
  command.match_bits = 0x4242;
  command.remote_offset = 0x33;
  a.tx.push(command);
  go(a.tx);
  run();
  const auto ack = a.init_eq.next();
  EXPECT_EQ(ack->init_short.return_code, C_RC_OK);
  EXPECT_EQ(ack->init_short.ptl_list, C_PTL_LIST_REQUEST);
  EXPECT_EQ(ack->init_short.mlength, 8u);
  const auto event = target_event();
  EXPECT_EQ(event.ptl_list, C_PTL_LIST_REQUEST);
  EXPECT_EQ(event.mlength, 63u + 8) << "fabric and request header, then the payload";
  EXPECT_EQ(event.rlength, 8u);
  c_port_fab_hdr fab;
  std::memcpy(&fab, b.memory->at(0), sizeof(fab));
  EXPECT_EQ(fab.ver, 4u);
  EXPECT_EQ(fab.vni, default_vni);
  c_port_unrestricted_hdr header;
  std::memcpy(&header, b.memory->at(sizeof(fab)), sizeof(header));
  EXPECT_EQ(header.match_bits, 0x4242u);
  EXPECT_EQ(header.remote_offset, 0x33u);
  EXPECT_EQ(header.request_len, 8u);
  EXPECT_EQ(b.text(63, 8), a.text(0, 8));
}

TEST_F(FlowControl, AppendsToASoftwareManagedEntryAreAnsweredSo) {
  const unsigned pte = b.add_pte(pid, index);
  ASSERT_EQ(b.device->set_pte_state(pte, PteState::disabled, 0), 0);
  ASSERT_EQ(b.device->set_pte_state(pte, PteState::software_managed, 0), 0);
  b.target.push(append_cmd(pte, C_PTL_LIST_PRIORITY, 8));
  go(b.target);
  run();
  const auto event = target_event();
  EXPECT_EQ(event.event_type, C_EVENT_LINK);
  EXPECT_EQ(event.return_code, C_RC_PTLTE_SW_MANAGED);
  EXPECT_EQ(event.buffer_id, 8);
}

TEST_F(FlowControl, WithoutAMatchARequestEntryTakesTheMessageAndTheEntryIsSoftwareManaged) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .flow_control = true});
  auto request = b.buffer(pte, C_PTL_LIST_REQUEST, 9, 0, 4096);
  request.manage_local = 1;
  b.target.push(request);
  go(b.target);
  EXPECT_EQ(send(), C_RC_OK);
  expect_state_change(C_PTLTE_SOFTWARE_MANAGED, C_SC_SM_UNEXPECTED_FAIL, true);
  EXPECT_EQ(target_event().ptl_list, C_PTL_LIST_REQUEST);
  EXPECT_EQ(b.device->query_pte(pte).value.state, PteState::software_managed);
}

TEST_F(FlowControl, AnExhaustedRequestListDisables) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .flow_control = true});
  ASSERT_EQ(b.device->set_pte_state(pte, PteState::disabled, 0), 0);
  ASSERT_EQ(b.device->set_pte_state(pte, PteState::software_managed, 0), 0);
  EXPECT_EQ(send(), C_RC_PT_DISABLED);
  expect_state_change(C_PTLTE_DISABLED, C_SC_FC_REQUEST_FULL, true);
}

TEST_F(FlowControl, AfterAFailedAppendNothingIsAppendedUntilTheSequenceRestarts) {
  const unsigned pte = b.add_pte(pid, index);
  ListEntry filler;
  filler.list = C_PTL_LIST_PRIORITY;
  while (b.device->append(pte, filler) == 0) {
  }
  EXPECT_EQ(b.device->append(pte, filler), ENOSPC);
  b.target.push(append_cmd(pte, C_PTL_LIST_PRIORITY, 1));
  go(b.target);
  run();
  auto event = target_event();
  EXPECT_EQ(event.event_type, C_EVENT_LINK);
  EXPECT_EQ(event.return_code, C_RC_NO_SPACE);
  EXPECT_EQ(event.lpe_stat_1, 16384);
  auto unlink = append_cmd(pte, C_PTL_LIST_PRIORITY, 0);
  unlink.command.opcode = C_CMD_TGT_UNLINK;
  for (int i = 0; i < 3; i++)
    b.target.push(unlink);
  b.target.push(append_cmd(pte, C_PTL_LIST_PRIORITY, 2));
  auto restart = append_cmd(pte, C_PTL_LIST_PRIORITY, 3);
  restart.restart_seq = 1;
  restart.event_link_disable = 0;
  b.target.push(restart);
  go(b.target);
  run();
  for (int i = 0; i < 3; i++)
    EXPECT_EQ(target_event().event_type, C_EVENT_UNLINK);
  event = target_event();
  EXPECT_EQ(event.buffer_id, 2);
  EXPECT_EQ(event.return_code, C_RC_NO_SPACE) << "there is room again, but the order would be lost";
  event = target_event();
  EXPECT_EQ(event.buffer_id, 3);
  EXPECT_EQ(event.return_code, C_RC_OK);
}

TEST_F(FlowControl, LosslessEntriesLetMessagesWaitInOrder) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .lossless = true});
  for (uint64_t i = 0; i < 3; i++) {
    auto command = put();
    command.match_bits = i;
    a.tx.push(command);
  }
  auto big = a.put(dfa(2, pid, index), index, 0, 1 << 20);
  big.match_bits = 3;
  a.tx.push(big);
  go(a.tx);
  run();
  EXPECT_FALSE(a.init_eq.next());
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 2 << 20));
  go(b.target);
  run();
  for (uint64_t i = 0; i < 4; i++) {
    const auto event = b.target_eq.next();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->tgt_short.match_bits, i);
    EXPECT_TRUE(a.init_eq.next());
  }
}

// All list entries of a processing element are in use, the last ones by `pte`.
class WithoutListEntries : public FlowControl {
 protected:
  void make(PteConfig config, std::initializer_list<unsigned> lists) {
    config.matching = true;
    config.long_events = true;
    pte = b.add_pte(pid, index, config);
    unsigned id = 40;
    for (const unsigned list : lists) {
      auto entry = b.buffer(pte, list, id++, 4096, 1 << 20);
      entry.manage_local = 1;
      b.target.push(entry);
    }
    go(b.target);
    run();
    ListEntry filler;  // that matches nothing
    filler.match_bits = 0x777;
    while (b.device->append(pte, filler) == 0) {
    }
  }
  unsigned pte = 0;
};

TEST_F(WithoutListEntries, AnUnexpectedMessageHasNoHeaderAndDisablesTheEntry) {
  make({.flow_control = true}, {C_PTL_LIST_OVERFLOW});
  EXPECT_EQ(send(), C_RC_PT_DISABLED);
  expect_state_change(C_PTLTE_DISABLED, C_SC_FC_UNEXPECTED_FAIL, true);
  EXPECT_FALSE(b.target_eq.next());
  EXPECT_EQ(b.device->unexpected_offsets(pte, {}), 0u);
}

TEST_F(WithoutListEntries, WithoutFlowControlTheMessageAloneFails) {
  make({}, {C_PTL_LIST_OVERFLOW});
  EXPECT_EQ(send(), C_RC_ENTRY_NOT_FOUND);
  EXPECT_FALSE(b.target_eq.next());
  EXPECT_EQ(b.device->query_pte(pte).value.state, PteState::enabled);
}

TEST_F(WithoutListEntries, ARequestEntryTakesTheMessageAndTheEntryIsSoftwareManaged) {
  make({.flow_control = true}, {C_PTL_LIST_OVERFLOW, C_PTL_LIST_REQUEST});
  EXPECT_EQ(send(), C_RC_OK);
  expect_state_change(C_PTLTE_SOFTWARE_MANAGED, C_SC_SM_UNEXPECTED_FAIL, true);
  const auto event = target_event();
  EXPECT_EQ(event.event_type, C_EVENT_PUT);
  EXPECT_EQ(event.ptl_list, C_PTL_LIST_REQUEST);
  EXPECT_EQ(event.buffer_id, 41);
}

TEST_F(WithoutListEntries, AnAppendMakesTheEntrySoftwareManagedWhenThereAreRequestEntries) {
  make({.flow_control = true}, {C_PTL_LIST_REQUEST});
  for (int i = 0; i < 2; i++)
    b.target.push(append_cmd(pte, C_PTL_LIST_PRIORITY, 7 + static_cast<unsigned>(i)));
  go(b.target);
  run();
  expect_state_change(C_PTLTE_SOFTWARE_MANAGED, C_SC_SM_APPEND_FAIL, true);
  for (unsigned id = 7; id < 9; id++) {
    const auto event = target_event();
    EXPECT_EQ(event.event_type, C_EVENT_LINK);
    EXPECT_EQ(event.buffer_id, id);
    EXPECT_EQ(event.return_code, C_RC_PTLTE_SW_MANAGED);
  }
}

TEST_F(FlowControl, ADisabledEntryTakesAppendsAndAnswersSearchesAndUnlinks) {
  const unsigned pte =
      b.device->create_pte(b.rgid, {.eqn = b.target_eq.eqn, .matching = true}).value;
  auto append = append_cmd(pte, C_PTL_LIST_PRIORITY, 8);
  append.event_link_disable = 0;
  b.target.push(append);
  auto search = append_cmd(pte, C_PTL_LIST_PRIORITY, 9);
  search.command.opcode = C_CMD_TGT_SEARCH;
  b.target.push(search);
  auto unlink = append_cmd(pte, C_PTL_LIST_PRIORITY, 8);
  unlink.command.opcode = C_CMD_TGT_UNLINK;
  b.target.push(unlink);
  go(b.target);
  run();
  auto event = target_event();
  EXPECT_EQ(event.event_type, C_EVENT_LINK);
  EXPECT_EQ(event.return_code, C_RC_OK);
  event = target_event();
  EXPECT_EQ(event.event_type, C_EVENT_SEARCH);
  EXPECT_EQ(event.return_code, C_RC_NO_MATCH);
  event = target_event();
  EXPECT_EQ(event.event_type, C_EVENT_UNLINK);
  EXPECT_EQ(event.return_code, C_RC_OK);
}

TEST_F(FlowControl, AFullEventQueueDisablesASoftwareManagedEntryToo) {
  EventReader small(64);
  b.add_eq(small, {.reserved_slots = 61});
  const unsigned pte =
      b.add_pte(pid, index, {.eqn = small.eqn, .matching = true, .flow_control = true});
  b.target.push(b.buffer(pte, C_PTL_LIST_REQUEST, 1, 0, 4096));
  go(b.target);
  run();
  ASSERT_EQ(b.device->set_pte_state(pte, PteState::disabled, 0), 0);
  ASSERT_EQ(b.device->set_pte_state(pte, PteState::software_managed, 0), 0);
  EXPECT_EQ(send(), C_RC_OK);
  EXPECT_EQ(send(), C_RC_PT_DISABLED);
  EXPECT_EQ(small.next()->tgt_long.event_type, C_EVENT_PUT);
  const auto event = small.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_long.initiator.state_change.ptlte_state, C_PTLTE_DISABLED);
  EXPECT_EQ(event->tgt_long.initiator.state_change.sc_reason, C_SC_FC_EQ_FULL);
}

TEST_F(FlowControl, MessagesThatWaitAreRefusedWhenTheEntryIsDisabledOrGone) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .lossless = true});
  const auto wait = [&] {
    a.tx.push(put());
    go(a.tx);
    run();
    EXPECT_FALSE(a.init_eq.next());
  };
  wait();
  set_state(pte, C_PTLTE_DISABLED, 0);
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_PT_DISABLED);
  EXPECT_EQ(b.device->query_pte(pte).value.drop_count, 1u);
  set_state(pte, C_PTLTE_ENABLED, 1);
  wait();
  EXPECT_EQ(b.device->set_pte_state(pte, PteState::disabled, 0), 0);
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_PT_DISABLED);
  EXPECT_EQ(b.device->set_pte_state(pte, PteState::enabled, 1), 0);
  wait();
  b.device->unmap_portal(default_vni, pid, index);
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_VNI_NOT_FOUND);
  EXPECT_EQ(b.device->map_portal(pte, default_vni, pid, index), 0);
  wait();
  b.device->destroy_pte(pte);
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_VNI_NOT_FOUND);
}

TEST_F(FlowControl, AGetThatOnlyARequestEntryCouldTakeIsDelayed) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .flow_control = true});
  auto request = b.buffer(pte, C_PTL_LIST_REQUEST, 9, 0, 4096);
  b.target.push(request);
  go(b.target);
  auto get = put();
  get.command.opcode = C_CMD_GET;
  a.tx.push(get);
  go(a.tx);
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_DELAYED);
  EXPECT_EQ(b.device->query_pte(pte).value.state, PteState::enabled);
  EXPECT_FALSE(b.target_eq.next());
}

TEST_F(FlowControl, RequestEntriesAreLocallyManagedByNature) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .flow_control = true});
  auto request = b.buffer(pte, C_PTL_LIST_REQUEST, 9, 0, 100);  // one message of 71, and some
  request.event_unlink_disable = 0;
  request.min_free = 50;
  b.target.push(request);
  go(b.target);
  EXPECT_EQ(send(), C_RC_OK);
  EXPECT_EQ(target_event().event_type, C_EVENT_STATE_CHANGE);
  const auto unlink = target_event();
  EXPECT_EQ(unlink.event_type, C_EVENT_UNLINK);
  EXPECT_TRUE(unlink.auto_unlinked);
  EXPECT_EQ(target_event().event_type, C_EVENT_PUT);
}

TEST_F(FlowControl, TheSenderOfARawMessageLearnsHowMuchOfItWasPlaced) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .flow_control = true});
  b.target.push(b.buffer(pte, C_PTL_LIST_REQUEST, 9, 0, 63 + 100));
  go(b.target);
  auto command = put();
  command.request_len = 300;
  a.tx.push(command);
  go(a.tx);
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.mlength, 100u);
}

}  // namespace
}  // namespace sim::nic::testing
