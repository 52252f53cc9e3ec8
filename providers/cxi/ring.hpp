// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The ring of a command queue: where the next command goes, what pads it, how much room is left.
// Positions count units of 32 bytes; the NIC counts slots of 64 (behaviour 2.2 to 2.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ethernet/cassini_user_defs.h"

namespace cxi {

class RingWriter {
 public:
  /// Everything before the first command slot belongs to the status word.
  static constexpr std::uint32_t first_unit = C_CQ_FIRST_WR_PTR_32;

  void init(std::byte* ring, std::uint32_t slots) noexcept {
    ring_ = ring;
    size_ = 2 * slots;
    restart();
  }

  /// Both pointers back to the first slot, as the NIC does when a queue is restarted.
  void restart() noexcept { write_ = read_ = published_ = first_unit; }

  /// NOOP units in front of a command of that many units (1, 2, 4 or 8): it starts at a multiple of
  /// its own size.
  static constexpr std::uint32_t padding(std::uint32_t position, std::uint32_t units) noexcept {
    return -position & (units - 1);
  }

  /// Units that can still be written. One slot always stays free.
  std::uint32_t free_units() const noexcept {
    return write_ >= read_ ? size_ - write_ + read_ - 2 - first_unit : read_ - write_ - 2;
  }

  /// Room for a command of that many units, padding written; null when it does not fit.
  std::byte* reserve(std::uint32_t units) noexcept {
    const std::uint32_t pad = padding(write_, units);
    if (pad + units > free_units()) return nullptr;
    for (std::uint32_t i = 0; i < pad; i++)
      put_noop();
    std::byte* place = ring_ + std::size_t{write_} * 32;
    advance(units);
    return place;
  }

  /// The slot that the doorbell announces; an odd unit gets a NOOP first, so that it is a whole
  /// slot. The kept-free slot leaves room for that NOOP.
  std::uint32_t publish() noexcept {
    if (write_ & 1) put_noop();
    published_ = write_;
    return write_ / 2;
  }
  bool pending() const noexcept { return write_ != published_; }

  /// The NIC has fetched everything before this slot.
  void set_read_slot(std::uint32_t slot) noexcept { read_ = 2 * slot; }

  /// For taking back commands that were not announced.
  std::uint32_t mark() const noexcept { return write_; }
  void back_to(std::uint32_t mark) noexcept { write_ = mark; }

 private:
  void put_noop() noexcept {
    std::memset(ring_ + std::size_t{write_} * 32, 0, 8);  // the other 24 bytes are ignored
    advance(1);
  }
  void advance(std::uint32_t units) noexcept {
    write_ += units;
    if (write_ == size_) write_ = first_unit;
  }

  std::byte* ring_;
  std::uint32_t size_;
  std::uint32_t write_;
  std::uint32_t read_;
  std::uint32_t published_;
};

}  // namespace cxi
