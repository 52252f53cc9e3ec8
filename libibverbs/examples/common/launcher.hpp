// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Running the program again with a grant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace examples {

/// Set for a program that was started again, which therefore does not try it once more.
constexpr const char* launched_variable = "CXI_LAUNCHED_BY_EXAMPLE";

/// Replaces this process by the same program with the same arguments under cxi_launcher, which asks
/// for a service with that VNI on the device. The launcher beside the program is preferred to one
/// in PATH. Returns where there is none, and where this process was started so itself.
void run_under_launcher(const std::string& device, std::uint32_t vni,
                        const std::vector<std::string>& arguments);

}  // namespace examples
