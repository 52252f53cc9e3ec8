// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion queues: each is one event queue of the NIC, whose ring the kernel made and we map.
#include <algorithm>

#include "internal.hpp"
#include "mapping.hpp"
#include "rdma/cxiverbs-abi.h"

namespace cxi {
namespace {

struct CreateCqCommand {
  struct ibv_create_cq_ex core;
  cxi_abi_create_cq_req driver;
};
struct CreateCqResponse {
  ib_uverbs_ex_create_cq_resp core;
  cxi_abi_create_cq_resp driver;
};
static_assert(offsetof(CreateCqCommand, driver) == sizeof(struct ibv_create_cq_ex));
static_assert(offsetof(CreateCqResponse, driver) == sizeof(ib_uverbs_ex_create_cq_resp));

constexpr std::uint64_t timestamp_flags =
    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
constexpr std::uint64_t supported_wc_flags = IBV_WC_STANDARD_FLAGS | timestamp_flags |
                                             IBV_WC_EX_WITH_IMM64 | IBV_WC_EX_WITH_SRC_ID |
                                             IBV_WC_EX_WITH_JOB_ID;

int map_queue(Cq& cq, const cxi_abi_eq_info& info) noexcept {
  ibv_context& context = cq.context->ibv.context;
  std::byte* ring = nullptr;
  if (const int err = map_cookie(context, info.ring_cookie, info.ring_bytes, ring)) return err;
  if (const int err = map_cookie(context, info.sw_state_cookie, page_bytes(), cq.sw_page)) {
    unmap_cookie(ring, info.ring_bytes);
    return err;
  }
  cq.ring.init(ring, static_cast<std::uint32_t>(info.ring_bytes));
  cq.sw_state = reinterpret_cast<volatile std::uint64_t*>(cq.sw_page + info.sw_state_offset);
  return 0;
}

/// A CQ on a queue of the program has the queue's channel too.
int take_channel(Cq& cq, ibv_comp_channel* channel, dv::Eq* eq) noexcept {
  if (eq) return begin_lending(*eq, cq, channel);
  return join_channel(channel, cq.context->ibv.context, Carries::completions);
}

void let_channel_go(ibv_comp_channel* channel, dv::Eq* eq) noexcept {
  eq ? end_lending(*eq) : leave_channel(channel, Carries::completions);
}

void unmap_queue(Cq& cq) noexcept {
  unmap_cookie(cq.ring.data(), cq.ring.bytes());
  unmap_cookie(cq.sw_page, page_bytes());
}

}  // namespace

int make_cq(Context& context, const ibv_cq_init_attr_ex& attr, const CqBase& base,
            Cq*& made) noexcept {
  if (attr.wc_flags & ~supported_wc_flags) return EOPNOTSUPP;
  if (attr.comp_mask & ~std::uint32_t{IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD})
    return EOPNOTSUPP;
  const bool has_flags = attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS;
  if (has_flags && (attr.flags & ~std::uint32_t{IBV_CREATE_CQ_ATTR_SINGLE_THREADED}))
    return EOPNOTSUPP;
  Pd* parent = nullptr;
  if (attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) {
    parent = attr.parent_domain ? &pd_of(attr.parent_domain) : nullptr;
    if (!parent || parent->base == parent) return EINVAL;
  }
  Td* const td = parent ? parent->td : nullptr;
  const bool single_threaded =
      td || (has_flags && (attr.flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED));

  Owned<Cq> cq = allocate<Cq>();
  if (!cq) return ENOMEM;
  cq->context = &context;
  cq->timestamps = attr.wc_flags & timestamp_flags;
  cq->has_channel = attr.channel != nullptr;
  cq->single_threaded = single_threaded;
  if (single_threaded) cq->lock.set_single_threaded();

  if (const int err = take_channel(*cq, attr.channel, base.eq)) return err;
  Undo leave([&] { let_channel_go(attr.channel, base.eq); });

  CreateCqCommand command = {};
  CreateCqResponse response = {};
  command.driver.eq_handle = base.eq ? handle_of(*base.eq) : CXI_ABI_HANDLE_NONE;
  command.driver.lni_handle = base.lni_handle;
  if (cq->timestamps) command.driver.eq_flags = CXI_ABI_EQ_INIT_LONG | CXI_ABI_EQ_TGT_LONG;
  // What the process promises about threads is no business of the kernel, and time stamps are a
  // property of the event queue.
  ibv_cq_init_attr_ex kernel_attr = attr;
  kernel_attr.comp_mask = 0;
  kernel_attr.wc_flags &= ~timestamp_flags;
  if (const int err =
          ibv_cmd_create_cq_ex(&context.ibv.context, &kernel_attr, nullptr, &cq->ibv, &command.core,
                               sizeof(command), &response.core, sizeof(response), 0))
    return err;
  const cxi_abi_eq_info& info = response.driver.eq;
  cq->next_value = 1;
  if (base.eq) {
    take_queue(*cq, *base.eq);
  } else if (const int err = map_queue(*cq, info)) {
    // No program has seen it yet, so no event of it waits to be acknowledged.
    ibv_cq& half = cq->ibv.cq;
    pthread_mutex_init(&half.mutex, nullptr);
    pthread_cond_init(&half.cond, nullptr);
    half.context = &context.ibv.context;
    ibv_cmd_destroy_cq(&half);
    return err;
  }
  cq->eq_handle = info.handle;
  cq->eqn = info.eqn;
  cq->reserve = info.reserve;
  cq->credits = static_cast<std::int32_t>(info.reserve / 2);
  cq->eq_flags = command.driver.eq_flags;
  cq->lni = base.lni;
  cq->acked_slot = cq->ring.read_slot();
  if (base.eq) store_sw_state(*cq);  // what the program armed for is over
  install_readers(*cq, attr.wc_flags);
  limit_unacknowledged(*cq);
  leave.dismiss();
  cq->td = td;
  cq->parent = parent;
  if (parent) parent->references++;
  made = cq.release();
  return 0;
}

ibv_cq* create_cq(ibv_context* context, int cqe, ibv_comp_channel* channel, int vector) noexcept {
  if (cqe < 1) return null_with_errno(EINVAL);
  ibv_cq_init_attr_ex attr = {};
  attr.cqe = static_cast<std::uint32_t>(cqe);
  attr.channel = channel;
  attr.comp_vector = static_cast<std::uint32_t>(vector);
  attr.wc_flags = IBV_WC_STANDARD_FLAGS;
  Cq* cq = nullptr;
  if (const int err = make_cq(context_of(context), attr, {}, cq)) return null_with_errno(err);
  return &cq->ibv.cq;
}

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr) noexcept {
  Cq* cq = nullptr;
  if (const int err = make_cq(context_of(context), *attr, {}, cq)) return null_with_errno(err);
  return &cq->ibv.cq_ex;
}

