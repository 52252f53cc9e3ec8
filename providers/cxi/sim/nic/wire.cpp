// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/wire.hpp"

#include <algorithm>
#include <utility>

#include "nic/packets.hpp"

namespace sim::nic {

bool Wire::congested(uint32_t nid) const {
  constexpr size_t most_backlog = size_t{16} << 20;
  return fabric_.backlog(nid) > most_backlog;
}

bool Wire::transmit(fabric::Packet&& packet) {
  const size_t header = packet.header.size(), payload = packet.payload.size();
  if (!fabric_.send(std::move(packet))) return false;
  statistics_.sent.count(header, payload);
  return true;
}

void Wire::send_to_all(const fabric::Packet& packet) {
  fabric_.multicast(packet);
  statistics_.sent.count(packet.header.size(), packet.payload.size(), true);
}

void Wire::receive(fabric::Packet&& packet) {
  statistics_.received.count(packet.header.size(), packet.payload.size(),
                             packet.destination_nid != nid_);
  inbox_bytes_ += packet.payload.size();
  inbox_.push_back(std::move(packet));
}

Wire::Sent Wire::send(fabric::Packet&& packet, uint64_t now) {
  const uint32_t to = packet.destination_nid;
  if (!holding(to)) {
    if (transmit(std::move(packet))) {
      if (!down_.empty()) down_.erase(to);
      return Sent::yes;
    }
    if (down_.contains(to)) {
      give(std::move(packet));
      return Sent::refused;
    }
    holds_[to].since = now;
  }
  held_bytes_ += packet.payload.size();
  holds_[to].packets.push_back(std::move(packet));
  return Sent::held;
}

bool Wire::retry(uint64_t now, const std::function<void(fabric::Packet&&)>& abandoned) {
  bool any = false;
  std::vector<fabric::Packet> lost;
  for (auto at = holds_.begin(); at != holds_.end();) {
    Hold& hold = at->second;
    while (!hold.packets.empty()) {
      const size_t bytes = hold.packets.front().payload.size();
      const bool request = !is_response(hold.packets.front().header);
      if (!transmit(std::move(hold.packets.front()))) break;
      statistics_.tracking.retried += request;
      hold.since = now;
      held_bytes_ -= bytes;
      hold.packets.pop_front();
      any = true;
    }
    // What follows a packet that is given up goes with it: order within a connection is kept.
    if (!hold.packets.empty() && now - hold.since >= give_up_ns_) {
      down_.insert(at->first);
      for (auto& packet : hold.packets) {
        held_bytes_ -= packet.payload.size();
        lost.push_back(std::move(packet));
      }
      hold.packets.clear();
    }
    at = hold.packets.empty() ? holds_.erase(at) : std::next(at);
  }
  for (auto& packet : lost)
    abandoned(std::move(packet));
  return any || !lost.empty();
}

fabric::Packet Wire::next_received() {
  fabric::Packet packet = std::move(inbox_[inbox_at_++]);
  inbox_bytes_ -= packet.payload.size();
  if (inbox_at_ == inbox_.size()) {
    inbox_.clear();
    inbox_at_ = 0;
  } else if (inbox_at_ >= 1024) {
    inbox_.erase(inbox_.begin(), inbox_.begin() + 1024);
    inbox_at_ -= 1024;
  }
  return packet;
}

}  // namespace sim::nic
