// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/filter.hpp"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>

namespace sim::host {
namespace {

#if defined(__x86_64__)
constexpr uint32_t native = AUDIT_ARCH_X86_64;
#else
constexpr uint32_t native = AUDIT_ARCH_AARCH64;
#endif

// Runs the filter as the kernel does, for the few instructions that it uses.
uint32_t verdict(const seccomp_data& call) {
  auto text = filter_program();
  uint32_t value = 0;
  for (size_t at = 0; at < text.size(); at++) {
    const auto& step = text[at];
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        std::memcpy(&value, reinterpret_cast<const char*>(&call) + step.k, sizeof(value));
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += value == step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += value >= step.k ? step.jt : step.jf;
        break;
      case BPF_RET | BPF_K:
        return step.k;
      default:
        ADD_FAILURE() << "instruction " << step.code;
        return 0;
    }
  }
  ADD_FAILURE() << "the filter has no end";
  return 0;
}

uint32_t verdict(int number, uint64_t a0 = 0, uint64_t a1 = 0, uint64_t a2 = 0,
                 uint32_t arch = native) {
  seccomp_data call{};
  call.nr = number;
  call.arch = arch;
  call.args[0] = a0;
  call.args[1] = a1;
  call.args[2] = a2;
  return verdict(call);
}

TEST(Filter, BringsPathCallsHere) {
  for (int number : {__NR_openat, __NR_openat2, __NR_newfstatat, __NR_statx, __NR_fstat,
                     __NR_faccessat, __NR_faccessat2, __NR_readlinkat, __NR_execve, __NR_execveat,
                     __NR_getxattr, __NR_llistxattr})
    EXPECT_EQ(verdict(number), SECCOMP_RET_USER_NOTIF) << number;
#ifdef __NR_open
  for (int number : {__NR_open, __NR_stat, __NR_lstat, __NR_access, __NR_readlink})
    EXPECT_EQ(verdict(number), SECCOMP_RET_USER_NOTIF) << number;
#endif
}

TEST(Filter, LetsAllElsePass) {
  for (int number : {__NR_read, __NR_write, __NR_mmap, __NR_futex, __NR_close, __NR_getdents64,
                     __NR_sched_yield, __NR_clone, __NR_exit_group})
    EXPECT_EQ(verdict(number), SECCOMP_RET_ALLOW) << number;
}

TEST(Filter, BringsTheOneIoctlHere) {
  EXPECT_EQ(verdict(__NR_ioctl, 3, RDMA_VERBS_IOCTL), SECCOMP_RET_USER_NOTIF);
  // The kernel looks at the lower half only.
  EXPECT_EQ(verdict(__NR_ioctl, 3, RDMA_VERBS_IOCTL | 1ULL << 40), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(verdict(__NR_ioctl, 3, FIONREAD), SECCOMP_RET_ALLOW);
}

TEST(Filter, HidesTheRdmaDevicesOfTheHost) {
  EXPECT_EQ(verdict(__NR_socket, AF_NETLINK, SOCK_RAW, NETLINK_RDMA),
            SECCOMP_RET_ERRNO | EPROTONOSUPPORT);
  EXPECT_EQ(verdict(__NR_socket, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), SECCOMP_RET_ALLOW);
  EXPECT_EQ(verdict(__NR_socket, AF_INET, SOCK_RAW, NETLINK_RDMA), SECCOMP_RET_ALLOW);
}

TEST(Filter, LetsForeignArchitecturesPass) {
  EXPECT_EQ(verdict(__NR_openat, 0, 0, 0, AUDIT_ARCH_I386), SECCOMP_RET_ALLOW);
#if defined(__x86_64__)
  EXPECT_EQ(verdict(__NR_openat | 0x40000000), SECCOMP_RET_ALLOW);
#endif
}

}  // namespace
}  // namespace sim::host
