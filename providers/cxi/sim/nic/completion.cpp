// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What comes back: responses, failures and time-outs become initiator events and counts
// (behaviour 6.6).
#include <algorithm>
#include <utility>

#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"
#include "nic/engine.hpp"
#include "nic/trace_text.hpp"

namespace sim::nic {
namespace {

bool is_flow_control(const EventBytes& event) {
  if (cassini::c_event::hdr::event_type::get(event.bytes) != C_EVENT_STATE_CHANGE) return false;
  const auto fields = cassini::c_event_target_long::initiator::get(event.bytes);
  return cassini::c_state_chg_fields::sc_nic_auto::decode(fields);
}

}  // namespace

// A group may have as many trackers as it leaves free: whatever one group does, and the next one
// then, there are some for the others.
bool Nic::may_take_spt(unsigned rgid) const {
  return groups_[rgid].trackers < free_spts_.size();
}

uint16_t Nic::take_spt(unsigned rgid) {
  const uint16_t spt = free_spts_.front();
  free_spts_.pop_front();
  Message& m = messages_[spt];
  const auto use = static_cast<uint16_t>((m.seq + 1) & 0xfff);
  m = {};
  m.busy = true;
  m.rgid = static_cast<uint16_t>(rgid);
  groups_[rgid].trackers++;
  m.seq = use;
  m.progress_ns = now_ns_;
  busy_messages_++;
  auto& t = stats_.tracking;
  t.most_requests = std::max<Count>(t.most_requests, busy_messages_);
  return spt;
}

void Nic::free_spt(uint16_t spt, bool may_still_be_answered) {
  messages_[spt].busy = false;
  groups_[messages_[spt].rgid].trackers--;
  busy_messages_--;
  // The last one used is warm; one that a late answer could hit is used again as late as possible.
  if (may_still_be_answered)
    free_spts_.push_back(spt);
  else
    free_spts_.push_front(spt);
}

void Nic::count_tally(EventQueue& queue) {
  if (queue.tally == EventQueue::Tally{}) return;
  auto& e = stats_.events;
  e.ring_switches += queue.tally.switches;
  e.deferred_switches += queue.tally.deferred_switches;
  e.status_updates += queue.tally.status_updates;
  queue.tally = {};
}

void Nic::notify(EventQueue& queue) {
  count_tally(queue);
  if (const auto value = queue.take_notification()) {
    say("eq {}: notification {}", queue.eqn(), *value);
    interrupts_.event_written(queue.eqn(), *value);
  }
  for (const unsigned other : queue.wakes)
    if (EventQueue* woken = eq(other))
      if (const auto value = woken->take_notification()) {
        say("eq {}: notification {} by eq {}", other, *value, queue.eqn());
        interrupts_.event_written(other, *value);
      }
}

// By the number that a command named earlier: the queue may be gone, or another's by now.
EventQueue* Nic::queue_of(unsigned rgid, unsigned eqn) {
  if (eqn == 0) return nullptr;
  EventQueue* queue = eq(eqn);
  if (queue && queue->rgid() == rgid) return queue;
  stats_.events.to_no_queue++;
  return nullptr;
}

void Nic::post(EventQueue& queue, const EventBytes& event) {
  const size_t type = cassini::c_event::hdr::event_type::get(event.bytes);
  auto& e = stats_.events;
  if (queue.write(event, clock_)) {
    e.enqueued++;
    e.by_type[type]++;
  } else {
    say("eq {}: full, event dropped", queue.eqn());
    // What has a reservation is never dropped: its room was taken before the message was.
    (is_flow_control(event) ? e.dropped_flow_control : e.dropped_ordinary)++;
  }
  notify(queue);
}

void Nic::sent_locally(Message& m) {
  m.sent = true;
  const CommandOptions& o = m.options;
  if (o.event_ct_send) count(m.rgid, o.ct, true, o.event_ct_bytes ? m.request_len : 1);
  if (o.eq == 0 || m.no_match || o.event_send_disable || o.event_success_disable || m.rendezvous)
    return;
  EventQueue* queue = queue_of(m.rgid, o.eq);
  if (!queue) return;
  InitiatorEvent event;
  event.type = C_EVENT_SEND;
  event.return_code = C_RC_OK;
  event.user_ptr = o.user_ptr;
  event.mlength = m.request_len;
  say("eq {}: SEND user_ptr {:#x}", o.eq, o.user_ptr);
  post(*queue, encode(event, queue->initiator_long(), clock_));
}

void Nic::handle_response(fabric::Packet&& packet) {
  const auto response = decode_response(packet.header);
  if (!response || response->spt >= messages_.size()) return wire_.give(std::move(packet));
  Message& m = messages_[response->spt];
  if (!m.busy || m.peer != response->source_nid || m.seq != response->seq) {
    say("response to {} that nobody waits for", response->spt);
    stats_.tracking.responses_dropped++;
    return wire_.give(std::move(packet));
  }
  stats_.tracking.responses_received += wire_packets(packet.payload.size());
  stats_.tracking.responses_bad += response->return_code != C_RC_OK;
  m.progress_ns = now_ns_;
  if (!packet.payload.empty() && brings_reply(m.opcode)) {
    const uint64_t most = m.opcode == C_CMD_GET ? m.request_len : atomic_payload_bytes;
    if (response->offset <= most && packet.payload.size() <= most - response->offset) {
      const int rc = memory_.write(m.rgid, m.lac, m.local + response->offset, packet.payload);
      stats_.addresses.arriving++;
      stats_.addresses.refused += rc != C_RC_OK;
      if (rc != C_RC_OK && m.local_rc == 0) m.local_rc = static_cast<uint8_t>(rc);
    }
  }
  const Response r = *response;
  wire_.give(std::move(packet));
  if (r.last) finish(r.spt, r.return_code, r.return_code != C_RC_OK, r.mlength, r.ptl_list);
}

void Nic::finish(uint16_t spt, int return_code, bool by_target, uint32_t mlength, unsigned list,
                 bool may_still_be_answered) {
  const Message m = messages_[spt];
  if (m.local_rc != 0) {
    return_code = m.local_rc;
    by_target = m.parts_by_target;
  }
  free_spt(spt, may_still_be_answered);
  if (m.parent != no_message) return finish_part(m.parent, return_code, by_target, mlength, list);

  const bool reply = brings_reply(m.opcode);
  const bool good = return_code == C_RC_OK;
  const CommandOptions& o = m.options;
  if (tracing())
    say("message {}: {} length {} in {}{}", spt,
        name_of_return_code(static_cast<unsigned>(return_code)), mlength, name_of_list(list),
        by_target ? " (target)" : "");
  if (o.event_ct_send && !m.sent) count(m.rgid, o.ct, false, 1);
  if (reply ? o.event_ct_reply : o.event_ct_ack)
    count(m.rgid, o.ct, good, o.event_ct_bytes ? mlength : 1);
  const bool wanted = !good || (!m.no_match && !o.event_success_disable);
  if (EventQueue* queue = wanted ? queue_of(m.rgid, o.eq) : nullptr) {
    InitiatorEvent event;
    event.type = reply ? C_EVENT_REPLY : C_EVENT_ACK;
    event.return_code = static_cast<uint8_t>(return_code);
    event.ptl_list = static_cast<uint8_t>(list);
    event.tgt_error = by_target;
    event.rendezvous = m.rendezvous;
    event.retry = m.retried;
    event.mlength = mlength;
    event.user_ptr = o.user_ptr;
    if (tracing())
      say("eq {}: {} {} user_ptr {:#x} length {}", o.eq, name_of_event(event.type),
          name_of_return_code(event.return_code), o.user_ptr, mlength);
    post(*queue, encode(event, queue->initiator_long(), clock_));
  }
  if (CommandQueue* from = cmdq(m.queue)) from->outstanding--;
}

void Nic::finish_part(uint16_t parent, int return_code, bool by_target, uint32_t mlength,
                      unsigned list) {
  Message& m = messages_[parent];
  if (!m.busy) return;
  m.parts--;
  m.placed += mlength;
  m.progress_ns = now_ns_;
  if (return_code != C_RC_OK && m.local_rc == 0) {
    m.local_rc = static_cast<uint8_t>(return_code);
    m.parts_by_target = by_target;
  }
  if (m.parts == 0 && m.all_sent) finish(parent, C_RC_OK, false, m.placed, list);
}

// How a message ends that has not been answered: an atomic operation that is not known to have been
// carried out is not repeated (behaviour 10.1).
int Nic::lost(const Message& m) {
  return is_atomic(m.opcode) && m.options.restricted ? C_RC_CANCELED : C_RC_UNDELIVERABLE;
}

bool Nic::give_up() {
  uint64_t oldest = now_ns_;
  bool any = false;
  for (uint16_t spt = 0; spt < messages_.size(); spt++) {
    const Message& m = messages_[spt];
    if (!m.busy || m.parts != 0) continue;
    if (now_ns_ - m.progress_ns < config_.give_up_ns) {
      oldest = std::min(oldest, m.progress_ns);
      continue;
    }
    say("message {}: no answer from nid {}", spt, m.peer);
    stats_.tracking.timeouts++;
    any = true;
    finish(spt, lost(m), false, 0, 0, true);
  }
  next_give_up_ns_ = oldest + config_.give_up_ns;
  return any;
}

void Nic::abandon(fabric::Packet&& packet) {
  if (const auto request = decode_request(packet.header)) {
    const Message& m = messages_[request->spt];
    if (m.busy && m.seq == packet.use) {
      stats_.tracking.timeouts++;
      say("message {}: nid {} cannot be reached", request->spt, m.peer);
      finish(request->spt, lost(m), false, 0, 0);
    }
  }
  wire_.give(std::move(packet));
}

void Nic::abort_long_gets(unsigned queue) {
  for (uint16_t spt = 0; spt < messages_.size(); spt++) {
    const Message& m = messages_[spt];
    const bool in_pieces = m.opcode == C_CMD_GET && m.request_len > piece_bytes;
    if (m.busy && m.queue == queue && in_pieces && !m.options.restricted)
      finish(spt, C_RC_CANCELED, false, 0, 0, true);
  }
}

void Nic::end_queue_messages(unsigned queue, int return_code) {
  for (uint16_t spt = 0; spt < messages_.size(); spt++) {
    Message& m = messages_[spt];
    if (!m.busy) continue;
    const bool of_parent =
        m.parent != no_message && messages_[m.parent].busy && messages_[m.parent].queue == queue;
    if (of_parent) {
      messages_[m.parent].parts--;
      free_spt(spt, true);
    }
  }
  for (uint16_t spt = 0; spt < messages_.size(); spt++)
    if (messages_[spt].busy && messages_[spt].queue == queue)
      finish(spt, return_code, false, 0, 0, true);
}

// The buffer is taken away while the rest of a message is being fetched into it.
void Nic::cancel_rendezvous(unsigned n, unsigned buffer_id) {
  for (uint16_t spt = 0; spt < messages_.size(); spt++) {
    const Message& m = messages_[spt];
    if (!m.busy || !m.rendezvous || m.pte != n) continue;
    cxi_rdzv_user_ptr user{};
    user.raw = m.options.user_ptr;
    if (user.buffer_id == buffer_id) finish(spt, C_RC_MST_CANCELLED, false, 0, 0, true);
  }
}

// The entry is gone, and with it whoever would be told. What still arrives finds nobody waiting.
void Nic::forget_rendezvous(unsigned n) {
  for (uint16_t spt = 0; spt < messages_.size(); spt++)
    if (messages_[spt].busy && messages_[spt].rendezvous && messages_[spt].pte == n)
      free_spt(spt, true);
}

}  // namespace sim::nic
