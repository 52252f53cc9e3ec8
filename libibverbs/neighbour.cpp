// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "neighbour.hpp"

#include <ifaddrs.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/route/link.h>
#include <netlink/route/link/vlan.h>
#include <netlink/route/neighbour.h>
#include <netlink/route/route.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "error.hpp"
#include "scoped.hpp"

namespace verbs {
namespace {

constexpr int patience_ms = 3000;
constexpr int tries = 11;
constexpr uint16_t discard_port = 9;
constexpr uint16_t usable_states =
    NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY;

// Objects of libnl that end with the block.
template <auto Release>
struct Releaser {
  template <class T>
  void operator()(T* object) const noexcept {
    Release(object);
  }
};
template <class T, auto Release>
using Held = std::unique_ptr<T, Releaser<Release>>;

using Socket = Held<nl_sock, nl_socket_free>;
using Cache = Held<nl_cache, nl_cache_free>;
using Link = Held<rtnl_link, rtnl_link_put>;
using Neighbour = Held<rtnl_neigh, rtnl_neigh_put>;
using Route = Held<rtnl_route, rtnl_route_put>;
using Address = Held<nl_addr, nl_addr_put>;
using Message = Held<nl_msg, nlmsg_free>;

Socket open_route_socket() {
  Socket socket(nl_socket_alloc());
  if (socket && nl_connect(socket.get(), NETLINK_ROUTE) < 0) socket.reset();
  return socket;
}

Address make_address(const IpAddress& from) {
  return Address(nl_addr_build(from.family, from.bytes.data(), from.length()));
}

bool same_address(const sockaddr* has, const IpAddress& wanted) {
  if (!has || has->sa_family != wanted.family) return false;
  const void* bytes =
      wanted.family == AF_INET
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(has)->sin_addr)
          : &reinterpret_cast<const sockaddr_in6*>(has)->sin6_addr;
  return memcmp(bytes, wanted.bytes.data(), wanted.length()) == 0;
}

// The interface that owns an address, 0 if none does.
unsigned interface_of(const IpAddress& address) {
  ifaddrs* list;
  if (getifaddrs(&list) != 0) return 0;
  unsigned index = 0;
  for (const ifaddrs* entry = list; entry && !index; entry = entry->ifa_next)
    if (same_address(entry->ifa_addr, address)) index = if_nametoindex(entry->ifa_name);
  freeifaddrs(list);
  return index;
}

std::optional<Mac> mac_of(const nl_addr* address) {
  Mac mac;
  if (!address || nl_addr_get_len(address) != mac.size()) return {};
  memcpy(mac.data(), nl_addr_get_binary_addr(address), mac.size());
  return mac;
}

int keep_route(nl_msg* message, void* to) {
  auto parsed = [](nl_object* object, void* kept) {
    auto& route = *static_cast<Route*>(kept);
    nl_object_get(object);
    route.reset(reinterpret_cast<rtnl_route*>(object));
  };
  nl_msg_parse(message, parsed, to);
  return NL_OK;
}

// Asks the kernel which way it would send. Empty when there is none.
Route query_route(nl_sock* socket, const IpAddress& destination, unsigned interface) {
  Route route;
  Message request(nlmsg_alloc_simple(RTM_GETROUTE, 0));
  rtmsg header{};
  header.rtm_family = static_cast<unsigned char>(destination.family);
  header.rtm_dst_len = static_cast<unsigned char>(8 * destination.length());
  if (!request || nlmsg_append(request.get(), &header, sizeof(header), NLMSG_ALIGNTO) < 0 ||
      nla_put(request.get(), RTA_DST, static_cast<int>(destination.length()),
              destination.bytes.data()) < 0 ||
      nla_put_u32(request.get(), RTA_OIF, interface) < 0)
    return route;
  if (nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, keep_route, &route) < 0 ||
      nl_send_auto(socket, request.get()) < 0 || nl_recvmsgs_default(socket) < 0)
    route.reset();
  return route;
}

std::optional<IpAddress> gateway_of(rtnl_route& route) {
  if (rtnl_route_get_nnexthops(&route) < 1) return {};
  const nl_addr* gateway = rtnl_route_nh_get_gateway(rtnl_route_nexthop_n(&route, 0));
  if (!gateway) return {};
  IpAddress address{nl_addr_get_family(gateway), {}};
  size_t length = nl_addr_get_len(gateway);
  if (length != address.length()) return {};
  memcpy(address.bytes.data(), nl_addr_get_binary_addr(gateway), length);
  return address;
}

std::optional<Mac> look_up(nl_sock* socket, const IpAddress& peer, unsigned interface) {
  nl_cache* filled;
  if (rtnl_neigh_alloc_cache(socket, &filled) < 0) return {};
  Cache cache(filled);
  Address address = make_address(peer);
  if (!address) return {};
  Neighbour neighbour(rtnl_neigh_get(cache.get(), static_cast<int>(interface), address.get()));
  if (!neighbour || !(rtnl_neigh_get_state(neighbour.get()) & usable_states)) return {};
  return mac_of(rtnl_neigh_get_lladdr(neighbour.get()));
}

struct SocketAddress {
  union {
    sockaddr any;
    sockaddr_in ipv4;
    sockaddr_in6 ipv6;
  };
  socklen_t length;
};

