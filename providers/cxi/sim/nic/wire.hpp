// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Between the engine and the fabric: packets out, with those to a peer that cannot be reached held
// back in order until it can be or until the NIC gives up; packets in, until the engine gets to
// them. Buffers go round, so that small messages do not allocate.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fabric/fabric.hpp"
#include "nic/ports.hpp"
#include "nic/statistics.hpp"

namespace sim::nic {

class Wire {
 public:
  Wire(fabric::Fabric& fabric, uint32_t nid, uint64_t give_up_ns, Statistics& statistics)
      : fabric_(fabric), nid_(nid), give_up_ns_(give_up_ns), statistics_(statistics) {}

  fabric::Packet take(size_t payload_bytes) { return fabric_.pool().take(payload_bytes); }
  void give(fabric::Packet&& packet) { fabric_.pool().give(std::move(packet)); }

  enum class Sent { yes, held, refused };  // refused: the peer is known to be down
  Sent send(fabric::Packet&& packet, uint64_t now);

  /// Whether packets to that peer are being held back, and how many bytes to all such peers.
  bool holding(uint32_t nid) const { return !holds_.empty() && holds_.contains(nid); }
  size_t held_bytes() const { return held_bytes_; }
  /// Whether that peer has so much to work off that long transfers to it have to wait.
  bool congested(uint32_t nid) const;
  /// Not the time for the next piece of a long transfer.
  bool blocked(uint32_t nid) const { return holding(nid) || congested(nid); }
  bool idle() const { return holds_.empty(); }

  /// Sends what can be sent now; gives what is too old to `abandoned`. Returns whether anything was
  /// done.
  bool retry(uint64_t now, const std::function<void(fabric::Packet&&)>& abandoned);

  void send_to_all(const fabric::Packet& packet);
  void receive(fabric::Packet&& packet);
  bool has_received() const { return inbox_at_ < inbox_.size(); }
  size_t received_bytes() const { return inbox_bytes_; }
  fabric::Packet next_received();

  uint32_t nid() const { return nid_; }

 private:
  bool transmit(fabric::Packet&& packet);

  struct Hold {
    std::deque<fabric::Packet> packets;
    uint64_t since = 0;
  };

  fabric::Fabric& fabric_;
  uint32_t nid_;
  uint64_t give_up_ns_;
  Statistics& statistics_;
  std::vector<fabric::Packet> inbox_;
  size_t inbox_at_ = 0, inbox_bytes_ = 0;
  std::unordered_map<uint32_t, Hold> holds_;
  std::unordered_set<uint32_t> down_;
  size_t held_bytes_ = 0;
};

}  // namespace sim::nic
