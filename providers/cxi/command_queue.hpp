// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A command queue as the process sees it: the mapped ring, the doorbell, and what the queue
// remembers between commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "encode.hpp"
#include "mmio_raw.hpp"
#include "ring.hpp"

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
  std::uint32_t index() const noexcept { return index_; }

  /// What reserve() and the queue's memory of state can be taken back to before ring() was called.
  struct Mark {
    std::uint32_t position;
    CState cstate;
    bool cstate_known;
    std::uint8_t lcid;
  };
  Mark mark() const noexcept { return {ring_.mark(), cstate_, cstate_known_, lcid_}; }
  void back_to(const Mark& mark) noexcept {
    ring_.back_to(mark.position);
    cstate_ = mark.cstate;
    cstate_known_ = mark.cstate_known;
    lcid_ = mark.lcid;
  }

  /// Room for a command of so many units, or null. Looks how far the NIC has read only when it
  /// must.
  std::byte* reserve(std::uint32_t units) noexcept {
    std::byte* place = ring_.reserve(units);
    if (place) [[likely]]
      return place;
    refresh();
    return ring_.reserve(units);
  }

  /// Writes what is needed so that the next command goes out with this profile, and the next
  /// immediate one with this state. False: no room, nothing that matters was changed.
  bool select_profile(std::uint8_t lcid) noexcept { return lcid == lcid_ || switch_profile(lcid); }
  bool select_state(const CState& state) noexcept {
    return (cstate_known_ && state == cstate_) || switch_state(state);
  }

  /// Announces what was written. A no-op when nothing was.
  void ring() noexcept {
    if (!ring_.pending()) return;
    const std::uint64_t slot = ring_.publish();
    to_device_barrier();  // partner: the NIC reads the ring after the write pointer
    store_doorbell(doorbell_, slot);
    flush_writes();
  }

  /// As the NIC does when a queue is restarted: pointers at the first slot, first profile, no
  /// state.
  void restart() noexcept;

 private:
  void refresh() noexcept;
  bool switch_profile(std::uint8_t lcid) noexcept;
  bool switch_state(const CState& state) noexcept;

  RingWriter ring_;
  volatile std::uint64_t* doorbell_;
  std::byte* memory_;
  std::size_t bytes_;
  void* launch_;
  CState cstate_;
  bool cstate_known_;
  std::uint8_t lcid_;
  std::uint8_t first_lcid_;
  std::uint32_t index_;
};

}  // namespace cxi
