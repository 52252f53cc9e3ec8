// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Queries of devices, ports and GIDs.
#include <algorithm>
#include <cstring>

#include "../export.hpp"
#include "cmd.hpp"

namespace verbs {
namespace {

void copy_base(ibv_device_attr& to, const ib_uverbs_query_device_resp& from) {
  to.node_guid = from.node_guid;
  to.sys_image_guid = from.sys_image_guid;
  to.max_mr_size = from.max_mr_size;
  to.page_size_cap = from.page_size_cap;
  to.vendor_id = from.vendor_id;
  to.vendor_part_id = from.vendor_part_id;
  to.hw_ver = from.hw_ver;
  to.device_cap_flags = from.device_cap_flags;
  to.atomic_cap = static_cast<ibv_atomic_cap>(from.atomic_cap);
  to.max_pkeys = from.max_pkeys;
  to.local_ca_ack_delay = from.local_ca_ack_delay;
  to.phys_port_cnt = from.phys_port_cnt;
#define COPY(member) to.member = static_cast<int>(from.member)
  COPY(max_qp);
  COPY(max_qp_wr);
  COPY(max_sge);
  COPY(max_sge_rd);
  COPY(max_cq);
  COPY(max_cqe);
  COPY(max_mr);
  COPY(max_pd);
  COPY(max_qp_rd_atom);
  COPY(max_ee_rd_atom);
  COPY(max_res_rd_atom);
  COPY(max_qp_init_rd_atom);
  COPY(max_ee_init_rd_atom);
  COPY(max_ee);
  COPY(max_rdd);
  COPY(max_mw);
  COPY(max_raw_ipv6_qp);
  COPY(max_raw_ethy_qp);
  COPY(max_mcast_grp);
  COPY(max_mcast_qp_attach);
  COPY(max_total_mcast_qp_attach);
  COPY(max_ah);
  COPY(max_fmr);
  COPY(max_map_per_fmr);
  COPY(max_srq);
  COPY(max_srq_wr);
  COPY(max_srq_sge);
#undef COPY
}

// A group of members is copied if the caller's structure and the kernel's answer both reach its
// end.
class Coverage {
 public:
  Coverage(size_t user, size_t kernel) noexcept : user_(user), kernel_(kernel) {}
  bool reaches(size_t user_end, size_t kernel_end) const noexcept {
    return user_ >= user_end && kernel_ >= kernel_end;
  }

