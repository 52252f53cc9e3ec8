// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "cdev.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>

#include <cstdio>

#include "error.hpp"

namespace verbs {
namespace {

constexpr time_t patience_seconds = 5;

// Only a node with the right number will do: names are given out again after a hot unplug.
Fd open_node(const char* path, dev_t number) {
  Fd fd(open(path, O_RDWR | O_CLOEXEC));
  if (!fd) return fd;
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return Fd();
  if (!S_ISCHR(status.st_mode) || (number != 0 && status.st_rdev != number)) {
    errno = ENODEV;
    return Fd();
  }
  return fd;
}

Fd wait_for_node(dev_t number) {
  char path[64];
  snprintf(path, sizeof(path), "/dev/char/%u:%u", major(number), minor(number));
  Fd watch(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!watch || inotify_add_watch(watch.get(), "/dev/char/", IN_CREATE) < 0) return Fd();
  Fd timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const itimerspec limit{.it_interval = {}, .it_value = {.tv_sec = patience_seconds, .tv_nsec = 0}};
  if (!timer || timerfd_settime(timer.get(), 0, &limit, nullptr) != 0) return Fd();

  // The watch stands before the first try, so a node that appears in between is not missed.
  for (;;) {
    Fd fd = open_node(path, number);
    if (fd) return fd;
    int reason = errno;
    pollfd wakes[] = {{watch.get(), POLLIN, 0}, {timer.get(), POLLIN, 0}};
    if (poll(wakes, 2, -1) < 0 && errno != EINTR) return Fd();
    if (wakes[1].revents) {
      errno = reason;
      return Fd();
    }
    char events[4096];
    while (read(watch.get(), events, sizeof(events)) > 0) {
    }
  }
}

}  // namespace

Fd open_character_device(const char* name, dev_t number) noexcept {
  char path[sizeof(CXV_DEVICE_DIR) + 64];
  int length = snprintf(path, sizeof(path), "%s/%s", CXV_DEVICE_DIR, name);
  if (length < 0 || static_cast<size_t>(length) >= sizeof(path)) {
    errno = ENAMETOOLONG;
    return Fd();
  }
  Fd fd = open_node(path, number);
  if (fd || number == 0) return fd;
  // Permission is not a matter of waiting, and who is short of memory wants to know it now.
  if (errno == EACCES || errno == EPERM || is_shortage(errno)) return Fd();
  int reason = errno;
  fd = wait_for_node(number);
  if (!fd) errno = reason;
  return fd;
}

}  // namespace verbs
