// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Packets for use again, so that traffic does not allocate. The pool belongs to the fabric and not
// to a NIC: buffers travel with the data, and would pile up where it goes.
#pragma once

#include <cstddef>
#include <vector>

#include "fabric/packet.hpp"

namespace sim::fabric {

class PacketPool {
 public:
  /// A packet with a payload of that size; what it and the header contain is left over from earlier
  /// use.
  Packet take(size_t payload_bytes);
  void give(Packet&& packet);

 private:
  std::vector<Packet> small_, large_;
};

}  // namespace sim::fabric
