// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Processes of the model's programs and their memory. A process is told from a later one of the
// same number by its start time, and its memory from that of the program it execs by descriptors
// that were opened before.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "host/fd.hpp"
#include "uverbs/kernel.hpp"

namespace sim::host {

// The memory of one process, until it execs or ends. Descriptors of it are opened at once, while
// the kernel permits: a program that gives up its uid later keeps working.
class Process final : public nic::GuestMemory {
 public:
  // By one of its threads: the first one may have ended, and has no memory then.
  Process(pid_t pid, pid_t task, uint64_t start_time, bool fast_copies);

  pid_t pid() const { return pid_; }
  uint64_t start_time() const { return start_time_; }

  bool read(uint64_t va, std::span<std::byte> out) override;
  bool write(uint64_t va, std::span<const std::byte> in) override;
  // 0, EINVAL (empty or wraps), or EFAULT: a byte is not mapped with the rights asked for.
  // `task` is a thread that lives.
  int check_range(pid_t task, uint64_t va, uint64_t length, bool writable);

  // The process is about to exec: large copies, which name it by number, end here. Waits for
  // running ones.
  void end_fast_copies();

  // What the process was given under a descriptor number; asked where the kernel refuses a look.
  void remember(int fd, uverbs::FileId id);
  std::optional<uverbs::FileId> remembered(int fd);

 private:
  template <class Transfer>
  bool fast_copy(uint64_t va, size_t length, Transfer transfer);

  const pid_t pid_;
  const uint64_t start_time_;
  Fd pidfd_;
  Fd mem_;   // /proc/PID/mem
  Fd maps_;  // /proc/PID/maps, for when another one may not be opened any more
  std::mutex maps_lock_;
  std::shared_mutex fast_copies_;
  bool fast_copies_allowed_ = true;  // under fast_copies_
  std::mutex remembered_lock_;
  std::map<int, uverbs::FileId> remembered_;
};

// Reads and writes of a task that is inside a trapped call, by its number. Bytes moved, or -errno.
ssize_t read_task(pid_t task, uint64_t va, void* out, size_t length);
ssize_t write_task(pid_t task, uint64_t va, const void* in, size_t length);

// Processes that use a device, found by any of their threads.
class ProcessTable {
 public:
  // The process of a task. `valid` says whether the task is still the one meant; null if not.
  std::shared_ptr<Process> of(pid_t task, const std::function<bool()>& valid);
  // The same, but only if it is known already.
  std::shared_ptr<Process> known(pid_t task);
  // The task is about to exec.
  void exec(pid_t task);

 private:
  struct Thread {
    Fd proc;  // its folder in /proc: reads nothing once the thread has ended
    std::shared_ptr<Process> process;
  };

  std::shared_ptr<Process> find(pid_t task);
  void drop_ended();

  std::mutex lock_;
  std::map<pid_t, Thread> threads_;
  std::map<pid_t, pid_t> in_exec_;  // process to the task that is in execve
  size_t prune_at_ = 64;
};

}  // namespace sim::host
