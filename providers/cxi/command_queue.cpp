// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "command_queue.hpp"

#include <cerrno>

#include "ethernet/cassini_fields.hpp"
#include "mapping.hpp"
#include "rdma/cxiverbs-abi.h"

namespace cxi {

void CommandQueue::init(std::byte* memory, std::uint32_t slots, volatile std::uint64_t* doorbell,
                        std::uint32_t index, std::uint8_t lcid) noexcept {
  bytes_ = std::size_t{slots} * C_CQ_CMD_SIZE;
  queue_ = {};
  queue_.index = index;
  queue_.size32 = 2 * slots;
  queue_.ring = reinterpret_cast<std::uint8_t*>(memory);
  queue_.launch = reinterpret_cast<volatile c_cmdq*>(doorbell);
  first_lcid_ = lcid;
  restart();
}

int CommandQueue::map(const ibv_context& context, const cxi_abi_cmdq_info& info) noexcept {
  // A queue without a doorbell could never be told anything.
  if (!(info.window_flags & CXI_ABI_WINDOW_DOORBELL)) return EOPNOTSUPP;
  const std::size_t bytes = std::size_t{info.slots} * C_CQ_CMD_SIZE;
  std::byte* memory = nullptr;
  if (const int err = map_cookie(context, info.ring_cookie, bytes, memory)) return err;
  std::byte* launch = nullptr;
  if (const int err = map_cookie(context, info.launch_cookie, page_bytes(), launch)) {
    unmap_cookie(memory, bytes);
    return err;
  }
  launch_ = launch;
  init(memory, info.slots, reinterpret_cast<volatile std::uint64_t*>(launch + info.launch_offset),
       info.index, static_cast<std::uint8_t>(info.lcid));
  return 0;
}

void CommandQueue::unmap() noexcept {
  if (!queue_.ring) return;
  unmap_cookie(reinterpret_cast<std::byte*>(queue_.ring), bytes_);
  unmap_cookie(static_cast<std::byte*>(launch_), page_bytes());
}

void CommandQueue::restart() noexcept {
  queue_.wp32 = queue_.hw_wp32 = queue_.rp32 = C_CQ_FIRST_WR_PTR_32;
  lcid_ = first_lcid_;
  cstate_known_ = false;
}

bool CommandQueue::switch_profile(std::uint8_t lcid) noexcept {
  std::byte* place = reserve(4);  // 128 bytes on their own boundary: the switch and its NOOP
  if (!place) return false;
  std::uint64_t words[16];
  encode_lcid(words, lcid);
  std::memcpy(place, words, sizeof(words));
  lcid_ = lcid;
  return true;
}

bool CommandQueue::switch_state(const CState& state) noexcept {
  std::byte* place = reserve(1);
  if (!place) return false;
  std::uint64_t words[4];
  encode_cstate(words, state);
  std::memcpy(place, words, sizeof(words));
  cstate_ = state;
  cstate_known_ = true;
  return true;
}

}  // namespace cxi
