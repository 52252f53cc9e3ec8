// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The opens of devices that live. A descriptor that a program holds is a memory file, known by its
// inode however it travelled (dup, fork, SCM_RIGHTS); the kernel tells through inotify when a
// reference to it went, also when that was the last mapping of a killed program.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>

#include "host/fd.hpp"
#include "uverbs/kernel.hpp"

namespace sim::host {

// One open of a device. Calls hold `in_use` shared; release takes it alone.
struct DeviceOpen {
  std::shared_ptr<uverbs::OpenFile> file;
  unsigned nic = 0;
  std::shared_mutex in_use;
  bool released = false;  // under in_use
};

class OpenFiles {
 public:
  explicit OpenFiles(uverbs::Kernel& kernel);
  ~OpenFiles();

  void start();
  void stop();  // releases what is left

  // Takes a file just opened by the kernel and makes the descriptor for the program, opened as
  // `access` (O_RDONLY, O_RDWR ...). From now on the file is released when that descriptor, and all
  // made from it, are closed. 0 or errno; on an error the file has been released.
  int add(std::shared_ptr<uverbs::OpenFile> file, unsigned nic, int access, Fd* descriptor);

  std::shared_ptr<DeviceOpen> find(const uverbs::FileId& id);
  bool empty();
  size_t count();

 private:
  struct Entry {
    std::shared_ptr<DeviceOpen> open;
    Fd probe;
    int watch = -1;
    uint64_t check_at_ms = 0;  // a reference went; 0: nothing to check
    unsigned checks = 0;
  };

  void run();
  void read_events();
  // Releases what nobody holds any more; returns how long to wait for the next look, -1: no need.
  int check();
  void release(DeviceOpen& open);

  uverbs::Kernel& kernel_;
  Fd inotify_;
  Fd stop_;
  std::mutex lock_;
  std::map<uverbs::FileId, Entry> entries_;
  std::map<int, uverbs::FileId> watches_;
  std::thread thread_;
};

}  // namespace sim::host
