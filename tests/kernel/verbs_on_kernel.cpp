// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Runs libibverbs on the kernel at hand and compares what it says with what the kernel says
// elsewhere.
//
//   verbs_on_kernel           all groups of checks
//   verbs_on_kernel GROUP...  some of them
#include <cstring>
#include <iterator>

#include "checks.hpp"

namespace {

struct Group {
  const char* name;
  void (*run)(guest::Report& report);
};

constexpr Group groups[] = {
    {"discovery", guest::check_discovery},
    {"discovery-without-netlink", guest::check_discovery_without_netlink},
    {"opening", guest::check_opening},
    {"device", guest::check_device},
    {"port", guest::check_port},
    {"gids", guest::check_gids},
    {"pkeys", guest::check_pkeys},
    {"memory", guest::check_memory},
    {"completion-queues", guest::check_completion_queues},
    {"queue-pairs", guest::check_queue_pairs},
    {"imports", guest::check_imports},
    {"fork", guest::check_fork},
    {"events", guest::check_events},
    {"many-cycles", guest::check_many_cycles},
    {"many-threads", guest::check_many_threads},
    {"coming-and-going", guest::check_coming_and_going},
    {"removal-while-open", guest::check_removal_while_open},
};

bool wanted(const char* name, int count, char** names) {
  for (int i = 0; i < count; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return count == 0;
}

}  // namespace

int main(int argc, char** argv) {
  guest::Report report;
  int run = 0;
  for (const Group& group : groups)
    if (wanted(group.name, argc - 1, argv + 1)) {
      fmt::print("GROUP {}\n", group.name);
      group.run(report);
      run++;
    }
  bool all_known = argc == 1 || run == argc - 1;
  fmt::print("DONE {} {}\n", report.checks(), report.failures());
  return report.failures() == 0 && all_known ? 0 : 1;
}
