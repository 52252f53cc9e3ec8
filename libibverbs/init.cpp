// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "init.hpp"

#include <infiniband/cmd_write.h>
#include <infiniband/driver.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "environment.hpp"
#include "export.hpp"
#include "log.hpp"
#include "sysfs.hpp"

// Whether a destroy that the kernel refuses because the device is gone counts as done. Providers
// read it.
VERBS_EXPORT_DATA bool verbs_allow_disassociate_destroy = false;

namespace verbs {
namespace {

constexpr rlim_t small_memlock = 32768;

void init_fork_support() {
  if (!variable_is_on("RDMAV_FORK_SAFE") && !variable_is_on("IBV_FORK_SAFE")) return;
  if (ibv_fork_init())
    fprintf(stderr, "libibverbs: Warning: fork()-safety requested but init failed\n");
}

void check_memlock() {
  if (geteuid() == 0) return;
  rlimit limit;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
    fprintf(stderr, "libibverbs: Warning: getrlimit(RLIMIT_MEMLOCK) failed: %s\n", strerror(errno));
    return;
  }
  if (limit.rlim_cur > small_memlock) return;
  fprintf(stderr,
          "libibverbs: Warning: RLIMIT_MEMLOCK is %llu bytes.\n"
          "    This will severely limit memory registrations.\n",
          static_cast<unsigned long long>(limit.rlim_cur));
}

}  // namespace

int initialize_library() noexcept {
  init_fork_support();
  if (variable_is_on("RDMAV_ALLOW_DISASSOC_DESTROY") || variable_is_on("MLX4_DEVICE_FATAL_CLEANUP"))
    verbs_allow_disassociate_destroy = true;
  sysfs_root();
  check_memlock();
  init_log();
  return 0;
}

}  // namespace verbs
