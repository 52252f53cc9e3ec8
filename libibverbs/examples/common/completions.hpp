// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Waiting for completions, and saying why one failed.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>

#include "idle.hpp"
#include "peer_watch.hpp"

namespace examples {

/// Waits for a completion queue by polling or, where it has a channel, by sleeping on it, as long
/// as the peer lives. Destroy it, or acknowledge, before the queue.
class CompletionWait {
 public:
  CompletionWait(ibv_cq* cq, bool yields) : cq_(cq), idle_(yields) {}
  ~CompletionWait() { acknowledge(); }
  CompletionWait(const CompletionWait&) = delete;
  CompletionWait& operator=(const CompletionWait&) = delete;

  /// Asks for an event on the next completion, where there is a channel. False after a complaint.
  [[nodiscard]] bool arm();

  /// A poll has found something.
  void found(PeerWatch& watch) {
    idle_.found();
    watch.found();
  }

  /// A poll has found nothing: returns when another one may. False after a complaint.
  [[nodiscard]] bool nothing(PeerWatch& watch);

  /// Of the events that were taken.
  void acknowledge();

 private:
  ibv_cq* cq_;
  Idle idle_;
  unsigned events_ = 0;
};

/// What a failed completion means, and what to do about it. what starts with its article.
std::string why_failed(const char* what, enum ibv_wc_status status, std::uint32_t vendor_err);

}  // namespace examples
