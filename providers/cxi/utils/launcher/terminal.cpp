// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "terminal.hpp"

#include <asm/ioctls.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "failure.hpp"

namespace launcher {
namespace {

constexpr std::uint32_t virtual_console = 0x541c;  // TIOCLINUX

struct Ioctl {
  std::uint32_t abi;
  std::uint32_t number;
};

/// Under every ABI in which a program of this machine may make the call.
constexpr Ioctl ioctls[] = {
#if defined(__x86_64__)
    {AUDIT_ARCH_X86_64, __NR_ioctl},
    {AUDIT_ARCH_X86_64, 0x40000000 | 514},  // x32
    {AUDIT_ARCH_I386, 54},
#elif defined(__aarch64__)
    {AUDIT_ARCH_AARCH64, __NR_ioctl},
    {AUDIT_ARCH_ARM, 54},
#else
#error "which system call is ioctl here?"
#endif
};

constexpr auto abi_at = static_cast<std::uint32_t>(offsetof(seccomp_data, arch));
constexpr auto number_at = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
// The kernel looks at the lower half of the request alone.
constexpr auto request_at = static_cast<std::uint32_t>(offsetof(seccomp_data, args[1]));

sock_filter load(std::uint32_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}

sock_filter skip_unless(std::uint32_t value, unsigned count) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, static_cast<std::uint8_t>(count));
}

sock_filter answer(std::uint32_t action) {
  return BPF_STMT(BPF_RET | BPF_K, action);
}

std::vector<sock_filter> filter() {
  std::vector<sock_filter> program;
  for (const Ioctl& call : ioctls)
    for (const std::uint32_t request : {std::uint32_t{TIOCSTI}, virtual_console}) {
      const sock_filter one[] = {
          load(abi_at),
          skip_unless(call.abi, 5),
          load(number_at),
          skip_unless(call.number, 3),
          load(request_at),
          skip_unless(request, 1),
          answer(SECCOMP_RET_ERRNO | EPERM),
      };
      program.insert(program.end(), std::begin(one), std::end(one));
    }
  program.push_back(answer(SECCOMP_RET_ALLOW));
  return program;
}

}  // namespace

void forbid_terminal_input() {
  std::vector<sock_filter> program = filter();
  const sock_fprog code = {static_cast<unsigned short>(program.size()), program.data()};
  // The filter hides nothing: speculation may go on, which it would not under a filter else.
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &code) != 0)
    fail("forbid input to the terminal");
}

}  // namespace launcher
