// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The groups of checks. Each one needs the device rxe0 on the interface v0 and leaves both as they
// were.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <string>

#include "report.hpp"

namespace guest {

inline constexpr const char* device_name = "rxe0";
inline constexpr const char* interface_name = "v0";
inline constexpr const char* device_folder = "/sys/class/infiniband/rxe0";

struct CloseDevice {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
};
using Context = std::unique_ptr<ibv_context, CloseDevice>;

// Opens a device by its name; empty, with errno, if that does not work.
Context open_device(const std::string& name);

void check_discovery(Report& report);
void check_discovery_without_netlink(Report& report);
void check_opening(Report& report);
void check_device(Report& report);
void check_port(Report& report);
void check_gids(Report& report);
void check_pkeys(Report& report);
void check_memory(Report& report);
void check_completion_queues(Report& report);
void check_queue_pairs(Report& report);
void check_imports(Report& report);
void check_fork(Report& report);
void check_events(Report& report);
void check_many_cycles(Report& report);
void check_many_threads(Report& report);
void check_coming_and_going(Report& report);
void check_removal_while_open(Report& report);

}  // namespace guest
