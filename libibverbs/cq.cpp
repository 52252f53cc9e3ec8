// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "cq.hpp"

#include <cerrno>

#include "error.hpp"
#include "export.hpp"
#include "private_context.hpp"
#include "scoped.hpp"

namespace verbs {

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr) noexcept {
  if (attr->wc_flags & ~static_cast<uint64_t>(IBV_CREATE_CQ_SUP_WC_FLAGS))
    return null_with_errno(EOPNOTSUPP);
  ibv_cq_ex* cq = ops_of(context).create_cq_ex(context, attr);
  if (cq) verbs_init_cq(ibv_cq_ex_to_cq(cq), context, attr->channel, attr->cq_context);
  return cq;
}

}  // namespace verbs

// The library's part of a CQ. Providers call it for CQs that they make for verbs of their own.
VERBS_EXPORT void verbs_init_cq(ibv_cq* cq, ibv_context* context, ibv_comp_channel* channel,
                                void* cq_context) {
  cq->context = context;
  cq->channel = channel;
  if (channel) {
    verbs::Locked lock(context->mutex);
    channel->refcnt++;
  }
  cq->cq_context = cq_context;
  cq->comp_events_completed = 0;
  cq->async_events_completed = 0;
  pthread_mutex_init(&cq->mutex, nullptr);
  pthread_cond_init(&cq->cond, nullptr);
}

VERBS_EXPORT ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context,
                                   ibv_comp_channel* channel, int comp_vector) {
  ibv_cq* cq = verbs::ops_of(context).create_cq(context, cqe, channel, comp_vector);
  if (cq) verbs_init_cq(cq, context, channel, cq_context);
  return cq;
}

VERBS_EXPORT int ibv_resize_cq(ibv_cq* cq, int cqe) {
  return verbs::ops_of(cq->context).resize_cq(cq, cqe);
}

VERBS_EXPORT int ibv_destroy_cq(ibv_cq* cq) {
  ibv_context* context = cq->context;
  ibv_comp_channel* channel = cq->channel;
  int error = verbs::ops_of(context).destroy_cq(cq);
  if (!error && channel) {
    verbs::Locked lock(context->mutex);
    channel->refcnt--;
  }
  return error;
}
