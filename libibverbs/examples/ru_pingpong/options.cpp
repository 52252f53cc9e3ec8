// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "options.hpp"

#include <infiniband/verbs.h>

#include <cstdio>
#include <cstring>

#include "../common/text.hpp"

namespace ru_pingpong {

namespace {

using examples::answer;
using examples::complain;
using examples::take;
using examples::Taken;

enum LongOnly { opt_yield = 0x100 };

const option long_options[] = {
    {"new_send", no_argument, nullptr, 'N'},
    {"imm", required_argument, nullptr, 'I'},
    {"lkey32", no_argument, nullptr, 'L'},
    {"yield", required_argument, nullptr, opt_yield},
};

void usage(const char* program) {
  std::printf(
      "Usage:\n"
      "  %s            wait for a client\n"
      "  %s HOST       exchange messages with the server on HOST\n"
      "\n"
      "Options:\n"
      "  -p, --port=N       TCP port over which the two meet (18515)\n"
      "  -d, --ib-dev=NAME  device (the first one)\n"
      "  -i, --ib-port=N    port of the device (1)\n"
      "  -s, --size=N       bytes of a message (4096)\n"
      "  -m, --mtu=N        path MTU: 256, 512, 1024, 2048 or 4096; checked only\n"
      "  -r, --rx-depth=N   receives to post at a time (500)\n"
      "  -n, --iters=N      exchanges (1000)\n"
      "  -e, --events       sleep until completions arrive instead of polling\n"
      "  -g, --gid-idx=N    GID index (0 on Slingshot, must be given elsewhere)\n"
      "  -c, --chk          check the received data\n"
      "  -N, --new_send     post through the work request builders\n"
      "  -Q, --auto-qpn     let the device choose the queue pair number (default on Slingshot)\n"
      "  -I, --imm=32|64    send immediate data of that many bits, implies -N\n"
      "  -S, --sge=N        scatter-gather entries of a message, 1 to 8 (1)\n"
      "  -L, --lkey32       use 32-bit local keys\n"
      "      --pidonfep=N   PIDonFEP of the queue pair number (10)\n"
      "      --ri=N         resource index of the queue pair number (15)\n"
      "      --yield=WHEN   yield the processor while polling in vain: on, off or auto (auto: "
      "with\n"
      "                     fewer than four processors)\n"
      "  -h, --help         print this\n",
      program, program);
}

bool take_yield(std::optional<bool>& yield) {
  if (std::strcmp(optarg, "auto") == 0) {
    yield.reset();
  } else if (std::strcmp(optarg, "on") == 0 || std::strcmp(optarg, "off") == 0) {
    yield = optarg[1] == 'n';
  } else {
    complain("--yield must be on, off or auto, not %s", optarg);
    return false;
  }
  return true;
}

Taken take_option(int letter, Options& o) {
  switch (letter) {
    case 'N':
      o.builders = true;
      return Taken::yes;
    case 'I':
      if (std::strcmp(optarg, "32") != 0 && std::strcmp(optarg, "64") != 0) {
        complain("--imm must be 32 or 64");
        return Taken::no;
      }
      o.imm = optarg[0] == '3' ? 32 : 64;
      o.builders = true;
      return Taken::yes;
    case 'L':
      o.lkey32 = true;
      return Taken::yes;
    case opt_yield:
      return answer(take_yield(o.yield), Taken::no);
    default:
      return Taken::usage;
  }
}

}  // namespace

std::optional<std::uint32_t> Options::qpn(bool slingshot) const {
  const bool given = pid_on_fep || ri;
  if (auto_qpn || (slingshot && !given)) return std::nullopt;
  return examples::qpn_of(pid_on_fep, ri);
}

std::optional<int> parse_options(int argc, char** argv, Options& options) {
  return examples::parse_command_line(
      argc, argv, options,
      {"NI:L", long_options, [&](int letter) { return take_option(letter, options); }, usage, 1});
}

}  // namespace ru_pingpong
