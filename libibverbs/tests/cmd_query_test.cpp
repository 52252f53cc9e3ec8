// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Queries of the device and its ports.
#include <gtest/gtest.h>

#include <cstddef>

#include "../cmd/cmd.hpp"
#include "../port.hpp"
#include "fake_kernel.hpp"

using namespace verbs;

namespace {

class QueryTest : public testing::Test {
 protected:
  fake::Kernel kernel;
  fake::Device device;
};

class QueryDeviceTest : public QueryTest {
 protected:
  QueryDeviceTest() {
    answer.base.max_qp = 11;
    answer.base.phys_port_cnt = 1;
    answer.hca_core_clock = 12;
    answer.device_cap_flags_ex = uint64_t{1} << 42;
    answer.max_job_ids = 13;
    answer.max_job_keys = 14;
    answer.max_addr_entries = 15;
    answer.response_length = sizeof(answer);
    kernel.on_write(extended(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), [this](const fake::Call& call) {
      call.at(UVERBS_ATTR_CORE_OUT).answer(answer);
      return 0;
    });
  }

  int query(size_t size) {
    memset(&attr, 0xee, sizeof(attr));
    return ibv_cmd_query_device_any(&device.context(), nullptr, &attr, size, nullptr, nullptr);
  }

  ib_uverbs_ex_query_device_resp answer{};
  ibv_device_attr_ex attr;
};

TEST_F(QueryDeviceTest, TheWholeAnswerIsCopied) {
  ASSERT_EQ(query(sizeof(attr)), 0);
  EXPECT_EQ(attr.orig_attr.max_qp, 11);
  EXPECT_EQ(attr.hca_core_clock, 12u);
  EXPECT_EQ(attr.device_cap_flags_ex, uint64_t{IBV_DEVICE_RU});
  EXPECT_EQ(attr.max_job_ids, 13u);
  EXPECT_EQ(attr.max_job_keys, 14u);
  EXPECT_EQ(attr.max_addr_entries, 15u);
  EXPECT_EQ(attr.phys_port_cnt_ex, 1u);
}

TEST_F(QueryDeviceTest, NothingIsWrittenBehindWhatTheCallerKnows) {
  ASSERT_EQ(query(offsetof(ibv_device_attr_ex, max_job_ids)), 0);
  EXPECT_EQ(attr.hca_core_clock, 12u);
  EXPECT_EQ(attr.max_job_ids, 0xeeeeeeeeu);
  EXPECT_EQ(attr.max_addr_entries, 0xeeeeeeeeu);
}

TEST_F(QueryDeviceTest, WhatAnOldKernelDoesNotSayIsZero) {
  answer.response_length = offsetof(ib_uverbs_ex_query_device_resp, max_job_ids);
  ASSERT_EQ(query(sizeof(attr)), 0);
  EXPECT_EQ(attr.hca_core_clock, 12u);
  EXPECT_EQ(attr.max_job_ids, 0u);
  EXPECT_EQ(attr.max_addr_entries, 0u);
}

TEST_F(QueryDeviceTest, TheLegacyCommandIsUsedWhereItIsEnough) {
  int legacy_calls = 0;
  kernel.on_write(IB_USER_VERBS_CMD_QUERY_DEVICE, [&](const fake::Call& call) {
    legacy_calls++;
    call.at(UVERBS_ATTR_CORE_OUT).answer(answer.base);
    return 0;
  });
  ASSERT_EQ(query(sizeof(ibv_device_attr)), 0);
  EXPECT_EQ(attr.orig_attr.max_qp, 11);
  EXPECT_EQ(attr.comp_mask, 0xeeeeeeeeu);
  kernel.on_write(extended(IB_USER_VERBS_EX_CMD_QUERY_DEVICE),
                  [](const fake::Call&) { return EOPNOTSUPP; });
  ASSERT_EQ(query(sizeof(attr)), 0);
  EXPECT_EQ(attr.hca_core_clock, 0u);
  EXPECT_EQ(legacy_calls, 2);
}

TEST_F(QueryDeviceTest, BadRequestsAreRefused) {
  EXPECT_EQ(query(sizeof(ibv_device_attr) - 1), EINVAL);
  const ibv_query_device_ex_input input{1};
  EXPECT_EQ(
      ibv_cmd_query_device_any(&device.context(), &input, &attr, sizeof(attr), nullptr, nullptr),
      EINVAL);
}

TEST_F(QueryTest, PortsOfOldKernelsComeFromTheOldCommand) {
  kernel.on_write(IB_USER_VERBS_CMD_QUERY_PORT, [](const fake::Call& call) {
    EXPECT_EQ(call.at(UVERBS_ATTR_CORE_IN).value<ib_uverbs_query_port>().port_num, 2);
    ib_uverbs_query_port_resp response{};
    response.lid = 5;
    call.at(UVERBS_ATTR_CORE_OUT).answer(response);
    return 0;
  });
  ibv_port_attr attr{};
  struct ibv_query_port request {};
  ASSERT_EQ(ibv_cmd_query_port(&device.context(), 2, &attr, &request, sizeof(request)), 0);
  EXPECT_EQ(attr.lid, 5);
  EXPECT_EQ(attr.active_speed_ex, 0u);
}

TEST_F(QueryTest, PortsAreFilledAsFarAsTheCallerKnows) {
  kernel.on(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, [](const fake::Call& call) {
    ib_uverbs_query_port_resp_ex response{};
    response.legacy_resp.state = IBV_PORT_ACTIVE;
    response.active_speed_ex = 256;
    call.at(UVERBS_ATTR_QUERY_PORT_RESP).answer(response);
    return 0;
  });
  verbs_context_ops ops{};
  ops.query_port = [](ibv_context* context, uint8_t port, ibv_port_attr* attr) {
    return ibv_cmd_query_port(context, port, attr, nullptr, 0);
  };
  device.set(ops);
  ibv_port_attr attr;
  memset(&attr, 0xee, sizeof(attr));
  ASSERT_EQ(query_port(&device.context(), 1, &attr, 48), 0);
  EXPECT_EQ(attr.state, IBV_PORT_ACTIVE);
  EXPECT_EQ(attr.active_speed_ex, 0xeeeeeeeeu);
  ASSERT_EQ(query_port(&device.context(), 1, &attr, sizeof(attr)), 0);
  EXPECT_EQ(attr.active_speed_ex, 256u);
}

TEST_F(QueryTest, SemanticsAreConvertedMemberByMember) {
  kernel.on(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_QP_SEMANTICS, [](const fake::Call& call) {
    EXPECT_EQ(call.at(UVERBS_ATTR_QUERY_QP_SEMANTICS_QP_TYPE).value<uint64_t>(), 11u);
    ib_uverbs_qp_semantics response{};
    response.comp_mask = 0x7f;
    response.max_pdu = 2048;
    response.usage_flags = 2;
    response.imm_data_size = 64;
    call.at(UVERBS_ATTR_QUERY_QP_SEMANTICS_RESP).answer(response);
    return 0;
  });
  ibv_qp_semantics semantics{};
  ASSERT_EQ(
      ibv_cmd_query_qp_semantics(&device.context(), IBV_QPT_RU, &semantics, sizeof(semantics)), 0);
  EXPECT_EQ(semantics.max_pdu, 2048u);
  EXPECT_EQ(semantics.usage_flags, unsigned{IBV_QP_USAGE_ATTACH_MR});
  EXPECT_EQ(semantics.imm_data_size, IBV_IMM_DATA_SIZE_64);
  semantics.imm_data_size = 1;
  ASSERT_EQ(ibv_cmd_query_qp_semantics(&device.context(), IBV_QPT_RU, &semantics, 24), 0);
  EXPECT_EQ(semantics.imm_data_size, 1);
  EXPECT_EQ(ibv_cmd_query_qp_semantics(&device.context(), IBV_QPT_RC, &semantics, 32), EOPNOTSUPP);
  EXPECT_EQ(ibv_cmd_query_qp_semantics(&device.context(), IBV_QPT_RU, nullptr, 32), EINVAL);
  EXPECT_EQ(ibv_cmd_query_qp_semantics(&device.context(), IBV_QPT_RU, &semantics, 0), EINVAL);
  EXPECT_EQ(ibv_cmd_query_qp_semantics(&device.context(), IBV_QPT_RU, &semantics, 3), EINVAL);
  EXPECT_EQ(kernel.calls().size(), 2u);
}

}  // namespace
