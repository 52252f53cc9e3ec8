// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// ibv_ru_rma: two programs read and write each other's memory over the reliable-unconnected
// service.
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "../common/peer_watch.hpp"
#include "../common/tcp.hpp"
#include "../common/text.hpp"
#include "endpoint.hpp"
#include "loop.hpp"
#include "options.hpp"

namespace {

using namespace ru_rma;
using examples::Connection;

std::optional<Address> receive_address(Connection& connection) {
  AddressText text;
  if (!connection.receive(text)) return std::nullopt;
  auto address = parse(text);
  if (!address)
    examples::complain("the peer sent no address: is it ibv_ru_rma that listens there?");
  return address;
}

/// The client speaks first, waits for the server's answer and says when it is ready.
std::optional<Connection> meet_server(Endpoint& endpoint, const Options& options) {
  auto connection = examples::connect_to(options.host, options.port, endpoint.ifindex());
  if (!connection || !connection->send(encode(endpoint.local()))) return std::nullopt;
  const auto peer = receive_address(*connection);
  if (!peer || !endpoint.connect(*peer) || !connection->send(done_text)) return std::nullopt;
  return connection;
}

/// The server answers only when it can reach the client.
std::optional<Connection> meet_client(Endpoint& endpoint, const Options& options) {
  auto connection = examples::accept_one(options.port);
  if (!connection) return std::nullopt;
  const auto peer = receive_address(*connection);
  if (!peer || !endpoint.connect(*peer) || !connection->send(encode(endpoint.local())))
    return std::nullopt;
  auto done = done_text;
  if (!connection->receive(done)) return std::nullopt;
  return connection;
}

const char* banner(Test test) {
  switch (test) {
    case Test::rma:
      return "RMA Read/Write Test (32b imm)";
    case Test::rma_ex:
      return "RMA Extended Read/Write Test (32b imm)";
    default:
      return "RMA Extended Read/Write Test (64b imm)";
  }
}

bool run(const Options& options) {
  Endpoint endpoint(options);
  if (!endpoint.open()) return false;
  const char* title = banner(options.test);
  std::printf("\n%s\n%s\n", title, std::string(std::strlen(title), '=').c_str());
  std::printf("local address: %s\n", describe(endpoint.local()).c_str());
  std::fflush(stdout);
  const auto connection = (options.is_server() ? meet_client : meet_server)(endpoint, options);
  if (!connection) return false;
  std::printf("remote address: %s\n", describe(endpoint.peer()).c_str());
  std::fflush(stdout);
  if (!exchange(endpoint, options, examples::PeerWatch(*connection))) return false;
  std::printf("Completed %u iterations\n", options.iters);
  return endpoint.close();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (const auto status = parse_options(argc, argv, options)) return *status;
  return run(options) ? 0 : 255;
}
