// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// CQs on event queues and channels of the program, in front of the software NIC.
#include "dv_bridge_on_model.hpp"

namespace on_model {
namespace {

TEST_F(BridgeQueues, OfTheProgramServeCqsAndAreGivenBack) {
  EqPtr eq = make_eq(lni, nullptr, 256);
  for (int round = 0; round < 3; round++) {
    expect_usable(eq, 61);  // leaves it in the middle of a slot, and of the ring
    CqPtr cq(made(try_cq_on(eq.get()), "cq"));
    QpPtr a = place.qp(nullptr, cq.get()), b = place.qp(nullptr, cq.get());
    for (int i = 0; i < 30; i++)
      exchange(place, a, b);
    // Events that nobody has read do not turn up as the program's.
    Ah ah = place.address(b);
    ASSERT_EQ(receive(place, b, Place::half, 400), 0);
    ASSERT_EQ(post(place, a, ah, IBV_WR_SEND, 0, 300), 0);
    wait(cq.get(), 1);
  }
  expect_usable(eq, 50);
}

TEST_F(BridgeQueues, AreTheCqsAloneMeanwhile) {
  EqPtr eq = make_eq(lni, nullptr, 256);
  CqPtr cq(made(try_cq_on(eq.get()), "cq"));
  EXPECT_EQ(cxidv_destroy_eq(eq.get()), EBUSY);
  EXPECT_EQ(cxidv_resize_eq(eq.get(), 512), EBUSY);
  EXPECT_EQ(error_of(try_target_queue(lni, eq.get())), EBUSY);
  cxidv_pte_attr attr = {};
  attr.eq = eq.get();
  EXPECT_EQ(error_of(cxidv_create_pte(lni.get(), &attr)), EBUSY);
  EXPECT_EQ(error_of(try_cq_on(eq.get())), EBUSY);
  cq.reset();
  EXPECT_EQ(cxidv_resize_eq(eq.get(), 512), 0);
}

TEST_F(BridgeQueues, MayHaveBeenResized) {
  EqPtr eq = make_eq(lni, nullptr, 64);
  expect_usable(eq, 21);
  ASSERT_EQ(cxidv_resize_eq(eq.get(), 256), 0);
  EXPECT_EQ(error_of(try_cq_on(eq.get())), EBUSY);  // the switch has not been read
  expect_usable(eq, 5);
  for (int round = 0; round < 2; round++) {
    {
      CqPtr cq(made(try_cq_on(eq.get()), "cq"));
      EXPECT_EQ(told(cxidv_query_cq, cq.get()).slots, 256u);
      QpPtr a = place.qp(nullptr, cq.get()), b = place.qp(nullptr, cq.get());
      for (int i = 0; i < 30; i++)
        exchange(place, a, b);
    }
    expect_usable(eq, 5);
  }
  ASSERT_EQ(cxidv_resize_eq(eq.get(), 512), 0);
  expect_usable(eq, 5);
}

TEST_F(BridgeQueues, MustBeFree) {
  EqPtr eq = make_eq(lni, nullptr, 256);
  make_source(eq);
  cause_event();
  next(eq);
  EXPECT_EQ(error_of(try_cq_on(eq.get())), EBUSY);  // in use
  cause_event();
  cause_event();
  EXPECT_TRUE(eventually([&] { return cxidv_eq_peek(eq.get()); }));
  drop_source();
  EXPECT_EQ(error_of(try_cq_on(eq.get())), EBUSY);  // not read to its end
  while (cxidv_eq_next(eq.get())) {
  }
  CqPtr cq(made(try_cq_on(eq.get()), "cq"));
  QpPtr a = place.qp(nullptr, cq.get()), b = place.qp(nullptr, cq.get());
  exchange(place, a, b);
}

TEST_F(BridgeQueues, MustSuit) {
  EqPtr small = make_eq(lni, nullptr, 128);
  EXPECT_EQ(error_of(try_cq_on(small.get(), nullptr, 30)), EINVAL);
  EXPECT_EQ(error_of(try_cq_on(small.get(), nullptr, 16, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)),
            EINVAL);
  LniPtr other = second_lni();
  cxidv_cq_attr on = {};
  on.lni = other.get();
  on.eq = small.get();
  EXPECT_EQ(error_of(try_cq(context.get(), &on)), EINVAL);
  Context stranger(made(open_on("cxi0", 0), "open"));
  on.lni = nullptr;
  EXPECT_EQ(error_of(try_cq(stranger.get(), &on)), EINVAL);
  on.eq = nullptr;
  on.lni = lni.get();
  EXPECT_EQ(error_of(try_cq(stranger.get(), &on)), EINVAL);
  on.comp_mask = 1;
  EXPECT_EQ(error_of(try_cq(context.get(), &on)), EINVAL);
  EXPECT_EQ(error_of(try_cq(nullptr, nullptr)), EINVAL);
  EXPECT_EQ(error_of(cxidv_create_cq(context.get(), nullptr, nullptr)), EINVAL);
  EXPECT_EQ(error_of(try_cq(context.get(), nullptr, nullptr, 0)), EINVAL);
  EXPECT_EQ(error_of(try_cq(context.get(), nullptr, nullptr, 16, 1ull << 40)), EOPNOTSUPP);
  CqPtr cq(made(try_cq_on(small.get()), "cq"));
}

TEST_F(BridgeQueues, HaveNoRoomForEveryQueuePair) {
  EqPtr eq = make_eq(lni, nullptr, 128);
  CqPtr cq(made(try_cq_on(eq.get()), "cq"));
  int made_qps = 0;
  std::vector<QpPtr> qps;
  while (ibv_qp* qp = try_qp(place.pd.get(), cq.get(), cq.get(), place.key.get())) {
    qps.emplace_back(qp);
    ASSERT_LT(++made_qps, 10);
  }
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(told(cxidv_query_cq, cq.get()).slots, 128u);
}

TEST_F(BridgeQueues, BringTimeStamps) {
  cxidv_eq_attr attr = {};
  attr.slots = 256;
  attr.flags = CXIDV_EQ_INIT_LONG | CXIDV_EQ_TGT_LONG | CXIDV_EQ_EC_DISABLE;
  EqPtr eq(made(cxidv_create_eq(lni.get(), &attr), "eq"));
  CqPtr cq(made(try_cq_on(eq.get(), nullptr, 16, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP), "cq"));
  EXPECT_EQ(told(cxidv_query_cq, cq.get()).flags, attr.flags);
  QpPtr a = place.qp(nullptr, cq.get()), b = place.qp(nullptr, cq.get());
  for (int i = 0; i < 30; i++)
    exchange(place, a, b);
}

class BridgeChannels : public BridgeQueues {
 protected:
  Channel channel = Channel(made(ibv_create_comp_channel(context.get()), "channel"));
  EqPtr eq = make_eq(lni, channel.get(), 256);

