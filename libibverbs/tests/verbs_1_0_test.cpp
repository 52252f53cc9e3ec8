// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Programs from the time of verbs 1.0: the data path, and objects.
#include "../verbs_1_0.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "fake_kernel.hpp"

using namespace verbs;

// What old programs call by the versioned names.
extern "C" {
v1_0::Cq* ibv_create_cq_1_0(v1_0::Context* context, int cqe, void* cq_context,
                            ibv_comp_channel* channel, int comp_vector);
int ibv_destroy_cq_1_0(v1_0::Cq* cq);
int ibv_get_cq_event_1_0(ibv_comp_channel* channel, v1_0::Cq** cq, void** cq_context);
void ibv_ack_cq_events_1_0(v1_0::Cq* cq, unsigned int count);
v1_0::Pd* ibv_alloc_pd_1_0(v1_0::Context* context);
int ibv_dealloc_pd_1_0(v1_0::Pd* pd);
v1_0::Qp* ibv_create_qp_1_0(v1_0::Pd* pd, v1_0::QpInitAttr* attr);
int ibv_modify_qp_1_0(v1_0::Qp* qp, ibv_qp_attr* attr, int mask);
int ibv_query_qp_1_0(v1_0::Qp* qp, ibv_qp_attr* attr, int mask, v1_0::QpInitAttr* init_attr);
int ibv_destroy_qp_1_0(v1_0::Qp* qp);
}

namespace {

std::vector<ibv_send_wr> posted;
int accepted;  // how many requests are taken before one fails

class Verbs10Test : public testing::Test {
 protected:
  Verbs10Test() {
    posted.clear();
    accepted = 100;
    verbs_context_ops ops{};
    ops.post_send = [](ibv_qp*, ibv_send_wr* wr, ibv_send_wr** failing) {
      for (; wr; wr = wr->next) {
        if (!accepted--) {
          *failing = wr;
          return ENOMEM;
        }
        posted.push_back(*wr);
      }
      return 0;
    };
    device.set(ops);
    real.context = &device.context();
    qp.real = &real;
    list[0].next = &list[1];
    list[0].wr_id = 1;
    list[1].wr_id = 2;
  }

  fake::Device device;
  ibv_qp real{};
  v1_0::Qp qp{};
  v1_0::SendWr list[2]{};
  v1_0::SendWr* bad = nullptr;
};

TEST_F(Verbs10Test, AListIsPostedInOrder) {
  list[1].opcode = IBV_WR_RDMA_WRITE;
  list[1].wr.rdma.remote_addr = 33;
  list[1].wr.rdma.rkey = 44;
  EXPECT_EQ(v1_0::post_send(&qp, list, &bad), 0);
  ASSERT_EQ(posted.size(), 2u);
  EXPECT_EQ(posted[0].wr_id, 1u);
  EXPECT_EQ(posted[1].wr.rdma.remote_addr, 33u);
  EXPECT_EQ(posted[1].wr.rdma.rkey, 44u);
  EXPECT_EQ(bad, nullptr);
}

TEST_F(Verbs10Test, TheFailingRequestIsTheCallersOwn) {
  accepted = 1;
  EXPECT_EQ(v1_0::post_send(&qp, list, &bad), ENOMEM);
  EXPECT_EQ(bad, &list[1]);
}

TEST_F(Verbs10Test, DatagramsNameTheAddressHandleOfToday) {
  ibv_ah ah{};
  v1_0::Ah old_ah{};
  old_ah.real = &ah;
  qp.qp_type = IBV_QPT_UD;
  list[0].next = nullptr;
  list[0].wr.ud = {&old_ah, 5, 6};
  EXPECT_EQ(v1_0::post_send(&qp, list, &bad), 0);
  ASSERT_EQ(posted.size(), 1u);
  EXPECT_EQ(posted[0].wr.ud.ah, &ah);
  EXPECT_EQ(posted[0].wr.ud.remote_qpn, 5u);
}

// Objects of that time around those of today.
class Objects10Test : public testing::Test {
 protected:
  Objects10Test() {
    verbs_context_ops ops{};
    ops.alloc_pd = [](ibv_context*) { return static_cast<ibv_pd*>(calloc(1, sizeof(ibv_pd))); };
    ops.dealloc_pd = [](ibv_pd* pd) {
      free(pd);
      return 0;
    };
    ops.create_cq = [](ibv_context*, int cqe, ibv_comp_channel*, int) {
      auto* cq = static_cast<ibv_cq*>(calloc(1, sizeof(ibv_cq)));
      cq->cqe = 2 * cqe;
      return cq;
    };
    ops.destroy_cq = [](ibv_cq* cq) {
      free(cq);
      return 0;
    };
    ops.create_qp = [](ibv_pd* pd, ibv_qp_init_attr* attr) {
      auto* qp = static_cast<ibv_qp*>(calloc(1, sizeof(ibv_qp)));
      qp->context = pd->context;
      qp->qp_context = attr->qp_context;
      qp->qp_num = 7;
      attr->cap.max_send_wr = 64;
      return qp;
    };
    ops.modify_qp = [](ibv_qp*, ibv_qp_attr*, int) { return 0; };
    ops.query_qp = [](ibv_qp*, ibv_qp_attr* attr, int, ibv_qp_init_attr* init) {
      attr->qp_state = IBV_QPS_RTS;
      attr->rate_limit = 0xffffffff;
      init->cap.max_send_wr = 65;
      return 0;
    };
    ops.destroy_qp = [](ibv_qp* qp) {
      free(qp);
      return 0;
    };
    device.set(ops);
    context.real = &device.context();
  }

