// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Commands on counting events, what counts, and what a count sets off (behaviour 7).
#include <algorithm>

#include "ethernet/cassini_user_defs.h"
#include "nic/engine.hpp"
#include "nic/trace_text.hpp"

namespace sim::nic {
namespace {

constexpr unsigned fired_per_pass = 64;

}  // namespace

Nic::Outcome Nic::execute_counter(CommandQueue& queue, const TxCommand& c) {
  const auto own = [&](unsigned n) { return ct(n) && ct(n)->rgid() == queue.rgid; };
  const auto success = c.set_success ? std::optional(c.success) : std::nullopt;
  const auto failure = c.set_failure ? std::optional<unsigned>(c.failure) : std::nullopt;
  const bool trigger = c.opcode >= C_CMD_CT_TRIG_DMA;
  const bool names_ct = c.opcode != C_CMD_CT_TRIG_DMA && c.opcode != C_CMD_CT_TRIG_EVENT;
  // Counter 0 is none, which is nobody's; but what is triggered waits for one that there is.
  if ((names_ct && c.ct != 0 && !own(c.ct)) || (trigger && !own(c.trig_ct)))
    return {C_RC_PERM_VIOLATION};
  if (c.opcode == C_CMD_CT_TRIG_DMA) {
    if (const int rc = check_rights(queue.rgid, c.options); rc != C_RC_OK) return {rc};
  }
  if (c.opcode == C_CMD_CT_TRIG_EVENT && c.eq != 0 && (!eq(c.eq) || eq(c.eq)->rgid() != queue.rgid))
    return {C_RC_PERM_VIOLATION};
  if (names_ct && !trigger && c.ct == 0) return {C_RC_OK};
  switch (c.opcode) {
    case C_CMD_CT_SET:
      say("queue {}: CT_SET {}", queue.index, c.ct);
      ct(c.ct)->set(success, failure);
      counter_changed(c.ct);
      return {C_RC_OK};
    case C_CMD_CT_INC:
      say("queue {}: CT_INC {} by {}", queue.index, c.ct, success.value_or(0));
      ct(c.ct)->add(success.value_or(0), failure.value_or(0));
      counter_changed(c.ct);
      return {C_RC_OK};
    case C_CMD_CT_GET:
      ct(c.ct)->write_back();
      return {C_RC_OK};
    case C_CMD_CT_CANCEL:
      say("queue {}: CT_CANCEL {}", queue.index, c.ct);
      groups_[queue.rgid].triggered->in_use -= static_cast<unsigned>(ct(c.ct)->cancel());
      return {C_RC_OK};
    default:
      break;
  }
  TriggeredEntries& entries = *groups_[queue.rgid].triggered;
  if (entries.in_use >= entries.most) return {C_RC_OK, true};
  entries.in_use++;
  say("queue {}: waits for ct {} to reach {}", queue.index, c.trig_ct, c.threshold);
  ct(c.trig_ct)->wait(c.threshold, {c, queue.index});
  counter_changed(c.trig_ct);
  return {C_RC_OK};
}

void Nic::count(unsigned rgid, unsigned n, bool success, uint64_t amount) {
  Counter* counter = ct_of(rgid, n);
  if (!counter) return;
  counter->add(success ? amount : 0, success ? 0 : 1);
  stats_.commands.counter_updates++;
  say("ct {}: {} success {} failure", n, counter->success(), counter->failure());
  counter_changed(n);
}

void Nic::counter_changed(unsigned n) {
  while (auto op = ct(n)->take_due())
    due_.emplace_back(n, std::move(*op));
}

// Entries of all owners: what waits, and what has come due.
size_t Nic::triggered_in_use() const {
  size_t in_use = due_.size();
  for (const auto& counter : cts_)
    if (counter) in_use += counter->waiting();
  return in_use;
}

bool Nic::fire_due() {
  if (due_.empty()) return false;
  // One that has no room holds up those behind it on its counter and of its queue, nobody else's.
  due_waits_.clear();
  const auto waits = [&](unsigned counter, unsigned queue) {
    return std::ranges::any_of(
        due_waits_, [&](const auto& w) { return w.first == counter || w.second == queue; });
  };
  unsigned fired = 0;
  for (size_t i = 0; i < due_.size() && fired < fired_per_pass;) {
    const auto& [counter, op] = due_[i];
    const unsigned queue = op.queue;
    if (waits(counter, queue)) {
      i++;
    } else if (!fire(op)) {
      due_waits_.emplace_back(counter, queue);
      i++;
    } else {
      due_.erase(due_.begin() + static_cast<std::ptrdiff_t>(i));
      groups_[cmdq(queue)->rgid].triggered->in_use--;
      fired++;
    }
  }
  return fired != 0;
}

// False: there is no room for it now, it stays where it is.
bool Nic::fire(const TriggeredOp& op) {
  const TxCommand& c = op.command;
  CommandQueue* queue = cmdq(op.queue);
  switch (c.opcode) {
    case C_CMD_CT_TRIG_SET:
    case C_CMD_CT_TRIG_INC: {
      Counter* counter = ct_of(queue->rgid, c.ct);
      if (!counter) return true;
      if (c.opcode == C_CMD_CT_TRIG_INC) {
        counter->add(c.set_success ? c.success : 0, c.set_failure ? c.failure : 0);
      } else {
        counter->set(c.set_success ? std::optional(c.success) : std::nullopt,
                     c.set_failure ? std::optional<unsigned>(c.failure) : std::nullopt);
      }
      counter_changed(c.ct);
      return true;
    }
    case C_CMD_CT_TRIG_EVENT: {
      ct(c.trig_ct)->write_back();
      if (EventQueue* events = queue_of(queue->rgid, c.eq))
        post(*events,
             encode_triggered_op(c.trig_ct, c.threshold, events->initiator_long(), clock_));
      return true;
    }
    default:
      break;
  }
  // Triggered transfers use the profile of LCID 0. What cannot be started any more is dropped; its
  // queue was told of bad arguments when the command was taken.
  TxCommand transfer_command = c;
  transfer_command.opcode = c.embedded_opcode;
  const Outcome outcome = transfer(op.queue, queue->rgid, 0, transfer_command, c.options);
  return !outcome.stalled;
}

}  // namespace sim::nic
