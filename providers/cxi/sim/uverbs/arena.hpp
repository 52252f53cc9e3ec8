// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The memory behind a device descriptor: one sealed memory file per open. Every ring, doorbell
// page, slot memory and address table is a range of pages in it; the offset of a range is the
// cookie that the program passes to mmap().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "nic/device.hpp"
#include "uverbs/kernel.hpp"

namespace sim::uverbs {

// Pages that the model and the program share, zeroed. They go back to the arena when the last owner
// of `pages` has let go, so that a page has one object at a time.
struct PageRange {
  uint64_t offset = 0;
  uint64_t length = 0;
  nic::SharedPages pages;
};

class Arena : public std::enable_shared_from_this<Arena> {
 public:
  // Null with *error set when the system refuses the memory file.
  static std::shared_ptr<Arena> make(int* error);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  int fd() const { return fd_; }
  FileId id() const { return id_; }

  // Takes `bytes`, rounded up to pages.
  nic::Made<PageRange> allocate(uint64_t bytes);

 private:
  Arena(int fd, FileId id) : fd_(fd), id_(id) {}
  uint64_t take(uint64_t length);
  void give_back(uint64_t offset, uint64_t length);
  int grow_to(uint64_t size);

  const int fd_;
  const FileId id_;
  // The last owner of pages may be a mapping that is dropped without the kernel's lock held.
  std::mutex mutex_;
  uint64_t end_ = 0;                   // no range lies beyond
  std::map<uint64_t, uint64_t> free_;  // offset, length; neighbours are merged
};

}  // namespace sim::uverbs
