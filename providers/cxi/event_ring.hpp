// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Reading an event queue's ring: slot 0 is the status, events of 16, 32 or 64 bytes follow,
// consumed ones are zeroed (behaviour 6.2). When the NIC leaves the ring for another one, what was
// not read yet is carried over in memory of our own, and read first. The same memory takes what was
// not read yet out of the way of fillers behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"
#include "mmio_raw.hpp"

namespace cxi {

/// Every event has its size and type in the same place; the return code is in its last byte.
struct EventView {
  const std::byte* at = nullptr;
  std::uint32_t bytes = 0;

  explicit operator bool() const noexcept { return at != nullptr; }
  unsigned type() const noexcept {
    return static_cast<unsigned>(cassini::c_event_initiator_short::event_type::get(at));
  }
  unsigned return_code() const noexcept { return std::to_integer<unsigned>(at[bytes - 1]) & 0x3f; }
};

/// The event at a place of the ring, or none while it is absent or not complete. The last byte is
/// written last; the barrier is the partner of the NIC's order between body and last byte.
inline EventView event_at(const std::byte* place) noexcept {
  const auto* size_byte = reinterpret_cast<const unsigned char*>(place + 14);
  const unsigned code = __atomic_load_n(size_byte, __ATOMIC_RELAXED) & 3;
  if (code == C_EVENT_SIZE_NO_EVENT) return {};
  const std::uint32_t bytes = 8u << code;
  const auto* last = reinterpret_cast<const unsigned char*>(place + bytes - 1);
  if ((__atomic_load_n(last, __ATOMIC_RELAXED) & 0x3f) == C_RC_NO_EVENT) return {};
  from_device_barrier();
  return {place, bytes};
}

class EventRing {
 public:
  static constexpr std::uint32_t slot_bytes = 64;

  void init(std::byte* ring, std::uint32_t bytes, std::uint32_t position = slot_bytes) noexcept {
    ring_ = ring;
    bytes_ = bytes;
    position_ = position;
    owed_ = 0;
  }

  std::byte* data() const noexcept { return ring_; }
  std::uint32_t bytes() const noexcept { return bytes_; }
  std::uint32_t position() const noexcept { return position_; }
  /// The slot that the acknowledgement names: one that is partly read is not given back yet, and
  /// events that were set aside keep as much room as they had.
  std::uint32_t read_slot() const noexcept {
    if (owed_ == 0) [[likely]]
      return position_ / slot_bytes;
    const std::size_t ring = bytes_ - slot_bytes;
    return static_cast<std::uint32_t>(1 +
                                      (position_ - slot_bytes + ring - owed_) % ring / slot_bytes);
  }

  /// The next event, fillers included.
  EventView peek() const noexcept {
    if (carrying()) [[unlikely]]
      return event_at(carried_ + carried_from_);
    return event_at(ring_ + position_);
  }

  /// Gives the event's bytes back: they must read as "no event" when the NIC comes round again.
  void consume(EventView event) noexcept {
    if (carrying()) [[unlikely]] {
      if (owes()) owed_ -= event.bytes;
      carried_from_ += event.bytes;
      if (!carrying()) drop_carried();
      return;
    }
    leave_behind(event);
  }

