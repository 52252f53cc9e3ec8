// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/events.hpp"

#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"

namespace sim::nic {
namespace {

// Not the C structures of the same names, but their fields.
using cassini::c_event_cmd_fail;
using cassini::c_event_eq_switch;
using cassini::c_event_initiator_long;
using cassini::c_event_initiator_short;
using cassini::c_event_target_long;
using cassini::c_event_target_short;
using cassini::c_event_timestamp;
using cassini::c_event_trig_op_long;
using cassini::c_event_trig_op_short;
using cassini::c_state_chg_fields;

constexpr uint64_t second = 1'000'000'000;

template <class E>
EventBytes begin(uint8_t type, uint8_t return_code, unsigned size_code) {
  EventBytes out;
  out.size = E::bytes;
  E::event_size::set(out.bytes, size_code);
  E::event_type::set(out.bytes, type);
  E::return_code::set(out.bytes, return_code);
  return out;
}

template <class E>
void put_initiator(std::byte* p, const InitiatorEvent& event) {
  E::user_ptr::set(p, event.user_ptr);
  E::mlength::set(p, event.mlength);
  E::ptl_list::set(p, event.ptl_list);
  E::rendezvous::set(p, event.rendezvous);
  E::retry::set(p, event.retry);
  E::tgt_error::set(p, event.tgt_error);
}

template <class E>
void put_time(std::byte* p, uint64_t ns) {
  E::timestamp_ns::set(p, ns % second);
  E::timestamp_sec::set(p, ns / second);
}

}  // namespace

uint32_t state_change_fields(unsigned state, unsigned reason, bool by_nic) {
  using f = c_state_chg_fields;
  return static_cast<uint32_t>(f::ptlte_state::encode(state) | f::sc_reason::encode(reason) |
                               f::sc_nic_auto::encode(by_nic));
}

EventBytes encode(const InitiatorEvent& event, bool with_time, RealTime time) {
  if (!with_time) {
    auto out = begin<c_event_initiator_short>(event.type, event.return_code, C_EVENT_SIZE_16_BYTE);
    put_initiator<c_event_initiator_short>(out.bytes, event);
    return out;
  }
  auto out = begin<c_event_initiator_long>(event.type, event.return_code, C_EVENT_SIZE_32_BYTE);
  put_initiator<c_event_initiator_long>(out.bytes, event);
  put_time<c_event_initiator_long>(out.bytes, time());
  return out;
}

EventBytes encode_long(const TargetEvent& event, RealTime time) {
  using e = c_event_target_long;
  auto out = begin<e>(event.type, event.return_code, C_EVENT_SIZE_64_BYTE);
  std::byte* p = out.bytes;
  e::header_data::set(p, event.header_data);
  e::initiator::set(p, event.initiator);
  e::ptlte_index::set(p, event.ptlte_index);
  e::ptl_list::set(p, event.ptl_list);
  e::rendezvous::set(p, event.rendezvous);
  e::get_issued::set(p, event.get_issued);
  e::auto_unlinked::set(p, event.auto_unlinked);
  e::match_bits::set(p, event.match_bits);
  e::buffer_id::set(p, event.buffer_id);
  e::vni::set(p, event.vni);
  const uint64_t ns = time();
  e::timestamp_ns::set(p, ns % second);
  e::timestamp_sec_low::set(p, ns / second);
  e::mlength::set(p, event.mlength);
  e::rlength::set(p, event.rlength);
  e::remote_offset::set(p, event.remote_offset);
  e::start::set(p, event.start);
  e::lpe_stat_1::set(p, event.lpe_stat_1);
  e::lpe_stat_2::set(p, event.lpe_stat_2);
  e::atomic_type::set(p, event.atomic_type);
  e::atomic_op::set(p, event.atomic_op);
  e::cswap_op::set(p, event.cswap_op);
  e::rendezvous_id::set(p, event.rendezvous_id);
  return out;
}

EventBytes encode_short(const TargetEvent& event) {
  using e = c_event_target_short;
  auto out = begin<e>(event.type, event.return_code, C_EVENT_SIZE_32_BYTE);
  std::byte* p = out.bytes;
  e::header_data::set(p, event.header_data);
  e::initiator::set(p, event.initiator);
  e::ptlte_index::set(p, event.ptlte_index);
  e::ptl_list::set(p, event.ptl_list);
  e::auto_unlinked::set(p, event.auto_unlinked);
  e::match_bits::set(p, event.match_bits);
  e::buffer_id::set(p, event.buffer_id);
  e::vni::set(p, event.vni);
  e::length::set(p, event.mlength);
  return out;
}

EventBytes encode_command_failure(unsigned cq_id, bool target, unsigned slot, uint8_t command,
                                  uint8_t return_code) {
  using e = c_event_cmd_fail;
  auto out = begin<e>(C_EVENT_COMMAND_FAILURE, return_code, C_EVENT_SIZE_16_BYTE);
  e::cq_id::set(out.bytes, cq_id);
  e::is_target::set(out.bytes, target);
  e::fail_loc::set(out.bytes, slot);
  e::fail_command::set(out.bytes, command);
  return out;
}

EventBytes encode_triggered_op(unsigned ct, uint64_t threshold, bool with_time, RealTime time) {
  if (!with_time) {
    using e = c_event_trig_op_short;
    auto out = begin<e>(C_EVENT_TRIGGERED_OP, C_RC_OK, C_EVENT_SIZE_16_BYTE);
    e::threshold::set(out.bytes, threshold);
    e::ct_handle::set(out.bytes, ct);
    return out;
  }
  using e = c_event_trig_op_long;
  auto out = begin<e>(C_EVENT_TRIGGERED_OP, C_RC_OK, C_EVENT_SIZE_32_BYTE);
  e::threshold::set(out.bytes, threshold);
  e::ct_handle::set(out.bytes, ct);
  put_time<e>(out.bytes, time());
  return out;
}

EventBytes encode_timestamp(RealTime time) {
  auto out = begin<c_event_timestamp>(C_EVENT_TIMESTAMP, C_RC_OK, C_EVENT_SIZE_16_BYTE);
  put_time<c_event_timestamp>(out.bytes, time());
  return out;
}

EventBytes encode_eq_switch() {
  return begin<c_event_eq_switch>(C_EVENT_EQ_SWITCH, C_RC_OK, C_EVENT_SIZE_16_BYTE);
}

EventBytes encode_null(size_t bytes) {
  if (bytes == 16)
    return begin<c_event_initiator_short>(C_EVENT_NULL_EVENT, C_RC_OK, C_EVENT_SIZE_16_BYTE);
  return begin<c_event_initiator_long>(C_EVENT_NULL_EVENT, C_RC_OK, C_EVENT_SIZE_32_BYTE);
}

}  // namespace sim::nic
