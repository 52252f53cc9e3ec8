// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Querying and modifying queue pairs.
#include "../export.hpp"
#include "cmd.hpp"

namespace verbs {
namespace {

void fill_dest(ib_uverbs_qp_dest& to, const ibv_ah_attr& from) {
  memcpy(to.dgid, from.grh.dgid.raw, sizeof(to.dgid));
  to.flow_label = from.grh.flow_label;
  to.dlid = from.dlid;
  to.sgid_index = from.grh.sgid_index;
  to.hop_limit = from.grh.hop_limit;
  to.traffic_class = from.grh.traffic_class;
  to.sl = from.sl;
  to.src_path_bits = from.src_path_bits;
  to.static_rate = from.static_rate;
  to.is_global = from.is_global;
  to.port_num = from.port_num;
}

void read_dest(ibv_ah_attr& to, const ib_uverbs_qp_dest& from) {
  memcpy(to.grh.dgid.raw, from.dgid, sizeof(from.dgid));
  to.grh.flow_label = from.flow_label;
  to.dlid = from.dlid;
  to.grh.sgid_index = from.sgid_index;
  to.grh.hop_limit = from.hop_limit;
  to.grh.traffic_class = from.traffic_class;
  to.sl = from.sl;
  to.src_path_bits = from.src_path_bits;
  to.static_rate = from.static_rate;
  to.is_global = from.is_global;
  to.port_num = from.port_num;
}

void read_attr(ibv_qp_attr& to, const ib_uverbs_query_qp_resp& from) {
  to.qkey = from.qkey;
  to.rq_psn = from.rq_psn;
  to.sq_psn = from.sq_psn;
  to.dest_qp_num = from.dest_qp_num;
  to.qp_access_flags = from.qp_access_flags;
  to.pkey_index = from.pkey_index;
  to.alt_pkey_index = from.alt_pkey_index;
  to.qp_state = static_cast<ibv_qp_state>(from.qp_state);
  to.cur_qp_state = static_cast<ibv_qp_state>(from.cur_qp_state);
  to.path_mtu = static_cast<ibv_mtu>(from.path_mtu);
  to.path_mig_state = static_cast<ibv_mig_state>(from.path_mig_state);
  to.sq_draining = from.sq_draining;
  to.max_rd_atomic = from.max_rd_atomic;
  to.max_dest_rd_atomic = from.max_dest_rd_atomic;
  to.min_rnr_timer = from.min_rnr_timer;
  to.port_num = from.port_num;
  to.timeout = from.timeout;
  to.retry_cnt = from.retry_cnt;
  to.rnr_retry = from.rnr_retry;
  to.alt_port_num = from.alt_port_num;
  to.alt_timeout = from.alt_timeout;
  to.cap.max_send_wr = from.max_send_wr;
  to.cap.max_recv_wr = from.max_recv_wr;
  to.cap.max_send_sge = from.max_send_sge;
  to.cap.max_recv_sge = from.max_recv_sge;
  to.cap.max_inline_data = from.max_inline_data;
  read_dest(to.ah_attr, from.dest);
  read_dest(to.alt_ah_attr, from.alt_dest);
}

// Bits from here on are not for the old commands.
constexpr uint32_t extended_bits = ~(static_cast<uint32_t>(IBV_QP_RATE_LIMIT) - 1);

}  // namespace

void fill_modify_qp(ib_uverbs_modify_qp& request, const ibv_qp_attr& attr, uint32_t mask) noexcept {
  request.attr_mask = mask;
  if (mask & IBV_QP_STATE) request.qp_state = static_cast<uint8_t>(attr.qp_state);
  if (mask & IBV_QP_CUR_STATE) request.cur_qp_state = static_cast<uint8_t>(attr.cur_qp_state);
  if (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) request.en_sqd_async_notify = attr.en_sqd_async_notify;
  if (mask & IBV_QP_ACCESS_FLAGS) request.qp_access_flags = attr.qp_access_flags;
  if (mask & IBV_QP_PKEY_INDEX) request.pkey_index = attr.pkey_index;
  if (mask & IBV_QP_PORT) request.port_num = attr.port_num;
  if (mask & IBV_QP_QKEY) request.qkey = attr.qkey;
  if (mask & IBV_QP_AV) fill_dest(request.dest, attr.ah_attr);
  if (mask & IBV_QP_PATH_MTU) request.path_mtu = static_cast<uint8_t>(attr.path_mtu);
  if (mask & IBV_QP_TIMEOUT) request.timeout = attr.timeout;
  if (mask & IBV_QP_RETRY_CNT) request.retry_cnt = attr.retry_cnt;
  if (mask & IBV_QP_RNR_RETRY) request.rnr_retry = attr.rnr_retry;
  if (mask & IBV_QP_RQ_PSN) request.rq_psn = attr.rq_psn;
  if (mask & IBV_QP_MAX_QP_RD_ATOMIC) request.max_rd_atomic = attr.max_rd_atomic;
  if (mask & IBV_QP_ALT_PATH) {
    request.alt_pkey_index = attr.alt_pkey_index;
    request.alt_port_num = attr.alt_port_num;
    request.alt_timeout = attr.alt_timeout;
    fill_dest(request.alt_dest, attr.alt_ah_attr);
  }
  if (mask & IBV_QP_MIN_RNR_TIMER) request.min_rnr_timer = attr.min_rnr_timer;
  if (mask & IBV_QP_SQ_PSN) request.sq_psn = attr.sq_psn;
  if (mask & IBV_QP_MAX_DEST_RD_ATOMIC) request.max_dest_rd_atomic = attr.max_dest_rd_atomic;
  if (mask & IBV_QP_PATH_MIG_STATE)
    request.path_mig_state = static_cast<uint8_t>(attr.path_mig_state);
  if (mask & IBV_QP_DEST_QPN) request.dest_qp_num = attr.dest_qp_num;
}

}  // namespace verbs

