// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Polling: events become completions.
#include <cstdlib>
#include <cstring>

#include "internal.hpp"
#include "waiting.hpp"

namespace cxi {
namespace {

constexpr std::uint32_t polls_between_looks = 512;  // at the clock, while they find nothing
constexpr std::uint64_t ns_between_questions = 500'000'000;

/// The queue pair that an answer belongs to; null once it is gone.
Qp* find_sender(const Context& context, EventView event, std::uint32_t& index) noexcept {
  const std::uint64_t user = cassini::c_event_initiator_short::user_ptr::get(event.at);
  const std::uint64_t slot = user_ptr::qp_slot::decode(user);
  if (slot >= qp_slots) return nullptr;
  Qp* qp = context.qps[slot].load(std::memory_order_acquire);
  if (!qp || qp->generation != user_ptr::generation::decode(user)) return nullptr;
  index = static_cast<std::uint32_t>(user_ptr::request::decode(user));
  return index <= qp->send.mask ? qp : nullptr;
}

bool is_answer(EventView event) noexcept {
  return event.type() == C_EVENT_ACK || event.type() == C_EVENT_REPLY;
}

/// The usual case: the answer ends the oldest request, which is the completion asked for.
bool on_answer(Cq& cq, EventView event, Completion& out) noexcept {
  std::uint32_t index = 0;
  Qp* qp = find_sender(*cq.context, event, index);
  if (!qp) return false;
  SendQueue& send = qp->send;
  Guard guard(send.lock);
  if (!answer_request(*qp, index, event)) return false;
  cq.credits_here++;
  if (send.side.queued || !settle_head(send)) return false;
  take_head(*qp, out);
  if (settle_head(send)) push_ready(send.side);
  return true;
}

bool on_put(Cq& cq, EventView event, Completion& out) noexcept {
  const auto pte = cassini::c_event_target_long::ptlte_index::get(event.at);
  Qp* qp = cq.context->receivers[pte].load(std::memory_order_acquire);
  if (!qp) {
    const Attachment* indexed = find_indexed(*cq.context, event);
    return indexed && complete_immediate_write(*indexed->qp, event, out);
  }
  if (qp->recv_cq != &cq) return false;
  if (pte == qp->mem_pte) return complete_immediate_write(*qp, event, out);
  Guard guard(qp->recv.lock);
  if (!complete_receive(*qp, event, out)) return false;
  free_slot(*qp,
            static_cast<std::uint16_t>(cassini::c_event_target_long::buffer_id::get(event.at)));
  return true;
}

/// One event. Returns whether it was a completion.
bool handle(Cq& cq, EventView event, Completion& out) noexcept {
  switch (event.type()) {
    case C_EVENT_ACK:
    case C_EVENT_REPLY:
      return on_answer(cq, event, out);
    case C_EVENT_PUT:
      return on_put(cq, event, out);
    case C_EVENT_COMMAND_FAILURE:
      note_command_failure(cq, event);
      return false;
    case C_EVENT_LINK:
    case C_EVENT_UNLINK:
      take_answer(cq, event);
      return false;
    case C_EVENT_NULL_EVENT:
      if (EventRing::is_counted_blank(event)) cq.credits_here++;
      return false;
    default:  // an error on the local side (SEND) is followed by the answer; others are not ours
      return false;
  }
}

void step_over(Cq& cq, EventView event) noexcept {
  if (cq.ring.carrying() && !cq.ring.owes()) [[unlikely]] {  // its place in the ring is free
    cq.ring.consume(event);
    give_credits(cq, cq.credits_here);
    cq.credits_here = 0;
    return;
  }
  const std::uint32_t slot = cq.ring.read_slot();
  cq.ring.consume(event);
  if (cq.ring.read_slot() == slot) return;
  cq.credits_passed += cq.credits_here;
  cq.credits_here = 0;
}

/// The device is gone: nothing will be answered any more.
void flush_dead(Cq& cq) noexcept {
  if (cq.dead_flushed) return;
  cq.dead_flushed = true;
  for (Side* side = cq.sides; side; side = side->next_on_cq)
    side->is_send ? flush_send(*side->qp) : flush_recv(*side->qp);
}

}  // namespace

bool is_failure_of(const CommandQueue& commands, bool target, EventView event) noexcept {
  using Fail = cassini::c_event_cmd_fail;
  if (event.type() != C_EVENT_COMMAND_FAILURE || Fail::is_target::get(event.at) != target)
    return false;
  // Target queues are numbered behind the transmit queues; the event has their number among them.
  const std::uint64_t own = target && commands.index() >= C_NUM_TRANSMIT_CQS
                                ? commands.index() - C_NUM_TRANSMIT_CQS
                                : commands.index();
  return Fail::cq_id::get(event.at) == own;
}

void note_command_failure(Cq& cq, EventView event) noexcept {
  for (Side* side = cq.sides; side; side = side->next_on_cq) {
    Qp& qp = *side->qp;
    const bool target = !side->is_send;
    if (!is_failure_of(target ? qp.recv.commands : qp.send.commands, target, event)) continue;
    qp.failed = true;
    if (target) qp.target_stopped = true;
    cq.failed_qps = true;
  }
}

void drop_fillers(Cq& cq) noexcept {
  for (EventView event = cq.ring.peek(); event && event.type() == C_EVENT_NULL_EVENT;
       event = cq.ring.peek()) {
    if (EventRing::is_counted_blank(event)) cq.credits_here++;
    step_over(cq, event);
  }
  acknowledge(cq, false);
}

namespace {

bool set_aside(Cq& cq) noexcept {
  auto* memory = static_cast<std::byte*>(std::malloc(cq.ring.carry_room()));
  if (!memory) return false;
  const std::uint32_t slot = cq.ring.read_slot();
  cq.ring.set_aside(memory, cq.credits_here);
  if (cq.ring.read_slot() == slot) return true;
  cq.credits_passed += cq.credits_here;
  cq.credits_here = 0;
  return true;
}

}  // namespace

bool make_way(Cq& cq, std::uint32_t events) noexcept {
  std::uint32_t bytes = events * EventRing::slot_bytes;
  cq.ring.look_ahead([&bytes](EventView event) {
    if (event.type() == C_EVENT_NULL_EVENT && !EventRing::is_counted_blank(event))
      bytes += event.bytes;
  });
  if (bytes > side_reserve * EventRing::slot_bytes && !set_aside(cq)) return false;
  acknowledge(cq, true);
  return true;
}

bool poll_one(Cq& cq, Completion& out) noexcept {
  for (;;) {
    if (pop_ready(cq, out)) return true;
    const EventView event = cq.ring.peek();
    if (!event) return false;
    const bool found = handle(cq, event, out);
    step_over(cq, event);
    if (found) return true;
  }
}

void look_at_answers(Cq& cq) noexcept {
  cq.ring.look_ahead([&cq](EventView event) {
    if (!is_answer(event)) return;
    std::uint32_t index = 0;
    Qp* qp = find_sender(*cq.context, event, index);
    bool awaited = false;
    if (qp) {
      Guard guard(qp->send.lock);
      awaited = answer_request(*qp, index, event);
      if (settle_head(qp->send)) push_ready(qp->send.side);
    }
    cq.ring.blank(event, awaited);
  });
  drop_fillers(cq);
}

void begin_poll(Cq& cq) noexcept {
  repeat_due(cq);
  if (cq.context->dead.load(std::memory_order_relaxed)) [[unlikely]]
    flush_dead(cq);
}

void end_of_poll(Cq& cq, bool found) noexcept {
  acknowledge(cq, false);
  if (found)
    cq.empty_polls = 0;
  else if (++cq.empty_polls % polls_between_looks == 0) [[unlikely]]
    cq.quiet.store(true, std::memory_order_relaxed);
  if (found || cq.foreign_sends.load(std::memory_order_relaxed) == 0) return;
  // Nothing to do here: see whether sends that another queue serves want to be repeated.
  const Cq* last = nullptr;
  for (Side* side = cq.sides; side; side = side->next_on_cq) {
    Cq* sends = side->qp->send_cq;
    if (side->is_send || sends == &cq || sends == last) continue;
    last = sends;
    if (!sends->lock.try_lock()) continue;  // its own reader is at work
    look_at_answers(*sends);
    sends->lock.unlock();
  }
}

namespace {

/// A program that only polls would not learn that the device is gone, and wait for ever.
void look_after_device(Context& context) noexcept {
  const std::uint64_t now = coarse_monotonic_ns();
  std::uint64_t last = context.asked_ns.load(std::memory_order_relaxed);
  if (now - last < ns_between_questions) return;
  if (context.asked_ns.compare_exchange_strong(last, now, std::memory_order_relaxed))
    is_gone(context);
}

}  // namespace

void after_poll(Cq& cq) noexcept {
  if (cq.quiet.load(std::memory_order_relaxed)) [[unlikely]] {
    cq.quiet.store(false, std::memory_order_relaxed);
    look_after_device(*cq.context);
  }
  if (!cq.failed_qps) [[likely]]
    return;
  MutexTry topology(cq.context->topology);
  if (!topology) return wake_at(cq, 1);  // the next poll will follow
  cq.failed_qps = false;
  for (Side* side = cq.sides; side; side = side->next_on_cq)
    if (side->qp->failed) follow_failure(*side->qp);
}

namespace {

void to_wc(const Completion& from, ibv_wc& to) noexcept {
  to.wr_id = from.wr_id;
  to.status = from.status;
  to.opcode = from.opcode;
  to.vendor_err = from.vendor_err;
  to.byte_len = from.byte_len;
  to.imm_data = static_cast<std::uint32_t>(from.immediate);
  to.qp_num = from.qp_num;
  to.src_qp = from.src_qp;
  to.wc_flags = from.wc_flags;
  to.pkey_index = 0;
  to.slid = 0;
  to.sl = 0;
  to.dlid_path_bits = 0;
}

}  // namespace

int poll_cq(ibv_cq* ibv, int count, ibv_wc* wc) noexcept {
  Cq& cq = cq_of(ibv);
  int found = 0;
  {
    Guard guard(cq.lock);
    begin_poll(cq);
    Completion completion;
    while (found < count && poll_one(cq, completion))
      to_wc(completion, wc[found++]);
    end_of_poll(cq, found > 0);
  }
  after_poll(cq);
  return found;
}

}  // namespace cxi
