// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Short messages between processes of cxi_sim over SOCK_SEQPACKET, with at most one descriptor
// each.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host/fd.hpp"

namespace sim::host {

// 0 or errno.
int send_packet(int socket, std::string_view text, int descriptor = -1);

struct Packet {
  std::string text;  // empty: the other side has closed
  Fd descriptor;
};
// Nothing on an error, with errno set.
std::optional<Packet> receive_packet(int socket);

int make_socket_pair(Fd* one, Fd* other);
int listen_at(const std::string& path, Fd* socket);
int connect_to(const std::string& path, Fd* socket);

}  // namespace sim::host
