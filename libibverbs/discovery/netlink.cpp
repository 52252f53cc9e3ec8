// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "netlink.hpp"

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/sysmacros.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

namespace verbs::netlink {
namespace {

constexpr int last_attribute = RDMA_NLDEV_ATTR_MAX - 1;
using Attributes = std::array<nlattr*, RDMA_NLDEV_ATTR_MAX>;

constexpr std::array<nla_policy, RDMA_NLDEV_ATTR_MAX> make_policy() {
  std::array<nla_policy, RDMA_NLDEV_ATTR_MAX> policy{};
  policy[RDMA_NLDEV_ATTR_DEV_INDEX].type = NLA_U32;
  policy[RDMA_NLDEV_ATTR_DEV_NAME].type = NLA_NUL_STRING;
  policy[RDMA_NLDEV_ATTR_PORT_INDEX].type = NLA_U32;
  policy[RDMA_NLDEV_ATTR_NODE_GUID].type = NLA_U64;
  policy[RDMA_NLDEV_ATTR_DEV_NODE_TYPE].type = NLA_U8;
  policy[RDMA_NLDEV_ATTR_DEV_PROTOCOL].type = NLA_NUL_STRING;
  policy[RDMA_NLDEV_ATTR_CHARDEV_NAME].type = NLA_NUL_STRING;
  policy[RDMA_NLDEV_ATTR_CHARDEV_ABI].type = NLA_U64;
  policy[RDMA_NLDEV_ATTR_CHARDEV].type = NLA_U64;
  policy[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID].type = NLA_U32;
  policy[RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK].type = NLA_U8;
  return policy;
}

constexpr auto policy = make_policy();

bool decode(nlmsghdr& message, Attributes& attributes) {
  attributes.fill(nullptr);
  return nlmsg_parse(&message, 0, attributes.data(), last_attribute, policy.data()) >= 0;
}

// A name, which becomes part of paths, with its end, or nothing.
bool copy_name(const nlattr* from, std::span<char> to) {
  auto length = static_cast<size_t>(nla_len(from));
  const char* text = static_cast<const char*>(nla_data(from));
  size_t characters = strnlen(text, length);
  if (characters == length || characters >= to.size() || memchr(text, '/', characters))
    return false;
  memcpy(to.data(), text, characters + 1);
  return true;
}

constexpr int message_type(int command) {
  return RDMA_NL_NLDEV << 10 | command;  // as RDMA_NL_GET_TYPE() of the kernel
}

class Socket {
 public:
  Socket() noexcept : socket_(nl_socket_alloc()) {
    if (!socket_) return;
    nl_socket_disable_auto_ack(socket_);
    nl_socket_disable_msg_peek(socket_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (socket_) nl_socket_free(socket_);
  }

  int connect() noexcept {
    if (!socket_) return ENOMEM;
    return nl_connect(socket_, NETLINK_RDMA) < 0 ? EPROTONOSUPPORT : 0;
  }
  nl_sock* get() const noexcept { return socket_; }

 private:
  nl_sock* socket_;
};

// Handler(nlmsghdr&) returns 0 or an errno value; the first one ends the query.
template <class Handler>
struct Receiver {
  Handler handler;
  int error = 0;
  bool finished = false;  // the end of a dump was seen

  static int valid(nl_msg* message, void* self) {
    auto& receiver = *static_cast<Receiver*>(self);
    if (!receiver.error) receiver.error = receiver.handler(*nlmsg_hdr(message));
    return receiver.error ? NL_STOP : NL_OK;
  }
  static int finish(nl_msg*, void* self) {
    static_cast<Receiver*>(self)->finished = true;
    return NL_OK;
  }
  static int refused(sockaddr_nl*, nlmsgerr* message, void* self) {
    auto& receiver = *static_cast<Receiver*>(self);
    receiver.error = message->error < 0 ? -message->error : EPROTO;
    return NL_STOP;
  }

  int run(Socket& socket) {
    if (nl_socket_modify_cb(socket.get(), NL_CB_VALID, NL_CB_CUSTOM, valid, this) < 0 ||
        nl_socket_modify_cb(socket.get(), NL_CB_FINISH, NL_CB_CUSTOM, finish, this) < 0 ||
        nl_socket_modify_err_cb(socket.get(), NL_CB_CUSTOM, refused, this) < 0)
      return ENOMEM;
    int left;
    do
      left = nl_recvmsgs_default(socket.get());
    while (left > 0);
    if (!error && left < 0) error = EIO;
    return error;
  }
};
template <class Handler>
Receiver(Handler) -> Receiver<Handler>;

class Message {
 public:
  Message(int command, int flags) noexcept
      : message_(nlmsg_alloc_simple(message_type(command), flags)) {}
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message() { nlmsg_free(message_); }

  explicit operator bool() const noexcept { return message_ != nullptr; }
  nl_msg* get() const noexcept { return message_; }

