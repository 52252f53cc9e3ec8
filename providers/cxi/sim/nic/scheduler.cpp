// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What the engine looks at in one pass. Everything is bounded: a queue runs a few commands, the
// inbox gives up a few packets, a get sends a few pieces, then the next one has its turn.
#include <algorithm>
#include <atomic>

#include "ethernet/cassini_user_defs.h"
#include "nic/engine.hpp"
#include "nic/events.hpp"
#include "nic/trace_text.hpp"

namespace sim::nic {
namespace {

constexpr unsigned passes_between_full_looks = 64;
constexpr unsigned idle_looks_until_sleep = 1024;
constexpr size_t always_active = 16;  // so many doorbells cost less than keeping books about them
constexpr unsigned packets_per_pass = 64;
constexpr unsigned gets_per_pass = 8;
constexpr uint64_t time_check_ns = 1'000'000;
constexpr uint64_t timestamp_period_ns = 1'000'000'000;

uint64_t load(const uint64_t* word) {
  // Ordering comes with the second look, in CommandRing::look().
  return std::atomic_ref(*const_cast<uint64_t*>(word)).load(std::memory_order_relaxed);
}

}  // namespace

bool Nic::ring_bell(Doorbell& bell) {
  const uint64_t value = load(bell.at);
  if (value == bell.seen) return false;
  bell.seen = value;
  bell.idle = 0;
  CommandQueue& queue = *cmdqs_[bell.queue];
  const auto look = queue.ring.look();
  if (look == CommandRing::Look::bad_pointer) {
    stats_.commands.bad_pointers++;
    say("queue {}: write pointer {} refused", bell.queue, value & 0xffff);
  }
  if (look == CommandRing::Look::more && !queue.failed && !queue.stopped) list_queue(queue);
  return true;
}

bool Nic::ring_bells() {
  bool any = false;
  for (size_t i = 0; i < active_.size();) {
    Doorbell& bell = active_[i];
    if (ring_bell(bell)) {
      any = true;
    } else if (++bell.idle > idle_looks_until_sleep && active_.size() > always_active) {
      sleeping_.push_back(bell);
      bell = active_.back();
      active_.pop_back();
      continue;
    }
    i++;
  }
  if (sleeping_.empty()) {
    look_everywhere_ = false;
    return any;
  }
  if (!look_everywhere_ && ++passes_ % passes_between_full_looks != 0) return any;
  look_everywhere_ = false;
  for (size_t i = 0; i < sleeping_.size();) {
    if (!ring_bell(sleeping_[i])) {
      i++;
      continue;
    }
    any = true;
    active_.push_back(sleeping_[i]);
    sleeping_[i] = sleeping_.back();
    sleeping_.pop_back();
  }
  return any;
}

void Nic::list_queue(CommandQueue& queue) {
  if (queue.listed) return;
  queue.listed = true;
  work_.push_back(queue.index);
}

void Nic::unlist_queue(unsigned index) {
  if (CommandQueue* queue = cmdq(index)) queue->listed = false;
  std::erase(work_, index);
}

bool Nic::run_queues() {
  if (work_.empty()) return false;
  bool any = false;
  work_now_.swap(work_);
  for (const unsigned index : work_now_) {
    CommandQueue* queue = cmdq(index);
    if (!queue || !queue->listed) continue;
    queue->listed = false;
    if (queue->failed || queue->stopped) continue;
    any |= queue->config.transmit ? run_transmit(*queue) : run_target(*queue);
    if (queue->ring.pending() && !queue->failed && !queue->stopped) list_queue(*queue);
  }
  work_now_.clear();
  return any;
}

bool Nic::progress() {
  bool any = false;
  for (unsigned i = 0; i < packets_per_pass && wire_.has_received(); i++) {
    handle_packet(wire_.next_received());
    any = true;
  }
  size_t i = 0;
  for (unsigned served = 0; i < servings_.size() && served < gets_per_pass;) {
    const Served did = serve(servings_[i]);
    any |= did != Served::nothing;
    served += did != Served::nothing;
    if (did != Served::whole) {
      i++;
    } else {
      servings_[i] = std::move(servings_.back());
      servings_.pop_back();
    }
  }
  // Those that were left out come first the next time.
  if (i < servings_.size())
    std::ranges::rotate(servings_, servings_.begin() + static_cast<std::ptrdiff_t>(i));
  return any;
}

bool Nic::run_timers() {
  if (now_ns_ < next_time_check_) return false;
  next_time_check_ = now_ns_ + time_check_ns;
  bool any = false;
  if (!wire_.idle())
    any |= wire_.retry(now_ns_, [this](fabric::Packet&& packet) { abandon(std::move(packet)); });
  if (busy_messages_ != 0 && now_ns_ >= next_give_up_ns_) any |= give_up();
  if (!deliveries_.empty() && now_ns_ >= next_stale_check_ns_) {
    any |= end_stale_deliveries();
    next_stale_check_ns_ = now_ns_ + config_.give_up_ns / 2;
  }
  if (threshold_queues_ != 0) look_at_thresholds();
  if (timestamp_queues_ != 0 && now_ns_ >= next_timestamp_ns_) {
    next_timestamp_ns_ = now_ns_ + timestamp_period_ns;
    post_timestamps(clock_.realtime_ns());
    any = true;
  }
  return any;
}

void Nic::post_timestamps(uint64_t realtime) {
  for (auto& queue : eqs_)
    if (queue && queue->timestamps()) post(*queue, encode_timestamp(realtime));
}

void Nic::look_at_thresholds() {
  for (auto& queue : eqs_) {
    if (!queue || !queue->watches_thresholds()) continue;
    queue->look_at_thresholds(clock_);
    count_tally(*queue);
  }
}

bool Nic::end_switches() {
  return std::erase_if(switching_, [&](unsigned n) {
           EventQueue& queue = *eqs_[n];
           const bool waits = queue.wants_switch();
           if (!queue.end_switch(clock_)) return false;
           if (waits) notify(queue);
           return true;
         }) != 0;
}

bool Nic::step() {
  trace_on_ = trace_.enabled();
  now_ns_ = clock_.monotonic_ns();
  bool any = !switching_.empty() && end_switches();
  any |= ring_bells();
  any |= run_queues();
  any |= send_pieces();
  any |= progress();
  any |= fire_due();
  any |= run_timers();
  return any;
}

std::optional<uint64_t> Nic::next_due_ns() const {
  uint64_t due = UINT64_MAX;
  if (timestamp_queues_ != 0) due = std::min(due, next_timestamp_ns_);
  if (!wire_.idle()) due = std::min(due, next_time_check_);
  if (busy_messages_ != 0) due = std::min(due, next_give_up_ns_);
  if (!deliveries_.empty()) due = std::min(due, next_stale_check_ns_);
  if (due == UINT64_MAX) return std::nullopt;
  return due;
}

}  // namespace sim::nic
