// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A program like any other, which does one thing with the file system or a device and prints what
// happened. Knows nothing of the host but the ioctl language of the kernel double.
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "double_abi.hpp"

namespace {

using sim::host::tests::double_bytes;
using sim::host::tests::DoubleCall;
using sim::host::tests::DoublePages;
using sim::host::tests::Op;

constexpr const char* device = "/dev/infiniband/uverbs0";
using Words = std::vector<std::string>;

int say(int error) {
  std::puts(error == 0 ? "ok" : strerrorname_np(error));
  return 0;
}

int say_errno(bool ok) {
  return say(ok ? 0 : errno);
}

int open_device(int flags = O_RDWR | O_CLOEXEC) {
  int fd = open(device, flags);
  if (fd < 0) {
    std::perror(device);
    std::exit(2);
  }
  return fd;
}

uint64_t call(int fd, DoubleCall request) {
  if (ioctl(fd, RDMA_VERBS_IOCTL, &request) != 0) {
    std::printf("ioctl: %s\n", strerrorname_np(errno));
    std::exit(3);
  }
  return request.result;
}

void describe(const struct stat& found) {
  std::printf("%o %u:%u\n", found.st_mode, major(found.st_rdev), minor(found.st_rdev));
}

int do_stat(const Words& args) {
  struct stat found {};
  if (stat(args[0].c_str(), &found) != 0) return say(errno);
  describe(found);
  return 0;
}

// All ways to learn what a device node is.
int do_stat_device(const Words&) {
  struct stat found {};
  struct statx wide {};
  if (stat(device, &found) == 0) describe(found);
  if (lstat(device, &found) == 0) describe(found);
  int folder = open("/dev/infiniband", O_RDONLY | O_DIRECTORY);
  if (fstatat(folder, "uverbs0", &found, AT_SYMLINK_NOFOLLOW) == 0) describe(found);
  int fd = open_device();
  if (fstat(fd, &found) == 0) describe(found);
  for (int at : {AT_FDCWD, fd}) {
    bool by_fd = at == fd;
    if (statx(at, by_fd ? "" : device, by_fd ? AT_EMPTY_PATH : 0, STATX_BASIC_STATS, &wide) == 0)
      std::printf("%o %u:%u\n", wide.stx_mode, wide.stx_rdev_major, wide.stx_rdev_minor);
  }
  int named = open(device, O_PATH);
  if (fstat(named, &found) == 0) describe(found);
  return 0;
}

int do_list(const Words& args) {
  DIR* folder = opendir(args[0].c_str());
  if (folder == nullptr) return say(errno);
  Words names;
  while (dirent* entry = readdir(folder))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  closedir(folder);
  std::ranges::sort(names);
  for (const auto& name : names)
    std::printf("%s ", name.c_str());
  std::puts("");
  return 0;
}

int do_cat(const Words& args) {
  int folder = AT_FDCWD;
  if (args.size() > 1) folder = open(args[1].c_str(), O_RDONLY | O_DIRECTORY);
  int fd = openat(folder, args[0].c_str(), O_RDONLY);
  if (fd < 0) return say(errno);
  char text[256];
  ssize_t length = read(fd, text, sizeof(text));
  return length >= 0 && write(1, text, static_cast<size_t>(length)) == length ? 0 : 1;
}

int do_link(const Words& args) {
  char target[256];
  ssize_t length = readlink(args[0].c_str(), target, sizeof(target));
  if (length < 0) return say(errno);
  std::printf("%.*s\n", static_cast<int>(length), target);
  return 0;
}

int do_real(const Words& args) {
  char* path = realpath(args[0].c_str(), nullptr);
  if (path == nullptr) return say(errno);
  std::puts(path);
  std::free(path);
  return 0;
}

int do_access(const Words& args) {
  return say_errno(access(args[0].c_str(), std::atoi(args[1].c_str())) == 0);
}

int do_open(const Words& args) {  // path, flags in C's notation
  return say_errno(
      open(args[0].c_str(), static_cast<int>(std::strtol(args[1].c_str(), nullptr, 0)), 0600) >= 0);
}

int do_open_within(const Words& args) {  // folder, path, RESOLVE_ flags
  int folder = open(args[0].c_str(), O_RDONLY | O_DIRECTORY);
  open_how how{};
  how.flags = O_RDONLY;
  how.resolve = std::strtoull(args[2].c_str(), nullptr, 0);
  return say_errno(syscall(SYS_openat2, folder, args[1].c_str(), &how, sizeof(how)) >= 0);
}

int do_socket(const Words&) {
  return say_errno(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 20) >= 0);
}

