// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "options.hpp"

#include <infiniband/verbs.h>

#include <cstdio>
#include <cstring>

#include "../common/text.hpp"

namespace ru_rma {

namespace {

using examples::answer;
using examples::complain;
using examples::number_given;
using examples::take;
using examples::Taken;

constexpr int failure = 255;

const option long_options[] = {
    {"test", required_argument, nullptr, 't'},      {"derive-mr", no_argument, nullptr, 'D'},
    {"addr-table", no_argument, nullptr, 'A'},      {"job-mr", no_argument, nullptr, 'J'},
    {"user-rkey", required_argument, nullptr, 'u'}, {"absolute", no_argument, nullptr, 'b'},
    {"job-id", required_argument, nullptr, 'j'},    {"write32", no_argument, nullptr, 'W'},
    {"read32", no_argument, nullptr, 'R'},
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
    case 't':
      return answer(take_test(o.test), Taken::no);
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
    default:
      return Taken::usage;
  }
}

/// Whether the options fit together.
bool check(const Options& o) {
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
  const auto status = examples::parse_command_line(
      argc, argv, options,
      {"t:DAJu:bj:WR", long_options, [&](int letter) { return take_option(letter, options); },
       usage, failure});
  if (!status && !check(options)) return failure;
  return status;
}

}  // namespace ru_rma
