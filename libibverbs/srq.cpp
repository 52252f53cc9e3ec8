// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Shared receive queues.
#include "events.hpp"
#include "export.hpp"
#include "private_context.hpp"

VERBS_EXPORT ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) {
  ibv_srq* srq = verbs::ops_of(pd->context).create_srq(pd, attr);
  if (srq) {
    srq->context = pd->context;
    srq->srq_context = attr->srq_context;
    srq->pd = pd;
    verbs::init_events(*srq);
  }
  return srq;
}

VERBS_EXPORT int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) {
  return verbs::ops_of(srq->context).modify_srq(srq, attr, mask);
}

VERBS_EXPORT int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* attr) {
  return verbs::ops_of(srq->context).query_srq(srq, attr);
}

VERBS_EXPORT int ibv_destroy_srq(ibv_srq* srq) {
  return verbs::ops_of(srq->context).destroy_srq(srq);
}