  void expect_eq_notification() {
    cxidv_eq_arm(eq.get());
    cause_event();
    cxidv_eq* from = nullptr;
    ASSERT_EQ(cxidv_get_eq_event(channel.get(), &from), 0);
    EXPECT_EQ(from, eq.get());
    cxidv_ack_eq_events(from, 1);
    next(eq);
    cxidv_eq_ack(eq.get());
  }
};

TEST_F(BridgeChannels, NotifyWhoeverHasTheQueue) {
  for (int round = 0; round < 3; round++) {
    state = C_PTLTE_DISABLED;
    make_source(eq);
    for (int i = 0; i < 5; i++)
      expect_eq_notification();
    // Armed and told of, but not taken: the CQ must be told all the same.
    cxidv_eq_arm(eq.get());
    cause_event();
    next(eq);
    drop_source();
    {
      CqPtr cq(made(try_cq_on(eq.get(), channel.get()), "cq"));
      QpPtr a = place.qp(nullptr, cq.get()), b = place.qp(nullptr, cq.get());
      Ah ah = place.address(b);
      for (int i = 0; i < 20; i++) {
        ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
        ASSERT_EQ(receive(place, b, Place::half, 400), 0);
        ASSERT_EQ(post(place, a, ah, IBV_WR_SEND, 0, 300), 0);
        ibv_cq* from = nullptr;
        void* ignored = nullptr;
        ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &ignored), 0);
        EXPECT_EQ(from, cq.get());
        ibv_ack_cq_events(from, 1);
        expect_done(cq.get(), {IBV_WC_SEND, IBV_WC_RECV});
      }
      cxidv_eq* none = nullptr;
      EXPECT_EQ(cxidv_get_eq_event(channel.get(), &none), EINVAL);
      // The same the other way round.
      ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
      ASSERT_EQ(receive(place, b, Place::half, 400), 0);
      ASSERT_EQ(post(place, a, ah, IBV_WR_SEND, 0, 300), 0);
      expect_done(cq.get(), {IBV_WC_SEND, IBV_WC_RECV});
    }
  }
  state = C_PTLTE_DISABLED;
  make_source(eq);
  expect_eq_notification();
  drop_source();
}

TEST_F(BridgeChannels, MustBeTheQueuesAlone) {
  Channel another(made(ibv_create_comp_channel(context.get()), "channel"));
  EXPECT_EQ(error_of(try_cq_on(eq.get())), EINVAL);
  EXPECT_EQ(error_of(try_cq_on(eq.get(), another.get())), EINVAL);
  EqPtr silent = make_eq(lni, nullptr, 256);
  EXPECT_EQ(error_of(try_cq_on(silent.get(), channel.get())), EINVAL);
  {
    EqPtr second = make_eq(lni, channel.get(), 256);
    EXPECT_EQ(error_of(try_cq_on(eq.get(), channel.get())), EINVAL);
  }
  CqPtr cq(made(try_cq_on(eq.get(), channel.get()), "cq"));
  EXPECT_EQ(error_of(try_eq(lni, channel.get())), EINVAL);
  EXPECT_EQ(error_of(ibv_create_cq(context.get(), 4, nullptr, channel.get(), 0)), EINVAL);
  EXPECT_EQ(ibv_destroy_comp_channel(channel.get()), EBUSY);
  cq.reset();
  EXPECT_NE(EqPtr(try_eq(lni, channel.get())), nullptr);
}

}  // namespace
}  // namespace on_model
