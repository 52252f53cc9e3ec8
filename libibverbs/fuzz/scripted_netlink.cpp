// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "scripted_netlink.hpp"

#include <netlink/errno.h>
#include <netlink/handlers.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>

namespace scripted {
namespace {

Kernel kernel;
thread_local std::deque<Bytes> pending;  // answers that this thread has yet to receive

int send(nl_sock*, nl_msg* message) {
  for (Bytes& datagram : kernel(*nlmsg_hdr(message)))
    pending.push_back(std::move(datagram));
  return static_cast<int>(nlmsg_hdr(message)->nlmsg_len);
}

// A real socket would wait for ever where the script has come to its end.
int receive(nl_sock*, sockaddr_nl* from, unsigned char** buffer, ucred**) {
  if (pending.empty()) return -NLE_AGAIN;
  Bytes datagram = std::move(pending.front());
  pending.pop_front();
  *from = {};
  from->nl_family = AF_NETLINK;
  if (datagram.empty()) return 0;  // libnl frees nothing then
  *buffer = static_cast<unsigned char*>(malloc(datagram.size()));
  std::copy(datagram.begin(), datagram.end(), *buffer);
  return static_cast<int>(datagram.size());
}

template <class T>
std::span<const uint8_t> bytes_of(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof(value)};
}

}  // namespace

void set_kernel(Kernel wanted) {
  kernel = std::move(wanted);
}

Datagram& Datagram::message(uint16_t type, uint16_t flags) {
  bytes_.resize(NLMSG_ALIGN(bytes_.size()));
  message_ = attribute_ = bytes_.size();
  nlmsghdr header{};
  header.nlmsg_len = sizeof(header);
  header.nlmsg_type = type;
  header.nlmsg_flags = flags;
  return raw(bytes_of(header));
}

Datagram& Datagram::attribute(uint16_t type, std::span<const uint8_t> value) {
  bytes_.resize(NLA_ALIGN(bytes_.size()));
  attribute_ = bytes_.size();
  nlattr header{};
  header.nla_len = static_cast<uint16_t>(sizeof(header) + value.size());
  header.nla_type = type;
  raw(bytes_of(header));
  return raw(value);
}

Datagram& Datagram::string(uint16_t type, std::string_view text) {
  Bytes value(text.begin(), text.end());
  value.push_back(0);
  return attribute(type, value);
}

Datagram& Datagram::u8(uint16_t type, uint8_t value) {
  return attribute(type, bytes_of(value));
}

Datagram& Datagram::u32(uint16_t type, uint32_t value) {
  return attribute(type, bytes_of(value));
}

Datagram& Datagram::u64(uint16_t type, uint64_t value) {
  return attribute(type, bytes_of(value));
}

Datagram& Datagram::raw(std::span<const uint8_t> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return claim_message_length(static_cast<uint32_t>(bytes_.size() - message_));
}

Datagram& Datagram::claim_message_length(uint32_t length) {
  if (bytes_.size() < message_ + sizeof(nlmsghdr)) return *this;
  memcpy(bytes_.data() + message_ + offsetof(nlmsghdr, nlmsg_len), &length, sizeof(length));
  return *this;
}

Datagram& Datagram::claim_attribute_length(uint16_t length) {
  if (bytes_.size() < attribute_ + sizeof(nlattr)) return *this;
  memcpy(bytes_.data() + attribute_ + offsetof(nlattr, nla_len), &length, sizeof(length));
  return *this;
}

Bytes done() {
  const int32_t status = 0;
  return Datagram().message(NLMSG_DONE, NLM_F_MULTI).raw(bytes_of(status)).bytes();
}

Bytes refusal(int error) {
  nlmsgerr payload{};
  payload.error = -error;
  return Datagram().message(NLMSG_ERROR, 0).raw(bytes_of(payload)).bytes();
}

}  // namespace scripted

// In place of that of libnl.
extern "C" int nl_connect(nl_sock* socket, int) {
  if (!scripted::kernel) return -NLE_PROTO_MISMATCH;
  scripted::pending.clear();
  nl_cb* callbacks = nl_socket_get_cb(socket);
  nl_cb_overwrite_send(callbacks, scripted::send);
  nl_cb_overwrite_recv(callbacks, scripted::receive);
  nl_cb_put(callbacks);
  return 0;
}