  fake::Device device;
  v1_0::Context context{};
};

TEST_F(Objects10Test, ACompletionEventLeadsToTheWrapper) {
  int pipe[2];
  ASSERT_EQ(pipe2(pipe, O_CLOEXEC), 0);
  ibv_comp_channel channel{&device.context(), pipe[0], 0};
  v1_0::Cq* cq = ibv_create_cq_1_0(&context, 10, this, &channel, 0);
  ASSERT_NE(cq, nullptr);
  EXPECT_EQ(cq->cqe, 20);
  EXPECT_EQ(cq->cq_context, this);
  const uint64_t event = reinterpret_cast<uintptr_t>(cq->real);
  ASSERT_EQ(write(pipe[1], &event, sizeof(event)), 8);
  v1_0::Cq* found;
  void* user;
  ASSERT_EQ(ibv_get_cq_event_1_0(&channel, &found, &user), 0);
  EXPECT_EQ(found, cq);
  EXPECT_EQ(user, this);
  ibv_ack_cq_events_1_0(cq, 1);
  EXPECT_EQ(cq->real->comp_events_completed, 1u);
  EXPECT_EQ(ibv_destroy_cq_1_0(cq), 0);
  EXPECT_EQ(channel.refcnt, 0);
  close(pipe[0]);
  close(pipe[1]);
}

TEST_F(Objects10Test, AQueryGivesWrappersAndNothingBehindTheOldEnd) {
  v1_0::Pd* pd = ibv_alloc_pd_1_0(&context);
  v1_0::Cq* cq = ibv_create_cq_1_0(&context, 1, nullptr, nullptr, 0);
  v1_0::QpInitAttr attr{};
  attr.qp_context = this;
  attr.send_cq = attr.recv_cq = cq;
  v1_0::Qp* qp = ibv_create_qp_1_0(pd, &attr);
  ASSERT_NE(qp, nullptr);
  EXPECT_EQ(attr.cap.max_send_wr, 64u);
  EXPECT_EQ(qp->qp_num, 7u);
  EXPECT_EQ(qp->real->qp_context, qp);
  ibv_qp_attr found{};
  v1_0::QpInitAttr init{};
  ASSERT_EQ(ibv_query_qp_1_0(qp, &found, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(found.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(found.rate_limit, 0u);
  EXPECT_EQ(init.send_cq, cq);
  EXPECT_EQ(init.qp_context, this);
  EXPECT_EQ(init.srq, nullptr);
  EXPECT_EQ(init.cap.max_send_wr, 65u);
  EXPECT_EQ(qp->state, IBV_QPS_RTS);
  found.qp_state = IBV_QPS_ERR;
  EXPECT_EQ(ibv_modify_qp_1_0(qp, &found, IBV_QP_STATE), 0);
  EXPECT_EQ(qp->state, IBV_QPS_ERR);
  EXPECT_EQ(ibv_destroy_qp_1_0(qp), 0);
  EXPECT_EQ(ibv_destroy_cq_1_0(cq), 0);
  EXPECT_EQ(ibv_dealloc_pd_1_0(pd), 0);
}

}  // namespace
