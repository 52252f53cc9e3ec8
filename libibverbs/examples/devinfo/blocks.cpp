// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "blocks.hpp"

#include <rdma/ib_user_verbs.h>

#include <cinttypes>
#include <cstring>

#include "layout.hpp"
#include "values.hpp"

namespace devinfo {

namespace {

using examples::append;
using examples::format;

constexpr Flag device_flags[] = {
    {IBV_DEVICE_RESIZE_MAX_WR, "RESIZE_MAX_WR"},
    {IBV_DEVICE_BAD_PKEY_CNTR, "BAD_PKEY_CNTR"},
    {IBV_DEVICE_BAD_QKEY_CNTR, "BAD_QKEY_CNTR"},
    {IBV_DEVICE_RAW_MULTI, "RAW_MULTI"},
    {IBV_DEVICE_AUTO_PATH_MIG, "AUTO_PATH_MIG"},
    {IBV_DEVICE_CHANGE_PHY_PORT, "CHANGE_PHY_PORT"},
    {IBV_DEVICE_UD_AV_PORT_ENFORCE, "UD_AV_PORT_ENFORCE"},
    {IBV_DEVICE_CURR_QP_STATE_MOD, "CURR_QP_STATE_MOD"},
    {IBV_DEVICE_SHUTDOWN_PORT, "SHUTDOWN_PORT"},
    {IBV_DEVICE_INIT_TYPE, "INIT_TYPE"},
    {IBV_DEVICE_PORT_ACTIVE_EVENT, "PORT_ACTIVE_EVENT"},
    {IBV_DEVICE_SYS_IMAGE_GUID, "SYS_IMAGE_GUID"},
    {IBV_DEVICE_RC_RNR_NAK_GEN, "RC_RNR_NAK_GEN"},
    {IBV_DEVICE_SRQ_RESIZE, "SRQ_RESIZE"},
    {IBV_DEVICE_N_NOTIFY_CQ, "N_NOTIFY_CQ"},
    {IBV_DEVICE_MEM_WINDOW, "MEM_WINDOW"},
    {IBV_DEVICE_UD_IP_CSUM, "UD_IP_CSUM"},
    {IBV_DEVICE_XRC, "XRC"},
    {IBV_DEVICE_MEM_MGT_EXTENSIONS, "MEM_MGT_EXTENSIONS"},
    {IBV_DEVICE_MEM_WINDOW_TYPE_2A, "MEM_WINDOW_TYPE_2A"},
    {IBV_DEVICE_MEM_WINDOW_TYPE_2B, "MEM_WINDOW_TYPE_2B"},
    {IBV_DEVICE_RC_IP_CSUM, "RC_IP_CSUM"},
    {IBV_DEVICE_RAW_IP_CSUM, "RAW_IP_CSUM"},
    {IBV_DEVICE_MANAGED_FLOW_STEERING, "MANAGED_FLOW_STEERING"},
};

constexpr Flag extended_device_flags[] = {
    {IBV_DEVICE_RAW_SCATTER_FCS, "RAW_SCATTER_FCS"},
    {IBV_DEVICE_PCI_WRITE_END_PADDING, "PCI_WRITE_END_PADDING"},
    {IBV_DEVICE_CC_DMA_BOUNCE, "CC_DMA_BOUNCE"},
    {IBV_DEVICE_RU, "IBV_DEVICE_RU"},
    {IBV_DEVICE_IMM64, "IBV_DEVICE_IMM64"},
    {IBV_DEVICE_KEY64, "IBV_DEVICE_KEY64"},
    {IBV_DEVICE_USER_RKEY, "IBV_DEVICE_USER_RKEY"},
    // Verbs has no names for these: which classes of regions a device has.
    {IB_UVERBS_DEVICE_MR_UNRESTRICTED, "MR_UNRESTRICTED"},
    {IB_UVERBS_DEVICE_MR_JOB_RESTRICTED, "MR_JOB_RESTRICTED"},
    {IB_UVERBS_DEVICE_MR_QP_RESTRICTED, "MR_QP_RESTRICTED"},
    {IB_UVERBS_DEVICE_MR_QP_JOB_RESTRICTED, "MR_QP_JOB_RESTRICTED"},
};

constexpr Flag odp_flags[] = {
    {IBV_ODP_SUPPORT, "ODP_SUPPORT"},
    {IBV_ODP_SUPPORT_IMPLICIT, "ODP_SUPPORT_IMPLICIT"},
};

constexpr Flag odp_transport_flags[] = {
    {IBV_ODP_SUPPORT_SEND, "SUPPORT_SEND"},
    {IBV_ODP_SUPPORT_RECV, "SUPPORT_RECV"},
    {IBV_ODP_SUPPORT_WRITE, "SUPPORT_WRITE"},
    {IBV_ODP_SUPPORT_READ, "SUPPORT_READ"},
    {IBV_ODP_SUPPORT_ATOMIC, "SUPPORT_ATOMIC"},
    {IBV_ODP_SUPPORT_SRQ_RECV, "SUPPORT_SRQ"},
    {IBV_ODP_SUPPORT_FLUSH, "SUPPORT_FLUSH"},
    {IBV_ODP_SUPPORT_ATOMIC_WRITE, "SUPPORT_ATOMIC_WRITE"},
};

constexpr Flag raw_packet_flags[] = {
    {IBV_RAW_PACKET_CAP_CVLAN_STRIPPING, "C-VLAN stripping offload"},
    {IBV_RAW_PACKET_CAP_SCATTER_FCS, "Scatter FCS offload"},
    {IBV_RAW_PACKET_CAP_IP_CSUM, "IP csum offload"},
    {IBV_RAW_PACKET_CAP_DELAY_DROP, "Delay drop"},
};

constexpr Flag qp_type_flags[] = {
    {1 << IBV_QPT_RAW_PACKET, "SUPPORT_RAW_PACKET"},
    {1 << IBV_QPT_UD, "SUPPORT_UD"},
};

constexpr Flag pacing_qp_type_flags[] = {
    {1 << IBV_QPT_RAW_PACKET, "SUPPORT_RAW_PACKET"},
    {1 << IBV_QPT_UD, "SUPPORT_UD"},
    {1 << IBV_QPT_RC, "SUPPORT_RC"},
};

constexpr Flag tag_matching_flags[] = {
    {IBV_TM_CAP_RC, "IBV_TM_CAP_RC"},
};

constexpr Flag comp_cntr_flags[] = {
    {IBV_QP_ATTACH_COMP_CNTR_OP_SEND, "QP_ATTACH_SEND"},
    {IBV_QP_ATTACH_COMP_CNTR_OP_RECV, "QP_ATTACH_RECV"},
    {IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ, "QP_ATTACH_RDMA_READ"},
    {IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ, "QP_ATTACH_REMOTE_RDMA_READ"},
    {IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE, "QP_ATTACH_RDMA_WRITE"},
    {IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE, "QP_ATTACH_REMOTE_RDMA_WRITE"},
};

/// Adds device lines to a text.
class Lines {
 public:
  explicit Lines(std::string& text) : text_(text) {}

