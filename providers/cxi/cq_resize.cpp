// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Another ring for a completion queue: with room for more or fewer completions, or for the event
// slots that a new queue pair reserves. The NIC ends the old ring with an EQ_SWITCH event; whoever
// polls is kept out until everything in front of it has been carried over.
#include <algorithm>

#include "command.hpp"
#include "internal.hpp"
#include "mapping.hpp"
#include "rdma/cxiverbs-abi.h"
#include "rdma/cxiverbs-native-abi.h"
#include "waiting.hpp"

namespace cxi {
namespace {

struct ResizeCqCommand {
  struct ibv_resize_cq core;
  cxi_abi_resize_cq_req driver;
};
struct ResizeCqResponse {
  ib_uverbs_resize_cq_resp core;
  cxi_abi_resize_cq_resp driver;
};
static_assert(offsetof(ResizeCqCommand, driver) == sizeof(struct ibv_resize_cq));
static_assert(offsetof(ResizeCqResponse, driver) == sizeof(ib_uverbs_resize_cq_resp));

std::uint64_t slots_for(std::uint32_t cqe, std::uint32_t reserve) noexcept {
  return std::uint64_t{CXI_ABI_EQ_FIXED_SLOTS} + reserve + cqe;
}

/// The kernel's part: a new ring, and the NIC is told to go on there.
int command_resize(Cq& cq, std::uint32_t cqe, std::uint32_t reserve,
                   cxi_abi_eq_info& info) noexcept {
  ResizeCqCommand command = {};
  ResizeCqResponse response = {};
  command.driver.reserve = reserve;
  const int err = ibv_cmd_resize_cq(&cq.ibv.cq, static_cast<int>(cqe), &command.core,
                                    sizeof(command), &response.core, sizeof(response));
  info = response.driver.eq;
  return err;
}

/// Lets the kernel free the old ring.
int command_complete(const Cq& cq) noexcept {
  const cxi_abi_eq_req request = {};
  cxi_abi_eq_info info = {};
  Command<3> command(CXI_OBJECT_EQ, CXI_METHOD_EQ_RESIZE);
  command.object_in(CXI_ATTR_HANDLE, cq.eq_handle);
  command.in(CXI_ATTR_REQ, request);
  command.out(CXI_ATTR_RESP, info);
  return command.execute(cq.context->ibv.context);
}

/// Empties the old ring until the NIC has left it. False: it does not, or the device is gone.
bool empty_ring(Cq& cq) noexcept {
  Waiting waiting(*cq.context);
  while (!cq.ring.carry(cq.credits_here)) {
    // The switch waits for room in the ring that it ends (behaviour 6.4).
    {
      Guard arm(cq.arm_lock);
      cq.acked_slot = cq.ring.read_slot();
      store_sw_state(cq);
    }
    if (waiting.pause()) return false;
  }
  return true;
}

void go_on_in(Cq& cq, std::byte* ring, std::uint64_t bytes) noexcept {
  cq.ring.go_on_in(ring, static_cast<std::uint32_t>(bytes));
  {
    Guard arm(cq.arm_lock);
    cq.ring_b = !cq.ring_b;
    cq.acked_slot = cq.ring.read_slot();
    store_sw_state(cq);
  }
  limit_unacknowledged(cq);
  // What was read of the old ring, in order or not, holds no place in the new one.
  give_credits(cq, cq.credits_here + cq.credits_passed);
  cq.credits_here = cq.credits_passed = 0;
}

/// What must be done once the NIC has switched: should there be no memory for it, there may be in a
/// moment.
template <class Step>
int insist(Cq& cq, Step step) noexcept {
  Waiting waiting(*cq.context);
  int err = step();
  while (err == ENOMEM && !waiting.pause())
    err = step();
  return err;
}

/// With Context::topology and Cq::lock. On an error the queue is as before, unless the device is
/// gone.
int change_ring(Cq& cq, std::uint32_t cqe, std::uint32_t reserve) noexcept {
  if (cq.context->dead) return EIO;
  // The new ring is mapped where there is room for sure: once the NIC has switched there is no way
  // back.
  const std::uint64_t bytes =
      whole_pages(slots_for(cqe, std::max(reserve, cq.reserve)) * EventRing::slot_bytes);
  std::byte* ring = reserve_addresses(bytes);
  if (!ring) return ENOMEM;
  Owned<std::byte> carried(static_cast<std::byte*>(std::malloc(cq.ring.carry_room())));
  cxi_abi_eq_info info = {};
  const int cqe_before = cq.ibv.cq.cqe;
  int err = carried ? command_resize(cq, cqe, reserve, info) : ENOMEM;
  if (err) {
    unmap_cookie(ring, bytes);
    if (err == EIO) cq.context->dead = true;
    return err;
  }
  const ibv_context& context = cq.context->ibv.context;
  if (info.ring_bytes != bytes) {
    unmap_cookie(ring, bytes);
    err = insist(cq, [&] { return map_cookie(context, info.ring_cookie, info.ring_bytes, ring); });
  } else {
    err = insist(cq, [&] { return map_cookie_at(context, info.ring_cookie, bytes, ring); });
  }
  cq.ring.begin_carry(carried.release(), cq.credits_here);
  if (err || !empty_ring(cq)) {
    // Events that we cannot see: as good as a device that is gone.
    cq.context->dead = true;
    cq.ibv.cq.cqe = cqe_before;
    if (ring) unmap_cookie(ring, info.ring_bytes);
    return EIO;
  }
  std::byte* old = cq.ring.data();
  const std::uint32_t old_bytes = cq.ring.bytes();
  go_on_in(cq, ring, info.ring_bytes);
  unmap_cookie(old, old_bytes);
  // Before that the kernel allows no other change.
  if (insist(cq, [&] { return command_complete(cq); }) == EIO) cq.context->dead = true;
  return 0;
}

/// Of the requests that have ended, those that a poll reports before the first that has not.
std::uint32_t count_ended(Qp& qp) noexcept {
  SendQueue& send = qp.send;
  Guard guard(send.lock);
  std::uint32_t count = 0;
  for (std::uint32_t index = send.head; index != send.tail; index++) {
    const SendRequest& request = send.requests[index & send.mask];
    if (request.progress != Progress::done) break;
    count += request.reported || request.status != IBV_WC_SUCCESS;
  }
  return count;
}

std::uint32_t count_done(Qp& qp) noexcept {
  RecvQueue& recv = qp.recv;
  Guard guard(recv.lock);
  std::uint32_t count = 0;
  for (std::uint16_t slot = recv.done.first; slot; slot = recv.slots[slot].next)
    count++;
  return count;
}

/// Completions that are there to be polled. With Cq::lock.
std::uint32_t count_completions(Cq& cq) noexcept {
  look_at_answers(cq);
  std::uint32_t count = 0;
  cq.ring.look_ahead([&count](EventView event) { count += event.type() == C_EVENT_PUT; });
  for (Side* side = cq.sides; side; side = side->next_on_cq)
    count += side->is_send ? count_ended(*side->qp) : count_done(*side->qp);
  return count;
}

}  // namespace

int resize_cq(ibv_cq* ibv, int cqe) noexcept {
  Cq& cq = cq_of(ibv);
  if (cqe < 1) return EINVAL;
  MutexGuard topology(cq.context->topology);
  Guard guard(cq.lock);
  if (count_completions(cq) > static_cast<std::uint32_t>(cqe)) return EINVAL;
  return change_ring(cq, static_cast<std::uint32_t>(cqe), cq.reserve);
}

int make_room(Cq& cq, std::uint32_t more) noexcept {
  const auto cqe = static_cast<std::uint32_t>(cq.ibv.cq.cqe);
  const std::uint32_t wanted = cq.reserve + more;
  if (slots_for(cqe, wanted) * EventRing::slot_bytes <= cq.ring.bytes()) return 0;
  if (wanted > cq.context->max_eq_reserve) return ENOMEM;
  Guard guard(cq.lock);
  // More than is needed now, so that not every queue pair asks for a new ring.
  const int err = change_ring(cq, cqe, std::min(cq.context->max_eq_reserve, 2 * wanted));
  return err == EOPNOTSUPP ? ENOMEM : err;  // the ring is the program's own
}

}  // namespace cxi
