// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "host/caller.hpp"
#include "host/procfs.hpp"

namespace sim::host {
namespace {

constexpr uint64_t smallest_page = 4096;

std::string of_task(pid_t task, const std::string& name) {
  return "/proc/" + std::to_string(task) + "/" + name;
}

}  // namespace

std::shared_ptr<Process> TrappedCaller::owner() {
  if (!owner_) owner_ = processes_.of(call_.task, [this] { return listener_.valid(call_.id); });
  return owner_;
}

pid_t TrappedCaller::process() const {
  if (owner_) return owner_->pid();
  auto pid = thread_group_of(call_.task);
  return pid ? *pid : call_.task;
}

const uverbs::Credentials& TrappedCaller::credentials() {
  if (!credentials_) {
    credentials_ = credentials_of(call_.task);
    // A caller that vanished has no rights.
    if (!credentials_ || !listener_.valid(call_.id))
      credentials_ =
          uverbs::Credentials{.uid = UINT_MAX, .euid = UINT_MAX, .gid = UINT_MAX, .egid = UINT_MAX};
  }
  return *credentials_;
}

bool TrappedCaller::read(uint64_t va, std::span<std::byte> out) {
  if (out.empty()) return true;
  // A mem descriptor would read what the caller itself may not, so it is for when we may not look.
  ssize_t moved = read_task(call_.task, va, out.data(), out.size());
  if (moved != -EPERM) return moved == static_cast<ssize_t>(out.size());
  if (auto process = owner()) return process->read(va, out);
  return false;
}

bool TrappedCaller::write(uint64_t va, std::span<const std::byte> in) {
  if (in.empty()) return true;
  // A few bytes for a task that need not be remembered, unless the kernel refuses.
  ssize_t moved = write_task(call_.task, va, in.data(), in.size());
  if (moved == static_cast<ssize_t>(in.size())) return true;
  if (moved != -EPERM) return false;
  if (auto process = owner()) return process->write(va, in);
  return false;
}

int TrappedCaller::check_range(uint64_t va, uint64_t length, bool writable) {
  auto process = owner();
  return process ? process->check_range(call_.task, va, length, writable) : EFAULT;
}

std::shared_ptr<nic::GuestMemory> TrappedCaller::memory() {
  return owner();
}

int TrappedCaller::install_fd(int fd) {
  return listener_.add_fd(call_.id, fd, true, false);
}

std::optional<uverbs::FileId> TrappedCaller::identify(int fd) {
  struct stat found {};
  if (fd < 0) return std::nullopt;
  if (::stat(of_task(call_.task, "fd/" + std::to_string(fd)).c_str(), &found) == 0)
    return uverbs::FileId{found.st_dev, found.st_ino};
  if (errno != EACCES && errno != EPERM) return std::nullopt;
  // The program gave up its uid, or made itself undumpable, and we may not look any more.
  auto process = processes_.known(call_.task);
  return process ? process->remembered(fd) : std::nullopt;
}

int TrappedCaller::take_fd(int fd) {
  // A thread may have descriptors of its own. Kernels before 6.9 know processes only.
  constexpr unsigned of_thread = O_EXCL;
  Fd owner(static_cast<int>(syscall(SYS_pidfd_open, call_.task, of_thread)));
  if (owner.get() < 0 && errno == EINVAL)
    owner = Fd(static_cast<int>(syscall(SYS_pidfd_open, process(), 0)));
  if (owner.get() < 0) return -errno;
  Fd copy(static_cast<int>(syscall(SYS_pidfd_getfd, owner.get(), fd, 0)));
  if (copy.get() < 0) return -errno;
  // The number may have come to name another process in the meantime.
  return listener_.valid(call_.id) ? copy.release() : -ESRCH;
}

std::optional<std::string> TrappedCaller::path(uint64_t va) {
  std::string text;
  char part[smallest_page];
  std::shared_ptr<Process> process;
  while (text.size() < PATH_MAX) {
    // Not beyond a page that is known to exist.
    size_t length = smallest_page - va % smallest_page;
    ssize_t moved = -EPERM;
    if (!process) moved = read_task(call_.task, va, part, length);
    if (moved == -EPERM) {
      if (!process) process = processes_.known(call_.task);
      if (!process || !process->read(va, std::as_writable_bytes(std::span(part, length))))
        return std::nullopt;
      moved = static_cast<ssize_t>(length);
    }
    if (moved <= 0) return std::nullopt;
    size_t got = strnlen(part, static_cast<size_t>(moved));
    text.append(part, got);
    if (got < static_cast<size_t>(moved)) return text;
    va += static_cast<size_t>(moved);
  }
  return std::nullopt;
}

std::optional<std::string> TrappedCaller::working_directory() const {
  return read_link(of_task(call_.task, "cwd"));
}

std::optional<std::string> TrappedCaller::descriptor_name(int fd) const {
  return read_link(of_task(call_.task, "fd/" + std::to_string(fd)));
}

}  // namespace sim::host
