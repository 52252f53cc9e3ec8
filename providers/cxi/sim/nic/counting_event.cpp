// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/counting_event.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"

namespace sim::nic {

void Counter::add(uint64_t success, unsigned failure) {
  success_ = (success_ + success) & CT_SUCCESS_MASK;
  if (failure == 0) return;
  failure_ = std::min<unsigned>(failure_ + failure, CT_FAILURE_MASK);
  write_back();
}

void Counter::set(std::optional<uint64_t> success, std::optional<unsigned> failure) {
  if (success) success_ = *success & CT_SUCCESS_MASK;
  if (failure) failure_ = *failure & CT_FAILURE_MASK;
}

void Counter::write_back() {
  using w = cassini::c_ct_writeback;
  if (!memory_ || writeback_va_ == 0) return;
  const uint64_t word = w::ct_success::encode(success_) | w::ct_failure::encode(failure_) |
                        w::ct_writeback::encode(1);
  std::array<std::byte, 8> bytes;
  std::memcpy(bytes.data(), &word, bytes.size());
  // Memory that has gone away gets nothing; the counter itself is not affected.
  (void)memory_->write(writeback_va_, bytes);
}

void Counter::wait(uint64_t threshold, TriggeredOp op) {
  waiting_.emplace(threshold, std::move(op));  // behind those with the same threshold
}

size_t Counter::cancel() {
  const size_t dropped = waiting_.size();
  waiting_.clear();
  return dropped;
}

size_t Counter::cancel_of(unsigned queue) {
  return std::erase_if(waiting_, [&](const auto& op) { return op.second.queue == queue; });
}

std::optional<TriggeredOp> Counter::take_due() {
  if (waiting_.empty() || waiting_.begin()->first > success_) return std::nullopt;
  auto node = waiting_.extract(waiting_.begin());
  return std::move(node.mapped());
}

}  // namespace sim::nic