int do_count(const Words& args) {
  int fd = open_device();
  uint64_t last = 0;
  for (int i = std::atoi(args[0].c_str()); i > 0; i--)
    last = call(fd, {.op = Op::count});
  std::printf("%llu\n", static_cast<unsigned long long>(last));
  return 0;
}

int do_fail(const Words& args) {
  DoubleCall request{.op = Op::fail, .length = std::strtoull(args[0].c_str(), nullptr, 10)};
  return say_errno(ioctl(open_device(), RDMA_VERBS_IOCTL, &request) == 0);
}

int do_other_ioctl(const Words&) {  // the number, but on something else
  DoubleCall request;
  int fd = open_device();
  int pipes[2];
  if (fd < 0 || pipe(pipes) != 0) return 1;
  return say_errno(ioctl(pipes[0], RDMA_VERBS_IOCTL, &request) == 0);
}

int do_timer(const Words& args) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  itimerval every{{0, 3000}, {0, 3000}};
  setitimer(ITIMER_REAL, &every, nullptr);
  int fd = open_device();
  uint64_t last = 0;
  for (int i = std::atoi(args[0].c_str()); i > 0; i--)
    last = call(fd, {.op = Op::slow_count});
  std::printf("%llu\n", static_cast<unsigned long long>(last));
  return 0;
}

