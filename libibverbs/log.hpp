// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Messages of providers, for people who look for a fault.
#pragma once

namespace verbs {

// Reads VERBS_LOG_LEVEL and VERBS_LOG_FILE.
void init_log() noexcept;

}  // namespace verbs
