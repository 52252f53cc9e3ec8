// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Makes memory or the kernel fail a chosen call of the thread that asks for it. The program defines
// malloc() and its like, ioctl() and mmap(), so that the libraries it loads call those
// (faults.cpp).
#pragma once

#include <cstddef>

namespace faults {

/// What may fail.
enum class Source {
  memory,  ///< allocations, and mappings that no file is behind
  kernel,  ///< commands to uverbs, and mappings of its files
};

/// While it lives, the nth call of this kind (1 is the first) fails with the given errno value;
/// with `all_after` every later one too. One at a time in each thread.
class Fault {
 public:
  Fault(Source source, unsigned nth, int error, bool all_after = false) noexcept;
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
  ~Fault();

  bool has_struck() const noexcept;
  /// From the next call on.
  void bring_forward() noexcept;
  /// Nothing fails any more. Returns whether something has.
  bool end() noexcept;
  /// The same, for those who do not have the fault at hand.
  static void stop() noexcept;
};

/// While it lives, nothing fails, and nothing is counted as a step.
class Pause {
 public:
  Pause() noexcept;
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;
  ~Pause();

 private:
  bool was_active_;
};

/// What this process holds.
struct Holdings {
  long allocations;
  long mapped_bytes;
  int descriptors;

  bool operator==(const Holdings&) const = default;
};
Holdings holdings() noexcept;

}  // namespace faults
