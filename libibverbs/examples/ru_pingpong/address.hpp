// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The address of one side, and its text on the TCP connection.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ru_pingpong {

struct Address {
  std::uint32_t lid = 0;
  std::uint32_t qpn = 0;
  std::uint32_t psn = 0;  ///< for the look only: the service numbers its packets itself
  union ibv_gid gid {};
};

/// LID:QPN:PSN:GID in hexadecimal, and zeros up to the fixed length. Both sides always send all of
/// it.
using AddressText = std::array<char, sizeof("0000:000000:0000:000000:") - 1 + 32 + 1>;
static_assert(sizeof(AddressText) == 57, "the other side waits for 57 bytes");

AddressText encode(const Address& address);

/// Empty where text is not an address.
std::optional<Address> parse(std::span<const char> text);

/// "LID 0x..., QPN 0x..., PSN 0x..., GID ..." for people.
std::string describe(const Address& address);

}  // namespace ru_pingpong
