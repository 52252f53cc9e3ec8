// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <time.h>

#include "internal.hpp"

namespace cxi {
namespace {

std::uint64_t read_clock(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

std::uint64_t monotonic_ns() noexcept {
  return read_clock(CLOCK_MONOTONIC);
}

std::uint64_t coarse_monotonic_ns() noexcept {
  return read_clock(CLOCK_MONOTONIC_COARSE);
}

std::uint64_t realtime_ns() noexcept {
  return read_clock(CLOCK_REALTIME);
}

}  // namespace cxi
