// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The command line of ibv_ru_pingpong.
#pragma once

#include <cstdint>
#include <optional>

#include "../common/ru_options.hpp"

namespace ru_pingpong {

struct Options : examples::RuOptions {
  Options() : RuOptions(1000) {}

  bool builders = false;
  unsigned imm = 0;  ///< bits of immediate data, 0 for none
  bool lkey32 = false;
  std::optional<bool> yield;  ///< empty: as the number of processors suggests

  /// The queue pair number to ask for; empty lets the device choose. Two programs on one machine
  /// can only meet on a Slingshot device if it chooses, so there it is the default.
  std::optional<std::uint32_t> qpn(bool slingshot) const;
};

/// Fills options from the command line. The exit status where the program is to end: after a
/// complaint, or after help.
std::optional<int> parse_options(int argc, char** argv, Options& options);

}  // namespace ru_pingpong
