// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The wire between NICs. A packet is a request or a response with a header in Cassini's wire
// layout; its payload travels beside it. What a fabric has accepted it delivers once, and in order
// between two NICs, or not at all: a network below it may lose, repeat and reorder, which the
// fabric mends. A sender therefore only has to give up on what is never answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "fabric/packet_pool.hpp"

namespace sim::fabric {

class Endpoint {  // what a NIC plugs into the fabric
 public:
  virtual ~Endpoint() = default;
  // Takes the packet over; must not send in turn, nor block. The buffers may be kept and used
  // again.
  virtual void deliver(Packet&& packet) = 0;
  // Works off what has been delivered. Returns whether anything was done.
  virtual bool progress() { return false; }
  // Bytes of payload that have been delivered and not worked off.
  virtual size_t backlog() const { return 0; }
};

class Fabric {
 public:
  virtual ~Fabric() = default;
  virtual int attach(uint32_t nid, Endpoint& endpoint) = 0;  // EEXIST: the NID is taken
  virtual void detach(uint32_t nid) = 0;
  // False when nobody has that NID or its link is down: UNDELIVERABLE, at the sender's discretion.
  // The packet is then untouched.
  virtual bool send(Packet&& packet) = 0;
  // A copy to every NIC whose link is up, the sender's own included. Nobody answers.
  virtual void multicast(const Packet& packet) = 0;
  virtual void set_link(uint32_t nid, bool up) = 0;
  virtual bool reachable(uint32_t nid) const = 0;
  // What is known to wait at that NIC, in bytes: who has much to send waits until it is less.
  virtual size_t backlog(uint32_t) const { return 0; }
  // Lets every local NIC work off what was delivered to it, for whoever waits for an answer.
  virtual bool progress() = 0;
  PacketPool& pool() { return pool_; }
  static std::unique_ptr<Fabric> in_process();

 private:
  PacketPool pool_;
};

}  // namespace sim::fabric
