// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Making, opening and destroying queue pairs.
#include "../events.hpp"
#include "../export.hpp"
#include "../private_context.hpp"
#include "cmd.hpp"

namespace verbs {
namespace {

constexpr uint32_t basic_attributes =
    IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
constexpr uint32_t all_attributes =
    basic_attributes | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_MAX_TSO_HEADER |
    IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_QP_ATTR |
    IBV_QP_INIT_ATTR_QP_SEMANTICS | IBV_QP_INIT_ATTR_SRC_ID | IBV_QP_INIT_ATTR_JKEY;
constexpr uint32_t all_create_flags =
    IBV_QP_CREATE_BLOCK_SELF_MCAST_LB | IBV_QP_CREATE_SCATTER_FCS | IBV_QP_CREATE_CVLAN_STRIPPING |
    IBV_QP_CREATE_SOURCE_QPN | IBV_QP_CREATE_PCI_WRITE_END_PADDING;

using CreateQp = Command<UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, 20>;

verbs_xrcd& extended_xrcd(ibv_xrcd* xrcd) {
  return *reinterpret_cast<verbs_xrcd*>(xrcd);
}

// What the QP hangs on: domains and queues. 0 or EINVAL.
int add_parents(CreateQp& command, ibv_qp_init_attr_ex& attr) {
  switch (attr.qp_type) {
    case IBV_QPT_XRC_RECV:
      if (!(attr.comp_mask & IBV_QP_INIT_ATTR_XRCD)) return EINVAL;
      command.object(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, extended_xrcd(attr.xrcd).handle);
      return 0;
    case IBV_QPT_RC:
    case IBV_QPT_UC:
    case IBV_QPT_UD:
    case IBV_QPT_RAW_PACKET:
    case IBV_QPT_XRC_SEND:
    case IBV_QPT_RU:
    case IBV_QPT_DRIVER:
      break;
    default:
      return EINVAL;
  }
  if (!(attr.comp_mask & IBV_QP_INIT_ATTR_PD)) return EINVAL;
  command.object(UVERBS_ATTR_CREATE_QP_PD_HANDLE, attr.pd->handle);

  if (attr.comp_mask & IBV_QP_INIT_ATTR_IND_TABLE) {
    if (attr.cap.max_recv_wr || attr.cap.max_recv_sge || attr.recv_cq || attr.srq) return EINVAL;
    command.object(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE,
                   static_cast<uint32_t>(attr.rwq_ind_tbl->ind_tbl_handle));
    if (attr.cap.max_send_wr)
      command.object(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, attr.send_cq->handle);
    return 0;
  }
  command.object(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, attr.send_cq->handle);
  if (attr.qp_type == IBV_QPT_XRC_SEND) {
    attr.cap.max_recv_wr = 0;  // receives go to a shared queue, whatever the caller asked for
    attr.cap.max_recv_sge = 0;
    return 0;
  }
  command.object(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, attr.recv_cq->handle);
  return 0;
}

int add_flags(CreateQp& command, const ibv_qp_init_attr_ex& attr) {
  uint32_t flags = 0;
  if (attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) {
    if (attr.create_flags & ~all_create_flags) return EINVAL;
    flags = attr.create_flags;
    if (flags & IBV_QP_CREATE_SOURCE_QPN) {
      command.in(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, uint32_t{attr.source_qpn});
      flags &= ~static_cast<uint32_t>(IBV_QP_CREATE_SOURCE_QPN);
    }
  }
  if (attr.sq_sig_all) flags |= IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
  if (flags) command.in(UVERBS_ATTR_CREATE_QP_FLAGS, flags);
  return 0;
}

// Attributes in place of a later modify.
int add_qp_attr(CreateQp& command, const ibv_qp_init_attr_ex& attr,
                ib_uverbs_ex_modify_qp& request) {
  if (!(attr.comp_mask & IBV_QP_INIT_ATTR_QP_ATTR)) return 0;
  if (!attr.qp_attr) return EINVAL;
  auto mask = static_cast<uint32_t>(attr.qp_attr_mask);
  fill_modify_qp(request.base, *attr.qp_attr, mask);
  if (mask & IBV_QP_RATE_LIMIT) request.rate_limit = attr.qp_attr->rate_limit;
  command.in_struct(UVERBS_ATTR_CREATE_QP_ATTR, request);
  return 0;
}

bool takes_srq(const ibv_qp_init_attr_ex& attr) {
  return attr.srq && attr.qp_type != IBV_QPT_XRC_RECV && attr.qp_type != IBV_QPT_XRC_SEND;
}

// The library's part of a QP that the kernel has made.
void fill_qp(ibv_qp& qp, ibv_context* context, const ibv_qp_init_attr_ex& attr, uint32_t handle,
             uint32_t number) {
  qp.context = context;
  qp.qp_context = attr.qp_context;
  qp.pd = attr.comp_mask & IBV_QP_INIT_ATTR_PD ? attr.pd : nullptr;
  qp.send_cq = attr.send_cq;
  qp.recv_cq = attr.recv_cq;
  qp.srq = attr.srq;
  qp.qp_type = attr.qp_type;
  qp.state = IBV_QPS_RESET;
  qp.handle = handle;
  qp.qp_num = number;
}

int create(ibv_context& context, ibv_qp& qp, ibv_qp_init_attr_ex& attr, const UserData& data,
           ibv_command_buffer* link) {
  static_assert(sizeof(ibv_qp_cap) == sizeof(ib_uverbs_qp_cap), "the kernel fills the caller's");
  if (!data.valid) return EINVAL;
  bool imported = private_context(context).imported;
  uint32_t number = 0;
  ib_uverbs_ex_modify_qp qp_attr{};
  CreateQp command(link);
  if (int error = add_parents(command, attr)) return error;
  const auto* handle = command.new_object(UVERBS_ATTR_CREATE_QP_HANDLE);
  command.constant(UVERBS_ATTR_CREATE_QP_TYPE, static_cast<uint64_t>(attr.qp_type));
  command.user_handle(UVERBS_ATTR_CREATE_QP_USER_HANDLE, &qp);
  command.in_struct(UVERBS_ATTR_CREATE_QP_CAP, attr.cap);
  add_event_fd(command, UVERBS_ATTR_CREATE_QP_EVENT_FD, context, imported);
  if (int error = add_flags(command, attr)) return error;
  if (int error = add_qp_attr(command, attr, qp_attr)) return error;
  if (takes_srq(attr)) command.object(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, attr.srq->handle);
  command.out(UVERBS_ATTR_CREATE_QP_RESP_CAP, attr.cap);
  command.out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, number);
  data.add_to(command);

