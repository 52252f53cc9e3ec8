// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Which descriptors the program inherits.
#pragma once

#include <vector>

namespace launcher {

/// Ascending and without doubles. Throws Refusal for one that is not open.
std::vector<int> check_kept(std::vector<int> keep);

/// All but the standard three and the kept ones are closed when another program is executed; the
/// kept ones are not. `keep` is what check_kept() gave. Throws std::system_error.
void close_others_on_exec(const std::vector<int>& keep);

/// The standard three are open afterwards, on /dev/null where they were closed: what is opened
/// later must not become one of them. Throws std::system_error.
void open_standard_ones();

}  // namespace launcher
