// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What is special about a Slingshot device: the job identifier is a VNI, and somebody has to grant
// it.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <string>

namespace examples {

bool is_slingshot(const ibv_device& device);

/// The VNI to use: the first one of list, which is the value of SLINGSHOT_VNIS or null; else 1, the
/// one of the default service. 0 when the list does not start with a VNI.
std::uint32_t first_vni(const char* list);

/// The 32-bit form of a 64-bit remote key: as the key itself where the user has chosen it, made of
/// the bits that tell kinds apart and the serial number where the driver has. Empty where the key
/// has no such form.
std::optional<std::uint32_t> short_rkey(std::uint64_t rkey);

/// Why a device refused resources or a job with that errno value, and what to do about it. vni is 0
/// on other devices than Slingshot ones.
std::string why_no_grant(const char* device, std::uint32_t vni, int error);

}  // namespace examples
