// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The kernel's side of /dev/infiniband/uverbsN: opening a device, the one ioctl, and release. The host
// (../host) brings calls of real processes here; a test brings its own. Nothing here knows how a call
// got in, and nothing here is a system call on behalf of the caller but through Caller.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nic/ports.hpp"

namespace sim::uverbs {

struct Credentials {
  uid_t uid = 0, euid = 0;
  gid_t gid = 0, egid = 0;
  std::vector<gid_t> groups;
  bool cap_sys_admin = false;
  bool cap_net_raw = false;
  bool cap_net_admin = false;
};

struct FileId {  // what makes two descriptors the same open file object
  dev_t device = 0;
  ino_t inode = 0;
  auto operator<=>(const FileId&) const = default;
};

// The task that is inside a system call, for the duration of that call.
class Caller {
 public:
  virtual ~Caller() = default;
  virtual pid_t process() const = 0;
  virtual const Credentials& credentials() = 0;
  virtual bool read(uint64_t va, std::span<std::byte> out) = 0;
  virtual bool write(uint64_t va, std::span<const std::byte> in) = 0;
  // Checks that a range is mapped with the rights asked for (registration). 0 or EFAULT/EINVAL.
  virtual int check_range(uint64_t va, uint64_t len, bool writable) = 0;
  // The memory of the calling process, valid after the call too, until the process execs or ends.
  virtual std::shared_ptr<nic::GuestMemory> memory() = 0;
  // Puts a descriptor into the calling process, close-on-exec. Returns its number or a negative errno.
  // The descriptor number must not be written back if the call fails afterwards, so install last; it
  // cannot be taken back.
  virtual int install_fd(int fd) = 0;
  virtual std::optional<FileId> identify(int fd) = 0;  // of a descriptor of the caller
  // A copy of a descriptor of the caller, which the model closes; or a negative errno.
  virtual int take_fd(int fd) = 0;
};

// One open of a device. The host keeps it as long as the descriptor or a mapping of it lives.
class OpenFile {
 public:
  virtual ~OpenFile() = default;
  virtual int fd() const = 0;         // the sealed memory file that the program gets as its descriptor
  virtual FileId id() const = 0;
};

struct NicDescription {
  std::string ibdev;    // cxi0
  std::string uverbs;   // uverbs0
  std::string netdev;   // hsn0
  uint32_t nid = 0;
  unsigned minor = 0;   // of the character device
  unsigned abi_version = 0;
};

struct KernelConfig {
  unsigned nics = 1;
  bool default_service_enabled = true;
  uint32_t first_nid = 1;
  unsigned pid_bits = 9;
  uint64_t give_up_ns = 30'000'000'000;  // a peer that does not answer is UNDELIVERABLE then
  std::optional<unsigned> abi_version;  // what to claim instead of the version that is spoken
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  static std::unique_ptr<Kernel> make(const KernelConfig& config, nic::Clock& clock, nic::Trace& trace);

  virtual std::vector<NicDescription> nics() const = 0;

  // Files below /sys that describe the NICs, as (path without "/sys/", content). Links are given as
  // (path, "-> target").
  virtual std::vector<std::pair<std::string, std::string>> sysfs() const = 0;

  // Returns an open file, or null with *error set (EIO: the device is gone, ENOMEM ...).
  virtual std::shared_ptr<OpenFile> open(unsigned nic, Caller& caller, int* error) = 0;
  // The RDMA_VERBS_IOCTL ioctl with its user pointer. 0 or a positive errno. Thread safe.
  virtual int ioctl(OpenFile& file, Caller& caller, uint64_t arg) = 0;
  // The last descriptor and mapping are gone: everything that it owned is destroyed, newest first.
  virtual void release(OpenFile& file) = 0;

  // Makes all NICs work for a while; returns whether anything was done. Called by one engine thread.
  virtual bool step() = 0;
  virtual std::optional<uint64_t> next_due_ns() = 0;
  // Whether steps have nothing to do before the next call: there is no queue that a program could
  // ring, and nothing is due.
  virtual bool quiet() = 0;
  virtual void wake() = 0;

  virtual int set_link(unsigned nic, bool up) = 0;  // port events go out
  virtual int fail_device(unsigned nic) = 0;        // as if it were unplugged: EIO from then on
};

}  // namespace sim::uverbs
