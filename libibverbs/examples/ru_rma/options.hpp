// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The command line of ibv_ru_rma.
#pragma once

#include <cstdint>
#include <optional>

#include "../common/ru_options.hpp"

namespace ru_rma {

/// How requests are posted, and with how many bits of immediate data.
enum class Test {
  rma,       ///< ibv_post_send, 32 bits
  rma_ex,    ///< builders, 32 bits
  rma_ex64,  ///< builders, 64 bits
};

struct Options : examples::RuOptions {
  Options() : RuOptions(100) {}

  Test test = Test::rma_ex64;
  bool derive = false;      ///< use a region derived from the registered one
  bool addr_table = false;  ///< name the peer by an index of the job's address table
  bool job_mr = false;      ///< restrict the region to the job
  std::optional<std::uint64_t> user_rkey;
  bool absolute = false;  ///< the server is reached whatever the client's job is
  std::optional<std::uint32_t> job_id;
  bool write32 = false;
  bool read32 = false;

  bool builders() const { return test != Test::rma; }
  bool absolute_server() const { return absolute && is_server(); }

  /// The queue pair number to ask for; empty lets the device choose, which it can only with
  /// relative addressing. On Slingshot that is the default, so that two programs on one machine
  /// meet.
  std::optional<std::uint32_t> qpn(bool slingshot) const;
};

/// Fills options from the command line. The exit status where the program is to end: after a
/// complaint, or after help.
std::optional<int> parse_options(int argc, char** argv, Options& options);

}  // namespace ru_rma
