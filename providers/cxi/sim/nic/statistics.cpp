// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/statistics.hpp"

#include <algorithm>
#include <bit>

namespace sim::nic {
namespace {

constexpr size_t check_sequence_bytes = 4;

// The class of a size without a search: every packet asks, in both directions.
constexpr size_t class_of(size_t size) {
  if (size < 64) return size < 28 ? 0 : size < 36 ? 1 : 2;
  return size == 64 ? 3 : std::min<size_t>(std::bit_width(size) - 3, 11);
}

constexpr bool agrees_with_limits() {
  for (size_t at = 0; const size_t limit : FrameStatistics::size_limits) {
    if (class_of(limit - 1) != at || (limit != SIZE_MAX && class_of(limit) != at + 1)) return false;
    at++;
  }
  return true;
}
static_assert(agrees_with_limits());

}  // namespace

void FrameStatistics::count_frames(size_t bytes, size_t how_many) {
  const size_t size = bytes + check_sequence_bytes;
  frames += how_many;
  octets += size * how_many;
  by_size[class_of(size)] += how_many;
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
