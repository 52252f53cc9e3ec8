// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Waiting for what the NIC does soon, and that no event queue's reader may be asked to wait for.
#pragma once

#include <cstdint>

namespace cxi {

struct Context;

/// Asks the kernel, unless it is known: nobody tells those who only wait or poll.
bool is_gone(Context& context) noexcept;

class Waiting {
 public:
  explicit Waiting(Context& context) noexcept;
  /// Lets a moment pass. Returns 0, EIO when the device is gone, EBUSY when it takes too long.
  int pause() noexcept;

 private:
  Context& context_;
  std::uint64_t deadline_;
  unsigned rounds_ = 0;
};

}  // namespace cxi
