// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Texts and rates, which programs and scripts rely on.
#include <gtest/gtest.h>
#include <infiniband/driver.h>

namespace {

TEST(TextTest, ValuesHaveTheirNames) {
  EXPECT_STREQ(ibv_node_type_str(IBV_NODE_CA), "InfiniBand channel adapter");
  EXPECT_STREQ(ibv_node_type_str(IBV_NODE_UNSPECIFIED), "unspecified");
  EXPECT_STREQ(ibv_port_state_str(IBV_PORT_ACTIVE), "active");
  EXPECT_STREQ(ibv_port_state_str(IBV_PORT_ACTIVE_DEFER), "active defer");
  EXPECT_STREQ(ibv_event_type_str(IBV_EVENT_CQ_ERR), "CQ error");
  EXPECT_STREQ(ibv_event_type_str(IBV_EVENT_GID_CHANGE), "GID table change");
  EXPECT_STREQ(ibv_event_type_str(IBV_EVENT_DEVICE_SPEED_CHANGE), "Device link speed change");
  EXPECT_STREQ(ibv_wc_status_str(IBV_WC_SUCCESS), "success");
  EXPECT_STREQ(ibv_wc_status_str(IBV_WC_WR_FLUSH_ERR), "Work Request Flushed Error");
  EXPECT_STREQ(ibv_wc_status_str(IBV_WC_RNR_RETRY_EXC_ERR), "RNR retry counter exceeded");
  EXPECT_STREQ(ibv_wc_status_str(IBV_WC_TM_RNDV_INCOMPLETE), "TM software rendezvous");
  EXPECT_STREQ(ibv_wr_opcode_str(IBV_WR_RDMA_WRITE), "rdma-write");
  EXPECT_STREQ(ibv_wr_opcode_str(IBV_WR_FLUSH), "flush");
  EXPECT_STREQ(ibv_wr_opcode_str(IBV_WR_ATOMIC_WRITE), "atomic-write");
}

TEST(TextTest, OtherValuesAreUnknown) {
  EXPECT_STREQ(ibv_node_type_str(IBV_NODE_UNKNOWN), "unknown");
  EXPECT_STREQ(ibv_node_type_str(static_cast<ibv_node_type>(8)), "unknown");
  EXPECT_STREQ(ibv_port_state_str(static_cast<ibv_port_state>(6)), "unknown");
  EXPECT_STREQ(ibv_event_type_str(static_cast<ibv_event_type>(21)), "unknown");
  EXPECT_STREQ(ibv_wc_status_str(static_cast<ibv_wc_status>(24)), "unknown");
  EXPECT_STREQ(ibv_wr_opcode_str(static_cast<ibv_wr_opcode>(16)), "unknown");
  EXPECT_EQ(ibv_wr_opcode_str(static_cast<ibv_wr_opcode>(12)), nullptr);
}

TEST(RateTest, MultiplesGoBothWays) {
  EXPECT_EQ(ibv_rate_to_mult(IBV_RATE_10_GBPS), 4);
  EXPECT_EQ(ibv_rate_to_mult(IBV_RATE_28_GBPS), 11);
  EXPECT_EQ(ibv_rate_to_mult(IBV_RATE_100_GBPS), -1);
  EXPECT_EQ(ibv_rate_to_mult(IBV_RATE_MAX), -1);
  EXPECT_EQ(mult_to_ibv_rate(480), IBV_RATE_1200_GBPS);
  EXPECT_EQ(mult_to_ibv_rate(3), IBV_RATE_MAX);
  EXPECT_EQ(mult_to_ibv_rate(-1), IBV_RATE_MAX);
}

TEST(RateTest, MegabitsGoBothWays) {
  EXPECT_EQ(ibv_rate_to_mbps(IBV_RATE_14_GBPS), 14062);
  EXPECT_EQ(ibv_rate_to_mbps(IBV_RATE_200_GBPS), 206250);
  EXPECT_EQ(ibv_rate_to_mbps(IBV_RATE_MAX), -1);
  EXPECT_EQ(mbps_to_ibv_rate(1275000), IBV_RATE_1200_GBPS);
  EXPECT_EQ(mbps_to_ibv_rate(1), IBV_RATE_MAX);
}

}  // namespace