int do_map(const Words&) {
  int fd = open_device();
  auto* pages = static_cast<DoublePages*>(
      mmap(nullptr, double_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  if (pages == MAP_FAILED) return say(errno);
  close(fd);  // the mapping keeps the file
  std::atomic_ref<uint64_t> bell(pages->bell), echo(pages->echo);
  for (uint64_t i = 1; i <= 1000; i++) {
    bell.store(i);
    while (echo.load() != i)
      sched_yield();
  }
  return say(ftruncate(open_device(), 0) == 0 ? 0 : errno);
}

// Round trips through the engine, for a look at its speed.
int do_rounds(const Words& args) {
  int fd = open_device();
  auto* pages = static_cast<DoublePages*>(
      mmap(nullptr, double_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  if (pages == MAP_FAILED) return say(errno);
  std::atomic_ref<uint64_t> bell(pages->bell), echo(pages->echo);
  auto rounds = std::strtoull(args[0].c_str(), nullptr, 10);
  bool spin = args.size() > 1;
  timespec from{}, to{};
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (uint64_t i = 1; i <= rounds; i++) {
    bell.store(i);
    while (echo.load() != i)
      if (!spin) sched_yield();
  }
  clock_gettime(CLOCK_MONOTONIC, &to);
  double ns = 1e9 * static_cast<double>(to.tv_sec - from.tv_sec) +
              static_cast<double>(to.tv_nsec - from.tv_nsec);
  std::printf("%.1f us per round\n", ns / 1000 / static_cast<double>(rounds));
  return 0;
}

int do_descriptors(const Words&) {  // however a descriptor got here, it is the same file
  int fd = open_device();
  int other = open_device();
  call(fd, {.op = Op::count});
  int copy = dup(fd);
  std::printf("%d ", static_cast<int>(call(copy, {.op = Op::count})));
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 1;
  std::fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    std::printf("%d ", static_cast<int>(call(fd, {.op = Op::count})));
    std::fflush(stdout);
    char byte = 0;
    iovec part{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof(int));
    _exit(sendmsg(pair[1], &message, 0) == 1 ? 0 : 1);
  }
  waitpid(child, nullptr, 0);
  char byte;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  if (recvmsg(pair[0], &message, 0) != 1) return 1;
  int received = -1;
  std::memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
  std::printf("%d ", static_cast<int>(call(received, {.op = Op::count})));
  std::printf("%d %d\n", static_cast<int>(call(fd, {.op = Op::same_file, .fd = received})),
              static_cast<int>(call(fd, {.op = Op::same_file, .fd = other})));
  return 0;
}

int do_exec(const Words& args) {  // keeps the descriptor over an exec
  int fd = open_device(O_RDWR);
  call(fd, {.op = Op::keep_memory});
  auto number = std::to_string(fd);
  execl(args[0].c_str(), args[0].c_str(), "after-exec", number.c_str(), nullptr);
  return say(errno);
}

std::vector<char>& large_buffer() {
  static std::vector<char> bytes(1 << 20, 'x');
  return bytes;
}

bool filled(int fd, size_t length, char with) {
  auto& bytes = large_buffer();
  std::ranges::fill(bytes, 'x');
  auto done = call(fd, {.op = Op::fill,
                        .fd = with,
                        .va = reinterpret_cast<uint64_t>(bytes.data()),
                        .length = length});
  return done == 1 && std::all_of(bytes.begin(), bytes.begin() + static_cast<long>(length),
                                  [&](char c) { return c == with; });
}

int do_after_exec(const Words& args) {
  int fd = std::atoi(args[0].c_str());
  auto& bytes = large_buffer();
  bool old_reached_us =
      filled(fd, 64, 'a') || filled(fd, bytes.size(), 'a') || std::ranges::count(bytes, 'a') != 0;
  call(fd, {.op = Op::keep_memory});
  std::printf("%s %s\n", old_reached_us ? "overwritten" : "untouched",
              filled(fd, 64, 'b') && filled(fd, bytes.size(), 'c') ? "filled" : "not filled");
  return 0;
}

int do_failed_exec(const Words&) {  // the old memory stays what was registered
  int fd = open_device();
  call(fd, {.op = Op::keep_memory});
  execl("/does/not/exist", "x", nullptr);
  std::puts(filled(fd, 64, 'b') && filled(fd, 1 << 20, 'c') ? "filled" : "not filled");
  return 0;
}

int do_memory(const Words& args) {
  int fd = open_device();
  call(fd, {.op = Op::keep_memory});
  if (args.size() > 0 && args[0] == "undumpable" && prctl(PR_SET_DUMPABLE, 0) != 0) return 1;
  if (args.size() > 0 && args[0] == "other-uid" && setresuid(12345, 12345, 12345) != 0) return 1;
  char text[] = "abcdef";
  call(fd, {.op = Op::reverse, .va = reinterpret_cast<uint64_t>(text), .length = 6});
  std::printf("%s %s %s\n", text, filled(fd, 64, 'b') ? "small" : "-",
              filled(fd, 1 << 20, 'c') ? "large" : "-");
  return 0;
}

int do_check_range(const Words&) {
  int fd = open_device();
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* at = static_cast<char*>(
      mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(at + page, page, PROT_READ);
  munmap(at + 2 * page, page);
  auto check = [&](uint64_t va, uint64_t length, int writable) {
    auto error = call(fd, {.op = Op::check, .fd = writable, .va = va, .length = length});
    std::printf("%s ", error == 0 ? "ok" : strerrorname_np(static_cast<int>(error)));
  };
  auto va = reinterpret_cast<uint64_t>(at);
  check(va, page, 1);
  check(va, 2 * page, 0);
  check(va, 2 * page, 1);
  check(va, 2 * page + 1, 0);
  check(va + 3 * page, page, 1);
  check(va, 0, 0);
  check(va, ~uint64_t{0}, 0);
  std::puts("");
  return 0;
}

// The first thread has ended before another one opens the device.
int do_without_first_thread(const Words&) {
  std::thread([] {
    auto state = [] {
      char text[512] = "";
      int fd = open(("/proc/" + std::to_string(getpid()) + "/stat").c_str(), O_RDONLY);
      ssize_t length = read(fd, text, sizeof(text) - 1);
      close(fd);
      const char* end = length > 0 ? strrchr(text, ')') : nullptr;
      return end != nullptr ? end[2] : '?';
    };
    while (state() != 'Z')
      sched_yield();
    std::_Exit((do_memory({}), do_check_range({}), std::fflush(nullptr)));
  }).detach();
  pthread_exit(nullptr);
}

// Gives up something, then opens a file by a path that leads through the tree.
int do_confined(const Words& args) {
  if (args[0] == "uid" && setresuid(12345, 12345, 12345) != 0) return say(errno);
  if (args[0] == "root" && (chroot("/proc") != 0 || chdir("/") != 0)) return say(errno);
  if (args[0] == "namespace" && unshare(CLONE_NEWUSER) != 0) return say(errno);
  struct stat found {};
  const char* path = "/sys/class/infiniband/../../../etc/hostname";
  int created = open("/dev/infiniband/../../tmp/cxi_sim_confined", O_CREAT | O_WRONLY, 0600);
  std::printf("%s", created < 0 ? "" : "created ");
  std::printf("%s %s ", stat(path, &found) == 0 ? "stat" : strerrorname_np(errno),
              access(path, R_OK) == 0 ? "access" : strerrorname_np(errno));
  say_errno(open(path, O_RDONLY) >= 0);
  return say_errno(open(device, O_RDWR) >= 0);
}

int do_unknown_flags(const Words&) {
  struct stat found {};
  struct statx wide {};
  constexpr int unknown = 0x40000000;
  auto tell = [](long result) { std::printf("%s ", result == 0 ? "ok" : strerrorname_np(errno)); };
  tell(syscall(SYS_newfstatat, AT_FDCWD, device, &found, unknown));
  tell(syscall(SYS_faccessat2, AT_FDCWD, device, R_OK, unknown));
  tell(syscall(SYS_statx, AT_FDCWD, device, unknown, STATX_BASIC_STATS, &wide));
  std::puts("");
  return 0;
}

// Calls whose structure may not be read, or not as a whole.
int do_unreadable(const Words&) {
  int fd = open_device();
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* at = static_cast<char*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  auto tell = [&](void* where) {
    std::printf("%s ", ioctl(fd, RDMA_VERBS_IOCTL, where) == 0 ? "ok" : strerrorname_np(errno));
  };
  tell(at);
  munmap(at + page, page);
  tell(at + page - 8);
  mprotect(at, page, PROT_NONE);
  tell(at);
  tell(nullptr);
  std::puts("");
  return 0;
}

int do_who(const Words&) {
  auto who = call(open_device(), {.op = Op::who});
  std::printf("%d %d\n", static_cast<pid_t>(who >> 32) == getpid() ? 1 : 0,
              (who & 0xffffffff) == geteuid() ? 1 : 0);
  return 0;
}

int do_install(const Words&) {
  int fd = static_cast<int>(call(open_device(), {.op = Op::install, .length = 4711}));
  struct stat found {};
  std::printf("%lld %d\n", fstat(fd, &found) == 0 ? static_cast<long long>(found.st_size) : -1,
              fcntl(fd, F_GETFD));
  return 0;
}

int do_hold(const Words& args) {  // until killed; with an argument only the mapping is held
  int fd = open_device();
  if (mmap(nullptr, double_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
    return 1;
  if (!args.empty()) close(fd);
  std::puts("ready");
  std::fflush(stdout);
  for (;;)
    pause();
}

// Waits until so many files are alive and released; the one asked through is alive, too.
int do_await(const Words& args) {
  int fd = open_device();
  uint64_t wanted = std::strtoull(args[0].c_str(), nullptr, 10) << 32 |
                    std::strtoull(args[1].c_str(), nullptr, 10);
  uint64_t have = 0;
  for (int tries = 0; tries < 2000; tries++) {
    have = call(fd, {.op = Op::opens});
    if (have == wanted) return say(0);
    usleep(5000);
  }
  std::printf("%u alive, %u released\n", static_cast<unsigned>(have >> 32),
              static_cast<unsigned>(have));
  return 1;
}

int do_many(const Words& args) {  // what starting an interpreter looks like
  struct stat found {};
  int good = 0;
  for (int i = std::atoi(args[0].c_str()); i > 0; i--) {
    int fd = open(i % 2 != 0 ? "/dev/null" : "/etc/passwd", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &found) == 0 && stat("/does/not/exist", &found) != 0) good++;
    close(fd);
  }
  std::printf("%d\n", good);
  return 0;
}

int do_threads(const Words& args) {  // all at once, each with its own file
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = std::atoi(args[0].c_str()); i > 0; i--)
    threads.emplace_back([&] {
      int fd = open_device();
      uint64_t last = 0;
      for (int n = 0; n < 100; n++)
        last = call(fd, {.op = Op::count});
      if (last == 100 && close(fd) == 0) good++;
    });
  for (auto& thread : threads)
    thread.join();
  std::printf("%d\n", good.load());
  return 0;
}

const std::map<std::string, std::function<int(const Words&)>> actions = {
    {"access", do_access},
    {"after-exec", do_after_exec},
    {"await", do_await},
    {"cat", do_cat},
    {"check-range", do_check_range},
    {"confined", do_confined},
    {"count", do_count},
    {"descriptors", do_descriptors},
    {"exec", do_exec},
    {"fail", do_fail},
    {"failed-exec", do_failed_exec},
    {"hold", do_hold},
    {"install", do_install},
    {"link", do_link},
    {"list", do_list},
    {"many", do_many},
    {"map", do_map},
    {"memory", do_memory},
    {"open", do_open},
    {"open-within", do_open_within},
    {"other-ioctl", do_other_ioctl},
    {"real", do_real},
    {"rounds", do_rounds},
    {"socket", do_socket},
    {"stat", do_stat},
    {"stat-device", do_stat_device},
    {"threads", do_threads},
    {"timer", do_timer},
    {"unknown-flags", do_unknown_flags},
    {"unreadable", do_unreadable},
    {"who", do_who},
    {"without-first-thread", do_without_first_thread},
};

}  // namespace

int main(int argc, char** argv) {
  auto action = actions.find(argc > 1 ? argv[1] : "");
  if (action == actions.end()) return 64;
  return action->second(Words(argv + 2, argv + argc));
}
