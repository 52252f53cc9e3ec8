// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/registers.hpp"

#include <algorithm>
#include <cerrno>

#include "ethernet/cassini_csrs.hpp"
#include "ethernet/cassini_registers.hpp"

namespace sim::nic {
namespace {

namespace csr = cassini::csr;

using counter_config = csr::c_cq_cfg_event_cnts;  // all blocks have the same bits
constexpr uint64_t counter_mask = csr::c_cq_sts_event_cnts::cnt::mask;

uint32_t end_of(const cassini::Register& r) {
  return r.offset + r.size * r.entries;
}

}  // namespace

Registers::Registers(uint32_t cassini_version, LiveWords live) : live_(std::move(live)) {
  const unsigned generation = cassini_version & 0x20 ? 2 : 1;  // behaviour 12
  uint32_t reach = 0;
  for (const auto& r : cassini::registers) {
    if (!(r.generations & generation)) continue;
    reach = std::max(reach, end_of(r));
    registers_.push_back(&r);
    reach_.push_back(reach);
  }
  const auto add_block = [&]<class Config, class Counters>() {
    static_assert(Config::enable::mask == counter_config::enable::mask &&
                  Config::init::mask == counter_config::init::mask &&
                  Config::init_done::mask == counter_config::init_done::mask);
    Block block;
    block.config_at = Config::csr_offset;
    block.first = Counters::csr_offset;
    block.end = Counters::csr_offset + Counters::csr_bytes * Counters::csr_entries;
    blocks_.push_back(block);
    // The driver has initialized and enabled all counters (behaviour 11.2).
    written_[block.config_at] = counter_config::enable::mask | counter_config::init_done::mask;
  };
  add_block.operator()<csr::c_cq_cfg_event_cnts, csr::c_cq_sts_event_cnts>();
  add_block.operator()<csr::c_hni_cfg_event_cnts, csr::c_hni_sts_event_cnts>();
  add_block.operator()<csr::c_lpe_cfg_event_cnts, csr::c_lpe_sts_event_cnts>();
  add_block.operator()<csr::c_mb_cfg_event_cnts, csr::c_mb_sts_event_cnts>();
  add_block.operator()<csr::c_pi_ipd_cfg_event_cnts, csr::c_pi_ipd_sts_event_cnts>();
}

Registers::Word Registers::word(uint32_t offset) const {
  Word all;
  if (offset % 8 != 0) return all;
  const auto behind = std::ranges::upper_bound(registers_, offset, {}, &cassini::Register::offset);
  for (auto i = static_cast<size_t>(behind - registers_.begin()); i > 0 && reach_[i - 1] > offset;
       i--) {
    const cassini::Register& r = *registers_[i - 1];
    if (end_of(r) <= offset) continue;
    const auto& w = cassini::register_words[r.first_word + (offset - r.offset) % r.size / 8];
    all.exists = true;
    all.is_public |= r.public_read;
    all.keep |= w.keep;
    all.clear |= w.clear;
    all.start |= w.start;
    all.reset |= w.reset;
  }
  return all;
}

bool Registers::is_public(uint32_t offset) const {
  return word(offset).is_public;
}

const Registers::Block* Registers::block_of(uint32_t offset) const {
  const auto at = std::ranges::find_if(
      blocks_, [&](const Block& b) { return offset >= b.first && offset < b.end; });
  return at == blocks_.end() ? nullptr : &*at;
}

uint64_t Registers::count(uint32_t offset, uint64_t running) const {
  const auto at = counting_.find(offset);
  const Counting c = at == counting_.end() ? Counting{} : at->second;
  const Block* block = block_of(offset);
  const uint64_t now = block && !block->enabled ? c.stood : running;
  return (now - c.base) & counter_mask;
}

Made<uint64_t> Registers::read(uint32_t offset) const {
  const Word w = word(offset);
  if (!w.exists) return {0, EINVAL};
  if (const auto live = live_.find(offset); live != live_.end())
    return {live->second.counter ? count(offset, *live->second.counter) : live->second.value(), 0};
  const auto written = written_.find(offset);
  return {written == written_.end() ? w.reset & ~w.start : written->second, 0};
}

int Registers::check_write(uint32_t offset) const {
  const Word w = word(offset);
  if (!w.exists) return EINVAL;
  return (w.keep | w.clear | w.start) == 0 ? EACCES : 0;
}

int Registers::write(uint32_t offset, uint64_t value) {
  if (const int error = check_write(offset)) return error;
  if (const auto live = live_.find(offset); live != live_.end()) {
    if (const uint64_t* counter = live->second.counter) {
      const Block* block = block_of(offset);
      Counting& c = counting_[offset];
      c.base = (block && !block->enabled ? c.stood : *counter) - (value & counter_mask);
    }
    return 0;  // a value of the moment stays what it is
  }
  const Word w = word(offset);
  uint64_t now = read(offset).value;
  now = (now & ~w.keep) | (value & w.keep);
  now &= ~(value & w.clear);
  written_[offset] = now;
  for (Block& block : blocks_)
    if (block.config_at == offset) configure(block, value);
  return 0;
}

void Registers::configure(Block& block, uint64_t value) {
  const bool enable = value & counter_config::enable::mask;
  for (const auto& [offset, live] : live_) {
    if (!live.counter || offset < block.first || offset >= block.end) continue;
    Counting& c = counting_[offset];
    if (block.enabled && !enable) c.stood = *live.counter;
    if (!block.enabled && enable) c.base += *live.counter - c.stood;
    if (value & counter_config::init::mask) c.base = enable ? *live.counter : c.stood;
  }
  if (value & counter_config::init::mask)
    for (auto& [offset, kept] : written_)
      if (offset >= block.first && offset < block.end) kept = 0;
  block.enabled = enable;
}

}  // namespace sim::nic
