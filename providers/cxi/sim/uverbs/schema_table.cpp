// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The table. Numbers and needs are those of the kernel's uverbs; a method or object that is not
// here does not exist for callers (EPROTONOSUPPORT), as with a driver that lacks the operation.
#include <rdma/cxiverbs-abi.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include <algorithm>
#include <cstddef>

#include "uverbs/handlers.hpp"
#include "uverbs/native.hpp"
#include "uverbs/schema.hpp"

namespace sim::uverbs {
namespace {

constexpr AttrRule invoke_write_attrs[] = {
    blob_in(UVERBS_ATTR_CORE_IN, 4, optional),
    blob_out(UVERBS_ATTR_CORE_OUT, 4, optional),
    constant_in(UVERBS_ATTR_WRITE_CMD, required),
};

constexpr AttrRule query_port_attrs[] = {
    constant_in(UVERBS_ATTR_QUERY_PORT_PORT_NUM, required),
    struct_out(UVERBS_ATTR_QUERY_PORT_RESP,
               offsetof(ib_uverbs_query_port_resp_ex, reserved) +
                   sizeof(ib_uverbs_query_port_resp_ex::reserved),
               sizeof(ib_uverbs_query_port_resp_ex), required),
};

constexpr AttrRule get_context_attrs[] = {
    bytes_out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4, optional),
    bytes_out(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8, optional),
};

constexpr AttrRule query_context_attrs[] = {
    bytes_out(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, 4, optional),
    bytes_out(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, 8, optional),
};

constexpr AttrRule query_gid_table_attrs[] = {
    constant_in(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, required),
    flags_in(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, required),
    blob_out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 0, required),
    bytes_out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8, required),
};

constexpr AttrRule query_gid_entry_attrs[] = {
    constant_in(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, required),
    constant_in(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, required),
    flags_in(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, required),
    struct_out(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, sizeof(ib_uverbs_gid_entry),
               sizeof(ib_uverbs_gid_entry), required),
};

constexpr AttrRule query_port_speed_attrs[] = {
    constant_in(UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, required),
    bytes_out(UVERBS_ATTR_QUERY_PORT_SPEED_RESP, 8, required),
};

constexpr AttrRule query_qp_semantics_attrs[] = {
    constant_in(UVERBS_ATTR_QUERY_QP_SEMANTICS_QP_TYPE, required),
    struct_out(UVERBS_ATTR_QUERY_QP_SEMANTICS_RESP, sizeof(ib_uverbs_qp_semantics),
               sizeof(ib_uverbs_qp_semantics), required),
};

constexpr AttrRule comp_cntr_caps_attrs[] = {
    bytes_out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, 4, required),
    bytes_out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE, 8, required),
    bytes_out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS, 4, required),
};

constexpr AttrRule comp_cntr_create_attrs[] = {
    handle_new(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE, UVERBS_OBJECT_COMP_CNTR),
};

constexpr AttrRule comp_cntr_destroy_attrs[] = {
    handle_destroyed(UVERBS_ATTR_DESTROY_COMP_CNTR_HANDLE, UVERBS_OBJECT_COMP_CNTR),
};

constexpr AttrRule comp_cntr_modify_attrs[] = {
    handle_in(UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE, UVERBS_OBJECT_COMP_CNTR, required),
    constant_in(UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY, required),
    constant_in(UVERBS_ATTR_MODIFY_COMP_CNTR_OP, required),
    bytes_in(UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE, 8, required),
};

constexpr AttrRule comp_cntr_read_attrs[] = {
    handle_in(UVERBS_ATTR_READ_COMP_CNTR_HANDLE, UVERBS_OBJECT_COMP_CNTR, required),
    constant_in(UVERBS_ATTR_READ_COMP_CNTR_ENTRY, required),
    bytes_out(UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE, 8, required),
};

constexpr AttrRule attach_comp_cntr_attrs[] = {
    handle_in(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE, UVERBS_OBJECT_QP, required),
    handle_in(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE, UVERBS_OBJECT_COMP_CNTR, required),
    flags_in(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK, required),
};

constexpr AttrRule attach_mr_attrs[] = {
    handle_in(UVERBS_ATTR_QP_ATTACH_MR_QP_HANDLE, UVERBS_OBJECT_QP, required),
    handle_in(UVERBS_ATTR_QP_ATTACH_MR_MR_HANDLE, UVERBS_OBJECT_MR, required),
};

