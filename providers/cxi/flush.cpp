// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What a change of state does to requests. The kernel has stopped the queues before: every event of
// the queue pair that there will ever be is in the rings. These functions take them out.
#include "internal.hpp"

namespace cxi {
namespace {

bool is_answer_to(const Qp& qp, EventView event, std::uint32_t& index) noexcept {
  if (event.type() != C_EVENT_ACK && event.type() != C_EVENT_REPLY) return false;
  const std::uint64_t user = cassini::c_event_initiator_short::user_ptr::get(event.at);
  index = static_cast<std::uint32_t>(user_ptr::request::decode(user));
  return user_ptr::qp_slot::decode(user) == qp.slot &&
         user_ptr::generation::decode(user) == qp.generation && index <= qp.send.mask;
}

bool is_event_of(const Qp& qp, EventView event) noexcept {
  if (event.type() == C_EVENT_NULL_EVENT || event.bytes < 32) return false;
  switch (event.type()) {
    case C_EVENT_PUT:
    case C_EVENT_GET:
    case C_EVENT_ATOMIC:
    case C_EVENT_FETCH_ATOMIC:
    case C_EVENT_LINK:
    case C_EVENT_UNLINK:
    case C_EVENT_STATE_CHANGE: {
      const auto pte = cassini::c_event_target_long::ptlte_index::get(event.at);
      if (pte == qp.recv_pte || pte == qp.mem_pte) return true;
      const Attachment* indexed = find_indexed(*qp.context, event);
      return indexed && indexed->qp == &qp;
    }
    default:
      return false;
  }
}

/// Answers in the ring that were not read yet say what their requests came to.
void read_answers(Qp& qp) noexcept {
  Cq& cq = *qp.send_cq;
  cq.ring.look_ahead([&](EventView event) {
    std::uint32_t index = 0;
    if (!is_answer_to(qp, event, index)) return;
    cq.ring.blank(event, answer_request(qp, index, event));
  });
}

/// One that was followed already is not to be taken for a new one after a reset.
void forget_failures(Cq& cq, const CommandQueue& commands, bool target) noexcept {
  cq.ring.look_ahead([&](EventView event) {
    if (is_failure_of(commands, target, event)) cq.ring.blank(event, false);
  });
}

/// The commands will not be answered: their places in the ring are free at once.
void drop_commands(Qp& qp, const SendRequest& request) noexcept {
  if (request.progress == Progress::in_flight) give_credits(*qp.send_cq, request.answers_left);
}

}  // namespace

void flush_send(Qp& qp) noexcept {
  SendQueue& send = qp.send;
  Guard guard(send.lock);
  read_answers(qp);
  for (std::uint32_t index = send.head; index != send.tail; index++) {
    const SendRequest& request = send.requests[index & send.mask];
    if (request.progress == Progress::done) continue;
    drop_commands(qp, request);
    finish_request(qp, index, IBV_WC_WR_FLUSH_ERR, 0);
  }
  if (settle_head(send)) push_ready(send.side);
}

void flush_recv(Qp& qp) noexcept {
  RecvQueue& recv = qp.recv;
  Cq& cq = *qp.recv_cq;
  Guard guard(recv.lock);
  cq.ring.look_ahead([&](EventView event) {
    using Long = cassini::c_event_target_long;
    if (event.type() != C_EVENT_PUT || event.bytes != Long::bytes ||
        Long::ptlte_index::get(event.at) != qp.recv_pte)
      return;
    const auto slot = static_cast<std::uint16_t>(Long::buffer_id::get(event.at));
    Completion completion;
    if (complete_receive(qp, event, completion)) {
      RecvSlot& entry = recv.slots[slot];
      entry.completion = completion;
      entry.state = Posted::done;
      push_slot(recv, recv.done, slot);
    }
    cq.ring.blank(event, false);
  });
  while (const std::uint16_t slot = recv.posted.first) {
    RecvSlot& entry = recv.slots[slot];
    unlink_slot(recv, recv.posted, slot);
    if (entry.counter) entry.counter->add_error();
    entry.completion = {};
    entry.completion.wr_id = entry.wr_id;
    entry.completion.status = IBV_WC_WR_FLUSH_ERR;
    entry.completion.opcode = IBV_WC_RECV;
    entry.completion.qp_num = qp.ibv.qp.qp_num;
    entry.completion.job_id = qp.vni;
    if (cq.timestamps) entry.completion.timestamp_ns = realtime_ns();
    entry.state = Posted::done;
    push_slot(recv, recv.done, slot);
  }
  if (recv.done.first) push_ready(recv.side);
}

void forget_send(Qp& qp) noexcept {
  SendQueue& send = qp.send;
  Guard guard(send.lock);
  read_answers(qp);
  forget_failures(*qp.send_cq, send.commands, false);
  for (std::uint32_t index = send.head; index != send.tail; index++) {
    SendRequest& request = send.requests[index & send.mask];
    if (request.progress == Progress::done) continue;
    request.counter = nullptr;  // it does not complete
    drop_commands(qp, request);
    finish_request(qp, index, IBV_WC_WR_FLUSH_ERR, 0);
  }
  send.head = send.tail;
  if (send.building && !send.error) send.error = EINVAL;
  take_back(qp);
  drop_ready(send.side);
  begin_generation(qp);
}

void forget_recv(Qp& qp) noexcept {
  RecvQueue& recv = qp.recv;
  Cq& cq = *qp.recv_cq;
  Guard guard(recv.lock);
  cq.ring.look_ahead([&](EventView event) {
    if (is_event_of(qp, event)) cq.ring.blank(event, EventRing::is_counted_blank(event));
  });
  forget_failures(cq, recv.commands, true);
  for (SlotList* list : {&recv.posted, &recv.done}) {
    while (const std::uint16_t slot = list->first) {
      unlink_slot(recv, *list, slot);
      free_slot(qp, slot);
    }
  }
  drop_ready(recv.side);
}

}  // namespace cxi
