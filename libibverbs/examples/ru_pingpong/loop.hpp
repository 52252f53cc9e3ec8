// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The exchange of messages.
#pragma once

#include <optional>

#include "../common/peer_watch.hpp"
#include "endpoint.hpp"
#include "options.hpp"

namespace ru_pingpong {

/// Sends and receives options.iters messages, while the peer lives. The time it took in
/// microseconds; empty after a complaint.
std::optional<double> exchange(Endpoint& endpoint, const Options& options,
                               examples::PeerWatch watch);

}  // namespace ru_pingpong
