// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "options.hpp"

#include <getopt.h>
#include <infiniband/verbs.h>

#include <cstdio>
#include <cstring>

#include "../common/options.hpp"
#include "../common/text.hpp"

namespace ru_rma {

namespace {

using examples::answer;
using examples::complain;
using examples::max_count;
using examples::number_given;
using examples::take;
using examples::Taken;

enum LongOnly { opt_pid_on_fep = 0x100, opt_ri };

constexpr int failure = 255;

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
    {"test", required_argument, nullptr, 't'},
    {"auto-qpn", no_argument, nullptr, 'Q'},
    {"derive-mr", no_argument, nullptr, 'D'},
    {"addr-table", no_argument, nullptr, 'A'},
    {"job-mr", no_argument, nullptr, 'J'},
    {"user-rkey", required_argument, nullptr, 'u'},
    {"absolute", no_argument, nullptr, 'b'},
    {"job-id", required_argument, nullptr, 'j'},
    {"write32", no_argument, nullptr, 'W'},
    {"read32", no_argument, nullptr, 'R'},
    {"sge", required_argument, nullptr, 'S'},
    {"pidonfep", required_argument, nullptr, opt_pid_on_fep},
    {"ri", required_argument, nullptr, opt_ri},
    {"help", no_argument, nullptr, 'h'},
    {},
};

void usage(const char* program) {
  std::printf(
      "Usage:\n"
      "  %s            wait for a client\n"
      "  %s HOST       read from and write to the memory of the server on HOST\n"
      "\n"
      "Options:\n"
      "  -p, --port=N         TCP port over which the two meet (18515)\n"
      "  -d, --ib-dev=NAME    device (the first one)\n"
      "  -i, --ib-port=N      port of the device (1)\n"
      "  -s, --size=N         bytes to read and write (4096)\n"
      "  -m, --mtu=N          path MTU: 256, 512, 1024, 2048 or 4096 (1024)\n"
      "  -r, --rx-depth=N     size of the receive queue (500)\n"
      "  -n, --iters=N        exchanges (100)\n"
      "  -e, --events         sleep until completions arrive instead of polling\n"
      "  -g, --gid-idx=N      GID index (0 on Slingshot, 1 elsewhere)\n"
      "  -c, --chk            check the data\n"
      "  -t, --test=WAY       rma, rma_ex or rma_ex64: post with ibv_post_send, or with builders\n"
      "                       and 32 or 64 bits of immediate data (rma_ex64)\n"
      "  -Q, --auto-qpn       let the device choose the queue pair number (default on Slingshot)\n"
      "  -D, --derive-mr      use a region derived from the registered one\n"
      "  -A, --addr-table     name the peer by the address table of the job\n"
      "  -J, --job-mr         restrict the region to the job\n"
      "  -u, --user-rkey=KEY  remote key of the region, chosen by the user\n"
      "  -b, --absolute       the server is reached from every job\n"
      "  -j, --job-id=N       job of this side (on Slingshot the first granted VNI, elsewhere 46)\n"
      "  -W, --write32        write with 32-bit remote keys\n"
      "  -R, --read32         read with 32-bit remote keys\n"
      "  -S, --sge=N          scatter-gather entries of a request, 1 to 8 (1)\n"
      "      --pidonfep=N     PIDonFEP of the queue pair number (10)\n"
      "      --ri=N           resource index of the queue pair number (15)\n"
      "  -h, --help           print this\n",
      program, program);
}

bool take_test(Test& test) {
  if (std::strcmp(optarg, "rma") == 0) {
    test = Test::rma;
  } else if (std::strcmp(optarg, "rma_ex") == 0) {
    test = Test::rma_ex;
  } else if (std::strcmp(optarg, "rma_ex64") == 0) {
    test = Test::rma_ex64;
  } else {
    complain("--test must be rma, rma_ex or rma_ex64, not %s", optarg);
    return false;
  }
  return true;
}

bool take_user_rkey(std::optional<std::uint64_t>& key) {
  key = number_given("user-rkey", 0, UINT64_MAX);
  return key.has_value();
}

Taken take_option(int letter, Options& o) {
  const auto flag = [](bool& value) {
    value = true;
    return Taken::yes;
  };
  switch (letter) {
    case 'p':
      return answer(take("port", 1, 65535, o.port), Taken::usage);
    case 'd':
      o.device = optarg;
      return Taken::yes;
    case 'i':
      return answer(take("ib-port", 1, 255, o.ib_port), Taken::usage);
    case 's':
      return answer(take("size", 1, max_count, o.size), Taken::no);
    case 'm':
      return answer(examples::take_mtu(o.mtu), Taken::usage);
    case 'r':
      return answer(take("rx-depth", 1, max_count, o.rx_depth), Taken::no);
    case 'n':
      return answer(take("iters", 1, max_count, o.iters), Taken::no);
    case 'e':
      return flag(o.events);
    case 'g':
      return answer(take("gid-idx", 0, 255, o.gid_index), Taken::no);
    case 'c':
      return flag(o.check);
    case 't':
      return answer(take_test(o.test), Taken::no);
    case 'Q':
      return flag(o.auto_qpn);
    case 'D':
      return flag(o.derive);
    case 'A':
      return flag(o.addr_table);
    case 'J':
      return flag(o.job_mr);
    case 'u':
      return answer(take_user_rkey(o.user_rkey), Taken::no);
    case 'b':
      return flag(o.absolute);
    case 'j':
      return answer(take("job-id", 0, UINT32_MAX, o.job_id), Taken::no);
    case 'W':
      return flag(o.write32);
    case 'R':
      return flag(o.read32);
    case 'S':
      return answer(take("sge", 1, max_sges, o.sges), Taken::no);
    case opt_pid_on_fep:
      return answer(examples::take_pid_on_fep(o.pid_on_fep), Taken::no);
    case opt_ri:
      return answer(examples::take_ri(o.ri), Taken::no);
    default:
      return Taken::usage;
  }
}

/// Whether the options fit together.
bool check(const Options& o) {
  if (o.size < o.sges) {
    complain("--size must be at least --sge: no entry may be empty");
    return false;
  }
  if (o.auto_qpn && (o.absolute || o.pid_on_fep || o.ri)) {
    complain("--auto-qpn lets the device choose: leave out --absolute, --pidonfep and --ri");
    return false;
  }
  if (!o.builders() && (o.write32 || o.read32)) {
    complain("--write32 and --read32 need the builders: use --test rma_ex or rma_ex64");
    return false;
  }
  return true;
}

}  // namespace

std::optional<std::uint32_t> Options::qpn(bool slingshot) const {
  const bool given = pid_on_fep || ri || absolute_server();
  if (auto_qpn || (slingshot && !given)) return std::nullopt;
  return examples::qpn_of(pid_on_fep, ri) | (absolute_server() ? IBV_QPN_ABSOLUTE_ADDR_BIT : 0);
}

std::optional<int> parse_options(int argc, char** argv, Options& options) {
  optind = 0;  // start afresh, also in a second call
  for (;;) {
    const int letter =
        getopt_long(argc, argv, "p:d:i:s:m:r:n:eg:ct:QDAJu:bj:WRS:h", long_options, nullptr);
    if (letter == -1) break;
    if (letter == 'h') {
      usage(argv[0]);
      return 0;
    }
    const Taken taken = take_option(letter, options);
    if (taken == Taken::usage) usage(argv[0]);
    if (taken != Taken::yes) return failure;
  }
  if (optind + 1 < argc) {
    complain("one host at most, not also %s", argv[optind + 1]);
    usage(argv[0]);
    return failure;
  }
  if (optind < argc) options.host = argv[optind];
  if (!check(options)) return failure;
  return std::nullopt;
}

}  // namespace ru_rma
