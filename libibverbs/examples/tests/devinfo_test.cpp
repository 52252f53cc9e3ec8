// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The output of ibv_devinfo, which scripts take apart by column.
#include <arpa/inet.h>
#include <endian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "../devinfo/blocks.hpp"
#include "../devinfo/layout.hpp"
#include "../devinfo/values.hpp"

namespace {

using namespace devinfo;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

ibv_gid_entry gid(const char* text, std::uint32_t type, std::uint32_t index = 0) {
  ibv_gid_entry entry{};
  EXPECT_EQ(inet_pton(AF_INET6, text, entry.gid.raw), 1);
  entry.gid_type = type;
  entry.gid_index = index;
  return entry;
}

DeviceFacts cassini() {
  DeviceFacts device;
  device.name = "cxi0";
  device.transport = IBV_TRANSPORT_SLINGSHOT;
  std::strcpy(device.attr.orig_attr.fw_ver, "1.5.53");
  device.attr.orig_attr.node_guid = htobe64(0x0200'00ff'fe00'0001);
  device.attr.orig_attr.sys_image_guid = htobe64(0x0200'00ff'fe00'0001);
  device.attr.orig_attr.vendor_id = 0x17db;
  device.attr.orig_attr.vendor_part_id = 1281;
  device.attr.orig_attr.hw_ver = 0x2a;
  device.attr.orig_attr.phys_port_cnt = 1;
  device.num_comp_vectors = 16;
  return device;
}

PortFacts port() {
  PortFacts facts;
  facts.number = 1;
  facts.attr.state = IBV_PORT_ACTIVE;
  facts.attr.max_mtu = IBV_MTU_4096;
  facts.attr.active_mtu = IBV_MTU_2048;
  facts.attr.link_layer = IBV_LINK_LAYER_ETHERNET;
  return facts;
}

TEST(Label, PutsValuesIntoOneColumnPerBlock) {
  EXPECT_EQ(label(device_indent, "max_qp"), "\tmax_qp:\t\t\t\t");
  EXPECT_EQ(label(device_indent, "transport"), "\ttransport:\t\t\t");
  EXPECT_EQ(label(device_indent, "max_ee_"), "\tmax_ee_:\t\t\t");
  EXPECT_EQ(label(device_indent, "max_total_mcast_qp_attach"), "\tmax_total_mcast_qp_attach:\t");
  EXPECT_EQ(label(port_indent, "state"), "\t\t\tstate:\t\t\t");
  EXPECT_EQ(label(port_indent, "link_layer"), "\t\t\tlink_layer:\t\t");
}

TEST(FlagLines, NameEveryBitAndShowWhatIsLeftOver) {
  const Flag names[] = {{1, "ONE"}, {4, "FOUR"}};
  EXPECT_EQ(flag_lines(1 | 4 | 0xab0, names),
            "\t\t\t\t\tONE\n\t\t\t\t\tFOUR\n\t\t\t\t\tUnknown flags: 0xAB0\n");
  EXPECT_EQ(flag_lines(0, names), "");
}

TEST(DeviceBlock, IsShortUnlessVerbose) {
  EXPECT_EQ(device_block(cassini(), false),
            "hca_id:\tcxi0\n"
            "\ttransport:\t\t\tSlingshot (5)\n"
            "\tfw_ver:\t\t\t\t1.5.53\n"
            "\tnode_guid:\t\t\t0200:00ff:fe00:0001\n"
            "\tsys_image_guid:\t\t\t0200:00ff:fe00:0001\n"
            "\tvendor_id:\t\t\t0x17db\n"
            "\tvendor_part_id:\t\t\t1281\n"
            "\thw_ver:\t\t\t\t0x2A\n"
            "\tphys_port_cnt:\t\t\t1\n");
}

TEST(DeviceBlock, LeavesOutWhatIsNotKnown) {
  DeviceFacts device = cassini();
  device.attr.orig_attr.fw_ver[0] = '\0';
  EXPECT_THAT(device_block(device, false), Not(HasSubstr("fw_ver")));
  EXPECT_THAT(device_block(device, false), Not(HasSubstr("board_id")));
  device.board_id = "HPE1";
  EXPECT_THAT(device_block(device, false),
              HasSubstr("\thw_ver:\t\t\t\t0x2A\n\tboard_id:\t\t\tHPE1\n\tphys_port_cnt:"));
}

TEST(DeviceBlock, VerboseOnADeviceWithoutAnything) {
  DeviceFacts device = cassini();
  device.attr.orig_attr.max_qp = 511;
  device.attr.device_cap_flags_ex =
      IBV_DEVICE_RU | IBV_DEVICE_IMM64 | IBV_DEVICE_KEY64 | IBV_DEVICE_USER_RKEY | 1ULL << 60 | 7;
  device.attr.max_job_ids = 256;
  device.attr.max_job_keys = 255;
  device.attr.max_addr_entries = 4096;
  EXPECT_THAT(device_block(device, true), EndsWith("\tphys_port_cnt:\t\t\t1\n"
                                                   "\tmax_mr_size:\t\t\t0x0\n"
                                                   "\tpage_size_cap:\t\t\t0x0\n"
                                                   "\tmax_qp:\t\t\t\t511\n"
                                                   "\tmax_qp_wr:\t\t\t0\n"
                                                   "\tdevice_cap_flags:\t\t0x00000000\n"
                                                   "\tmax_sge:\t\t\t0\n"
                                                   "\tmax_sge_rd:\t\t\t0\n"
                                                   "\tmax_cq:\t\t\t\t0\n"
                                                   "\tmax_cqe:\t\t\t0\n"
                                                   "\tmax_mr:\t\t\t\t0\n"
                                                   "\tmax_pd:\t\t\t\t0\n"
                                                   "\tmax_qp_rd_atom:\t\t\t0\n"
                                                   "\tmax_ee_rd_atom:\t\t\t0\n"
                                                   "\tmax_res_rd_atom:\t\t0\n"
                                                   "\tmax_qp_init_rd_atom:\t\t0\n"
                                                   "\tmax_ee_init_rd_atom:\t\t0\n"
                                                   "\tatomic_cap:\t\t\tATOMIC_NONE (0)\n"
                                                   "\tmax_ee:\t\t\t\t0\n"
                                                   "\tmax_rdd:\t\t\t0\n"
                                                   "\tmax_mw:\t\t\t\t0\n"
                                                   "\tmax_raw_ipv6_qp:\t\t0\n"
                                                   "\tmax_raw_ethy_qp:\t\t0\n"
                                                   "\tmax_mcast_grp:\t\t\t0\n"
                                                   "\tmax_mcast_qp_attach:\t\t0\n"
                                                   "\tmax_total_mcast_qp_attach:\t0\n"
                                                   "\tmax_ah:\t\t\t\t0\n"
                                                   "\tmax_fmr:\t\t\t0\n"
                                                   "\tmax_srq:\t\t\t0\n"
                                                   "\tmax_pkeys:\t\t\t0\n"
                                                   "\tlocal_ca_ack_delay:\t\t0\n"
                                                   "\tgeneral_odp_caps:\n"
                                                   "\trc_odp_caps:\n"
                                                   "\t\t\t\t\tNO SUPPORT\n"
                                                   "\tuc_odp_caps:\n"
                                                   "\t\t\t\t\tNO SUPPORT\n"
                                                   "\tud_odp_caps:\n"
                                                   "\t\t\t\t\tNO SUPPORT\n"
                                                   "\txrc_odp_caps:\n"
                                                   "\t\t\t\t\tNO SUPPORT\n"
                                                   "\tcompletion_timestamp_mask not supported\n"
                                                   "\tcore clock not supported\n"
                                                   "\tdevice_cap_flags_ex:\t\t"
                                                   "0x10003C0000000007\n"
                                                   "\t\t\t\t\tIBV_DEVICE_RU\n"
                                                   "\t\t\t\t\tIBV_DEVICE_IMM64\n"
                                                   "\t\t\t\t\tIBV_DEVICE_KEY64\n"
                                                   "\t\t\t\t\tIBV_DEVICE_USER_RKEY\n"
                                                   "\t\t\t\t\tUnknown flags: "
                                                   "0x1000000000000000\n"
                                                   "\ttso_caps:\n"
                                                   "\t\tmax_tso:\t\t\t0\n"
                                                   "\trss_caps:\n"
                                                   "\t\tmax_rwq_indirection_tables:\t\t\t0\n"
                                                   "\t\tmax_rwq_indirection_table_size:\t\t\t0\n"
                                                   "\t\trx_hash_function:\t\t\t\t0x0\n"
                                                   "\t\trx_hash_fields_mask:\t\t\t\t0x0\n"
                                                   "\tmax_wq_type_rq:\t\t\t0\n"
                                                   "\tpacket_pacing_caps:\n"
                                                   "\t\tqp_rate_limit_min:\t0kbps\n"
                                                   "\t\tqp_rate_limit_max:\t0kbps\n"
                                                   "\ttag matching not supported\n"
                                                   "\tnum_comp_vectors:\t\t16\n"
                                                   "\tmax_job_ids:\t\t\t256\n"
                                                   "\tmax_job_keys:\t\t\t255\n"
                                                   "\tmax_addr_entries:\t\t4096\n"));
}

TEST(DeviceBlock, VerboseShowsWhatADeviceCanDo) {
  DeviceFacts device = cassini();
  ibv_device_attr_ex& attr = device.attr;
  attr.orig_attr.device_cap_flags = IBV_DEVICE_XRC | IBV_DEVICE_RESIZE_MAX_WR;
  attr.orig_attr.max_srq = 2;
  attr.orig_attr.max_srq_wr = 3;
  attr.orig_attr.max_srq_sge = 4;
  attr.odp_caps.general_caps = IBV_ODP_SUPPORT;
  attr.odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_SRQ_RECV;
  attr.completion_timestamp_mask = UINT64_MAX;
  attr.hca_core_clock = 1000000;
  attr.raw_packet_caps = IBV_RAW_PACKET_CAP_DELAY_DROP;
  attr.tso_caps.max_tso = 5;
  attr.tso_caps.supported_qpts = 1 << IBV_QPT_RAW_PACKET;
  attr.packet_pacing_caps.qp_rate_limit_max = 9;
  attr.packet_pacing_caps.supported_qpts = 1 << IBV_QPT_RC;
  attr.tm_caps.max_num_tags = 7;
  attr.tm_caps.flags = IBV_TM_CAP_RC;
  attr.cq_mod_caps = {11, 12};
  attr.max_dm_size = 4096;
  device.comp_cntr = ibv_comp_cntr_caps{0, 2048, IBV_QP_ATTACH_COMP_CNTR_OP_SEND};
  const std::string text = device_block(device, true);
  for (const char* part : {
           "\tdevice_cap_flags:\t\t0x00100001\n\t\t\t\t\tRESIZE_MAX_WR\n\t\t\t\t\tXRC\n",
           "\tmax_srq:\t\t\t2\n\tmax_srq_wr:\t\t\t3\n\tmax_srq_sge:\t\t\t4\n",
           "\tmax_comp_cntr:\t\t\t2048\n\tcomp_cntr_caps:\n\t\t\t\t\tQP_ATTACH_SEND\n",
           "\tgeneral_odp_caps:\n\t\t\t\t\tODP_SUPPORT\n\trc_odp_caps:\n\t\t\t\t\tSUPPORT_SEND\n"
           "\t\t\t\t\tSUPPORT_SRQ\n\tuc_odp_caps:\n\t\t\t\t\tNO SUPPORT\n",
           "\tcompletion timestamp_mask:\t\t\t0xffffffffffffffff\n\thca_core_clock:\t\t\t"
           "1000000kHZ\n\traw packet caps:\n\t\t\t\t\tDelay drop\n",
           "\t\tmax_tso:\t\t\t5\n\t\tsupported_qp:\n\t\t\t\t\tSUPPORT_RAW_PACKET\n",
           "\t\tqp_rate_limit_max:\t9kbps\n\t\tsupported_qp:\n\t\t\t\t\tSUPPORT_RC\n",
           "\tmax_num_tags:\t\t\t7\n",
           "\tflags:\n\t\t\t\t\tIBV_TM_CAP_RC\n",
           "\n\tcq moderation caps:\n\t\tmax_cq_count:\t11\n\t\tmax_cq_period:\t12 us\n\n"
           "\tmaximum available device memory:\t4096Bytes\n\n\tnum_comp_vectors:",
       })
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(PortBlock, IsShortUnlessVerbose) {
  EXPECT_EQ(port_block(port(), IBV_TRANSPORT_SLINGSHOT, false),
            "\t\tport:\t1\n"
            "\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n"
            "\t\t\tmax_mtu:\t\t4096 (5)\n"
            "\t\t\tactive_mtu:\t\t2048 (4)\n"
            "\t\t\tsm_lid:\t\t\t0\n"
            "\t\t\tport_lid:\t\t0\n"
            "\t\t\tport_lmc:\t\t0x00\n"
            "\t\t\tlink_layer:\t\tEthernet\n"
            "\n");
}

TEST(PortBlock, VerboseListsTheGidsInUse) {
  PortFacts facts = port();
  facts.attr.max_msg_sz = 0xffffffff;
  facts.attr.gid_tbl_len = 3;
  facts.attr.active_width = 2;
  facts.attr.active_speed = 64;
  facts.speed = 2000;
  facts.gids = {gid("fe80::1", IBV_GID_TYPE_SLINGSHOT), gid("fe80::", IBV_GID_TYPE_SLINGSHOT, 1),
                gid("::ffff:10.1.2.3", IBV_GID_TYPE_UET_UDP, 2)};
  EXPECT_EQ(port_block(facts, IBV_TRANSPORT_SLINGSHOT, true),
            "\t\tport:\t1\n"
            "\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n"
            "\t\t\tmax_mtu:\t\t4096 (5)\n"
            "\t\t\tactive_mtu:\t\t2048 (4)\n"
            "\t\t\tsm_lid:\t\t\t0\n"
            "\t\t\tport_lid:\t\t0\n"
            "\t\t\tport_lmc:\t\t0x00\n"
            "\t\t\tlink_layer:\t\tEthernet\n"
            "\t\t\tmax_msg_sz:\t\t0xffffffff\n"
            "\t\t\tport_cap_flags:\t\t0x00000000\n"
            "\t\t\tport_cap_flags2:\t0x0000\n"
            "\t\t\tmax_vl_num:\t\tinvalid value (0)\n"
            "\t\t\tbad_pkey_cntr:\t\t0x0\n"
            "\t\t\tqkey_viol_cntr:\t\t0x0\n"
            "\t\t\tsm_sl:\t\t\t0\n"
            "\t\t\tpkey_tbl_len:\t\t0\n"
            "\t\t\tgid_tbl_len:\t\t3\n"
            "\t\t\tsubnet_timeout:\t\t0\n"
            "\t\t\tinit_type_reply:\t0\n"
            "\t\t\tactive_width:\t\t4X (2)\n"
            "\t\t\tactive_speed:\t\t50.0 Gbps (64)\n"
            "\t\t\teffective_speed:\t200.0 Gbps\n"
            "\t\t\tGID[  0]:\t\tfe80::1, Slingshot\n"
            "\t\t\tGID[  2]:\t\t::ffff:10.1.2.3, UET UDP\n"
            "\n");
}

TEST(PortBlock, ShowsThePhysicalStateOnInfiniBandOnly) {
  PortFacts facts = port();
  facts.attr.phys_state = 5;
  EXPECT_THAT(port_block(facts, IBV_TRANSPORT_IB, true),
              HasSubstr("\t\t\tphys_state:\t\tLINK_UP (5)\n"));
  EXPECT_THAT(port_block(facts, IBV_TRANSPORT_SLINGSHOT, true), Not(HasSubstr("phys_state")));
}

TEST(PortBlock, TakesTheWideSpeedWhereThereIsOne) {
  PortFacts facts = port();
  facts.attr.active_speed = 128;
  facts.attr.active_speed_ex = 256;
  EXPECT_THAT(port_block(facts, IBV_TRANSPORT_IB, true),
              HasSubstr("active_speed:\t\t200.0 Gbps (256)\n"));
}

TEST(GidText, DependsOnTypeAndLinkLayer) {
  const auto text = [](std::uint32_t type, std::uint8_t layer) {
    return gid_text(gid("fe80::1234", type), layer);
  };
  EXPECT_EQ(text(IBV_GID_TYPE_IB, IBV_LINK_LAYER_INFINIBAND),
            "fe80:0000:0000:0000:0000:0000:0000:1234");
  EXPECT_EQ(text(IBV_GID_TYPE_ROCE_V1, IBV_LINK_LAYER_ETHERNET),
            "fe80:0000:0000:0000:0000:0000:0000:1234, RoCE v1");
  EXPECT_EQ(text(IBV_GID_TYPE_ROCE_V2, IBV_LINK_LAYER_ETHERNET), "fe80::1234, RoCE v2");
  EXPECT_EQ(text(IBV_GID_TYPE_UET_IP, IBV_LINK_LAYER_ETHERNET), "fe80::1234, UET IP");
  EXPECT_EQ(text(IBV_GID_TYPE_UET_UFH, IBV_LINK_LAYER_ETHERNET), "fe80::1234, UET UFH");
  EXPECT_EQ(text(99, IBV_LINK_LAYER_ETHERNET), "");
}

TEST(Values, OutOfRangeAreSaidToBeInvalid) {
  EXPECT_STREQ(transport_text(IBV_TRANSPORT_UNKNOWN), "invalid transport");
  EXPECT_STREQ(port_state_text(IBV_PORT_NOP), "invalid state");
  EXPECT_STREQ(phys_state_text(0), "invalid physical state");
  EXPECT_STREQ(width_text(3), "invalid width");
  EXPECT_STREQ(speed_text(3), "invalid speed");
  EXPECT_STREQ(link_layer_text(9), "Unknown");
}

}  // namespace
