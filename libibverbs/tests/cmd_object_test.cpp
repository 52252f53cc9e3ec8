// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands that make and destroy objects, attribute by attribute.
#include <gtest/gtest.h>

#include <thread>

#include "../cmd/cmd.hpp"
#include "../events.hpp"
#include "../private_context.hpp"
#include "fake_kernel.hpp"

using namespace verbs;

namespace {

class ObjectCommandTest : public testing::Test {
 protected:
  ObjectCommandTest() {
    device.context().async_fd = 17;
    pd.context = &device.context();
    pd.handle = 3;
  }
  ~ObjectCommandTest() override { device.context().async_fd = -1; }

  fake::Kernel kernel;
  fake::Device device;
  ibv_pd pd{};
};

TEST_F(ObjectCommandTest, GetContextLearnsVectorsAndWhatTheCoreSupports) {
  kernel.on(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, [](const fake::Call& call) {
    call.at(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS).answer(uint32_t{4});
    call.at(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT).answer(uint64_t{1});
    call.at(UVERBS_ATTR_UHW_OUT).answer(uint32_t{0xabcd});
    return 0;
  });
  struct {
    struct ibv_get_context core;
    uint64_t provider;
  } request{};
  struct {
    ib_uverbs_get_context_resp core;
    uint32_t provider;
  } response{};
  request.provider = 6;
  ASSERT_EQ(ibv_cmd_get_context(&device.extended(), &request.core, sizeof(request), nullptr,
                                &response.core, sizeof(response)),
            0);
  EXPECT_EQ(device.context().num_comp_vectors, 4);
  EXPECT_EQ(device.device().core_support, 1u);
  EXPECT_EQ(kernel.last().at(UVERBS_ATTR_UHW_IN).value<uint64_t>(), 6u);
  EXPECT_EQ(response.provider, 0xabcdu);
}

TEST_F(ObjectCommandTest, AllocPdSendsAndReadsProviderData) {
  kernel.on_write(IB_USER_VERBS_CMD_ALLOC_PD, [](const fake::Call& call) {
    call.at(UVERBS_ATTR_CORE_OUT).answer(uint32_t{9});
    call.at(UVERBS_ATTR_UHW_OUT).answer(uint32_t{10});
    return 0;
  });
  struct ibv_alloc_pd request {};
  struct {
    ib_uverbs_alloc_pd_resp core;
    uint32_t provider;
  } response{};
  ibv_pd made{};
  ASSERT_EQ(ibv_cmd_alloc_pd(&device.context(), &made, &request, sizeof(request), &response.core,
                             sizeof(response)),
            0);
  EXPECT_EQ(made.handle, 9u);
  EXPECT_EQ(made.context, &device.context());
  EXPECT_EQ(response.provider, 10u);
}

TEST_F(ObjectCommandTest, CreateCqSendsItsAttributes) {
  kernel.on(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, [](const fake::Call& call) {
    call.at(UVERBS_ATTR_CREATE_CQ_HANDLE).answer_handle(5);
    call.at(UVERBS_ATTR_CREATE_CQ_RESP_CQE).answer(uint32_t{128});
    return 0;
  });
  ibv_comp_channel channel{&device.context(), 21, 0};
  ibv_cq_init_attr_ex attr{};
  attr.cqe = 100;
  attr.channel = &channel;
  attr.comp_vector = 2;
  attr.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
  verbs_cq cq{};
  DECLARE_COMMAND_BUFFER(link, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, 1);
  fill_attr_in_uint32(link, UVERBS_ID_DRIVER_NS_WITH_UHW, 55);
  ASSERT_EQ(ibv_cmd_create_cq_ex2(&device.context(), &attr, nullptr, &cq, nullptr, 0, nullptr, 0, 0,
                                  link),
            0);
  const fake::Call& call = kernel.last();
  EXPECT_EQ(call.at(UVERBS_ATTR_CREATE_CQ_CQE).value<uint32_t>(), 100u);
  EXPECT_EQ(call.at(UVERBS_ATTR_CREATE_CQ_USER_HANDLE).address(), &cq.cq);
  EXPECT_EQ(call.at(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL).data, 21u);
  EXPECT_EQ(call.at(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR).value<uint32_t>(), 2u);
  EXPECT_EQ(call.at(UVERBS_ATTR_CREATE_CQ_FLAGS).value<uint32_t>(), 1u);
  EXPECT_EQ(call.at(UVERBS_ATTR_CREATE_CQ_EVENT_FD).data, 17u);
  EXPECT_FALSE(call.at(UVERBS_ATTR_CREATE_CQ_EVENT_FD).mandatory());
  EXPECT_EQ(call.at(UVERBS_ID_DRIVER_NS_WITH_UHW).value<uint32_t>(), 55u);
  EXPECT_EQ(cq.cq.handle, 5u);
  EXPECT_EQ(cq.cq.cqe, 128);
  EXPECT_EQ(cq.cq.context, &device.context());
}

TEST_F(ObjectCommandTest, EventsOfAnImportedContextMustNotGoToItsMaker) {
  private_context(device.context()).imported = true;
  kernel.on(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, [](const fake::Call&) { return 0; });
  ibv_cq cq{};
  ASSERT_EQ(ibv_cmd_create_cq(&device.context(), 1, nullptr, 0, &cq, nullptr, 0, nullptr, 0), 0);
  EXPECT_TRUE(kernel.last().at(UVERBS_ATTR_CREATE_CQ_EVENT_FD).mandatory());
  EXPECT_FALSE(kernel.last().has(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL));
  EXPECT_FALSE(kernel.last().has(UVERBS_ATTR_CREATE_CQ_FLAGS));
}

TEST_F(ObjectCommandTest, CreateCqRefusesWhatItDoesNotKnow) {
  ibv_cq_init_attr_ex attr{};
  verbs_cq cq{};
  auto create = [&](uint32_t flags) {
    return ibv_cmd_create_cq_ex(&device.context(), &attr, nullptr, &cq, nullptr, 0, nullptr, 0,
                                flags);
  };
  attr.comp_mask = 1 << 9;
  EXPECT_EQ(create(0), EOPNOTSUPP);
  attr.comp_mask = 0;
  EXPECT_EQ(create(CREATE_CQ_CMD_FLAGS_WITH_MEM_VA), EINVAL);
  EXPECT_TRUE(kernel.calls().empty());
}

TEST_F(ObjectCommandTest, CreateCqNamesMemoryOfTheProvider) {
  kernel.on(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, [](const fake::Call&) { return 0; });
  ibv_cq_init_attr_ex attr{};
  verbs_cq cq{};
  uint8_t memory[64];
  verbs_create_cq_prov_attr va{};
  va.buffer.length = sizeof(memory);
  va.buffer.ptr = memory;
  ASSERT_EQ(ibv_cmd_create_cq_ex(&device.context(), &attr, &va, &cq, nullptr, 0, nullptr, 0,
                                 CREATE_CQ_CMD_FLAGS_WITH_MEM_VA),
            0);
  EXPECT_EQ(kernel.last().at(UVERBS_ATTR_CREATE_CQ_BUFFER_VA).address(), memory);
  EXPECT_EQ(kernel.last().at(UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH).value<uint64_t>(), 64u);
  verbs_create_cq_prov_attr dmabuf{};
  dmabuf.buffer.dmabuf.fd = 8;
  dmabuf.buffer.dmabuf.offset = 4096;
  ASSERT_EQ(ibv_cmd_create_cq_ex(&device.context(), &attr, &dmabuf, &cq, nullptr, 0, nullptr, 0,
                                 CREATE_CQ_CMD_FLAGS_WITH_MEM_DMABUF),
            0);
  EXPECT_EQ(kernel.last().at(UVERBS_ATTR_CREATE_CQ_BUFFER_FD).data, 8u);
  EXPECT_EQ(kernel.last().at(UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET).value<uint64_t>(), 4096u);
}

TEST_F(ObjectCommandTest, DestroyCqWaitsForBothKindsOfEvents) {
  kernel.on(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, [](const fake::Call& call) {
    call.at(UVERBS_ATTR_DESTROY_CQ_RESP).answer(ib_uverbs_destroy_cq_resp{2, 1});
    return 0;
  });
  ibv_cq cq{};
  verbs_init_cq(&cq, &device.context(), nullptr, nullptr);
  std::thread other([&] {
    ibv_ack_cq_events(&cq, 2);
    ibv_async_event event{};
    event.event_type = IBV_EVENT_CQ_ERR;
    event.element.cq = &cq;
    ibv_ack_async_event(&event);
  });
  EXPECT_EQ(ibv_cmd_destroy_cq(&cq), 0);
  other.join();
  EXPECT_EQ(cq.comp_events_completed, 2u);
  EXPECT_EQ(cq.async_events_completed, 1u);
}

TEST_F(ObjectCommandTest, DestroyOnADeadDeviceFailsUnlessAllowed) {
  kernel.on(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, [](const fake::Call&) { return EIO; });
  ibv_qp qp{};
  qp.context = &device.context();
  init_events(qp);
  EXPECT_EQ(ibv_cmd_destroy_qp(&qp), EIO);
  verbs_allow_disassociate_destroy = true;
  EXPECT_EQ(ibv_cmd_destroy_qp(&qp), 0);
  verbs_allow_disassociate_destroy = false;
}

TEST_F(ObjectCommandTest, RegMrSendsAnAddress) {
  kernel.on_write(IB_USER_VERBS_CMD_REG_MR, [](const fake::Call& call) {
    auto request = call.at(UVERBS_ATTR_CORE_IN).value<ib_uverbs_reg_mr>();
    EXPECT_EQ(request.start, 0x1000u);
    EXPECT_EQ(request.length, 64u);
    EXPECT_EQ(request.hca_va, 0x2000u);
    EXPECT_EQ(request.pd_handle, 3u);
    EXPECT_EQ(request.access_flags, 1u);
    call.at(UVERBS_ATTR_CORE_OUT).answer(std::array<uint32_t, 3>{4, 5, 6});
    return 0;
  });
  struct ibv_reg_mr request {};
  ib_uverbs_reg_mr_resp response{};
  verbs_mr mr{};
  mr.ibv_mr.lkey64 = 1;
  ASSERT_EQ(ibv_cmd_reg_mr(&pd, reinterpret_cast<void*>(0x1000), 64, 0x2000, IBV_ACCESS_LOCAL_WRITE,
                           &mr, &request, sizeof(request), &response, sizeof(response)),
            0);
  EXPECT_EQ(mr.ibv_mr.handle, 4u);
  EXPECT_EQ(mr.ibv_mr.lkey, 5u);
  EXPECT_EQ(mr.ibv_mr.rkey, 6u);
  EXPECT_EQ(mr.ibv_mr.lkey64, 0u);
  EXPECT_EQ(mr.mr_type, IBV_MR_TYPE_MR);
}

class RegMrExTest : public ObjectCommandTest {
 protected:
  RegMrExTest() {
    kernel.on(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR, [](const fake::Call& call) {
      call.at(UVERBS_ATTR_REG_MR_HANDLE).answer_handle(8);
      call.at(UVERBS_ATTR_REG_MR_RESP_LKEY).answer(uint32_t{1});
      call.at(UVERBS_ATTR_REG_MR_RESP_RKEY).answer(uint32_t{2});
      call.at(UVERBS_ATTR_REG_MR_RESP_LKEY64).answer(uint64_t{3} << 40);
      call.at(UVERBS_ATTR_REG_MR_RESP_RKEY64).answer(uint64_t{4} << 40);
      return 0;
    });
    attr.addr = this;
    attr.length = 100;
    attr.access = IBV_ACCESS_LOCAL_WRITE;
    attr.comp_mask = IBV_REG_MR_MASK_ADDR;
  }

