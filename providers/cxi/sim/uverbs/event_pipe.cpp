// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/event_pipe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace sim::uverbs {
namespace {

// Writes without letting SIGPIPE out: it is blocked in this thread and taken back if it was raised.
ssize_t quiet_write(int fd, const void* data, size_t size) {
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  ssize_t n = ::write(fd, data, size);
  int error = errno;
  if (n < 0 && error == EPIPE && !was_pending) {
    const timespec now{};
    while (sigtimedwait(&pipe_signal, nullptr, &now) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return n;
}

}  // namespace

nic::Made<std::shared_ptr<EventPipe>> EventPipe::make(unsigned record_bytes, int* read_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {nullptr, errno};
  struct stat st {};
  if (fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0 || fstat(ends[0], &st) != 0) {
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    return {nullptr, error};
  }
  *read_end = ends[0];
  return {std::shared_ptr<EventPipe>(
              new EventPipe(ends[1], FileId{st.st_dev, st.st_ino}, record_bytes)),
          0};
}

EventPipe::~EventPipe() {
  shut();
}

void EventPipe::shut() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

EventPipe::Written EventPipe::write(std::span<const std::byte> record) {
  if (fd_ < 0) return Written::closed;
  // At most PIPE_BUF bytes, so a record is written whole or not at all.
  if (quiet_write(fd_, record.data(), record.size()) >= 0) return Written::done;
  return errno == EAGAIN ? Written::full : Written::closed;
}

unsigned EventPipe::remove(uint64_t subject) {
  if (fd_ < 0) return 0;
  int reader =
      open(("/proc/self/fd/" + std::to_string(fd_)).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (reader < 0) return 0;
  // What is there now and no more: a program can write to its own pipe without end.
  int there = 0;
  if (ioctl(reader, FIONREAD, &there) != 0) there = 0;
  std::vector<std::byte> all(static_cast<size_t>(there));
  const ssize_t got = read(reader, all.data(), all.size());
  all.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  unsigned removed = 0;
  for (size_t at = 0; at + record_bytes_ <= all.size(); at += record_bytes_) {
    uint64_t about;
    std::memcpy(&about, &all[at], sizeof about);
    if (about == subject) {
      ++removed;
    } else {
      // It has just come out of this pipe, so there is room; a reader that closes is no loss.
      (void)write({&all[at], record_bytes_});
    }
  }
  close(reader);
  return removed;
}

bool EventPipe::abandoned() const {
  if (fd_ < 0) return true;
  pollfd p{fd_, 0, 0};
  return poll(&p, 1, 0) > 0 && (p.revents & POLLERR) != 0;
}

}  // namespace sim::uverbs
