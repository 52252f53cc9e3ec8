// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Event channels are pipes: the program polls and reads its end natively, the driver writes records
// of a fixed size into the other. Writing never blocks and never raises SIGPIPE.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "nic/device.hpp"
#include "uverbs/kernel.hpp"

namespace sim::uverbs {

class EventPipe {
 public:
  enum class Written { done, full, closed };

  // Makes a pipe for records of `record_bytes` (8 or 16), the first 8 of which say what they are
  // about. *read_end is the program's; close it once it has been installed.
  static nic::Made<std::shared_ptr<EventPipe>> make(unsigned record_bytes, int* read_end);
  ~EventPipe();
  EventPipe(const EventPipe&) = delete;
  EventPipe& operator=(const EventPipe&) = delete;

  FileId id() const { return id_; }

  Written write(std::span<const std::byte> record);
  // Takes the records about `subject` out of the pipe; the others keep their order. Returns how
  // many.
  unsigned remove(uint64_t subject);
  // Whether every descriptor of the read end is closed.
  bool abandoned() const;
  // Readers see the end of the channel once they have taken what is in it.
  void shut();

 private:
  EventPipe(int fd, FileId id, unsigned record_bytes)
      : fd_(fd), id_(id), record_bytes_(record_bytes) {}

  int fd_;
  const FileId id_;
  const unsigned record_bytes_;
};

}  // namespace sim::uverbs