 private:
  size_t user_, kernel_;
};

#define END_OF(type, member) (offsetof(type, member) + sizeof(type::member))
#define BOTH_REACH(user_member, kernel_member)              \
  coverage.reaches(END_OF(ibv_device_attr_ex, user_member), \
                   END_OF(ib_uverbs_ex_query_device_resp, kernel_member))

void copy_extended(ibv_device_attr_ex& to, size_t size,
                   const ib_uverbs_ex_query_device_resp& from) {
  const Coverage coverage(size, from.response_length);
  if (BOTH_REACH(odp_caps, odp_caps)) {
    const auto& per_transport = from.odp_caps.per_transport_caps;
    to.odp_caps.general_caps = from.odp_caps.general_caps;
    to.odp_caps.per_transport_caps.rc_odp_caps = per_transport.rc_odp_caps;
    to.odp_caps.per_transport_caps.uc_odp_caps = per_transport.uc_odp_caps;
    to.odp_caps.per_transport_caps.ud_odp_caps = per_transport.ud_odp_caps;
  }
  if (BOTH_REACH(completion_timestamp_mask, timestamp_mask))
    to.completion_timestamp_mask = from.timestamp_mask;
  if (BOTH_REACH(hca_core_clock, hca_core_clock)) to.hca_core_clock = from.hca_core_clock;
  if (BOTH_REACH(device_cap_flags_ex, device_cap_flags_ex))
    to.device_cap_flags_ex = from.device_cap_flags_ex;
  if (BOTH_REACH(rss_caps, rss_caps)) {
    to.rss_caps.supported_qpts = from.rss_caps.supported_qpts;
    to.rss_caps.max_rwq_indirection_tables = from.rss_caps.max_rwq_indirection_tables;
    to.rss_caps.max_rwq_indirection_table_size = from.rss_caps.max_rwq_indirection_table_size;
  }
  if (BOTH_REACH(max_wq_type_rq, max_wq_type_rq)) to.max_wq_type_rq = from.max_wq_type_rq;
  if (BOTH_REACH(raw_packet_caps, raw_packet_caps)) to.raw_packet_caps = from.raw_packet_caps;
  if (BOTH_REACH(tm_caps, tm_caps)) {
    to.tm_caps.max_rndv_hdr_size = from.tm_caps.max_rndv_hdr_size;
    to.tm_caps.max_num_tags = from.tm_caps.max_num_tags;
    to.tm_caps.flags = from.tm_caps.flags;
    to.tm_caps.max_ops = from.tm_caps.max_ops;
    to.tm_caps.max_sge = from.tm_caps.max_sge;
  }
  if (BOTH_REACH(cq_mod_caps, cq_moderation_caps)) {
    to.cq_mod_caps.max_cq_count = from.cq_moderation_caps.max_cq_moderation_count;
    to.cq_mod_caps.max_cq_period = from.cq_moderation_caps.max_cq_moderation_period;
  }
  if (BOTH_REACH(max_dm_size, max_dm_size)) to.max_dm_size = from.max_dm_size;
  if (BOTH_REACH(xrc_odp_caps, xrc_odp_caps)) to.xrc_odp_caps = from.xrc_odp_caps;
  if (BOTH_REACH(max_addr_entries, max_addr_entries)) {
    to.max_job_ids = from.max_job_ids;
    to.max_job_keys = from.max_job_keys;
    to.max_addr_entries = from.max_addr_entries;
  }
}

#undef BOTH_REACH

// Netlink counts ports beyond the eight bits of the old answer.
uint32_t port_count(const ibv_context& context, const ibv_device_attr& attr) {
  const verbs_sysfs_dev* record = verbs_get_device(context.device)->sysfs;
  return record && record->num_ports ? record->num_ports : attr.phys_port_cnt;
}

int query_extended(ibv_context& context, ib_uverbs_ex_query_device_resp& resp, size_t size) {
  ib_uverbs_ex_query_device request{};
  UserData data{.out = &resp + 1, .out_length = size - sizeof(resp)};
  return invoke_write(context, extended(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), request, resp, data);
}

int query_legacy(ibv_context& context, ib_uverbs_ex_query_device_resp& resp) {
  ib_uverbs_query_device request{};
  int error = invoke_write(context, IB_USER_VERBS_CMD_QUERY_DEVICE, request, resp.base);
  resp.response_length = sizeof(resp.base);
  return error;
}

void copy_port(ibv_port_attr& to, const ib_uverbs_query_port_resp& from) {
  to.state = static_cast<ibv_port_state>(from.state);
  to.max_mtu = static_cast<ibv_mtu>(from.max_mtu);
  to.active_mtu = static_cast<ibv_mtu>(from.active_mtu);
  to.gid_tbl_len = static_cast<int>(from.gid_tbl_len);
  to.port_cap_flags = from.port_cap_flags;
  to.max_msg_sz = from.max_msg_sz;
  to.bad_pkey_cntr = from.bad_pkey_cntr;
  to.qkey_viol_cntr = from.qkey_viol_cntr;
  to.pkey_tbl_len = from.pkey_tbl_len;
  to.lid = from.lid;
  to.sm_lid = from.sm_lid;
  to.lmc = from.lmc;
  to.max_vl_num = from.max_vl_num;
  to.sm_sl = from.sm_sl;
  to.subnet_timeout = from.subnet_timeout;
  to.init_type_reply = from.init_type_reply;
  to.active_width = from.active_width;
  to.active_speed = from.active_speed;
  to.phys_state = from.phys_state;
  to.link_layer = from.link_layer;
  to.flags = from.flags;
}

}  // namespace

int cmd_query_gid_entry(ibv_context& context, uint32_t port, uint32_t index, uint32_t flags,
                        void* entry, size_t size) noexcept {
  Command<UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, 4> command;
  command.constant(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, port);
  command.constant(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, index);
  command.in(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, flags);
  command.out_bytes(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, entry, size);
  return command.execute(context);
}

int cmd_query_gid_table(ibv_context& context, uint32_t flags, void* entries, size_t max_entries,
                        size_t size, uint64_t& count) noexcept {
  size_t length;
  if (__builtin_mul_overflow(max_entries, size, &length)) return EINVAL;
  Command<UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, 4> command;
  command.constant(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, size);
  command.in(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, flags);
  command.out_bytes(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, entries, length);
  command.out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, count);
  return command.execute(context);
}

}  // namespace verbs

