// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// How the two sides of a program learn each other's address.
#pragma once

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "ru_options.hpp"
#include "tcp.hpp"
#include "text.hpp"

namespace examples {

/// What the client sends when it is ready.
constexpr std::array<char, 5> done_text{'d', 'o', 'n', 'e', '\0'};

/// Tells the peer over TCP the address of this side, in the fixed text that encode makes of it, and
/// connects the endpoint to the one that parse finds in the answer. The client speaks first and
/// says in the end that it is ready; the server answers only when it can reach the client. Empty
/// after a complaint.
template <class Endpoint, class Encode, class Parse>
std::optional<Connection> meet(Endpoint& endpoint, const RuOptions& options, Encode encode,
                               Parse parse) {
  auto connection = options.is_server()
                        ? accept_one(options.port)
                        : connect_to(options.host, options.port, endpoint.ifindex());
  const auto local = encode(endpoint.local());
  if (!connection || (!options.is_server() && !connection->send(local))) return std::nullopt;
  auto text = local;  // of the same length
  if (!connection->receive(text)) return std::nullopt;
  const auto peer = parse(text);
  if (!peer) {
    complain("the peer sent no address: is it %s that listens there?",
             program_invocation_short_name);
    return std::nullopt;
  }
  if (!endpoint.connect(*peer)) return std::nullopt;
  auto done = done_text;
  const bool ready = options.is_server() ? connection->send(local) && connection->receive(done)
                                         : connection->send(done);
  return ready ? std::move(connection) : std::nullopt;
}

}  // namespace examples
