// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "peer_watch.hpp"

#include "text.hpp"

namespace examples {

bool PeerWatch::look(Clock::time_point now) {
  if (found_) {
    found_ = false;
    quiet_since_ = now;
    closed_since_.reset();
    return true;
  }
  if (closed_since_) {
    if (now - *closed_since_ < grace) return true;
    complain("the peer has ended before the exchange was complete: see its messages");
    return false;
  }
  if (now - quiet_since_ < patience) return true;
  quiet_since_ = now;
  if (connection_.closed_by_peer()) closed_since_ = now;
  return true;
}

}  // namespace examples
