// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// ibv_ru_rma: two programs read and write each other's memory over the reliable-unconnected
// service.
#include <cstdio>
#include <cstring>
#include <string>

#include "../common/peer_watch.hpp"
#include "../common/ru_meeting.hpp"
#include "endpoint.hpp"
#include "loop.hpp"
#include "options.hpp"

namespace {

using namespace ru_rma;

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
  const auto connection = examples::meet(endpoint, options, encode, parse);
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
  if (const auto status = parse_options(argc, argv, options))
    return *status == 0 && !examples::output_written() ? 255 : *status;
  return run(options) && examples::output_written() ? 0 : 255;
}
