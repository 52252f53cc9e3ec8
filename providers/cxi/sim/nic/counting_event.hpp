// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Counting events and the operations that wait for them (behaviour 7). A counter does not carry out
// what waits for it: it hands it back, in threshold order, to whoever changed it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "nic/command_parse.hpp"
#include "nic/ports.hpp"

namespace sim::nic {

struct TriggeredOp {
  TxCommand command;
  unsigned queue = 0;  // the triggered queue that it came through
};

class Counter {
 public:
  Counter(unsigned rgid, std::shared_ptr<GuestMemory> memory, uint64_t writeback_va)
      : rgid_(rgid), memory_(std::move(memory)), writeback_va_(writeback_va) {}

  unsigned rgid() const { return rgid_; }
  uint64_t success() const { return success_; }
  unsigned failure() const { return failure_; }
  size_t waiting() const { return waiting_.size(); }

  /// Success wraps at 48 bits, failure stays at 127; a failure is written back at once.
  void add(uint64_t success, unsigned failure);
  void set(std::optional<uint64_t> success, std::optional<unsigned> failure);
  void write_back();

  void wait(uint64_t threshold, TriggeredOp op);
  size_t cancel();
  size_t cancel_of(unsigned queue);
  /// The next operation whose threshold has been reached, or nothing.
  std::optional<TriggeredOp> take_due();

 private:
  unsigned rgid_;
  std::shared_ptr<GuestMemory> memory_;
  uint64_t writeback_va_;
  uint64_t success_ = 0;
  unsigned failure_ = 0;
  std::multimap<uint64_t, TriggeredOp> waiting_;
};

}  // namespace sim::nic