  /// Whether the next event is one that was carried over or set aside.
  bool carrying() const noexcept { return carried_from_ != carried_to_; }
  /// Of such an event: whether it was set aside. Else it has no place in the NIC's ring.
  bool owes() const noexcept { return owed_ != 0 && carried_to_ - carried_from_ == owed_; }
  /// Memory that carry() may need: the NIC can fill the ring again while it is being emptied.
  std::size_t carry_room() const noexcept {
    return carried_to_ - carried_from_ + 2 * std::size_t{bytes_};
  }
  /// Begins to carry over into memory from malloc(), which becomes the ring's. What stands for
  /// events that were taken out of order is left behind and counted.
  void begin_carry(std::byte* memory, std::uint32_t& counted) noexcept {
    std::byte* old = carried_;
    std::size_t from = carried_from_;
    const std::size_t to = carried_to_, owed_from = to - owed_;
    carried_ = memory;
    carried_from_ = carried_to_ = owed_ = 0;
    while (from != to) {
      const EventView event = event_at(old + from);
      if (keep(event, counted) && from >= owed_from) owed_ += event.bytes;
      from += event.bytes;
    }
    std::free(old);
  }
  /// Takes everything that was not read yet out of the ring, into memory from malloc(), which
  /// becomes the ring's. Fillers are left behind and counted: only their places become free.
  void set_aside(std::byte* memory, std::uint32_t& counted) noexcept {
    begin_carry(memory, counted);
    for (EventView event = event_at(ring_ + position_); event;
         event = event_at(ring_ + position_)) {
      if (keep(event, counted)) owed_ += event.bytes;
      leave_behind(event);
    }
    if (!carrying()) drop_carried();
  }
  /// Empties the ring of what is in it. Returns whether the NIC has left it.
  bool carry(std::uint32_t& counted) noexcept {
    for (EventView event = event_at(ring_ + position_); event;
         event = event_at(ring_ + position_)) {
      if (event.type() == C_EVENT_EQ_SWITCH) return true;
      keep(event, counted);
      leave_behind(event);
    }
    return false;
  }
  /// Goes on in the ring that the NIC writes now.
  void go_on_in(std::byte* ring, std::uint32_t bytes) noexcept {
    init(ring, bytes);
    if (!carrying()) drop_carried();
  }
  void drop_carried() noexcept {
    std::free(carried_);
    carried_ = nullptr;
    carried_from_ = carried_to_ = owed_ = 0;
  }

  /// The place behind one event.
  std::uint32_t after(std::uint32_t place, std::uint32_t event_bytes) const noexcept {
    place += event_bytes;
    return place == bytes_ ? slot_bytes : place;
  }

  /// Events from the read position on that are in the ring now, without consuming any. The function
  /// gets each one, and may turn it into a filler with blank().
  template <class F>
  void look_ahead(F&& f) noexcept {
    for (std::size_t at = carried_from_; at != carried_to_;) {
      const EventView event = event_at(carried_ + at);
      f(event);
      at += event.bytes;
    }
    std::uint32_t place = position_;
    do {
      const EventView event = event_at(ring_ + place);
      if (!event) return;
      f(event);
      place = after(place, event.bytes);
    } while (place != position_);
  }

  /// A filler that stands for an event which was taken out of order. It keeps the place in the ring
  /// and, by the mark, what the place is worth when it is given back.
  void blank(EventView event, bool counted) noexcept {
    auto* at = const_cast<std::byte*>(event.at);
    cassini::c_event_initiator_short::user_ptr::set(at, counted ? counted_mark : 0);
    cassini::c_event_initiator_short::event_type::set(at, C_EVENT_NULL_EVENT);
  }
  /// Makes a long target event one of another portal entry.
  void change_entry(EventView event, std::uint16_t pte) noexcept {
    cassini::c_event_target_long::ptlte_index::set(const_cast<std::byte*>(event.at), pte);
  }
  static bool is_counted_blank(EventView event) noexcept {
    return event.type() == C_EVENT_NULL_EVENT &&
           cassini::c_event_initiator_short::user_ptr::get(event.at) == counted_mark;
  }

 private:
  /// False: it was a filler.
  bool keep(EventView event, std::uint32_t& counted) noexcept {
    if (event.type() == C_EVENT_NULL_EVENT) {
      counted += is_counted_blank(event);
      return false;
    }
    std::memcpy(carried_ + carried_to_, event.at, event.bytes);
    carried_to_ += event.bytes;
    return true;
  }
  void leave_behind(EventView event) noexcept {
    std::memset(ring_ + position_, 0, event.bytes);
    position_ = after(position_, event.bytes);
  }

  static constexpr std::uint64_t counted_mark =
      0x636f756e74656421;  // no NIC writes this in a filler

  std::byte* ring_;
  std::uint32_t bytes_;
  std::uint32_t position_;
  std::byte* carried_ = nullptr;
  std::size_t carried_from_ = 0;
  std::size_t carried_to_ = 0;
  std::size_t owed_ = 0;  // bytes of the last carried events whose places are not free yet
};

}  // namespace cxi