constexpr AttrRule detach_mr_attrs[] = {
    handle_in(UVERBS_ATTR_QP_DETACH_MR_QP_HANDLE, UVERBS_OBJECT_QP, required),
    handle_in(UVERBS_ATTR_QP_DETACH_MR_MR_HANDLE, UVERBS_OBJECT_MR, required),
};

constexpr AttrRule pd_destroy_attrs[] = {
    handle_destroyed(UVERBS_ATTR_DESTROY_PD_HANDLE, UVERBS_OBJECT_PD),
};

constexpr AttrRule cq_create_attrs[] = {
    handle_new(UVERBS_ATTR_CREATE_CQ_HANDLE, UVERBS_OBJECT_CQ),
    bytes_in(UVERBS_ATTR_CREATE_CQ_CQE, 4, required),
    bytes_in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, required),
    fd_in(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, UVERBS_OBJECT_COMP_CHANNEL, optional),
    bytes_in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, required),
    flags_in(UVERBS_ATTR_CREATE_CQ_FLAGS, optional),
    bytes_out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, required),
    fd_in(UVERBS_ATTR_CREATE_CQ_EVENT_FD, UVERBS_OBJECT_ASYNC_EVENT, optional),
    // Memory of the caller for the queue: known, but this driver allocates its rings itself.
    bytes_in(UVERBS_ATTR_CREATE_CQ_BUFFER_VA, 8, optional),
    bytes_in(UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH, 8, optional),
    blob_in(UVERBS_ATTR_CREATE_CQ_BUFFER_FD, 0, optional),
    bytes_in(UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET, 8, optional),
};

constexpr AttrRule cq_destroy_attrs[] = {
    handle_destroyed(UVERBS_ATTR_DESTROY_CQ_HANDLE, UVERBS_OBJECT_CQ),
    struct_out(UVERBS_ATTR_DESTROY_CQ_RESP, sizeof(ib_uverbs_destroy_cq_resp),
               sizeof(ib_uverbs_destroy_cq_resp), required),
};

constexpr AttrRule qp_create_attrs[] = {
    handle_new(UVERBS_ATTR_CREATE_QP_HANDLE, UVERBS_OBJECT_QP),
    handle_in(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, UVERBS_OBJECT_XRCD, optional),
    handle_in(UVERBS_ATTR_CREATE_QP_PD_HANDLE, UVERBS_OBJECT_PD, optional),
    handle_in(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, UVERBS_OBJECT_SRQ, optional),
    handle_in(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, UVERBS_OBJECT_CQ, optional),
    handle_in(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, UVERBS_OBJECT_CQ, optional),
    handle_in(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, UVERBS_OBJECT_RWQ_IND_TBL, optional),
    bytes_in(UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, required),
    struct_in(UVERBS_ATTR_CREATE_QP_CAP, sizeof(ib_uverbs_qp_cap), sizeof(ib_uverbs_qp_cap),
              required),
    constant_in(UVERBS_ATTR_CREATE_QP_TYPE, required),
    flags_in(UVERBS_ATTR_CREATE_QP_FLAGS, optional),
    bytes_in(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 4, optional),
    fd_in(UVERBS_ATTR_CREATE_QP_EVENT_FD, UVERBS_OBJECT_ASYNC_EVENT, optional),
    struct_out(UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(ib_uverbs_qp_cap), sizeof(ib_uverbs_qp_cap),
               required),
    bytes_out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4, required),
    bytes_in(UVERBS_ATTR_CREATE_QP_SRC_ID, 4, optional),
    struct_in(UVERBS_ATTR_CREATE_QP_SEMANTICS, sizeof(ib_uverbs_qp_semantics),
              sizeof(ib_uverbs_qp_semantics), optional),
    handle_in(UVERBS_ATTR_CREATE_QP_JOB_KEY, UVERBS_OBJECT_JKEY, optional),
    struct_in(UVERBS_ATTR_CREATE_QP_ATTR, sizeof(ib_uverbs_ex_modify_qp),
              sizeof(ib_uverbs_ex_modify_qp), optional),
};

constexpr AttrRule qp_destroy_attrs[] = {
    handle_destroyed(UVERBS_ATTR_DESTROY_QP_HANDLE, UVERBS_OBJECT_QP),
    bytes_out(UVERBS_ATTR_DESTROY_QP_RESP, sizeof(ib_uverbs_destroy_qp_resp), required),
};

