// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "descriptors.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "failure.hpp"
#include "refusal.hpp"

namespace launcher {
namespace {

void close_range_on_exec(unsigned first, unsigned last) {
  if (first > last) return;
  if (syscall(SYS_close_range, first, last, CLOSE_RANGE_CLOEXEC) != 0) fail("close descriptors");
}

}  // namespace

std::vector<int> check_kept(std::vector<int> keep) {
  for (const int fd : keep)
    if (fd < 0 || fcntl(fd, F_GETFD) < 0)
      throw Refusal("--keep-fd: " + std::to_string(fd) +
                    " is not open: open it for cxi_launcher, such as 7<file");
  std::ranges::sort(keep);
  const auto doubles = std::ranges::unique(keep);
  keep.erase(doubles.begin(), doubles.end());
  return keep;
}

void close_others_on_exec(const std::vector<int>& keep) {
  unsigned next = STDERR_FILENO + 1;
  for (const int fd : keep) {
    if (static_cast<unsigned>(fd) < next) continue;
    close_range_on_exec(next, static_cast<unsigned>(fd) - 1);
    next = static_cast<unsigned>(fd) + 1;
    const int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC) < 0) fail("keep a descriptor");
  }
  close_range_on_exec(next, ~0u);
}

void open_standard_ones() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    if (open("/dev/null", O_RDWR) != fd) fail("open /dev/null");
  }
}

}  // namespace launcher