SocketAddress socket_address(const IpAddress& from, uint16_t port, unsigned interface) {
  SocketAddress to{};
  if (from.family == AF_INET) {
    to.ipv4.sin_family = AF_INET;
    to.ipv4.sin_port = htons(port);
    memcpy(&to.ipv4.sin_addr, from.bytes.data(), 4);
    to.length = sizeof(to.ipv4);
  } else {
    to.ipv6.sin6_family = AF_INET6;
    to.ipv6.sin6_port = htons(port);
    to.ipv6.sin6_scope_id = interface;
    memcpy(&to.ipv6.sin6_addr, from.bytes.data(), 16);
    to.length = sizeof(to.ipv6);
  }
  return to;
}

// Sends packets that nobody wants, so that the kernel asks for the peer's address, and waits for
// it.
std::optional<Mac> provoke(nl_sock* socket, const IpAddress& source, const IpAddress& peer,
                           unsigned interface) {
  Socket news = open_route_socket();
  if (!news || nl_socket_add_membership(news.get(), RTNLGRP_NEIGH) < 0 ||
      nl_socket_set_nonblocking(news.get()) < 0)
    return {};
  nl_socket_disable_seq_check(news.get());
  Fd sender(::socket(source.family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const SocketAddress from = socket_address(source, 0, interface);
  const SocketAddress to = socket_address(peer, discard_port, interface);
  if (!sender || bind(sender.get(), &from.any, from.length) != 0) return {};
  for (int i = 0; i < tries; i++) {
    constexpr char nothing[2] = {};
    sendto(sender.get(), nothing, sizeof(nothing), 0, &to.any, to.length);
    pollfd wake{nl_socket_get_fd(news.get()), POLLIN, 0};
    if (poll(&wake, 1, patience_ms / tries) > 0) nl_recvmsgs_default(news.get());
    if (auto mac = look_up(socket, peer, interface)) return mac;
  }
  return {};
}

bool leads_nowhere(uint8_t type) {
  return type == RTN_BLACKHOLE || type == RTN_UNREACHABLE || type == RTN_PROHIBIT ||
         type == RTN_THROW;
}

}  // namespace

IpAddress address_of_gid(const ibv_gid& gid) noexcept {
  constexpr std::array<uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  constexpr std::array<uint8_t, 12> multicast{0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  IpAddress address{AF_INET6, {}};
  if (std::equal(mapped.begin(), mapped.end(), gid.raw) ||
      std::equal(multicast.begin(), multicast.end(), gid.raw)) {
    address.family = AF_INET;
    std::copy(gid.raw + 12, gid.raw + 16, address.bytes.begin());
  } else {
    std::ranges::copy(gid.raw, address.bytes.begin());
  }
  return address;
}

std::optional<Mac> mac_in_address(const IpAddress& address) noexcept {
  const auto& b = address.bytes;
  if (address.family == AF_INET) {
    if (b[0] >> 4 != 0xe) return {};
    return Mac{0x01, 0x00, 0x5e, static_cast<uint8_t>(b[1] & 0x7f), b[2], b[3]};
  }
  if (b[0] == 0xff) return Mac{0x33, 0x33, b[12], b[13], b[14], b[15]};
  constexpr std::array<uint8_t, 8> link_local{0xfe, 0x80};
  if (!std::equal(link_local.begin(), link_local.end(), b.begin())) return {};
  return Mac{static_cast<uint8_t>(b[8] ^ 2), b[9], b[10], b[13], b[14], b[15]};
}

static int resolve(const IpAddress& source, const IpAddress& destination, Peer& peer) {
  unsigned interface = interface_of(source);
  if (!interface) return -EINVAL;
  Socket socket = open_route_socket();
  if (!socket) return -ENOSYS;
  rtnl_link* found;
  if (rtnl_link_get_kernel(socket.get(), static_cast<int>(interface), nullptr, &found) < 0)
    return -EINVAL;
  Link link(found);
  peer.vlan = no_vlan;
  if (rtnl_link_is_vlan(link.get()))
    peer.vlan = static_cast<uint16_t>(rtnl_link_vlan_get_id(link.get()));

  Route route = query_route(socket.get(), destination, interface);
  if (!route) return -EHOSTUNREACH;
  uint8_t type = rtnl_route_get_type(route.get());
  if (leads_nowhere(type)) return -ENETUNREACH;
  std::optional<Mac> mac;
  if (type == RTN_LOCAL) {
    mac = mac_of(rtnl_link_get_addr(link.get()));
    if (!mac) return -EINVAL;
  } else {
    const IpAddress next = gateway_of(*route).value_or(destination);
    mac = mac_in_address(next);
    if (!mac) mac = look_up(socket.get(), next, interface);
    if (!mac) mac = provoke(socket.get(), source, next, interface);
    if (!mac) return -EHOSTUNREACH;
  }
  peer.mac = *mac;
  return 0;
}

int resolve_peer(const IpAddress& source, const IpAddress& destination, Peer& peer) noexcept {
  const int kept = errno;
  errno = 0;
  int error = resolve(source, destination, peer);
  // What looks like a neighbour that is not there may be one that there was no memory to look for.
  if (error && is_shortage(errno)) error = -errno;
  errno = kept;
  return error;
}

}  // namespace verbs
