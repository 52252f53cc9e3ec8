// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <string_view>

#include "../common/gid_text.hpp"
#include "../common/text.hpp"

namespace ru_pingpong {

using examples::format;

AddressText encode(const Address& address) {
  // As many digits as the numbers have: a QPN of more than 24 bits takes the room left for it.
  const std::string text =
      format("%04x:%06x:%06x:", address.lid & 0xffff, address.qpn, address.psn & 0xffffff) +
      examples::gid_text(address.gid);
  AddressText fixed{};
  std::copy_n(text.begin(), std::min(text.size(), fixed.size() - 1), fixed.begin());
  return fixed;
}

std::optional<Address> parse(std::span<const char> text) {
  const std::string_view whole(text.data(), std::ranges::find(text, '\0') - text.begin());
  const auto numbers = examples::leading_numbers<3>(whole);
  if (!numbers || std::ranges::max(numbers->values) > UINT32_MAX) return std::nullopt;
  const auto gid = examples::parse_gid(numbers->rest);
  if (!gid) return std::nullopt;
  Address address;
  address.lid = static_cast<std::uint32_t>(numbers->values[0]);
  address.qpn = static_cast<std::uint32_t>(numbers->values[1]);
  address.psn = static_cast<std::uint32_t>(numbers->values[2]);
  address.gid = *gid;
  return address;
}

std::string describe(const Address& address) {
  char gid[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, &address.gid, gid, sizeof(gid));
  return format("LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s", address.lid, address.qpn, address.psn,
                gid);
}

}  // namespace ru_pingpong
