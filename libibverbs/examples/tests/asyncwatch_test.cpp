// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "../asyncwatch/event_line.hpp"

namespace {

std::string line(int type, int port) {
  ibv_async_event event{};
  event.event_type = static_cast<ibv_event_type>(type);
  event.element.port_num = port;
  return asyncwatch::event_line(event);
}

TEST(EventLine, NamesEventsOfPortsAndDevices) {
  EXPECT_EQ(line(8, 1), "  event_type IBV_EVENT_DEVICE_FATAL (8), port 1");
  EXPECT_EQ(line(9, 1), "  event_type IBV_EVENT_PORT_ACTIVE (9), port 1");
  EXPECT_EQ(line(10, 2), "  event_type IBV_EVENT_PORT_ERR (10), port 2");
  EXPECT_EQ(line(11, 1), "  event_type IBV_EVENT_LID_CHANGE (11), port 1");
  EXPECT_EQ(line(12, 1), "  event_type IBV_EVENT_PKEY_CHANGE (12), port 1");
  EXPECT_EQ(line(13, 1), "  event_type IBV_EVENT_SM_CHANGE (13), port 1");
  EXPECT_EQ(line(17, 1), "  event_type IBV_EVENT_CLIENT_REREGISTER (17), port 1");
  EXPECT_EQ(line(18, 1), "  event_type IBV_EVENT_GID_CHANGE (18), port 1");
  EXPECT_EQ(line(20, 1), "  event_type IBV_EVENT_DEVICE_SPEED_CHANGE (20), port 1");
}

TEST(EventLine, CallsEventsOfQueuesUnexpected) {
  for (int type : {0, 1, 7, 14, 15, 16, 19})
    EXPECT_EQ(line(type, 0), "  event_type unexpected (" + std::to_string(type) + "), port 0");
}

TEST(EventLine, CallsEventsOfALaterKernelUnexpected) {
  EXPECT_EQ(line(31, 3), "  event_type unexpected (31), port 3");
}

}  // namespace
