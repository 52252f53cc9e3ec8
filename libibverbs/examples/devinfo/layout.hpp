// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Where labels, values and flags stand in a line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "../common/text.hpp"

namespace devinfo {

struct Flag {
  std::uint64_t bit;
  const char* name;
};

/// A label that starts behind `indent` tabs and leaves room for the value at the column of its
/// block.
inline std::string label(int indent, std::string_view name) {
  const int to_value = indent == 1 ? 4 : 3;
  const int tabs = to_value - static_cast<int>((name.size() + 1) / 8);
  std::string text(static_cast<std::size_t>(indent), '\t');
  text += name;
  text += ':';
  return text.append(static_cast<std::size_t>(tabs > 0 ? tabs : 1), '\t');
}

constexpr int device_indent = 1;  // values at column 40
constexpr int port_indent = 3;    // values at column 48

/// One line per flag that is set, then one for the bits that have no name.
inline std::string flag_lines(std::uint64_t set, std::span<const Flag> names) {
  std::string text;
  for (const Flag& flag : names)
    if (set & flag.bit) examples::append(text, "\t\t\t\t\t%s\n", flag.name);
  for (const Flag& flag : names)
    set &= ~flag.bit;
  if (set)
    examples::append(text, "\t\t\t\t\tUnknown flags: 0x%llX\n",
                     static_cast<unsigned long long>(set));
  return text;
}

}  // namespace devinfo
