// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/notifier.hpp"

#include <algorithm>
#include <utility>

namespace sim::uverbs {
namespace {

// More than one arm value cannot be outstanding without the program reading its channel.
constexpr uint32_t max_pending = 16;
constexpr size_t max_backlog = 1024;

}  // namespace

void Notifier::attach(std::shared_ptr<EventPipe> pipe, uint64_t user_handle) {
  *this = Notifier();
  pipe_ = std::move(pipe);
  reader_.user_handle = user_handle;
}

void Notifier::moderate(uint32_t count, uint64_t period_ns) {
  count_ = count;
  period_ns_ = period_ns;
}

void Notifier::raise_held() {
  if (due_ns_) raise(held_value_);
}

void Notifier::raise(uint8_t armed_value, std::optional<uint64_t> now_ns) {
  if (told_ == armed_value) return;
  if (now_ns && moderated()) {
    held_value_ = armed_value;
    if (!due_ns_) due_ns_ = *now_ns + period_ns_;
    if (++held_ < count_ && *now_ns < *due_ns_) return;
  }
  held_ = 0;
  due_ns_.reset();
  told_ = armed_value;
  if (!pipe_) return;
  pending_ = std::min(pending_ + 1, max_pending);
  flush();
}

bool Notifier::flush() {
  const ib_uverbs_comp_event_desc record{reader_.user_handle};
  bool any = false;
  while (pending_ != 0) {
    switch (pipe_->write(std::as_bytes(std::span(&record, 1)))) {
      case EventPipe::Written::done:
        ++reader_.written;
        --pending_;
        any = true;
        break;
      case EventPipe::Written::full:
        return any;
      case EventPipe::Written::closed:
        pending_ = 0;
        break;
    }
  }
  return any;
}

uint32_t Notifier::finish() {
  if (!pipe_) return 0;
  pending_ = 0;
  held_ = 0;
  due_ns_.reset();
  uint32_t removed = pipe_->remove(reader_.user_handle);
  reader_.written -= std::min(removed, reader_.written);
  return reader_.written;
}

Notifier::Reader Notifier::lend(uint64_t user_handle) {
  finish();
  return std::exchange(reader_, {user_handle, 0});
}

void Notifier::give_back(const Reader& lender) {
  finish();
  reader_ = lender;
}

void AsyncChannel::raise(uint64_t element, uint32_t type, std::shared_ptr<uint32_t> count) {
  if (backlog_.size() >= max_backlog) return;
  backlog_.push_back({{element, type, 0}, std::move(count)});
  flush();
}

bool AsyncChannel::flush() {
  bool any = false;
  while (!backlog_.empty()) {
    Event& event = backlog_.front();
    switch (pipe_->write(std::as_bytes(std::span(&event.record, 1)))) {
      case EventPipe::Written::done:
        if (event.count) ++*event.count;
        any = true;
        break;
      case EventPipe::Written::full:
        return any;
      case EventPipe::Written::closed:
        break;
    }
    backlog_.pop_front();
  }
  return any;
}

uint32_t AsyncChannel::remove(uint64_t element) {
  std::erase_if(backlog_, [&](const Event& e) { return e.count && e.record.element == element; });
  return pipe_->remove(element);
}

}  // namespace sim::uverbs
