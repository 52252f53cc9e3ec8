// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What the counters read after known traffic, by their names in telemetry.
#include "nic/statistics.hpp"

#include "ethernet/cassini_telemetry.hpp"
#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class Counters : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 3;

  static uint64_t item(Node& node, std::string_view name) {
    for (const auto& one : cassini::telemetry_items) {
      if (one.name != name) continue;
      const auto word = node.device->read_csr(one.cassini2.offset);
      EXPECT_EQ(word.error, 0) << name;
      return word.value;
    }
    ADD_FAILURE() << "no item " << name;
    return 0;
  }
  void post_buffer(unsigned list = C_PTL_LIST_PRIORITY, PteConfig config = {.matching = true}) {
    pte = b.add_pte(pid, index, config);
    b.target.push(b.buffer(pte, list, 4, 0, 1 << 20));
    go(b.target);
    run();
  }
  void put(uint32_t length, unsigned to_index = index) {
    a.tx.push(a.put(dfa(2, pid, to_index), to_index, 0, length));
    go(a.tx);
    run();
  }
  static std::array<std::byte, 64> padded(const c_ct_cmd& command) {
    std::array<std::byte, 64> bytes{};
    std::memcpy(bytes.data(), &command, sizeof(command));
    return bytes;
  }
  unsigned pte = 0;
};

TEST_F(Counters, AreZeroBeforeAnythingHappens) {
  for (const auto& one : cassini::telemetry_items) {
    if (!one.cassini2.exists()) continue;
    const std::string_view name = one.name;
    if (name.starts_with("lpe_cfg_pe_le_shared")) continue;  // a size, not a count
    const auto word = a.device->read_csr(one.cassini2.offset);
    ASSERT_EQ(word.error, 0) << name;
    const uint64_t mask =
        one.cassini2.width == 64 ? ~uint64_t{0} : (uint64_t{1} << one.cassini2.width) - 1;
    EXPECT_EQ(word.value >> one.cassini2.lsb & mask, 0u) << name;
  }
}

TEST_F(Counters, OfAPutOnBothSides) {
  post_buffer();
  put(100);
  EXPECT_EQ(item(a, "cq_success_tx_cntr"), 1u);
  EXPECT_EQ(item(a, "cq_num_dma_cmds_0"), 1u);
  EXPECT_EQ(item(a, "cq_dma_cmd_counts_1"), 1u);
  EXPECT_EQ(item(a, "oxe_ptl_tx_put_msgs_tsc_3"), 1u);
  EXPECT_EQ(item(a, "oxe_ptl_tx_put_pkts_tsc_3"), 1u);
  EXPECT_EQ(item(a, "pct_req_ordered"), 1u);
  EXPECT_EQ(item(a, "pct_responses_received"), 1u);
  EXPECT_EQ(item(a, "atu_client_req_oxe"), 1u);
  EXPECT_EQ(item(a, "ee_event_ack_cntr"), 1u);
  EXPECT_EQ(item(a, "ee_events_enqueued_cntr_0"), 1u);
  EXPECT_EQ(item(a, "hni_tx_ok_opt"), 1u);
  EXPECT_EQ(item(a, "hni_rx_ok_opt"), 1u);

  EXPECT_EQ(item(b, "cq_success_tgt_cntr"), 1u);
  EXPECT_EQ(item(b, "cq_num_tgt_cmds_0"), 1u);
  EXPECT_EQ(item(b, "lpe_append_cmds_0"), 1u);
  EXPECT_EQ(item(b, "lpe_append_success_0"), 1u);
  EXPECT_EQ(item(b, "ixe_rx_ptl_unrestricted_pkt"), 1u);
  EXPECT_EQ(item(b, "ixe_rx_ptl_msgs"), 1u);
  EXPECT_EQ(item(b, "rmu_ptl_success_cntr"), 1u);
  EXPECT_EQ(item(b, "lpe_put_cmds"), 1u);
  EXPECT_EQ(item(b, "lpe_net_match_requests_0"), 1u);
  EXPECT_EQ(item(b, "lpe_net_match_success_0"), 1u);
  EXPECT_EQ(item(b, "lpe_net_match_priority_0"), 1u);
  EXPECT_EQ(item(b, "lpe_net_match_overflow_0"), 0u);
  EXPECT_EQ(item(b, "lpe_success_cntr"), 2u);  // the append and the put
  EXPECT_EQ(item(b, "lpe_fail_cntr"), 0u);
  EXPECT_EQ(item(b, "ixe_disp_lpe_puts"), 1u);
  EXPECT_EQ(item(b, "ixe_disp_lpe_puts_ok"), 1u);
  EXPECT_EQ(item(b, "pct_ptls_response"), 1u);
  EXPECT_EQ(item(b, "ee_event_put_cntr"), 1u);
  EXPECT_EQ(item(b, "hni_sts_rx_ok_octets"), item(a, "hni_sts_tx_ok_octets"));
  EXPECT_GT(item(b, "hni_sts_rx_ok_octets"), 100u);
}

