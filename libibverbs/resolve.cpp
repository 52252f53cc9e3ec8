// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <algorithm>

#include "export.hpp"
#include "neighbour.hpp"

// The Ethernet address and the VLAN id (0xffff: none) that packets of an address handle go to. 0,
// -1 if the source GID cannot be read, else a negative errno value.
VERBS_EXPORT int ibv_resolve_eth_l2_from_gid(ibv_context* context, ibv_ah_attr* attr,
                                             uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t* vid) {
  ibv_gid sgid;
  if (int error = ibv_query_gid(context, attr->port_num, attr->grh.sgid_index, &sgid)) return error;
  verbs::Peer peer;
  if (int error = verbs::resolve_peer(verbs::address_of_gid(sgid),
                                      verbs::address_of_gid(attr->grh.dgid), peer))
    return error;
  std::ranges::copy(peer.mac, eth_mac);
  if (vid) *vid = peer.vlan;
  return 0;
}