int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attr) noexcept {
  struct ibv_modify_cq command = {};
  return ibv_cmd_modify_cq(cq, attr, &command, sizeof(command));
}

int destroy_cq(ibv_cq* ibv) noexcept {
  Cq& cq = cq_of(ibv);
  {
    MutexGuard topology(cq.context->topology);
    if (cq.sides) return EBUSY;
  }
  const int err = ibv_cmd_destroy_cq(ibv);
  if (err && err != EIO) return err;
  if (cq.borrowed)
    give_queue_back(cq);
  else
    unmap_queue(cq);
  let_channel_go(ibv->channel, cq.borrowed);
  cq.ring.drop_carried();
  if (cq.parent) cq.parent->references--;
  std::free(&cq);
  return 0;
}

void limit_unacknowledged(Cq& cq) noexcept {
  const std::uint32_t slots = cq.ring.bytes() / EventRing::slot_bytes;
  const std::uint32_t kept = CXI_ABI_EQ_FIXED_SLOTS + cq.reserve;
  const std::uint32_t for_messages = slots > kept ? slots - kept : 0;
  cq.ack_after = std::max(1u, std::min({slots / 8, for_messages / 2, 32u}));
}

void share(Cq& cq) noexcept {
  if (!cq.single_threaded) return;
  cq.single_threaded = false;
  cq.lock.set_shared();
  for (Side* side = cq.sides; side; side = side->next_on_cq) {
    SendQueue& send = side->qp->send;
    for (Lock* lock : {&send.post_lock, &send.lock, &side->qp->recv.lock})
      lock->set_shared();
  }
}

void acknowledge(Cq& cq, bool now) noexcept {
  const std::uint32_t slots = cq.ring.bytes() / EventRing::slot_bytes;
  const std::uint32_t slot = cq.ring.read_slot();
  const std::uint32_t moved =
      slot >= cq.acked_slot ? slot - cq.acked_slot : slot + slots - 1 - cq.acked_slot;
  if (moved == 0) return;
  // Not on every poll: the store goes to the device. But never so late that the NIC or those who
  // post wait for what we hold.
  const bool scarce = cq.credits_passed && cq.credits.load(std::memory_order_relaxed) <=
                                               static_cast<std::int32_t>(2 * cq.credits_passed);
  if (!now && !scarce && moved < cq.ack_after) return;
  {
    Guard arm(cq.arm_lock);
    cq.acked_slot = slot;
    store_sw_state(cq);
  }
  // Behind the store: only now the NIC may use the slots again.
  cq.credits.fetch_add(static_cast<std::int32_t>(cq.credits_passed), std::memory_order_release);
  cq.credits_passed = 0;
}

}  // namespace cxi
