// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The functions that verbs.h has inline. They are part of programs already built, so they must get
// along with older and newer libraries; stand-ins take the place of the library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstring>

namespace {

const char* called;  // the exported function that was reached
unsigned int called_access;

template <class T>
T* reached(const char* name) {
  called = name;
  return nullptr;
}

}  // namespace

extern "C" {
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
int ibv_query_device(ibv_context*, ibv_device_attr* attr) {
  called = "ibv_query_device";
  attr->max_qp = 5;
  return 0;
}
int ibv_query_port(ibv_context*, uint8_t, _compat_ibv_port_attr* attr) {
  called = "ibv_query_port";
  reinterpret_cast<ibv_port_attr*>(attr)->lid = 9;
  return 0;
}
ibv_qp* ibv_create_qp(ibv_pd*, ibv_qp_init_attr*) {
  return reached<ibv_qp>("ibv_create_qp");
}
ibv_srq* ibv_create_srq(ibv_pd*, ibv_srq_init_attr*) {
  return reached<ibv_srq>("ibv_create_srq");
}
ibv_mr* ibv_reg_mr(ibv_pd*, void*, size_t, int access) {
  called_access = access;
  return reached<ibv_mr>("ibv_reg_mr");
}
ibv_mr* ibv_reg_mr_iova(ibv_pd*, void*, size_t, uint64_t, int access) {
  called_access = access;
  return reached<ibv_mr>("ibv_reg_mr_iova");
}
ibv_mr* ibv_reg_mr_iova2(ibv_pd*, void*, size_t, uint64_t, unsigned int access) {
  called_access = access;
  return reached<ibv_mr>("ibv_reg_mr_iova2");
}
}
#define ibv_query_port(context, port_num, port_attr) ___ibv_query_port(context, port_num, port_attr)
#define ibv_reg_mr(pd, addr, length, access) \
  __ibv_reg_mr(pd, addr, length, access, __builtin_constant_p(access))
#define ibv_reg_mr_iova(pd, addr, length, iova, access) \
  __ibv_reg_mr_iova(pd, addr, length, iova, access, __builtin_constant_p(access))

namespace {

class Inline : public testing::Test {
 protected:
  Inline() {
    called = "nothing";
    vctx.sz = sizeof vctx;
    vctx.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    pd.context = qp.context = ctx;
    errno = 0;
  }

  // As a library knows it that was built when op was not yet there.
  void older_than(size_t offset_of_op) { vctx.sz = sizeof vctx - offset_of_op - sizeof(void*); }

