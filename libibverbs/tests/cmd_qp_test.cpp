// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Queue pairs: what is sent for each kind, and what is refused.
#include <gtest/gtest.h>

#include "../cmd/cmd.hpp"
#include "fake_kernel.hpp"

using namespace verbs;

namespace {

class QpCommandTest : public testing::Test {
 protected:
  QpCommandTest() {
    kernel.on(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, [this](const fake::Call& call) {
      sent_cap = call.at(UVERBS_ATTR_CREATE_QP_CAP).value<ib_uverbs_qp_cap>();
      if (const auto* attribute = call.find(UVERBS_ATTR_CREATE_QP_ATTR))
        sent_attr = attribute->value<ib_uverbs_ex_modify_qp>();
      call.at(UVERBS_ATTR_CREATE_QP_HANDLE).answer_handle(6);
      call.at(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM).answer(uint32_t{0x00f00a});
      call.at(UVERBS_ATTR_CREATE_QP_RESP_CAP).answer(ib_uverbs_qp_cap{64, 32, 4, 4, 192});
      return 0;
    });
    pd.context = &device.context();
    pd.handle = 3;
    send_cq.handle = 4;
    recv_cq.handle = 5;
    attr.send_cq = &send_cq;
    attr.recv_cq = &recv_cq;
    attr.qp_type = IBV_QPT_RU;
    attr.cap = {33, 17, 1, 1, 0};
    attr.comp_mask = IBV_QP_INIT_ATTR_PD;
    attr.pd = &pd;
  }

  int create(ibv_command_buffer* link = nullptr) {
    return ibv_cmd_create_qp_ex2(&device.context(), &qp, &attr, nullptr, 0, nullptr, 0, link);
  }

