// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The TCP connection over which two programs tell each other their addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace examples {

/// An open connection; closes itself.
class Connection {
 public:
  explicit Connection(int descriptor) : descriptor_(descriptor) {}
  ~Connection();
  Connection(Connection&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Connection& operator=(Connection&&) = delete;

  /// Sends or receives all of it. False after a complaint that names the peer's part in it.
  [[nodiscard]] bool send(std::span<const char> data);
  [[nodiscard]] bool receive(std::span<char> data);

  /// Whether the peer has closed its end, or is gone.
  bool closed_by_peer() const;

 private:
  int descriptor_;
};

/// Connects to host. A link-local IPv6 address without a scope gets the interface with index
/// ifindex, or where that is 0 the first one that has a link-local address. Where nobody
/// listens it is tried for two seconds. Empty after a complaint.
std::optional<Connection> connect_to(const std::string& host, std::uint16_t port, unsigned ifindex);

/// Waits for one client, over IPv6 or IPv4. Empty after a complaint.
std::optional<Connection> accept_one(std::uint16_t port);

}  // namespace examples