constexpr AttrRule ah_destroy_attrs[] = {
    handle_destroyed(UVERBS_ATTR_DESTROY_AH_HANDLE, UVERBS_OBJECT_AH),
};

constexpr AttrRule ah_create_attrs[] = {
    handle_new(UVERBS_ATTR_CREATE_AH_EX_HANDLE, UVERBS_OBJECT_AH),
    handle_in(UVERBS_ATTR_CREATE_AH_EX_PD_HANDLE, UVERBS_OBJECT_PD, required),
    struct_in(UVERBS_ATTR_CREATE_AH_EX_AH_ATTR_EX, sizeof(ib_uverbs_ah_attr_ex),
              sizeof(ib_uverbs_ah_attr_ex), required),
    flags_in(UVERBS_ATTR_CREATE_AH_EX_FLAGS, optional),
};

constexpr AttrRule mr_destroy_attrs[] = {
    handle_destroyed(UVERBS_ATTR_DESTROY_MR_HANDLE, UVERBS_OBJECT_MR),
};

constexpr AttrRule query_mr_attrs[] = {
    handle_in(UVERBS_ATTR_QUERY_MR_HANDLE, UVERBS_OBJECT_MR, required),
    bytes_out(UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4, required),
    bytes_out(UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4, required),
    bytes_out(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8, required),
    bytes_out(UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8, optional),
};

constexpr AttrRule reg_mr_attrs[] = {
    handle_new(UVERBS_ATTR_REG_MR_HANDLE, UVERBS_OBJECT_MR),
    handle_in(UVERBS_ATTR_REG_MR_PD_HANDLE, UVERBS_OBJECT_PD, required),
    handle_in(UVERBS_ATTR_REG_MR_DMA_HANDLE, UVERBS_OBJECT_DMAH, optional),
    bytes_in(UVERBS_ATTR_REG_MR_IOVA, 8, required),
    bytes_in(UVERBS_ATTR_REG_MR_ADDR, 8, optional),
    bytes_in(UVERBS_ATTR_REG_MR_LENGTH, 8, required),
    flags_in(UVERBS_ATTR_REG_MR_ACCESS_FLAGS, required),
    raw_fd_in(UVERBS_ATTR_REG_MR_FD, optional),
    bytes_in(UVERBS_ATTR_REG_MR_FD_OFFSET, 8, optional),
    bytes_out(UVERBS_ATTR_REG_MR_RESP_LKEY, 4, required),
    bytes_out(UVERBS_ATTR_REG_MR_RESP_RKEY, 4, required),
    flags_in(UVERBS_ATTR_REG_MR_FLAGS, optional),
    handle_in(UVERBS_ATTR_REG_MR_JKEY_HANDLE, UVERBS_OBJECT_JKEY, optional),
    handle_in(UVERBS_ATTR_REG_MR_PARENT_MR_HANDLE, UVERBS_OBJECT_MR, optional),
    bytes_in(UVERBS_ATTR_REG_MR_DERIVE_CNT, 4, optional),
    bytes_in(UVERBS_ATTR_REG_MR_REQ_RKEY64, 8, optional),
    bytes_out(UVERBS_ATTR_REG_MR_RESP_LKEY64, 8, optional),
    bytes_out(UVERBS_ATTR_REG_MR_RESP_RKEY64, 8, optional),
};

constexpr AttrRule async_event_attrs[] = {
    fd_new(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, UVERBS_OBJECT_ASYNC_EVENT),
};

constexpr AttrRule job_alloc_attrs[] = {
    handle_new(UVERBS_ATTR_ALLOC_JOB_HANDLE, UVERBS_OBJECT_JOB),
    bytes_in(UVERBS_ATTR_ALLOC_JOB_ID, 4, required),
    bytes_in(UVERBS_ATTR_ALLOC_JOB_MAX_ADDR_ENTRIES, 4, optional),
    flags_in(UVERBS_ATTR_ALLOC_JOB_FLAGS, optional),
    bytes_in(UVERBS_ATTR_ALLOC_JOB_PORT_NUM, 1, optional),
    bytes_in(UVERBS_ATTR_ALLOC_JOB_SGID_INDEX, 1, optional),
};

