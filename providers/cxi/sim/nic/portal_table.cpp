// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/portal_table.hpp"

#include <cerrno>

#include "ethernet/cassini_csrs.hpp"
#include "ethernet/cassini_user_defs.h"

namespace sim::nic {
namespace {

constexpr size_t places = cassini::csr::c_rmu_cfg_portal_list_x::csr_entries;
constexpr uint64_t multicast_flag = uint64_t{1} << 40;

uint64_t key_of(uint16_t vni, uint32_t place, bool multicast) {
  return (multicast ? multicast_flag : 0) | uint64_t{vni} << 20 | place;
}

}  // namespace

int PortalTable::insert(uint16_t vni, uint64_t key, unsigned pte) {
  if (entries_.contains(key)) return EEXIST;
  if (entries_.size() == places) return ENOSPC;
  entries_.emplace(key, pte);
  vnis_[vni]++;
  return 0;
}

std::optional<unsigned> PortalTable::erase(uint16_t vni, uint64_t key) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return std::nullopt;
  const unsigned pte = at->second;
  entries_.erase(at);
  if (--vnis_[vni] == 0) vnis_.erase(vni);
  return pte;
}

int PortalTable::map(uint16_t vni, uint32_t endpoint, unsigned pte) {
  return insert(vni, key_of(vni, endpoint, false), pte);
}

int PortalTable::map_multicast(uint16_t vni, uint32_t mcast, unsigned pte) {
  return insert(vni, key_of(vni, mcast, true), pte) ? ENOSPC : 0;
}

std::optional<unsigned> PortalTable::unmap(uint16_t vni, uint32_t endpoint) {
  return erase(vni, key_of(vni, endpoint, false));
}

void PortalTable::unmap_multicast(uint16_t vni, uint32_t mcast) {
  erase(vni, key_of(vni, mcast, true));
}

void PortalTable::unmap_all(unsigned pte) {
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto next = std::next(at);
    if (at->second == pte) erase(static_cast<uint16_t>(at->first >> 20), at->first);
    at = next;
  }
}

PortalTable::Found PortalTable::find_key(uint16_t vni, uint64_t key) const {
  if (const auto at = entries_.find(key); at != entries_.end()) return {at->second, C_RC_OK};
  return {0, vnis_.contains(vni) ? C_RC_PTLTE_NOT_FOUND : C_RC_VNI_NOT_FOUND};
}

PortalTable::Found PortalTable::find(uint16_t vni, uint32_t endpoint) const {
  return find_key(vni, key_of(vni, endpoint, false));
}

PortalTable::Found PortalTable::find_multicast(uint16_t vni, uint32_t mcast) const {
  return find_key(vni, key_of(vni, mcast, true));
}

}  // namespace sim::nic
