// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/service.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>

namespace sim::uverbs {

bool Service::has_vni(uint16_t vni) const {
  if (vni_range) return vni >= vnis.front() && vni <= vnis.back();
  return std::ranges::find(vnis, vni) != vnis.end();
}

bool Service::admits(const Credentials& credentials) const {
  return std::ranges::any_of(members, [&](const cxi_abi_svc_member& member) {
    switch (member.type) {
      case CXI_ABI_MEMBER_UID:
        return member.id == credentials.euid;
      case CXI_ABI_MEMBER_GID:
        return member.id == credentials.egid;
      case CXI_ABI_MEMBER_ANY:
        return true;
      default:
        return false;
    }
  });
}

uint32_t Service::max(cxi_abi_resource type) const {
  return limited ? limits[type].max : device_totals[type];
}

uint32_t Service::used(cxi_abi_resource type) const {
  if (type == CXI_ABI_RSRC_TLE) return triggered->in_use;
  return std::ranges::max(in_use[type]);
}

unsigned Service::first_traffic_class() const {
  constexpr uint32_t all = (1u << (CXI_ABI_TC_BEST_EFFORT + 1)) - 1;
  if ((tc_mask & all) == all || (tc_mask & all) == 0) return CXI_ABI_TC_BEST_EFFORT;
  return static_cast<unsigned>(std::countr_zero(tc_mask));
}

Services::Services(bool default_enabled) {
  // As the driver ships it (behaviour 3.5): limits are the device's, but for triggered entries,
  // which are not shared.
  Service service;
  service.enabled = default_enabled;
  service.limited = true;
  service.tc_mask = 0xf;
  service.vnis = {1, 10};
  service.members[0].type = CXI_ABI_MEMBER_ANY;
  for (unsigned type = 0; type < CXI_ABI_RSRC_COUNT; ++type) {
    service.limits[type] = {device_totals[type], 0};
  }
  service.limits[CXI_ABI_RSRC_TLE] = {512, 512};
  add(std::move(service));
}

Service* Services::find(uint32_t id) {
  auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &it->second;
}

Service& Services::add(Service service) {
  while (by_id_.count(next_id_) != 0 || next_id_ == 0)
    ++next_id_;
  service.id = next_id_++;
  // What is reserved, or what others leave; a group's operations wait for them (behaviour 7.4).
  const auto most = service.limited ? service.limits[CXI_ABI_RSRC_TLE].max : free(CXI_ABI_RSRC_TLE);
  service.triggered = std::make_shared<nic::TriggeredEntries>(nic::TriggeredEntries{most, 0});
  return by_id_.emplace(service.id, std::move(service)).first->second;
}

uint32_t Services::free(cxi_abi_resource type, unsigned element) const {
  uint64_t taken = 0;
  for (const auto& [id, service] : by_id_) {
    uint32_t reserved = service.limited ? service.limits[type].reserved : 0;
    taken += std::max(reserved, service.in_use[type][element]);
  }
  return static_cast<uint32_t>(device_totals[type] -
                               std::min<uint64_t>(taken, device_totals[type]));
}

uint32_t Services::free(cxi_abi_resource type) const {
  uint32_t least = free(type, 0);
  if (type == CXI_ABI_RSRC_LE) {
    for (unsigned e = 1; e < processing_elements; ++e)
      least = std::min(least, free(type, e));
  }
  return least;
}

nic::Made<Charge> Services::charge(Service& service, cxi_abi_resource type, uint32_t count,
                                   unsigned element) {
  // A kind of which the service has nothing at all (behaviour 3.6).
  if (count != 0 && service.max(type) == 0) return {{}, EBADR};
  uint64_t after = uint64_t{service.in_use[type][element]} + count;
  if (after > service.max(type)) return {{}, ENOSPC};
  uint64_t reserved = service.limited ? service.limits[type].reserved : 0;
  uint64_t shared_before = std::max<uint64_t>(service.in_use[type][element], reserved);
  uint64_t shared_after = std::max(after, reserved);
  if (shared_after - shared_before > free(type, element)) return {{}, ENOSPC};
  service.in_use[type][element] = static_cast<uint32_t>(after);
  return {Charge(service, type, count, element), 0};
}

}  // namespace sim::uverbs