constexpr AttrRule job_dealloc_attrs[] = {
    handle_destroyed(UVERBS_ATTR_DEALLOC_JOB_HANDLE, UVERBS_OBJECT_JOB),
};

constexpr AttrRule job_query_attrs[] = {
    handle_in(UVERBS_ATTR_QUERY_JOB_HANDLE, UVERBS_OBJECT_JOB, required),
    bytes_out(UVERBS_ATTR_QUERY_JOB_ID, 4, optional),
    bytes_out(UVERBS_ATTR_QUERY_JOB_MAX_ADDR_ENTRIES, 4, optional),
    bytes_out(UVERBS_ATTR_QUERY_JOB_FLAGS, 4, optional),
    bytes_out(UVERBS_ATTR_QUERY_JOB_PORT_NUM, 1, optional),
    bytes_out(UVERBS_ATTR_QUERY_JOB_SGID_INDEX, 1, optional),
};

constexpr AttrRule addr_insert_attrs[] = {
    handle_in(UVERBS_ATTR_JOB_ADDR_INSERT_HANDLE, UVERBS_OBJECT_JOB, required),
    bytes_in(UVERBS_ATTR_JOB_ADDR_INSERT_INDEX, 4, required),
    struct_in(UVERBS_ATTR_JOB_ADDR_INSERT_AH_ATTR_EX, sizeof(ib_uverbs_ah_attr_ex),
              sizeof(ib_uverbs_ah_attr_ex), required),
    flags_in(UVERBS_ATTR_JOB_ADDR_INSERT_FLAGS, optional),
};

constexpr AttrRule addr_remove_attrs[] = {
    handle_in(UVERBS_ATTR_JOB_ADDR_REMOVE_HANDLE, UVERBS_OBJECT_JOB, required),
    bytes_in(UVERBS_ATTR_JOB_ADDR_REMOVE_INDEX, 4, required),
    flags_in(UVERBS_ATTR_JOB_ADDR_REMOVE_FLAGS, optional),
};

constexpr AttrRule addr_query_attrs[] = {
    handle_in(UVERBS_ATTR_JOB_ADDR_QUERY_HANDLE, UVERBS_OBJECT_JOB, required),
    bytes_in(UVERBS_ATTR_JOB_ADDR_QUERY_INDEX, 4, required),
    struct_out(UVERBS_ATTR_JOB_ADDR_QUERY_AH_ATTR_EX, sizeof(ib_uverbs_ah_attr_ex),
               sizeof(ib_uverbs_ah_attr_ex), required),
    flags_in(UVERBS_ATTR_JOB_ADDR_QUERY_FLAGS, optional),
};

constexpr AttrRule job_export_attrs[] = {
    handle_in(UVERBS_ATTR_EXPORT_JOB_HANDLE, UVERBS_OBJECT_JOB, required),
    bytes_out(UVERBS_ATTR_EXPORT_JOB_FD, 4, required),
};

constexpr AttrRule job_import_attrs[] = {
    handle_new(UVERBS_ATTR_IMPORT_JOB_HANDLE, UVERBS_OBJECT_JOB),
    bytes_in(UVERBS_ATTR_IMPORT_JOB_FD, 4, required),
};

constexpr AttrRule jkey_create_attrs[] = {
    handle_new(UVERBS_ATTR_CREATE_JKEY_HANDLE, UVERBS_OBJECT_JKEY),
    handle_in(UVERBS_ATTR_CREATE_JKEY_JOB_HANDLE, UVERBS_OBJECT_JOB, required),
    handle_in(UVERBS_ATTR_CREATE_JKEY_PD_HANDLE, UVERBS_OBJECT_PD, required),
    flags_in(UVERBS_ATTR_CREATE_JKEY_FLAGS, optional),
    bytes_out(UVERBS_ATTR_CREATE_JKEY_JKEY, 4, required),
};

constexpr AttrRule jkey_destroy_attrs[] = {
    handle_destroyed(UVERBS_ATTR_DESTROY_JKEY_HANDLE, UVERBS_OBJECT_JKEY),
};

constexpr AttrRule counters_create_attrs[] = {
    handle_new(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, UVERBS_OBJECT_COUNTERS),
};

constexpr AttrRule counters_destroy_attrs[] = {
    handle_destroyed(UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, UVERBS_OBJECT_COUNTERS),
};

