// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands that only this library issues. Those for providers are declared in infiniband/driver.h.
// All return 0 or a positive errno value, if not said otherwise.
#pragma once

#include <infiniband/cmd_write.h>
#include <infiniband/driver.h>

#include "command.hpp"

namespace verbs {

// Gives the context a descriptor for asynchronous events.
int cmd_alloc_async_fd(ibv_context& context) noexcept;

// The kernel's GID table. Size is that of the structure as the caller knows it. EPROTONOSUPPORT or
// ENOTTY from a kernel without these queries.
int cmd_query_gid_entry(ibv_context& context, uint32_t port, uint32_t index, uint32_t flags,
                        void* entry, size_t size) noexcept;
int cmd_query_gid_table(ibv_context& context, uint32_t flags, void* entries, size_t max_entries,
                        size_t size, uint64_t& count) noexcept;

// Whether the kernel did not know a command, as opposed to having refused it.
inline bool is_unknown_command(int error) noexcept {
  return error == ENOTTY || error == EPROTONOSUPPORT;
}

// Whether the members that describe where a region's memory is go together.
bool mr_attr_is_sound(const ibv_mr_init_attr& attr) noexcept;

// Kernel forms of QP attributes, which creation and modification share.
void fill_modify_qp(ib_uverbs_modify_qp& request, const ibv_qp_attr& attr, uint32_t mask) noexcept;
void fill_ah_attr(ib_uverbs_ah_attr& to, const ibv_ah_attr& from) noexcept;

// The descriptor that events of a new object go to. Kernels that do not know the attribute have
// only one such descriptor per context; the one that a context was imported with is another
// process's.
inline void add_event_fd(AttributeWriter& command, uint16_t id, ibv_context& context,
                         bool imported) noexcept {
  ib_uverbs_attr* attribute = command.fd(id, context.async_fd);
  if (!imported) optional(attribute);
}

// Whether to go on after a destroy command: false means to return error. A device that is gone may
// count as a success, but then the kernel counted no events.
inline bool destroyed(int& error) noexcept {
  if (!error) return true;
  if (error == EIO && verbs_allow_disassociate_destroy) error = 0;
  return false;
}

}  // namespace verbs
