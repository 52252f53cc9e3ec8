// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The reads and writes of both sides, in turn.
#pragma once

#include "../common/peer_watch.hpp"
#include "endpoint.hpp"
#include "options.hpp"

namespace ru_rma {

/// options.iters exchanges, while the peer lives. False after a complaint.
[[nodiscard]] bool exchange(Endpoint& endpoint, const Options& options, examples::PeerWatch watch);

}  // namespace ru_rma
