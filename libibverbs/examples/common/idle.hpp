// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What a polling program does while there is nothing to do.
#pragma once

#include <sched.h>

namespace examples {

/// Whether this process may run on fewer than four processors. There, programs that spin take the
/// processor from each other, and from a software NIC.
inline bool few_processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) < 4;
}

/// Counts empty polls and yields the processor after a short burst of them.
class Idle {
 public:
  static constexpr int burst = 32;

  explicit Idle(bool yields) : yields_(yields) {}

  void found() { empty_ = 0; }

  /// Whether it yielded.
  bool nothing() {
    if (!yields_ || ++empty_ < burst) return false;
    empty_ = 0;
    sched_yield();
    return true;
  }

 private:
  bool yields_;
  int empty_ = 0;
};

}  // namespace examples
