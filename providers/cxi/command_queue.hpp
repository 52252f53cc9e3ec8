// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A command queue as the process sees it: the mapped ring, the doorbell, and what the queue
// remembers between commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "encode.hpp"
#include "infiniband/cxidv_cmdq.h"

struct cxi_abi_cmdq_info;
struct ibv_context;

namespace cxi {

class CommandQueue {
 public:
  /// A queue in memory that is there already.
  void init(std::byte* memory, std::uint32_t slots, volatile std::uint64_t* doorbell,
            std::uint32_t index, std::uint8_t lcid) noexcept;
  /// Maps a queue that the kernel made. Returns 0 or an errno value.
  int map(const ibv_context& context, const cxi_abi_cmdq_info& info) noexcept;
  void unmap() noexcept;

  /// The number by which COMMAND_FAILURE events name the queue.
  std::uint32_t index() const noexcept { return queue_.index; }

  /// What reserve() and the queue's memory of state can be taken back to before ring() was called.
  struct Mark {
    std::uint32_t position;
    CState cstate;
    bool cstate_known;
    std::uint8_t lcid;
  };
  Mark mark() const noexcept { return {queue_.wp32, cstate_, cstate_known_, lcid_}; }
  void back_to(const Mark& mark) noexcept {
    queue_.wp32 = mark.position;
    cstate_ = mark.cstate;
    cstate_known_ = mark.cstate_known;
    lcid_ = mark.lcid;
  }

  /// Room for a command of so many units, or null. Looks how far the NIC has read only when it
  /// must.
  std::byte* reserve(std::uint32_t units) noexcept {
    if (!cxidv_priv_cmdq_fits(&queue_, units)) [[unlikely]]
      return nullptr;
    return reinterpret_cast<std::byte*>(cxidv_priv_cmdq_place(&queue_, units));
  }

  /// Writes what is needed so that the next command goes out with this profile, and the next
  /// immediate one with this state. False: no room, nothing that matters was changed.
  bool select_profile(std::uint8_t lcid) noexcept { return lcid == lcid_ || switch_profile(lcid); }
  bool select_state(const CState& state) noexcept {
    return (cstate_known_ && state == cstate_) || switch_state(state);
  }

  /// Announces what was written. A no-op when nothing was.
  void ring() noexcept { cxidv_cmdq_ring_doorbell(&queue_); }

  /// As the NIC does when a queue is restarted: pointers at the first slot, first profile, no
  /// state.
  void restart() noexcept;

 private:
  bool switch_profile(std::uint8_t lcid) noexcept;
  bool switch_state(const CState& state) noexcept;

  cxidv_cmdq queue_;
  std::size_t bytes_;
  void* launch_;
  CState cstate_;
  bool cstate_known_;
  std::uint8_t lcid_;
  std::uint8_t first_lcid_;
};

}  // namespace cxi
