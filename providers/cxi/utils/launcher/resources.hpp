// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The kinds of resources that can be limited, as the command line and messages name them.
#pragma once

#include <infiniband/cxidv.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace launcher {

struct Resource {
  const char* option;  // in --limit
  const char* words;   // in messages
  std::uint32_t cxidv_device_attr::*on_device;
};

/// By enum cxidv_resource.
extern const std::array<Resource, CXIDV_RSRC_COUNT> resources;

std::optional<cxidv_resource> find_resource(std::string_view option);
/// All of their option names, for messages.
std::string resource_options();

}  // namespace launcher
