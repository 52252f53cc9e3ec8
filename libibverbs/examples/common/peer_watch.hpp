// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Notices that the peer has ended while this side still waits for it.
#pragma once

#include <chrono>
#include <optional>

#include "tcp.hpp"

namespace examples {

/// Nobody reports that a message will never come, so a side that only waits looks at the TCP
/// connection when nothing has completed for a while. That the peer has closed it is not enough: a
/// peer may close it right after the addresses are exchanged. Only if nothing completes afterwards
/// either has the peer ended.
class PeerWatch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds patience{1};  ///< until the connection is looked at
  static constexpr std::chrono::seconds grace{5};     ///< for more to complete once it is closed
  static constexpr unsigned polls_per_look = 1024;    ///< a look at the clock takes time

  explicit PeerWatch(const Connection& connection, Clock::time_point start = Clock::now())
      : connection_(connection), quiet_since_(start) {}

  /// Something has completed.
  void found() { found_ = true; }

  /// A poll has found nothing. False after a complaint that the peer has ended.
  [[nodiscard]] bool nothing() { return ++empty_ % polls_per_look != 0 || look(Clock::now()); }

  /// The same for who has slept: looks at once.
  [[nodiscard]] bool look(Clock::time_point now);

 private:
  const Connection& connection_;
  bool found_ = false;
  unsigned empty_ = 0;
  Clock::time_point quiet_since_;
  std::optional<Clock::time_point> closed_since_;
};

}  // namespace examples
