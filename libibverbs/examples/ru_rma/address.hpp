// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What one side tells the other over TCP.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ru_rma {

struct Address {
  std::uint32_t qpn = 0;
  std::uint64_t rkey = 0;  ///< the 64-bit one
  std::uint32_t job_id = 0;
  union ibv_gid gid {};

  bool absolute() const { return qpn & IBV_QPN_ABSOLUTE_ADDR_BIT; }

  /// What this side's queue pair was created with, to be recognised in completions.
  std::uint32_t src_id() const;
};

/// QPN:key:job:GID in hexadecimal, ended by a zero byte.
using AddressText = std::array<char, 8 + 1 + 16 + 1 + 8 + 1 + 32 + 1>;
static_assert(sizeof(AddressText) == 68, "the other side waits for 68 bytes");

AddressText encode(const Address& address);

/// Empty where text is not an address.
std::optional<Address> parse(std::span<const char> text);

/// "QPN 0x..., GID ..." for people.
std::string describe(const Address& address);

/// Why sides with these jobs cannot talk, empty where they can: only an absolute server is reached
/// from another job.
std::string why_apart(const Address& server, const Address& client);

}  // namespace ru_rma
