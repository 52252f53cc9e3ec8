// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Options that several programs have in common, as getopt_long gives them (in optarg).
#pragma once

#include <cstdint>
#include <optional>

namespace examples {

constexpr unsigned max_count = 1U << 30;  ///< of anything that is counted

/// What became of an option: taken, or refused after a complaint, with or without the usage.
enum class Taken { yes, no, usage };

inline Taken answer(bool taken, Taken otherwise) {
  return taken ? Taken::yes : otherwise;
}

/// The number that the option was given. Empty after a complaint that it is not one from low to
/// high.
std::optional<std::uint64_t> number_given(const char* name, std::uint64_t low, std::uint64_t high);

/// The same, into value.
template <class T>
bool take(const char* name, std::uint64_t low, std::uint64_t high, T& value) {
  const auto given = number_given(name, low, high);
  if (given) value = static_cast<std::uint32_t>(*given);
  return given.has_value();
}

bool take_mtu(unsigned& mtu);

/// The queue pair number of these parts, or of the defaults: 10 and 15.
std::uint32_t qpn_of(std::optional<unsigned> pid_on_fep, std::optional<unsigned> ri);

/// Takes --pidonfep or --ri.
bool take_pid_on_fep(std::optional<unsigned>& value);
bool take_ri(std::optional<unsigned>& value);

}  // namespace examples
