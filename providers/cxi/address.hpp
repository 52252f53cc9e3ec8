// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Names and numbers that travel: fabric addresses, initiators, queue pair numbers, match bits of
// sends and the pointers that come back in events. Pure functions.
#pragma once

#include <cstdint>

#include "ethernet/cassini_field.hpp"
#include "rdma/cxiverbs-abi.h"

namespace cxi {

/// How the device splits endpoints (behaviour 1.2).
struct Geometry {
  unsigned pid_bits = 9;

  constexpr std::uint32_t pids() const noexcept { return (1u << pid_bits) - 1; }
};

/// A peer as work requests name it.
struct Peer {
  std::uint32_t nid = 0;
  std::uint32_t pid = 0;
  std::uint32_t ri = 0;
};

namespace qpn {
using pid = cassini::Field<0, 12>;
using ri = cassini::Field<12, 12>;
using reserved = cassini::Field<24, 7>;
using absolute = cassini::Field<31, 1>;

constexpr std::uint32_t make(std::uint32_t pid_value, std::uint32_t ri_value) noexcept {
  return static_cast<std::uint32_t>(pid::encode(pid_value) | ri::encode(ri_value));
}
/// Whether a Cassini NIC can have such a queue pair.
constexpr bool valid(std::uint32_t number, Geometry geometry) noexcept {
  return reserved::decode(number) == 0 && pid::decode(number) < geometry.pids() &&
         ri::decode(number) < CXI_ABI_NUM_RI;
}
}  // namespace qpn

/// The fabric address of a portal index of a PID; the low five bits of the index travel apart.
constexpr std::uint32_t fabric_address(Peer peer, std::uint32_t index, Geometry geometry) noexcept {
  return peer.nid << 12 | ((index >> 5 << geometry.pid_bits) + peer.pid);
}
constexpr std::uint32_t index_ext(std::uint32_t index) noexcept {
  return index & 0x1f;
}

/// What a command says about its sender: PID and NID (behaviour 1.3).
constexpr std::uint32_t initiator(std::uint32_t pid, std::uint32_t nid,
                                  Geometry geometry) noexcept {
  const unsigned ep_bits = 32 - geometry.pid_bits;
  return pid << ep_bits | (nid & ((1u << ep_bits) - 1));
}
constexpr std::uint32_t initiator_pid(std::uint32_t value, Geometry geometry) noexcept {
  return value >> (32 - geometry.pid_bits);
}

/// Match bits of a send. Receive entries ignore all of them; they are news for the receiver.
namespace send_bits {
using src_id = cassini::Field<0, 32>;
using ri = cassini::Field<32, 12>;
using immediate = cassini::Field<44, 2>;  ///< enum class Immediate
using solicited = cassini::Field<46, 1>;
}  // namespace send_bits

enum class Immediate : std::uint8_t { none, bits32, bits64 };

/// user_ptr of a transmit command: finds the request without a search, and only while the queue
/// pair that made it lives.
namespace user_ptr {
using request = cassini::Field<0, 16>;
using qp_slot = cassini::Field<16, 16>;
using generation = cassini::Field<32, 32>;
}  // namespace user_ptr

/// An address table entry as the kernel maps it.
namespace table_entry {
using number = cassini::Field<0, 32>;
using nid = cassini::Field<32, 20>;
using valid = cassini::Field<63, 1>;
}  // namespace table_entry

}  // namespace cxi
