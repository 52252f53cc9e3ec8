// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The text of addresses on the TCP connection: hexadecimal numbers and a GID between colons.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text.hpp"

namespace examples {

/// 32 digits.
inline std::string gid_text(const ibv_gid& gid) {
  std::string text;
  for (std::uint8_t byte : gid.raw)
    append(text, "%02x", byte);
  return text;
}

/// Empty where text is not 32 digits.
inline std::optional<ibv_gid> parse_gid(std::string_view text) {
  ibv_gid gid{};
  if (text.size() != 2 * sizeof(gid.raw)) return std::nullopt;
  for (std::size_t i = 0; i < sizeof(gid.raw); i++) {
    const auto byte = number(("0x" + std::string(text.substr(2 * i, 2))).c_str(), 0, 255);
    if (!byte) return std::nullopt;
    gid.raw[i] = static_cast<std::uint8_t>(*byte);
  }
  return gid;
}

template <std::size_t count>
struct LeadingNumbers {
  std::array<std::uint64_t, count> values;
  std::string_view rest;
};

/// The hexadecimal numbers that text starts with, each followed by a colon.
template <std::size_t count>
std::optional<LeadingNumbers<count>> leading_numbers(std::string_view text) {
  LeadingNumbers<count> found{};
  for (std::uint64_t& value : found.values) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto given = number(("0x" + std::string(text.substr(0, colon))).c_str(), 0, UINT64_MAX);
    if (!given) return std::nullopt;
    value = *given;
    text.remove_prefix(colon + 1);
  }
  found.rest = text;
  return found;
}

}  // namespace examples
