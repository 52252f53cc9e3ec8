// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/command_ring.hpp"

#include <atomic>
#include <cstring>

#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"

namespace sim::nic {
namespace {

constexpr unsigned unit_bytes = 32;

std::atomic_ref<uint64_t> word(const SharedPages& pages) {
  return std::atomic_ref(*reinterpret_cast<uint64_t*>(pages.bytes.data()));
}

}  // namespace

CommandRing::CommandRing(SharedPages ring, SharedPages launch, StatusPolicy policy)
    : ring_(std::move(ring)),
      launch_(std::move(launch)),
      policy_(policy),
      slots_(static_cast<unsigned>(ring_.bytes.size() / C_CQ_CMD_SIZE)) {
  restart();
}

void CommandRing::restart() {
  wr_ = C_CQ_FIRST_WR_PTR;
  rd32_ = C_CQ_FIRST_WR_PTR_32;
  since_write_ = 0;
  return_code_ = C_RC_OK;
  fail_command_ = 0;
  fail_half_ = false;
  word(launch_).store(C_CQ_FIRST_WR_PTR, std::memory_order_relaxed);
  write_status();
}

const uint64_t* CommandRing::doorbell() const {
  return reinterpret_cast<const uint64_t*>(launch_.bytes.data());
}

CommandRing::Look CommandRing::look() {
  // Pairs with the program's store of the write pointer: what it wrote into the ring is visible
  // after it.
  const uint64_t value = word(launch_).load(std::memory_order_acquire);
  const auto wr = static_cast<unsigned>(cassini::c_cmdq::wr_ptr::decode(value));
  if (wr == wr_) return Look::nothing_new;
  const unsigned ring = slots_ - C_CQ_FIRST_WR_PTR;
  const unsigned rd = slot();
  const bool inside = wr >= C_CQ_FIRST_WR_PTR && wr < slots_;
  if (!inside || (wr + ring - rd) % ring < (wr_ + ring - rd) % ring) return Look::bad_pointer;
  wr_ = wr;
  return Look::more;
}

CommandRing::Fetched CommandRing::fetch(CommandBytes& out) const {
  const std::byte* from = ring_.bytes.data() + size_t{rd32_} * unit_bytes;
  // The size is decided by one read of the first byte; the program may be changing it meanwhile.
  const auto first =
      std::byte{std::atomic_ref(*reinterpret_cast<unsigned char*>(const_cast<std::byte*>(from)))
                    .load(std::memory_order_relaxed)};
  const auto units = 1u << cassini::c_cmd::cmd_size::get(&first);
  if (rd32_ % units != 0) {
    out[0] = first;
    return {C_RC_CMD_ALIGN_ERROR, unit_bytes};
  }
  const unsigned end32 = slots_ * 2;
  const unsigned published = wr_ * 2 > rd32_ ? wr_ * 2 - rd32_ : end32 - rd32_;
  if (units > published) {
    out[0] = first;
    return {C_RC_CMD_INVALID_ARG, unit_bytes};
  }
  std::memcpy(out.data(), from, size_t{units} * unit_bytes);
  out[0] = first;
  return {C_RC_OK, units * unit_bytes};
}

void CommandRing::advance(unsigned bytes) {
  const unsigned units = bytes / unit_bytes;
  rd32_ += units;
  if (rd32_ == slots_ * 2) rd32_ = C_CQ_FIRST_WR_PTR_32;
  since_write_ += units;
  constexpr unsigned high_freq = 2 * 16, low_freq = 2 * 256;
  bool due = false;
  switch (policy_) {
    case StatusPolicy::always:
      due = true;
      break;
    case StatusPolicy::high_freq_empty:
      due = since_write_ >= high_freq || !pending();
      break;
    case StatusPolicy::low_freq_empty:
      due = since_write_ >= low_freq || !pending();
      break;
    case StatusPolicy::low_freq:
      due = since_write_ >= low_freq;
      break;
  }
  if (due) write_status();
}

void CommandRing::fail(int return_code, uint8_t command) {
  return_code_ = static_cast<uint8_t>(return_code);
  fail_command_ = command;
  fail_half_ = rd32_ % 2 != 0;
  write_status();
}

void CommandRing::write_status() {
  using s = cassini::c_cq_status;
  since_write_ = 0;
  const uint64_t value = s::rd_ptr::encode(slot()) | s::fail_command::encode(fail_command_) |
                         s::return_code::encode(return_code_) | s::fail_loc_32::encode(fail_half_);
  // Release: a program that sees the pointer may overwrite commands that have been copied by then.
  word(ring_).store(value, std::memory_order_release);
}

}  // namespace sim::nic
