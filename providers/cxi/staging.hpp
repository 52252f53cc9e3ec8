// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Room for messages that must be gathered or scattered: registered memory handed out in pieces. The
// bookkeeping is separate from the memory, and pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lock.hpp"

namespace cxi {

/// Which units of an arena are taken: first fit from where the last search ended.
class UnitMap {
 public:
  static constexpr std::uint32_t units = 16384;
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// The first of so many free units in a row, now taken; none when there is no such row.
  std::uint32_t take(std::uint32_t count) noexcept;
  void give_back(std::uint32_t first, std::uint32_t count) noexcept;

 private:
  bool taken(std::uint32_t unit) const noexcept { return words_[unit / 64] >> (unit % 64) & 1; }
  std::uint32_t search(std::uint32_t from, std::uint32_t to, std::uint32_t count) const noexcept;

  std::uint64_t words_[units / 64];
  std::uint32_t hint_;
};

/// 8 MiB for one direction of a protection domain.
class Staging {
 public:
  static constexpr std::uint32_t unit_bytes = 512;
  static constexpr std::uint64_t bytes = std::uint64_t{UnitMap::units} * unit_bytes;

  std::byte* memory = nullptr;
  std::uint64_t iova = 0;
  std::uint8_t lac = 0;

  /// The offset of a block for a message, or UnitMap::none.
  std::uint32_t take(std::uint64_t length) noexcept {
    Guard guard(lock_);
    const std::uint32_t first = map_.take(units_of(length));
    return first == UnitMap::none ? first : first * unit_bytes;
  }
  void give_back(std::uint32_t offset, std::uint64_t length) noexcept {
    Guard guard(lock_);
    map_.give_back(offset / unit_bytes, units_of(length));
  }

 private:
  static std::uint32_t units_of(std::uint64_t length) noexcept {
    return static_cast<std::uint32_t>((length + unit_bytes - 1) / unit_bytes);
  }

  Lock lock_;
  UnitMap map_;
};

}  // namespace cxi
