// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What becomes of a send request once the NIC has answered: it ends, or it is repeated later.
#include <algorithm>
#include <limits>

#include "internal.hpp"

namespace cxi {
namespace {

constexpr std::uint8_t rnr_without_end = 7;
constexpr std::uint64_t first_transport_delay_ns = 1'000'000;

void count_waiting(Qp& qp, bool more) noexcept {
  SendQueue& send = qp.send;
  const std::uint32_t before = send.waiting;
  send.waiting += more ? 1 : -1;
  if ((before == 0) == (send.waiting == 0)) return;
  qp.send_cq->retrying.fetch_add(more ? 1 : -1, std::memory_order_relaxed);
  if (qp.recv_cq != qp.send_cq)
    qp.recv_cq->retrying.fetch_add(more ? 1 : -1, std::memory_order_relaxed);
}

void wait_for_repeat(Qp& qp, SendRequest& request, std::uint64_t delay_ns) noexcept {
  SendQueue& send = qp.send;
  request.progress = Progress::waiting;
  request.due_ns = monotonic_ns() + delay_ns;
  const bool earliest = send.waiting == 0 || request.due_ns < send.next_due_ns;
  if (earliest) send.next_due_ns = request.due_ns;
  count_waiting(qp, true);
  if (!earliest) return;
  // Nothing will happen on the wire: whoever sleeps must be woken for the repeat.
  wake_at(*qp.send_cq, request.due_ns);
  if (qp.recv_cq != qp.send_cq) wake_at(*qp.recv_cq, request.due_ns);
}

bool may_repeat(const Qp& qp, SendRequest& request, Verdict verdict,
                std::uint64_t& delay_ns) noexcept {
  switch (verdict) {
    case Verdict::rnr:
      if (request.rnr_left == 0) return false;
      if (request.rnr_left != rnr_without_end) request.rnr_left--;
      delay_ns = rnr_delay_ns(qp.min_rnr_timer);
      return true;
    case Verdict::transport:
      if (request.transport_left == 0) return false;
      request.transport_left--;
      delay_ns = first_transport_delay_ns << request.transport_tries++;
      return true;
    case Verdict::final:
      break;
  }
  return false;
}

/// Of several commands' answers the worst one counts: what ends the request before what lets it be
/// repeated, as a whole.
void note_answer(SendRequest& request, EventView event) noexcept {
  using Short = cassini::c_event_initiator_short;
  const unsigned code = event.return_code();
  Outcome outcome;
  if (code == C_RC_OK) {
    // The receiver had less room than the message: its own completion says so, and so does ours.
    if (request.op != OpClass::send || Short::mlength::get(event.at) >= request.length) return;
    outcome = {IBV_WC_REM_INV_REQ_ERR, Verdict::final};
    if (request.counter) request.counter->take_off(Short::mlength::get(event.at));
  } else {
    outcome = outcome_of(request.op, code, Short::tgt_error::get(event.at));
  }
  if (request.failed_code &&
      (request.failure.verdict == Verdict::final || outcome.verdict != Verdict::final))
    return;
  request.failure = outcome;
  request.failed_code = static_cast<std::uint8_t>(code);
}

}  // namespace

void count_end(const SendRequest& request) noexcept {
  if (!request.counter) return;
  if (request.status != IBV_WC_SUCCESS)
    request.counter->add_error();
  else if (request.form == Form::pieces)
    request.counter->add(request.length);
}

void finish_request(Qp& qp, std::uint32_t index, ibv_wc_status status,
                    unsigned vendor_err) noexcept {
  SendRequest& request = qp.send.requests[index & qp.send.mask];
  if (request.progress == Progress::waiting) count_waiting(qp, false);
  if (request.staged_at != UnitMap::none) {
    send_staging(*qp.domain).give_back(request.staged_at, request.length);
    request.staged_at = UnitMap::none;
  }
  request.progress = Progress::done;
  request.status = status;
  request.vendor_err = static_cast<std::uint8_t>(vendor_err);
  count_end(request);
}

namespace {

/// Ends a request whose commands have all been answered, or lets it wait for its repeat.
void end_or_repeat(Qp& qp, std::uint32_t index, SendRequest& request) noexcept {
  if (!request.failed_code) return finish_request(qp, index, IBV_WC_SUCCESS, 0);
  const Outcome outcome = request.failure;
  const unsigned code = request.failed_code;
  request.failed_code = 0;
  if (outcome.verdict != Verdict::final &&
      qp.state.load(std::memory_order_relaxed) != IBV_QPS_RTS) {
    finish_request(qp, index, IBV_WC_WR_FLUSH_ERR, 0);  // it had not ended, and cannot be repeated
    return;
  }
  std::uint64_t delay_ns = 0;
  if (may_repeat(qp, request, outcome.verdict, delay_ns))
    wait_for_repeat(qp, request, delay_ns);
  else
    finish_request(qp, index, outcome.status, code);
}

}  // namespace

bool answer_request(Qp& qp, std::uint32_t index, EventView event) noexcept {
  SendRequest& request = qp.send.requests[index & qp.send.mask];
  const bool announced = ((index - qp.send.head) & qp.send.mask) < qp.send.tail - qp.send.head;
  if (!announced || request.progress != Progress::in_flight) return false;
  if (qp.send_cq->timestamps && event.bytes >= cassini::c_event_initiator_long::bytes) {
    using Long = cassini::c_event_initiator_long;
    request.timestamp_ns =
        Long::timestamp_sec::get(event.at) * 1'000'000'000 + Long::timestamp_ns::get(event.at);
  }
  note_answer(request, event);
  if (--request.answers_left == 0) end_or_repeat(qp, index, request);
  return true;
}

bool settle_head(SendQueue& send) noexcept {
  while (send.head != send.tail) {
    const SendRequest& request = send.requests[send.head & send.mask];
    if (request.progress != Progress::done) return false;
    if (request.reported || request.status != IBV_WC_SUCCESS) return true;
    send.head++;
  }
  return false;
}

void take_head(Qp& qp, Completion& out) noexcept {
  SendQueue& send = qp.send;
  const SendRequest& request = send.requests[send.head & send.mask];
  out.wr_id = request.wr_id;
  out.immediate = 0;
  out.timestamp_ns =
      qp.send_cq->timestamps && !request.timestamp_ns ? realtime_ns() : request.timestamp_ns;
  out.byte_len = request.length;
  out.qp_num = qp.ibv.qp.qp_num;
  out.src_qp = 0;
  out.src_id = 0;
  out.job_id = request.vni;
  out.vendor_err = request.vendor_err;
  out.wc_flags = 0;
  out.status = request.status;
  out.opcode = request.opcode;
  send.head++;
}

namespace {

void repeat_on(Qp& qp, std::uint64_t now) noexcept {
  SendQueue& send = qp.send;
  Guard guard(send.lock);
  if (send.waiting == 0 || send.building || now < send.next_due_ns) return;
  std::uint64_t next_due = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t index = send.head; index != send.tail; index++) {
    SendRequest& request = send.requests[index & send.mask];
    if (request.progress != Progress::waiting) continue;
    if (request.due_ns > now) {
      next_due = std::min(next_due, request.due_ns);
      continue;
    }
    bool sent = take_credits(*qp.send_cq, request.commands);
    if (sent && !emit_request(qp, index, false)) {
      give_credits(*qp.send_cq, request.commands);
      sent = false;
    }
    if (!sent) {  // as soon as there is room
      next_due = now;
      break;
    }
    request.progress = Progress::in_flight;
    request.answers_left = request.commands;
    count_waiting(qp, false);
  }
  send.next_due_ns = next_due;
  send.commands.ring();
}

/// Every queue pair of a completion queue once, whichever of its sides is there.
template <class F>
void for_each_qp(const Cq& cq, F&& f) noexcept {
  for (Side* side = cq.sides; side; side = side->next_on_cq)
    if (side->is_send || side->qp->send_cq != &cq) f(*side->qp);
}

}  // namespace

void repeat_due(Cq& cq) noexcept {
  if (cq.retrying.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  const std::uint64_t now = monotonic_ns();
  for_each_qp(cq, [now](Qp& qp) { repeat_on(qp, now); });
}

std::uint64_t earliest_repeat(const Cq& cq) noexcept {
  if (cq.retrying.load(std::memory_order_relaxed) == 0) return 0;
  std::uint64_t earliest = std::numeric_limits<std::uint64_t>::max();
  for_each_qp(cq, [&earliest](Qp& qp) {
    Guard guard(qp.send.lock);
    if (qp.send.waiting) earliest = std::min(earliest, qp.send.next_due_ns);
  });
  return earliest == std::numeric_limits<std::uint64_t>::max() ? 0 : earliest;
}

}  // namespace cxi
