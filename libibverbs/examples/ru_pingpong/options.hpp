// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The command line of ibv_ru_pingpong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ru_pingpong {

constexpr unsigned max_sges = 8;

struct Options {
  std::string host;            ///< empty: this is the server
  std::uint16_t port = 18515;  ///< TCP
  std::string device;          ///< empty: the first one
  unsigned ib_port = 1;
  std::uint32_t size = 4096;
  unsigned mtu = 1024;  ///< checked, otherwise unused: the service has no path MTU to choose
  unsigned rx_depth = 500;
  unsigned iters = 1000;
  bool events = false;
  std::optional<unsigned> gid_index;
  bool check = false;
  bool builders = false;
  bool auto_qpn = false;
  unsigned imm = 0;  ///< bits of immediate data, 0 for none
  unsigned sges = 1;
  bool lkey32 = false;
  std::optional<unsigned> pid_on_fep;
  std::optional<unsigned> ri;
  std::optional<bool> yield;  ///< empty: as the number of processors suggests

  bool is_server() const { return host.empty(); }

  /// The queue pair number to ask for; empty lets the device choose. Two programs on one machine
  /// can only meet on a Slingshot device if it chooses, so there it is the default.
  std::optional<std::uint32_t> qpn(bool slingshot) const;
};

/// Fills options from the command line. The exit status where the program is to end: after a
/// complaint, or after help.
std::optional<int> parse_options(int argc, char** argv, Options& options);

}  // namespace ru_pingpong
