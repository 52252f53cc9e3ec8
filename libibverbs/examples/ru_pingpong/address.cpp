// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "../common/text.hpp"

namespace ru_pingpong {

using examples::append;
using examples::format;
using examples::number;

AddressText encode(const Address& address) {
  // As many digits as the numbers have: a QPN of more than 24 bits takes the room left for it.
  std::string text =
      format("%04x:%06x:%06x:", address.lid & 0xffff, address.qpn, address.psn & 0xffffff);
  for (std::uint8_t byte : address.gid.raw)
    append(text, "%02x", byte);
  AddressText fixed{};
  std::copy_n(text.begin(), std::min(text.size(), fixed.size() - 1), fixed.begin());
  return fixed;
}

std::optional<Address> parse(std::span<const char> text) {
  const std::string_view whole(text.data(), std::ranges::find(text, '\0') - text.begin());
  std::uint64_t numbers[3];
  std::size_t at = 0;
  for (std::uint64_t& value : numbers) {
    const std::size_t colon = whole.find(':', at);
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string digits = "0x" + std::string(whole.substr(at, colon - at));
    const auto given = number(digits.c_str(), 0, UINT32_MAX);
    if (!given) return std::nullopt;
    value = *given;
    at = colon + 1;
  }
  const std::string_view gid = whole.substr(at);
  Address address;
  if (gid.size() != 2 * sizeof(address.gid.raw)) return std::nullopt;
  for (std::size_t i = 0; i < sizeof(address.gid.raw); i++) {
    const auto byte = number(("0x" + std::string(gid.substr(2 * i, 2))).c_str(), 0, 255);
    if (!byte) return std::nullopt;
    address.gid.raw[i] = static_cast<std::uint8_t>(*byte);
  }
  address.lid = static_cast<std::uint32_t>(numbers[0]);
  address.qpn = static_cast<std::uint32_t>(numbers[1]);
  address.psn = static_cast<std::uint32_t>(numbers[2]);
  return address;
}

std::string describe(const Address& address) {
  char gid[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, &address.gid, gid, sizeof(gid));
  return format("LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s", address.lid, address.qpn, address.psn,
                gid);
}

}  // namespace ru_pingpong
