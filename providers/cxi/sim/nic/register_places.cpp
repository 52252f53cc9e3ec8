// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/register_places.hpp"

#include <span>

#include "ethernet/cassini_csrs.hpp"
#include "ethernet/cassini_user_defs.h"

namespace sim::nic {
namespace {

namespace csr = cassini::csr;

class Places {
 public:
  template <class Block, class Counter>
  void one(const Count& number) {
    static_assert(Counter::lsb % 64 == 0);
    words[Block::csr_offset + Counter::lsb / 8].counter = &number;
  }
  /// An array of counters, or its first ones: pools and classes that the model has.
  template <class Block, class Counter, size_t N>
  void many(std::span<const Count, N> numbers) {
    static_assert(Counter::lsb % 64 == 0 && N <= Counter::count);
    for (size_t i = 0; i < N; i++)
      words[Block::csr_offset + Counter::lsb / 8 + i * 8].counter = &numbers[i];
  }
  template <class Block, class Counter, size_t N>
  void many(const std::array<Count, N>& numbers) {
    many<Block, Counter>(std::span(numbers));
  }
  /// The first of the four pools: services of the model have no pools of their own.
  template <class Block, class Counter>
  void pool0(const Count& number) {
    many<Block, Counter>(std::span<const Count, 1>(&number, 1));
  }

