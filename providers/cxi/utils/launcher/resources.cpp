// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "resources.hpp"

namespace launcher {

const std::array<Resource, CXIDV_RSRC_COUNT> resources = {{
    {"ptes", "portal entries", &cxidv_device_attr::num_ptes},
    {"txqs", "transmit queues", &cxidv_device_attr::num_txqs},
    {"tgqs", "target queues", &cxidv_device_attr::num_tgqs},
    {"eqs", "event queues", &cxidv_device_attr::num_eqs},
    {"cts", "counting events", &cxidv_device_attr::num_cts},
    {"les", "list entries of each processing element", &cxidv_device_attr::num_les},
    {"tles", "waiting triggered operations", &cxidv_device_attr::num_tles},
    {"acs", "address contexts", &cxidv_device_attr::num_acs},
}};
static_assert(CXIDV_RSRC_PTE == 0 && CXIDV_RSRC_TXQ == 1 && CXIDV_RSRC_TGQ == 2 &&
              CXIDV_RSRC_EQ == 3 && CXIDV_RSRC_CT == 4 && CXIDV_RSRC_LE == 5 &&
              CXIDV_RSRC_TLE == 6 && CXIDV_RSRC_AC == 7 && CXIDV_RSRC_COUNT == 8);

std::optional<cxidv_resource> find_resource(std::string_view option) {
  for (std::size_t kind = 0; kind < resources.size(); kind++)
    if (option == resources[kind].option) return static_cast<cxidv_resource>(kind);
  return std::nullopt;
}

std::string resource_options() {
  std::string all;
  for (const Resource& resource : resources) {
    if (!all.empty()) all += ", ";
    all += resource.option;
  }
  return all;
}

}  // namespace launcher
