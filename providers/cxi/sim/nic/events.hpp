// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What an event says, and its bytes (behaviour 6). Pure; the rings are in event_queue.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nic/ports.hpp"

namespace sim::nic {

/// The bytes of one event; the last one is written last.
struct EventBytes {
  alignas(8) std::byte bytes[64] = {};
  size_t size = 0;
};

struct InitiatorEvent {
  uint8_t type = 0;  // enum c_event_type
  uint8_t return_code = 0;
  uint8_t ptl_list = 0;
  bool rendezvous = false;
  bool retry = false;
  bool tgt_error = false;
  uint32_t mlength = 0;
  uint64_t user_ptr = 0;
};

struct TargetEvent {
  uint8_t type = 0;
  uint8_t return_code = 0;
  uint8_t ptl_list = 0;
  bool rendezvous = false;
  bool get_issued = false;
  bool auto_unlinked = false;
  uint8_t rendezvous_id = 0;
  uint8_t atomic_type = 0, atomic_op = 0, cswap_op = 0;
  uint16_t ptlte_index = 0;
  uint16_t buffer_id = 0;
  uint16_t vni = 0;
  uint16_t lpe_stat_1 = 0, lpe_stat_2 = 0;
  uint32_t initiator = 0;  // match id, DFA, or the fields of a state change
  uint32_t mlength = 0, rlength = 0;
  uint64_t header_data = 0, match_bits = 0, remote_offset = 0, start = 0;
};

/// The initiator field of a STATE_CHANGE event.
uint32_t state_change_fields(unsigned state, unsigned reason, bool by_nic);

/// 16 bytes, or 32 with a time stamp.
EventBytes encode(const InitiatorEvent& event, bool with_time, RealTime time);
/// 64 bytes.
EventBytes encode_long(const TargetEvent& event, RealTime time);
/// 32 bytes, only for plain events of the priority list: no start, no offset, length of 20 bits.
EventBytes encode_short(const TargetEvent& event);
EventBytes encode_command_failure(unsigned cq_id, bool target, unsigned slot, uint8_t command,
                                  uint8_t return_code);
EventBytes encode_triggered_op(unsigned ct, uint64_t threshold, bool with_time, RealTime time);
EventBytes encode_timestamp(RealTime time);
EventBytes encode_eq_switch();
/// Padding of 16 or 32 bytes, which readers skip.
EventBytes encode_null(size_t bytes);

}  // namespace sim::nic
