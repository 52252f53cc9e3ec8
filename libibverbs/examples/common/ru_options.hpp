// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The part of the command line that the programs of the reliable-unconnected service have in
// common.
#pragma once

#include <getopt.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "options.hpp"

namespace examples {

constexpr unsigned max_sges = 8;

struct RuOptions {
  explicit RuOptions(unsigned default_iters) : iters(default_iters) {}

  std::string host;            ///< empty: this is the server
  std::uint16_t port = 18515;  ///< TCP
  std::string device;          ///< empty: the first one
  unsigned ib_port = 1;
  std::uint32_t size = 4096;
  unsigned mtu = 1024;
  unsigned rx_depth = 500;
  unsigned iters;
  bool events = false;
  bool check = false;
  std::optional<unsigned> gid_index;
  bool auto_qpn = false;
  unsigned sges = 1;
  std::optional<unsigned> pid_on_fep;
  std::optional<unsigned> ri;
  std::vector<std::string> arguments;  ///< all of them, to run the program again

  bool is_server() const { return host.empty(); }
};

/// What a program has besides.
struct OwnOptions {
  const char* letters;  ///< as getopt takes them
  std::span<const option> names;
  std::function<Taken(int letter)> take;
  void (*usage)(const char* program);
  int failure;  ///< exit status
};

/// Fills the options from the command line. The exit status where the program is to end: after a
/// complaint, or after help.
std::optional<int> parse_command_line(int argc, char** argv, RuOptions& common,
                                      const OwnOptions& own);

}  // namespace examples
