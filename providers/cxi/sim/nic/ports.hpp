// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What the NIC engine needs from the world around it. The engine itself has no clock, no memory of
// other processes, no threads and no files: whoever builds one hands these in, so that a test can
// play all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace sim::nic {

// Memory of one process, by its virtual addresses. Thread-compatible: the engine calls it from one
// thread at a time.
class GuestMemory {
 public:
  virtual ~GuestMemory() = default;
  // Both return false when any byte cannot be accessed; bytes before it may have been transferred.
  virtual bool read(uint64_t va, std::span<std::byte> out) = 0;
  virtual bool write(uint64_t va, std::span<const std::byte> in) = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual uint64_t realtime_ns() = 0;   // what time stamps in events count
  virtual uint64_t monotonic_ns() = 0;  // what delays are measured with
};

// The time of day, which is not looked up before somebody asks; in tests, a fixed one.
class RealTime {
 public:
  RealTime(Clock& clock) : clock_(&clock) {}
  RealTime(uint64_t ns) : ns_(ns) {}
  uint64_t operator()() const { return clock_ ? clock_->realtime_ns() : ns_; }

 private:
  Clock* clock_ = nullptr;
  uint64_t ns_ = 0;
};

// Told when an event has been written to an armed event queue (see rdma/cxiverbs-abi.h,
// Notification), and when a command failed.
// Called from within the engine: take note, and call the device only later.
class Interrupts {
 public:
  virtual ~Interrupts() = default;
  virtual void event_written(unsigned eqn, uint8_t armed_value) = 0;
  virtual void command_failed(unsigned cmdq, bool target) = 0;
};

// One line per command, packet, match and event. `enabled()` is asked before a line is built.
class Trace {
 public:
  virtual ~Trace() = default;
  virtual bool enabled() const = 0;
  virtual void line(std::string_view text) = 0;
};

// Memory that both sides have mapped (rings, doorbells, slot memory): kept alive by whoever uses
// it.
struct SharedPages {
  std::shared_ptr<void> owner;
  std::span<std::byte> bytes;
};

}  // namespace sim::nic
