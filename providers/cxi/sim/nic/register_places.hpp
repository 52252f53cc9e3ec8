// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Which of the NIC's counters reads which of the model's numbers.
#pragma once

#include "nic/registers.hpp"
#include "nic/statistics.hpp"

namespace sim::nic {

/// The counters, by offset; they read from `statistics`, which must live as long.
LiveWords counter_places(const Statistics& statistics, uint32_t cassini_version);

}  // namespace sim::nic
