// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The data path of programs from the time of verbs 1.0.
#include "../verbs_1_0.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "fake_kernel.hpp"

using namespace verbs;

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

}  // namespace
