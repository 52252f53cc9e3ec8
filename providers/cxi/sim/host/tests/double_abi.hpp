// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What the kernel double understands behind the ioctl number, so that tests can see what the host
// does.
#pragma once

#include <cstdint>

namespace sim::host::tests {

enum class Op : uint32_t {
  count,         // result: how often this was called on the file
  slow_count,    // the same, after a while
  fail,          // fails with errno `length`
  who,           // result: process << 32 | euid
  reverse,       // reverses `length` bytes at `va` in place
  opens,         // result: files alive << 32 | files released
  install,       // result: the number of a new descriptor, a memory file that holds `length` bytes
  same_file,     // result: whether descriptor `fd` is this file
  check,         // result: what check_range says about va, length, writable = fd
  keep_memory,   // keeps the caller's memory object
  fill,          // fills `length` bytes at `va` of the kept memory with `fd`; result: success
  wait_for_step  // result: steps made so far
};

struct DoubleCall {
  Op op{};
  int32_t fd = 0;
  uint64_t va = 0;
  uint64_t length = 0;
  uint64_t result = 0;
};

// The file of an open: 64-bit words. The double copies `bell` to `echo` in its steps.
struct DoublePages {
  uint64_t nic;
  uint64_t bell;
  uint64_t echo;
};
constexpr uint64_t double_bytes = 2 * 4096;

}  // namespace sim::host::tests