  init_events(qp);  // an event may come before this function returns
  if (int error = command.execute(context)) return error;
  fill_qp(qp, &context, attr, handle_of(handle), number);
  return 0;
}

// After success only: a provider marks its extended QPs once the command is done.
void fill_extended(verbs_qp& qp, const ibv_qp_init_attr_ex& attr) {
  qp.comp_mask = 0;
  if (attr.comp_mask & IBV_QP_INIT_ATTR_XRCD) {
    qp.comp_mask |= VERBS_QP_XRCD;
    qp.xrcd = &extended_xrcd(attr.xrcd);
  }
}

// The extended attributes that plain ones amount to.
ibv_qp_init_attr_ex extend(const ibv_qp_init_attr& from, ibv_pd* pd) {
  ibv_qp_init_attr_ex to{};
  to.qp_context = from.qp_context;
  to.send_cq = from.send_cq;
  to.recv_cq = from.recv_cq;
  to.srq = from.srq;
  to.cap = from.cap;
  to.qp_type = from.qp_type;
  to.sq_sig_all = from.sq_sig_all;
  to.comp_mask = IBV_QP_INIT_ATTR_PD;
  to.pd = pd;
  return to;
}

// Providers that were written for the write interface read its answer.
template <class Response>
void fill_response(Response& resp, const ibv_qp& qp, const ibv_qp_cap& cap) {
  resp.qp_handle = qp.handle;
  resp.qpn = qp.qp_num;
  resp.max_send_wr = cap.max_send_wr;
  resp.max_recv_wr = cap.max_recv_wr;
  resp.max_send_sge = cap.max_send_sge;
  resp.max_recv_sge = cap.max_recv_sge;
  resp.max_inline_data = cap.max_inline_data;
}

}  // namespace
}  // namespace verbs

using namespace verbs;

VERBS_EXPORT int ibv_cmd_create_qp(ibv_pd* pd, ibv_qp* qp, ibv_qp_init_attr* attr,
                                   struct ibv_create_qp* cmd, size_t cmd_size,
                                   ib_uverbs_create_qp_resp* resp, size_t resp_size) {
  ibv_qp_init_attr_ex attr_ex = extend(*attr, pd);
  if (int error =
          create(*pd->context, *qp, attr_ex, data_behind(cmd, cmd_size, resp, resp_size), nullptr))
    return error;
  attr->cap = attr_ex.cap;
  if (resp) fill_response(*resp, *qp, attr->cap);
  return 0;
}

VERBS_EXPORT int ibv_cmd_create_qp_ex(ibv_context* context, verbs_qp* qp, ibv_qp_init_attr_ex* attr,
                                      struct ibv_create_qp* cmd, size_t cmd_size,
                                      ib_uverbs_create_qp_resp* resp, size_t resp_size) {
  if (attr->comp_mask & ~basic_attributes) return EINVAL;
  if (int error =
          create(*context, qp->qp, *attr, data_behind(cmd, cmd_size, resp, resp_size), nullptr))
    return error;
  fill_extended(*qp, *attr);
  if (resp) fill_response(*resp, qp->qp, attr->cap);
  return 0;
}

