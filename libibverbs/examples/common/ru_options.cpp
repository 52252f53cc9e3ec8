// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "ru_options.hpp"

#include "text.hpp"

namespace examples {

namespace {

enum LongOnly { opt_pid_on_fep = 0x1000, opt_ri };  // above those of the programs

constexpr const char* common_letters = "p:d:i:s:m:r:n:eg:cQS:h";
const option common_names[] = {
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
    {"auto-qpn", no_argument, nullptr, 'Q'},
    {"sge", required_argument, nullptr, 'S'},
    {"pidonfep", required_argument, nullptr, opt_pid_on_fep},
    {"ri", required_argument, nullptr, opt_ri},
    {"help", no_argument, nullptr, 'h'},
};

/// Empty where the option is not a common one.
std::optional<Taken> take_common(int letter, RuOptions& o) {
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
      return answer(take_mtu(o.mtu), Taken::usage);
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
    case 'Q':
      return flag(o.auto_qpn);
    case 'S':
      return answer(take("sge", 1, max_sges, o.sges), Taken::no);
    case opt_pid_on_fep:
      return answer(take_pid_on_fep(o.pid_on_fep), Taken::no);
    case opt_ri:
      return answer(take_ri(o.ri), Taken::no);
    case '?':
      return Taken::usage;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<int> parse_command_line(int argc, char** argv, RuOptions& common,
                                      const OwnOptions& own) {
  std::vector<option> names(std::begin(common_names), std::end(common_names));
  names.insert(names.end(), own.names.begin(), own.names.end());
  names.emplace_back();
  const std::string letters = std::string(common_letters) + own.letters;
  common.arguments.assign(argv + 1, argv + argc);
  optind = 0;  // start afresh, also in a second call
  for (;;) {
    const int letter = getopt_long(argc, argv, letters.c_str(), names.data(), nullptr);
    if (letter == -1) break;
    if (letter == 'h') {
      own.usage(argv[0]);
      return 0;
    }
    auto taken = take_common(letter, common);
    if (!taken) taken = own.take(letter);
    if (*taken == Taken::usage) own.usage(argv[0]);
    if (*taken != Taken::yes) return own.failure;
  }
  if (optind + 1 < argc) {
    complain("one host at most, not also %s", argv[optind + 1]);
    own.usage(argv[0]);
    return own.failure;
  }
  if (optind < argc) common.host = argv[optind];
  if (common.size < common.sges) {
    complain("--size must be at least --sge: no entry may be empty");
    return own.failure;
  }
  return std::nullopt;
}

}  // namespace examples
