// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What travels between NICs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sim::fabric {

struct Packet {
  uint32_t source_nid = 0;
  uint32_t destination_nid = 0;
  uint16_t use = 0;  // of the sender's tracker entry; told beside the header, which has no room
  std::vector<std::byte> header;  // wire headers of ethernet/cassini_user_defs.h
  std::vector<std::byte> payload;
};

}  // namespace sim::fabric
