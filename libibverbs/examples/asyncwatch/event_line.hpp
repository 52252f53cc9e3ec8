// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The line that ibv_asyncwatch prints for an event.
#pragma once

#include <infiniband/verbs.h>

#include <string>

namespace asyncwatch {

/// "  event_type IBV_EVENT_PORT_ERR (10), port 1", without the end of the line. An event that does
/// not belong to a device or port has no name here: the program owns no queue that it could
/// concern.
std::string event_line(const ibv_async_event& event);

}  // namespace asyncwatch
