// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "options.hpp"

#include <getopt.h>
#include <infiniband/verbs.h>

#include <cstdio>
#include <cstring>

#include "../common/options.hpp"
#include "../common/text.hpp"

namespace ru_pingpong {

namespace {

using examples::answer;
using examples::complain;
using examples::take;
using examples::take_mtu;
using examples::Taken;

enum LongOnly { opt_pid_on_fep = 0x100, opt_ri, opt_yield };

const option long_options[] = {
    {"port", required_argument, nullptr, 'p'},
    {"ib-dev", required_argument, nullptr, 'd'},
    {"ib-port", required_argument, nullptr, 'i'},
    {"size", required_argument, nullptr, 's'},
    {"mtu", required_argument, nullptr, 'm'},
    {"rx-depth", required_argument, nullptr, 'r'},
    {"iters", required_argument, nullptr, 'n'},
    {"events", no_argument, nullptr, 'e'},
    {"gid-idx", required_argument, nullptr, 'g'},
    {"chk", no_argument, nullptr, 'c'},
    {"new_send", no_argument, nullptr, 'N'},
    {"auto-qpn", no_argument, nullptr, 'Q'},
    {"imm", required_argument, nullptr, 'I'},
    {"sge", required_argument, nullptr, 'S'},
    {"lkey32", no_argument, nullptr, 'L'},
    {"pidonfep", required_argument, nullptr, opt_pid_on_fep},
    {"ri", required_argument, nullptr, opt_ri},
    {"yield", required_argument, nullptr, opt_yield},
    {"help", no_argument, nullptr, 'h'},
    {},
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
    case 'p':
      return answer(take("port", 1, 65535, o.port), Taken::usage);
    case 'd':
      o.device = optarg;
      return Taken::yes;
    case 'i':
      return answer(take("ib-port", 1, 255, o.ib_port), Taken::usage);
    case 's':
      return answer(take("size", 1, examples::max_count, o.size), Taken::no);
    case 'm':
      return answer(take_mtu(o.mtu), Taken::usage);
    case 'r':
      return answer(take("rx-depth", 1, examples::max_count, o.rx_depth), Taken::no);
    case 'n':
      return answer(take("iters", 1, examples::max_count, o.iters), Taken::no);
    case 'e':
      o.events = true;
      return Taken::yes;
    case 'g':
      return answer(take("gid-idx", 0, 255, o.gid_index), Taken::no);
    case 'c':
      o.check = true;
      return Taken::yes;
    case 'N':
      o.builders = true;
      return Taken::yes;
    case 'Q':
      o.auto_qpn = true;
      return Taken::yes;
    case 'I':
      if (std::strcmp(optarg, "32") != 0 && std::strcmp(optarg, "64") != 0) {
        complain("--imm must be 32 or 64");
        return Taken::no;
      }
      o.imm = optarg[0] == '3' ? 32 : 64;
      o.builders = true;
      return Taken::yes;
    case 'S':
      return answer(take("sge", 1, max_sges, o.sges), Taken::no);
    case 'L':
      o.lkey32 = true;
      return Taken::yes;
    case opt_pid_on_fep:
      return answer(examples::take_pid_on_fep(o.pid_on_fep), Taken::no);
    case opt_ri:
      return answer(examples::take_ri(o.ri), Taken::no);
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
  optind = 0;  // start afresh, also in a second call
  for (;;) {
    const int letter = getopt_long(argc, argv, "p:d:i:s:m:r:n:eg:cNQI:S:Lh", long_options, nullptr);
    if (letter == -1) break;
    if (letter == 'h') {
      usage(argv[0]);
      return 0;
    }
    const Taken taken = take_option(letter, options);
    if (taken == Taken::usage) usage(argv[0]);
    if (taken != Taken::yes) return 1;
  }
  if (optind + 1 < argc) {
    complain("one host at most, not also %s", argv[optind + 1]);
    usage(argv[0]);
    return 1;
  }
  if (optind < argc) options.host = argv[optind];
  if (options.size < options.sges) {
    complain("--size must be at least --sge: no entry may be empty");
    return 1;
  }
  return std::nullopt;
}

}  // namespace ru_pingpong