  void number(const char* name, long long value) {
    append(text_, "%s%lld\n", label(device_indent, name).c_str(), value);
  }
  void hex(const char* name, unsigned long long value) {
    append(text_, "%s0x%llx\n", label(device_indent, name).c_str(), value);
  }
  void text(const char* name, const std::string& value) {
    append(text_, "%s%s\n", label(device_indent, name).c_str(), value.c_str());
  }

 private:
  std::string& text_;
};

void add_limits(std::string& text, const DeviceFacts& device) {
  const ibv_device_attr& attr = device.attr.orig_attr;
  Lines add(text);
  add.hex("max_mr_size", attr.max_mr_size);
  add.hex("page_size_cap", attr.page_size_cap);
  add.number("max_qp", attr.max_qp);
  add.number("max_qp_wr", attr.max_qp_wr);
  add.text("device_cap_flags", format("0x%08x", attr.device_cap_flags));
  text += flag_lines(attr.device_cap_flags, device_flags);
  add.number("max_sge", attr.max_sge);
  add.number("max_sge_rd", attr.max_sge_rd);
  add.number("max_cq", attr.max_cq);
  add.number("max_cqe", attr.max_cqe);
  add.number("max_mr", attr.max_mr);
  add.number("max_pd", attr.max_pd);
  add.number("max_qp_rd_atom", attr.max_qp_rd_atom);
  add.number("max_ee_rd_atom", attr.max_ee_rd_atom);
  add.number("max_res_rd_atom", attr.max_res_rd_atom);
  add.number("max_qp_init_rd_atom", attr.max_qp_init_rd_atom);
  add.number("max_ee_init_rd_atom", attr.max_ee_init_rd_atom);
  add.text("atomic_cap", format("%s (%d)", atomic_cap_text(attr.atomic_cap), attr.atomic_cap));
  add.number("max_ee", attr.max_ee);
  add.number("max_rdd", attr.max_rdd);
  add.number("max_mw", attr.max_mw);
  add.number("max_raw_ipv6_qp", attr.max_raw_ipv6_qp);
  add.number("max_raw_ethy_qp", attr.max_raw_ethy_qp);
  add.number("max_mcast_grp", attr.max_mcast_grp);
  add.number("max_mcast_qp_attach", attr.max_mcast_qp_attach);
  add.number("max_total_mcast_qp_attach", attr.max_total_mcast_qp_attach);
  add.number("max_ah", attr.max_ah);
  add.number("max_fmr", attr.max_fmr);
  if (attr.max_fmr) add.number("max_map_per_fmr", attr.max_map_per_fmr);
  add.number("max_srq", attr.max_srq);
  if (attr.max_srq) {
    add.number("max_srq_wr", attr.max_srq_wr);
    add.number("max_srq_sge", attr.max_srq_sge);
  }
  add.number("max_pkeys", attr.max_pkeys);
  if (device.comp_cntr) {
    add.number("max_comp_cntr", device.comp_cntr->max_counters);
    text += "\tcomp_cntr_caps:\n";
    text += flag_lines(device.comp_cntr->supported_qp_attach_ops, comp_cntr_flags);
  }
  add.number("local_ca_ack_delay", attr.local_ca_ack_delay);
}

void add_odp_transport(std::string& text, const char* name, std::uint32_t caps) {
  append(text, "\t%s:\n", name);
  text += caps ? flag_lines(caps, odp_transport_flags) : "\t\t\t\t\tNO SUPPORT\n";
}

void add_odp(std::string& text, const ibv_device_attr_ex& attr) {
  text += "\tgeneral_odp_caps:\n";
  text += flag_lines(attr.odp_caps.general_caps, odp_flags);
  add_odp_transport(text, "rc_odp_caps", attr.odp_caps.per_transport_caps.rc_odp_caps);
  add_odp_transport(text, "uc_odp_caps", attr.odp_caps.per_transport_caps.uc_odp_caps);
  add_odp_transport(text, "ud_odp_caps", attr.odp_caps.per_transport_caps.ud_odp_caps);
  add_odp_transport(text, "xrc_odp_caps", attr.xrc_odp_caps);
}

void add_clock(std::string& text, const ibv_device_attr_ex& attr) {
  if (attr.completion_timestamp_mask)
    append(text, "\tcompletion timestamp_mask:\t\t\t0x%016" PRIx64 "\n",
           attr.completion_timestamp_mask);
  else
    text += "\tcompletion_timestamp_mask not supported\n";
  if (attr.hca_core_clock)
    Lines(text).text("hca_core_clock", format("%" PRIu64 "kHZ", attr.hca_core_clock));
  else
    text += "\tcore clock not supported\n";
}

void add_supported_qp(std::string& text, std::uint32_t types, std::span<const Flag> names) {
  text += "\t\tsupported_qp:\n";
  text += flag_lines(types, names);
}

void add_offloads(std::string& text, const ibv_device_attr_ex& attr) {
  if (attr.raw_packet_caps) {
    text += "\traw packet caps:\n";
    text += flag_lines(attr.raw_packet_caps, raw_packet_flags);
  }
  Lines(text).text("device_cap_flags_ex", format("0x%" PRIX64, attr.device_cap_flags_ex));
  // The low half repeats device_cap_flags.
  text += flag_lines(attr.device_cap_flags_ex & ~uint64_t{UINT32_MAX}, extended_device_flags);

  append(text, "\ttso_caps:\n\t\tmax_tso:\t\t\t%u\n", attr.tso_caps.max_tso);
  if (attr.tso_caps.max_tso) add_supported_qp(text, attr.tso_caps.supported_qpts, qp_type_flags);

  const ibv_rss_caps& rss = attr.rss_caps;
  text += "\trss_caps:\n";
  append(text, "\t\tmax_rwq_indirection_tables:\t\t\t%u\n", rss.max_rwq_indirection_tables);
  append(text, "\t\tmax_rwq_indirection_table_size:\t\t\t%u\n", rss.max_rwq_indirection_table_size);
  append(text, "\t\trx_hash_function:\t\t\t\t0x%x\n", rss.rx_hash_function);
  append(text, "\t\trx_hash_fields_mask:\t\t\t\t0x%" PRIX64 "\n", rss.rx_hash_fields_mask);
  if (rss.supported_qpts) add_supported_qp(text, rss.supported_qpts, qp_type_flags);
  Lines(text).number("max_wq_type_rq", attr.max_wq_type_rq);

  const ibv_packet_pacing_caps& pacing = attr.packet_pacing_caps;
  text += "\tpacket_pacing_caps:\n";
  append(text, "\t\tqp_rate_limit_min:\t%ukbps\n", pacing.qp_rate_limit_min);
  append(text, "\t\tqp_rate_limit_max:\t%ukbps\n", pacing.qp_rate_limit_max);
  if (pacing.qp_rate_limit_max) add_supported_qp(text, pacing.supported_qpts, pacing_qp_type_flags);
}

void add_tag_matching(std::string& text, const ibv_tm_caps& caps) {
  if (!caps.max_num_tags) {
    text += "\ttag matching not supported\n";
    return;
  }
  Lines add(text);
  add.number("max_rndv_hdr_size", caps.max_rndv_hdr_size);
  add.number("max_num_tags", caps.max_num_tags);
  add.number("max_ops", caps.max_ops);
  add.number("max_sge", caps.max_sge);
  text += "\tflags:\n";
  text += flag_lines(caps.flags, tag_matching_flags);
}

void add_rest(std::string& text, const DeviceFacts& device) {
  const ibv_cq_moderation_caps& moderation = device.attr.cq_mod_caps;
  if (moderation.max_cq_count && moderation.max_cq_period) {
    append(text, "\n\tcq moderation caps:\n\t\tmax_cq_count:\t%u\n\t\tmax_cq_period:\t%u us\n\n",
           moderation.max_cq_count, moderation.max_cq_period);
  }
  if (device.attr.max_dm_size)
    append(text, "\tmaximum available device memory:\t%" PRIu64 "Bytes\n\n",
           device.attr.max_dm_size);
  Lines add(text);
  add.number("num_comp_vectors", device.num_comp_vectors);
  add.number("max_job_ids", device.attr.max_job_ids);
  add.number("max_job_keys", device.attr.max_job_keys);
  add.number("max_addr_entries", device.attr.max_addr_entries);
}

}  // namespace

std::string device_block(const DeviceFacts& device, bool verbose) {
  const ibv_device_attr& attr = device.attr.orig_attr;
  std::string text = format("hca_id:\t%s\n", device.name.c_str());
  Lines add(text);
  add.text("transport",
           format("%s (%d)", transport_text(device.transport), static_cast<int>(device.transport)));
  if (attr.fw_ver[0])
    add.text("fw_ver", std::string(attr.fw_ver, strnlen(attr.fw_ver, sizeof(attr.fw_ver))));
  add.text("node_guid", guid_text(attr.node_guid));
  add.text("sys_image_guid", guid_text(attr.sys_image_guid));
  add.text("vendor_id", format("0x%04x", attr.vendor_id));
  add.number("vendor_part_id", static_cast<int>(attr.vendor_part_id));
  add.text("hw_ver", format("0x%X", attr.hw_ver));
  if (!device.board_id.empty()) add.text("board_id", device.board_id);
  add.number("phys_port_cnt", attr.phys_port_cnt);
  if (!verbose) return text;
  add_limits(text, device);
  add_odp(text, device.attr);
  add_clock(text, device.attr);
  add_offloads(text, device.attr);
  add_tag_matching(text, device.attr.tm_caps);
  add_rest(text, device);
  return text;
}

std::string port_block(const PortFacts& port, enum ibv_transport_type transport, bool verbose) {
  const ibv_port_attr& attr = port.attr;
  std::string text = format("\t\tport:\t%u\n", port.number);
  const auto add = [&text](const char* name, const std::string& value) {
    append(text, "%s%s\n", label(port_indent, name).c_str(), value.c_str());
  };
  const auto add_named = [&add](const char* name, const char* meaning, int value) {
    add(name, format("%s (%d)", meaning, value));
  };
  add_named("state", port_state_text(attr.state), attr.state);
  add_named("max_mtu", mtu_text(attr.max_mtu), attr.max_mtu);
  add_named("active_mtu", mtu_text(attr.active_mtu), attr.active_mtu);
  add("sm_lid", format("%d", attr.sm_lid));
  add("port_lid", format("%d", attr.lid));
  add("port_lmc", format("0x%02x", attr.lmc));
  add("link_layer", link_layer_text(attr.link_layer));
  if (verbose) {
    add("max_msg_sz", format("0x%x", attr.max_msg_sz));
    add("port_cap_flags", format("0x%08x", attr.port_cap_flags));
    add("port_cap_flags2", format("0x%04x", attr.port_cap_flags2));
    add_named("max_vl_num", vl_text(attr.max_vl_num), attr.max_vl_num);
    add("bad_pkey_cntr", format("0x%x", attr.bad_pkey_cntr));
    add("qkey_viol_cntr", format("0x%x", attr.qkey_viol_cntr));
    add("sm_sl", format("%d", attr.sm_sl));
    add("pkey_tbl_len", format("%d", attr.pkey_tbl_len));
    add("gid_tbl_len", format("%d", attr.gid_tbl_len));
    add("subnet_timeout", format("%d", attr.subnet_timeout));
    add("init_type_reply", format("%d", attr.init_type_reply));
    add("active_width", format("%sX (%d)", width_text(attr.active_width), attr.active_width));
    const std::uint32_t speed = attr.active_speed_ex ? attr.active_speed_ex : attr.active_speed;
    add_named("active_speed", speed_text(speed), static_cast<int>(speed));
    if (port.speed)
      add("effective_speed", format("%.1f Gbps", static_cast<double>(*port.speed) / 10));
    if (transport == IBV_TRANSPORT_IB)
      add_named("phys_state", phys_state_text(attr.phys_state), attr.phys_state);
    for (const ibv_gid_entry& entry : port.gids) {
      const std::string gid = gid_text(entry, attr.link_layer);
      if (!gid.empty()) append(text, "\t\t\tGID[%3u]:\t\t%s\n", entry.gid_index, gid.c_str());
    }
  }
  text += '\n';
  return text;
}

}  // namespace devinfo
