// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands of the context itself, and the descriptors that events come from.
#include "../export.hpp"
#include "cmd.hpp"

namespace verbs {
namespace {

void set_core_support(ibv_context& context, uint64_t core_support) {
  // Every context of the device brings the same answer, maybe at the same time.
  __atomic_store_n(&verbs_get_device(context.device)->core_support, core_support, __ATOMIC_RELAXED);
}

}  // namespace

int cmd_alloc_async_fd(ibv_context& context) noexcept {
  Command<UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, 1> cmd;
  const auto* fd = cmd.new_fd(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
  if (int error = cmd.execute(context)) return error;
  context.async_fd = fd_of(fd);
  return 0;
}

}  // namespace verbs

using namespace verbs;

// Tells the kernel that the device is in use, before anything else. Provider data travels along.
VERBS_EXPORT int ibv_cmd_get_context(verbs_context* context, struct ibv_get_context* cmd,
                                     size_t cmd_size, ibv_fd_arr* fds,
                                     ib_uverbs_get_context_resp* resp, size_t resp_size) {
  UserData data = data_behind(cmd, cmd_size, resp, resp_size);
  if (!data.valid) return EINVAL;
  uint32_t comp_vectors = 0;
  uint64_t core_support = 0;
  Command<UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, 5> command;
  command.out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, comp_vectors);
  command.out(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, core_support);
  if (fds)
    command.in_array(UVERBS_ATTR_GET_CONTEXT_FD_ARR, std::span<const int>(fds->arr, fds->count));
  data.add_to(command);
  if (int error = command.execute(context->context)) return error;
  context->context.num_comp_vectors = static_cast<int>(comp_vectors);
  set_core_support(context->context, core_support);
  return 0;
}

// The same questions for a context that another process made.
VERBS_EXPORT int ibv_cmd_query_context(ibv_context* context, ibv_command_buffer* driver) {
  uint32_t comp_vectors = 0;
  uint64_t core_support = 0;
  Command<UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, 2> command(driver);
  command.out(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, comp_vectors);
  command.out(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, core_support);
  if (int error = command.execute(*context)) return error;
  context->num_comp_vectors = static_cast<int>(comp_vectors);
  set_core_support(*context, core_support);
  return 0;
}

// Makes a completion channel. For providers whose channel is part of something larger.
VERBS_EXPORT int ibv_cmd_create_comp_channel(ibv_context* context, ibv_comp_channel* channel) {
  ib_uverbs_create_comp_channel request{};
  ib_uverbs_create_comp_channel_resp response{};
  if (int error = invoke_write(*context, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, request, response))
    return error;
  channel->context = context;
  channel->fd = static_cast<int>(response.fd);
  channel->refcnt = 0;
  return 0;
}
