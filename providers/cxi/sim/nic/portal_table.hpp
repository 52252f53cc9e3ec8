// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Portal table entries, and the look-up from (VNI, endpoint) to one of them (behaviour 1.4, 5).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "nic/device.hpp"
#include "nic/list_matching.hpp"

namespace sim::nic {

struct PortalEntry {
  unsigned index = 0;
  unsigned rgid = 0;
  unsigned pool = 0;  // processing element whose list entries it uses
  PteConfig config;
  EntryAccount account;
  PteState state = PteState::disabled;
  uint32_t drop_count = 0;       // 24 bits
  bool appends_dropped = false;  // until an append restarts the sequence
  EntryList lists[4];            // by enum c_ptl_list; the last holds unexpected headers
  std::optional<std::pair<uint16_t, uint32_t>> multicast;  // VNI and group it is mapped at
};

class PortalTable {
 public:
  /// Adds a look-up. EEXIST: the place is taken; ENOSPC: the NIC has no room for more (behaviour
  /// 1.4).
  int map(uint16_t vni, uint32_t endpoint, unsigned pte);
  int map_multicast(uint16_t vni, uint32_t mcast, unsigned pte);
  /// Returns the entry that was mapped there.
  std::optional<unsigned> unmap(uint16_t vni, uint32_t endpoint);
  void unmap_multicast(uint16_t vni, uint32_t mcast);
  void unmap_all(unsigned pte);

  struct Found {
    unsigned pte = 0;
    int return_code = 0;  // C_RC_OK, VNI_NOT_FOUND or PTLTE_NOT_FOUND
  };
  Found find(uint16_t vni, uint32_t endpoint) const;
  Found find_multicast(uint16_t vni, uint32_t mcast) const;

 private:
  Found find_key(uint16_t vni, uint64_t key) const;
  int insert(uint16_t vni, uint64_t key, unsigned pte);
  std::optional<unsigned> erase(uint16_t vni, uint64_t key);

  std::unordered_map<uint64_t, unsigned> entries_;
  std::unordered_map<uint16_t, unsigned> vnis_;  // how many entries each has
};

}  // namespace sim::nic
