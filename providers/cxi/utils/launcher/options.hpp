// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What the command line asks for.
#pragma once

#include <infiniband/cxidv.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace launcher {

/// VNIs one by one, or the first and the last of a range.
struct Vnis {
  std::vector<std::uint16_t> list;
  bool range = false;
};

struct Limit {
  bool named = false;
  bool all = false;  // as many as the device has, none of them reserved
  std::uint32_t count = 0;
};
using Limits = std::array<Limit, CXIDV_RSRC_COUNT>;  // by enum cxidv_resource

struct Options {
  std::vector<std::string> devices;  // none: every Cassini device
  Vnis vnis;
  std::uint32_t tc_mask = 0;
  Limits limits;
  std::optional<std::string> user;
  std::optional<std::string> group;
  std::vector<int> keep_fds;
  std::vector<std::string> program;  // with its arguments
};

// Each throws Refusal for what cannot be.
Vnis parse_vnis(std::string_view text);
std::uint32_t parse_classes(std::string_view text);
void parse_limits(std::string_view text, Limits& limits);

/// Throws Refusal for a wrong command line; what --help and --version have to say comes as text,
/// and the options are then without a program.
struct ParsedLine {
  Options options;
  std::string answer;
};
ParsedLine parse_command_line(int argc, const char* const* argv);

}  // namespace launcher
