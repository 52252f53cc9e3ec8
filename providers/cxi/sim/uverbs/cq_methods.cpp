// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <algorithm>
#include <cerrno>

#include "uverbs/native.hpp"

namespace sim::uverbs {
namespace {

constexpr uint32_t known_eq_flags = CXI_ABI_EQ_INIT_LONG | CXI_ABI_EQ_TGT_LONG |
                                    CXI_ABI_EQ_DROP_STATUS_DISABLE | CXI_ABI_EQ_TIMESTAMP_EVENTS |
                                    CXI_ABI_EQ_EC_DISABLE;
constexpr uint64_t known_cq_flags = 1 << 0 | 1 << 1;  // time stamps of completions, ignore overrun

uint32_t reserve_of(uint32_t cqe) {
  return static_cast<uint32_t>(std::min<uint64_t>(max_eq_reserve, 2ull * cqe + 64));
}

// The queue of a CQ that brings none. Queue pairs raise the reserve later: with room for twice of
// it few of them need another ring.
nic::Made<std::unique_ptr<EventQueue>> make_queue(std::shared_ptr<Lni> lni, Arena& arena,
                                                  uint32_t flags, uint32_t cqe) {
  EventQueue::Spec spec;
  spec.flags = flags;
  spec.reserve = reserve_of(cqe);
  spec.slots = CXI_ABI_EQ_FIXED_SLOTS + std::min(max_eq_reserve, 2 * spec.reserve) + cqe;
  return EventQueue::make(std::move(lni), arena, spec);
}

// Whether a queue that the program made can serve the CQ.
int check_queue(Call& call, const cxi_abi_create_cq_req& req, uint32_t cqe, const EqObject& eq,
                const EventPipe* channel) {
  EventQueue& queue = *eq.resource;
  if (req.lni_handle != CXI_ABI_HANDLE_NONE) {
    auto lni = named_lni(call, req.lni_handle);
    if (!lni) return lni.error;
    if (lni.value.get() != &queue.lni()) return EINVAL;
  }
  if (eq.uses != 0 || queue.resizing()) return EBUSY;
  if ((req.eq_flags & ~queue.flags()) || queue.notifier.channel() != channel) return EINVAL;
  const uint64_t reserve = std::max(queue.reserve(), reserve_of(cqe));
  return CXI_ABI_EQ_FIXED_SLOTS + reserve + cqe > queue.slots() ? EINVAL : 0;
}

}  // namespace

int create_cq(Call& call) {
  auto cqe = call.in<uint32_t>(UVERBS_ATTR_CREATE_CQ_CQE);
  uint64_t flags;
  if (call.in<uint32_t>(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR) >= num_comp_vectors) return EINVAL;
  if (int error = call.flags(UVERBS_ATTR_CREATE_CQ_FLAGS, known_cq_flags, flags)) return error;
  for (uint16_t id : {UVERBS_ATTR_CREATE_CQ_BUFFER_VA, UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH,
                      UVERBS_ATTR_CREATE_CQ_BUFFER_FD, UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET}) {
    if (call.has(id)) return EOPNOTSUPP;
  }
  cxi_abi_create_cq_req req{};
  if (int error = call.driver_in(req)) return error;
  if (cqe == 0 || cqe > max_cqe || (req.eq_flags & ~known_eq_flags)) return EINVAL;
  if (req.reserved_60) return EINVAL;
  std::shared_ptr<EventPipe> channel;
  if (call.has(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL)) {
    channel = call.file.channel(call.identity(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL));
  }

  auto cq = std::make_unique<Cq>(call.file);
  cq->cqe = cqe;
  cq->notifies = channel != nullptr;
  cq->user_handle = call.in<uint64_t>(UVERBS_ATTR_CREATE_CQ_USER_HANDLE);
  cq->async = call.has(UVERBS_ATTR_CREATE_CQ_EVENT_FD)
                  ? call.file.async(call.identity(UVERBS_ATTR_CREATE_CQ_EVENT_FD))
                  : call.file.default_async();
  if (req.eq_handle == CXI_ABI_HANDLE_NONE) {
    auto lni = named_lni(call, req.lni_handle);
    if (!lni) return lni.error;
    auto queue = make_queue(lni.value, *call.file.arena, req.eq_flags, cqe);
    if (!queue) return queue.error;
    if (channel) queue.value->notifier.attach(std::move(channel), cq->user_handle);
    cq->own(call.add(std::make_unique<EqObject>(call.file, std::move(queue.value))));
  } else {
    auto* eq = find_object<EqObject>(call.file, req.eq_handle, CXI_OBJECT_EQ);
    if (!eq) return ENOENT;
    if (int error = check_queue(call, req, cqe, *eq, channel.get())) return error;
    if (int error = cq->borrow(*eq, reserve_of(cqe))) return error;
  }
  Cq& made = call.made(UVERBS_ATTR_CREATE_CQ_HANDLE, std::move(cq));
  cxi_abi_create_cq_resp resp{};
  resp.eq = made.queue().info(made.queue_handle());
  call.put(UVERBS_ATTR_CREATE_CQ_RESP_CQE, cqe);
  call.driver_out(resp);
  return 0;
}

int resize_cq(Call& call, Cq& cq, uint32_t cqe) {
  cxi_abi_resize_cq_req req{};
  if (call.has(UVERBS_ATTR_UHW_IN)) {
    if (int error = call.driver_in(req)) return error;
  }
  if (req.reserved_20 || req.reserve > max_eq_reserve || cqe == 0 || cqe > max_cqe) return EINVAL;
  if (!cq.owns_queue()) return EOPNOTSUPP;
  EventQueue& queue = cq.queue();
  cxi_abi_resize_cq_resp resp{};
  resp.eq = queue.info(cq.queue_handle());
  const uint32_t reserve = std::max(req.reserve, queue.reserve());
  const uint32_t slots = CXI_ABI_EQ_FIXED_SLOTS + reserve + cqe;
  // The NIC cannot be told to go back: whether the answer can be read is seen first.
  call.driver_out(resp);
  if (int error = call.copy_out()) return error;
  if (int error = queue.begin_resize(*call.file.arena, slots, &resp.eq)) return error;
  cq.cqe = cqe;
  call.driver_out(resp);
  return 0;
}

int modify_cq(Call& call, Cq& cq, const ib_uverbs_ex_modify_cq& cmd) {
  constexpr uint32_t moderate = 1 << 0;  // of enum ib_cq_attr_mask
  if (cmd.attr_mask == 0 || cmd.reserved != 0) return EINVAL;
  if (cmd.attr_mask & ~moderate) return EOPNOTSUPP;
  constexpr uint64_t ns_per_us = 1000;
  call.file.nic.moderate(cq.queue(), cmd.attr.cq_count, cmd.attr.cq_period * ns_per_us);
  return 0;
}

int destroy_cq(Call& call) {
  auto* cq = call.object<Cq>(UVERBS_ATTR_DESTROY_CQ_HANDLE);
  if (int error = cq->may_go()) return error;
  ib_uverbs_destroy_cq_resp resp{};
  resp.comp_events_reported = cq->comp_events();
  uint32_t removed = cq->async ? cq->async->remove(cq->user_handle) : 0;
  resp.async_events_reported = *cq->async_events - std::min(removed, *cq->async_events);
  call.put(UVERBS_ATTR_DESTROY_CQ_RESP, resp);
  call.file.objects.destroy(cq->id);
  return 0;
}

int eq_notify_at(Call& call) {
  auto* eq = call.object<EqObject>(CXI_ATTR_EQ_NOTIFY_AT_HANDLE);
  EventQueue& queue = *eq->resource;
  if (!queue.notifier.attached()) return EINVAL;
  call.file.nic.notify_at(queue, call.in<uint64_t>(CXI_ATTR_EQ_NOTIFY_AT_NS));
  return 0;
}

}  // namespace sim::uverbs
