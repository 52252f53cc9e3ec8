// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands of completion queues.
#include "../events.hpp"
#include "../export.hpp"
#include "../memory.hpp"
#include "../private_context.hpp"
#include "cmd.hpp"

namespace verbs {
namespace {

struct CqRequest {
  uint32_t cqe;
  uint32_t comp_vector;
  ibv_comp_channel* channel;
  uint32_t flags;  // of the kernel
};

using CreateCq = Command<UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, 13>;

int create(ibv_context& context, const CqRequest& request, ibv_cq& cq, CreateCq& command,
           const UserData& data) {
  if (!data.valid) return EINVAL;
  bool imported = private_context(context).imported;
  uint32_t cqe = 0;
  cq.context = &context;
  const auto* handle = command.new_object(UVERBS_ATTR_CREATE_CQ_HANDLE);
  command.out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, cqe);
  command.in(UVERBS_ATTR_CREATE_CQ_CQE, request.cqe);
  command.user_handle(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, &cq);
  if (request.channel) command.fd(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, request.channel->fd);
  command.in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, request.comp_vector);
  add_event_fd(command, UVERBS_ATTR_CREATE_CQ_EVENT_FD, context, imported);
  if (request.flags) command.in(UVERBS_ATTR_CREATE_CQ_FLAGS, request.flags);
  data.add_to(command);
  if (int error = command.execute(context)) return error;
  cq.handle = handle_of(handle);
  cq.cqe = static_cast<int>(cqe);
  return 0;
}

uint32_t kernel_flags(const ibv_cq_init_attr_ex& attr) {
  uint32_t flags = 0;
  if (attr.wc_flags &
      (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK))
    flags |= IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
  if (attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
      attr.flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)
    flags |= IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
  return flags;
}

// Memory of the queue that the provider allocated.
void add_memory(CreateCq& command, const verbs_create_cq_prov_attr& memory, uint32_t cmd_flags) {
  const auto& buffer = memory.buffer;
  if (cmd_flags & CREATE_CQ_CMD_FLAGS_WITH_MEM_VA) {
    command.in(UVERBS_ATTR_CREATE_CQ_BUFFER_VA, address_of(buffer.ptr));
    command.in(UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH, uint64_t{buffer.length});
  } else if (cmd_flags & CREATE_CQ_CMD_FLAGS_WITH_MEM_DMABUF) {
    command.fd(UVERBS_ATTR_CREATE_CQ_BUFFER_FD, buffer.dmabuf.fd);
    command.in(UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET, uint64_t{buffer.dmabuf.offset});
    command.in(UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH, uint64_t{buffer.length});
  }
}

void copy_wc(ibv_wc& to, const ib_uverbs_wc& from) {
  to.wr_id = from.wr_id;
  to.status = static_cast<ibv_wc_status>(from.status);
  to.opcode = static_cast<ibv_wc_opcode>(from.opcode);
  to.vendor_err = from.vendor_err;
  to.byte_len = from.byte_len;
  to.imm_data = from.ex.imm_data;
  to.qp_num = from.qp_num;
  to.src_qp = from.src_qp;
  to.wc_flags = from.wc_flags;
  to.pkey_index = from.pkey_index;
  to.slid = from.slid;
  to.sl = from.sl;
  to.dlid_path_bits = from.dlid_path_bits;
}

}  // namespace
}  // namespace verbs

using namespace verbs;

VERBS_EXPORT int ibv_cmd_create_cq(ibv_context* context, int cqe, ibv_comp_channel* channel,
                                   int comp_vector, ibv_cq* cq, struct ibv_create_cq* cmd,
                                   size_t cmd_size, ib_uverbs_create_cq_resp* resp,
                                   size_t resp_size) {
  CreateCq command;
  const CqRequest request{.cqe = static_cast<uint32_t>(cqe),
                          .comp_vector = static_cast<uint32_t>(comp_vector),
                          .channel = channel,
                          .flags = 0};
  return create(*context, request, *cq, command, data_behind(cmd, cmd_size, resp, resp_size));
}

