// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/statistics.hpp"

#include <algorithm>

namespace sim::nic {
namespace {

constexpr size_t check_sequence_bytes = 4;

}  // namespace

void FrameStatistics::count_frames(size_t bytes, size_t how_many) {
  const size_t size = bytes + check_sequence_bytes;
  frames += how_many;
  octets += size * how_many;
  const auto* limit = std::ranges::upper_bound(size_limits, size);
  by_size[static_cast<size_t>(limit - size_limits.begin())] += how_many;
}

void FrameStatistics::count(size_t header_bytes, size_t payload_bytes, bool to_many) {
  const Count before = octets;
  const size_t packets = wire_packets(payload_bytes);
  if (packets > 1) count_frames(header_bytes + wire_payload_bytes, packets - 1);
  count_frames(header_bytes + payload_bytes - (packets - 1) * wire_payload_bytes, 1);
  if (!to_many) return;
  multicast += packets;
  multicast_octets += octets - before;
}

}  // namespace sim::nic
