// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A kernel side of RDMA netlink that says what a test wants. It takes the place of nl_connect() in
// the program: requests go to the script and no further, answers pass through libnl as they always
// do.
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace scripted {

using Bytes = std::vector<uint8_t>;

// What one request gets for an answer: datagrams, each with any number of messages. May be called
// by several threads at once.
using Kernel = std::function<std::vector<Bytes>(const nlmsghdr& request)>;

// Without a kernel, netlink sockets cannot be opened. Not to be changed while others use it.
void set_kernel(Kernel kernel);

// Writes a datagram. Lengths are right unless they are made to lie.
class Datagram {
 public:
  // Starts a message; what follows belongs to it.
  Datagram& message(uint16_t type, uint16_t flags);
  Datagram& attribute(uint16_t type, std::span<const uint8_t> value);
  Datagram& string(uint16_t type, std::string_view text);  // with its end
  Datagram& u8(uint16_t type, uint8_t value);
  Datagram& u32(uint16_t type, uint32_t value);
  Datagram& u64(uint16_t type, uint64_t value);
  Datagram& raw(std::span<const uint8_t> bytes);  // unaligned, as it is
  // Changes the length of the last message or attribute from what it is, when all else is written.
  Datagram& claim_message_length(uint32_t length);
  Datagram& claim_attribute_length(uint16_t length);

  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
  size_t message_ = 0;
  size_t attribute_ = 0;
};

// The end of a dump, and a refusal.
Bytes done();
Bytes refusal(int error);

}  // namespace scripted