constexpr AttrRule counters_read_attrs[] = {
    handle_in(UVERBS_ATTR_READ_COUNTERS_HANDLE, UVERBS_OBJECT_COUNTERS, required),
    blob_out(UVERBS_ATTR_READ_COUNTERS_BUFF, 0, required),
    flags_in(UVERBS_ATTR_READ_COUNTERS_FLAGS, required),
    blob_in(UVERBS_ATTR_READ_COUNTERS_ITEMS, sizeof(uint32_t), optional),
    blob_out(UVERBS_ATTR_READ_COUNTERS_RESULTS, sizeof(ib_uverbs_counter_result), optional),
};

constexpr AttrRule notify_at_attrs[] = {
    handle_in(CXI_ATTR_EQ_NOTIFY_AT_HANDLE, CXI_OBJECT_EQ, required),
    bytes_in(CXI_ATTR_EQ_NOTIFY_AT_NS, 8, required),
};

// Native methods: one structure in, one out, whose sizes the driver checks.
constexpr AttrRule req_in = blob_in(CXI_ATTR_REQ, 0, required);
constexpr AttrRule resp_out = blob_out(CXI_ATTR_RESP, 0, required);
constexpr AttrRule maybe_lni = handle_in(CXI_ATTR_LNI_HANDLE, CXI_OBJECT_LNI, optional);
constexpr AttrRule maybe_eq = handle_in(CXI_ATTR_EQ_HANDLE, CXI_OBJECT_EQ, optional);

constexpr AttrRule svc_alloc_attrs[] = {handle_new(CXI_ATTR_HANDLE, CXI_OBJECT_SVC), req_in,
                                        resp_out};
constexpr AttrRule svc_destroy_attrs[] = {handle_in(CXI_ATTR_HANDLE, CXI_OBJECT_SVC, optional),
                                          blob_in(CXI_ATTR_REQ, 0, optional)};
constexpr AttrRule req_resp_attrs[] = {req_in, resp_out};
constexpr AttrRule svc_list_attrs[] = {blob_in(CXI_ATTR_REQ, 0, optional), resp_out};
constexpr AttrRule req_attrs[] = {req_in};
constexpr AttrRule resp_attrs[] = {resp_out};
constexpr AttrRule lni_create_attrs[] = {handle_new(CXI_ATTR_HANDLE, CXI_OBJECT_LNI), req_in,
                                         resp_out};
constexpr AttrRule lni_destroy_attrs[] = {handle_destroyed(CXI_ATTR_HANDLE, CXI_OBJECT_LNI)};
constexpr AttrRule lni_query_attrs[] = {handle_in(CXI_ATTR_HANDLE, CXI_OBJECT_LNI, optional),
                                        resp_out};
constexpr AttrRule cp_alloc_attrs[] = {handle_new(CXI_ATTR_HANDLE, CXI_OBJECT_CP), maybe_lni,
                                       req_in, resp_out};
constexpr AttrRule cp_free_attrs[] = {handle_destroyed(CXI_ATTR_HANDLE, CXI_OBJECT_CP)};
constexpr AttrRule domain_create_attrs[] = {handle_new(CXI_ATTR_HANDLE, CXI_OBJECT_DOMAIN),
                                            maybe_lni, req_in, resp_out};
constexpr AttrRule domain_destroy_attrs[] = {handle_destroyed(CXI_ATTR_HANDLE, CXI_OBJECT_DOMAIN)};
constexpr AttrRule domain_reserve_attrs[] = {maybe_lni, req_in, resp_out};
constexpr AttrRule md_map_attrs[] = {handle_new(CXI_ATTR_HANDLE, CXI_OBJECT_MD), maybe_lni, req_in,
                                     resp_out};
constexpr AttrRule md_unmap_attrs[] = {handle_destroyed(CXI_ATTR_HANDLE, CXI_OBJECT_MD)};
constexpr AttrRule eq_create_attrs[] = {
    handle_new(CXI_ATTR_HANDLE, CXI_OBJECT_EQ), maybe_lni,
    fd_in(CXI_ATTR_CHANNEL_FD, UVERBS_OBJECT_COMP_CHANNEL, optional), req_in, resp_out};
constexpr AttrRule eq_destroy_attrs[] = {handle_destroyed(CXI_ATTR_HANDLE, CXI_OBJECT_EQ),
                                         blob_out(CXI_ATTR_RESP, 0, optional)};