// The same with extended attributes, memory of the provider and its own attributes.
VERBS_EXPORT int ibv_cmd_create_cq_ex2(ibv_context* context, const ibv_cq_init_attr_ex* attr,
                                       verbs_create_cq_prov_attr* memory, verbs_cq* cq,
                                       struct ibv_create_cq_ex* cmd, size_t cmd_size,
                                       ib_uverbs_ex_create_cq_resp* resp, size_t resp_size,
                                       uint32_t cmd_flags, ibv_command_buffer* driver) {
  constexpr uint32_t known = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
  constexpr uint32_t with_memory =
      CREATE_CQ_CMD_FLAGS_WITH_MEM_VA | CREATE_CQ_CMD_FLAGS_WITH_MEM_DMABUF;
  if (attr->comp_mask & ~known) return EOPNOTSUPP;
  if (cmd_flags & with_memory && !memory) return EINVAL;
  CreateCq command(driver);
  if (memory) add_memory(command, *memory, cmd_flags);
  const CqRequest request{.cqe = attr->cqe,
                          .comp_vector = attr->comp_vector,
                          .channel = attr->channel,
                          .flags = kernel_flags(*attr)};
  return create(*context, request, cq->cq, command, data_behind(cmd, cmd_size, resp, resp_size));
}

VERBS_EXPORT int ibv_cmd_create_cq_ex(ibv_context* context, const ibv_cq_init_attr_ex* attr,
                                      verbs_create_cq_prov_attr* memory, verbs_cq* cq,
                                      struct ibv_create_cq_ex* cmd, size_t cmd_size,
                                      ib_uverbs_ex_create_cq_resp* resp, size_t resp_size,
                                      uint32_t cmd_flags) {
  return ibv_cmd_create_cq_ex2(context, attr, memory, cq, cmd, cmd_size, resp, resp_size, cmd_flags,
                               nullptr);
}

VERBS_EXPORT int ibv_cmd_resize_cq(ibv_cq* cq, int cqe, struct ibv_resize_cq* cmd, size_t cmd_size,
                                   ib_uverbs_resize_cq_resp* resp, size_t resp_size) {
  ib_uverbs_resize_cq request{};
  request.cq_handle = cq->handle;
  request.cqe = static_cast<uint32_t>(cqe);
  UserData data = data_behind(cmd, cmd_size, resp, resp_size);
  if (int error = invoke_write(*cq->context, IB_USER_VERBS_CMD_RESIZE_CQ, request, *resp, data))
    return error;
  cq->cqe = static_cast<int>(resp->cqe);
  return 0;
}

VERBS_EXPORT int ibv_cmd_modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attr, struct ibv_modify_cq* cmd,
                                   size_t cmd_size) {
  if (attr->attr_mask >= IBV_CQ_ATTR_RESERVED) return EINVAL;
  ib_uverbs_ex_modify_cq request{};
  request.cq_handle = cq->handle;
  request.attr_mask = attr->attr_mask;
  request.attr.cq_count = attr->moderate.cq_count;
  request.attr.cq_period = attr->moderate.cq_period;
  return invoke_write(*cq->context, extended(IB_USER_VERBS_EX_CMD_MODIFY_CQ), request,
                      data_behind(cmd, cmd_size));
}

VERBS_EXPORT int ibv_cmd_destroy_cq(ibv_cq* cq) {
  ib_uverbs_destroy_cq_resp response{};
  Command<UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, 2> command;
  command.out(UVERBS_ATTR_DESTROY_CQ_RESP, response);
  command.object(UVERBS_ATTR_DESTROY_CQ_HANDLE, cq->handle);
  int error = command.execute(*cq->context);
  if (!destroyed(error)) return error;
  wait_for_events(*cq, response.comp_events_reported, response.async_events_reported);
  return 0;
}

// Polls in the kernel, for devices whose queues it keeps. The number of completions, or -1.
VERBS_EXPORT int ibv_cmd_poll_cq(ibv_cq* cq, int count, ibv_wc* wc) {
  ib_uverbs_poll_cq request{};
  request.cq_handle = cq->handle;
  request.ne = static_cast<uint32_t>(count);
  size_t size = sizeof(ib_uverbs_poll_cq_resp) + static_cast<size_t>(count) * sizeof(ib_uverbs_wc);
  Owned response(static_cast<ib_uverbs_poll_cq_resp*>(calloc(1, size)));
  if (!response) return -1;
  std::span answer(reinterpret_cast<std::byte*>(response.get()), size);
  if (invoke_write(*cq->context, IB_USER_VERBS_CMD_POLL_CQ, bytes_of(request), answer, {}))
    return -1;
  uint32_t found = response->count;
  if (found > request.ne) return -1;
  for (uint32_t i = 0; i < found; i++)
    copy_wc(wc[i], response->wc[i]);
  return static_cast<int>(found);
}

VERBS_EXPORT int ibv_cmd_req_notify_cq(ibv_cq* cq, int solicited_only) {
  ib_uverbs_req_notify_cq request{};
  request.cq_handle = cq->handle;
  request.solicited_only = solicited_only != 0;
  return invoke_write(*cq->context, IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, request);
}
