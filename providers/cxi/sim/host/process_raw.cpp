// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>

#include "host/process.hpp"
#include "host/procfs.hpp"

namespace sim::host {
namespace {

// From here on process_vm is faster than a mem descriptor.
constexpr size_t fast_copy_from = 8192;

Fd open_maps(pid_t task) {
  return Fd(open(("/proc/" + std::to_string(task) + "/maps").c_str(), O_RDONLY | O_CLOEXEC));
}

bool proc_folder_alive(int folder) {
  return faccessat(folder, "comm", F_OK, 0) == 0;
}

}  // namespace

Process::Process(pid_t pid, pid_t task, uint64_t start_time, bool fast_copies)
    : pid_(pid), start_time_(start_time), fast_copies_allowed_(fast_copies) {
  pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  mem_.reset(open(("/proc/" + std::to_string(task) + "/mem").c_str(), O_RDWR | O_CLOEXEC));
  maps_ = open_maps(pid);
}

// Calls `transfer` with a range until all is moved. False: nothing may be concluded, use the
// descriptor.
template <class Transfer>
bool Process::fast_copy(uint64_t va, size_t length, Transfer transfer) {
  std::shared_lock guard(fast_copies_);
  if (!fast_copies_allowed_) return false;
  // The number may have passed on to another process only after ours was reaped, which this sees.
  if (syscall(SYS_pidfd_send_signal, pidfd_.get(), 0, nullptr, 0) != 0 && errno == ESRCH)
    return false;
  for (size_t done = 0; done < length;) {
    ssize_t moved = transfer(va + done, done, length - done);
    if (moved <= 0) return false;
    done += static_cast<size_t>(moved);
  }
  return true;
}

bool Process::read(uint64_t va, std::span<std::byte> out) {
  if (out.size() >= fast_copy_from || !mem_) {
    bool done = fast_copy(va, out.size(), [&](uint64_t from, size_t at, size_t length) {
      return read_task(pid_, from, out.data() + at, length);
    });
    if (done || !mem_) return done;
  }
  for (size_t done = 0; done < out.size();) {
    ssize_t moved =
        pread(mem_.get(), out.data() + done, out.size() - done, static_cast<off_t>(va + done));
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    done += static_cast<size_t>(moved);
  }
  return true;
}

bool Process::write(uint64_t va, std::span<const std::byte> in) {
  if (in.size() >= fast_copy_from || !mem_) {
    bool done = fast_copy(va, in.size(), [&](uint64_t to, size_t at, size_t length) {
      return write_task(pid_, to, in.data() + at, length);
    });
    if (done || !mem_) return done;
  }
  for (size_t done = 0; done < in.size();) {
    ssize_t moved =
        pwrite(mem_.get(), in.data() + done, in.size() - done, static_cast<off_t>(va + done));
    if (moved < 0 && errno == EINTR) continue;
    // The memory has ended with its program, but the device is not released yet. Registered pages
    // stay pinned until then: a NIC would still write to them, and nobody could see it.
    if (moved == 0) return true;
    if (moved < 0) return false;
    done += static_cast<size_t>(moved);
  }
  return true;
}

int Process::check_range(pid_t task, uint64_t va, uint64_t length, bool writable) {
  uint64_t end = 0;
  if (length == 0 || __builtin_add_overflow(va, length, &end)) return EINVAL;
  std::lock_guard guard(maps_lock_);
  int copy = open_maps(task).release();
  if (copy < 0) copy = dup(maps_.get());  // for a stream of its own; the position is shared
  if (copy < 0) return EFAULT;
  lseek(copy, 0, SEEK_SET);
  FILE* maps = fdopen(copy, "r");
  if (maps == nullptr) {
    ::close(copy);
    return EFAULT;
  }
  char* line = nullptr;
  size_t room = 0;
  uint64_t reached = va;
  while (reached < end && getline(&line, &room, maps) > 0) {
    unsigned long long from = 0, to = 0;
    char rights[5] = {};
    if (std::sscanf(line, "%llx-%llx %4s", &from, &to, rights) != 3) break;
    if (to <= reached) continue;
    if (from > reached || rights[0] != 'r' || (writable && rights[1] != 'w')) break;
    reached = to;
  }
  std::free(line);
  std::fclose(maps);
  return reached >= end ? 0 : EFAULT;
}

void Process::end_fast_copies() {
  std::unique_lock guard(fast_copies_);
  fast_copies_allowed_ = false;
}

void Process::remember(int fd, uverbs::FileId id) {
  std::lock_guard guard(remembered_lock_);
  remembered_[fd] = id;
}

std::optional<uverbs::FileId> Process::remembered(int fd) {
  std::lock_guard guard(remembered_lock_);
  auto found = remembered_.find(fd);
  if (found == remembered_.end()) return std::nullopt;
  return found->second;
}

ssize_t read_task(pid_t task, uint64_t va, void* out, size_t length) {
  iovec local{out, length};
  iovec remote{reinterpret_cast<void*>(va), length};
  ssize_t moved = process_vm_readv(task, &local, 1, &remote, 1, 0);
  return moved < 0 ? -errno : moved;
}

ssize_t write_task(pid_t task, uint64_t va, const void* in, size_t length) {
  iovec local{const_cast<void*>(in), length};
  iovec remote{reinterpret_cast<void*>(va), length};
  ssize_t moved = process_vm_writev(task, &local, 1, &remote, 1, 0);
  return moved < 0 ? -errno : moved;
}

std::shared_ptr<Process> ProcessTable::find(pid_t task) {
  auto found = threads_.find(task);
  if (found == threads_.end()) return nullptr;
  if (proc_folder_alive(found->second.proc.get())) return found->second.process;
  threads_.erase(found);
  return nullptr;
}

std::shared_ptr<Process> ProcessTable::known(pid_t task) {
  std::lock_guard guard(lock_);
  return find(task);
}

std::shared_ptr<Process> ProcessTable::of(pid_t task, const std::function<bool()>& valid) {
  std::lock_guard guard(lock_);
  if (auto process = find(task)) return process;

  auto path = "/proc/" + std::to_string(task);
  Fd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return nullptr;
  auto pid = thread_group_of(task);
  if (!pid) return nullptr;
  auto start = start_time_of(*pid);
  if (!start || !valid()) return nullptr;

  std::shared_ptr<Process> process;
  for (auto& [number, thread] : threads_)
    if (thread.process->pid() == *pid && thread.process->start_time() == *start)
      process = thread.process;
  if (!process) {
    // While another thread is on its way into a new program, what we open may be of either; only a
    // descriptor tells them apart.
    bool settled = true;
    if (auto in_exec = in_exec_.find(*pid); in_exec != in_exec_.end()) {
      settled = in_exec->second == task;
      if (settled) in_exec_.erase(in_exec);
    }
    process = std::make_shared<Process>(*pid, task, *start, settled);
    if (!valid()) return nullptr;
    drop_ended();  // so that the dead do not outnumber the living
  }
  if (threads_.size() >= prune_at_) drop_ended();
  threads_[task] = Thread{std::move(folder), process};
  return process;
}

void ProcessTable::exec(pid_t task) {
  std::lock_guard guard(lock_);
  if (threads_.empty()) return;
  auto pid = thread_group_of(task);
  if (!pid) return;
  bool any = false;
  for (auto at = threads_.begin(); at != threads_.end();) {
    if (at->second.process->pid() == *pid) {
      at->second.process->end_fast_copies();
      at = threads_.erase(at);
      any = true;
    } else {
      ++at;
    }
  }
  if (!any) return;
  in_exec_[*pid] = task;
  if (in_exec_.size() >= prune_at_) drop_ended();
}

void ProcessTable::drop_ended() {
  std::erase_if(threads_, [](auto& entry) { return !proc_folder_alive(entry.second.proc.get()); });
  std::erase_if(in_exec_, [](auto& entry) { return !start_time_of(entry.first); });
  prune_at_ = std::max<size_t>(64, 2 * std::max(threads_.size(), in_exec_.size()));
}

}  // namespace sim::host
