// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The wire between NICs. A packet is a request or a response with a header in Cassini's wire layout;
// its payload travels beside it. In process, delivery is a call; a fabric over a network may lose,
// repeat and delay, which is why a sender keeps what it has not had a response for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace sim::fabric {

struct Packet {
  uint32_t source_nid = 0;
  uint32_t destination_nid = 0;
  std::vector<std::byte> header;   // wire headers of ethernet/cassini_user_defs.h
  std::vector<std::byte> payload;  // empty for requests whose data the receiver pulls (see below)
};

class Endpoint {  // what a NIC plugs into the fabric
 public:
  virtual ~Endpoint() = default;
  virtual void deliver(Packet packet) = 0;
};

class Fabric {
 public:
  virtual ~Fabric() = default;
  virtual int attach(uint32_t nid, Endpoint& endpoint) = 0;  // EEXIST: the NID is taken
  virtual void detach(uint32_t nid) = 0;
  // False when nobody has that NID or its link is down: UNDELIVERABLE, at the sender's discretion.
  virtual bool send(Packet packet) = 0;
  static std::unique_ptr<Fabric> in_process();
};

}  // namespace sim::fabric
