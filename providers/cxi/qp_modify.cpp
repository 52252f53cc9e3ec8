// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Queue pair attributes and states. The kernel stops, drains and restarts the queues; what that
// means for requests follows here.

#include "internal.hpp"

namespace cxi {

int check_retry_attributes(const ibv_qp_attr& attr, int mask) noexcept {
  if ((mask & IBV_QP_RNR_RETRY) && attr.rnr_retry > 7) return EINVAL;
  if ((mask & IBV_QP_RETRY_CNT) && attr.retry_cnt > 7) return EINVAL;
  if ((mask & IBV_QP_MIN_RNR_TIMER) && attr.min_rnr_timer > 31) return EINVAL;
  return 0;
}

void take_retry_attributes(Qp& qp, const ibv_qp_attr& attr, int mask) noexcept {
  if (mask & IBV_QP_RNR_RETRY) qp.rnr_retry = attr.rnr_retry;
  if (mask & IBV_QP_RETRY_CNT) qp.retry_cnt = attr.retry_cnt;
  if (mask & IBV_QP_MIN_RNR_TIMER) qp.min_rnr_timer = attr.min_rnr_timer;
}

int command_state(Qp& qp, ibv_qp_state state) noexcept {
  ibv_qp_attr attr = {};
  attr.qp_state = state;
  struct ibv_modify_qp command = {};
  return ibv_cmd_modify_qp(&qp.ibv.qp, &attr, IBV_QP_STATE, &command, sizeof(command));
}

namespace {

void enter_error(Qp& qp) noexcept {
  qp.state = IBV_QPS_ERR;
  {
    Guard guard(qp.send_cq->lock);
    flush_send(qp);
  }
  {
    Guard guard(qp.recv_cq->lock);
    flush_recv(qp);
  }
  wake_at(*qp.send_cq, 1);
  if (qp.recv_cq != qp.send_cq) wake_at(*qp.recv_cq, 1);
}

void enter_reset(Qp& qp) noexcept {
  qp.state = IBV_QPS_RESET;
  {
    Guard guard(qp.send_cq->lock);
    forget_send(qp);
  }
  {
    Guard guard(qp.recv_cq->lock);
    forget_recv(qp);
  }
}

void enter_ready(Qp& qp) noexcept {
  {
    Guard guard(qp.send.lock);
    qp.send.commands.restart();
    qp.send.announced = qp.send.commands.mark();
  }
  {
    Guard guard(qp.recv.lock);
    qp.recv.commands.restart();
  }
  qp.failed = false;
  qp.target_stopped = false;
  qp.state = IBV_QPS_RTS;
}

}  // namespace

void follow_failure(Qp& qp) noexcept {
  qp.failed = false;
  if (qp.state.load(std::memory_order_relaxed) != IBV_QPS_RTS) return;
  // The kernel is there already or on its way; when this returns, all events are in the rings.
  if (command_state(qp, IBV_QPS_ERR) == EIO) qp.context->dead = true;
  qp.ibv.qp.state = IBV_QPS_ERR;
  enter_error(qp);
}

void hear_of_failure(Qp& qp) noexcept {
  ibv_qp_attr attr = {};
  ibv_qp_init_attr init = {};
  struct ibv_query_qp command = {};
  const int err =
      ibv_cmd_query_qp(&qp.ibv.qp, &attr, IBV_QP_STATE, &init, &command, sizeof(command));
  // The program may have seen the failure before, and have reset the queue pair since.
  if (!err && attr.qp_state != IBV_QPS_ERR) return;
  if (!qp.send_cq->single_threaded && !qp.recv_cq->single_threaded) return follow_failure(qp);
  // Only their own thread may touch these queues: its next poll follows.
  qp.failed = true;
  for (Cq* cq : {qp.send_cq, qp.recv_cq}) {
    cq->failed_qps = true;
    wake_at(*cq, 1);
  }
}

int modify_qp(ibv_qp* ibv, ibv_qp_attr* attr, int mask) noexcept {
  Qp& qp = qp_of(ibv);
  if (const int err = check_retry_attributes(*attr, mask)) return err;
  MutexGuard topology(qp.context->topology);
  const ibv_qp_state before = qp.state;
  struct ibv_modify_qp command = {};
  if (const int err = ibv_cmd_modify_qp(ibv, attr, mask, &command, sizeof(command))) {
    if (err == EIO) qp.context->dead = true;
    return err;
  }
  {
    Guard guard(qp.send.lock);
    take_retry_attributes(qp, *attr, mask);
  }
  if (!(mask & IBV_QP_STATE)) return 0;
  switch (attr->qp_state) {
    case IBV_QPS_ERR:
      if (before != IBV_QPS_ERR) enter_error(qp);
      break;
    case IBV_QPS_RESET:
      enter_reset(qp);
      break;
    case IBV_QPS_RTS:
      if (before == IBV_QPS_RESET) enter_ready(qp);
      break;
    default:
      break;
  }
  return 0;
}

int query_qp(ibv_qp* ibv, ibv_qp_attr* attr, int mask, ibv_qp_init_attr* init) noexcept {
  Qp& qp = qp_of(ibv);
  struct ibv_query_qp command = {};
  if (const int err = ibv_cmd_query_qp(ibv, attr, mask, init, &command, sizeof(command)))
    return err;
  attr->rnr_retry = qp.rnr_retry;
  attr->retry_cnt = qp.retry_cnt;
  attr->min_rnr_timer = qp.min_rnr_timer;
  ibv_qp_cap cap = {};
  cap.max_send_wr = qp.send.limit;
  cap.max_recv_wr = qp.recv.limit;
  cap.max_send_sge = qp.send.max_sge;
  cap.max_recv_sge = qp.recv.max_sge;
  cap.max_inline_data = qp.max_inline;
  attr->cap = cap;
  init->cap = cap;
  init->sq_sig_all = qp.signal_all;
  return 0;
}

// The kernel is told neither port nor GID: all GIDs of the port have the same semantics.
int query_qp_semantics(ibv_context* context, ibv_qp_type type, std::uint8_t port,
                       std::uint8_t sgid_index, ibv_qp_semantics* semantics,
                       std::size_t length) noexcept {
  if (type == IBV_QPT_RU) {
    ibv_gid_entry entry;
    const int err = ibv_query_gid_ex(context, port, sgid_index, &entry, 0);
    if (err) return err == ENODATA ? EINVAL : err;
  }
  return ibv_cmd_query_qp_semantics(context, type, semantics, length);
}

}  // namespace cxi
