// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands of completion counters.
#include "../export.hpp"
#include "cmd.hpp"

namespace verbs {
namespace {

int modify(ibv_comp_cntr& counter, uint64_t entry, uint64_t op, uint64_t value) {
  Command<UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_MODIFY, 4> command;
  command.object(UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE, counter.handle);
  command.constant(UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY, entry);
  command.constant(UVERBS_ATTR_MODIFY_COMP_CNTR_OP, op);
  command.in(UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE, value);
  return command.execute(*counter.context);
}

int read(ibv_comp_cntr& counter, uint64_t entry, uint64_t& value) {
  Command<UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_READ, 3> command;
  command.object(UVERBS_ATTR_READ_COMP_CNTR_HANDLE, counter.handle);
  command.constant(UVERBS_ATTR_READ_COMP_CNTR_ENTRY, entry);
  command.out(UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE, value);
  return command.execute(*counter.context);
}

// The bits that both sides know; they need not have the same values.
uint32_t kernel_ops(uint32_t ops) {
  constexpr struct {
    uint32_t user, kernel;
  } pairs[] = {
      {IBV_QP_ATTACH_COMP_CNTR_OP_SEND, IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_SEND},
      {IBV_QP_ATTACH_COMP_CNTR_OP_RECV, IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RECV},
      {IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ, IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_READ},
      {IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ,
       IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ},
      {IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE, IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE},
      {IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE,
       IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE},
  };
  uint32_t kernel = 0;
  for (const auto& pair : pairs)
    if (ops & pair.user) kernel |= pair.kernel;
  return kernel;
}

}  // namespace
}  // namespace verbs

using namespace verbs;

VERBS_EXPORT int ibv_cmd_create_comp_cntr(ibv_context* context, ibv_comp_cntr* counter,
                                          ibv_command_buffer* link) {
  Command<UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_CREATE, 1> command(link);
  const auto* handle = command.new_object(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE);
  if (int error = command.execute(*context)) return error;
  counter->context = context;
  counter->handle = handle_of(handle);
  return 0;
}

VERBS_EXPORT int ibv_cmd_destroy_comp_cntr(ibv_comp_cntr* counter) {
  Command<UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_DESTROY, 1> command;
  command.object(UVERBS_ATTR_DESTROY_COMP_CNTR_HANDLE, counter->handle);
  int error = command.execute(*counter->context);
  destroyed(error);
  return error;
}

VERBS_EXPORT int ibv_cmd_set_comp_cntr(ibv_comp_cntr* counter, uint64_t value) {
  return modify(*counter, IB_UVERBS_COMP_CNTR_ENTRY_COMP, IB_UVERBS_COMP_CNTR_MODIFY_OP_SET, value);
}

VERBS_EXPORT int ibv_cmd_set_err_comp_cntr(ibv_comp_cntr* counter, uint64_t value) {
  return modify(*counter, IB_UVERBS_COMP_CNTR_ENTRY_ERR, IB_UVERBS_COMP_CNTR_MODIFY_OP_SET, value);
}

VERBS_EXPORT int ibv_cmd_inc_comp_cntr(ibv_comp_cntr* counter, uint64_t amount) {
  return modify(*counter, IB_UVERBS_COMP_CNTR_ENTRY_COMP, IB_UVERBS_COMP_CNTR_MODIFY_OP_INC,
                amount);
}

VERBS_EXPORT int ibv_cmd_inc_err_comp_cntr(ibv_comp_cntr* counter, uint64_t amount) {
  return modify(*counter, IB_UVERBS_COMP_CNTR_ENTRY_ERR, IB_UVERBS_COMP_CNTR_MODIFY_OP_INC, amount);
}

VERBS_EXPORT int ibv_cmd_read_comp_cntr(ibv_comp_cntr* counter, uint64_t* value) {
  return read(*counter, IB_UVERBS_COMP_CNTR_ENTRY_COMP, *value);
}

VERBS_EXPORT int ibv_cmd_read_err_comp_cntr(ibv_comp_cntr* counter, uint64_t* value) {
  return read(*counter, IB_UVERBS_COMP_CNTR_ENTRY_ERR, *value);
}

VERBS_EXPORT int ibv_cmd_query_comp_cntr_caps(ibv_context* context, ibv_comp_cntr_caps* caps,
                                              size_t size) {
  if (size < sizeof(*caps)) return EINVAL;
  Command<UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_COMP_CNTR_CAPS, 3> command;
  command.out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, caps->max_counters);
  command.out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE, caps->max_value);
  command.out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS,
              caps->supported_qp_attach_ops);
  return command.execute(*context);
}

VERBS_EXPORT int ibv_cmd_qp_attach_comp_cntr(ibv_qp* qp, ibv_comp_cntr* counter,
                                             ibv_qp_attach_comp_cntr_attr* attr) {
  Command<UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_COMP_CNTR, 3> command;
  command.object(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE, qp->handle);
  command.object(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE, counter->handle);
  command.in(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK, kernel_ops(attr->op_mask));
  return command.execute(*qp->context);
}