  LiveWords words;
};

void command_places(Places& p, const Statistics& s) {
  using cq = csr::c_cq_cntrs;
  using tou = csr::c_tou_cntrs;
  const auto& c = s.commands;
  p.one<cq, cq::success_tx_cntr>(c.transmit_good);
  p.one<cq, cq::success_tgt_cntr>(c.target_good);
  p.one<cq, cq::fail_tx_cntr>(c.transmit_bad);
  p.one<cq, cq::fail_tgt_cntr>(c.target_bad);
  p.one<cq, cq::num_tx_cmd_align_errors>(c.align_errors);
  p.one<cq, cq::num_tx_cmd_op_errors>(c.op_errors);
  p.one<cq, cq::num_tx_cmd_arg_errors>(c.arg_errors);
  p.one<cq, cq::num_tx_cmd_perm_errors>(c.perm_errors);
  p.one<cq, cq::num_tgt_cmd_arg_errors>(c.target_arg_errors);
  p.one<cq, cq::num_tgt_cmd_perm_errors>(c.target_perm_errors);
  p.many<cq, cq::num_idc_cmds>(c.immediate);
  p.many<cq, cq::num_dma_cmds>(c.dma);
  p.many<cq, cq::num_cq_cmds>(c.queue);
  p.many<cq, cq::num_tgt_cmds>(c.target);
  p.many<cq, cq::dma_cmd_counts>(c.dma_by_opcode);
  p.many<cq, cq::cq_cmd_counts>(c.queue_by_opcode);
  p.one<cq, cq::wr_ptr_updt_err_cntr>(c.bad_pointers);
  p.one<tou, tou::success_cntr>(c.triggering_good);
  p.one<tou, tou::cq_tou_num_cmds>(c.triggering_good);
  p.one<tou, tou::fail_cntr>(c.triggering_bad);
  p.one<tou, tou::num_ct_updates>(c.counter_updates);
  p.many<tou, tou::num_trig_cmds>(c.triggered);
  p.many<tou, tou::ct_cmd_counts>(c.counter_by_opcode);
}

template <class oxe>
void sending_places(Places& p, const Statistics& s) {
  const auto& c = s.sending;
  p.one<oxe, typename oxe::err_no_translation>(c.no_translation);
  p.one<oxe, typename oxe::err_invalid_ac>(c.invalid_context);
  p.one<oxe, typename oxe::err_page_perm>(c.page_permission);
  p.many<oxe, typename oxe::ptl_tx_put_msgs_tsc>(c.put_messages);
  p.many<oxe, typename oxe::ptl_tx_get_msgs_tsc>(c.get_messages);
  p.many<oxe, typename oxe::ptl_tx_put_pkts_tsc>(c.put_packets);
  p.one<oxe, typename oxe::ptl_tx_mr_msgs>(c.multi_packet_messages);
  p.one<oxe, typename oxe::num_hrp_cmds>(c.high_rate_commands);
  p.one<oxe, typename oxe::ioi_pkts_ordered>(c.ordered_packets);
  p.one<oxe, typename oxe::ioi_pkts_unordered>(c.unordered_packets);
}

void tracking_places(Places& p, const Statistics& s) {
  using pct = csr::c_pct_cntrs;
  using mst = csr::c_mst_cntrs;
  const auto& c = s.tracking;
  p.one<pct, pct::req_ordered>(s.sending.ordered_packets);
  p.one<pct, pct::req_unordered>(s.sending.unordered_packets);
  p.one<pct, pct::req_no_response>(s.sending.unanswered_packets);
  p.one<pct, pct::ptls_response>(c.responses_sent);
  p.one<pct, pct::responses_received>(c.responses_received);
  p.one<pct, pct::rsp_dropped_inactive>(c.responses_dropped);
  p.one<pct, pct::rsp_err_rcvd>(c.responses_bad);
  p.one<pct, pct::spt_timeouts>(c.timeouts);
  p.one<pct, pct::retry_srb_requests>(c.retried);
  p.one<pct, pct::req_src_error>(s.sending.source_errors);
  p.one<pct, pct::hrp_responses_received>(s.sending.high_rate_answers);
  p.one<mst, mst::allocations>(c.messages_begun);
  p.one<mst, mst::requests>(c.message_packets);
  p.one<mst, mst::err_cancelled>(c.messages_cancelled);
}

void arriving_places(Places& p, const Statistics& s) {
  using ixe = csr::c_ixe_cntrs;
  using rmu = csr::c_rmu_cntrs;
  const auto& c = s.arriving;
  p.one<ixe, ixe::rx_ptl_unrestricted_pkt>(c.unrestricted);
  p.one<ixe, ixe::rx_ptl_smallmsg_pkt>(c.small_messages);
  p.one<ixe, ixe::rx_ptl_continuation_pkt>(c.continuations);
  p.one<ixe, ixe::rx_ptl_restricted_pkt>(c.restricted);
  p.one<ixe, ixe::rx_ptl_response_pkt>(c.responses);
  p.one<ixe, ixe::rx_unrecognized_pkt>(c.unrecognized);
  p.one<ixe, ixe::rx_ptl_msgs>(c.messages);
  p.one<ixe, ixe::rx_ptl_multi_msgs>(c.multi_packet_messages);
  p.one<ixe, ixe::disp_lpe_puts>(c.puts);
  p.one<ixe, ixe::disp_lpe_puts_ok>(c.puts_good);
  p.one<ixe, ixe::disp_lpe_amos>(c.atomics);
  p.one<ixe, ixe::disp_lpe_amos_ok>(c.atomics_good);
  p.one<ixe, ixe::disp_lpe_gets>(c.gets);
  p.one<ixe, ixe::disp_lpe_gets_ok>(c.gets_good);
  p.one<ixe, ixe::dmawr_write_reqs>(c.writes);
  p.one<ixe, ixe::dmawr_flush_reqs>(c.flushes);
  p.one<ixe, ixe::dmawr_nic_amo_reqs>(c.atomic_operations);
  p.one<ixe, ixe::dmawr_cpu_amo_reqs>(c.bus_atomics);
  p.one<ixe, ixe::dmawr_cpu_ftch_amo_reqs>(c.fetching_bus_atomics);
  p.one<ixe, ixe::rx_pkt_drop_rmu_wrsp>(c.dropped_by_portal);
  p.one<ixe, ixe::dmawr_amo_ex_invalid>(c.float_invalid);
  p.one<ixe, ixe::dmawr_amo_ex_overflow>(c.float_overflow);
  p.one<ixe, ixe::dmawr_amo_ex_underflow>(c.float_underflow);
  p.one<ixe, ixe::dmawr_amo_ex_inexact>(c.float_inexact);
  p.one<ixe, ixe::dmawr_amo_misaligned>(c.atomic_misaligned);
  p.one<ixe, ixe::dmawr_amo_invalid_op>(c.atomic_bad_operation);
  p.one<ixe, ixe::dmawr_amo_len_err>(c.atomic_bad_length);
  p.one<rmu, rmu::ptl_success_cntr>(c.portal_found);
  p.one<rmu, rmu::ptl_invld_vni_cntr>(c.vni_unknown);
  p.one<rmu, rmu::ptl_no_ptlte_cntr>(c.portal_unknown);
}

void list_places(Places& p, const Statistics& s) {
  using lpe = csr::c_lpe_cntrs;
  const auto& c = s.lists;
  p.one<lpe, lpe::success_cntr>(c.good);
  p.one<lpe, lpe::fail_cntr>(c.bad);
  p.one<lpe, lpe::put_cmds>(c.puts);
  p.one<lpe, lpe::rendezvous_put_cmds>(c.rendezvous_puts);
  p.one<lpe, lpe::get_cmds>(c.gets);
  p.one<lpe, lpe::amo_cmds>(c.atomics);
  p.one<lpe, lpe::famo_cmds>(c.fetching_atomics);
  const auto& off = c.disabled_by_reason;
  p.one<lpe, lpe::err_pt_disabled_eq_full>(off[C_SC_FC_EQ_FULL]);
  p.one<lpe, lpe::err_pt_disabled_req_empty>(off[C_SC_FC_REQUEST_FULL]);
  p.one<lpe, lpe::err_pt_disabled_cant_alloc_unexpected>(off[C_SC_FC_UNEXPECTED_FAIL]);
  p.one<lpe, lpe::err_pt_disabled_no_match_in_overflow>(off[C_SC_FC_NO_MATCH]);
  const auto& none = c.not_found_by_reason;
  p.one<lpe, lpe::err_entry_not_found_eq_full>(none[C_SC_FC_EQ_FULL]);
  p.one<lpe, lpe::err_entry_not_found_req_empty>(none[C_SC_FC_REQUEST_FULL]);
  p.one<lpe, lpe::err_entry_not_found_cant_alloc_unexpected>(none[C_SC_FC_UNEXPECTED_FAIL]);
  p.one<lpe, lpe::err_entry_not_found_no_match_in_overflow>(none[C_SC_FC_NO_MATCH]);
  p.one<lpe, lpe::err_op_violation>(c.op_violation);
  p.one<lpe, lpe::err_entry_not_found_unlink_failed>(c.unlink_not_found);
  p.one<lpe, lpe::err_no_space_append>(c.no_space_append);
  p.one<lpe, lpe::err_no_space_net>(c.no_space_net);
  p.one<lpe, lpe::err_search_no_match>(c.search_no_match);
  p.one<lpe, lpe::err_setstate_no_match>(c.set_state_no_match);
  p.one<lpe, lpe::err_src_error>(c.source_errors);
  p.one<lpe, lpe::err_ptlte_sw_managed>(c.software_managed);
  p.one<lpe, lpe::err_illegal_op>(c.illegal_op);
  p.one<lpe, lpe::err_restricted_unicast>(c.restricted_unicast);
  p.one<lpe, lpe::event_put_overflow>(c.events[C_EVENT_PUT_OVERFLOW]);
  p.one<lpe, lpe::event_get_overflow>(c.events[C_EVENT_GET_OVERFLOW]);
  p.one<lpe, lpe::event_atomic_overflow>(c.events[C_EVENT_ATOMIC_OVERFLOW]);
  p.one<lpe, lpe::event_fetch_atomic_overflow>(c.events[C_EVENT_FETCH_ATOMIC_OVERFLOW]);
  p.one<lpe, lpe::event_search>(c.events[C_EVENT_SEARCH]);
  p.one<lpe, lpe::event_rendezvous>(c.events[C_EVENT_RENDEZVOUS]);
  p.one<lpe, lpe::event_link>(c.events[C_EVENT_LINK]);
  p.one<lpe, lpe::event_unlink>(c.events[C_EVENT_UNLINK]);
  p.one<lpe, lpe::event_statechange>(c.events[C_EVENT_STATE_CHANGE]);
  p.one<lpe, lpe::search_cmds>(c.search.asked);
  p.one<lpe, lpe::search_success>(c.search.found);
  p.one<lpe, lpe::search_fail>(c.search.not_found);
  p.one<lpe, lpe::search_delete_cmds>(c.search_delete.asked);
  p.one<lpe, lpe::search_delete_success>(c.search_delete.found);
  p.one<lpe, lpe::search_delete_fail>(c.search_delete.not_found);
  p.one<lpe, lpe::unlink_cmds>(c.unlinks);
  p.one<lpe, lpe::unlink_success>(c.unlinks_good);
  p.pool0<lpe, lpe::search_nid_any>(c.any_nid);
  p.pool0<lpe, lpe::search_pid_any>(c.any_pid);
  p.pool0<lpe, lpe::search_rank_any>(c.any_rank);
  p.pool0<lpe, lpe::net_match_requests>(c.match_requests);
  p.pool0<lpe, lpe::net_match_success>(c.matches);
  p.pool0<lpe, lpe::net_match_useonce>(c.use_once);
  p.pool0<lpe, lpe::net_match_local>(c.locally_managed);
  p.pool0<lpe, lpe::net_match_priority>(c.matches_by_list[C_PTL_LIST_PRIORITY]);
  p.pool0<lpe, lpe::net_match_overflow>(c.matches_by_list[C_PTL_LIST_OVERFLOW]);
  p.pool0<lpe, lpe::net_match_request>(c.matches_by_list[C_PTL_LIST_REQUEST]);
  p.pool0<lpe, lpe::append_cmds>(c.appends);
  p.pool0<lpe, lpe::append_success>(c.appends_good);
  p.pool0<lpe, lpe::setstate_cmds>(c.set_states);
  p.pool0<lpe, lpe::setstate_success>(c.set_states_good);
  p.pool0<lpe, lpe::rndzv_puts>(c.rendezvous_puts);
  p.pool0<lpe, lpe::rndzv_puts_offloaded>(c.rendezvous_offloaded);
  p.pool0<lpe, lpe::num_truncated>(c.truncated);
  using attempts = csr::c_lpe_sts_net_match_attempts;
  static_assert(attempts::csr_entries == 4);
  for (uint32_t element = 0; element < c.match_attempts.size(); element++)
    p.words[attempts::csr_offset + element * attempts::csr_bytes].counter =
        &c.match_attempts[element];
  p.pool0<lpe, lpe::unexpected_get_amo>(c.unexpected_get_atomic);
}

void event_places(Places& p, const Statistics& s) {
  using ee = csr::c_ee_cntrs;
  const auto& c = s.events;
  const auto& type = c.by_type;
  p.pool0<ee, ee::events_enqueued_cntr>(c.enqueued);
  p.pool0<ee, ee::events_dropped_fc_sc_cntr>(c.dropped_flow_control);
  p.pool0<ee, ee::events_dropped_ordinary_cntr>(c.dropped_ordinary);
  p.pool0<ee, ee::eq_buffer_switch_cntr>(c.ring_switches);
  p.pool0<ee, ee::deferred_eq_switch_cntr>(c.deferred_switches);
  p.pool0<ee, ee::eq_status_update_cntr>(c.status_updates);
  p.one<ee, ee::eq_dsabld_event_err_cntr>(c.to_no_queue);
  p.one<ee, ee::event_put_cntr>(type[C_EVENT_PUT]);
  p.one<ee, ee::event_get_cntr>(type[C_EVENT_GET]);
  p.one<ee, ee::event_atomic_cntr>(type[C_EVENT_ATOMIC]);
  p.one<ee, ee::event_fetch_atomic_cntr>(type[C_EVENT_FETCH_ATOMIC]);
  p.one<ee, ee::event_put_overflow_cntr>(type[C_EVENT_PUT_OVERFLOW]);
  p.one<ee, ee::event_get_overflow_cntr>(type[C_EVENT_GET_OVERFLOW]);
  p.one<ee, ee::event_atomic_overflow_cntr>(type[C_EVENT_ATOMIC_OVERFLOW]);
  p.one<ee, ee::event_fetch_atomic_overflow_cntr>(type[C_EVENT_FETCH_ATOMIC_OVERFLOW]);
  p.one<ee, ee::event_send_cntr>(type[C_EVENT_SEND]);
  p.one<ee, ee::event_ack_cntr>(type[C_EVENT_ACK]);
  p.one<ee, ee::event_reply_cntr>(type[C_EVENT_REPLY]);
  p.one<ee, ee::event_link_cntr>(type[C_EVENT_LINK]);
  p.one<ee, ee::event_search_cntr>(type[C_EVENT_SEARCH]);
  p.one<ee, ee::event_state_change_cntr>(type[C_EVENT_STATE_CHANGE]);
  p.one<ee, ee::event_unlink_cntr>(type[C_EVENT_UNLINK]);
  p.one<ee, ee::event_rendezvous_cntr>(type[C_EVENT_RENDEZVOUS]);
  p.one<ee, ee::event_command_failure_cntr>(type[C_EVENT_COMMAND_FAILURE]);
  p.one<ee, ee::event_triggered_op_cntr>(type[C_EVENT_TRIGGERED_OP]);
  p.one<ee, ee::event_match_cntr>(type[C_EVENT_MATCH]);
  p.one<ee, ee::event_timestamp_cntr>(type[C_EVENT_TIMESTAMP]);
  p.one<ee, ee::event_eq_switch_cntr>(c.ring_switches);
}

void address_places(Places& p, const Statistics& s) {
  using atu = csr::c_atu_cntrs;
  p.one<atu, atu::client_req_oxe>(s.addresses.sending);
  p.one<atu, atu::client_req_ixe>(s.addresses.arriving);
  p.pool0<atu, atu::client_rsp_not_ok>(s.addresses.refused);
}

template <class Register>
void octets(Places& p, const Count& number) {
  p.one<Register, typename Register::cnt>(number);
}

void frame_places(Places& p, const Statistics& s) {
  using hni = csr::c_hni_cntrs;
  // Portals packets travel without an Ethernet header: they are the optimized kind.
  p.one<hni, hni::tx_ok_opt>(s.sent.frames);
  p.one<hni, hni::hrp_ack>(s.sending.high_rate_answers);
  p.one<hni, hni::hrp_resp>(s.sending.high_rate_answers);
  p.one<hni, hni::tx_ok_multicast>(s.sent.multicast);
  p.one<hni, hni::rx_ok_opt>(s.received.frames);
  p.one<hni, hni::rx_ok_multicast>(s.received.multicast);
  const auto by_size = [&]<class... Counter>(const FrameStatistics& f) {
    size_t i = 0;
    static_assert(sizeof...(Counter) == FrameStatistics::size_limits.size());
    (p.one<hni, Counter>(f.by_size[i++]), ...);
  };
  by_size.operator()<hni::tx_ok_27, hni::tx_ok_35, hni::tx_ok_36_to_63, hni::tx_ok_64,
                     hni::tx_ok_65_to_127, hni::tx_ok_128_to_255, hni::tx_ok_256_to_511,
                     hni::tx_ok_512_to_1023, hni::tx_ok_1024_to_2047, hni::tx_ok_2048_to_4095,
                     hni::tx_ok_4096_to_8191, hni::tx_ok_8192_to_max>(s.sent);
  by_size.operator()<hni::rx_ok_27, hni::rx_ok_35, hni::rx_ok_36_to_63, hni::rx_ok_64,
                     hni::rx_ok_65_to_127, hni::rx_ok_128_to_255, hni::rx_ok_256_to_511,
                     hni::rx_ok_512_to_1023, hni::rx_ok_1024_to_2047, hni::rx_ok_2048_to_4095,
                     hni::rx_ok_4096_to_8191, hni::rx_ok_8192_to_max>(s.received);
  octets<csr::c_hni_sts_tx_ok_octets>(p, s.sent.octets);
  octets<csr::c_hni_sts_tx_octets_opt>(p, s.sent.octets);
  octets<csr::c_hni_sts_tx_octets_multi>(p, s.sent.multicast_octets);
  octets<csr::c_hni_sts_rx_ok_octets>(p, s.received.octets);
  octets<csr::c_hni_sts_rx_octets_opt>(p, s.received.octets);
  octets<csr::c_hni_sts_rx_octets_multi>(p, s.received.multicast_octets);
}

}  // namespace

LiveWords counter_places(const Statistics& s, uint32_t cassini_version) {
  Places p;
  command_places(p, s);
  if (cassini_version & 0x20)
    sending_places<csr::c2_oxe_cntrs>(p, s);
  else
    sending_places<csr::c1_oxe_cntrs>(p, s);
  tracking_places(p, s);
  arriving_places(p, s);
  list_places(p, s);
  event_places(p, s);
  address_places(p, s);
  frame_places(p, s);
  return std::move(p.words);
}

}  // namespace sim::nic
