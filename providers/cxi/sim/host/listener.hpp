// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The kernel's notifications of trapped calls, and the answers to them.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/fd.hpp"

namespace sim::host {

struct Notification {
  uint64_t id = 0;
  pid_t task = 0;  // the thread that is inside the call
  int call = 0;
  std::array<uint64_t, 6> args{};

  template <class T>
  T arg(unsigned i) const {
    return static_cast<T>(args[i]);
  }
};

// Used by one receiving thread; answers may come from any.
class Listener {
 public:
  explicit Listener(Fd fd);

  int fd() const { return fd_.get(); }
  bool watched() const;  // a program is left under the filter

  // The next notification, or a positive errno: ENOENT: its caller has gone; EINTR.
  int receive(Notification* out);
  // Whether the caller is still inside the call: what was learned about it by its number up to now
  // is about it and not about a later task of the same number.
  bool valid(uint64_t id) const;

  void answer(uint64_t id, int64_t value) const;  // the call returns this
  void refuse(uint64_t id, int error) const;      // the call fails with this errno
  void proceed(uint64_t id) const;                // the kernel runs the call as if nobody listened

  // Puts a descriptor into the caller; returns its number there, or a negative errno (-ESRCH: the
  // caller has gone). With `finish` the call returns that number in the same step, so that none can
  // be lost.
  int add_fd(uint64_t id, int fd, bool close_on_exec, bool finish) const;

 private:
  void send(uint64_t id, int64_t value, int error, uint32_t flags) const;

  Fd fd_;
  std::vector<std::byte> request_;  // as long as this kernel says
  size_t response_size_ = 0;
};

}  // namespace sim::host
