// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Telling programs: completion records of event queues, and asynchronous events. A full pipe loses
// nothing that matters: what could not be written is remembered, in bounded space, and written
// later.
#pragma once

#include <rdma/ib_user_verbs.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "uverbs/event_pipe.hpp"

namespace sim::uverbs {

// The completion channel of an event queue.
class Notifier {
 public:
  void attach(std::shared_ptr<EventPipe> pipe, uint64_t user_handle);
  void detach() { *this = Notifier(); }
  bool attached() const { return pipe_ != nullptr; }

  // The armed queue has an event; the value of the software state says whether it was told before.
  // With moderation it is told when so many have come, or so long after the first, or at once when
  // `now` does not count.
  void raise(uint8_t armed_value, std::optional<uint64_t> now_ns = std::nullopt);
  // Hold records back until `count` events have come or `period_ns` have passed. 0 of either, or
  // one event: no moderation.
  void moderate(uint32_t count, uint64_t period_ns);
  bool moderated() const { return count_ > 1 && period_ns_ > 0; }
  // When the record that is held back is due.
  std::optional<uint64_t> due_ns() const { return due_ns_; }
  void raise_held();
  // Writes what is owed. Returns whether something was written.
  bool flush();
  bool owes() const { return pending_ != 0; }
  // Takes this queue's records out of the channel. Returns how many the program has read or can
  // still read, which is what it will be asked to have acknowledged.
  uint32_t finish();

  // Who reads the records: what they carry, and how many there were of them.
  struct Reader {
    uint64_t user_handle = 0;
    uint32_t written = 0;
  };
  // Records are somebody else's until they are given back. Unread ones do not change hands.
  Reader lend(uint64_t user_handle);
  void give_back(const Reader& lender);
  const EventPipe* channel() const { return pipe_.get(); }

 private:
  std::shared_ptr<EventPipe> pipe_;
  Reader reader_;
  std::optional<uint8_t> told_;
  uint32_t pending_ = 0;  // at most one for each value the program can arm with
  uint32_t count_ = 0;
  uint64_t period_ns_ = 0;
  uint32_t held_ = 0;  // events since the record is held back
  uint8_t held_value_ = 0;
  std::optional<uint64_t> due_ns_;
};

// Asynchronous events of one context.
class AsyncChannel {
 public:
  explicit AsyncChannel(std::shared_ptr<EventPipe> pipe) : pipe_(std::move(pipe)) {}

  const EventPipe& pipe() const { return *pipe_; }
  // `count` is stepped when the event has reached the pipe.
  void raise(uint64_t element, uint32_t type, std::shared_ptr<uint32_t> count);
  bool flush();
  bool owes() const { return !backlog_.empty(); }
  // Takes the events about an object out. Returns how many of them had been in the pipe.
  uint32_t remove(uint64_t element);
  void shut() { pipe_->shut(); }

 private:
  struct Event {
    ib_uverbs_async_event_desc record;
    std::shared_ptr<uint32_t> count;
  };
  std::shared_ptr<EventPipe> pipe_;
  std::deque<Event> backlog_;
};

// Kinds of asynchronous events, enum ib_event_type of the kernel.
inline constexpr uint32_t event_qp_fatal = 1, event_device_fatal = 8, event_port_active = 9,
                          event_port_err = 10;

}  // namespace sim::uverbs
