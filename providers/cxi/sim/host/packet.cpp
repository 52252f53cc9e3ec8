// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/packet.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace sim::host {
namespace {

constexpr size_t longest = 8192;

int set_address(const std::string& path, sockaddr_un* address) {
  address->sun_family = AF_UNIX;
  if (path.size() >= sizeof(address->sun_path)) return ENAMETOOLONG;
  std::memcpy(address->sun_path, path.c_str(), path.size() + 1);
  return 0;
}

}  // namespace

int send_packet(int socket, std::string_view text, int descriptor) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  for (;;) {
    if (sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return 0;
    if (errno != EINTR) return errno;
  }
}

std::optional<Packet> receive_packet(int socket) {
  char text[longest];
  iovec part{text, sizeof(text)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t length;
  do {
    length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (length < 0 && errno == EINTR);
  if (length < 0) return std::nullopt;
  Packet packet;
  packet.text.assign(text, static_cast<size_t>(length));
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
    packet.descriptor.reset(descriptor);
  }
  return packet;
}

int make_socket_pair(Fd* one, Fd* other) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  one->reset(ends[0]);
  other->reset(ends[1]);
  return 0;
}

int listen_at(const std::string& path, Fd* out) {
  sockaddr_un address{};
  if (int error = set_address(path, &address)) return error;
  Fd made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made || bind(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(made.get(), 16) != 0)
    return errno;
  *out = std::move(made);
  return 0;
}

int connect_to(const std::string& path, Fd* out) {
  sockaddr_un address{};
  if (int error = set_address(path, &address)) return error;
  Fd made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!made || connect(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
    return errno;
  *out = std::move(made);
  return 0;
}

}  // namespace sim::host