TEST_F(Counters, CountPacketsOfTheWiresSize) {
  post_buffer();
  put(10 * 2048 + 1);
  EXPECT_EQ(item(a, "pct_req_ordered"), 11u);
  EXPECT_EQ(item(a, "oxe_ptl_tx_put_msgs_tsc_3"), 1u);
  EXPECT_EQ(item(a, "oxe_ptl_tx_put_pkts_tsc_3"), 11u);
  EXPECT_EQ(item(a, "oxe_ptl_tx_mr_msgs"), 1u);
  EXPECT_EQ(item(a, "hni_tx_ok_opt"), 11u);
  EXPECT_EQ(item(a, "hni_tx_ok_2048_to_4095"), 10u);
  EXPECT_EQ(item(b, "hni_rx_ok_2048_to_4095"), 10u);
  EXPECT_EQ(item(b, "ixe_rx_ptl_unrestricted_pkt"), 1u);
  EXPECT_EQ(item(b, "ixe_rx_ptl_continuation_pkt"), 10u);
  EXPECT_EQ(item(b, "ixe_rx_ptl_multi_msgs"), 1u);
  EXPECT_EQ(item(b, "mst_allocations"), 1u);
  EXPECT_EQ(item(b, "mst_requests"), 11u);
}

TEST_F(Counters, TellLookupFailuresApart) {
  post_buffer();
  put(8, index + 1);
  EXPECT_EQ(item(b, "rmu_ptl_no_ptlte_cntr"), 1u);
  EXPECT_EQ(item(b, "rmu_ptl_invld_vni_cntr"), 0u);
  EXPECT_EQ(a.device->set_cp(a.rgid, 1, 77, 3, 0), 0);
  put(8);
  EXPECT_EQ(item(b, "rmu_ptl_invld_vni_cntr"), 1u);
  EXPECT_EQ(item(b, "rmu_ptl_success_cntr"), 0u);
}

TEST_F(Counters, TellRefusalsOfTheListsApart) {
  post_buffer();
  a.tx.push([&] {  // the entry allows puts only
    auto get = a.put(dfa(2, pid, index), index, 0, 8);
    get.command.opcode = C_CMD_GET;
    return get;
  }());
  go(a.tx);
  run();
  EXPECT_EQ(item(b, "lpe_get_cmds"), 1u);
  EXPECT_EQ(item(b, "lpe_err_op_violation"), 1u);
  EXPECT_EQ(item(b, "lpe_fail_cntr"), 1u);
  EXPECT_EQ(item(b, "ixe_disp_lpe_gets"), 1u);
  EXPECT_EQ(item(b, "ixe_disp_lpe_gets_ok"), 0u);

  c_target_cmd unlink = append_cmd(pte, C_PTL_LIST_PRIORITY, 4);
  unlink.command.opcode = C_CMD_TGT_UNLINK;
  b.target.push(unlink);
  b.target.push(unlink);
  go(b.target);
  run();
  EXPECT_EQ(item(b, "lpe_unlink_cmds"), 2u);
  EXPECT_EQ(item(b, "lpe_unlink_success"), 1u);
  EXPECT_EQ(item(b, "lpe_err_entry_not_found_unlink_failed"), 1u);
  put(8);
  EXPECT_EQ(item(b, "lpe_err_entry_not_found_no_match_in_overflow"), 1u);
  EXPECT_EQ(item(b, "lpe_err_pt_disabled_no_match_in_overflow"), 0u);
  c_target_cmd search = append_cmd(pte, C_PTL_LIST_PRIORITY, 9);
  search.command.opcode = C_CMD_TGT_SEARCH;
  b.target.push(search);
  go(b.target);
  run();
  EXPECT_EQ(item(b, "lpe_search_cmds"), 1u);
  EXPECT_EQ(item(b, "lpe_search_fail"), 1u);
  EXPECT_EQ(item(b, "lpe_err_search_no_match"), 1u);
}