  int reg() { return ibv_cmd_reg_mr_ex(&pd, &mr, &attr); }

  ibv_mr_init_attr attr{};
  verbs_mr mr{};
};

TEST_F(RegMrExTest, AddressGivesAllFourKeys) {
  ASSERT_EQ(reg(), 0);
  EXPECT_EQ(mr.ibv_mr.handle, 8u);
  EXPECT_EQ(mr.ibv_mr.lkey64, uint64_t{3} << 40);
  EXPECT_EQ(mr.ibv_mr.rkey64, uint64_t{4} << 40);
  const fake::Call& call = kernel.last();
  EXPECT_EQ(call.at(UVERBS_ATTR_REG_MR_IOVA).address(), this);  // as the address, if not given
  EXPECT_FALSE(call.at(UVERBS_ATTR_REG_MR_RESP_LKEY64).mandatory());
  EXPECT_FALSE(call.has(UVERBS_ATTR_REG_MR_FLAGS));
}

TEST_F(RegMrExTest, NewMembersBecomeAttributes) {
  ibv_job_key key{&pd, 31, 0};
  ibv_mr parent{};
  parent.handle = 32;
  attr.comp_mask |= IBV_REG_MR_MASK_JKEY | IBV_REG_MR_MASK_RKEY | IBV_REG_MR_MASK_CUR_MR |
                    IBV_REG_MR_MASK_DERIVE_CNT;
  attr.job_key = &key;
  attr.rkey = 0x1234567890;
  attr.cur_mr = &parent;
  attr.derive_cnt = 2;
  ASSERT_EQ(reg(), 0);
  const fake::Call& call = kernel.last();
  EXPECT_EQ(call.at(UVERBS_ATTR_REG_MR_JKEY_HANDLE).data, 31u);
  EXPECT_EQ(call.at(UVERBS_ATTR_REG_MR_FLAGS).value<uint32_t>(), 1u);
  EXPECT_EQ(call.at(UVERBS_ATTR_REG_MR_REQ_RKEY64).value<uint64_t>(), 0x1234567890u);
  EXPECT_EQ(call.at(UVERBS_ATTR_REG_MR_PARENT_MR_HANDLE).data, 32u);
  EXPECT_EQ(call.at(UVERBS_ATTR_REG_MR_DERIVE_CNT).value<uint32_t>(), 2u);
}

TEST_F(RegMrExTest, MembersMustGoTogether) {
  attr.comp_mask = IBV_REG_MR_MASK_IOVA;
  EXPECT_EQ(reg(), EINVAL);
  attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD_OFFSET;
  EXPECT_EQ(reg(), EINVAL);
  attr.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET;
  EXPECT_EQ(reg(), EINVAL);
  attr.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA;
  EXPECT_EQ(reg(), 0);
  EXPECT_EQ(mr.mr_type, IBV_MR_TYPE_DMABUF_MR);
  attr.comp_mask |= IBV_REG_MR_MASK_ADDR;
  EXPECT_EQ(reg(), EINVAL);
}

TEST_F(RegMrExTest, WholeAddressSpaceOnDemandHasNoAddress) {
  attr.access |= IBV_ACCESS_ON_DEMAND;
  attr.length = SIZE_MAX;
  EXPECT_EQ(reg(), EINVAL);
  attr.addr = nullptr;
  ASSERT_EQ(reg(), 0);
  EXPECT_EQ(kernel.last().at(UVERBS_ATTR_REG_MR_LENGTH).value<uint64_t>(), UINT64_MAX);
}

TEST_F(RegMrExTest, AnOldKernelStillTakesAPlainAddress) {
  kernel.on(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR,
            [](const fake::Call&) { return EPROTONOSUPPORT; });
  kernel.on_write(IB_USER_VERBS_CMD_REG_MR, [](const fake::Call& call) {
    call.at(UVERBS_ATTR_CORE_OUT).answer(std::array<uint32_t, 3>{4, 5, 6});
    return 0;
  });
  ASSERT_EQ(reg(), 0);
  EXPECT_EQ(mr.ibv_mr.lkey, 5u);
  attr.comp_mask |= IBV_REG_MR_MASK_RKEY;
  EXPECT_EQ(reg(), EOPNOTSUPP);
}

TEST_F(ObjectCommandTest, CountersAreReadByItem) {
  kernel.on(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ, [](const fake::Call& call) {
    EXPECT_EQ(call.at(UVERBS_ATTR_READ_COUNTERS_ITEMS).value<uint64_t>(), (uint64_t{9} << 32) | 7);
    call.at(UVERBS_ATTR_READ_COUNTERS_RESULTS)
        .answer(std::array<ib_uverbs_counter_result, 2>{{{70, 1, 7, 0}, {90, 2, 9, 0}}});
    return 0;
  });
  verbs_counters counters{{&device.context()}, 4};
  const uint32_t items[] = {7, 9};
  ibv_counter_result results[2]{};
  ibv_read_counters_attr attr{0, 0, 2, sizeof(results[0]), items, results};
  ASSERT_EQ(ibv_cmd_read_counters_ex(&counters, &attr, nullptr), 0);
  EXPECT_EQ(results[1].value, 90u);
  EXPECT_EQ(results[1].timestamp_ns, 2u);
  kernel.on(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ,
            [](const fake::Call&) { return EPROTONOSUPPORT; });
  EXPECT_EQ(ibv_cmd_read_counters_ex(&counters, &attr, nullptr), EOPNOTSUPP);
}

TEST_F(ObjectCommandTest, PostSendReportsTheFailingRequest) {
  kernel.on_write(IB_USER_VERBS_CMD_POST_SEND, [](const fake::Call& call) {
    EXPECT_EQ(call.at(UVERBS_ATTR_CORE_IN).length,
              sizeof(ib_uverbs_post_send) + 2 * sizeof(ib_uverbs_send_wr) + sizeof(ib_uverbs_sge));
    call.at(UVERBS_ATTR_CORE_OUT).answer(uint32_t{2});
    return ENOMEM;
  });
  ibv_qp qp{};
  qp.context = &device.context();
  qp.qp_type = IBV_QPT_RC;
  ibv_sge sge{1, 2, 3};
  ibv_send_wr wr[2]{};
  wr[0].next = &wr[1];
  wr[1].sg_list = &sge;
  wr[1].num_sge = 1;
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_cmd_post_send(&qp, wr, &bad), ENOMEM);
  EXPECT_EQ(bad, &wr[1]);
}