constexpr AttrRule eq_resize_attrs[] = {handle_in(CXI_ATTR_HANDLE, CXI_OBJECT_EQ, required), req_in,
                                        resp_out};
constexpr AttrRule cmdq_create_attrs[] = {
    handle_new(CXI_ATTR_HANDLE, CXI_OBJECT_CMDQ),           maybe_lni, maybe_eq,
    handle_in(CXI_ATTR_CP_HANDLE, CXI_OBJECT_CP, optional), req_in,    resp_out};
constexpr AttrRule cmdq_destroy_attrs[] = {handle_destroyed(CXI_ATTR_HANDLE, CXI_OBJECT_CMDQ)};
constexpr AttrRule pte_create_attrs[] = {handle_new(CXI_ATTR_HANDLE, CXI_OBJECT_PTE), maybe_lni,
                                         maybe_eq, req_in, resp_out};
constexpr AttrRule pte_destroy_attrs[] = {handle_destroyed(CXI_ATTR_HANDLE, CXI_OBJECT_PTE)};
constexpr AttrRule pte_map_attrs[] = {
    handle_in(CXI_ATTR_HANDLE, CXI_OBJECT_PTE, required),
    handle_in(CXI_ATTR_DOMAIN_HANDLE, CXI_OBJECT_DOMAIN, required), req_in};
constexpr AttrRule pte_query_attrs[] = {handle_in(CXI_ATTR_HANDLE, CXI_OBJECT_PTE, required),
                                        req_in, resp_out};
constexpr AttrRule pte_work_attrs[] = {handle_in(CXI_ATTR_HANDLE, CXI_OBJECT_PTE, required),
                                       req_in};
constexpr AttrRule ct_create_attrs[] = {handle_new(CXI_ATTR_HANDLE, CXI_OBJECT_CT), maybe_lni,
                                        req_in, resp_out};
constexpr AttrRule ct_destroy_attrs[] = {handle_destroyed(CXI_ATTR_HANDLE, CXI_OBJECT_CT)};
constexpr AttrRule ct_work_attrs[] = {handle_in(CXI_ATTR_HANDLE, CXI_OBJECT_CT, required), req_in};
constexpr AttrRule ct_read_attrs[] = {handle_in(CXI_ATTR_HANDLE, CXI_OBJECT_CT, required),
                                      resp_out};
constexpr AttrRule ct_wait_attrs[] = {handle_in(CXI_ATTR_HANDLE, CXI_OBJECT_CT, required), req_in,
                                      resp_out};

constexpr DriverData driver_data = DriverData::both, driver_answer = DriverData::answer;
constexpr bool without_context = false;

