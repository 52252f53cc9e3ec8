// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What /sys says about the NICs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "uverbs/nic_state.hpp"

namespace sim::uverbs {

using SysfsFiles = std::vector<std::pair<std::string, std::string>>;

// Files that exist once, below class/.
SysfsFiles class_files();
// Files of one NIC.
SysfsFiles nic_files(const NicState& nic);

}  // namespace sim::uverbs
