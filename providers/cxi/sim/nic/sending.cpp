// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Requests on their way out. A put that is longer than a packet goes as a first packet, which is
// matched, and continuations, in order; a restricted transfer goes as independent parts, each with
// a tracker entry of its own (behaviour 10.3).
#include <algorithm>
#include <cstring>

#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"
#include "nic/addressing.hpp"
#include "nic/engine.hpp"
#include "nic/trace_text.hpp"

namespace sim::nic {
namespace {

constexpr uint32_t restricted_bytes = 2048;  // one packet: the length has 12 bits
constexpr unsigned pieces_per_pass = 2;
constexpr unsigned parts_per_pass = 32;
constexpr uint64_t bytes_per_pass = uint64_t{8} << 20;  // of all transfers

}  // namespace

// Memory of the message's own side, as the transmit engine asks for it.
int Nic::read_source(const Message& m, unsigned lac, uint64_t address, std::span<std::byte> out) {
  stats_.addresses.sending++;
  const int rc = memory_.read(m.rgid, lac, address, out);
  if (rc == C_RC_OK) return rc;
  stats_.addresses.refused++;
  stats_.sending.no_translation += rc == C_RC_NO_TRANSLATION;
  stats_.sending.invalid_context += rc == C_RC_INVALID_AC;
  stats_.sending.page_permission += rc == C_RC_PAGE_PERM_ERROR;
  return rc;
}

void Nic::send_request(uint16_t spt, const Request& request, fabric::Packet&& packet) {
  packet.source_nid = config_.nid;
  packet.destination_nid = dfa_nid(request.dfa);
  packet.use = request.seq;
  encode(request, packet.header);
  Message& m = messages_[spt];
  m.progress_ns = now_ns_;
  const bool by_switch = request.dscp == hrp_dscp;
  const size_t packets = wire_packets(packet.payload.size());
  const bool restricted = request.format == PacketFormat::restricted;
  (restricted ? stats_.sending.unordered_packets : stats_.sending.ordered_packets) += packets;
  if (request.opcode == C_CMD_PUT || request.opcode == C_CMD_RENDEZVOUS_PUT)
    stats_.sending.put_packets[traffic_class_of(request.dscp)] += packets;
  stats_.sending.source_errors += request.src_error;
  if (packets > 1 && request.format == PacketFormat::unrestricted)
    stats_.sending.multi_packet_messages++;
  switch (wire_.send(std::move(packet), now_ns_)) {
    case Wire::Sent::refused:
      return finish(spt, lost(m), false, 0, 0);
    case Wire::Sent::yes:
      // The last switch answers for the target, as soon as it has the packet (behaviour 10.5).
      if (!by_switch) return;
      stats_.sending.high_rate_answers++;
      return finish(spt, C_RC_OK, false, m.request_len, C_PTL_LIST_PRIORITY);
    case Wire::Sent::held:
      m.retried = true;
      if (m.parent != no_message) messages_[m.parent].retried = true;
      return;
  }
}

void Nic::send_first(uint16_t spt, const TxCommand& command, Request& r) {
  Message& m = messages_[spt];
  switch (dfa_kind(r.dfa)) {
    case DfaKind::unicast:
      break;
    case DfaKind::multicast:
      return send_multicast(spt, command, r);
    case DfaKind::invalid:
      return finish(spt, C_RC_INVALID_DFA_FORMAT, false, 0, 0);
  }
  const bool restricted = r.format == PacketFormat::restricted;
  // High-rate puts are answered by a switch, so there must be one, and nothing to come back.
  if (r.dscp == hrp_dscp && (!restricted || brings_reply(r.opcode) || m.peer == config_.nid))
    return finish(spt, C_RC_HRP_CONFIG_ERROR, false, 0, 0);
  uint32_t data = 0;
  if (is_atomic(r.opcode)) {
    // No operand is so long, and the header could not tell it.
    if (restricted && r.request_len > restricted_bytes)
      return finish(spt, C_RC_AMO_LENGTH_ERROR, false, 0, 0);
    AtomicOperands operands = command.operands;
    if (!command.immediate) {
      std::array<std::byte, sizeof(operands.op1)> bytes{};
      const auto part = std::span(bytes).first(std::min<size_t>(bytes.size(), r.request_len));
      const int rc = read_source(m, command.lac, command.local_addr, part);
      if (rc != C_RC_OK) m.local_rc = static_cast<uint8_t>(rc);
      std::memcpy(operands.op1, bytes.data(), bytes.size());
    }
    m.lac = m.options.write_lac;
    m.local = command.local_write;
    r.src_error = m.local_rc != 0;
    fabric::Packet packet = wire_.take(0);
    encode(operands, packet.payload);
    if (m.local_rc == 0) sent_locally(m);
    return send_request(spt, r, std::move(packet));
  }
  m.lac = command.lac;
  m.local = command.local_addr;
  if (r.opcode == C_CMD_PUT) data = r.request_len;
  if (r.opcode == C_CMD_RENDEZVOUS_PUT) data = r.eager_length;

  if (restricted && r.request_len > restricted_bytes) {
    sendings_.push_back({spt, m.queue, command.lac, 0, r.request_len, command.local_addr, r});
    if (CommandQueue* queue = cmdq(m.queue)) queue->sending = true;
    return;
  }
  const auto first = static_cast<uint32_t>(std::min<size_t>(data, piece_bytes));
  fabric::Packet packet = wire_.take(first);
  if (command.immediate) {
    std::ranges::copy(command.payload, packet.payload.begin());
  } else if (first != 0) {
    const int rc = read_source(m, command.lac, command.local_addr, packet.payload);
    if (rc != C_RC_OK) {
      m.local_rc = static_cast<uint8_t>(rc);
      r.src_error = true;
      packet.payload.resize(0);
      say("message {}: source not readable, {}", spt, name_of_return_code(m.local_rc));
    }
  }
  if (!r.src_error && first < data) {
    sendings_.push_back({spt, m.queue, command.lac, first, data, command.local_addr, r});
    if (CommandQueue* queue = cmdq(m.queue)) queue->sending = true;
  } else if (!r.src_error) {
    sent_locally(m);
  }
  send_request(spt, r, std::move(packet));
}

void Nic::send_multicast(uint16_t spt, const TxCommand& command, const Request& r) {
  Message& m = messages_[spt];
  // Only restricted packets can be multicast, and nobody answers them (behaviour 1.2, 9).
  if (r.format != PacketFormat::restricted || r.opcode != C_CMD_PUT ||
      r.request_len > restricted_bytes)
    return finish(spt, C_RC_INVALID_DFA_FORMAT, false, 0, 0);
  fabric::Packet packet = wire_.take(r.request_len);
  if (command.immediate) {
    std::ranges::copy(command.payload, packet.payload.begin());
  } else {
    const int rc = read_source(m, command.lac, command.local_addr, packet.payload);
    if (rc != C_RC_OK) return finish(spt, rc, false, 0, 0);
  }
  packet.source_nid = config_.nid;
  packet.use = r.seq;
  encode(r, packet.header);
  wire_.send_to_all(packet);
  stats_.sending.unanswered_packets++;
  wire_.give(std::move(packet));
  sent_locally(m);
  finish(spt, C_RC_OK, false, r.request_len, C_PTL_LIST_PRIORITY);
}

bool Nic::send_pieces() {
  bool any = false;
  size_t i = 0;
  for (uint64_t bytes = 0; i < sendings_.size() && bytes < bytes_per_pass;) {
    // By copy: what is finished on the way takes its entry out of the list.
    Sending sending = sendings_[i];
    const bool restricted = sending.request.format == PacketFormat::restricted;
    const unsigned most = restricted ? parts_per_pass : pieces_per_pass;
    bool open = sending.offset < sending.length;
    for (unsigned n = 0; n < most && open; n++) {
      const uint32_t before = sending.offset;
      open = restricted ? send_part(sending) : send_piece(sending);
      if (sending.offset == before) break;  // has to wait
      bytes += sending.offset - before;
      any = true;
    }
    if (open) {
      sendings_[i++] = sending;
      continue;
    }
    sendings_[i] = std::move(sendings_.back());
    sendings_.pop_back();
    end_sending(sending);
  }
  // Those that were left out come first the next time.
  if (i < sendings_.size())
    std::ranges::rotate(sendings_, sendings_.begin() + static_cast<std::ptrdiff_t>(i));
  return any;
}

void Nic::end_sending(const Sending& sending) {
  CommandQueue* queue = cmdq(sending.queue);
  if (!queue) return;
  queue->sending = false;
  if (queue->ring.pending() && !queue->failed && !queue->stopped) list_queue(*queue);
}

// One continuation; false: it was the last, or nobody wants more.
bool Nic::send_piece(Sending& s) {
  Message& m = messages_[s.spt];
  if (!m.busy || m.seq != s.request.seq) return false;  // refused by the target meanwhile
  if (wire_.blocked(m.peer)) return true;
  const auto bytes = static_cast<uint32_t>(std::min<size_t>(piece_bytes, s.length - s.offset));
  fabric::Packet packet = wire_.take(bytes);
  const int rc = read_source(m, s.lac, s.local + s.offset, packet.payload);
  Request r = s.request;
  r.format = PacketFormat::continuation;
  r.offset = s.offset;
  r.end_of_message = s.offset + bytes == s.length;
  if (rc != C_RC_OK) {
    m.local_rc = static_cast<uint8_t>(rc);
    r.src_error = r.end_of_message = true;
    packet.payload.resize(0);
    say("message {}: source not readable at {}, {}", s.spt, s.offset,
        name_of_return_code(m.local_rc));
  }
  s.offset += bytes;
  if (r.end_of_message && rc == C_RC_OK) sent_locally(m);
  send_request(s.spt, r, std::move(packet));
  return !r.end_of_message;
}

// One part of a restricted transfer, which completes with its last part.
bool Nic::send_part(Sending& s) {
  if (!messages_[s.spt].busy || messages_[s.spt].seq != s.request.seq) return false;  // given up
  if (wire_.blocked(messages_[s.spt].peer) || !may_take_spt(messages_[s.spt].rgid)) return true;
  const uint32_t bytes = std::min(restricted_bytes, s.length - s.offset);
  const uint16_t part = take_spt(messages_[s.spt].rgid);
  Message& parent = messages_[s.spt];
  Message& m = messages_[part];
  m.opcode = parent.opcode;
  m.peer = parent.peer;
  m.parent = s.spt;
  m.lac = s.lac;
  m.local = s.local + s.offset;
  m.request_len = bytes;
  Request r = s.request;
  r.spt = part;
  r.seq = m.seq;
  r.request_len = bytes;
  r.remote_offset += s.offset;
  fabric::Packet packet = wire_.take(r.opcode == C_CMD_PUT ? bytes : 0);
  const int rc = read_source(m, s.lac, m.local, packet.payload);
  if (rc != C_RC_OK) {
    m.local_rc = static_cast<uint8_t>(rc);
    r.src_error = true;
    packet.payload.resize(0);
  }
  s.offset += bytes;
  parent.parts++;
  parent.progress_ns = now_ns_;
  const bool last = s.offset == s.length;
  parent.all_sent = last;
  if (last && rc == C_RC_OK) sent_locally(parent);
  send_request(part, r, std::move(packet));
  return !last;
}

void Nic::abort_sending(CommandQueue& queue) {
  for (size_t i = 0; i < sendings_.size();) {
    if (sendings_[i].queue != queue.index) {
      i++;
      continue;
    }
    const Sending s = sendings_[i];
    sendings_[i] = std::move(sendings_.back());
    sendings_.pop_back();
    queue.sending = false;
    Message& m = messages_[s.spt];
    if (!m.busy || m.seq != s.request.seq) continue;
    if (s.request.format == PacketFormat::restricted) {
      m.local_rc = C_RC_CANCELED;
      m.all_sent = true;
      if (m.parts == 0) finish(s.spt, C_RC_CANCELED, false, m.placed, 0);
      continue;
    }
    // The target learns that no more comes; its answer then ends the message.
    m.local_rc = C_RC_CANCELED;
    Request r = s.request;
    r.format = PacketFormat::continuation;
    r.offset = s.offset;
    r.src_error = r.end_of_message = true;
    send_request(s.spt, r, wire_.take(0));
  }
}

bool Nic::issue_rendezvous_get(const Delivery& d) {
  if (!config_.rendezvous_get || !may_take_spt(d.rgid)) return false;
  const Request& put = d.request;
  const uint64_t total = std::min<uint64_t>(put.request_len, d.space);
  const auto rest = static_cast<uint32_t>(total - std::min<uint64_t>(total, d.mlength));
  const PortalEntry& entry = *pte(d.pte);
  const unsigned pid = put.initiator >> (32 - config_.pid_bits);
  const unsigned index = (1u << (C_DFA_ENDPOINT_BITS - config_.pid_bits)) - 1;
  const uint16_t spt = take_spt(d.rgid);
  Message& m = messages_[spt];
  m.rendezvous = true;
  m.pte = d.pte;
  m.opcode = C_CMD_GET;
  m.peer = put.source_nid;
  m.lac = d.lac;
  m.local = d.address + d.mlength;
  m.request_len = rest;
  m.options.eq = static_cast<uint16_t>(entry.config.eqn);
  cxi_rdzv_user_ptr user{};
  user.src_nid = put.source_nid & C_NID_ANY;
  user.src_pid = pid & C_PID_ANY;
  user.ptlte_index = d.pte & (C_NUM_PTLTES - 1);
  user.rendezvous_id = put.rendezvous_id;
  user.buffer_id = d.buffer_id;
  m.options.user_ptr = user.raw;
  Request r;
  r.opcode = C_CMD_GET;
  r.dscp = put.dscp;
  r.vni = put.vni;
  r.spt = spt;
  r.seq = m.seq;
  r.source_nid = config_.nid;
  r.dfa = make_dfa(put.source_nid, pid, index, config_.pid_bits);
  r.index_ext = index & 0x1f;
  r.request_len = rest;
  r.initiator = (put.dfa & C_PID_ANY) << (32 - config_.pid_bits) | config_.nid;
  r.remote_offset = put.remote_offset + d.mlength;
  r.match_bits = rendezvous_match_bits(put);
  stats_.sending.get_messages[traffic_class_of(r.dscp)]++;
  say("rendezvous {}: GET of {} bytes from nid {} pid {} as {}", put.rendezvous_id, rest,
      put.source_nid, pid, spt);
  send_request(spt, r, wire_.take(0));
  return true;
}

}  // namespace sim::nic
