// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/filter.hpp"

#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

namespace sim::host {
namespace {

#if defined(__x86_64__)
constexpr uint32_t native_arch = AUDIT_ARCH_X86_64;
constexpr uint32_t foreign_numbers = 0x40000000;  // calls of the x32 ABI carry this bit
#elif defined(__aarch64__)
constexpr uint32_t native_arch = AUDIT_ARCH_AARCH64;
constexpr uint32_t foreign_numbers = 0x80000000;
#else
#error "the software Cassini knows the system calls of x86_64 and aarch64 only"
#endif

constexpr uint32_t notified_calls[] = {
#ifdef __NR_open
    __NR_open,      __NR_stat,       __NR_lstat,      __NR_access,     __NR_readlink,
#endif
    __NR_openat,    __NR_openat2,    __NR_newfstatat, __NR_statx,      __NR_fstat,
    __NR_faccessat, __NR_faccessat2, __NR_readlinkat, __NR_execve,     __NR_execveat,
    __NR_getxattr,  __NR_lgetxattr,  __NR_listxattr,  __NR_llistxattr,
};

constexpr uint32_t low_word(unsigned argument) {
  return offsetof(seccomp_data, args) + argument * sizeof(uint64_t);  // both are little endian
}

sock_filter load(uint32_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}
sock_filter give(uint32_t verdict) {
  return BPF_STMT(BPF_RET | BPF_K, verdict);
}
sock_filter jump_if_equal(uint32_t value, size_t then, size_t otherwise) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, static_cast<uint8_t>(then),
                  static_cast<uint8_t>(otherwise));
}

long seccomp(unsigned operation, unsigned flags, void* argument) {
  return syscall(__NR_seccomp, operation, flags, argument);
}

}  // namespace

std::vector<sock_filter> filter_program() {
  constexpr size_t count = std::size(notified_calls);
  static_assert(count < 200, "jumps of a filter are eight bits wide");
  std::vector<sock_filter> text = {
      load(offsetof(seccomp_data, arch)),
      jump_if_equal(native_arch, 1, 0),
      give(SECCOMP_RET_ALLOW),
      load(offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, foreign_numbers, 0, 1),
      give(SECCOMP_RET_ALLOW),
  };
  for (size_t i = 0; i < count; i++)  // over the rest of the list and the two lines behind it
    text.push_back(jump_if_equal(notified_calls[i], count - i - 1 + 3, 0));
  text.push_back(jump_if_equal(__NR_ioctl, 3, 0));
  text.push_back(jump_if_equal(__NR_socket, 6, 0));
  text.push_back(give(SECCOMP_RET_ALLOW));
  text.push_back(give(SECCOMP_RET_USER_NOTIF));
  // ioctl: the one number that a uverbs descriptor takes.
  text.push_back(load(low_word(1)));
  text.push_back(jump_if_equal(static_cast<uint32_t>(RDMA_VERBS_IOCTL), 0, 1));
  text.push_back(give(SECCOMP_RET_USER_NOTIF));
  text.push_back(give(SECCOMP_RET_ALLOW));
  // socket: a host's own RDMA devices must not answer in place of the model's.
  text.push_back(load(low_word(0)));
  text.push_back(jump_if_equal(AF_NETLINK, 0, 3));
  text.push_back(load(low_word(2)));
  text.push_back(jump_if_equal(NETLINK_RDMA, 0, 1));
  text.push_back(give(SECCOMP_RET_ERRNO | EPROTONOSUPPORT));
  text.push_back(give(SECCOMP_RET_ALLOW));
  return text;
}

int filter_support() {
  uint32_t action = SECCOMP_RET_USER_NOTIF;
  if (seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0) return errno;
  seccomp_notif_sizes sizes{};
  if (seccomp(SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) return errno;
  // Without this flag a signal makes a call run twice. A null program is looked at after the flags,
  // so EFAULT says that the flags are known (seccomp(2)).
  if (seccomp(SECCOMP_SET_MODE_FILTER,
              SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
              nullptr) != 0 &&
      errno != EFAULT)
    return errno;
  return 0;
}

int install_filter(Fd* listener) {
  auto text = filter_program();
  sock_fprog program{static_cast<unsigned short>(text.size()), text.data()};
  constexpr unsigned flags =
      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  long fd = seccomp(SECCOMP_SET_MODE_FILTER, flags, &program);
  if (fd < 0 && errno == EACCES) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    fd = seccomp(SECCOMP_SET_MODE_FILTER, flags, &program);
  }
  if (fd < 0) return errno;
  listener->reset(static_cast<int>(fd));
  return 0;
}

}  // namespace sim::host
