// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "environment.hpp"

#include <cstdio>

namespace launcher {
namespace {

// A range with more VNIs is told by its ends: a list of them would not fit into the environment.
constexpr unsigned most_listed = 4096;

template <class Item>
std::string join(const std::vector<Item>& items) {
  std::string list;
  for (const Item& item : items) {
    if (!list.empty()) list += ',';
    if constexpr (requires { std::to_string(item); })
      list += std::to_string(item);
    else
      list += item;
  }
  return list;
}

std::string tell(const Vnis& vnis) {
  if (!vnis.range) return join(vnis.list);
  const unsigned first = vnis.list.front(), last = vnis.list.back();
  if (last - first >= most_listed) return std::to_string(first) + "-" + std::to_string(last);
  std::vector<unsigned> all;
  for (unsigned vni = first; vni <= last; vni++)
    all.push_back(vni);
  return join(all);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> describe_grant(
    const Vnis& vnis, std::uint32_t tc_mask, const std::vector<std::string>& devices,
    const std::vector<std::uint32_t>& services) {
  char classes[16];
  std::snprintf(classes, sizeof(classes), "0x%x", tc_mask);
  return {{"SLINGSHOT_VNIS", tell(vnis)},
          {"SLINGSHOT_DEVICES", join(devices)},
          {"SLINGSHOT_SVC_IDS", join(services)},
          {"SLINGSHOT_TCS", classes}};
}

}  // namespace launcher
