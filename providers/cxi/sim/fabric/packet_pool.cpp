// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fabric/packet_pool.hpp"

#include <utility>

namespace sim::fabric {
namespace {

constexpr size_t largest_small = 4096;  // bytes of payload
constexpr size_t most_small = 1024, most_large = 16;

}  // namespace

Packet PacketPool::take(size_t payload_bytes) {
  auto& spare = payload_bytes > largest_small ? large_ : small_;
  Packet packet;
  if (!spare.empty()) {
    packet = std::move(spare.back());
    spare.pop_back();
  }
  packet.payload.resize(payload_bytes);
  return packet;
}

void PacketPool::give(Packet&& packet) {
  const bool large = packet.payload.capacity() > largest_small;
  auto& spare = large ? large_ : small_;
  if (spare.size() < (large ? most_large : most_small)) spare.push_back(std::move(packet));
}

}  // namespace sim::fabric