TEST_F(ObjectCommandTest, FlowSpecsAreTranslated) {
  kernel.on_write(extended(IB_USER_VERBS_EX_CMD_CREATE_FLOW), [](const fake::Call& call) {
    const auto& core = call.at(UVERBS_ATTR_CORE_IN);
    EXPECT_EQ(core.length, 24 + 40 + 16);
    auto* bytes = static_cast<const uint8_t*>(core.address());
    auto* request = static_cast<const ib_uverbs_create_flow*>(core.address());
    EXPECT_EQ(request->flow_attr.size, 40 + 16);
    EXPECT_EQ(request->flow_attr.num_of_specs, 2);
    auto* eth = reinterpret_cast<const ib_uverbs_flow_spec_eth*>(bytes + 24);
    EXPECT_EQ(eth->type, uint32_t{IBV_FLOW_SPEC_ETH});
    EXPECT_EQ(eth->size, 40);
    EXPECT_EQ(eth->val.dst_mac[5], 6);
    EXPECT_EQ(eth->mask.dst_mac[5], 0xff);
    auto* udp = reinterpret_cast<const ib_uverbs_flow_spec_tcp_udp*>(bytes + 64);
    EXPECT_EQ(udp->type, uint32_t{IBV_FLOW_SPEC_UDP | IBV_FLOW_SPEC_INNER});
    EXPECT_EQ(udp->val.dst_port, 7);
    call.at(UVERBS_ATTR_CORE_OUT).answer(ib_uverbs_create_flow_resp{0, 12});
    return 0;
  });
  struct {
    ibv_flow_attr attr;
    ibv_flow_spec_eth eth;
    ibv_flow_spec_tcp_udp udp;
  } rule{};
  rule.attr.num_of_specs = 2;
  rule.eth.type = IBV_FLOW_SPEC_ETH;
  rule.eth.size = sizeof(rule.eth);
  rule.eth.val.dst_mac[5] = 6;
  rule.eth.mask.dst_mac[5] = 0xff;
  rule.udp.type = static_cast<ibv_flow_spec_type>(IBV_FLOW_SPEC_UDP | IBV_FLOW_SPEC_INNER);
  rule.udp.size = sizeof(rule.udp);
  rule.udp.val.dst_port = 7;
  ibv_qp qp{};
  qp.context = &device.context();
  ibv_flow flow{};
  ASSERT_EQ(ibv_cmd_create_flow(&qp, &flow, &rule.attr, nullptr, 0), 0);
  EXPECT_EQ(flow.handle, 12u);
  rule.udp.type = static_cast<ibv_flow_spec_type>(0x77);
  EXPECT_EQ(ibv_cmd_create_flow(&qp, &flow, &rule.attr, nullptr, 0), EINVAL);
}

TEST_F(ObjectCommandTest, FlowFiltersMayOnlyGrowByNothing) {
  kernel.on_write(extended(IB_USER_VERBS_EX_CMD_CREATE_FLOW), [](const fake::Call&) { return 0; });
  struct {
    ibv_flow_attr attr;
    ibv_flow_spec_type type;
    uint16_t size;
    uint8_t value[44], mask[44];
  } rule{};
  rule.attr.num_of_specs = 1;
  rule.type = IBV_FLOW_SPEC_IPV6;
  rule.size = 8 + 88;
  ibv_qp qp{};
  qp.context = &device.context();
  ibv_flow flow{};
  EXPECT_EQ(ibv_cmd_create_flow(&qp, &flow, &rule.attr, nullptr, 0), 0);
  rule.mask[43] = 1;
  EXPECT_EQ(ibv_cmd_create_flow(&qp, &flow, &rule.attr, nullptr, 0), EOPNOTSUPP);
  rule.size = 8 + 72;
  EXPECT_EQ(ibv_cmd_create_flow(&qp, &flow, &rule.attr, nullptr, 0), EINVAL);
}

}  // namespace
