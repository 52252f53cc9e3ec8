// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "ops.hpp"

#include <cstring>

#include "cq.hpp"
#include "export.hpp"
#include "port.hpp"
#include "private_context.hpp"

#undef ibv_query_port

namespace verbs {
namespace {

using Slot = void (*)();
constexpr size_t slots = sizeof(verbs_context_ops) / sizeof(Slot);
static_assert(sizeof(verbs_context_ops) == slots * sizeof(Slot), "nothing but function pointers");

// Lays the members that a table has over those that are there.
void overlay(verbs_context_ops& onto, const verbs_context_ops& table) {
  auto* to = reinterpret_cast<Slot*>(&onto);
  auto* from = reinterpret_cast<const Slot*>(&table);
  for (size_t i = 0; i < slots; i++)
    if (from[i]) to[i] = from[i];
}

// Inline verbs of programs look here. Each member has the name and type of the private one.
void publish(verbs_context& context, const verbs_context_ops& ops) {
#define PUBLISH(name) context.name = ops.name
  PUBLISH(advise_mr);
  PUBLISH(alloc_buf);
  PUBLISH(alloc_dm);
  PUBLISH(alloc_dmah);
  PUBLISH(alloc_job);
  PUBLISH(alloc_null_mr);
  PUBLISH(alloc_parent_domain);
  PUBLISH(alloc_td);
  PUBLISH(attach_counters_point_flow);
  PUBLISH(attach_mr);
  PUBLISH(close_xrcd);
  PUBLISH(create_ah_ex);
  PUBLISH(create_counters);
  PUBLISH(create_flow_action_esp);
  PUBLISH(create_jkey);
  PUBLISH(create_qp_ex);
  PUBLISH(create_rwq_ind_table);
  PUBLISH(create_srq_ex);
  PUBLISH(create_wq);
  PUBLISH(dealloc_dmah);
  PUBLISH(dealloc_job);
  PUBLISH(dealloc_td);
  PUBLISH(destroy_counters);
  PUBLISH(destroy_flow_action);
  PUBLISH(destroy_jkey);
  PUBLISH(destroy_rwq_ind_table);
  PUBLISH(destroy_wq);
  PUBLISH(detach_mr);
  PUBLISH(dm_export_dmabuf_fd);
  PUBLISH(export_job);
  PUBLISH(free_buf);
  PUBLISH(free_dm);
  PUBLISH(get_srq_num);
  PUBLISH(import_job);
  PUBLISH(insert_addr);
  PUBLISH(modify_cq);
  PUBLISH(modify_flow_action_esp);
  PUBLISH(modify_qp_rate_limit);
  PUBLISH(modify_wq);
  PUBLISH(open_qp);
  PUBLISH(open_xrcd);
  PUBLISH(post_recv64);
  PUBLISH(post_srq_ops);
  PUBLISH(query_addr);
  PUBLISH(query_device_ex);
  PUBLISH(query_job);
  PUBLISH(query_qp_semantics);
  PUBLISH(query_rt_values);
  PUBLISH(read_counters);
  PUBLISH(reg_dm_mr);
  PUBLISH(reg_mr_ex);
  PUBLISH(remove_addr);
#undef PUBLISH
  context.ibv_create_flow = ops.create_flow;
  context.ibv_destroy_flow = ops.destroy_flow;
}

// The table of verbs 1.1, whose members programs of today call for the data path only.
void publish(ibv_context_ops& old, const verbs_context_ops& ops) {
#define PUBLISH(name) old.name = ops.name
  PUBLISH(alloc_mw);
  PUBLISH(bind_mw);
  PUBLISH(dealloc_mw);
  PUBLISH(poll_cq);
  PUBLISH(post_recv);
  PUBLISH(post_send);
  PUBLISH(post_srq_recv);
  PUBLISH(req_notify_cq);
#undef PUBLISH
#define PUBLISH(name) \
  old._compat_##name = reinterpret_cast<void* (*)()>(reinterpret_cast<Slot>(ops.name))
  PUBLISH(alloc_pd);
  PUBLISH(async_event);
  PUBLISH(attach_mcast);
  PUBLISH(cq_event);
  PUBLISH(create_ah);
  PUBLISH(create_cq);
  PUBLISH(create_qp);
  PUBLISH(create_srq);
  PUBLISH(dealloc_pd);
  PUBLISH(dereg_mr);
  PUBLISH(destroy_ah);
  PUBLISH(destroy_cq);
  PUBLISH(destroy_qp);
  PUBLISH(destroy_srq);
  PUBLISH(detach_mcast);
  PUBLISH(modify_qp);
  PUBLISH(modify_srq);
  PUBLISH(query_qp);
  PUBLISH(query_srq);
  PUBLISH(reg_mr);
  PUBLISH(rereg_mr);
  PUBLISH(resize_cq);
#undef PUBLISH
}

}  // namespace

void set_default_ops(verbs_context& context) noexcept {
  context.priv->ops = {};
  verbs_set_ops(&context, &default_ops);
}

void set_library_entry_points(verbs_context& context) noexcept {
  context.create_cq_ex = create_cq_ex;
  context.query_port = query_port;
  context.context.ops._compat_query_port = ibv_query_port;
  context.context.ops._compat_query_device = ibv_query_device;
  // Where the inline verbs of 1.1.8 look for flow steering.
  context.ABI_placeholder1 = reinterpret_cast<void (*)()>(context.ibv_create_flow);
  context.ABI_placeholder2 = reinterpret_cast<void (*)()>(context.ibv_destroy_flow);
}

}  // namespace verbs

// Adds a provider's functions, over what earlier calls set. Members that are NULL change nothing.
VERBS_EXPORT void verbs_set_ops(verbs_context* context, const verbs_context_ops* ops) {
  verbs_context_ops& own = context->priv->ops;
  verbs::overlay(own, *ops);
  verbs::publish(*context, own);
  verbs::publish(context->context.ops, own);
}