  verbs_context vctx = {};
  ibv_context* ctx = &vctx.context;
  ibv_pd pd = {};
  ibv_qp qp = {};
};

TEST_F(Inline, ContextIsPartOfALargerOne) {
  EXPECT_EQ(verbs_get_ctx(ctx), &vctx);
  vctx.context.abi_compat = nullptr;
  EXPECT_EQ(verbs_get_ctx(ctx), nullptr);
}

TEST_F(Inline, OperationIsFoundOnlyIfTheLibraryKnowsAndHasIt) {
  EXPECT_EQ(verbs_get_ctx_op(ctx, attach_mr), nullptr);
  vctx.attach_mr = [](ibv_qp*, ibv_mr*) { return 0; };
  EXPECT_EQ(verbs_get_ctx_op(ctx, attach_mr), &vctx);
  older_than(offsetof(verbs_context, attach_mr));
  EXPECT_EQ(verbs_get_ctx_op(ctx, attach_mr), nullptr);
}

TEST_F(Inline, LibraryOf65StillOffersItsNewestOperation) {
  vctx.free_buf = [](ibv_buf*) {};
  vctx.sz = 696;  // size of the structure in rdma-core 65
  EXPECT_EQ(verbs_get_ctx_op(ctx, free_buf), &vctx);
  vctx.query_addr = [](ibv_job*, unsigned, ibv_ah_attr_ex*, unsigned) { return 0; };
  EXPECT_EQ(verbs_get_ctx_op(ctx, query_addr), nullptr);
}

TEST_F(Inline, MissingOperationThatReturnsAPointerSetsErrno) {
  EXPECT_EQ(ibv_alloc_null_mr(&pd), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(Inline, MissingOperationThatReturnsAnErrorReturnsIt) {
  ibv_qp_semantics semantics = {};
  EXPECT_EQ(ibv_query_qp_semantics(ctx, IBV_QPT_RU, 1, 0, &semantics, sizeof semantics),
            EOPNOTSUPP);
  EXPECT_EQ(ibv_attach_mr(&qp, nullptr), EOPNOTSUPP);
  EXPECT_EQ(ibv_detach_mr(&qp, nullptr), EOPNOTSUPP);
}

TEST_F(Inline, MissingReceiveOperationLeavesTheBadRequestAlone) {
  ibv_recv_wr64 wr = {};
  ibv_recv_wr64* bad = nullptr;
  EXPECT_EQ(ibv_post_recv64(&qp, &wr, &bad), EOPNOTSUPP);
  EXPECT_EQ(bad, nullptr);
}

TEST_F(Inline, MissingTagMatchingNamesTheFirstOperation) {
  ibv_srq srq = {};
  srq.context = ctx;
  ibv_ops_wr op = {};
  ibv_ops_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_srq_ops(&srq, &op, &bad), EOPNOTSUPP);
  EXPECT_EQ(bad, &op);
}

TEST_F(Inline, SemanticsPassesAllItIsGiven) {
  vctx.query_qp_semantics = [](ibv_context*, ibv_qp_type type, uint8_t port, uint8_t gid,
                               ibv_qp_semantics*, size_t len) {
    return type == IBV_QPT_RU && port == 1 && gid == 2 && len == 32 ? 0 : EINVAL;
  };
  ibv_qp_semantics semantics = {};
  EXPECT_EQ(ibv_query_qp_semantics(ctx, IBV_QPT_RU, 1, 2, &semantics, sizeof semantics), 0);
}

TEST_F(Inline, DeviceQueryFallsBackToTheBasicAttributes) {
  ibv_device_attr_ex attr;
  std::memset(&attr, 0xff, sizeof attr);
  EXPECT_EQ(ibv_query_device_ex(ctx, nullptr, &attr), 0);
  EXPECT_STREQ(called, "ibv_query_device");
  EXPECT_EQ(attr.orig_attr.max_qp, 5);
  EXPECT_EQ(attr.device_cap_flags_ex, 0u);
  EXPECT_EQ(attr.max_job_ids, 0u);
}

TEST_F(Inline, DeviceQueryFallsBackOnlyIfTheOperationIsNotSupported) {
  ibv_device_attr_ex attr = {};
  vctx.query_device_ex = [](ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex*,
                            size_t) { return EIO; };
  EXPECT_EQ(ibv_query_device_ex(ctx, nullptr, &attr), EIO);
  EXPECT_STREQ(called, "nothing");
  vctx.query_device_ex = [](ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex*,
                            size_t) { return ENOSYS; };
  EXPECT_EQ(ibv_query_device_ex(ctx, nullptr, &attr), 0);
  EXPECT_STREQ(called, "ibv_query_device");
}

TEST_F(Inline, DeviceQueryRefusesInputItDoesNotKnow) {
  const ibv_query_device_ex_input input = {.comp_mask = 1};
  ibv_device_attr_ex attr = {};
  EXPECT_EQ(ibv_query_device_ex(ctx, &input, &attr), EINVAL);
}

TEST_F(Inline, PortQueryOfAnOldLibraryLeavesTheRestZero) {
  ibv_port_attr attr;
  std::memset(&attr, 0xff, sizeof attr);
  EXPECT_EQ(ibv_query_port(ctx, 1, &attr), 0);
  EXPECT_STREQ(called, "ibv_query_port");
  EXPECT_EQ(attr.lid, 9);
  EXPECT_EQ(attr.active_speed_ex, 0u);
}

TEST_F(Inline, PortQuerySaysHowMuchTheProgramKnows) {
  vctx.query_port = [](ibv_context*, uint8_t, ibv_port_attr*, size_t len) {
    return len == 56 ? 0 : EINVAL;
  };
  ibv_port_attr attr = {};
  EXPECT_EQ(ibv_query_port(ctx, 1, &attr), 0);
}

TEST_F(Inline, ConstantAccessRightsOfOldReachTheOldFunction) {
  ibv_reg_mr(&pd, nullptr, 0, IBV_ACCESS_LOCAL_WRITE);
  EXPECT_STREQ(called, "ibv_reg_mr");
  ibv_reg_mr_iova(&pd, nullptr, 0, 0, IBV_ACCESS_LOCAL_WRITE);
  EXPECT_STREQ(called, "ibv_reg_mr_iova");
}

TEST_F(Inline, OptionalOrUnknownAccessRightsReachTheNewFunction) {
  ibv_reg_mr(&pd, nullptr, 0, IBV_ACCESS_RELAXED_ORDERING);
  EXPECT_STREQ(called, "ibv_reg_mr_iova2");
  EXPECT_EQ(called_access, 1u << 20);
  called = "nothing";
  volatile int access = IBV_ACCESS_LOCAL_WRITE;
  ibv_reg_mr(&pd, nullptr, 0, access);
  EXPECT_STREQ(called, "ibv_reg_mr_iova2");
  called = "nothing";
  ibv_reg_mr_iova(&pd, nullptr, 0, 0, access);
  EXPECT_STREQ(called, "ibv_reg_mr_iova2");
}

TEST_F(Inline, PlainQueuePairsNeedNoExtendedOperation) {
  ibv_qp_init_attr_ex attr = {};
  attr.comp_mask = IBV_QP_INIT_ATTR_PD;
  attr.pd = &pd;
  ibv_create_qp_ex(ctx, &attr);
  EXPECT_STREQ(called, "ibv_create_qp");

  called = "nothing";
  attr.comp_mask |= IBV_QP_INIT_ATTR_SRC_ID;
  EXPECT_EQ(ibv_create_qp_ex(ctx, &attr), nullptr);
  EXPECT_STREQ(called, "nothing");
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(Inline, BasicSharedReceiveQueuesNeedNoExtendedOperation) {
  ibv_srq_init_attr_ex attr = {};
  attr.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
  attr.srq_type = IBV_SRQT_BASIC;
  ibv_create_srq_ex(ctx, &attr);
  EXPECT_STREQ(called, "ibv_create_srq");

  called = "nothing";
  attr.srq_type = IBV_SRQT_XRC;
  EXPECT_EQ(ibv_create_srq_ex(ctx, &attr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;  // no protection domain
  EXPECT_EQ(ibv_create_srq_ex(ctx, &attr), nullptr);
  EXPECT_STREQ(called, "nothing");
}

TEST_F(Inline, WindowsAreBoundWithinTheirDomainOnly) {
  vctx.context.ops.bind_mw = [](ibv_qp*, ibv_mw*, ibv_mw_bind*) { return 0; };
  ibv_pd other_pd = {};
  ibv_mr mr = {};
  mr.pd = &pd;
  ibv_mw mw = {};
  mw.context = ctx;
  mw.pd = &pd;
  mw.type = IBV_MW_TYPE_1;
  ibv_mw_bind bind = {};
  bind.bind_info.mr = &mr;

  EXPECT_EQ(ibv_bind_mw(&qp, &mw, &bind), 0);
  mr.pd = &other_pd;
  EXPECT_EQ(ibv_bind_mw(&qp, &mw, &bind), EPERM);
  bind.bind_info.mr = nullptr;
  EXPECT_EQ(ibv_bind_mw(&qp, &mw, &bind), 0);
  bind.bind_info.length = 1;
  EXPECT_EQ(ibv_bind_mw(&qp, &mw, &bind), EINVAL);
  bind.bind_info.length = 0;
  mw.type = IBV_MW_TYPE_2;
  EXPECT_EQ(ibv_bind_mw(&qp, &mw, &bind), EINVAL);
}

TEST_F(Inline, WindowsNeedAnOperation) {
  EXPECT_EQ(ibv_alloc_mw(&pd, IBV_MW_TYPE_1), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(Inline, WorkQueuesAreCompletedByTheProgram) {
  static ibv_wq wq;
  wq.events_completed = 3;
  vctx.create_wq = [](ibv_context*, ibv_wq_init_attr*) { return &wq; };
  ibv_wq_init_attr attr = {};
  attr.wq_context = &attr;
  EXPECT_EQ(ibv_create_wq(ctx, &attr), &wq);
  EXPECT_EQ(wq.wq_context, &attr);
  EXPECT_EQ(wq.events_completed, 0u);
  EXPECT_EQ(pthread_mutex_trylock(&wq.mutex), 0);
  pthread_mutex_unlock(&wq.mutex);
}

TEST_F(Inline, KeyTagCountsWithinItsByte) {
  EXPECT_EQ(ibv_inc_rkey(0x12345600), 0x12345601u);
  EXPECT_EQ(ibv_inc_rkey(0x123456ff), 0x12345600u);
}

TEST_F(Inline, FlowLabelFoldsIntoAPort) {
  EXPECT_EQ(ibv_flow_label_to_udp_sport(0), 0xc000);
  EXPECT_EQ(ibv_flow_label_to_udp_sport(0x3fff), 0xffff);
  EXPECT_EQ(ibv_flow_label_to_udp_sport(0xfc000), 0xc03f);
  EXPECT_EQ(ibv_flow_label_to_udp_sport(0x04001), 0xc000);
}

TEST_F(Inline, InvalidatedKeyIsReadInPlaceOfImmediateData) {
  ibv_cq_ex cq = {};
  cq.read_imm_data = [](ibv_cq_ex*) { return __be32{0x8000'0001}; };
  EXPECT_EQ(ibv_wc_read_invalidated_rkey(&cq), 0x8000'0001u);
}

TEST_F(Inline, BuildersPassAllTheyAreGiven) {
  ibv_qp_ex ex = {};
  ex.wr_rdma_write64_imm64 = [](ibv_qp_ex* q, uint64_t rkey, uint64_t addr, __be64 imm) {
    q->wr_id = rkey + addr + imm;
  };
  ibv_wr_rdma_write64_imm64(&ex, uint64_t{1} << 63, uint64_t{1} << 40, uint64_t{1} << 35);
  EXPECT_EQ(ex.wr_id, (uint64_t{1} << 63) + (uint64_t{1} << 40) + (uint64_t{1} << 35));

  ex.wr_set_ru_addr = [](ibv_qp_ex* q, ibv_ah_ex* ah, unsigned index) {
    q->wr_id = ah ? 0 : index;
  };
  ibv_wr_set_ru_addr(&ex, nullptr, 0xffff'ffff);
  EXPECT_EQ(ex.wr_id, 0xffff'ffffu);
}

}  // namespace
