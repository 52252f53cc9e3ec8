// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion counters. The NIC counts the answers of requests that are one command, and receives;
// what takes several commands, and what ends in error, is counted here.
#include "counter.hpp"

#include "command.hpp"
#include "internal.hpp"
#include "rdma/cxiverbs-abi.h"

namespace cxi {
namespace {

Counter& counter_of(ibv_comp_cntr* counter) noexcept {
  return *reinterpret_cast<Counter*>(counter);
}
static_assert(offsetof(Counter, ibv) == 0);

constexpr std::uint32_t known_operations =
    IBV_QP_ATTACH_COMP_CNTR_OP_SEND | IBV_QP_ATTACH_COMP_CNTR_OP_RECV |
    IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ | IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ |
    IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE | IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE;

bool counts_sends(const Qp& qp, const Counter& counter) noexcept {
  for (const Counter* each : qp.send.counters)
    if (each == &counter) return true;
  return false;
}

/// Looks at the answers that nobody has polled, so that what they end is counted, except where
/// others are at work.
void advance(Context& context, const Counter& counter) noexcept {
  MutexTry topology(context.topology);
  if (!topology) return;
  for (const auto& slot : context.qps) {
    Qp* qp = slot.load(std::memory_order_relaxed);
    if (!qp || !counts_sends(*qp, counter)) continue;
    if (!qp->send_cq->lock.try_lock()) continue;  // its own reader
    begin_poll(*qp->send_cq);
    look_at_answers(*qp->send_cq);
    qp->send_cq->lock.unlock();
  }
}

}  // namespace

ibv_comp_cntr* create_comp_cntr(ibv_context* context, ibv_comp_cntr_init_attr* attr) noexcept {
  if (attr->comp_mask || attr->flags) return null_with_errno(EOPNOTSUPP);
  if (attr->type != IBV_COMP_CNTR_TYPE_WRS && attr->type != IBV_COMP_CNTR_TYPE_BYTES)
    return null_with_errno(EINVAL);
  Owned<Counter> counter = allocate<Counter>();
  if (!counter) return null_with_errno(ENOMEM);
  cxi_abi_create_comp_cntr_resp answer = {};
  Command<2> command(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_CREATE);
  const unsigned handle = command.object_out(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE);
  command.out(UVERBS_ATTR_UHW_OUT, answer);
  if (const int err = command.execute(*context)) return null_with_errno(err);
  counter->ibv.context = context;
  counter->ibv.handle = command.handle(handle);
  counter->ct = static_cast<std::uint16_t>(answer.ct);
  counter->bytes = attr->type == IBV_COMP_CNTR_TYPE_BYTES;
  return &counter.release()->ibv;
}

int destroy_comp_cntr(ibv_comp_cntr* counter) noexcept {
  if (counter_of(counter).users) return EBUSY;
  const int err = ibv_cmd_destroy_comp_cntr(counter);
  if (err && err != EIO) return err;
  std::free(&counter_of(counter));
  return 0;
}

int set_comp_cntr(ibv_comp_cntr* ibv, std::uint64_t value) noexcept {
  Counter& counter = counter_of(ibv);
  Guard guard(counter.lock);
  if (const int err = ibv_cmd_set_comp_cntr(ibv, value)) return err;
  counter.correction = 0;
  return 0;
}

int inc_comp_cntr(ibv_comp_cntr* counter, std::uint64_t amount) noexcept {
  return ibv_cmd_inc_comp_cntr(counter, amount);
}

int read_comp_cntr(ibv_comp_cntr* ibv, std::uint64_t* value) noexcept {
  Counter& counter = counter_of(ibv);
  Context& context = context_of(ibv->context);
  advance(context, counter);
  std::uint64_t counted = 0;
  Guard guard(counter.lock);
  if (const int err = ibv_cmd_read_comp_cntr(ibv, &counted)) {
    if (err == EIO) context.dead = true;
    return err;
  }
  *value = (counted + counter.correction) & Counter::max_value;
  return 0;
}

int set_err_comp_cntr(ibv_comp_cntr* counter, std::uint64_t value) noexcept {
  if (value > Counter::max_value) return EINVAL;
  counter_of(counter).errors = value;
  return 0;
}

int inc_err_comp_cntr(ibv_comp_cntr* counter, std::uint64_t amount) noexcept {
  if (amount > Counter::max_value) return EINVAL;
  counter_of(counter).errors += amount;
  return 0;
}

int read_err_comp_cntr(ibv_comp_cntr* ibv, std::uint64_t* value) noexcept {
  Counter& counter = counter_of(ibv);
  advance(context_of(ibv->context), counter);
  *value = counter.errors & Counter::max_value;
  return 0;
}

int query_comp_cntr_caps(ibv_context* context, ibv_comp_cntr_caps* caps,
                         std::size_t size) noexcept {
  return ibv_cmd_query_comp_cntr_caps(context, caps, size);
}

int qp_attach_comp_cntr(ibv_qp* ibv, ibv_comp_cntr* ibv_counter,
                        ibv_qp_attach_comp_cntr_attr* attr) noexcept {
  Qp& qp = qp_of(ibv);
  if (attr->comp_mask) return EOPNOTSUPP;
  if (ibv_counter->context != ibv->context || (attr->op_mask & ~known_operations)) return EINVAL;
  MutexGuard topology(qp.context->topology);
  if (const int err = ibv_cmd_qp_attach_comp_cntr(ibv, ibv_counter, attr)) return err;
  // Reading the counter, in whatever thread, looks at the answers of these.
  constexpr std::uint32_t of_sends = IBV_QP_ATTACH_COMP_CNTR_OP_SEND |
                                     IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ |
                                     IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE;
  if (attr->op_mask & of_sends) share(*qp.send_cq);
  Counter* counter = &counter_of(ibv_counter);
  const auto put = [counter](Counter*& place) {
    place = counter;
    counter->users++;
  };
  {
    Guard guard(qp.send.lock);
    auto* counters = qp.send.counters;
    if (attr->op_mask & IBV_QP_ATTACH_COMP_CNTR_OP_SEND)
      put(counters[static_cast<unsigned>(Counted::sends)]);
    if (attr->op_mask & IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ)
      put(counters[static_cast<unsigned>(Counted::reads)]);
    if (attr->op_mask & IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE)
      put(counters[static_cast<unsigned>(Counted::writes)]);
  }
  Guard guard(qp.recv.lock);
  if (attr->op_mask & IBV_QP_ATTACH_COMP_CNTR_OP_RECV) put(qp.recv.counter);
  return 0;
}

void let_counters_go(Qp& qp) noexcept {
  for (Counter* counter : qp.send.counters)
    if (counter) counter->users--;
  if (qp.recv.counter) qp.recv.counter->users--;
}

}  // namespace cxi
