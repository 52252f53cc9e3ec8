// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What cxi_sim is asked to do on its command line.
#pragma once

#include <string>
#include <vector>

#include "host/instance.hpp"

namespace sim::host {

// All return an exit status.
int run_command(const InstanceOptions& options, const std::vector<std::string>& program);
int up_command(const InstanceOptions& options, const std::string& name);
int exec_command(const std::string& name, const std::vector<std::string>& program);
// Sends a request (control.hpp) to an instance; an empty name means the one around this process, or
// else the only one that runs.
int control_command(const std::string& name, const std::string& request);

// The whole program.
int cxi_sim_main(int argc, char** argv);

}  // namespace sim::host
