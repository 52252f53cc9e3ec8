// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/event_queue.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>

#include "ethernet/cassini_csrs.hpp"
#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"
#include "nic/device.hpp"

namespace sim::nic {
namespace {

using sw_state = cassini::csr::c_ee_cfg_eq_sw_state;

constexpr size_t slot_bytes = 64;

unsigned slots_of(const SharedPages& ring) {
  return static_cast<unsigned>(ring.bytes.size() / slot_bytes);
}

uint64_t load_state(const SharedPages& pages) {
  return std::atomic_ref(*reinterpret_cast<uint64_t*>(pages.bytes.data()))
      .load(std::memory_order_acquire);
}

// Thresholds are kept to so many significant bits.
unsigned rounded(unsigned slots) {
  constexpr int kept = 6;
  const int lost = std::max(static_cast<int>(std::bit_width(slots)) - kept, 0);
  return slots >> lost << lost;
}

}  // namespace

EventQueue::EventQueue(unsigned eqn, unsigned rgid, const EqConfig& config)
    : eqn_(eqn),
      rgid_(rgid),
      ring_(config.ring),
      sw_state_(config.sw_state),
      slots_(slots_of(config.ring)),
      reserved_(config.reserved_slots),
      initiator_long_(config.initiator_long),
      target_long_(config.target_long),
      drop_status_disable_(config.drop_status_disable),
      timestamp_events_(config.timestamp_events),
      combining_disable_(config.combining_disable) {
  // base and delta are per cent of the ring, counted from the full end (behaviour 6.3).
  const unsigned size = slots_ - 1;
  const auto part = [size](unsigned percent) {
    return rounded(static_cast<unsigned>(uint64_t{size} * percent / 100));
  };
  const unsigned base = part(100 - config.status.base), step = part(config.status.delta);
  for (unsigned i = 0; i < config.status.count; i++)
    thresholds_.push_back(std::min(size, base + step * i));
}

unsigned EventQueue::used() const {
  const unsigned ring = slots_ - 1;
  auto next = static_cast<unsigned>((write_at_ + slot_bytes - 1) / slot_bytes);
  if (next == slots_) next = 1;
  return (next + ring - reader_) % ring;
}

void EventQueue::look_at_reader() {
  const uint64_t state = load_state(sw_state_);
  const auto rd = static_cast<unsigned>(sw_state::rd_ptr::decode(state));
  const unsigned ring = slots_ - 1;
  // The program may only move forward, and not past the slot that is being written.
  if (rd >= 1 && rd <= ring && sw_state::reading_buffer_b::decode(state) == using_b_) {
    const auto writer = static_cast<unsigned>(write_at_ / slot_bytes);
    const unsigned forward = (rd + ring - reader_) % ring;
    const unsigned written = (writer + ring - reader_) % ring;
    if (forward <= written) reader_ = rd;
  }
  if (unacked_drop_ && sw_state::event_drop_seq_no::decode(state) == drop_seq_)
    unacked_drop_ = false;
}

unsigned EventQueue::slots_for(size_t bytes) const {
  const size_t in_slot = write_at_ % slot_bytes;
  if (in_slot == 0) return 1;
  const size_t aligned = (in_slot + bytes - 1) / bytes * bytes;
  return aligned + bytes <= slot_bytes ? 0 : 1;
}

bool EventQueue::room(unsigned more, unsigned keep_free) {
  const auto fits = [&] { return used() + promised_ + more + keep_free <= capacity(); };
  if (fits()) return true;
  look_at_reader();
  return fits();
}

bool EventQueue::promise(unsigned slots) {
  if (slots == 0) return true;
  // What is promised may have to be kept in the ring that is switched to meanwhile.
  if (next_ring_ && promised_ + slots + reserved_ > slots_of(*next_ring_) - 2) return false;
  if (!room(slots, reserved_)) return false;
  promised_ += slots;
  return true;
}

void EventQueue::store(const EventBytes& event) {
  // Words first, without the last byte, which makes the event valid; then that byte. Its release
  // pairs with the acquire of the reader, which looks at the last byte before anything else counts.
  auto* to = reinterpret_cast<uint64_t*>(ring_.bytes.data() + write_at_);
  const size_t words = event.size / 8;
  for (size_t i = 0; i < words; i++) {
    uint64_t word;
    std::memcpy(&word, event.bytes + 8 * i, 8);
    if (i + 1 == words) word &= ~uint64_t{0} >> 8;
    std::atomic_ref(to[i]).store(word, std::memory_order_relaxed);
  }
  auto* last = reinterpret_cast<unsigned char*>(to) + event.size - 1;
  std::atomic_ref(*last).store(std::to_integer<unsigned char>(event.bytes[event.size - 1]),
                               std::memory_order_release);
  write_at_ += event.size;
  if (write_at_ == slots_ * slot_bytes) write_at_ = slot_bytes;
}

void EventQueue::pad_to(size_t alignment) {
  while (write_at_ % alignment != 0)
    store(encode_null(write_at_ % 32 != 0 || alignment == 32 ? 16 : 32));
}

void EventQueue::put(const EventBytes& event) {
  const size_t in_slot = write_at_ % slot_bytes;
  if (in_slot % event.size != 0) pad_to(event.size);
  store(event);
  if (combining_disable_) pad_to(slot_bytes);
}

void EventQueue::write_promised(const EventBytes& event, RealTime time) {
  promised_--;
  if (next_ring_ && !switched_) try_switch(time);
  put(event);
  check_thresholds(time);
}

bool EventQueue::write(const EventBytes& event, RealTime time) {
  if (next_ring_ && !switched_) try_switch(time);
  // While a switch is wanted, the slot that EQ_SWITCH needs is not for others.
  const unsigned keep = next_ring_ && !switched_ ? 1 : 0;
  const unsigned more = slots_for(event.size);
  if (more + keep != 0 && !room(more, keep)) {
    note_drop(time);
    return false;
  }
  put(event);
  check_thresholds(time);
  return true;
}

std::optional<uint8_t> EventQueue::take_notification() {
  // The event must be visible before the word is looked at: the program arms, fences, looks at the
  // ring.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const uint64_t state = load_state(sw_state_);
  if (sw_state::event_int_disable::decode(state)) return std::nullopt;
  const auto value = static_cast<uint8_t>(sw_state::spare::decode(state));
  if (value == notified_ && !tell_every_event) return std::nullopt;
  notified_ = value;
  return value;
}

int EventQueue::adjust_reserve(int delta) {
  constexpr int most = 16383;
  const int wanted = static_cast<int>(reserved_) + delta;
  if (delta > most || delta < -most || wanted < 0 || wanted > most) return EINVAL;
  const unsigned slots = next_ring_ ? std::min(slots_, slots_of(*next_ring_)) : slots_;
  if (static_cast<unsigned>(wanted) > slots - 1) return ENOSPC;
  reserved_ = static_cast<unsigned>(wanted);
  return 0;
}

void EventQueue::note_drop(RealTime time) {
  dropped_++;
  if (!unacked_drop_) drop_seq_ = !drop_seq_;
  unacked_drop_ = true;
  if (!drop_status_disable_) write_status(time);
}

unsigned EventQueue::thresholds_above_free() const {
  const unsigned free = capacity() - std::min(capacity(), used());
  return static_cast<unsigned>(
      std::ranges::count_if(thresholds_, [&](unsigned limit) { return free < limit; }));
}

void EventQueue::check_thresholds(RealTime time) {
  if (thresholds_.empty()) return;
  // Judged by what the program has acknowledged by now, not by what was known of it.
  look_at_reader();
  const unsigned crossed = thresholds_above_free();
  if (crossed == crossed_) return;
  threshold_status_ = crossed > crossed_;
  threshold_id_ = static_cast<uint8_t>(thresholds_.size() - std::max(crossed, crossed_));
  crossed_ = crossed;
  write_status(time);
}

void EventQueue::write_status(RealTime time) {
  using s = cassini::c_eq_status;
  constexpr uint64_t second = 1'000'000'000;
  tally.status_updates++;
  // A reader knows a new status by its time.
  const uint64_t now = time();
  status_ns_ = now == status_ns_ ? now + 1 : now;
  alignas(8) std::byte b[slot_bytes] = {};
  const unsigned free = capacity() - std::min(capacity(), used() + promised_);
  s::timestamp_ns_cpy::set(b, status_ns_ % second);
  s::timestamp_sec_cpy::set(b, status_ns_ / second);
  s::thld_sts::set(b, threshold_status_);
  s::thld_id::set(b, threshold_id_);
  s::unackd_dropped_event::set(b, unacked_drop_);
  s::event_drop_seq_no::set(b, drop_seq_);
  s::event_slots_free::set(b, free);
  s::event_slots_rsrvd::set(b, reserved_);
  s::wr_ptr::set(b, write_at_ / slot_bytes);
  s::using_buffer_b::set(b, using_b_);
  s::timestamp_ns::set(b, status_ns_ % second);
  s::timestamp_sec::set(b, status_ns_ / second);
  // From the end to the start: a reader that sees the first time stamp has what lies between the
  // two.
  auto* to = reinterpret_cast<uint64_t*>(ring_.bytes.data());
  for (size_t i = slot_bytes / 8; i-- > 0;) {
    uint64_t word;
    std::memcpy(&word, b + 8 * i, 8);
    std::atomic_ref(to[i]).store(word, std::memory_order_release);
  }
}

int EventQueue::begin_resize(SharedPages ring, RealTime time) {
  if (next_ring_ || switched_ || slots_of(ring) < 3) return EINVAL;
  if (slots_of(ring) - 2 < promised_ + reserved_) return EINVAL;
  next_ring_ = std::move(ring);
  if (!try_switch(time)) tally.deferred_switches++;
  return 0;
}

bool EventQueue::try_switch(RealTime time) {
  const EventBytes event = encode_eq_switch();
  if (!room(slots_for(event.size), 0)) return false;
  put(event);
  ring_ = std::move(*next_ring_);
  next_ring_.reset();
  slots_ = slots_of(ring_);
  reader_ = 1;
  write_at_ = slot_bytes;
  using_b_ = !using_b_;
  switched_ = true;
  tally.switches++;
  crossed_ = 0;
  check_thresholds(time);
  return true;
}

int EventQueue::complete_resize() {
  if (!switched_) return EINVAL;
  switched_ = false;
  return 0;
}

}  // namespace sim::nic