constexpr Method table[] = {
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, "INVOKE_WRITE", invoke_write_attrs,
     invoke_write, driver_data, without_context},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, "QUERY_PORT", query_port_attrs, query_port},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, "GET_CONTEXT", get_context_attrs, get_context,
     driver_data, without_context},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, "QUERY_CONTEXT", query_context_attrs,
     query_context, driver_answer},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, "QUERY_GID_TABLE", query_gid_table_attrs,
     query_gid_table},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, "QUERY_GID_ENTRY", query_gid_entry_attrs,
     query_gid_entry},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT_SPEED, "QUERY_PORT_SPEED",
     query_port_speed_attrs, query_port_speed},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_COMP_CNTR_CAPS, "QUERY_COMP_CNTR_CAPS",
     comp_cntr_caps_attrs, query_comp_cntr_caps},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_QP_SEMANTICS, "QUERY_QP_SEMANTICS",
     query_qp_semantics_attrs, query_qp_semantics},
    {UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, "PD_DESTROY", pd_destroy_attrs, destroy_object},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, "CQ_CREATE", cq_create_attrs, create_cq,
     driver_data},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, "CQ_DESTROY", cq_destroy_attrs, destroy_cq},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, "QP_CREATE", qp_create_attrs, create_qp,
     driver_data},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, "QP_DESTROY", qp_destroy_attrs, destroy_qp},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_COMP_CNTR, "QP_ATTACH_COMP_CNTR",
     attach_comp_cntr_attrs, attach_comp_cntr},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_MR, "QP_ATTACH_MR", attach_mr_attrs, attach_mr,
     driver_answer},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DETACH_MR, "QP_DETACH_MR", detach_mr_attrs, detach_mr},
    {UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, "AH_DESTROY", ah_destroy_attrs, destroy_object},
    {UVERBS_OBJECT_AH, UVERBS_METHOD_AH_EX_CREATE, "AH_EX_CREATE", ah_create_attrs, create_ah_ex,
     driver_answer},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, "MR_DESTROY", mr_destroy_attrs, destroy_object},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, "QUERY_MR", query_mr_attrs, query_mr},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR, "REG_MR", reg_mr_attrs, reg_mr, driver_answer},
    {UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE, "COUNTERS_CREATE",
     counters_create_attrs, create_counters},
    {UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY, "COUNTERS_DESTROY",
     counters_destroy_attrs, destroy_object},
    {UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ, "COUNTERS_READ", counters_read_attrs,
     read_counters},
    {UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, "ASYNC_EVENT_ALLOC",
     async_event_attrs, alloc_async_event},
    {UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_CREATE, "COMP_CNTR_CREATE",
     comp_cntr_create_attrs, create_comp_cntr, driver_answer},
    {UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_DESTROY, "COMP_CNTR_DESTROY",
     comp_cntr_destroy_attrs, destroy_object},
    {UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_MODIFY, "COMP_CNTR_MODIFY",
     comp_cntr_modify_attrs, modify_comp_cntr},
    {UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_READ, "COMP_CNTR_READ", comp_cntr_read_attrs,
     read_comp_cntr},
    {UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_ALLOC, "JOB_ALLOC", job_alloc_attrs, alloc_job,
     driver_answer},
    {UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_DEALLOC, "JOB_DEALLOC", job_dealloc_attrs,
     destroy_object},
    {UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_QUERY, "JOB_QUERY", job_query_attrs, query_job},
    {UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_ADDR_INSERT, "JOB_ADDR_INSERT", addr_insert_attrs,
     insert_job_addr},
    {UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_ADDR_REMOVE, "JOB_ADDR_REMOVE", addr_remove_attrs,
     remove_job_addr},
    {UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_ADDR_QUERY, "JOB_ADDR_QUERY", addr_query_attrs,
     query_job_addr},
    {UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_EXPORT, "JOB_EXPORT", job_export_attrs, export_job},
    {UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_IMPORT, "JOB_IMPORT", job_import_attrs, import_job,
     driver_answer},
    {UVERBS_OBJECT_JKEY, UVERBS_METHOD_JKEY_CREATE, "JKEY_CREATE", jkey_create_attrs, create_jkey,
     driver_answer},
    {UVERBS_OBJECT_JKEY, UVERBS_METHOD_JKEY_DESTROY, "JKEY_DESTROY", jkey_destroy_attrs,
     destroy_object},
    {CXI_OBJECT_SVC, CXI_METHOD_SVC_ALLOC, "SVC_ALLOC", svc_alloc_attrs, svc_alloc},
    {CXI_OBJECT_SVC, CXI_METHOD_SVC_DESTROY, "SVC_DESTROY", svc_destroy_attrs, svc_destroy},
    {CXI_OBJECT_SVC, CXI_METHOD_SVC_MODIFY, "SVC_MODIFY", req_resp_attrs, svc_modify},
    {CXI_OBJECT_SVC, CXI_METHOD_SVC_QUERY, "SVC_QUERY", req_resp_attrs, svc_query},
    {CXI_OBJECT_SVC, CXI_METHOD_SVC_LIST, "SVC_LIST", svc_list_attrs, svc_list},
    {CXI_OBJECT_LNI, CXI_METHOD_LNI_CREATE, "LNI_CREATE", lni_create_attrs, lni_create},
    {CXI_OBJECT_LNI, CXI_METHOD_LNI_DESTROY, "LNI_DESTROY", lni_destroy_attrs, destroy_object},
    {CXI_OBJECT_LNI, CXI_METHOD_LNI_QUERY, "LNI_QUERY", lni_query_attrs, lni_query},
    {CXI_OBJECT_CP, CXI_METHOD_CP_ALLOC, "CP_ALLOC", cp_alloc_attrs, cp_alloc},
    {CXI_OBJECT_CP, CXI_METHOD_CP_FREE, "CP_FREE", cp_free_attrs, destroy_object},
    {CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_CREATE, "DOMAIN_CREATE", domain_create_attrs,
     domain_create},
    {CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_DESTROY, "DOMAIN_DESTROY", domain_destroy_attrs,
     destroy_object},
    {CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_RESERVE, "DOMAIN_RESERVE", domain_reserve_attrs,
     domain_reserve},
    {CXI_OBJECT_MD, CXI_METHOD_MD_MAP, "MD_MAP", md_map_attrs, md_map},
    {CXI_OBJECT_MD, CXI_METHOD_MD_UNMAP, "MD_UNMAP", md_unmap_attrs, destroy_object},
    {CXI_OBJECT_EQ, CXI_METHOD_EQ_CREATE, "EQ_CREATE", eq_create_attrs, eq_create},
    {CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, "EQ_DESTROY", eq_destroy_attrs, eq_destroy},
    {CXI_OBJECT_EQ, CXI_METHOD_EQ_RESIZE, "EQ_RESIZE", eq_resize_attrs, eq_resize},
    {CXI_OBJECT_EQ, CXI_METHOD_EQ_NOTIFY_AT, "EQ_NOTIFY_AT", notify_at_attrs, eq_notify_at},
    {CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_CREATE, "CMDQ_CREATE", cmdq_create_attrs, cmdq_create},
    {CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_DESTROY, "CMDQ_DESTROY", cmdq_destroy_attrs, destroy_object},
    {CXI_OBJECT_PTE, CXI_METHOD_PTE_CREATE, "PTE_CREATE", pte_create_attrs, pte_create},
    {CXI_OBJECT_PTE, CXI_METHOD_PTE_DESTROY, "PTE_DESTROY", pte_destroy_attrs, destroy_object},
    {CXI_OBJECT_PTE, CXI_METHOD_PTE_MAP, "PTE_MAP", pte_map_attrs, pte_map},
    {CXI_OBJECT_PTE, CXI_METHOD_PTE_UNMAP, "PTE_UNMAP", pte_map_attrs, pte_unmap},
    {CXI_OBJECT_PTE, CXI_METHOD_PTE_QUERY, "PTE_QUERY", pte_query_attrs, pte_query},
    {CXI_OBJECT_PTE, CXI_METHOD_PTE_INVALIDATE_LE, "PTE_INVALIDATE_LE", pte_work_attrs,
     pte_invalidate_le},
    {CXI_OBJECT_PTE, CXI_METHOD_PTE_TRANSITION, "PTE_TRANSITION", pte_work_attrs, pte_transition},
    {CXI_OBJECT_CT, CXI_METHOD_CT_CREATE, "CT_CREATE", ct_create_attrs, ct_create},
    {CXI_OBJECT_CT, CXI_METHOD_CT_DESTROY, "CT_DESTROY", ct_destroy_attrs, destroy_object},
    {CXI_OBJECT_CT, CXI_METHOD_CT_SET, "CT_SET", ct_work_attrs, ct_set},
    {CXI_OBJECT_CT, CXI_METHOD_CT_INC, "CT_INC", ct_work_attrs, ct_inc},
    {CXI_OBJECT_CT, CXI_METHOD_CT_READ, "CT_READ", ct_read_attrs, ct_read},
    {CXI_OBJECT_CT, CXI_METHOD_CT_WAIT, "CT_WAIT", ct_wait_attrs, ct_wait},
    {CXI_OBJECT_CSR, CXI_METHOD_CSR_READ, "CSR_READ", req_attrs, csr_read},
    {CXI_OBJECT_CSR, CXI_METHOD_CSR_WRITE, "CSR_WRITE", req_attrs, csr_write},
    {CXI_OBJECT_CSR, CXI_METHOD_CSR_MAP, "CSR_MAP", resp_attrs, csr_map},
    {CXI_OBJECT_TELEM, CXI_METHOD_TELEM_READ, "TELEM_READ", req_attrs, telem_read},
};

constexpr uint32_t key(const Method& m) {
  return uint32_t{m.object} << 16 | m.id;
}
static_assert(std::ranges::is_sorted(table, std::ranges::less{}, key));

}  // namespace

std::span<const Method> methods() {
  return table;
}

const Method* find_method(uint16_t object, uint16_t id) {
  const uint32_t wanted = uint32_t{object} << 16 | id;
  auto it = std::ranges::lower_bound(table, wanted, std::ranges::less{}, key);
  return it != std::end(table) && key(*it) == wanted ? &*it : nullptr;
}

}  // namespace sim::uverbs
