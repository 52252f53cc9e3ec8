// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/open_files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>
#include <system_error>
#include <vector>

namespace sim::host {
namespace {

uint64_t now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

// The name under which this process can open its descriptor again, as another open file.
std::string again(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

// Whether the probe is the only open file of its inode: the kernel grants a write lease only then
// (fcntl(2)). Mappings count as the open file that they were made from.
bool only_ours(int probe) {
  if (fcntl(probe, F_SETLEASE, F_WRLCK) == 0) {
    fcntl(probe, F_SETLEASE, F_UNLCK);
    return true;
  }
  return errno !=
         EAGAIN;  // a kernel that has no leases here: the first close is taken for the last
}

}  // namespace

OpenFiles::OpenFiles(uverbs::Kernel& kernel)
    : kernel_(kernel),
      inotify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  if (!inotify_) throw std::system_error(errno, std::generic_category(), "inotify");
  if (!stop_) throw std::system_error(errno, std::generic_category(), "eventfd");
}

OpenFiles::~OpenFiles() {
  stop();
}

void OpenFiles::start() {
  thread_ = std::thread(&OpenFiles::run, this);
}

void OpenFiles::stop() {
  if (thread_.joinable()) {
    eventfd_write(stop_.get(), 1);
    thread_.join();
  }
  std::map<uverbs::FileId, Entry> rest;
  {
    std::lock_guard guard(lock_);
    rest.swap(entries_);
    watches_.clear();
  }
  for (auto& [id, entry] : rest)
    release(*entry.open);
}

void OpenFiles::release(DeviceOpen& open) {
  std::unique_lock guard(open.in_use);
  if (std::exchange(open.released, true)) return;
  kernel_.release(*open.file);
}

int OpenFiles::add(std::shared_ptr<uverbs::OpenFile> file, unsigned nic, int access,
                   Fd* descriptor) {
  auto open = std::make_shared<DeviceOpen>();
  open->file = std::move(file);
  open->nic = nic;
  auto path = again(open->file->fd());
  Entry entry;
  entry.open = open;
  entry.probe.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!entry.probe) {
    int error = errno;
    release(*open);
    return error;
  }
  // The watch first: the descriptor may be closed at any time once it exists.
  std::unique_lock guard(lock_);
  entry.watch = inotify_add_watch(inotify_.get(), path.c_str(), IN_CLOSE);
  Fd made;
  if (entry.watch >= 0) made.reset(::open(path.c_str(), (access & O_ACCMODE) | O_CLOEXEC));
  if (entry.watch < 0 || !made) {
    int error = errno;
    if (entry.watch >= 0) inotify_rm_watch(inotify_.get(), entry.watch);
    guard.unlock();
    release(*open);
    return error;
  }
  auto id = open->file->id();
  watches_[entry.watch] = id;
  entries_[id] = std::move(entry);
  *descriptor = std::move(made);
  return 0;
}

std::shared_ptr<DeviceOpen> OpenFiles::find(const uverbs::FileId& id) {
  std::lock_guard guard(lock_);
  auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : found->second.open;
}

bool OpenFiles::empty() {
  return count() == 0;
}

size_t OpenFiles::count() {
  std::lock_guard guard(lock_);
  return entries_.size();
}

void OpenFiles::run() {
  int wait = -1;
  for (;;) {
    pollfd fds[2] = {{inotify_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (poll(fds, 2, wait) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0) return;
    read_events();
    wait = check();
  }
}

void OpenFiles::read_events() {
  alignas(inotify_event) char buffer[4096];
  ssize_t length;
  while ((length = read(inotify_.get(), buffer, sizeof(buffer))) > 0) {
    std::lock_guard guard(lock_);
    for (ssize_t at = 0; at < length;) {
      inotify_event event;
      std::memcpy(&event, buffer + at, sizeof(event));
      at += static_cast<ssize_t>(sizeof(event) + event.len);
      auto look_at = [](Entry& entry) {
        entry.check_at_ms = now_ms();
        entry.checks = 0;
      };
      if ((event.mask & IN_Q_OVERFLOW) != 0) {
        for (auto& [id, entry] : entries_)
          look_at(entry);
      } else if (auto watch = watches_.find(event.wd); watch != watches_.end()) {
        look_at(entries_.at(watch->second));
      }
    }
  }
}

int OpenFiles::check() {
  // The event is sent a moment before the count of open files goes down, so look again: soon, then
  // ever more seldom, as another open file of the same inode may be held for long.
  constexpr unsigned longest_pause_ms = 1000;
  std::vector<std::shared_ptr<DeviceOpen>> gone;
  uint64_t next = UINT64_MAX;
  uint64_t now = now_ms();
  {
    std::lock_guard guard(lock_);
    for (auto at = entries_.begin(); at != entries_.end();) {
      Entry& entry = at->second;
      if (entry.check_at_ms != 0 && entry.check_at_ms <= now) {
        if (only_ours(entry.probe.get())) {
          inotify_rm_watch(inotify_.get(), entry.watch);
          watches_.erase(entry.watch);
          gone.push_back(entry.open);
          at = entries_.erase(at);
          continue;
        }
        entry.check_at_ms = now + std::min(1u << std::min(entry.checks++, 16u), longest_pause_ms);
      }
      if (entry.check_at_ms != 0) next = std::min(next, entry.check_at_ms);
      ++at;
    }
  }
  for (auto& open : gone)
    release(*open);
  if (next == UINT64_MAX) return -1;
  return static_cast<int>(next > now ? next - now : 0);
}

}  // namespace sim::host