// The same with everything that can be asked for. What the four newest attributes ask for beyond
// QP_ATTR comes from the provider, in its own buffer.
VERBS_EXPORT int ibv_cmd_create_qp_ex2(ibv_context* context, verbs_qp* qp,
                                       ibv_qp_init_attr_ex* attr, struct ibv_create_qp_ex* cmd,
                                       size_t cmd_size, ib_uverbs_ex_create_qp_resp* resp,
                                       size_t resp_size, ibv_command_buffer* driver) {
  if (attr->comp_mask & ~all_attributes) return EINVAL;
  if (int error =
          create(*context, qp->qp, *attr, data_behind(cmd, cmd_size, resp, resp_size), driver))
    return error;
  fill_extended(*qp, *attr);
  if (resp) fill_response(resp->base, qp->qp, attr->cap);
  return 0;
}

// Opens the receiving side of an XRC QP that another process made.
VERBS_EXPORT int ibv_cmd_open_qp(ibv_context* context, verbs_qp* qp, int qp_size,
                                 ibv_qp_open_attr* attr, struct ibv_open_qp* cmd, size_t cmd_size,
                                 ib_uverbs_create_qp_resp* resp, size_t resp_size) {
  constexpr uint32_t needed = IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_TYPE;
  if (attr->comp_mask >= IBV_QP_OPEN_ATTR_RESERVED) return EOPNOTSUPP;
  if ((attr->comp_mask & needed) != needed) return EINVAL;
  ib_uverbs_open_qp request{};
  request.user_handle = address_of(&qp->qp);
  request.pd_handle = extended_xrcd(attr->xrcd).handle;
  request.qpn = attr->qp_num;
  request.qp_type = static_cast<uint8_t>(attr->qp_type);
  UserData data = data_behind(cmd, cmd_size, resp, resp_size);
  init_events(qp->qp);
  if (int error = invoke_write(*context, IB_USER_VERBS_CMD_OPEN_QP, request, *resp, data))
    return error;
  qp->qp.context = context;
  qp->qp.qp_context = attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT ? attr->qp_context : nullptr;
  qp->qp.pd = nullptr;
  qp->qp.send_cq = nullptr;
  qp->qp.recv_cq = nullptr;
  qp->qp.srq = nullptr;
  qp->qp.handle = resp->qp_handle;
  qp->qp.qp_num = attr->qp_num;
  qp->qp.qp_type = attr->qp_type;
  qp->qp.state = IBV_QPS_UNKNOWN;
  qp->comp_mask = 0;
  if (static_cast<size_t>(qp_size) >= offsetof(verbs_qp, xrcd) + sizeof(qp->xrcd)) {
    qp->comp_mask = VERBS_QP_XRCD;
    qp->xrcd = &extended_xrcd(attr->xrcd);
  }
  return 0;
}

VERBS_EXPORT int ibv_cmd_destroy_qp(ibv_qp* qp) {
  ib_uverbs_destroy_qp_resp response{};
  Command<UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, 2> command;
  command.out(UVERBS_ATTR_DESTROY_QP_RESP, response);
  command.object(UVERBS_ATTR_DESTROY_QP_HANDLE, qp->handle);
  int error = command.execute(*qp->context);
  if (!destroyed(error)) return error;
  wait_for_events(*qp, response.events_reported);
  return 0;
}

VERBS_EXPORT int ibv_cmd_qp_attach_mr(ibv_qp* qp, ibv_mr* mr) {
  Command<UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_MR, 2> command;
  command.object(UVERBS_ATTR_QP_ATTACH_MR_QP_HANDLE, qp->handle);
  command.object(UVERBS_ATTR_QP_ATTACH_MR_MR_HANDLE, mr->handle);
  return command.execute(*qp->context);
}

VERBS_EXPORT int ibv_cmd_qp_detach_mr(ibv_qp* qp, ibv_mr* mr) {
  Command<UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DETACH_MR, 2> command;
  command.object(UVERBS_ATTR_QP_DETACH_MR_QP_HANDLE, qp->handle);
  command.object(UVERBS_ATTR_QP_DETACH_MR_MR_HANDLE, mr->handle);
  return command.execute(*qp->context);
}

VERBS_EXPORT int ibv_cmd_attach_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t lid) {
  ib_uverbs_attach_mcast request{};
  memcpy(request.gid, gid->raw, sizeof(request.gid));
  request.qp_handle = qp->handle;
  request.mlid = lid;
  return invoke_write(*qp->context, IB_USER_VERBS_CMD_ATTACH_MCAST, request);
}

VERBS_EXPORT int ibv_cmd_detach_mcast(ibv_qp* qp, const ibv_gid* gid, uint16_t lid) {
  ib_uverbs_detach_mcast request{};
  memcpy(request.gid, gid->raw, sizeof(request.gid));
  request.qp_handle = qp->handle;
  request.mlid = lid;
  return invoke_write(*qp->context, IB_USER_VERBS_CMD_DETACH_MCAST, request);
}