  fake::Kernel kernel;
  fake::Device device;
  ibv_pd pd{};
  ibv_cq send_cq{}, recv_cq{};
  ibv_qp_init_attr_ex attr{};
  verbs_qp qp{};
  ib_uverbs_qp_cap sent_cap{};
  std::optional<ib_uverbs_ex_modify_qp> sent_attr;
};

TEST_F(QpCommandTest, AReliableUnconnectedQpHangsOnItsPdAndQueues) {
  attr.qp_context = this;
  attr.sq_sig_all = 1;
  ASSERT_EQ(create(), 0);
  const fake::Call& call = kernel.last();
  EXPECT_EQ(call.at(UVERBS_ATTR_CREATE_QP_PD_HANDLE).data, 3u);
  EXPECT_EQ(call.at(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE).data, 4u);
  EXPECT_EQ(call.at(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE).data, 5u);
  EXPECT_EQ(call.at(UVERBS_ATTR_CREATE_QP_TYPE).value<uint64_t>(), 11u);
  EXPECT_EQ(call.at(UVERBS_ATTR_CREATE_QP_FLAGS).value<uint32_t>(), 1u << 12);
  EXPECT_EQ(call.at(UVERBS_ATTR_CREATE_QP_USER_HANDLE).address(), &qp.qp);
  EXPECT_FALSE(call.has(UVERBS_ATTR_CREATE_QP_SOURCE_QPN));
  EXPECT_EQ(sent_cap.max_send_wr, 33u);
  EXPECT_EQ(attr.cap.max_send_wr, 64u);
  EXPECT_EQ(attr.cap.max_inline_data, 192u);
  EXPECT_EQ(qp.qp.qp_num, 0x00f00au);
  EXPECT_EQ(qp.qp.handle, 6u);
  EXPECT_EQ(qp.qp.state, IBV_QPS_RESET);
  EXPECT_EQ(qp.qp.qp_context, this);
  EXPECT_EQ(qp.qp.pd, &pd);
  EXPECT_EQ(qp.comp_mask, 0u);
}

TEST_F(QpCommandTest, AnExplicitNumberIsSentEvenIfZero) {
  attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
  attr.create_flags = IBV_QP_CREATE_SOURCE_QPN;
  attr.source_qpn = 0;
  ASSERT_EQ(create(), 0);
  EXPECT_EQ(kernel.last().at(UVERBS_ATTR_CREATE_QP_SOURCE_QPN).length, 4);
  EXPECT_FALSE(kernel.last().has(UVERBS_ATTR_CREATE_QP_FLAGS));
}

TEST_F(QpCommandTest, FlagsCountOnlyWhenNamed) {
  attr.create_flags = IBV_QP_CREATE_SOURCE_QPN | 1;
  attr.source_qpn = 9;
  ASSERT_EQ(create(), 0);
  EXPECT_FALSE(kernel.last().has(UVERBS_ATTR_CREATE_QP_SOURCE_QPN));
  attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
  EXPECT_EQ(create(), EINVAL);
}

TEST_F(QpCommandTest, AttributesOfTheQpTravelAlong) {
  ibv_qp_attr qp_attr{};
  qp_attr.port_num = 1;
  qp_attr.path_mtu = IBV_MTU_2048;
  qp_attr.rate_limit = 44;
  attr.comp_mask |= IBV_QP_INIT_ATTR_QP_ATTR;
  attr.qp_attr_mask = IBV_QP_PORT | IBV_QP_RATE_LIMIT;
  EXPECT_EQ(create(), EINVAL);  // named, but not there
  attr.qp_attr = &qp_attr;
  ASSERT_EQ(create(), 0);
  ASSERT_TRUE(sent_attr);
  EXPECT_EQ(sent_attr->base.qp_handle, 0u);
  EXPECT_EQ(sent_attr->base.attr_mask, uint32_t{IBV_QP_PORT | IBV_QP_RATE_LIMIT});
  EXPECT_EQ(sent_attr->base.port_num, 1);
  EXPECT_EQ(sent_attr->base.path_mtu, 0);  // not in the mask
  EXPECT_EQ(sent_attr->rate_limit, 44u);
  EXPECT_EQ(kernel.last().at(UVERBS_ATTR_CREATE_QP_ATTR).length, 120);
}

TEST_F(QpCommandTest, TheProviderAddsWhatTheLibraryDoesNotSend) {
  attr.comp_mask |= IBV_QP_INIT_ATTR_SRC_ID | IBV_QP_INIT_ATTR_JKEY | IBV_QP_INIT_ATTR_QP_SEMANTICS;
  DECLARE_COMMAND_BUFFER(link, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, 2);
  fill_attr_in_uint32(link, UVERBS_ATTR_CREATE_QP_SRC_ID, 0x123);
  fill_attr_in_obj(link, UVERBS_ATTR_CREATE_QP_JOB_KEY, 2);
  ASSERT_EQ(create(link), 0);
  EXPECT_EQ(kernel.last().at(UVERBS_ATTR_CREATE_QP_SRC_ID).value<uint32_t>(), 0x123u);
  EXPECT_EQ(kernel.last().at(UVERBS_ATTR_CREATE_QP_JOB_KEY).data, 2u);
}

TEST_F(QpCommandTest, TheLegacyFormTakesOnlyTheFirstAttributes) {
  attr.comp_mask |= IBV_QP_INIT_ATTR_SRC_ID;
  EXPECT_EQ(ibv_cmd_create_qp_ex(&device.context(), &qp, &attr, nullptr, 0, nullptr, 0), EINVAL);
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  EXPECT_EQ(ibv_cmd_create_qp_ex(&device.context(), &qp, &attr, nullptr, 0, nullptr, 0), 0);
}

TEST_F(QpCommandTest, ParentsMustFitTheType) {
  attr.comp_mask = 0;
  EXPECT_EQ(create(), EINVAL);
  attr.comp_mask = 1 << 20;
  EXPECT_EQ(create(), EINVAL);
  attr.comp_mask = IBV_QP_INIT_ATTR_PD;
  attr.qp_type = static_cast<ibv_qp_type>(7);
  EXPECT_EQ(create(), EINVAL);
  attr.qp_type = IBV_QPT_XRC_RECV;
  EXPECT_EQ(create(), EINVAL);
  attr.qp_type = IBV_QPT_RAW_PACKET;
  attr.comp_mask |= IBV_QP_INIT_ATTR_IND_TABLE;
  EXPECT_EQ(create(), EINVAL);  // a table in place of receives, and receives
  EXPECT_TRUE(kernel.calls().empty());
}

TEST_F(QpCommandTest, AnXrcReceiverHasADomainAndNoQueues) {
  verbs_xrcd xrcd{{&device.context()}, VERBS_XRCD_HANDLE, 12};
  attr.qp_type = IBV_QPT_XRC_RECV;
  attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
  attr.xrcd = &xrcd.xrcd;
  ASSERT_EQ(create(), 0);
  EXPECT_EQ(kernel.last().at(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE).data, 12u);
  EXPECT_FALSE(kernel.last().has(UVERBS_ATTR_CREATE_QP_PD_HANDLE));
  EXPECT_FALSE(kernel.last().has(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE));
  EXPECT_EQ(qp.comp_mask, uint32_t{VERBS_QP_XRCD});
  EXPECT_EQ(qp.xrcd, &xrcd);
}

TEST_F(QpCommandTest, AnXrcSenderReceivesNothing) {
  attr.qp_type = IBV_QPT_XRC_SEND;
  ASSERT_EQ(create(), 0);
  EXPECT_EQ(sent_cap.max_recv_wr, 0u);
  EXPECT_FALSE(kernel.last().has(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE));
}

TEST_F(QpCommandTest, AFailedCreationLeavesTheRequestAlone) {
  kernel.on(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, [](const fake::Call&) { return ENOSPC; });
  EXPECT_EQ(create(), ENOSPC);
  EXPECT_EQ(attr.cap.max_send_wr, 33u);
}

TEST_F(QpCommandTest, ModifySendsOnlyWhatTheMaskNames) {
  kernel.on_write(IB_USER_VERBS_CMD_MODIFY_QP, [](const fake::Call& call) {
    auto request = call.at(UVERBS_ATTR_CORE_IN).value<ib_uverbs_modify_qp>();
    EXPECT_EQ(request.qp_handle, 6u);
    EXPECT_EQ(request.qp_state, uint8_t{IBV_QPS_ERR});
    EXPECT_EQ(request.port_num, 0);
    EXPECT_EQ(request.dest.sl, 3);
    EXPECT_EQ(request.dest.dgid[15], 9);
    return 0;
  });
  qp.qp.context = &device.context();
  qp.qp.handle = 6;
  ibv_qp_attr change{};
  change.qp_state = IBV_QPS_ERR;
  change.port_num = 1;
  change.ah_attr.sl = 3;
  change.ah_attr.grh.dgid.raw[15] = 9;
  struct ibv_modify_qp request {};
  EXPECT_EQ(ibv_cmd_modify_qp(&qp.qp, &change, IBV_QP_STATE | IBV_QP_AV, &request, sizeof(request)),
            0);
  EXPECT_EQ(ibv_cmd_modify_qp(&qp.qp, &change, IBV_QP_RATE_LIMIT, &request, sizeof(request)),
            EOPNOTSUPP);
  EXPECT_EQ(kernel.calls().size(), 1u);
}

TEST_F(QpCommandTest, QueryFillsBothStructures) {
  kernel.on_write(IB_USER_VERBS_CMD_QUERY_QP, [](const fake::Call& call) {
    ib_uverbs_query_qp_resp response{};
    response.qp_state = IBV_QPS_RTS;
    response.max_send_wr = 10;
    response.sq_sig_all = 1;
    response.dest.is_global = 1;
    call.at(UVERBS_ATTR_CORE_OUT).answer(response);
    return 0;
  });
  qp.qp.context = &device.context();
  qp.qp.send_cq = &send_cq;
  ibv_qp_attr found{};
  ibv_qp_init_attr init{};
  struct ibv_query_qp request {};
  ASSERT_EQ(ibv_cmd_query_qp(&qp.qp, &found, IBV_QP_STATE, &init, &request, sizeof(request)), 0);
  EXPECT_EQ(found.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(found.cap.max_send_wr, 10u);
  EXPECT_EQ(found.ah_attr.is_global, 1);
  EXPECT_EQ(init.cap.max_send_wr, 10u);
  EXPECT_EQ(init.sq_sig_all, 1);
  EXPECT_EQ(init.send_cq, &send_cq);
}

TEST_F(QpCommandTest, AttachNamesBothObjects) {
  kernel.on(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_MR, [](const fake::Call&) { return 0; });
  kernel.on(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DETACH_MR, [](const fake::Call&) { return EINVAL; });
  qp.qp.context = &device.context();
  qp.qp.handle = 6;
  ibv_mr mr{};
  mr.handle = 7;
  EXPECT_EQ(ibv_cmd_qp_attach_mr(&qp.qp, &mr), 0);
  EXPECT_EQ(kernel.last().at(UVERBS_ATTR_QP_ATTACH_MR_QP_HANDLE).data, 6u);
  EXPECT_EQ(kernel.last().at(UVERBS_ATTR_QP_ATTACH_MR_MR_HANDLE).data, 7u);
  EXPECT_EQ(ibv_cmd_qp_detach_mr(&qp.qp, &mr), EINVAL);
}

}  // namespace
