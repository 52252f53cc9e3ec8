// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/addressing.hpp"

#include "ethernet/cassini_user_defs.h"

namespace sim::nic {

DfaKind dfa_kind(uint32_t dfa) {
  constexpr uint32_t multicast_format = 0x1ff;
  constexpr uint32_t multicast_action = 7;
  if (dfa >> 23 != multicast_format) return DfaKind::unicast;
  return (dfa & 7) == multicast_action ? DfaKind::multicast : DfaKind::invalid;
}

bool match_id_accepts(uint32_t entry, uint32_t initiator, unsigned pid_bits, bool logical) {
  if (entry == 0xffffffff) return true;
  const unsigned ep_bits = 32 - pid_bits;
  const uint32_t pid_any = (1u << pid_bits) - 1;
  const uint32_t pid = entry >> ep_bits;
  if (pid != pid_any && pid != initiator >> ep_bits) return false;
  const uint32_t ep_any = logical ? (1u << ep_bits) - 1 : C_NID_ANY;
  const uint32_t ep = entry & ep_any;
  return ep == ep_any || ep == (initiator & ep_any);
}

}  // namespace sim::nic
