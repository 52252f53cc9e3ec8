// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// One event queue: where the next event goes, whether there is room, and the two-phase write into
// memory that a program reads at the same time (behaviour 6.2 to 6.4).
//
// Slots are 64 bytes. Slot 0 is the status, one more is a guard, so a ring of n slots holds n - 2.
// An event never crosses a slot: what is left of one is filled with NULL_EVENTs. Slots promised to
// messages from the network that are still under way count as used, and such messages cannot take
// the last `reserved` ones.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nic/events.hpp"
#include "nic/ports.hpp"

namespace sim::nic {

struct EqConfig;

class EventQueue {
 public:
  EventQueue(unsigned eqn, unsigned rgid, const EqConfig& config);

  unsigned eqn() const { return eqn_; }
  unsigned rgid() const { return rgid_; }
  bool initiator_long() const { return initiator_long_; }
  bool target_long() const { return target_long_; }

  /// Takes room for `slots` events from the network; false: none is left.
  bool promise(unsigned slots);
  void unpromise(unsigned slots) { promised_ -= slots; }
  /// Writes an event for which room was promised.
  void write_promised(const EventBytes& event, RealTime time);
  /// Writes an event that has no promise; false: there was no room and it is dropped.
  bool write(const EventBytes& event, RealTime time);

  /// The value of the armed word when it asks for a notification that was not given yet.
  std::optional<uint8_t> take_notification();

  unsigned capacity() const { return slots_ - 2; }
  unsigned reserved() const { return reserved_; }
  /// Returns 0 and the new number, EINVAL or ENOSPC.
  int adjust_reserve(int delta);
  uint64_t dropped() const { return dropped_; }
  bool timestamps() const { return timestamp_events_; }

  /// From now on events go to the new ring, once EQ_SWITCH fits into the old one.
  int begin_resize(SharedPages ring, RealTime time);
  int complete_resize();
  /// The switch waits for room; end_switch() tries again. Returns whether it is done.
  bool wants_switch() const { return next_ring_.has_value(); }
  bool end_switch(RealTime time) { return !wants_switch() || try_switch(time); }

  /// The free slots may have risen above a threshold without an event.
  bool watches_thresholds() const { return !thresholds_.empty(); }
  void look_at_thresholds(RealTime time) {
    if (crossed_ != 0) check_thresholds(time);
  }

  struct Tally {  // of what has not been counted yet
    unsigned switches = 0, deferred_switches = 0, status_updates = 0;
    bool operator==(const Tally&) const = default;
  } tally;
  bool tell_every_event = false;
  std::vector<unsigned> wakes;  // other queues whose notification an event here raises

 private:
  unsigned used() const;
  unsigned thresholds_above_free() const;
  void look_at_reader();
  bool room(unsigned more, unsigned keep_free);
  unsigned slots_for(size_t bytes) const;
  void put(const EventBytes& event);
  void pad_to(size_t alignment);
  void store(const EventBytes& event);
  void note_drop(RealTime time);
  void check_thresholds(RealTime time);
  void write_status(RealTime time);
  bool try_switch(RealTime time);

  unsigned eqn_, rgid_;
  SharedPages ring_, sw_state_;
  unsigned slots_;
  unsigned reader_ = 1;   // slot that the program reads next, as far as is known
  size_t write_at_ = 64;  // byte of the ring
  unsigned promised_ = 0;
  unsigned reserved_;
  uint8_t notified_ = 0;  // bits 44-47 of the software state at the last notification
  bool initiator_long_, target_long_, drop_status_disable_, timestamp_events_, combining_disable_;

  uint64_t status_ns_ = 0;  // time of the last status
  bool unacked_drop_ = false;
  bool drop_seq_ = false;
  uint64_t dropped_ = 0;

  std::vector<unsigned> thresholds_;  // free slots, fewest first
  unsigned crossed_ = 0;              // how many of them the free slots have fallen below
  uint8_t threshold_id_ = 0;
  bool threshold_status_ = false;

  std::optional<SharedPages> next_ring_;  // resize asked for
  bool switched_ = false;                 // EQ_SWITCH written, not completed by the driver
  bool using_b_ = false;
};

}  // namespace sim::nic
