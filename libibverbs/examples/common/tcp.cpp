// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "tcp.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "text.hpp"

namespace examples {

namespace {

// A server that was started at the same moment needs a while until it listens.
constexpr int connect_attempts = 40;
constexpr useconds_t connect_pause_us = 50'000;

unsigned first_link_local_interface() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return 0;
  unsigned index = 0;
  for (const ifaddrs* each = all; each && index == 0; each = each->ifa_next) {
    if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET6) continue;
    if (each->ifa_flags & IFF_LOOPBACK) continue;
    sockaddr_in6 address;
    std::memcpy(&address, each->ifa_addr, sizeof(address));
    if (IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr)) index = if_nametoindex(each->ifa_name);
  }
  freeifaddrs(all);
  return index;
}

void give_scope(addrinfo& info, unsigned ifindex) {
  if (info.ai_family != AF_INET6) return;
  sockaddr_in6 address;
  std::memcpy(&address, info.ai_addr, sizeof(address));
  if (!IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr) || address.sin6_scope_id != 0) return;
  address.sin6_scope_id = ifindex ? ifindex : first_link_local_interface();
  std::memcpy(info.ai_addr, &address, sizeof(address));
}

}  // namespace

Connection::~Connection() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool Connection::send(std::span<const char> data) {
  while (!data.empty()) {
    const ssize_t sent = ::send(descriptor_, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      complain("the address could not be sent: %s", std::strerror(errno));
      return false;
    }
    data = data.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Connection::receive(std::span<char> data) {
  while (!data.empty()) {
    const ssize_t received = recv(descriptor_, data.data(), data.size(), 0);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0) {
      complain("the peer's address could not be received: %s", std::strerror(errno));
      return false;
    }
    if (received == 0) {
      complain("the peer gave up: see its messages");
      return false;
    }
    data = data.subspan(static_cast<std::size_t>(received));
  }
  return true;
}

bool Connection::closed_by_peer() const {
  char next;
  const ssize_t received = recv(descriptor_, &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR);
}

std::optional<Connection> connect_to(const std::string& host, std::uint16_t port,
                                     unsigned ifindex) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found)) {
    complain("the host %s is not known: %s", host.c_str(), gai_strerror(error));
    return std::nullopt;
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  int error = 0;
  for (int attempt = 0; attempt < connect_attempts; attempt++) {
    for (addrinfo* each = found; each; each = each->ai_next) {
      give_scope(*each, ifindex);
      const int descriptor =
          socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol);
      if (descriptor >= 0 && connect(descriptor, each->ai_addr, each->ai_addrlen) == 0)
        return Connection(descriptor);
      error = errno;
      if (descriptor >= 0) close(descriptor);
    }
    if (error != ECONNREFUSED) break;
    usleep(connect_pause_us);
  }
  complain("no connection to port %u of %s: %s; start the server there first, with the same --port",
           unsigned{port}, host.c_str(), std::strerror(error));
  return std::nullopt;
}

std::optional<Connection> accept_one(std::uint16_t port) {
  // A machine without IPv6 has no such sockets.
  int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool ipv6 = listener >= 0;
  if (!ipv6) listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Connection owner(listener);
  const int on = 1, off = 0;
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  any6.sin6_port = htons(port);
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  any4.sin_port = htons(port);
  const auto* address =
      ipv6 ? reinterpret_cast<sockaddr*>(&any6) : reinterpret_cast<sockaddr*>(&any4);
  const bool listens =
      listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
      (!ipv6 || setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0) &&
      bind(listener, address, ipv6 ? sizeof(any6) : sizeof(any4)) == 0 && listen(listener, 1) == 0;
  if (!listens) {
    complain("TCP port %u cannot be used: %s; choose another one with --port", unsigned{port},
             std::strerror(errno));
    return std::nullopt;
  }
  for (;;) {
    const int descriptor = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor >= 0) return Connection(descriptor);
    if (errno != EINTR && errno != ECONNABORTED) {
      complain("no client could be accepted: %s", std::strerror(errno));
      return std::nullopt;
    }
  }
}

}  // namespace examples
