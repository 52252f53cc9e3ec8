// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A command queue of direct verbs in plain memory, and what the NIC would see of it.
#pragma once

#include <infiniband/cxidv.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace cxi {

class DvQueue {
 public:
  static constexpr std::uint8_t fill = 0xee;

  explicit DvQueue(std::uint32_t slots = 64, std::uint32_t flags = CXIDV_CMDQ_TRANSMIT,
                   std::uint32_t windows = CXIDV_WINDOW_DOORBELL)
      : memory_(std::size_t{slots} * 64, fill), launch_(std::make_unique<c_cmdq>()) {
    std::memset(launch_.get(), 0, sizeof(c_cmdq));
    queue_.flags = flags;
    queue_.window_flags = windows;
    queue_.size32 = 2 * slots;
    queue_.wp32 = queue_.hw_wp32 = queue_.rp32 = C_CQ_FIRST_WR_PTR_32;
    queue_.ring = memory_.data();
    queue_.launch = launch_.get();
    std::memset(memory_.data(), 0, 8);
    read_to(C_CQ_FIRST_WR_PTR);
  }

  cxidv_cmdq* operator->() { return &queue_; }
  cxidv_cmdq* get() { return &queue_; }
  c_cmdq& launch() { return *launch_; }

  /// As if the NIC had fetched everything before this slot.
  void read_to(std::uint32_t slot) {
    const auto value = static_cast<std::uint16_t>(slot);
    std::memcpy(memory_.data(), &value, sizeof(value));
  }
  /// Everything is fetched, and the queue stands at this unit.
  void stand_at(std::uint32_t unit) {
    queue_.wp32 = unit;
    queue_.hw_wp32 = queue_.rp32 = unit & ~1u;
    read_to(unit / 2);
  }

  const std::uint8_t* unit(std::uint32_t number) const { return memory_.data() + number * 32; }
  std::uint64_t word(std::uint32_t unit_number, unsigned word_number = 0) const {
    std::uint64_t value;
    std::memcpy(&value, unit(unit_number) + 8 * word_number, sizeof(value));
    return value;
  }
  /// The ring without what is in front of the first command slot.
  std::vector<std::uint8_t> commands() const { return {memory_.begin() + 256, memory_.end()}; }

 private:
  std::vector<std::uint8_t> memory_;
  std::unique_ptr<c_cmdq> launch_;
  cxidv_cmdq queue_ = {};
};

}  // namespace cxi
