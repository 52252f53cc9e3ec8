// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Notification: arming a queue, what a record from the channel changes, and waking sleepers for
// work that no event announces.
//
// The NIC notifies once for each value of four bits in the software-state word. The value steps
// when a record is taken from the channel, so a record is neither lost nor given twice.
#include <algorithm>

#include "command.hpp"
#include "ethernet/cassini_csrs.hpp"
#include "internal.hpp"
#include "mmio_raw.hpp"
#include "rdma/cxiverbs-abi.h"

namespace cxi {

void store_sw_state(Cq& cq) noexcept {
  using Word = cassini::csr::c_ee_cfg_eq_sw_state;
  const std::uint64_t word =
      Word::rd_ptr::encode(cq.acked_slot) | Word::reading_buffer_b::encode(cq.ring_b) |
      Word::event_int_disable::encode(!cq.ever_armed) | Word::eq_sts_int_disable::encode(1) |
      Word::spare::encode(cq.armed_value);
  to_device_barrier();  // the zeroes in the ring come first; partner: the NIC's next round
  store_doorbell(cq.sw_state, word);
  flush_writes();
}

void wake_at(Cq& cq, std::uint64_t when_ns) noexcept {
  if (!cq.has_channel) return;
  // Partner: req_notify_cq() and cq_event() look for work behind their store of `armed`.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!cq.armed.load(std::memory_order_relaxed)) return;
  // The kernel keeps one time: a later one must not replace an earlier one.
  Guard guard(cq.wake_lock);
  if (cq.wake_ns && cq.wake_ns <= when_ns) return;
  cq.wake_ns = std::max(when_ns, std::uint64_t{1});
  Command<2> command(CXI_OBJECT_EQ, CXI_METHOD_EQ_NOTIFY_AT);
  command.object_in(CXI_ATTR_EQ_NOTIFY_AT_HANDLE, cq.eq_handle);
  command.in(CXI_ATTR_EQ_NOTIFY_AT_NS, cq.wake_ns);
  if (command.execute(cq.context->ibv.context) == EIO) cq.context->dead = true;
}

namespace {

/// Who is woken from now on has not been woken yet.
void forget_wake(Cq& cq) noexcept {
  Guard guard(cq.wake_lock);
  cq.wake_ns = 0;
}

/// Looks for answers on the other queues that serve the sends of this queue's receivers: what is in
/// their rings already will not wake anybody. Without locks. False: not all could be looked at.
bool look_at_send_queues(Cq& cq) noexcept {
  MutexTry topology(cq.context->topology);
  if (!topology) return false;
  bool all = true;
  const Cq* last = &cq;
  for (Side* side = cq.sides; side; side = side->next_on_cq) {
    Cq* sends = side->qp->send_cq;
    if (side->is_send || sends == &cq || sends == last) continue;
    last = sends;
    if (sends->lock.try_lock()) {
      look_at_answers(*sends);
      sends->lock.unlock();
    } else {
      all = false;
    }
  }
  return all;
}

}  // namespace

int req_notify_cq(ibv_cq* ibv, int) noexcept {
  // Solicited-only arming wakes for every message: early at times, never too late.
  Cq& cq = cq_of(ibv);
  bool separate_sends = false;
  forget_wake(cq);
  {
    Guard arm(cq.arm_lock);
    if (cq.arms < 2) cq.arms++;
    cq.ever_armed = true;
    cq.armed_value = cq.next_value;
    store_sw_state(cq);
    cq.armed.store(true, std::memory_order_relaxed);
  }
  // Partner: the NIC fences between writing an event and looking at the word.
  std::atomic_thread_fence(std::memory_order_seq_cst);

  std::uint64_t wake = 0;
  if (cq.lock.try_lock()) {
    separate_sends = cq.foreign_sends.load(std::memory_order_relaxed) != 0;
    repeat_due(cq);
    wake = earliest_repeat(cq);
    cq.lock.unlock();
  } else if (cq.retrying.load(std::memory_order_relaxed) ||
             cq.foreign_sends.load(std::memory_order_relaxed)) {
    wake = 1;  // whoever polls may be about to stop: let the sleeper look
  }
  if (separate_sends) {
    wake = 1;
    if (look_at_send_queues(cq) && cq.lock.try_lock()) {
      wake = earliest_repeat(cq);
      cq.lock.unlock();
    }
  }
  if (wake) wake_at(cq, wake);
  return 0;
}

void cq_event(ibv_cq* ibv) noexcept {
  Cq& cq = cq_of(ibv);
  bool rearmed = false;
  forget_wake(cq);
  {
    Guard arm(cq.arm_lock);
    cq.next_value = (cq.next_value + 1) & 0xf;
    // Armed again while this record was on its way: that arming must still bring one.
    rearmed = cq.arms >= 2;
    cq.arms = rearmed ? 1 : 0;
    if (rearmed) {
      cq.armed_value = cq.next_value;
      store_sw_state(cq);
    }
    cq.armed.store(rearmed, std::memory_order_relaxed);
  }
  if (!rearmed) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // as in req_notify_cq()
  bool waiting = cq.ready_head.load(std::memory_order_acquire) != nullptr ||
                 cq.retrying.load(std::memory_order_relaxed) != 0 ||
                 cq.foreign_sends.load(std::memory_order_relaxed) != 0;
  if (!waiting) {
    waiting = true;  // if somebody polls: whether it sees the newest event is not known
    if (!cq.single_threaded && cq.lock.try_lock()) {
      waiting = static_cast<bool>(cq.ring.peek());
      cq.lock.unlock();
    }
  }
  if (waiting) wake_at(cq, 1);
}

void async_event(ibv_context* context, ibv_async_event* event) noexcept {
  switch (event->event_type) {
    case IBV_EVENT_QP_FATAL: {
      MutexGuard topology(context_of(context).topology);
      hear_of_failure(qp_of(event->element.qp));
      break;
    }
    case IBV_EVENT_DEVICE_FATAL:
      context_of(context).dead = true;
      break;
    default:
      break;
  }
}

}  // namespace cxi
