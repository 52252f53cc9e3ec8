// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "../common/gid_text.hpp"
#include "../common/text.hpp"

namespace ru_rma {

using examples::format;

std::uint32_t Address::src_id() const {
  std::uint32_t id;
  std::memcpy(&id, gid.raw + 12, sizeof(id));
  return id;
}

AddressText encode(const Address& address) {
  const std::string text = format("%08x:%016llx:%08x:", address.qpn,
                                  static_cast<unsigned long long>(address.rkey), address.job_id) +
                           examples::gid_text(address.gid);
  AddressText fixed{};
  std::copy_n(text.begin(), std::min(text.size(), fixed.size() - 1), fixed.begin());
  return fixed;
}

std::optional<Address> parse(std::span<const char> text) {
  const std::string_view whole(text.data(), std::ranges::find(text, '\0') - text.begin());
  const auto numbers = examples::leading_numbers<3>(whole);
  if (!numbers) return std::nullopt;
  const auto gid = examples::parse_gid(numbers->rest);
  if (!gid || numbers->values[0] > UINT32_MAX || numbers->values[2] > UINT32_MAX)
    return std::nullopt;
  return Address{static_cast<std::uint32_t>(numbers->values[0]), numbers->values[1],
                 static_cast<std::uint32_t>(numbers->values[2]), *gid};
}

std::string describe(const Address& address) {
  char gid[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, &address.gid, gid, sizeof(gid));
  return format("QPN 0x%06x, GID %s", address.qpn, gid);
}

std::string why_apart(const Address& server, const Address& client) {
  if (server.job_id == client.job_id || server.absolute()) return "";
  return format(
      "the server is in job %u, the client in job %u: give both the same --job-id, or the server "
      "--absolute",
      server.job_id, client.job_id);
}

}  // namespace ru_rma
