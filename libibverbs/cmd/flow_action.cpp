// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands of flow actions: encryption (ESP).
#include "../export.hpp"
#include "cmd.hpp"

namespace verbs {
namespace {

// Only the parts that are there.
void add_esp(AttributeWriter& command, const ibv_flow_action_esp_attr& attr) {
  if (attr.comp_mask & IBV_FLOW_ACTION_ESP_MASK_ESN)
    command.in(UVERBS_ATTR_FLOW_ACTION_ESP_ESN, uint32_t{attr.esn});
  if (attr.keymat_ptr)
    command.alternative(UVERBS_ATTR_FLOW_ACTION_ESP_KEYMAT, static_cast<uint8_t>(attr.keymat_proto),
                        attr.keymat_ptr, attr.keymat_len);
  if (attr.replay_ptr)
    command.alternative(UVERBS_ATTR_FLOW_ACTION_ESP_REPLAY, static_cast<uint8_t>(attr.replay_proto),
                        attr.replay_ptr, attr.replay_len);
  if (attr.esp_encap)
    command.in_bytes(UVERBS_ATTR_FLOW_ACTION_ESP_ENCAP, attr.esp_encap, sizeof(*attr.esp_encap));
  if (attr.esp_attr)
    command.in_bytes(UVERBS_ATTR_FLOW_ACTION_ESP_ATTRS, attr.esp_attr, sizeof(*attr.esp_attr));
}

}  // namespace
}  // namespace verbs

using namespace verbs;

VERBS_EXPORT int ibv_cmd_create_flow_action_esp(ibv_context* context,
                                                ibv_flow_action_esp_attr* attr,
                                                verbs_flow_action* action,
                                                ibv_command_buffer* driver) {
  Command<UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_CREATE, 6> command(driver);
  const auto* handle = command.new_object(UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE);
  add_esp(command, *attr);
  if (int error = command.execute(*context)) return error;
  action->action.context = context;
  action->type = IBV_FLOW_ACTION_ESP;
  action->handle = handle_of(handle);
  return 0;
}

VERBS_EXPORT int ibv_cmd_modify_flow_action_esp(verbs_flow_action* action,
                                                ibv_flow_action_esp_attr* attr,
                                                ibv_command_buffer* driver) {
  Command<UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY, 6> command(driver);
  command.object(UVERBS_ATTR_MODIFY_FLOW_ACTION_ESP_HANDLE, action->handle);
  add_esp(command, *attr);
  return command.execute(*action->action.context);
}

VERBS_EXPORT int ibv_cmd_destroy_flow_action(verbs_flow_action* action) {
  Command<UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_DESTROY, 1> command;
  command.object(UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, action->handle);
  int error = command.execute(*action->action.context);
  destroyed(error);
  return error;
}
