// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fork_ranges.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

namespace verbs {

// Makes a bound at an address, and tells where it is. False when memory is short.
bool ForkRanges::split(uintptr_t at, size_t& index) noexcept {
  auto* bound = std::lower_bound(bounds_.begin(), bounds_.end(), at,
                                 [](const Bound& b, uintptr_t value) { return b.start < value; });
  index = static_cast<size_t>(bound - bounds_.begin());
  if (bound != bounds_.end() && bound->start == at) return true;
  return bounds_.insert(index, {at, users_before(index)});
}

// Takes bounds out that divide nothing any more.
void ForkRanges::merge(size_t first, size_t last) noexcept {
  for (size_t i = std::min(last + 1, bounds_.size()); i-- > first;)
    if (bounds_[i].users == users_before(i)) bounds_.remove(i);
  if (bounds_.empty()) bounds_.clear();
}

int ForkRanges::add(uintptr_t start, size_t length) noexcept {
  // Neighbours share a bound, or lose one between them, until one of them goes again.
  if (!bounds_.reserve(2 * (added_ + 1))) return ENOMEM;
  size_t first, last;
  if (!split(start, first)) return ENOMEM;
  if (!split(start + length, last)) {
    merge(first, first);
    return ENOMEM;
  }
  for (size_t i = first; i < last; i++) {
    if (bounds_[i].users) continue;
    uintptr_t from = bounds_[i].start;
    int error = advise_(from, bounds_[i + 1].start - from, MADV_DONTFORK);
    if (!error) continue;
    for (size_t done = i; done-- > first;)
      if (!bounds_[done].users)
        advise_(bounds_[done].start, bounds_[done + 1].start - bounds_[done].start, MADV_DOFORK);
    merge(first, last);
    return error;
  }
  for (size_t i = first; i < last; i++)
    bounds_[i].users++;
  merge(first, last);
  added_++;
  return 0;
}

int ForkRanges::remove(uintptr_t start, size_t length, size_t page_size) noexcept {
  size_t first, last;
  if (!split(start, first)) return ENOMEM;
  if (!split(start + length, last)) {
    merge(first, first);
    return ENOMEM;
  }
  for (size_t i = first; i < last; i++) {
    if (!bounds_[i].users || --bounds_[i].users) continue;
    uintptr_t from = bounds_[i].start, to = bounds_[i + 1].start;
    if (advise_(from, to - from, MADV_DOFORK) == 0) continue;
    // Some of it may be unmapped by now. What is still there must not stay hidden.
    for (; from < to; from += page_size)
      advise_(from, page_size, MADV_DOFORK);
  }
  if (added_) added_--;
  merge(first, last);
  return 0;
}

}  // namespace verbs