TEST_F(Counters, SayWhyFlowControlStopped) {
  pte = b.add_pte(pid, index, {.matching = true, .flow_control = true});
  put(8);
  EXPECT_EQ(item(b, "lpe_err_pt_disabled_no_match_in_overflow"), 1u);
  EXPECT_EQ(item(b, "ee_event_state_change_cntr"), 1u);
  EXPECT_EQ(item(b, "lpe_event_statechange"), 1u);
}

TEST_F(Counters, OfEntriesThatWereLookedAt) {
  pte = b.add_pte(pid, index);
  for (unsigned id = 0; id < 3; id++) {
    c_target_cmd entry = b.buffer(pte, C_PTL_LIST_PRIORITY, id, 0, 64);
    entry.match_bits = id;
    entry.ignore_bits = 0;
    b.target.push(entry);
  }
  go(b.target);
  run();
  auto command = a.put(dfa(2, pid, index), index, 0, 8);
  command.match_bits = 2;
  a.tx.push(command);
  command.match_bits = 0;
  a.tx.push(command);
  go(a.tx);
  run();
  uint64_t attempts = 0, most = 0;
  for (const char element : {'0', '1', '2', '3'}) {
    attempts += item(b, std::string("lpe_sts_net_match_attempts_") + element);
    most += item(b, std::string("lpe_sts_net_max_attempts_max_") + element);
  }
  EXPECT_EQ(attempts, 4u);  // all three, then the first
  EXPECT_EQ(most, 3u);
}

TEST_F(Counters, OfUnexpectedMessages) {
  post_buffer(C_PTL_LIST_OVERFLOW);
  put(8);
  EXPECT_EQ(item(b, "lpe_net_match_overflow_0"), 1u);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 5, 4096, 64));
  go(b.target);
  run();
  EXPECT_EQ(item(b, "lpe_event_put_overflow"), 1u);
  EXPECT_EQ(item(b, "ee_event_put_overflow_cntr"), 1u);
}

TEST_F(Counters, OfBadCommands) {
  c_full_dma_cmd bad = a.put(dfa(2, pid, index), index, 0, 8);
  bad.eq = 2000;
  a.tx.push(bad);
  go(a.tx);
  run();
  EXPECT_EQ(item(a, "cq_fail_tx_cntr"), 1u);
  EXPECT_EQ(item(a, "cq_num_tx_cmd_perm_errors"), 1u);
  EXPECT_EQ(item(a, "cq_success_tx_cntr"), 0u);
  EXPECT_EQ(item(a, "ee_event_command_failure_cntr"), 1u);
  b.target.push(append_cmd(2000, C_PTL_LIST_PRIORITY, 1));
  go(b.target);
  run();
  EXPECT_EQ(item(b, "cq_fail_tgt_cntr"), 1u);
  EXPECT_EQ(item(b, "cq_num_tgt_cmd_perm_errors"), 1u);
}

