// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands of counters.
#include "../export.hpp"
#include "../memory.hpp"
#include "cmd.hpp"

using namespace verbs;

VERBS_EXPORT int ibv_cmd_create_counters(ibv_context* context, ibv_counters_init_attr* attr,
                                         verbs_counters* counters, ibv_command_buffer* link) {
  if (attr->comp_mask) return EOPNOTSUPP;
  Command<UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE, 1> command(link);
  const auto* handle = command.new_object(UVERBS_ATTR_CREATE_COUNTERS_HANDLE);
  if (int error = command.execute(*context)) return error;
  counters->counters.context = context;
  counters->handle = handle_of(handle);
  return 0;
}

VERBS_EXPORT int ibv_cmd_destroy_counters(verbs_counters* counters) {
  Command<UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY, 1> command;
  command.object(UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, counters->handle);
  int error = command.execute(*counters->counters.context);
  destroyed(error);
  return error;
}

VERBS_EXPORT int ibv_cmd_read_counters(verbs_counters* counters, uint64_t* values, uint32_t count,
                                       uint32_t flags, ibv_command_buffer* link) {
  Command<UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ, 3> command(link);
  command.object(UVERBS_ATTR_READ_COUNTERS_HANDLE, counters->handle);
  command.out_bytes(UVERBS_ATTR_READ_COUNTERS_BUFF, values, size_t{count} * sizeof(*values));
  command.in(UVERBS_ATTR_READ_COUNTERS_FLAGS, flags);
  return command.execute(*counters->counters.context);
}

// Reads chosen items with their time stamps. EOPNOTSUPP if the kernel does not know how.
VERBS_EXPORT int ibv_cmd_read_counters_ex(verbs_counters* counters, ibv_read_counters_attr* attr,
                                          ibv_command_buffer* link) {
  static_assert(sizeof(ibv_counter_result) == sizeof(ib_uverbs_counter_result));
  if (attr->comp_mask || attr->result_size != sizeof(ibv_counter_result)) return EINVAL;
  Command<UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ, 5> command(link);
  // The kernel wants the old buffer as well; without items it would be the whole answer.
  Owned old_values(static_cast<uint64_t*>(calloc(attr->num_items, sizeof(uint64_t))));
  if (!old_values) return ENOMEM;
  command.object(UVERBS_ATTR_READ_COUNTERS_HANDLE, counters->handle);
  command.out_bytes(UVERBS_ATTR_READ_COUNTERS_BUFF, old_values.get(),
                    size_t{attr->num_items} * sizeof(uint64_t));
  command.in(UVERBS_ATTR_READ_COUNTERS_FLAGS, uint32_t{attr->flags});
  command.in_array(UVERBS_ATTR_READ_COUNTERS_ITEMS,
                   std::span<const uint32_t>(attr->items, attr->num_items));
  command.out_bytes(UVERBS_ATTR_READ_COUNTERS_RESULTS, attr->results,
                    size_t{attr->num_items} * sizeof(ibv_counter_result));
  int error = command.execute(*counters->counters.context);
  return is_unknown_command(error) ? EOPNOTSUPP : error;
}
