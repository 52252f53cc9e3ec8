// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Things that are given back at the end of a block: file descriptors and pthread locks.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace verbs {

class [[nodiscard]] Fd {
 public:
  explicit Fd(int fd = -1) noexcept : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = other.release();
    }
    return *this;
  }
  ~Fd() { reset(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  void reset() noexcept {
    if (fd_ < 0) return;
    int kept = errno;  // the caller wants to know why it gave up, not how close() went
    close(fd_);
    errno = kept;
    fd_ = -1;
  }

  int fd_;
};

class [[nodiscard]] Locked {
 public:
  explicit Locked(pthread_mutex_t& mutex) noexcept : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace verbs