TEST_F(Counters, OfCountingEventsAndTheirCommands) {
  CommandWriter queue(256, true);
  CmdqConfig config;
  config.triggered = true;
  config.stat_pool = 2;
  EXPECT_EQ(a.device->set_cp(a.rgid, 0, default_vni, 3, 0), 0);
  a.add_cmdq(queue, true, config);
  const unsigned ct = a.device->create_ct(a.rgid, nullptr, 0).value;
  c_ct_cmd inc{};
  inc.command.cmd_type = C_CMD_TYPE_CT;
  inc.command.cmd_size = C_CMD_SIZE_64B;
  inc.command.opcode = C_CMD_CT_INC;
  inc.ct = ct & 0x7ff;
  inc.set_ct_success = 1;
  inc.ct_success = 1;
  queue.push_bytes(padded(inc).data(), 64);
  c_ct_cmd trigger = inc;
  trigger.command.opcode = C_CMD_CT_TRIG_INC;
  trigger.trig_ct = ct & 0x7ff;
  trigger.threshold = 100;
  queue.push_bytes(padded(trigger).data(), 64);
  go(queue);
  run();
  EXPECT_EQ(item(a, "tou_success_cntr"), 2u);
  EXPECT_EQ(item(a, "tou_cq_tou_num_cmds"), 2u);
  EXPECT_EQ(item(a, "tou_num_ct_updates"), 0u) << "these count what messages count";
  EXPECT_EQ(item(a, "tou_ct_cmd_counts_3"), 1u);
  EXPECT_EQ(item(a, "tou_ct_cmd_counts_7"), 1u);
  EXPECT_EQ(item(a, "tou_num_trig_cmds_2"), 1u);
  EXPECT_EQ(item(a, "cq_sts_tle_in_use_0"), 1u);
  EXPECT_EQ(item(a, "cq_success_tx_cntr"), 0u);
}

TEST_F(Counters, OfAPeerThatIsGivenUp) {
  b.device->set_link(false);
  put(8);
  EXPECT_EQ(item(a, "hni_tx_ok_opt"), 0u);
  clock.mono += 2'000'000'000;
  run();
  EXPECT_EQ(item(a, "pct_spt_timeouts"), 1u);
}

TEST_F(Counters, OfMemoryThatCannotBeReached) {
  a.tx.push([&] {
    auto put = a.put(dfa(2, pid, index), index, 0, 8);
    put.lac = (a.map.lac + 1) & 7;
    return put;
  }());
  go(a.tx);
  run();
  EXPECT_EQ(item(a, "oxe_err_invalid_ac"), 1u);
  EXPECT_EQ(item(a, "atu_client_rsp_not_ok_0"), 1u);
}

TEST_F(Counters, OfEventsThatFoundNoRoom) {
  EventReader small(4);
  a.add_eq(small);
  post_buffer();
  auto command = a.put(dfa(2, pid, index), index, 0, 8);
  command.eq = small.eqn & 0x7ff;
  for (int i = 0; i < 40; i++)
    a.tx.push(command);
  go(a.tx);
  run();
  const uint64_t written = item(a, "ee_events_enqueued_cntr_0");
  EXPECT_GT(item(a, "ee_events_dropped_ordinary_cntr_0"), 0u);
  EXPECT_EQ(written + item(a, "ee_events_dropped_ordinary_cntr_0"), 40u);
  EXPECT_EQ(item(a, "ee_event_ack_cntr"), written);
}

TEST_F(Counters, TellDroppedEventsOfAnInitiatorFromThoseOfFlowControl) {
  EventReader small(8);
  a.add_eq(small, {.reserved_slots = 2});  // which initiator events may take, and count as ordinary
  post_buffer();
  auto command = a.put(dfa(2, pid, index), index, 0, 8);
  command.eq = small.eqn & 0x7ff;
  for (int i = 0; i < 40; i++)
    a.tx.push(command);
  go(a.tx);
  run();
  EXPECT_EQ(item(a, "ee_events_dropped_ordinary_cntr_0"), 40u - 6 * 4);
  EXPECT_EQ(item(a, "ee_events_dropped_rsrvn_cntr_0"), 0u);
  EXPECT_EQ(item(a, "ee_eq_status_update_cntr_0"), 40u - 6 * 4) << "each drop is told";
  // A state change by the NIC that finds no room.
  EventReader full(3);
  b.add_eq(full, {.reserved_slots = 1});
  b.add_pte(pid, 9, {.eqn = full.eqn, .matching = true, .flow_control = true});
  put(8, 9);
  EXPECT_EQ(item(b, "ee_events_dropped_fc_sc_cntr_0"), 0u) << "one had";
  b.add_pte(pid, 10, {.eqn = full.eqn, .matching = true, .flow_control = true});
  put(8, 10);
  EXPECT_EQ(item(b, "ee_events_dropped_fc_sc_cntr_0"), 1u);
}

