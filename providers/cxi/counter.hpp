// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion counters: counting events of the NIC, and what the NIC cannot know of them.
#pragma once

#include <infiniband/driver.h>

#include <atomic>
#include <cstdint>

#include "encode.hpp"
#include "lock.hpp"

namespace cxi {

struct Counter {
  static constexpr std::uint64_t max_value = (std::uint64_t{1} << 48) - 1;

  ibv_comp_cntr ibv;
  std::uint16_t ct;
  bool bytes;
  Lock lock;                              // the two halves of the value are read and set together
  std::atomic<std::uint64_t> correction;  // added to what the NIC has counted
  std::atomic<std::uint64_t> errors;      // requests that ended without success
  std::atomic<unsigned> users;            // places in queue pairs

  Count for_commands() const noexcept { return {.ct = ct, .bytes = bytes}; }
  std::uint64_t amount(std::uint64_t length) const noexcept { return bytes ? length : 1; }
  /// A success that the NIC did not count.
  void add(std::uint64_t length) noexcept {
    correction.fetch_add(amount(length), std::memory_order_relaxed);
  }
  /// Something that the NIC took for a success and that was none.
  void take_off(std::uint64_t length) noexcept {
    correction.fetch_sub(amount(length), std::memory_order_relaxed);
  }
  void add_error() noexcept { errors.fetch_add(1, std::memory_order_relaxed); }
};

/// What a queue pair's counters count.
enum class Counted : std::uint8_t { sends, reads, writes };

}  // namespace cxi
