// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Queue pairs.
#include <cerrno>
#include <cstddef>

#include "error.hpp"
#include "export.hpp"
#include "private_context.hpp"

VERBS_EXPORT ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  return verbs::ops_of(pd->context).create_qp(pd, attr);
}

// The extended form of a QP, NULL for one whose provider has none.
VERBS_EXPORT ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  auto* extended = reinterpret_cast<verbs_qp*>(qp);  // qp is its first member
  return extended->comp_mask & VERBS_QP_EX ? &extended->qp_ex : nullptr;
}

VERBS_EXPORT int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask,
                              ibv_qp_init_attr* init_attr) {
  int error = verbs::ops_of(qp->context).query_qp(qp, attr, mask, init_attr);
  if (!error && mask & IBV_QP_STATE) qp->state = attr->qp_state;
  return error;
}

VERBS_EXPORT int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  int error = verbs::ops_of(qp->context).modify_qp(qp, attr, mask);
  if (!error && mask & IBV_QP_STATE) qp->state = attr->qp_state;
  return error;
}

VERBS_EXPORT int ibv_destroy_qp(ibv_qp* qp) {
  return verbs::ops_of(qp->context).destroy_qp(qp);
}

// Whether the device writes the data of an operation in order: a bit vector, or 0 and 1.
VERBS_EXPORT int ibv_query_qp_data_in_order(ibv_qp* qp, ibv_wr_opcode op, uint32_t flags) {
  constexpr uint32_t known =
      IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS | IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY;
  if (flags & ~known) return 0;
#if !defined(__i386__) && !defined(__x86_64__)
  // What the device writes in order, this processor may still show in another one.
  if (!(flags & IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY)) return 0;
#endif
  int caps = verbs::ops_of(qp->context).query_qp_data_in_order(qp, op, flags);
  if (caps & IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG)
    caps |= IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES;
  if (flags & IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS) return caps;
  return caps & IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG ? 1 : 0;
}

VERBS_EXPORT int ibv_set_ece(ibv_qp* qp, ibv_ece* ece) {
  if (!ece->vendor_id) return verbs::with_errno(EOPNOTSUPP);
  return verbs::ops_of(qp->context).set_ece(qp, ece);
}

VERBS_EXPORT int ibv_query_ece(ibv_qp* qp, ibv_ece* ece) {
  return verbs::ops_of(qp->context).query_ece(qp, ece);
}

VERBS_EXPORT int ibv_attach_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t lid) {
  return verbs::ops_of(qp->context).attach_mcast(qp, gid, lid);
}

VERBS_EXPORT int ibv_detach_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t lid) {
  return verbs::ops_of(qp->context).detach_mcast(qp, gid, lid);
}
