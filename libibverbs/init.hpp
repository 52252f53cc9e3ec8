// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What happens once, before the first device list.
#pragma once

namespace verbs {

// 0 or an errno value; then it is tried again with the next list.
int initialize_library() noexcept;

}  // namespace verbs