TEST_F(Counters, OfEventsForAQueueThatIsGone) {
  EventReader short_lived(64);
  a.add_eq(short_lived);
  post_buffer();
  auto command = a.put(dfa(2, pid, index), index, 0, 8);
  command.eq = short_lived.eqn & 0x7ff;
  a.tx.push(command);
  go(a.tx);
  a.device->step();
  a.device->destroy_eq(short_lived.eqn);
  run();
  EXPECT_EQ(item(a, "ee_eq_dsabld_event_err_cntr"), 1u);
  EXPECT_EQ(item(a, "ee_event_ack_cntr"), 0u);
}

TEST_F(Counters, OfSwitchesOfARing) {
  EventReader small(4);
  b.add_eq(small);
  const unsigned to_full = b.add_pte(pid, 9, {.eqn = small.eqn, .long_events = true});
  b.target.push(b.buffer(to_full, C_PTL_LIST_PRIORITY, 1, 0, 4096));
  go(b.target);
  put(8, 9);
  put(8, 9);
  ASSERT_EQ(b.device->begin_eq_resize(small.eqn, make_pages(64 * 64)), 0);
  EXPECT_EQ(item(b, "ee_deferred_eq_switch_cntr_0"), 1u);
  EXPECT_EQ(item(b, "ee_eq_buffer_switch_cntr_0"), 0u);
  small.next();
  small.ack();
  run();
  EXPECT_EQ(item(b, "ee_eq_buffer_switch_cntr_0"), 1u);
}

TEST_F(Counters, OfFlushes) {
  post_buffer(C_PTL_LIST_PRIORITY, {.matching = true});
  auto command = a.put(dfa(2, pid, index), index, 0, 8);
  a.fill(0, 8, 5);
  command.flush = 1;
  a.tx.push(command);
  go(a.tx);
  while (!a.init_eq.next()) {
    a.device->step();
    b.device->step();
  }
  EXPECT_EQ(a.text(0, 8), b.text(0, 8)) << "visible when the acknowledgement is";
  EXPECT_EQ(item(b, "ixe_dmawr_flush_reqs"), 1u);
  put(8);
  EXPECT_EQ(item(b, "ixe_dmawr_flush_reqs"), 1u);
}

TEST_F(Counters, OfAtomicsThatTheBusCarriesOut) {
  post_buffer(C_PTL_LIST_PRIORITY, {.matching = true});
  auto both = b.buffer(pte, C_PTL_LIST_PRIORITY, 5, 0, 4096);
  both.op_get = 1;
  both.match_bits = 1;
  both.ignore_bits = 0;
  b.target.push(both);
  go(b.target);
  const auto amo = [&](unsigned opcode, unsigned op, bool flush) {
    auto command = a.amo(opcode, dfa(2, pid, index), index, op, C_AMO_TYPE_UINT32_T, 4);
    command.flush = flush;
    a.tx.push(command);
    go(a.tx);
    run();
  };
  amo(C_CMD_ATOMIC, C_AMO_OP_SWAP, true);
  amo(C_CMD_ATOMIC, C_AMO_OP_SUM, false);
  EXPECT_EQ(item(b, "ixe_dmawr_cpu_amo_reqs"), 1u);
  EXPECT_EQ(item(b, "ixe_dmawr_nic_amo_reqs"), 1u);
  EXPECT_EQ(item(b, "ixe_dmawr_cpu_ftch_amo_reqs"), 0u);
  EXPECT_EQ(item(b, "ixe_dmawr_flush_reqs"), 1u);
}

