// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Memory that a program names by a descriptor: a dma-buf, or a memory file that stands in for one.
// Addresses are offsets in the file. The program may close its descriptor afterwards.
#pragma once

#include <sys/types.h>

#include <memory>

#include "nic/device.hpp"

namespace sim::uverbs {

class FileMemory final : public nic::GuestMemory {
 public:
  // Takes over the descriptor. EINVAL: the file is of another kind, or ends before the range does;
  // EACCES: it may not be written, and the NIC is to.
  static nic::Made<std::shared_ptr<FileMemory>> make(int fd, uint64_t first, uint64_t length,
                                                     bool writes);
  ~FileMemory() override;
  FileMemory(const FileMemory&) = delete;
  FileMemory& operator=(const FileMemory&) = delete;

  bool read(uint64_t offset, std::span<std::byte> out) override;
  bool write(uint64_t offset, std::span<const std::byte> in) override;

 private:
  explicit FileMemory(int fd) : fd_(fd) {}
  int open_again(int mode);
  int map(uint64_t first, uint64_t length, bool writes);
  bool holds(uint64_t offset, size_t length) const;

  int fd_;
  // Of a dma-buf, which cannot be read and written by calls. A memory file can, and has to be: it
  // may be cut short at any time.
  std::span<std::byte> mapped_;
  uint64_t mapped_at_ = 0;
};

}  // namespace sim::uverbs
