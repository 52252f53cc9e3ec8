// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What the program is told of its grant, in the words that Slingshot software reads.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "options.hpp"

namespace launcher {

/// Names and values. The n-th service belongs to the n-th device.
std::vector<std::pair<std::string, std::string>> describe_grant(
    const Vnis& vnis, std::uint32_t tc_mask, const std::vector<std::string>& devices,
    const std::vector<std::uint32_t>& services);

}  // namespace launcher
