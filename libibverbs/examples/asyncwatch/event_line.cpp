// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "event_line.hpp"

#include "../common/text.hpp"

namespace asyncwatch {

namespace {

const char* name_of(int type) {
  switch (type) {
    case IBV_EVENT_DEVICE_FATAL:
      return "IBV_EVENT_DEVICE_FATAL";
    case IBV_EVENT_PORT_ACTIVE:
      return "IBV_EVENT_PORT_ACTIVE";
    case IBV_EVENT_PORT_ERR:
      return "IBV_EVENT_PORT_ERR";
    case IBV_EVENT_LID_CHANGE:
      return "IBV_EVENT_LID_CHANGE";
    case IBV_EVENT_PKEY_CHANGE:
      return "IBV_EVENT_PKEY_CHANGE";
    case IBV_EVENT_SM_CHANGE:
      return "IBV_EVENT_SM_CHANGE";
    case IBV_EVENT_CLIENT_REREGISTER:
      return "IBV_EVENT_CLIENT_REREGISTER";
    case IBV_EVENT_GID_CHANGE:
      return "IBV_EVENT_GID_CHANGE";
    case IBV_EVENT_DEVICE_SPEED_CHANGE:
      return "IBV_EVENT_DEVICE_SPEED_CHANGE";
    default:
      return "unexpected";
  }
}

}  // namespace

std::string event_line(const ibv_async_event& event) {
  const int type = static_cast<int>(event.event_type);
  return examples::format("  event_type %s (%d), port %d", name_of(type), type,
                          event.element.port_num);
}

}  // namespace asyncwatch
