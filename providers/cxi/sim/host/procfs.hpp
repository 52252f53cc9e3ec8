// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What /proc says about a task.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "uverbs/kernel.hpp"

namespace sim::host {

// A whole small file; empty if it cannot be read.
std::string read_text(const std::string& path);
std::optional<std::string> read_link(const std::string& path);

std::optional<pid_t> thread_group_of(pid_t task);
std::optional<uint64_t> start_time_of(pid_t pid);  // in clock ticks since boot
std::vector<pid_t> children_of_self();

// Whether a task finds the same files under their names as this process, and has the same rights to
// them: user, groups, capabilities, root and mounts.
bool same_files_as_self(pid_t task);

// Reads the lines of /proc/PID/status.
std::optional<uverbs::Credentials> parse_credentials(std::string_view status);
// Capabilities count only in our own user namespace: those of another give no right over devices.
std::optional<uverbs::Credentials> credentials_of(pid_t task);

}  // namespace sim::host
