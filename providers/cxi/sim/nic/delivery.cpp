// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A message that has been accepted: data moves, events are posted, the answer goes out
// (behaviour 5.6, 5.9, 6.7).
#include <algorithm>
#include <cfenv>
#include <cstring>
#include <limits>

#include "ethernet/cassini_user_defs.h"
#include "nic/addressing.hpp"
#include "nic/atomic_unit.hpp"
#include "nic/engine.hpp"
#include "nic/trace_text.hpp"

namespace sim::nic {
namespace {

constexpr unsigned pieces_per_pass = 2;  // of one get

uint8_t event_of(unsigned opcode) {
  switch (opcode) {
    case C_CMD_GET:
      return C_EVENT_GET;
    case C_CMD_ATOMIC:
      return C_EVENT_ATOMIC;
    case C_CMD_FETCHING_ATOMIC:
      return C_EVENT_FETCH_ATOMIC;
    default:
      return C_EVENT_PUT;
  }
}

// Bytes that were read or written before a message failed.
uint32_t moved(const Delivery& d) {
  const unsigned opcode = d.request.opcode;
  if (opcode == C_CMD_GET) return d.last_offset;
  if (is_atomic(opcode)) return d.has_fetched ? d.mlength : 0;
  const uint64_t arrived = uint64_t{d.raw_header} + d.received;
  return static_cast<uint32_t>(std::min<uint64_t>(arrived, d.mlength));
}

int floating_point_code(const PteConfig& config, int exceptions) {
  if (config.signal_invalid && exceptions & (FE_INVALID | FE_DIVBYZERO)) return C_RC_AMO_FP_INVALID;
  if (config.signal_overflow && exceptions & FE_OVERFLOW) return C_RC_AMO_FP_OVERFLOW;
  if (config.signal_underflow && exceptions & FE_UNDERFLOW) return C_RC_AMO_FP_UNDERFLOW;
  if (config.signal_inexact && exceptions & FE_INEXACT) return C_RC_AMO_FP_INEXACT;
  return C_RC_OK;
}

}  // namespace

// Memory of the target, as the receive engine asks for it.
int Nic::read_target(const Delivery& d, uint64_t address, std::span<std::byte> out) {
  const int rc = memory_.read(d.rgid, d.lac, address, out);
  stats_.addresses.arriving++;
  stats_.addresses.refused += rc != C_RC_OK;
  return rc;
}

int Nic::write_target(const Delivery& d, uint64_t address, std::span<const std::byte> in) {
  const int rc = memory_.write(d.rgid, d.lac, address, in);
  stats_.addresses.arriving++;
  stats_.addresses.refused += rc != C_RC_OK;
  stats_.arriving.writes += wire_packets(in.size());
  return rc;
}

// Nobody answers a multicast, and a switch has answered a high-rate put.
bool Nic::is_answered(const Request& r) {
  return r.dscp != hrp_dscp && dfa_kind(r.dfa) != DfaKind::multicast;
}

Response Nic::answer_to(const Request& r) const {
  Response response;
  response.opcode = r.opcode;
  response.vni = r.vni;
  response.spt = r.spt;
  response.seq = r.seq;
  response.source_nid = config_.nid;
  response.destination_nid = r.source_nid;
  return response;
}

void Nic::send_answer(const Response& response, fabric::Packet&& packet) {
  encode(response, packet.header);
  packet.source_nid = config_.nid;
  packet.destination_nid = response.destination_nid;
  stats_.tracking.responses_sent += wire_packets(packet.payload.size());
  // An answer that cannot be sent waits like a request; given up, it is the asker's time-out.
  wire_.send(std::move(packet), now_ns_);
}

void Nic::refuse(const Request& r, int return_code) {
  Response response = answer_to(r);
  response.return_code = static_cast<uint8_t>(return_code);
  send_answer(response, wire_.take(0));
}

void Nic::post_target(PortalEntry& entry, TargetEvent& event, Delivery* promise) {
  EventQueue* queue = queue_of(entry.rgid, entry.config.eqn);
  if (!queue) return;
  event.ptlte_index = static_cast<uint16_t>(entry.index);
  stats_.lists.events[event.type]++;
  const bool plain = event.type <= C_EVENT_FETCH_ATOMIC && event.ptl_list == C_PTL_LIST_PRIORITY &&
                     !event.rendezvous;
  const bool is_short = plain && !entry.config.long_events && !queue->target_long();
  const EventBytes bytes = is_short ? encode_short(event) : encode_long(event, clock_);
  if (tracing())
    say("eq {}: {} {} pte {} buffer {} in {} length {}/{} start {:#x} header {:#x}{}", queue->eqn(),
        name_of_event(event.type), name_of_return_code(event.return_code), entry.index,
        event.buffer_id, name_of_list(event.ptl_list), event.mlength, event.rlength, event.start,
        event.header_data, event.auto_unlinked ? " auto-unlinked" : "");
  if (promise && promise->promised != 0) {
    promise->promised--;
    queue->write_promised(bytes, clock_);
    stats_.events.enqueued++;
    stats_.events.by_type[event.type]++;
    notify(*queue);
  } else {
    post(*queue, bytes);
  }
}

void Nic::release_promises(Delivery& delivery) {
  const PortalEntry* entry = pte(delivery.pte);
  EventQueue* queue = entry ? eq(entry->config.eqn) : nullptr;
  if (queue && delivery.promised != 0) queue->unpromise(delivery.promised);
  delivery.promised = 0;
}

void Nic::unlink_automatically(PortalEntry& entry, uint32_t node, Delivery& delivery) {
  EntryPool& nodes = pool(entry);
  const ListNode& n = nodes[node];
  if (n.event_unlink_disable) {
    delivery.auto_unlinked = true;
  } else {
    TargetEvent event;
    event.type = C_EVENT_UNLINK;
    event.return_code = C_RC_OK;
    event.buffer_id = n.buffer_id;
    event.ptl_list = n.list;
    event.auto_unlinked = true;
    event.start = n.start;
    post_target(entry, event, &delivery);
  }
  nodes.unlink(entry.lists[n.list], node);
  give_entry(entry, node);
}

Delivery Nic::accept(PortalEntry& entry, const Request& r, const Decision& decision) {
  EntryPool& nodes = pool(entry);
  ListNode& n = nodes[decision.node];
  const uint64_t remote = placement_offset(entry, r);
  Delivery d;
  d.pte = static_cast<uint16_t>(entry.index);
  d.rgid = static_cast<uint16_t>(entry.rgid);
  d.buffer_id = n.buffer_id;
  d.ct = n.ct;
  d.promised = static_cast<uint16_t>(decision.promised);
  d.list = static_cast<uint8_t>(decision.list);
  d.lac = n.lac;
  d.comm_event = !n.event_comm_disable;
  d.success_event = !n.event_comm_disable && !n.event_success_disable;
  d.count = n.event_ct_comm;
  d.count_bytes = n.event_ct_bytes;
  d.rendezvous_event = r.opcode == C_CMD_RENDEZVOUS_PUT && decision.list == C_PTL_LIST_PRIORITY;
  d.address = n.start + (n.manage_local ? n.local_offset : remote);
  d.space = space_left(n, remote);
  const uint32_t data = r.opcode == C_CMD_RENDEZVOUS_PUT ? r.eager_length : r.request_len;
  d.mlength = static_cast<uint32_t>(std::min<uint64_t>(data, d.space));
  d.return_code = C_RC_OK;
  d.no_answer = !is_answered(r);
  d.request = r;
  auto& l = stats_.lists;
  l.good++;
  l.matches += decision.list != C_PTL_LIST_REQUEST;
  l.matches_by_list[decision.list]++;
  l.use_once += n.use_once;
  l.locally_managed += n.manage_local;
  l.truncated += d.mlength < data;
  if (tracing())
    say("match: pte {} buffer {} in {} address {:#x} length {} of {}", entry.index, n.buffer_id,
        name_of_list(decision.list), d.address, d.mlength, r.request_len);
  if (entry.config.event_match) {
    TargetEvent event;
    event.type = C_EVENT_MATCH;
    event.return_code = C_RC_OK;
    event.buffer_id = n.buffer_id;
    event.ptl_list = d.list;
    post_target(entry, event, &d);
  }
  if (decision.unexpected != no_entry) {
    ListNode& u = nodes[decision.unexpected];
    u.list = C_PTL_LIST_UNEXPECTED;
    u.match_bits = r.match_bits;
    u.match_id = r.initiator;
    u.start = d.address;
    u.length = d.mlength;
    u.header_data = r.header_data;
    u.remote_offset = r.remote_offset;
    u.place_offset = remote;
    u.rlength = r.request_len;
    u.source_nid = r.source_nid;
    u.vni = r.vni;
    u.opcode = r.opcode;
    u.rendezvous_id = r.rendezvous_id;
    u.dfa = r.dfa;
    u.dscp = r.dscp;
    nodes.push_back(entry.lists[C_PTL_LIST_UNEXPECTED], decision.unexpected);
  }
  if (n.manage_local) {
    // A rendezvous takes its whole length; the rest arrives later.
    const uint64_t taken =
        d.rendezvous_event ? std::min<uint64_t>(r.request_len, d.space) : d.mlength;
    n.local_offset = next_place(n, taken, entry.config.align_lm);
  }
  const uint64_t left = n.manage_local ? n.length - n.local_offset : 0;
  const uint64_t least = uint64_t{n.min_free};
  if (n.use_once || (n.manage_local && (left == 0 || left < least)))
    unlink_automatically(entry, decision.node, d);
  return d;
}

void Nic::accept_raw(PortalEntry& entry, const Request& r, const Decision& decision,
                     fabric::Packet&& packet) {
  // The payload is preceded by the header as it came; the length of both is what counts.
  Delivery d = [&] {
    Request raw = r;
    raw.opcode = C_CMD_PUT;
    const uint32_t data = r.opcode == C_CMD_RENDEZVOUS_PUT ? r.eager_length : r.request_len;
    constexpr uint64_t most = std::numeric_limits<uint32_t>::max();
    raw.request_len = static_cast<uint32_t>(std::min(most, data + uint64_t{packet.header.size()}));
    return accept(entry, raw, decision);
  }();
  d.request.opcode = r.opcode;
  d.request.request_len = r.request_len;
  d.rendezvous_event = false;
  d.raw_header = static_cast<uint8_t>(packet.header.size());
  const auto header =
      std::span(packet.header).first(std::min<size_t>(packet.header.size(), d.mlength));
  const int rc = write_target(d, d.address, header);
  if (rc != C_RC_OK) d.return_code = rc;
  begin(std::move(d), std::move(packet));
}

void Nic::write_payload(Delivery& d, uint32_t offset, std::span<const std::byte> payload) {
  d.received += static_cast<uint32_t>(payload.size());
  const uint64_t at = uint64_t{offset} + d.raw_header;
  if (d.return_code != C_RC_OK || at >= d.mlength) return;
  const auto part = payload.first(std::min<size_t>(payload.size(), d.mlength - at));
  const int rc = write_target(d, d.address + at, part);
  if (rc == C_RC_OK) return;
  d.return_code = rc;
  d.mlength = static_cast<uint32_t>(at);  // what is known to have been placed
}

void Nic::begin(Delivery&& d, fabric::Packet&& packet) {
  const Request& r = d.request;
  if (r.opcode == C_CMD_GET) {
    wire_.give(std::move(packet));
    Serving serving{std::move(d), 0};
    if (serve(serving) != Served::whole) servings_.push_back(std::move(serving));
    return;
  }
  if (is_atomic(r.opcode)) {
    do_atomic(d, packet.payload);
    return wire_.give(std::move(packet));
  }
  const uint32_t data = r.opcode == C_CMD_RENDEZVOUS_PUT ? r.eager_length : r.request_len;
  write_payload(d, 0, packet.payload);
  wire_.give(std::move(packet));
  if (d.received >= data) return complete(d);
  const uint64_t key = message_key(r.source_nid, r.spt);
  if (const auto old = deliveries_.find(key); old != deliveries_.end()) {
    // The sender has given that one up and uses its tracker entry again.
    Delivery stale = std::move(old->second);
    deliveries_.erase(old);
    cut_off(stale, false);
  }
  d.heard_ns = now_ns_;
  deliveries_.emplace(key, std::move(d));
  auto& most = stats_.tracking.most_messages;
  most = std::max<Count>(most, deliveries_.size());
}

void Nic::do_atomic(Delivery& d, std::span<const std::byte> payload) {
  const PortalEntry& entry = *pte(d.pte);
  const auto operands = decode_operands(payload);
  d.return_code = operands ? check_atomic(*operands, d.request.request_len) : C_RC_AMO_LENGTH_ERROR;
  if (d.return_code == C_RC_OK) {
    d.operands = *operands;
    const uint32_t bytes = d.request.request_len;
    AtomicValue memory{};
    const auto part = std::span(memory).first(bytes);
    if (d.mlength < bytes)
      d.return_code = C_RC_NO_SPACE;
    else if (d.address % bytes != 0)
      d.return_code = C_RC_AMO_ALIGN_ERROR;
    else
      d.return_code = read_target(d, d.address, part);
    if (d.return_code == C_RC_OK) {
      const AtomicResult result = apply_atomic(*operands, memory);
      d.return_code = write_target(d, d.address, std::span(result.value).first(bytes));
      const bool fetching = d.request.opcode == C_CMD_FETCHING_ATOMIC;
      const bool by_bus = operands->op == C_AMO_OP_SWAP;  // behaviour 8.4
      (!by_bus    ? stats_.arriving.atomic_operations
       : fetching ? stats_.arriving.fetching_bus_atomics
                  : stats_.arriving.bus_atomics)++;
      if (d.return_code == C_RC_OK) {
        auto& a = stats_.arriving;
        a.float_invalid += (result.exceptions & (FE_INVALID | FE_DIVBYZERO)) != 0;
        a.float_overflow += (result.exceptions & FE_OVERFLOW) != 0;
        a.float_underflow += (result.exceptions & FE_UNDERFLOW) != 0;
        a.float_inexact += (result.exceptions & FE_INEXACT) != 0;
        d.return_code = floating_point_code(entry.config, result.exceptions);
        d.fetched = memory;
        d.has_fetched = true;
      }
    }
  }
  complete(d);
}

// Sends the next pieces of a get.
Nic::Served Nic::serve(Serving& s) {
  Delivery& d = s.delivery;
  if (wire_.blocked(d.request.source_nid)) return Served::nothing;
  for (unsigned i = 0; i < pieces_per_pass; i++) {
    const uint32_t left = d.mlength - s.offset;
    const auto bytes = static_cast<uint32_t>(std::min<size_t>(left, piece_bytes));
    if (bytes == left) {  // the last piece goes with the answer, behind the event
      d.last_offset = s.offset;
      complete(d);
      return Served::whole;
    }
    fabric::Packet packet = wire_.take(bytes);
    const int rc = read_target(d, d.address + s.offset, packet.payload);
    if (rc != C_RC_OK) {
      d.return_code = rc;
      wire_.give(std::move(packet));
      d.last_offset = s.offset;
      complete(d);
      return Served::whole;
    }
    Response response = answer_to(d.request);
    response.return_code = C_RC_OK;
    response.ptl_list = d.list;
    response.last = false;
    response.offset = s.offset;
    response.mlength = d.mlength;
    send_answer(response, std::move(packet));
    s.offset += bytes;
  }
  return Served::part;
}

void Nic::post_rendezvous(PortalEntry& entry, Delivery& d, bool get_issued) {
  const Request& r = d.request;
  const unsigned pid = r.initiator >> (32 - config_.pid_bits);
  const unsigned index = (1u << (C_DFA_ENDPOINT_BITS - config_.pid_bits)) - 1;
  TargetEvent event;
  event.type = C_EVENT_RENDEZVOUS;
  event.return_code = C_RC_OK;
  event.ptl_list = d.list;
  event.rendezvous = true;
  event.get_issued = get_issued;
  event.rendezvous_id = r.rendezvous_id;
  event.buffer_id = d.buffer_id;
  event.vni = r.vni;
  event.initiator = make_dfa(r.source_nid, pid, index, config_.pid_bits);
  event.mlength = d.mlength;
  event.rlength = r.request_len;
  event.match_bits = rendezvous_match_bits(r);
  event.remote_offset = r.remote_offset + d.mlength;
  event.start = d.address + d.mlength;
  event.header_data = r.header_data;
  post_target(entry, event, &d);
}

// A message of which no more will come; its sender is told unless it has forgotten about it.
void Nic::cut_off(Delivery& d, bool answer) {
  d.return_code = C_RC_MST_CANCELLED;
  stats_.tracking.messages_cancelled++;
  d.no_answer |= !answer;
  complete(d);
}

bool Nic::end_stale_deliveries() {
  bool any = false;
  for (auto at = deliveries_.begin(); at != deliveries_.end();) {
    if (now_ns_ - at->second.heard_ns < config_.give_up_ns) {
      ++at;
      continue;
    }
    Delivery stale = std::move(at->second);
    at = deliveries_.erase(at);
    say("message from nid {} was never finished", stale.request.source_nid);
    cut_off(stale, true);
    any = true;
  }
  return any;
}

void Nic::cancel_deliveries(unsigned n, std::optional<unsigned> list,
                            std::optional<unsigned> buffer_id, bool events) {
  const auto meant = [&](const Delivery& d) {
    return d.pte == n && (!list || d.list == *list) && (!buffer_id || d.buffer_id == *buffer_id);
  };
  const auto cancel = [&](Delivery& d) {
    if (!events) d.comm_event = d.success_event = d.rendezvous_event = d.count = false;
    cut_off(d, true);
  };
  for (auto at = deliveries_.begin(); at != deliveries_.end();) {
    if (!meant(at->second)) {
      ++at;
      continue;
    }
    cancel(at->second);
    at = deliveries_.erase(at);
  }
  std::erase_if(servings_, [&](Serving& s) {
    if (!meant(s.delivery)) return false;
    s.delivery.last_offset = s.offset;
    cancel(s.delivery);
    return true;
  });
}

void Nic::count_delivery(const Delivery& d) {
  auto& a = stats_.arriving;
  if (d.return_code == C_RC_OK) {
    const unsigned opcode = d.request.opcode;
    (opcode == C_CMD_GET ? a.gets_good : is_atomic(opcode) ? a.atomics_good : a.puts_good)++;
    // Data is in memory before the answer goes out, flush or not; it is not said of what fetches.
    a.flushes += d.request.flush && !brings_reply(opcode);
  }
  a.atomic_misaligned += d.return_code == C_RC_AMO_ALIGN_ERROR;
  a.atomic_bad_operation += d.return_code == C_RC_AMO_INVAL_OP_ERROR;
  a.atomic_bad_length += d.return_code == C_RC_AMO_LENGTH_ERROR;
}

void Nic::complete(Delivery& d) {
  const Request& r = d.request;
  PortalEntry* entry = pte(d.pte);
  const bool with_data = r.opcode == C_CMD_GET && d.return_code == C_RC_OK;
  fabric::Packet answer = wire_.take(with_data ? d.mlength - d.last_offset : 0);
  if (with_data) {
    d.return_code = read_target(d, d.address + d.last_offset, std::span(answer.payload));
    if (d.return_code != C_RC_OK) answer.payload.resize(0);
  }
  if (r.opcode == C_CMD_FETCHING_ATOMIC && d.has_fetched)
    answer.payload.assign(d.fetched.begin(), d.fetched.begin() + r.request_len);
  const bool good = d.return_code == C_RC_OK;
  if (!good) d.mlength = std::min(d.mlength, moved(d));
  count_delivery(d);
  if (entry) {
    const bool rendezvous = r.opcode == C_CMD_RENDEZVOUS_PUT;
    const bool get_issued = good && d.rendezvous_event && issue_rendezvous_get(d);
    stats_.lists.rendezvous_offloaded += get_issued;
    TargetEvent event;
    event.type = event_of(r.opcode);
    event.return_code = static_cast<uint8_t>(d.return_code);
    event.ptl_list = d.list;
    event.rendezvous = rendezvous;
    event.get_issued = get_issued;
    event.auto_unlinked = d.auto_unlinked;
    event.rendezvous_id = r.rendezvous_id;
    event.atomic_op = d.operands.op;
    event.atomic_type = d.operands.type;
    event.cswap_op = d.operands.cswap;
    event.buffer_id = d.buffer_id;
    event.vni = r.vni;
    event.initiator = r.initiator;
    event.mlength = d.mlength;
    event.rlength = r.request_len;
    event.header_data = r.header_data;
    event.match_bits = r.match_bits;
    event.remote_offset = r.remote_offset;
    event.start = d.address;
    if (good ? d.success_event : d.comm_event)
      post_target(*entry, event, d.success_event ? &d : nullptr);
    if (d.rendezvous_event && good && d.comm_event) post_rendezvous(*entry, d, get_issued);
    if (d.count) count(d.rgid, d.ct, good, d.count_bytes ? d.mlength : 1);
  }
  release_promises(d);
  if (d.no_answer) return wire_.give(std::move(answer));
  Response response = answer_to(r);
  response.return_code = static_cast<uint8_t>(d.return_code);
  response.ptl_list = d.list;
  response.offset = d.last_offset;
  // Of a raw message the sender is told what came behind the header.
  response.mlength = d.mlength - std::min<uint32_t>(d.mlength, d.raw_header);
  send_answer(response, std::move(answer));
}

}  // namespace sim::nic