 private:
  nl_msg* message_;
};

}  // namespace

dev_t device_number(uint64_t packed) noexcept {
  // The kernel spreads the minor number around the major: bits 0-7 and 20-31.
  auto major_number = static_cast<unsigned>((packed & 0xfff00) >> 8);
  auto minor_number = static_cast<unsigned>((packed & 0xff) | ((packed >> 12) & 0xfff00));
  return makedev(major_number, minor_number);
}

bool parse(nlmsghdr& message, DeviceAnswer& answer) noexcept {
  Attributes at;
  if (!decode(message, at)) return false;
  if (!at[RDMA_NLDEV_ATTR_DEV_NAME] || !at[RDMA_NLDEV_ATTR_DEV_NODE_TYPE] ||
      !at[RDMA_NLDEV_ATTR_DEV_INDEX] || !at[RDMA_NLDEV_ATTR_NODE_GUID] ||
      !at[RDMA_NLDEV_ATTR_PORT_INDEX])
    return false;
  answer.index = nla_get_u32(at[RDMA_NLDEV_ATTR_DEV_INDEX]);
  answer.ports = nla_get_u32(at[RDMA_NLDEV_ATTR_PORT_INDEX]);
  answer.node_type = nla_get_u8(at[RDMA_NLDEV_ATTR_DEV_NODE_TYPE]);
  answer.node_guid = nla_get_u64(at[RDMA_NLDEV_ATTR_NODE_GUID]);
  return copy_name(at[RDMA_NLDEV_ATTR_DEV_NAME], answer.name);
}

bool parse(nlmsghdr& message, CharacterDeviceAnswer& answer) noexcept {
  Attributes at;
  if (!decode(message, at)) return false;
  if (!at[RDMA_NLDEV_ATTR_CHARDEV] || !at[RDMA_NLDEV_ATTR_CHARDEV_ABI] ||
      !at[RDMA_NLDEV_ATTR_CHARDEV_NAME])
    return false;
  answer.number = device_number(nla_get_u64(at[RDMA_NLDEV_ATTR_CHARDEV]));
  answer.abi = static_cast<uint32_t>(nla_get_u64(at[RDMA_NLDEV_ATTR_CHARDEV_ABI]));
  answer.driver_id = at[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID]
                         ? nla_get_u32(at[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID])
                         : uint32_t{RDMA_DRIVER_UNKNOWN};
  return copy_name(at[RDMA_NLDEV_ATTR_CHARDEV_NAME], answer.name);
}

bool parse_copy_on_fork(nlmsghdr& message, bool& copies) noexcept {
  Attributes at;
  if (!decode(message, at)) return false;
  nlattr* attribute = at[RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK];
  copies = attribute && nla_get_u8(attribute) != 0;
  return true;
}

int query_devices(int (*visit)(void* context, const DeviceAnswer& answer), void* context) noexcept {
  Socket socket;
  if (int error = socket.connect()) return error;
  if (nl_send_simple(socket.get(), message_type(RDMA_NLDEV_CMD_GET), NLM_F_DUMP, nullptr, 0) < 0)
    return EIO;
  Receiver receiver{[&](nlmsghdr& message) -> int {
    DeviceAnswer answer{};
    if (!parse(message, answer)) return EPROTO;
    return visit(context, answer);
  }};
  if (int error = receiver.run(socket)) return error;
  // libnl passes over a message whose length makes no sense, and the list would be too short.
  return receiver.finished ? 0 : EPROTO;
}

int query_character_device(uint32_t index, CharacterDeviceAnswer& answer) noexcept {
  Socket socket;
  if (int error = socket.connect()) return error;
  Message request(RDMA_NLDEV_CMD_GET_CHARDEV, 0);
  if (!request) return ENOMEM;
  if (nla_put_u32(request.get(), RDMA_NLDEV_ATTR_DEV_INDEX, index) < 0 ||
      nla_put_string(request.get(), RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs") < 0)
    return EMSGSIZE;
  if (nl_send_auto(socket.get(), request.get()) < 0) return EIO;
  answer = {};
  Receiver receiver{[&](nlmsghdr& message) -> int { return parse(message, answer) ? 0 : EPROTO; }};
  if (int error = receiver.run(socket)) return error;
  return answer.name[0] ? 0 : ENODEV;
}

bool kernel_copies_on_fork() noexcept {
  Socket socket;
  if (socket.connect() != 0) return false;
  if (nl_send_simple(socket.get(), message_type(RDMA_NLDEV_CMD_SYS_GET), 0, nullptr, 0) < 0)
    return false;
  bool copies = false;
  Receiver receiver{
      [&](nlmsghdr& message) -> int { return parse_copy_on_fork(message, copies) ? 0 : EPROTO; }};
  return receiver.run(socket) == 0 && copies;
}

}  // namespace verbs::netlink
