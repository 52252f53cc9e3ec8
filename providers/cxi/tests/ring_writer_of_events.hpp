// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Plays the NIC: writes events into a ring of its own memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"

namespace cxi {

class NicSide {
 public:
  struct Put {
    std::uint16_t pte = 0;
    std::uint16_t buffer_id = 0;
    std::uint32_t mlength = 0;
    std::uint32_t rlength = 0;
    unsigned code = C_RC_OK;
    std::uint32_t initiator = 0;
    std::uint64_t match_bits = 0;
    std::uint64_t header_data = 0;
    std::uint16_t vni = 0;
    std::uint32_t ns = 0;
    std::uint8_t seconds = 0;
  };

  explicit NicSide(std::size_t slots) : memory_(slots * 64) {}

  std::byte* memory() { return memory_.data(); }
  std::uint32_t bytes() const { return static_cast<std::uint32_t>(memory_.size()); }

  std::byte* answer(std::uint64_t user_ptr, unsigned code, std::uint32_t mlength,
                    bool target_error = false, unsigned type = C_EVENT_ACK) {
    using E = cassini::c_event_initiator_short;
    std::byte* at = next(E::bytes);
    E::user_ptr::set(at, user_ptr);
    E::mlength::set(at, mlength);
    E::tgt_error::set(at, target_error);
    E::event_type::set(at, type);
    E::event_size::set(at, C_EVENT_SIZE_16_BYTE);
    E::return_code::set(at, code);
    return at;
  }
  std::byte* long_answer(std::uint64_t user_ptr, unsigned code, std::uint32_t mlength,
                         std::uint64_t seconds, std::uint32_t ns) {
    using E = cassini::c_event_initiator_long;
    std::byte* at = next(E::bytes);
    E::user_ptr::set(at, user_ptr);
    E::mlength::set(at, mlength);
    E::event_type::set(at, C_EVENT_ACK);
    E::event_size::set(at, C_EVENT_SIZE_32_BYTE);
    E::timestamp_sec::set(at, seconds);
    E::timestamp_ns::set(at, ns);
    E::return_code::set(at, code);
    return at;
  }
  std::byte* put(const Put& put) {
    using E = cassini::c_event_target_long;
    std::byte* at = next(E::bytes);
    E::ptlte_index::set(at, put.pte);
    E::buffer_id::set(at, put.buffer_id);
    E::mlength::set(at, put.mlength);
    E::rlength::set(at, put.rlength);
    E::initiator::set(at, put.initiator);
    E::match_bits::set(at, put.match_bits);
    E::header_data::set(at, put.header_data);
    E::vni::set(at, put.vni);
    E::timestamp_ns::set(at, put.ns);
    E::timestamp_sec_low::set(at, put.seconds);
    E::event_type::set(at, C_EVENT_PUT);
    E::event_size::set(at, C_EVENT_SIZE_64_BYTE);
    E::return_code::set(at, put.code);
    return at;
  }
  std::byte* command_failure(std::uint32_t queue, bool target) {
    using E = cassini::c_event_cmd_fail;
    std::byte* at = next(E::bytes);
    E::cq_id::set(at, queue);
    E::is_target::set(at, target);
    E::event_type::set(at, C_EVENT_COMMAND_FAILURE);
    E::event_size::set(at, C_EVENT_SIZE_16_BYTE);
    E::return_code::set(at, C_RC_PERM_VIOLATION);
    return at;
  }
  std::byte* eq_switch() {
    using E = cassini::c_event_initiator_short;
    std::byte* at = next(E::bytes);
    E::event_type::set(at, C_EVENT_EQ_SWITCH);
    E::event_size::set(at, C_EVENT_SIZE_16_BYTE);
    at[E::bytes - 1] = std::byte{C_RC_OK};
    return at;
  }
  std::byte* fill(std::uint32_t bytes) {
    using E = cassini::c_event_initiator_short;
    std::byte* at = next(bytes);
    E::event_type::set(at, C_EVENT_NULL_EVENT);
    E::event_size::set(at, bytes == 16 ? C_EVENT_SIZE_16_BYTE : C_EVENT_SIZE_32_BYTE);
    at[bytes - 1] = std::byte{C_RC_OK};
    return at;
  }

 private:
  std::byte* next(std::size_t bytes) {
    std::byte* at = memory_.data() + position_;
    position_ += bytes;
    if (position_ == memory_.size()) position_ = 64;
    return at;
  }

  std::vector<std::byte> memory_;
  std::size_t position_ = 64;
};

}  // namespace cxi
