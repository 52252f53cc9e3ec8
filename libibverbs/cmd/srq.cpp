// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands of shared receive queues.
#include "../events.hpp"
#include "../export.hpp"
#include "../private_context.hpp"
#include "cmd.hpp"

namespace verbs {
namespace {

constexpr uint32_t xrc_attributes = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
constexpr uint32_t tm_attributes = IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;

verbs_xrcd& extended_xrcd(ibv_xrcd* xrcd) {
  return *reinterpret_cast<verbs_xrcd*>(xrcd);
}

ibv_srq_type type_of(const ibv_srq_init_attr_ex& attr) {
  return attr.comp_mask & IBV_SRQ_INIT_ATTR_TYPE ? attr.srq_type : IBV_SRQT_BASIC;
}

bool is_sound(const ibv_srq_init_attr_ex& attr) {
  if (!(attr.comp_mask & IBV_SRQ_INIT_ATTR_PD)) return false;
  switch (type_of(attr)) {
    case IBV_SRQT_BASIC:
      return true;
    case IBV_SRQT_XRC:
      return (attr.comp_mask & xrc_attributes) == xrc_attributes;
    case IBV_SRQT_TM:
      return (attr.comp_mask & tm_attributes) == tm_attributes && attr.tm_cap.max_num_tags;
    default:
      return false;
  }
}

int create(ibv_context& context, ibv_srq& srq, ibv_srq_init_attr_ex& attr, uint32_t& number,
           const UserData& data) {
  if (!data.valid) return EINVAL;
  ibv_srq_type type = type_of(attr);
  bool imported = private_context(context).imported;
  Command<UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, 16> command;
  if (type == IBV_SRQT_XRC) {
    command.object(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, extended_xrcd(attr.xrcd).handle);
    command.object(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, attr.cq->handle);
    command.out(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, number);
  } else if (type == IBV_SRQT_TM) {
    command.object(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, attr.cq->handle);
    command.in(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, uint32_t{attr.tm_cap.max_num_tags});
  }
  const auto* handle = command.new_object(UVERBS_ATTR_CREATE_SRQ_HANDLE);
  command.constant(UVERBS_ATTR_CREATE_SRQ_TYPE, static_cast<uint64_t>(type));
  command.user_handle(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, &srq);
  command.object(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, attr.pd->handle);
  command.in(UVERBS_ATTR_CREATE_SRQ_MAX_WR, uint32_t{attr.attr.max_wr});
  command.in(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, uint32_t{attr.attr.max_sge});
  command.in(UVERBS_ATTR_CREATE_SRQ_LIMIT, uint32_t{attr.attr.srq_limit});
  add_event_fd(command, UVERBS_ATTR_CREATE_SRQ_EVENT_FD, context, imported);
  uint32_t max_wr = 0, max_sge = 0;
  command.out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, max_wr);
  command.out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, max_sge);
  data.add_to(command);

  init_events(srq);  // an event may come before this function returns
  if (int error = command.execute(context)) return error;
  srq.context = &context;
  srq.srq_context = attr.srq_context;
  srq.pd = attr.pd;
  srq.handle = handle_of(handle);
  attr.attr.max_wr = max_wr;
  attr.attr.max_sge = max_sge;
  return 0;
}

void fill_response(ib_uverbs_create_srq_resp* resp, const ibv_srq& srq, const ibv_srq_attr& attr,
                   uint32_t number) {
  if (!resp) return;
  resp->srq_handle = srq.handle;
  resp->max_wr = attr.max_wr;
  resp->max_sge = attr.max_sge;
  resp->srqn = number;
}

}  // namespace
}  // namespace verbs

using namespace verbs;

VERBS_EXPORT int ibv_cmd_create_srq(ibv_pd* pd, ibv_srq* srq, ibv_srq_init_attr* attr,
                                    struct ibv_create_srq* cmd, size_t cmd_size,
                                    ib_uverbs_create_srq_resp* resp, size_t resp_size) {
  ibv_srq_init_attr_ex attr_ex{};
  attr_ex.srq_context = attr->srq_context;
  attr_ex.attr = attr->attr;
  attr_ex.comp_mask = IBV_SRQ_INIT_ATTR_PD;
  attr_ex.pd = pd;
  uint32_t number = 0;
  if (int error =
          create(*pd->context, *srq, attr_ex, number, data_behind(cmd, cmd_size, resp, resp_size)))
    return error;
  attr->attr = attr_ex.attr;
  fill_response(resp, *srq, attr->attr, number);
  return 0;
}

VERBS_EXPORT int ibv_cmd_create_srq_ex(ibv_context* context, verbs_srq* srq,
                                       ibv_srq_init_attr_ex* attr, struct ibv_create_xsrq* cmd,
                                       size_t cmd_size, ib_uverbs_create_srq_resp* resp,
                                       size_t resp_size) {
  if (attr->comp_mask >= IBV_SRQ_INIT_ATTR_RESERVED) return EOPNOTSUPP;
  if (!is_sound(*attr)) return EINVAL;
  uint32_t number = 0;
  if (int error =
          create(*context, srq->srq, *attr, number, data_behind(cmd, cmd_size, resp, resp_size)))
    return error;
  ibv_srq_type type = type_of(*attr);
  srq->srq_type = type;
  srq->cq = type == IBV_SRQT_BASIC ? nullptr : attr->cq;
  srq->xrcd = type == IBV_SRQT_XRC ? &extended_xrcd(attr->xrcd) : nullptr;
  srq->srq_num = number;
  fill_response(resp, srq->srq, attr->attr, number);
  return 0;
}

VERBS_EXPORT int ibv_cmd_modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask,
                                    struct ibv_modify_srq* cmd, size_t cmd_size) {
  ib_uverbs_modify_srq request{};
  request.srq_handle = srq->handle;
  request.attr_mask = static_cast<uint32_t>(mask);
  request.max_wr = attr->max_wr;
  request.srq_limit = attr->srq_limit;
  return invoke_write(*srq->context, IB_USER_VERBS_CMD_MODIFY_SRQ, request,
                      data_behind(cmd, cmd_size));
}

VERBS_EXPORT int ibv_cmd_query_srq(ibv_srq* srq, ibv_srq_attr* attr, struct ibv_query_srq* cmd,
                                   size_t cmd_size) {
  ib_uverbs_query_srq request{};
  ib_uverbs_query_srq_resp response{};
  request.srq_handle = srq->handle;
  if (int error = invoke_write(*srq->context, IB_USER_VERBS_CMD_QUERY_SRQ, request, response,
                               data_behind(cmd, cmd_size)))
    return error;
  attr->max_wr = response.max_wr;
  attr->max_sge = response.max_sge;
  attr->srq_limit = response.srq_limit;
  return 0;
}

VERBS_EXPORT int ibv_cmd_destroy_srq(ibv_srq* srq) {
  ib_uverbs_destroy_srq_resp response{};
  Command<UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, 2> command;
  command.out(UVERBS_ATTR_DESTROY_SRQ_RESP, response);
  command.object(UVERBS_ATTR_DESTROY_SRQ_HANDLE, srq->handle);
  int error = command.execute(*srq->context);
  if (!destroyed(error)) return error;
  wait_for_events(*srq, response.events_reported);
  return 0;
}
