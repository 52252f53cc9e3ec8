// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Names of a private interface that is gone (that of packages 34 to 44), for programs and providers
// that distributions built against it. Programs use ibv_query_gid_type(), which is real. Providers
// of that time may register; they are never asked about a device, so the rest is there to be found
// by the loader, and refuses.
#include <infiniband/driver.h>

#include <cerrno>

#include "error.hpp"
#include "export.hpp"

extern "C" {
int verbs_34_number();
void* verbs_34_pointer();
void verbs_34_nothing();
void verbs_register_driver_34(const verbs_device_ops* ops);
int verbs_34_query_gid_type(ibv_context* context, uint8_t port, unsigned int index,
                            ibv_gid_type_sysfs* type);
extern bool verbs_34_allow_disassociate_destroy;
}

int verbs_34_number() {
  return EOPNOTSUPP;
}
void* verbs_34_pointer() {
  return verbs::null_with_errno(EOPNOTSUPP);
}
void verbs_34_nothing() {}

VERBS_EXPORT void verbs_register_driver_34(const verbs_device_ops*) {}

VERBS_EXPORT int verbs_34_query_gid_type(ibv_context* context, uint8_t port, unsigned int index,
                                         ibv_gid_type_sysfs* type) {
  return ibv_query_gid_type(context, port, index, type);
}
VERBS_OLD_VERSION(verbs_34_query_gid_type, "ibv_query_gid_type@IBVERBS_PRIVATE_34");

// Never set: it is read by providers that have no devices.
VERBS_EXPORT_DATA bool verbs_34_allow_disassociate_destroy = false;
VERBS_OLD_VERSION(verbs_34_allow_disassociate_destroy,
                  "verbs_allow_disassociate_destroy@IBVERBS_PRIVATE_34");

#define OLD_NAME(type, function, name)                                      \
  extern "C" type verbs_34_##name()                                         \
      __attribute__((alias("verbs_34_" #function), visibility("default"))); \
  VERBS_OLD_VERSION(verbs_34_##name, #name "@IBVERBS_PRIVATE_34")

OLD_NAME(void, nothing, __verbs_log);
OLD_NAME(void*, pointer, _verbs_init_and_alloc_context);
OLD_NAME(int, number, execute_ioctl);
OLD_NAME(int, number, ibv_cmd_advise_mr);
OLD_NAME(int, number, ibv_cmd_alloc_dm);
OLD_NAME(int, number, ibv_cmd_alloc_mw);
OLD_NAME(int, number, ibv_cmd_alloc_pd);
OLD_NAME(int, number, ibv_cmd_attach_mcast);
OLD_NAME(int, number, ibv_cmd_close_xrcd);
OLD_NAME(int, number, ibv_cmd_create_ah);
OLD_NAME(int, number, ibv_cmd_create_counters);
OLD_NAME(int, number, ibv_cmd_create_cq);
OLD_NAME(int, number, ibv_cmd_create_cq_ex);
OLD_NAME(int, number, ibv_cmd_create_flow);
OLD_NAME(int, number, ibv_cmd_create_flow_action_esp);
OLD_NAME(int, number, ibv_cmd_create_qp);
OLD_NAME(int, number, ibv_cmd_create_qp_ex);
OLD_NAME(int, number, ibv_cmd_create_qp_ex2);
OLD_NAME(int, number, ibv_cmd_create_rwq_ind_table);
OLD_NAME(int, number, ibv_cmd_create_srq);
OLD_NAME(int, number, ibv_cmd_create_srq_ex);
OLD_NAME(int, number, ibv_cmd_create_wq);
OLD_NAME(int, number, ibv_cmd_dealloc_mw);
OLD_NAME(int, number, ibv_cmd_dealloc_pd);
OLD_NAME(int, number, ibv_cmd_dereg_mr);
OLD_NAME(int, number, ibv_cmd_destroy_ah);
OLD_NAME(int, number, ibv_cmd_destroy_counters);
OLD_NAME(int, number, ibv_cmd_destroy_cq);
OLD_NAME(int, number, ibv_cmd_destroy_flow);
OLD_NAME(int, number, ibv_cmd_destroy_flow_action);
OLD_NAME(int, number, ibv_cmd_destroy_qp);
OLD_NAME(int, number, ibv_cmd_destroy_rwq_ind_table);
OLD_NAME(int, number, ibv_cmd_destroy_srq);
OLD_NAME(int, number, ibv_cmd_destroy_wq);
OLD_NAME(int, number, ibv_cmd_detach_mcast);
OLD_NAME(int, number, ibv_cmd_free_dm);
OLD_NAME(int, number, ibv_cmd_get_context);
OLD_NAME(int, number, ibv_cmd_modify_cq);
OLD_NAME(int, number, ibv_cmd_modify_flow_action_esp);
OLD_NAME(int, number, ibv_cmd_modify_qp);
OLD_NAME(int, number, ibv_cmd_modify_qp_ex);
OLD_NAME(int, number, ibv_cmd_modify_srq);
OLD_NAME(int, number, ibv_cmd_modify_wq);
OLD_NAME(int, number, ibv_cmd_open_qp);
OLD_NAME(int, number, ibv_cmd_open_xrcd);
OLD_NAME(int, number, ibv_cmd_poll_cq);
OLD_NAME(int, number, ibv_cmd_post_recv);
OLD_NAME(int, number, ibv_cmd_post_send);
OLD_NAME(int, number, ibv_cmd_post_srq_recv);
OLD_NAME(int, number, ibv_cmd_query_context);
OLD_NAME(int, number, ibv_cmd_query_device_any);
OLD_NAME(int, number, ibv_cmd_query_mr);
OLD_NAME(int, number, ibv_cmd_query_port);
OLD_NAME(int, number, ibv_cmd_query_qp);
OLD_NAME(int, number, ibv_cmd_query_srq);
OLD_NAME(int, number, ibv_cmd_read_counters);
OLD_NAME(int, number, ibv_cmd_reg_dm_mr);
OLD_NAME(int, number, ibv_cmd_reg_dmabuf_mr);
OLD_NAME(int, number, ibv_cmd_reg_mr);
OLD_NAME(int, number, ibv_cmd_rereg_mr);
OLD_NAME(int, number, ibv_cmd_req_notify_cq);
OLD_NAME(int, number, ibv_cmd_resize_cq);
OLD_NAME(void, nothing, verbs_init_cq);
OLD_NAME(void*, pointer, verbs_open_device);
OLD_NAME(void, nothing, verbs_set_ops);
OLD_NAME(void, nothing, verbs_uninit_context);
