// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A request arrives: which portal entry, which list entry, may it, is there room (behaviour 5, 9).
// The order is fixed: list match, rights, space in the entry, event space. Deciding changes nothing
// but what it takes for the message: event slots and the node of an unexpected header.
#include <algorithm>

#include "ethernet/cassini_user_defs.h"
#include "nic/addressing.hpp"
#include "nic/engine.hpp"
#include "nic/trace_text.hpp"

namespace sim::nic {
namespace {

constexpr size_t most_parked = 4096;
constexpr size_t most_parked_bytes = size_t{64} << 20;

bool is_put(unsigned opcode) {
  return opcode == C_CMD_PUT || opcode == C_CMD_RENDEZVOUS_PUT;
}

bool may(const ListNode& node, unsigned opcode) {
  switch (opcode) {
    case C_CMD_GET:
      return node.op_get;
    case C_CMD_FETCHING_ATOMIC:
      return node.op_put && node.op_get;
    default:
      return node.op_put;
  }
}

}  // namespace

uint64_t Nic::placement_offset(const PortalEntry& entry, const Request& r) {
  // A rendezvous put may use the field for the get that follows (behaviour 2.11).
  const bool for_get = r.opcode == C_CMD_RENDEZVOUS_PUT && r.use_offset_for_get;
  return for_get || entry.config.clear_remote_offset ? 0 : r.remote_offset;
}

void Nic::handle_packet(fabric::Packet&& packet) {
  if (is_response(packet.header)) {
    stats_.arriving.responses += wire_packets(packet.payload.size());
    return handle_response(std::move(packet));
  }
  auto request = decode_request(packet.header);
  if (!request) {
    say("packet with a header of another kind dropped");
    stats_.arriving.unrecognized++;
    return wire_.give(std::move(packet));
  }
  if (request->format == PacketFormat::restricted) request->seq = packet.use;
  count_arrival(*request, packet.payload.size());
  if (request->format == PacketFormat::continuation)
    return handle_continuation(*request, std::move(packet));
  if (tracing())
    say("{} from nid {} vni {} pid {} index {} length {} match {:#x} initiator {:#010x}",
        name_of_opcode(request->opcode), request->source_nid, request->vni,
        pid_of_dfa(request->dfa, config_.pid_bits),
        index_of_dfa(request->dfa, request->index_ext, config_.pid_bits), request->request_len,
        request->match_bits, request->initiator);
  handle_request(*request, std::move(packet));
}

void Nic::count_arrival(const Request& r, size_t payload_bytes) {
  auto& a = stats_.arriving;
  const size_t packets = wire_packets(payload_bytes);
  switch (r.format) {
    case PacketFormat::continuation:
      a.continuations += packets;
      stats_.tracking.message_packets += packets;
      return;
    case PacketFormat::restricted:
      a.restricted++;
      break;
    case PacketFormat::small_message:
      a.small_messages++;
      break;
    case PacketFormat::unrestricted:
      a.unrestricted++;
      a.continuations += packets - 1;
      break;
  }
  a.messages++;
  if (packets > 1) {  // what the trackers of such messages see
    a.multi_packet_messages++;
    stats_.tracking.messages_begun++;
    stats_.tracking.message_packets += packets;
  }
  auto& l = stats_.lists;
  switch (r.opcode) {
    case C_CMD_GET:
      l.gets++;
      break;
    case C_CMD_RENDEZVOUS_PUT:
      l.rendezvous_puts++;
      break;
    case C_CMD_ATOMIC:
      l.atomics++;
      break;
    case C_CMD_FETCHING_ATOMIC:
      l.fetching_atomics++;
      break;
    default:
      l.puts++;
      break;
  }
  const bool atomic = r.opcode == C_CMD_ATOMIC || r.opcode == C_CMD_FETCHING_ATOMIC;
  (r.opcode == C_CMD_GET ? a.gets : atomic ? a.atomics : a.puts)++;
}

// Errors that have counters of their own; those of a shortage are counted where it is found.
void Nic::count_refusal(const Request& r, int return_code) {
  auto& a = stats_.arriving;
  auto& l = stats_.lists;
  switch (return_code) {
    case C_RC_VNI_NOT_FOUND:
      a.vni_unknown++;
      a.dropped_by_portal++;
      return;
    case C_RC_PTLTE_NOT_FOUND:
      a.portal_unknown++;
      a.dropped_by_portal++;
      return;
    case C_RC_OP_VIOLATION:
      l.op_violation++;
      break;
    case C_RC_NO_SPACE:
      l.no_space_net++;
      break;
    case C_RC_SRC_ERROR:
      l.source_errors++;
      break;
    case C_RC_ILLEGAL_OP:
      l.illegal_op++;
      break;
    case C_RC_RESTRICTED_UNICAST:
      l.restricted_unicast++;
      break;
    case C_RC_DELAYED:
      l.unexpected_get_atomic += !is_put(r.opcode);
      break;
    default:
      break;
  }
  l.bad++;
}

void Nic::handle_request(const Request& r, fabric::Packet&& packet) {
  const bool multicast = dfa_kind(r.dfa) == DfaKind::multicast, answered = is_answered(r);
  const auto refused = [&](int rc) {
    say("refused: {}", name_of_return_code(static_cast<unsigned>(rc)));
    count_refusal(r, rc);
    wire_.give(std::move(packet));
    if (answered) refuse(r, rc);
  };
  if (r.src_error) return refused(C_RC_SRC_ERROR);
  if (r.opcode != C_CMD_PUT && r.opcode != C_CMD_GET && r.opcode != C_CMD_RENDEZVOUS_PUT &&
      r.opcode != C_CMD_ATOMIC && r.opcode != C_CMD_FETCHING_ATOMIC)
    return refused(C_RC_ILLEGAL_OP);
  const auto found = multicast
                         ? table_.find_multicast(r.vni, (r.dfa >> 3 & 0x1fff) | r.index_ext << 13)
                         : table_.find(r.vni, endpoint_of_dfa(r.dfa, r.index_ext));
  if (found.return_code != C_RC_OK) return refused(found.return_code);
  stats_.arriving.portal_found++;
  PortalEntry& entry = *pte(found.pte);
  // Match bits and initiator do not exist in restricted packets.
  const bool restricted = r.format == PacketFormat::restricted;
  if (restricted && entry.config.matching) return refused(C_RC_ILLEGAL_OP);
  if (parked_packets_ != 0 && park(entry.index, r, packet)) return;

  Decision decision;
  switch (entry.state) {
    case PteState::reset:
    case PteState::disabled:
    case PteState::ethernet:
      entry.drop_count = (entry.drop_count + 1) & 0xffffff;
      return refused(C_RC_PT_DISABLED);
    case PteState::software_managed:
      decision = is_put(r.opcode) ? decide_raw(entry, r) : Decision{.return_code = C_RC_DELAYED};
      break;
    case PteState::enabled:
      decision = decide(entry, r);
      break;
  }
  if (decision.park) {
    parked_packets_++;
    parked_bytes_ += packet.payload.size();
    parked_[entry.index].push_back({std::move(packet), r});
    return;
  }
  if (decision.disable) {
    change_state(entry, PteState::disabled, decision.reason);
    entry.drop_count = config_.drop_count_counts_trigger ? 1 : 0;
    if (parked_packets_ != 0) unpark(entry.index);
  }
  if (decision.software_managed) change_state(entry, PteState::software_managed, decision.reason);
  if (decision.return_code != C_RC_OK) return refused(decision.return_code);
  if (decision.list == C_PTL_LIST_REQUEST) return accept_raw(entry, r, decision, std::move(packet));
  begin(accept(entry, r, decision), std::move(packet));
}

Nic::Decision Nic::shortage(PortalEntry& entry, unsigned reason) {
  auto& l = stats_.lists;
  (entry.config.flow_control ? l.disabled_by_reason : l.not_found_by_reason)[reason]++;
  if (!entry.config.flow_control) return {.return_code = C_RC_ENTRY_NOT_FOUND};
  return {.return_code = C_RC_PT_DISABLED, .disable = true, .reason = reason};
}

unsigned Nic::events_of(const PortalEntry& entry, const ListNode& node, const Request& r,
                        unsigned list) const {
  if (!eq(entry.config.eqn)) return 0;
  unsigned events = 0;
  if (!node.event_comm_disable && !node.event_success_disable) events++;
  if (node.use_once && !node.event_unlink_disable) events++;
  if (node.manage_local && !node.use_once && !node.event_unlink_disable) events++;
  if (entry.config.event_match) events++;
  if (r.opcode == C_CMD_RENDEZVOUS_PUT && list == C_PTL_LIST_PRIORITY && !node.event_comm_disable)
    events++;
  return events;
}

Nic::Decision Nic::decide(PortalEntry& entry, const Request& r) {
  stats_.lists.match_requests++;
  const uint64_t offset = placement_offset(entry, r);
  MatchQuery query;
  query.match_bits = r.match_bits;
  query.initiator = r.initiator;
  query.remote_offset = offset;
  query.length = r.request_len;
  query.pid_bits = config_.pid_bits;
  query.matching = entry.config.matching;
  query.logical = entry.config.logical;
  query.space_check = entry.config.space_check;
  EntryPool& nodes = pool(entry);

  Decision d;
  d.return_code = C_RC_OK;
  d.list = C_PTL_LIST_PRIORITY;
  unsigned attempts = 0;
  d.node = find_match(nodes, entry.lists[d.list], query, &attempts);
  if (d.node == no_entry) {
    d.list = C_PTL_LIST_OVERFLOW;
    d.node = find_match(nodes, entry.lists[d.list], query, &attempts);
  }
  auto& l = stats_.lists;
  l.match_attempts[entry.pool] += attempts;
  l.most_attempts[entry.pool] = std::max<Count>(l.most_attempts[entry.pool], attempts);
  if (d.node == no_entry) {
    if (entry.config.lossless && may_park()) return {.park = true};
    if (!entry.lists[C_PTL_LIST_REQUEST].empty()) {
      if (!is_put(r.opcode)) return {.return_code = C_RC_DELAYED};
      d = decide_raw(entry, r);
      if (d.return_code == C_RC_OK) {
        d.software_managed = true;
        d.reason = C_SC_SM_UNEXPECTED_FAIL;
      }
      return d;
    }
    return shortage(entry, C_SC_FC_NO_MATCH);
  }
  const ListNode& node = nodes[d.node];
  if (!may(node, r.opcode)) return {.return_code = C_RC_OP_VIOLATION};
  if (d.list == C_PTL_LIST_OVERFLOW && !is_put(r.opcode)) return {.return_code = C_RC_DELAYED};
  if (r.format == PacketFormat::restricted && node.manage_local &&
      dfa_kind(r.dfa) == DfaKind::unicast && !entry.config.restricted_unicast_lm)
    return {.return_code = C_RC_RESTRICTED_UNICAST};
  if (!entry.config.matching && !entry.config.space_check && !fits(node, offset, r.request_len))
    return {.return_code = C_RC_NO_SPACE};

  const bool header_wanted = d.list == C_PTL_LIST_OVERFLOW && !node.unexpected_hdr_disable;
  if (header_wanted) {
    d.unexpected = take_entry(entry);
    if (d.unexpected == no_entry) {
      if (entry.lists[C_PTL_LIST_REQUEST].empty()) return shortage(entry, C_SC_FC_UNEXPECTED_FAIL);
      Decision raw = decide_raw(entry, r);
      if (raw.return_code == C_RC_OK) {
        raw.software_managed = true;
        raw.reason = C_SC_SM_UNEXPECTED_FAIL;
      }
      return raw;
    }
  }
  d.promised = events_of(entry, node, r, d.list);
  if (d.promised != 0 && !eq(entry.config.eqn)->promise(d.promised)) {
    if (d.unexpected != no_entry) give_entry(entry, d.unexpected);
    return shortage(entry, C_SC_FC_EQ_FULL);
  }
  return d;
}

// Into the Request list, header and all; its entries are locally managed.
Nic::Decision Nic::decide_raw(PortalEntry& entry, const Request& r) {
  EntryPool& nodes = pool(entry);
  Decision d;
  d.return_code = C_RC_OK;
  d.list = C_PTL_LIST_REQUEST;
  d.node = entry.lists[d.list].head;
  if (d.node == no_entry) return shortage(entry, C_SC_FC_REQUEST_FULL);
  d.promised = events_of(entry, nodes[d.node], r, d.list);
  if (d.promised != 0 && !eq(entry.config.eqn)->promise(d.promised))
    return shortage(entry, C_SC_FC_EQ_FULL);
  return d;
}

void Nic::change_state(PortalEntry& entry, PteState state, unsigned reason) {
  say("portal entry {}: {} by the NIC, reason {}", entry.index, name_of_state(state), reason);
  entry.state = state;
  TargetEvent event;
  event.type = C_EVENT_STATE_CHANGE;
  event.return_code = C_RC_OK;
  event.initiator = state_change_fields(static_cast<unsigned>(state), reason, true);
  post_target(entry, event, nullptr);
}

bool Nic::park(unsigned n, const Request& r, fabric::Packet& packet) {
  const auto waiting = parked_.find(n);
  if (waiting == parked_.end() || waiting->second.empty() || !may_park()) return false;
  parked_packets_++;
  parked_bytes_ += packet.payload.size();
  waiting->second.push_back({std::move(packet), r});
  return true;
}

// The rest of a message whose beginning waits. A message that is too long to wait is dropped whole,
// and its sender is told.
void Nic::park_continuation(std::deque<Parked>& packets, const Request& r,
                            fabric::Packet&& packet) {
  if (may_park()) {
    parked_packets_++;
    parked_bytes_ += packet.payload.size();
    packets.push_back({std::move(packet), r});
    return;
  }
  wire_.give(std::move(packet));
  std::erase_if(packets, [&](Parked& parked) {
    const Request& other = parked.request;
    if (other.source_nid != r.source_nid || other.spt != r.spt || other.seq != r.seq) return false;
    if (other.format != PacketFormat::continuation) refuse(other, C_RC_DROPPED);
    parked_packets_--;
    parked_bytes_ -= parked.packet.payload.size();
    wire_.give(std::move(parked.packet));
    return true;
  });
}

bool Nic::may_park() const {
  return parked_packets_ < most_parked && parked_bytes_ < most_parked_bytes;
}

void Nic::unpark(unsigned n) {
  const auto waiting = parked_.find(n);
  if (waiting == parked_.end()) return;
  std::deque<Parked> packets = std::move(waiting->second);
  parked_.erase(waiting);
  parked_packets_ -= packets.size();
  for (const auto& parked : packets)
    parked_bytes_ -= parked.packet.payload.size();
  // Those that still find nothing park themselves again, in the same order.
  for (auto& parked : packets) {
    if (parked.request.format == PacketFormat::continuation)
      handle_continuation(parked.request, std::move(parked.packet));
    else
      handle_request(parked.request, std::move(parked.packet));
  }
}

void Nic::handle_continuation(const Request& r, fabric::Packet&& packet) {
  const auto at = deliveries_.find(message_key(r.source_nid, r.spt));
  if (at == deliveries_.end() || at->second.request.seq != r.seq) {
    for (auto& [n, packets] : parked_)
      for (const auto& parked : packets)
        if (parked.request.source_nid == r.source_nid && parked.request.spt == r.spt &&
            parked.request.seq == r.seq)
          return park_continuation(packets, r, std::move(packet));
    // The rest of a message that was refused or cut off.
    return wire_.give(std::move(packet));
  }
  Delivery& delivery = at->second;
  delivery.heard_ns = now_ns_;
  if (r.src_error) {
    delivery.return_code = C_RC_SRC_ERROR;
  } else {
    write_payload(delivery, r.offset, packet.payload);
  }
  wire_.give(std::move(packet));
  if (!r.end_of_message) return;
  Delivery done = std::move(delivery);
  deliveries_.erase(at);
  complete(done);
}

}  // namespace sim::nic
