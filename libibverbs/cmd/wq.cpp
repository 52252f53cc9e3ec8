// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands of work queues and of the tables that spread packets over them.
#include "../events.hpp"
#include "../export.hpp"
#include "../memory.hpp"
#include "../private_context.hpp"
#include "cmd.hpp"

using namespace verbs;

VERBS_EXPORT int ibv_cmd_create_wq(ibv_context* context, ibv_wq_init_attr* attr, ibv_wq* wq,
                                   struct ibv_create_wq* cmd, size_t cmd_size,
                                   ib_uverbs_ex_create_wq_resp* resp, size_t resp_size) {
  if (attr->comp_mask >= IBV_WQ_INIT_ATTR_RESERVED) return EINVAL;
  uint32_t flags = attr->comp_mask & IBV_WQ_INIT_ATTR_FLAGS ? attr->create_flags : 0;
  if (flags >= IBV_WQ_FLAGS_RESERVED) return EOPNOTSUPP;
  UserData data = data_behind(cmd, cmd_size, resp, resp_size);
  if (!data.valid) return EINVAL;

  uint32_t max_wr = 0, max_sge = 0, number = 0;
  Command<UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, 14> command;
  const auto* handle = command.new_object(UVERBS_ATTR_CREATE_WQ_HANDLE);
  command.user_handle(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, wq);
  command.object(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, attr->pd->handle);
  command.object(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, attr->cq->handle);
  command.constant(UVERBS_ATTR_CREATE_WQ_TYPE, static_cast<uint64_t>(attr->wq_type));
  command.in(UVERBS_ATTR_CREATE_WQ_MAX_WR, uint32_t{attr->max_wr});
  command.in(UVERBS_ATTR_CREATE_WQ_MAX_SGE, uint32_t{attr->max_sge});
  add_event_fd(command, UVERBS_ATTR_CREATE_WQ_EVENT_FD, *context,
               private_context(*context).imported);
  command.in(UVERBS_ATTR_CREATE_WQ_FLAGS, flags);
  command.out(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, max_wr);
  command.out(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, max_sge);
  command.out(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, number);
  data.add_to(command);
  if (int error = command.execute(*context)) return error;

  attr->max_wr = max_wr;
  attr->max_sge = max_sge;
  wq->context = context;
  wq->pd = attr->pd;
  wq->cq = attr->cq;
  wq->wq_type = attr->wq_type;
  wq->handle = handle_of(handle);
  wq->wq_num = number;
  if (resp) {
    resp->wq_handle = wq->handle;
    resp->max_wr = max_wr;
    resp->max_sge = max_sge;
    resp->wqn = number;
  }
  return 0;
}

VERBS_EXPORT int ibv_cmd_modify_wq(ibv_wq* wq, ibv_wq_attr* attr, struct ibv_modify_wq* cmd,
                                   size_t cmd_size) {
  if (attr->attr_mask >= IBV_WQ_ATTR_RESERVED) return EINVAL;
  ib_uverbs_ex_modify_wq request{};
  request.attr_mask = attr->attr_mask;
  request.wq_handle = wq->handle;
  if (attr->attr_mask & IBV_WQ_ATTR_STATE) request.wq_state = static_cast<uint32_t>(attr->wq_state);
  if (attr->attr_mask & IBV_WQ_ATTR_CURR_STATE)
    request.curr_wq_state = static_cast<uint32_t>(attr->curr_wq_state);
  if (attr->attr_mask & IBV_WQ_ATTR_FLAGS) {
    if (attr->flags_mask >= IBV_WQ_FLAGS_RESERVED) return EOPNOTSUPP;
    request.flags = attr->flags;
    request.flags_mask = attr->flags_mask;
  }
  if (int error = invoke_write(*wq->context, extended(IB_USER_VERBS_EX_CMD_MODIFY_WQ), request,
                               data_behind(cmd, cmd_size)))
    return error;
  if (attr->attr_mask & IBV_WQ_ATTR_STATE) wq->state = attr->wq_state;
  return 0;
}

VERBS_EXPORT int ibv_cmd_destroy_wq(ibv_wq* wq) {
  uint32_t reported = 0;
  Command<UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY, 2> command;
  command.out(UVERBS_ATTR_DESTROY_WQ_RESP, reported);
  command.object(UVERBS_ATTR_DESTROY_WQ_HANDLE, wq->handle);
  int error = command.execute(*wq->context);
  if (!destroyed(error)) return error;
  wait_for_events(*wq, reported);
  return 0;
}

VERBS_EXPORT int ibv_cmd_create_rwq_ind_table(ibv_context* context,
                                              ibv_rwq_ind_table_init_attr* attr,
                                              ibv_rwq_ind_table* table,
                                              ib_uverbs_ex_create_rwq_ind_table_resp* resp,
                                              size_t resp_size) {
  if (attr->comp_mask >= IBV_CREATE_IND_TABLE_RESERVED) return EINVAL;
  if (attr->log_ind_tbl_size > IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE) return EINVAL;
  constexpr size_t alignment = 8;
  size_t entries = size_t{1} << attr->log_ind_tbl_size;
  size_t size = sizeof(ib_uverbs_ex_create_rwq_ind_table) + entries * sizeof(uint32_t);
  size = (size + alignment - 1) / alignment * alignment;
  Owned request(static_cast<ib_uverbs_ex_create_rwq_ind_table*>(calloc(1, size)));
  if (!request) return ENOMEM;
  request->log_ind_tbl_size = attr->log_ind_tbl_size;
  for (size_t i = 0; i < entries; i++)
    request->wq_handles[i] = attr->ind_tbl[i]->handle;

  memset(resp, 0, resp_size);
  UserData data = data_behind<struct ibv_create_rwq_ind_table>(nullptr, 0, resp, resp_size);
  if (int error = invoke_write(*context, extended(IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL),
                               {reinterpret_cast<const std::byte*>(request.get()), size},
                               writable_bytes_of(*resp), data))
    return error;
  table->context = context;
  table->ind_tbl_handle = static_cast<int>(resp->ind_tbl_handle);
  table->ind_tbl_num = static_cast<int>(resp->ind_tbl_num);
  if (resp->response_length >= sizeof(*resp)) return 0;
  ibv_cmd_destroy_rwq_ind_table(table);  // its number is not known, so nobody could use it
  return EINVAL;
}

VERBS_EXPORT int ibv_cmd_destroy_rwq_ind_table(ibv_rwq_ind_table* table) {
  Command<UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY, 1> command;
  command.object(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE,
                 static_cast<uint32_t>(table->ind_tbl_handle));
  int error = command.execute(*table->context);
  destroyed(error);
  return error;
}
