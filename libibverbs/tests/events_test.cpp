// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion channels, completion events and asynchronous events.
#include "../events.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "../cmd/cmd.hpp"
#include "fake_kernel.hpp"

using namespace verbs;

namespace {

class EventsTest : public testing::Test {
 protected:
  EventsTest() {
    EXPECT_EQ(pipe2(pipe, O_CLOEXEC | O_NONBLOCK), 0);
    kernel.on_write(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, [this](const fake::Call& call) {
      call.at(UVERBS_ATTR_CORE_OUT).answer(uint32_t(pipe[0]));
      return 0;
    });
    verbs_context_ops ops{};
    ops.create_cq = [](ibv_context*, int, ibv_comp_channel*, int) {
      return static_cast<ibv_cq*>(calloc(1, sizeof(ibv_cq)));
    };
    ops.destroy_cq = [](ibv_cq* cq) {
      free(cq);
      return 0;
    };
    ops.cq_event = [](ibv_cq*) { seen++; };
    device.set(ops);
    seen = 0;
  }
  ~EventsTest() override { close(pipe[1]); }

  template <class T>
  void write_record(const T& record) {
    ASSERT_EQ(write(pipe[1], &record, sizeof(record)), static_cast<ssize_t>(sizeof(record)));
  }

  fake::Kernel kernel;
  fake::Device device;
  int pipe[2];
  static int seen;
};
int EventsTest::seen;

TEST_F(EventsTest, AChannelInUseCannotBeDestroyed) {
  ibv_comp_channel* channel = ibv_create_comp_channel(&device.context());
  ASSERT_NE(channel, nullptr);
  EXPECT_EQ(channel->fd, pipe[0]);
  ibv_cq* cq = ibv_create_cq(&device.context(), 1, nullptr, channel, 0);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), EBUSY);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

TEST_F(EventsTest, ACqThatLivesOnKeepsItsChannel) {
  ibv_comp_channel* channel = ibv_create_comp_channel(&device.context());
  ibv_cq* cq = ibv_create_cq(&device.context(), 1, nullptr, channel, 0);
  verbs_context_ops failing{};
  failing.destroy_cq = [](ibv_cq*) { return EBUSY; };
  device.set(failing);
  EXPECT_EQ(ibv_destroy_cq(cq), EBUSY);
  EXPECT_EQ(channel->refcnt, 1);
  free(cq);
  channel->refcnt = 0;
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

TEST_F(EventsTest, ChannelsOfTheProviderWin) {
  static ibv_comp_channel own;
  static int destroyed;
  verbs_context_ops ops{};
  ops.create_comp_channel = [](ibv_context*) { return &own; };
  ops.destroy_comp_channel = [](ibv_comp_channel* channel) {
    destroyed += channel == &own;
    return 0;
  };
  device.set(ops);
  ASSERT_EQ(ibv_create_comp_channel(&device.context()), &own);
  EXPECT_EQ(own.context, &device.context());
  EXPECT_EQ(ibv_destroy_comp_channel(&own), 0);
  EXPECT_EQ(destroyed, 1);
  EXPECT_TRUE(kernel.calls().empty());
  close(pipe[0]);
}

TEST_F(EventsTest, ACompletionEventNamesItsCq) {
  ibv_comp_channel* channel = ibv_create_comp_channel(&device.context());
  ibv_cq* cq = ibv_create_cq(&device.context(), 1, this, channel, 0);
  write_record(address_of(cq));
  ibv_cq* found;
  void* context;
  ASSERT_EQ(ibv_get_cq_event(channel, &found, &context), 0);
  EXPECT_EQ(found, cq);
  EXPECT_EQ(context, this);
  EXPECT_EQ(seen, 1);
  ibv_ack_cq_events(cq, 1);
  EXPECT_EQ(cq->comp_events_completed, 1u);
  EXPECT_EQ(ibv_get_cq_event(channel, &found, &context), -1);
  EXPECT_EQ(errno, EAGAIN);
  write_record(uint32_t{0});
  EXPECT_EQ(ibv_get_cq_event(channel, &found, &context), -1);
  ibv_destroy_cq(cq);
  ibv_destroy_comp_channel(channel);
}

TEST_F(EventsTest, AnAsynchronousEventNamesItsObject) {
  device.context().async_fd = pipe[0];
  ibv_qp qp{};
  init_events(qp);
  write_record(ib_uverbs_async_event_desc{address_of(&qp), IBV_EVENT_QP_FATAL, 0});
  write_record(ib_uverbs_async_event_desc{1, IBV_EVENT_PORT_ACTIVE, 0});
  ibv_async_event event;
  ASSERT_EQ(ibv_get_async_event(&device.context(), &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_FATAL);
  EXPECT_EQ(event.element.qp, &qp);
  ibv_ack_async_event(&event);
  EXPECT_EQ(qp.events_completed, 1u);
  ASSERT_EQ(ibv_get_async_event(&device.context(), &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_PORT_ACTIVE);
  EXPECT_EQ(event.element.port_num, 1);
  ibv_ack_async_event(&event);
  EXPECT_EQ(ibv_get_async_event(&device.context(), &event), -1);
}

}  // namespace
