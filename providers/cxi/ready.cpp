// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The completions that no event brings, or that had to wait for an earlier one: queues that have
// some stand on a list of their completion queue. The completions themselves stay in the request
// slots.
#include "internal.hpp"

namespace cxi {

void push_ready(Side& side) noexcept {
  if (side.queued) return;
  side.queued = true;
  side.next_ready = nullptr;
  Cq& cq = *side.cq;
  Guard guard(cq.ready_lock);
  if (cq.ready_head.load(std::memory_order_relaxed))
    cq.ready_tail->next_ready = &side;
  else
    cq.ready_head.store(&side, std::memory_order_release);
  cq.ready_tail = &side;
}

void drop_ready(Side& gone) noexcept {
  Cq& cq = *gone.cq;
  Guard guard(cq.ready_lock);
  Side* kept_head = nullptr;
  Side* kept_tail = nullptr;
  for (Side* side = cq.ready_head.load(std::memory_order_relaxed); side;) {
    Side* next = side->next_ready;
    side->next_ready = nullptr;
    if (side == &gone) {
      side->queued = false;
    } else {
      (kept_tail ? kept_tail->next_ready : kept_head) = side;
      kept_tail = side;
    }
    side = next;
  }
  cq.ready_head.store(kept_head, std::memory_order_release);
  cq.ready_tail = kept_tail;
}

namespace {

bool take_send(Qp& qp, Completion& out) noexcept {
  SendQueue& send = qp.send;
  Guard guard(send.lock);
  send.side.queued = false;
  if (!settle_head(send)) return false;
  take_head(qp, out);
  if (settle_head(send)) push_ready(send.side);
  return true;
}

bool take_recv(Qp& qp, Completion& out) noexcept {
  RecvQueue& recv = qp.recv;
  Guard guard(recv.lock);
  recv.side.queued = false;
  const std::uint16_t slot = recv.done.first;
  if (!slot) return false;
  out = recv.slots[slot].completion;
  unlink_slot(recv, recv.done, slot);
  free_slot(qp, slot);
  if (recv.done.first) push_ready(recv.side);
  return true;
}

}  // namespace

bool pop_ready(Cq& cq, Completion& out) noexcept {
  while (cq.ready_head.load(std::memory_order_acquire)) {
    Side* side = nullptr;
    {
      Guard guard(cq.ready_lock);
      side = cq.ready_head.load(std::memory_order_relaxed);
      cq.ready_head.store(side->next_ready, std::memory_order_release);
    }
    if (side->is_send ? take_send(*side->qp, out) : take_recv(*side->qp, out)) return true;
  }
  return false;
}

}  // namespace cxi
