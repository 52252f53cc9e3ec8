// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Makes memory or the kernel fail a chosen call of the thread that asks for it. The program defines
// malloc() and its like, ioctl() and mmap(), so that the libraries it loads call those
// (faults.cpp).
#pragma once

#include <rdma/rdma_user_ioctl.h>
#include <sys/types.h>

#include <cstddef>

namespace faults {

/// What may fail.
enum class Source {
  memory,  ///< allocations, and mappings that no file is behind
  kernel,  ///< commands to uverbs, and mappings of its files
};

/// While it lives, the nth call of this kind (1 is the first) fails with the given errno value;
/// with `all_after` every later one too. One at a time in each thread.
class Fault {
 public:
  Fault(Source source, unsigned nth, int error, bool all_after = false) noexcept;
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
  ~Fault();

  bool has_struck() const noexcept;
  /// From the next call on.
  void bring_forward() noexcept;
  /// Nothing fails any more. Returns whether something has.
  bool end() noexcept;
  /// The same, for those who do not have the fault at hand.
  static void stop() noexcept;
};

/// Whether it counts as a call of this thread to ask how a port is. Who waits for the NIC asks that
/// every now and then, as long as it takes, to learn whether the device is gone; so at first it
/// does not count.
void count_questions(bool counted) noexcept;

/// A kernel with more in it than the one at hand. While it lives, it sees each command of this
/// thread after the kernel at hand has answered it, and each mapping of a uverbs file before.
class MoreKernel {
 public:
  MoreKernel() noexcept;
  MoreKernel(const MoreKernel&) = delete;
  MoreKernel& operator=(const MoreKernel&) = delete;
  virtual ~MoreKernel();

  /// What becomes of the command: 0 or an errno value. May change the answer in memory.
  virtual int command(ib_uverbs_ioctl_hdr& header, int error) = 0;
  /// Memory that is mapped in place of the file's, by descriptor; -1: the file is mapped.
  virtual int memory_of(off_t cookie) = 0;
};

/// While it lives, nothing fails, and nothing is counted as a step.
class Pause {
 public:
  Pause() noexcept;
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;
  ~Pause();

 private:
  bool was_active_;
};

/// What this process holds.
struct Holdings {
  long allocations;
  long mapped_bytes;
  int descriptors;

  bool operator==(const Holdings&) const = default;
};
Holdings holdings() noexcept;

}  // namespace faults
