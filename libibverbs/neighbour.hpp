// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Ethernet addresses of IP peers: what the host's network stack knows, or finds out when asked.
#pragma once

#include <infiniband/driver.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>

namespace verbs {

using Mac = std::array<uint8_t, ETHERNET_LL_SIZE>;

// An IP address of either family, bytes in network order.
struct IpAddress {
  int family;  // AF_INET or AF_INET6
  std::array<uint8_t, 16> bytes;

  size_t length() const noexcept { return family == AF_INET ? 4 : 16; }
};

// The address that a GID stands for: IPv4 ones are mapped into it, also as multicast.
IpAddress address_of_gid(const ibv_gid& gid) noexcept;

// The MAC of addresses that have it in them: multicast ones, and link-local ones made from a MAC.
std::optional<Mac> mac_in_address(const IpAddress& address) noexcept;

constexpr uint16_t no_vlan = 0xffff;

struct Peer {
  Mac mac;
  uint16_t vlan;
};

// Where packets from source to destination go next. 0, or a negative errno value: EINVAL for a
// source that no interface has, EHOSTUNREACH for a peer that does not answer.
int resolve_peer(const IpAddress& source, const IpAddress& destination, Peer& peer) noexcept;

}  // namespace verbs
