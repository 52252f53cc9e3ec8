// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "staging.hpp"

#include <algorithm>

namespace cxi {

std::uint32_t UnitMap::search(std::uint32_t from, std::uint32_t to,
                              std::uint32_t count) const noexcept {
  std::uint32_t run = 0;
  for (std::uint32_t unit = from; unit < to; unit++) {
    if (unit % 64 == 0 && words_[unit / 64] == ~std::uint64_t{0}) {
      run = 0;
      unit += 63;
      continue;
    }
    run = taken(unit) ? 0 : run + 1;
    if (run == count) return unit + 1 - count;
  }
  return none;
}

std::uint32_t UnitMap::take(std::uint32_t count) noexcept {
  if (count == 0 || count > units) return none;
  std::uint32_t first = search(hint_, units, count);
  if (first == none) first = search(0, std::min(units, hint_ + count), count);
  if (first == none) return none;
  for (std::uint32_t unit = first; unit < first + count; unit++)
    words_[unit / 64] |= std::uint64_t{1} << (unit % 64);
  hint_ = first + count == units ? 0 : first + count;
  return first;
}

void UnitMap::give_back(std::uint32_t first, std::uint32_t count) noexcept {
  for (std::uint32_t unit = first; unit < first + count; unit++)
    words_[unit / 64] &= ~(std::uint64_t{1} << (unit % 64));
}

}  // namespace cxi