using namespace verbs;

// Fills in all of both structures, whatever the mask names.
VERBS_EXPORT int ibv_cmd_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask,
                                  ibv_qp_init_attr* init_attr, struct ibv_query_qp* cmd,
                                  size_t cmd_size) {
  if (static_cast<uint32_t>(mask) & extended_bits) return EOPNOTSUPP;
  ib_uverbs_query_qp request{};
  ib_uverbs_query_qp_resp response{};
  request.qp_handle = qp->handle;
  request.attr_mask = static_cast<uint32_t>(mask);
  if (int error = invoke_write(*qp->context, IB_USER_VERBS_CMD_QUERY_QP, request, response,
                               data_behind(cmd, cmd_size)))
    return error;
  read_attr(*attr, response);
  init_attr->qp_context = qp->qp_context;
  init_attr->send_cq = qp->send_cq;
  init_attr->recv_cq = qp->recv_cq;
  init_attr->srq = qp->srq;
  init_attr->qp_type = qp->qp_type;
  init_attr->cap = attr->cap;
  init_attr->sq_sig_all = response.sq_sig_all;
  return 0;
}

VERBS_EXPORT int ibv_cmd_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask,
                                   struct ibv_modify_qp* cmd, size_t cmd_size) {
  if (static_cast<uint32_t>(mask) & extended_bits) return EOPNOTSUPP;
  ib_uverbs_modify_qp request{};
  request.qp_handle = qp->handle;
  fill_modify_qp(request, *attr, static_cast<uint32_t>(mask));
  return invoke_write(*qp->context, IB_USER_VERBS_CMD_MODIFY_QP, request,
                      data_behind(cmd, cmd_size));
}

VERBS_EXPORT int ibv_cmd_modify_qp_ex(ibv_qp* qp, ibv_qp_attr* attr, int mask,
                                      struct ibv_modify_qp_ex* cmd, size_t cmd_size,
                                      ib_uverbs_ex_modify_qp_resp* resp, size_t resp_size) {
  ib_uverbs_ex_modify_qp request{};
  request.base.qp_handle = qp->handle;
  fill_modify_qp(request.base, *attr, static_cast<uint32_t>(mask));
  if (mask & IBV_QP_RATE_LIMIT) {
    if (cmd_size < offsetof(ibv_modify_qp_ex, rate_limit) + sizeof(cmd->rate_limit)) return EINVAL;
    request.rate_limit = attr->rate_limit;
  }
  // A provider from before the rate limit has a shorter command, and no data of its own behind it.
  UserData data = cmd_size < sizeof(*cmd)
                      ? data_behind<struct ibv_modify_qp_ex>(nullptr, 0, resp, resp_size)
                      : data_behind(cmd, cmd_size, resp, resp_size);
  return invoke_write(*qp->context, extended(IB_USER_VERBS_EX_CMD_MODIFY_QP), request, *resp, data);
}
