// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The data path of verbs 1.0: work requests are copied into those of today, a list at a time.
#include <cerrno>

#include "memory.hpp"
#include "send_wr.hpp"
#include "verbs_1_0.hpp"

namespace verbs::v1_0 {
namespace {

void convert(ibv_recv_wr& to, const RecvWr& from, const Qp*) {
  to.wr_id = from.wr_id;
  to.sg_list = from.sg_list;
  to.num_sge = from.num_sge;
}

void convert(ibv_send_wr& to, const SendWr& from, const Qp* qp) {
  to.wr_id = from.wr_id;
  to.sg_list = from.sg_list;
  to.num_sge = from.num_sge;
  to.opcode = from.opcode;
  to.send_flags = static_cast<unsigned>(from.send_flags);
  to.imm_data = from.imm_data;
  if (qp->qp_type == IBV_QPT_UD) {
    to.wr.ud.ah = from.wr.ud.ah->real;
    to.wr.ud.remote_qpn = from.wr.ud.remote_qpn;
    to.wr.ud.remote_qkey = from.wr.ud.remote_qkey;
    return;
  }
  copy_remote_part(to, from);
}

// Posts a copy of the list. The first request that failed is found by its place in it.
template <class Real, class Old, class Post>
int post_copy(Old* list, Old** bad, const Qp* qp, Post post) {
  size_t count = 0;
  for (const Old* wr = list; wr; wr = wr->next)
    count++;
  if (!count) return 0;
  Owned<Real> copy(static_cast<Real*>(calloc(count, sizeof(Real))));
  if (!copy) {
    *bad = list;
    return ENOMEM;
  }
  Real* to = copy.get();
  for (const Old* wr = list; wr; wr = wr->next, to++) {
    convert(*to, *wr, qp);
    to->next = wr->next ? to + 1 : nullptr;
  }
  Real* real_bad = copy.get();
  int error = post(copy.get(), &real_bad);
  if (!error) return 0;
  *bad = list;
  for (const Real* wr = copy.get(); wr != real_bad && (*bad)->next; wr++)
    *bad = (*bad)->next;
  return error;
}

}  // namespace

int poll_cq(Cq* cq, int count, ibv_wc* wc) noexcept {
  return cq->real->context->ops.poll_cq(cq->real, count, wc);
}

int req_notify_cq(Cq* cq, int solicited_only) noexcept {
  return cq->real->context->ops.req_notify_cq(cq->real, solicited_only);
}

int post_send(Qp* qp, SendWr* wr, SendWr** bad_wr) noexcept {
  return post_copy<ibv_send_wr>(wr, bad_wr, qp, [=](ibv_send_wr* copy, ibv_send_wr** bad) {
    return ibv_post_send(qp->real, copy, bad);
  });
}

int post_recv(Qp* qp, RecvWr* wr, RecvWr** bad_wr) noexcept {
  return post_copy<ibv_recv_wr>(wr, bad_wr, qp, [=](ibv_recv_wr* copy, ibv_recv_wr** bad) {
    return ibv_post_recv(qp->real, copy, bad);
  });
}

int post_srq_recv(Srq* srq, RecvWr* wr, RecvWr** bad_wr) noexcept {
  return post_copy<ibv_recv_wr>(wr, bad_wr, nullptr, [=](ibv_recv_wr* copy, ibv_recv_wr** bad) {
    return ibv_post_srq_recv(srq->real, copy, bad);
  });
}

}  // namespace verbs::v1_0
