// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Both ends of a connection in one process.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "../common/tcp.hpp"

struct ConnectedPair {
  ConnectedPair() : ConnectedPair(sockets()) {}

  examples::Connection here, there;

 private:
  explicit ConnectedPair(std::array<int, 2> pair) : here(pair[0]), there(pair[1]) {}

  static std::array<int, 2> sockets() {
    std::array<int, 2> pair;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
      throw std::system_error(errno, std::generic_category(), "socketpair");
    return pair;
  }
};
