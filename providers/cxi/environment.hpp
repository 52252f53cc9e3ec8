// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The grant that a workload manager left in the environment.
#pragma once

#include <cstdint>

namespace cxi {

/// Finds the service for a device in comma-separated lists: the n-th service belongs to the n-th
/// device. Without a list of devices, a single service serves every device. Sets service to 0, the
/// default one, when the lists name none for the device.
/// Returns 0, or EINVAL for a list that cannot be read.
int service_from_lists(const char* services, const char* devices, const char* device,
                       std::uint32_t& service) noexcept;

/// The same from SLINGSHOT_SVC_IDS and SLINGSHOT_DEVICES, which are ignored where the program runs
/// with more rights than its caller.
int service_from_environment(const char* device, std::uint32_t& service) noexcept;

}  // namespace cxi
