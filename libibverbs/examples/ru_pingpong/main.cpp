// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// ibv_ru_pingpong: two programs exchange messages over the reliable-unconnected service.
#include <unistd.h>

#include <cstdio>

#include "../common/peer_watch.hpp"
#include "../common/ru_meeting.hpp"
#include "endpoint.hpp"
#include "loop.hpp"
#include "options.hpp"
#include "report.hpp"

namespace {

using namespace ru_pingpong;

bool run(const Options& options) {
  Endpoint endpoint(options);
  if (!endpoint.open()) return false;
  std::printf("  local address:  %s\n", describe(endpoint.local()).c_str());
  std::fflush(stdout);
  const auto connection = examples::meet(endpoint, options, encode, parse);
  if (!connection) return false;
  std::printf("  remote address: %s\n", describe(endpoint.peer()).c_str());
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
  if (const auto status = parse_options(argc, argv, options))
    return *status == 0 && !examples::output_written() ? 1 : *status;
  return run(options) && examples::output_written() ? 0 : 1;
}
