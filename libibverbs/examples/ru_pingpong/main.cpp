// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// ibv_ru_pingpong: two programs exchange messages over the reliable-unconnected service.
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "../common/peer_watch.hpp"
#include "../common/tcp.hpp"
#include "../common/text.hpp"
#include "endpoint.hpp"
#include "loop.hpp"
#include "options.hpp"
#include "report.hpp"

namespace {

using namespace ru_pingpong;
using examples::Connection;

std::optional<Address> receive_address(Connection& connection) {
  AddressText text;
  if (!connection.receive(text)) return std::nullopt;
  auto address = parse(text);
  if (!address)
    examples::complain("the peer sent no address: is it ibv_ru_pingpong that listens there?");
  return address;
}

/// The client speaks first, waits for the server's answer and says when it is ready.
std::optional<Connection> meet_server(Endpoint& endpoint, const Options& options) {
  auto connection = examples::connect_to(options.host, options.port, endpoint.ifindex());
  if (!connection || !connection->send(encode(endpoint.local()))) return std::nullopt;
  const auto peer = receive_address(*connection);
  if (!peer || !endpoint.connect(*peer) || !connection->send(done_text)) return std::nullopt;
  std::printf("  remote address: %s\n", describe(*peer).c_str());
  return connection;
}

/// The server answers only when it can be reached.
std::optional<Connection> meet_client(Endpoint& endpoint, const Options& options) {
  auto connection = examples::accept_one(options.port);
  if (!connection) return std::nullopt;
  const auto peer = receive_address(*connection);
  if (!peer || !endpoint.connect(*peer) || !connection->send(encode(endpoint.local())))
    return std::nullopt;
  auto done = done_text;
  if (!connection->receive(done)) return std::nullopt;
  std::printf("  remote address: %s\n", describe(*peer).c_str());
  return connection;
}

bool run(const Options& options) {
  Endpoint endpoint(options);
  if (!endpoint.open()) return false;
  std::printf("  local address:  %s\n", describe(endpoint.local()).c_str());
  std::fflush(stdout);
  const auto connection = (options.is_server() ? meet_client : meet_server)(endpoint, options);
  if (!connection) return false;
  std::fflush(stdout);

  const auto usec = exchange(endpoint, options, examples::PeerWatch(*connection));
  if (!usec) return false;
  std::fputs(figures(options.size, options.iters, *usec).c_str(), stdout);
  bool right = true;
  if (options.check && options.is_server()) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::string wrong = check_pages(endpoint.buffer(), page);
    std::fputs(wrong.c_str(), stdout);
    right = wrong.empty();
  }
  return endpoint.close() && right;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (const auto status = parse_options(argc, argv, options)) return *status;
  return run(options) ? 0 : 1;
}