TEST_F(Counters, OfSearchesWithWildcards) {
  post_buffer();  // any NID, any PID
  EXPECT_EQ(item(b, "lpe_search_nid_any_0"), 1u);
  EXPECT_EQ(item(b, "lpe_search_pid_any_0"), 1u);
  EXPECT_EQ(item(b, "lpe_search_rank_any_0"), 0u);
  auto search = append_cmd(pte, C_PTL_LIST_PRIORITY, 5);
  search.command.opcode = C_CMD_TGT_SEARCH;
  const uint32_t one_pid = pid << 23 | C_NID_ANY;
  std::memcpy(&search.match_id, &one_pid, 4);
  b.target.push(search);
  go(b.target);
  run();
  EXPECT_EQ(item(b, "lpe_search_nid_any_0"), 2u);
  EXPECT_EQ(item(b, "lpe_search_pid_any_0"), 1u);
  const unsigned ranks = b.add_pte(pid, 9, {.matching = true, .logical = true});
  b.target.push(append_cmd(ranks, C_PTL_LIST_PRIORITY, 6));
  go(b.target);
  run();
  EXPECT_EQ(item(b, "lpe_search_nid_any_0"), 2u);
  EXPECT_EQ(item(b, "lpe_search_rank_any_0"), 1u);
}

TEST_F(Counters, OfBadWritePointers) {
  a.tx.write_doorbell(3);
  a.device->step();
  a.tx.write_doorbell(4000);
  a.device->step();
  EXPECT_EQ(item(a, "cq_wr_ptr_updt_err_cntr"), 2u);
}

TEST_F(Counters, OfSourcesThatCannotBeReadAndOfBadAnswers) {
  post_buffer();
  auto command = a.put(dfa(2, pid, index), index, 0, 8);
  command.local_addr = 0x1000;
  a.tx.push(command);
  go(a.tx);
  run();
  EXPECT_EQ(item(a, "pct_req_src_error"), 1u);
  EXPECT_EQ(item(a, "pct_rsp_err_rcvd"), 1u);
  put(8, 77);  // nobody is mapped there
  EXPECT_EQ(item(a, "pct_rsp_err_rcvd"), 2u);
  EXPECT_EQ(item(b, "ixe_rx_pkt_drop_rmu_wrsp"), 1u);
}

TEST_F(Counters, OfHighRatePuts) {
  ASSERT_EQ(a.device->set_cp(a.rgid, 1, default_vni, 3, 1), 0);
  auto command = a.put(dfa(2, pid, index), index, 0, 8);
  command.restricted = 1;
  a.tx.push(command);
  go(a.tx);
  run();
  EXPECT_EQ(item(a, "hni_hrp_ack"), 1u);
  EXPECT_EQ(item(a, "hni_hrp_resp"), 1u);
  EXPECT_EQ(item(a, "pct_hrp_responses_received"), 1u);
}

TEST_F(Counters, OfRetries) {
  post_buffer();
  b.device->set_link(false);
  put(8);
  EXPECT_EQ(item(a, "pct_retry_srb_requests"), 0u);
  b.device->set_link(true);
  clock.mono += 2'000'000;
  run();
  EXPECT_EQ(item(a, "pct_retry_srb_requests"), 1u);
}

TEST(Frames, AreCountedByTheSizeOnTheWire) {
  FrameStatistics f;
  f.count(34, 0);                        // 38 bytes with the check sequence
  f.count(34, wire_payload_bytes + 26);  // a full packet and one of 64
  EXPECT_EQ(f.frames, 3u);
  EXPECT_EQ(f.by_size[2], 1u);  // 36 to 63
  EXPECT_EQ(f.by_size[3], 1u);  // 64
  EXPECT_EQ(f.by_size[9], 1u);  // 2048 to 4095
  EXPECT_EQ(f.octets, 38u + 2086 + 64);
  EXPECT_EQ(f.multicast, 0u);
  f.count(34, 0, true);
  EXPECT_EQ(f.multicast, 1u);
  EXPECT_EQ(f.multicast_octets, 38u);
}

}  // namespace
}  // namespace sim::nic::testing
