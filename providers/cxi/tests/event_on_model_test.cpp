// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion channels: who sleeps is woken.
#include <unistd.h>

#include <thread>

#include "on_model.hpp"

namespace on_model {
namespace {

class Events : public OnModel {};

TEST_F(Events, EveryArmingBringsOneRecord) {
  QpPtr a = create_qp();
  Ah to_a = address_of(a);
  for (unsigned i = 0; i < 40; i++) {
    ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
    ASSERT_EQ(receive(a, 1, 4096, 64), 0);
    ASSERT_EQ(send(a, to_a, 2, 0, 64), 0);
    ibv_cq* from = nullptr;
    void* user = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &user), 0);
    EXPECT_EQ(from, cq.get());
    ibv_ack_cq_events(from, 1);
    wait(2);
  }
}

TEST_F(Events, ASleepingSenderIsWokenForItsRepeat) {
  CqPtr sends = create_cq(64, channel.get());
  CqPtr receives = create_cq();
  QpPtr a = create_qp({}, sends.get(), receives.get());
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  ASSERT_EQ(ibv_req_notify_cq(sends.get(), 0), 0);
  ASSERT_EQ(send(a, to_b, 1, 0, 64), 0);
  std::thread late([&] {
    usleep(20'000);
    ASSERT_EQ(receive(b, 2, 4096, 64), 0);
  });
  ibv_wc wc;
  while (ibv_poll_cq(sends.get(), 1, &wc) == 0) {
    ibv_cq* from = nullptr;
    void* user = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &user), 0);
    ibv_ack_cq_events(from, 1);
    ASSERT_EQ(ibv_req_notify_cq(from, 0), 0);
  }
  late.join();
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  wait(1);
}

TEST_F(Events, AReceiverThatSleepsStillRepeatsItsSends) {
  CqPtr sends = create_cq();
  CqPtr receives = create_cq(64, channel.get());
  QpPtr a = create_qp({}, sends.get(), receives.get());
  QpPtr b = create_qp({}, sends.get(), cq.get());
  Ah to_a = address_of(a);
  Ah to_b = address_of(b);
  ASSERT_EQ(receive(a, 1, 4096, 64), 0);
  ASSERT_EQ(send(a, to_b, 2, 0, 64, 0), 0);  // b has no receive yet
  std::thread peer([&] {
    usleep(20'000);
    ASSERT_EQ(receive(b, 3, 8192, 64), 0);
    wait(1);  // the repeat has arrived
    ASSERT_EQ(send(b, to_a, 4, 0, 64, 0), 0);
  });
  ibv_wc wc;
  do {
    ASSERT_EQ(ibv_req_notify_cq(receives.get(), 0), 0);
    if (ibv_poll_cq(receives.get(), 1, &wc) > 0) break;
    ibv_cq* from = nullptr;
    void* user = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &user), 0);
    ibv_ack_cq_events(from, 1);
  } while (ibv_poll_cq(receives.get(), 1, &wc) == 0);
  peer.join();
  EXPECT_EQ(wc.wr_id, 1u);
}

TEST_F(Events, AnErrorWakesWhoSleeps) {
  QpPtr a = create_qp();
  ASSERT_EQ(receive(a, 1, 4096, 64), 0);
  ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
  ASSERT_EQ(set_state(a, IBV_QPS_ERR), 0);
  ibv_cq* from = nullptr;
  void* user = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &user), 0);
  ibv_ack_cq_events(from, 1);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(Events, DestroyingAQueueDropsItsRecords) {
  CqPtr other = create_cq(16, channel.get());
  QpPtr a = create_qp({}, other.get(), other.get());
  Ah to_a = address_of(a);
  ASSERT_EQ(ibv_req_notify_cq(other.get(), 0), 0);
  ASSERT_EQ(receive(a, 1, 4096, 64), 0);
  ASSERT_EQ(send(a, to_a, 2, 0, 64), 0);
  wait(other.get(), 2);
  a.reset();
  other.reset();  // its record was not taken
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
  ASSERT_EQ(receive(b, 1, 4096, 64), 0);
  ASSERT_EQ(send(b, to_b, 2, 0, 64), 0);
  ibv_cq* from = nullptr;
  void* user = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &user), 0);
  EXPECT_EQ(from, cq.get());
  ibv_ack_cq_events(from, 1);
  wait(2);
}

}  // namespace
}  // namespace on_model
