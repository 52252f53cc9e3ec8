// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Fabric addresses, portal indices and match ids (behaviour 1.2, 1.3). Pure.
#pragma once

#include <cstdint>

namespace sim::nic {

enum class DfaKind { unicast, multicast, invalid };

DfaKind dfa_kind(uint32_t dfa);

constexpr uint32_t dfa_nid(uint32_t dfa) {
  return dfa >> 12;
}

/// The 17 bits by which the portal table is looked up: endpoint_defined and index_ext.
constexpr uint32_t endpoint_of_dfa(uint32_t dfa, unsigned index_ext) {
  return (dfa & 0xfff) << 5 | (index_ext & 0x1f);
}

/// The same, from a PID and a portal index of it.
constexpr uint32_t endpoint_of(unsigned pid, unsigned index, unsigned pid_bits) {
  return ((((index >> 5) << pid_bits) + pid) & 0xfff) << 5 | (index & 0x1f);
}

constexpr unsigned pid_of_dfa(uint32_t dfa, unsigned pid_bits) {
  return dfa & ((1u << pid_bits) - 1);
}

constexpr unsigned index_of_dfa(uint32_t dfa, unsigned index_ext, unsigned pid_bits) {
  return (dfa & 0xfff) >> pid_bits << 5 | (index_ext & 0x1f);
}

constexpr uint32_t make_dfa(uint32_t nid, unsigned pid, unsigned index, unsigned pid_bits) {
  return nid << 12 | ((((index >> 5) << pid_bits) + pid) & 0xfff);
}

/// Whether a list entry's match id takes a message's initiator. Wildcards are per field: all ones
/// in the PID, all ones in the NID (20 bits) or, for a logical portal entry, in the rank.
bool match_id_accepts(uint32_t entry, uint32_t initiator, unsigned pid_bits, bool logical);

}  // namespace sim::nic
