// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Which memory is kept out of children, and how often that was asked for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory.hpp"

namespace verbs {

// Disjoint ranges that cover the whole address space, each with a count. Not locked.
class ForkRanges {
 public:
  // Applies to one range whose count leaves or reaches zero: 0 or an errno value.
  using Advise = int (*)(uintptr_t start, size_t length, int advice);

  explicit constexpr ForkRanges(Advise advise) noexcept : advise_(advise) {}

  // One more, or one less, user of [start, start + length). When a range cannot be kept out,
  // nothing has changed. Giving back what was added never fails.
  int add(uintptr_t start, size_t length) noexcept;
  int remove(uintptr_t start, size_t length, size_t page_size) noexcept;

  size_t pieces() const noexcept { return bounds_.size(); }

 private:
  // From here to the next bound, that many users. The first bound is implicit: 0, nobody.
  struct Bound {
    uintptr_t start;
    unsigned users;
  };

  unsigned users_before(size_t i) const noexcept { return i ? bounds_[i - 1].users : 0; }
  bool split(uintptr_t at, size_t& index) noexcept;
  void merge(size_t first, size_t last) noexcept;

  GlobalArray<Bound> bounds_;
  size_t added_ = 0;  // and not given back: each has at most two bounds
  Advise advise_;
};

}  // namespace verbs