using namespace verbs;

// Fills the attributes that the kernel knows. Provider data may follow *resp; on return resp_size
// is what the kernel filled.
VERBS_EXPORT int ibv_cmd_query_device_any(ibv_context* context,
                                          const ibv_query_device_ex_input* input,
                                          ibv_device_attr_ex* attr, size_t attr_size,
                                          ib_uverbs_ex_query_device_resp* resp, size_t* resp_size) {
  if ((input && input->comp_mask) || attr_size < sizeof(attr->orig_attr)) return EINVAL;
  if (resp && *resp_size < sizeof(*resp)) return EINVAL;
  ib_uverbs_ex_query_device_resp own{};
  ib_uverbs_ex_query_device_resp& answer = resp ? *resp : own;
  size_t size = resp ? *resp_size : sizeof(own);
  memset(&answer, 0, size);
  memset(attr, 0, attr_size);

  bool wants_extended = attr_size > sizeof(attr->orig_attr);
  int error = wants_extended ? query_extended(*context, answer, size) : EOPNOTSUPP;
  if (error == EOPNOTSUPP || error == ENOSYS) error = query_legacy(*context, answer);
  if (error) return error;

  copy_base(attr->orig_attr, answer.base);
  if (wants_extended) copy_extended(*attr, attr_size, answer);
  if (attr_size >= END_OF(ibv_device_attr_ex, phys_port_cnt_ex))
    attr->phys_port_cnt_ex = port_count(*context, attr->orig_attr);
  if (resp) *resp_size = answer.response_length;
  return 0;
}

VERBS_EXPORT int ibv_cmd_query_port(ibv_context* context, uint8_t port, ibv_port_attr* attr,
                                    struct ibv_query_port* cmd, size_t cmd_size) {
  ib_uverbs_query_port_resp_ex response{};
  Command<UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, 2> command;
  command.constant(UVERBS_ATTR_QUERY_PORT_PORT_NUM, port);
  command.out(UVERBS_ATTR_QUERY_PORT_RESP, response);
  int error = command.execute(*context);
  if (is_unknown_command(error)) {
    ib_uverbs_query_port request{};
    request.port_num = port;
    error = invoke_write(*context, IB_USER_VERBS_CMD_QUERY_PORT, request, response.legacy_resp,
                         data_behind(cmd, cmd_size));
  }
  if (error) return error;
  copy_port(*attr, response.legacy_resp);
  attr->port_cap_flags2 = response.port_cap_flags2;
  attr->active_speed_ex = response.active_speed_ex;
  return 0;
}

VERBS_EXPORT int ibv_cmd_query_port_speed(ibv_context* context, uint32_t port, uint64_t* speed) {
  Command<UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT_SPEED, 2> command;
  command.constant(UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, port);
  command.out(UVERBS_ATTR_QUERY_PORT_SPEED_RESP, *speed);
  return command.execute(*context);
}

// What QPs of a type can promise. The kernel has the two last members in the other order.
VERBS_EXPORT int ibv_cmd_query_qp_semantics(ibv_context* context, ibv_qp_type type,
                                            ibv_qp_semantics* semantics, size_t size) {
  if (!semantics || size < sizeof(semantics->comp_mask)) return EINVAL;
  if (type != IBV_QPT_RU) return EOPNOTSUPP;
  ib_uverbs_qp_semantics response{};
  Command<UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_QP_SEMANTICS, 2> command;
  command.constant(UVERBS_ATTR_QUERY_QP_SEMANTICS_QP_TYPE, static_cast<uint64_t>(type));
  command.out(UVERBS_ATTR_QUERY_QP_SEMANTICS_RESP, response);
  if (int error = command.execute(*context)) return error;
  ibv_qp_semantics whole{};
  whole.comp_mask = response.comp_mask;
  whole.msg_order = response.msg_order;
  whole.max_rdma_raw_size = response.max_rdma_raw_size;
  whole.max_rdma_war_size = response.max_rdma_war_size;
  whole.max_rdma_waw_size = response.max_rdma_waw_size;
  whole.max_pdu = response.max_pdu;
  whole.imm_data_size = response.imm_data_size;
  whole.usage_flags = response.usage_flags;
  memcpy(semantics, &whole, std::min(size, sizeof(whole)));
  return 0;
}
