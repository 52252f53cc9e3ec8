// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Making and unmaking queue pairs.

#include <algorithm>
#include <bit>

#include "internal.hpp"
#include "mapping.hpp"
#include "rdma/cxiverbs-abi.h"
#include "waiting.hpp"

namespace cxi {
namespace {

struct CreateQpCommand {
  struct ibv_create_qp_ex core;
  cxi_abi_create_qp_req driver;
};
struct CreateQpResponse {
  ib_uverbs_ex_create_qp_resp core;
  cxi_abi_create_qp_resp driver;
};
static_assert(offsetof(CreateQpCommand, driver) == sizeof(struct ibv_create_qp_ex));
static_assert(offsetof(CreateQpResponse, driver) == sizeof(ib_uverbs_ex_create_qp_resp));

constexpr std::uint32_t max_qp_wr = 4096;
constexpr std::uint32_t slots_per_request = 12;  // the longest request, profile switch and padding
constexpr std::uint32_t reserved_slots = C_CQ_FIRST_WR_PTR;

constexpr std::uint32_t send_reserve(std::uint32_t max_send_wr) noexcept {
  return 2 * max_send_wr + side_reserve;
}

constexpr std::uint32_t supported_attributes =
    IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
    IBV_QP_INIT_ATTR_QP_ATTR | IBV_QP_INIT_ATTR_QP_SEMANTICS | IBV_QP_INIT_ATTR_SRC_ID |
    IBV_QP_INIT_ATTR_JKEY;

bool has(const ibv_qp_init_attr_ex& attr, std::uint32_t mask) noexcept {
  return attr.comp_mask & mask;
}

int check(const ibv_qp_init_attr_ex& attr) noexcept {
  if (attr.qp_type != IBV_QPT_RU) return EOPNOTSUPP;
  if (attr.comp_mask & ~supported_attributes) return EOPNOTSUPP;
  if (!has(attr, IBV_QP_INIT_ATTR_PD) || !attr.pd || !attr.send_cq || !attr.recv_cq || attr.srq)
    return EINVAL;
  if (has(attr, IBV_QP_INIT_ATTR_JKEY) &&
      (!attr.job_key || pd_of(attr.job_key->pd).base != pd_of(attr.pd).base))
    return EINVAL;
  if (has(attr, IBV_QP_INIT_ATTR_QP_SEMANTICS) && !attr.qp_semantics) return EINVAL;
  if (attr.send_cq->context != attr.pd->context || attr.recv_cq->context != attr.pd->context)
    return EINVAL;
  const ibv_qp_cap& cap = attr.cap;
  if (cap.max_send_wr > max_qp_wr || cap.max_recv_wr > max_qp_wr || cap.max_send_sge > max_sges ||
      cap.max_recv_sge > max_sges || cap.max_inline_data > max_inline_bytes)
    return EINVAL;
  if (has(attr, IBV_QP_INIT_ATTR_QP_ATTR)) {
    if (!attr.qp_attr) return EINVAL;
    if (const int err = check_retry_attributes(*attr.qp_attr, attr.qp_attr_mask)) return err;
  }
  return 0;
}

ib_uverbs_qp_semantics to_kernel(const ibv_qp_semantics& from) noexcept {
  ib_uverbs_qp_semantics to = {};
  to.comp_mask = from.comp_mask;
  to.msg_order = from.msg_order;
  to.max_rdma_raw_size = from.max_rdma_raw_size;
  to.max_rdma_war_size = from.max_rdma_war_size;
  to.max_rdma_waw_size = from.max_rdma_waw_size;
  to.max_pdu = from.max_pdu;
  to.usage_flags = from.usage_flags;
  to.imm_data_size = from.imm_data_size;
  return to;
}

/// The kernel's part. Fills attr.cap with what was granted.
int command_create(Qp& qp, ibv_qp_init_attr_ex& attr, std::uint32_t cp_handle,
                   CreateQpResponse& response) noexcept {
  CreateQpCommand command = {};
  cxi_abi_create_qp_req& request = command.driver;
  const ibv_qp_cap& cap = attr.cap;
  request.tx_slots = std::max(64u, slots_per_request * cap.max_send_wr + reserved_slots);
  request.tgt_slots = std::max(64u, cap.max_recv_wr + reserved_slots + 1);
  request.send_eq_reserve = send_reserve(cap.max_send_wr);
  request.recv_eq_reserve = side_reserve;
  request.slot_count = cap.max_send_wr ? std::bit_ceil(cap.max_send_wr) : 0;
  request.slot_bytes = request.slot_count ? send_slot_bytes : 0;
  request.recv_le_charge = cap.max_recv_wr;
  request.cp_handle = cp_handle;

  ib_uverbs_qp_semantics semantics;
  DECLARE_COMMAND_BUFFER(link, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, 3);
  if (has(attr, IBV_QP_INIT_ATTR_SRC_ID))
    fill_attr_in_uint32(link, UVERBS_ATTR_CREATE_QP_SRC_ID, attr.src_id);
  if (has(attr, IBV_QP_INIT_ATTR_QP_SEMANTICS)) {
    semantics = to_kernel(*attr.qp_semantics);
    fill_attr_in_ptr(link, UVERBS_ATTR_CREATE_QP_SEMANTICS, &semantics);
  }
  if (has(attr, IBV_QP_INIT_ATTR_JKEY))
    fill_attr_in_obj(link, UVERBS_ATTR_CREATE_QP_JOB_KEY, attr.job_key->handle);
  return ibv_cmd_create_qp_ex2(&qp.context->ibv.context, &qp.ibv, &attr, &command.core,
                               sizeof(command), &response.core, sizeof(response), link);
}

int make_send_queue(Qp& qp, const ibv_qp_cap& cap, const cxi_abi_create_qp_resp& made) noexcept {
  SendQueue& send = qp.send;
  const ibv_context& context = qp.context->ibv.context;
  send.side = {.qp = &qp, .cq = qp.send_cq, .is_send = true};
  send.limit = cap.max_send_wr;
  send.max_sge = cap.max_send_sge;
  const std::uint32_t count = cap.max_send_wr ? std::bit_ceil(cap.max_send_wr) : 1;
  send.mask = count - 1;
  send.requests = allocate_array<SendRequest>(count).release();
  send.sges = allocate_array<ibv_sge64>(cap.max_send_sge).release();
  if (!send.requests || !send.sges) return ENOMEM;
  send.slots_iova = made.slot_iova;
  send.slots_lac = static_cast<std::uint8_t>(made.slot_lac);
  if (cap.max_send_wr) {
    send.slots_bytes = made.slot_map_bytes;
    if (const int err = map_cookie(context, made.slot_cookie, made.slot_map_bytes, send.slots))
      return err;
  }
  if (const int err = send.commands.map(context, made.txq)) return err;
  send.announced = send.commands.mark();
  return 0;
}

int make_recv_queue(Qp& qp, const ibv_qp_cap& cap, const cxi_abi_create_qp_resp& made) noexcept {
  RecvQueue& recv = qp.recv;
  recv.side = {.qp = &qp, .cq = qp.recv_cq, .is_send = false};
  recv.limit = cap.max_recv_wr;
  recv.max_sge = cap.max_recv_sge;
  recv.slots = allocate_array<RecvSlot>(recv.limit + 1).release();
  recv.pieces = allocate_array<Piece>(std::size_t{recv.limit + 1} * recv.max_sge).release();
  if (!recv.slots || !recv.pieces) return ENOMEM;
  for (std::uint32_t slot = recv.limit; slot > 0; slot--) {
    recv.slots[slot].next = recv.free;
    recv.free = static_cast<std::uint16_t>(slot);
  }
  return recv.commands.map(qp.context->ibv.context, made.tgq);
}

void free_qp(Qp& qp) noexcept {
  qp.send.commands.unmap();
  qp.recv.commands.unmap();
  unmap_cookie(qp.send.slots, qp.send.slots_bytes);
  std::free(qp.send.requests);
  std::free(qp.send.sges);
  std::free(qp.recv.slots);
  std::free(qp.recv.pieces);
  std::free(&qp);
}

/// A place among the queue pairs of the context, for user_ptr. With Context::topology.
int choose_slot(Qp& qp) noexcept {
  Context& context = *qp.context;
  for (std::uint32_t slot = 0; slot < qp_slots; slot++) {
    if (context.qps[slot].load(std::memory_order_relaxed)) continue;
    qp.slot = slot;
    begin_generation(qp);
    return 0;
  }
  return ENOSPC;
}

bool is_foreign(const Side& side) noexcept {
  return !side.is_send && side.qp->send_cq != side.cq;
}

void link_side(Side& side) noexcept {
  Guard guard(side.cq->lock);
  side.cq->foreign_sends += is_foreign(side);
  side.next_on_cq = side.cq->sides;
  side.cq->sides = &side;
}

void unlink_side(Side& side) noexcept {
  side.cq->foreign_sends -= is_foreign(side);
  Side** at = &side.cq->sides;
  while (*at && *at != &side)
    at = &(*at)->next_on_cq;
  if (*at) *at = side.next_on_cq;
}

/// Rings in which the events of the queue pair have room. With Context::topology.
int make_room(const Qp& qp, std::uint32_t max_send_wr) noexcept {
  const std::uint32_t send = send_reserve(max_send_wr);
  if (qp.send_cq == qp.recv_cq) return make_room(*qp.send_cq, send + side_reserve);
  const int err = make_room(*qp.send_cq, send);
  return err ? err : make_room(*qp.recv_cq, side_reserve);
}

void change_reserve(Cq& cq, std::uint32_t change) noexcept {
  Guard guard(cq.lock);
  cq.reserve += change;
  limit_unacknowledged(cq);
}

/// Keeps the account of what the kernel has reserved for the queue pair, or has let go of.
void count_reserve(Qp& qp, bool more) noexcept {
  const std::uint32_t sign = more ? 1 : ~std::uint32_t{0};
  change_reserve(*qp.send_cq, sign * send_reserve(static_cast<std::uint32_t>(qp.credits)));
  change_reserve(*qp.recv_cq, sign * side_reserve);
}

/// Whether one thread posts to the queue pair and polls its completion queues: who is it that would
/// be kept out?
bool is_of_one_thread(const Qp& qp, const Td* td) noexcept {
  const auto is_of_it = [td](const Cq& cq) { return cq.single_threaded && cq.td == td; };
  return td && is_of_it(*qp.send_cq) && is_of_it(*qp.recv_cq);
}

/// Who polls one of two completion queues looks at the other one too: queues of different threads
/// need their locks. With Context::topology, before events can find the queue pair.
void share_queues(const Qp& qp) noexcept {
  if (qp.send_cq == qp.recv_cq) return;
  if (qp.send_cq->td && qp.send_cq->td == qp.recv_cq->td) return;
  share(*qp.send_cq);
  share(*qp.recv_cq);
}

/// Makes events find the queue pair. With Context::topology.
void join(Qp& qp) noexcept {
  Context& context = *qp.context;
  link_side(qp.send.side);
  link_side(qp.recv.side);
  context.receivers[qp.recv_pte].store(&qp, std::memory_order_release);
  context.receivers[qp.mem_pte].store(&qp, std::memory_order_release);
  context.qps[qp.slot].store(&qp, std::memory_order_release);
  qp.send_cq->credits.fetch_add(qp.credits, std::memory_order_relaxed);
}

/// Takes everything that is known of the queue pair out of its completion queues: no event of it is
/// reported from now on. The kernel has stopped it. With Context::topology.
void leave(Qp& qp) noexcept {
  Context& context = *qp.context;
  {
    Guard guard(qp.send_cq->lock);
    forget_send(qp);
    unlink_side(qp.send.side);
    context.qps[qp.slot].store(nullptr, std::memory_order_release);
  }
  {
    Guard guard(qp.recv_cq->lock);
    forget_recv(qp);
    unlink_side(qp.recv.side);
    context.receivers[qp.recv_pte].store(nullptr, std::memory_order_release);
    context.receivers[qp.mem_pte].store(nullptr, std::memory_order_release);
  }
  qp.send_cq->credits.fetch_sub(qp.credits, std::memory_order_relaxed);
}

/// Other queue pairs may have taken more places in the ring than will be left to them. They are
/// given back before messages can have them: answers find their places, or have been read. With
/// Context::topology.
void settle_places(Cq& cq) noexcept {
  Waiting waiting(*cq.context);
  while (cq.credits < 0) {
    {
      Guard guard(cq.lock);
      look_at_answers(cq);
      acknowledge(cq, true);
      if (cq.credits + static_cast<std::int32_t>(cq.credits_here) >= 0) return;
    }
    if (waiting.pause()) return;
  }
}

void take_attributes(Qp& qp, const ibv_qp_init_attr_ex& attr) noexcept {
  qp.rnr_retry = 7;
  qp.min_rnr_timer = 12;
  qp.retry_cnt = 7;
  if (has(attr, IBV_QP_INIT_ATTR_QP_ATTR))
    take_retry_attributes(qp, *attr.qp_attr, attr.qp_attr_mask);
  qp.signal_all = attr.sq_sig_all != 0;
  if (has(attr, IBV_QP_INIT_ATTR_SRC_ID)) qp.src_id = attr.src_id;
}

void take_answer(Qp& qp, const ibv_qp_init_attr_ex& attr, std::uint32_t cp_handle,
                 const cxi_abi_create_qp_resp& made) noexcept {
  qp.domain->pid = made.pid;
  qp.initiator = initiator(made.pid, qp.context->nid, qp.context->geometry);
  qp.ri = made.ri;
  qp.eqn = static_cast<std::uint16_t>(qp.send_cq->eqn);
  qp.recv_pte = static_cast<std::uint16_t>(made.recv_pte % pte_numbers);
  qp.mem_pte = static_cast<std::uint16_t>(made.mem_pte % pte_numbers);
  qp.vni = static_cast<std::uint16_t>(made.vni);
  qp.first_lcid = static_cast<std::uint8_t>(made.txq.lcid);
  qp.max_inline = std::min(max_inline_bytes, qp.context->max_inline);
  qp.credits = static_cast<std::int32_t>(attr.cap.max_send_wr);
  if (has(attr, IBV_QP_INIT_ATTR_JKEY)) {
    const JobKeyEntry* key = qp.context->job_keys.find(attr.job_key->jkey, qp.domain);
    qp.job = key ? key->job : nullptr;
    if (cp_handle != CXI_ABI_HANDLE_NONE) qp.profile_key = attr.job_key->jkey;
  }
}

}  // namespace

int make_qp(Context& context, ibv_qp_init_attr_ex& attr, std::uint32_t cp_handle,
            Qp*& result) noexcept {
  if (const int err = check(attr)) return err;
  Owned<Qp> owned = allocate<Qp>();
  if (!owned) return ENOMEM;
  Qp& qp = *owned;
  qp.context = &context;
  qp.domain = pd_of(attr.pd).base;
  qp.send_cq = &cq_of(attr.send_cq);
  qp.recv_cq = &cq_of(attr.recv_cq);
  qp.state = IBV_QPS_RTS;
  take_attributes(qp, attr);
  const ibv_qp_cap asked = attr.cap;
  if (asked.max_send_sge > 1 || asked.max_recv_sge > 1)
    if (const int err = need_staging(*qp.domain)) return err;
  if (has(attr, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
    if (const int err = install_builder(qp, attr.send_ops_flags)) return err;

  MutexGuard topology(context.topology);
  if (const int err = choose_slot(qp)) return err;
  if (const int err = make_room(qp, asked.max_send_wr)) return err;
  CreateQpResponse response = {};
  int err = command_create(qp, attr, cp_handle, response);
  // The object counts work requests as asked; the kernel may have granted more.
  attr.cap = asked;
  if (err) return err;
  take_answer(qp, attr, cp_handle, response.driver);
  err = make_send_queue(qp, asked, response.driver);
  if (!err) err = make_recv_queue(qp, asked, response.driver);
  if (err) {
    ibv_cmd_destroy_qp(&qp.ibv.qp);
    free_qp(*owned.release());
    return err;
  }
  if (has(attr, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)) qp.ibv.comp_mask |= VERBS_QP_EX;
  qp.ibv.qp.state = IBV_QPS_RTS;
  share_queues(qp);
  if (is_of_one_thread(qp, pd_of(attr.pd).td))
    for (Lock* lock : {&qp.send.post_lock, &qp.send.lock, &qp.recv.lock})
      lock->set_single_threaded();
  join(qp);
  count_reserve(qp, true);
  pd_of(attr.pd).references++;
  attr.cap.max_inline_data = qp.max_inline;
  result = owned.release();
  return 0;
}

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr) noexcept {
  Qp* qp = nullptr;
  if (const int err = make_qp(context_of(context), *attr, CXI_ABI_HANDLE_NONE, qp))
    return null_with_errno(err);
  return &qp->ibv.qp;
}

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) noexcept {
  ibv_qp_init_attr_ex wide = {};
  wide.qp_context = attr->qp_context;
  wide.send_cq = attr->send_cq;
  wide.recv_cq = attr->recv_cq;
  wide.srq = attr->srq;
  wide.cap = attr->cap;
  wide.qp_type = attr->qp_type;
  wide.sq_sig_all = attr->sq_sig_all;
  wide.comp_mask = IBV_QP_INIT_ATTR_PD;
  wide.pd = pd;
  ibv_qp* qp = create_qp_ex(pd->context, &wide);
  if (qp) attr->cap = wide.cap;
  return qp;
}

int destroy_qp(ibv_qp* ibv) noexcept {
  Qp& qp = qp_of(ibv);
  {
    // Stop it first: afterwards its events are all in the rings, and can be taken out before the
    // numbers by which they are found belong to another one.
    MutexGuard topology(qp.context->topology);
    const int err = command_state(qp, IBV_QPS_ERR);
    if (err && err != EIO) return err;
    if (err) qp.context->dead = true;
    qp.state = IBV_QPS_ERR;
    detach_indexed(qp);
    leave(qp);
    settle_places(*qp.send_cq);
  }
  const int err = ibv_cmd_destroy_qp(ibv);
  if (err && err != EIO) {
    MutexGuard topology(qp.context->topology);
    choose_slot(qp);  // another queue pair may have the old one; there are more than queue pairs
    join(qp);
    return err;
  }
  {
    MutexGuard topology(qp.context->topology);
    forget_attachments(qp);
    count_reserve(qp, false);
  }
  let_counters_go(qp);
  pd_of(ibv->pd).references--;
  free_qp(qp);
  return 0;
}

}  // namespace cxi
