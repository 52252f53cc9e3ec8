// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Wire headers: what a request or a response says, and its bytes. Requests have Cassini's layouts
// (c_port_*_hdr behind c_port_fab_hdr). Cassini's response layouts are not public; the model's own
// follows the same fabric header, which carries the index of the sender's packet tracker both ways.
//
// The model's packets are larger than the wire's 2,048 bytes, so that a large transfer costs few
// copies; nothing that a program can see depends on it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ethernet/cassini_user_defs.h"

namespace sim::nic {

enum class PacketFormat : uint8_t { unrestricted, small_message, continuation, restricted };

struct Request {
  PacketFormat format = PacketFormat::unrestricted;
  uint8_t opcode = 0;  // enum c_dma_op
  uint8_t dscp = 0;
  uint8_t index_ext = 0;
  uint8_t rendezvous_id = 0;
  bool flush = false;
  bool src_error = false;
  bool use_offset_for_get = false;
  bool end_of_message = false;  // continuation only
  uint16_t vni = 0;
  uint16_t spt = 0;  // the sender's tracker entry, 11 bits: names the message together with the NID
  uint16_t seq = 0;  // 12 bits; tells two uses of one entry apart. Restricted headers have none
  uint32_t source_nid = 0;
  uint32_t dfa = 0;
  uint32_t initiator = 0;
  uint32_t request_len = 0;   // of the whole message; of this packet in a continuation
  uint32_t offset = 0;        // continuation only: of the payload in the message
  uint32_t eager_length = 0;  // 20 bits
  uint64_t remote_offset = 0;
  uint64_t match_bits = 0;
  uint64_t header_data = 0;
};

struct Response {
  uint8_t opcode = 0;
  uint8_t return_code = 0;
  uint8_t ptl_list = 0;
  bool last = true;  // no further response to this request
  uint16_t vni = 0;
  uint16_t spt = 0;
  uint16_t seq = 0;
  uint32_t source_nid = 0;       // who answers
  uint32_t destination_nid = 0;  // who had asked
  uint32_t offset = 0;           // of the payload in the data asked for
  uint32_t mlength = 0;          // of the whole message
};

/// Operands of an atomic operation, the payload of its request.
struct AtomicOperands {
  uint8_t op = 0, type = 0, cswap = 0;
  uint64_t op1[2] = {}, op2[2] = {};
};

/// Match bits of the get that a rendezvous put asks for (behaviour 10.4).
constexpr uint64_t rendezvous_match_bits(const Request& put) {
  return put.rendezvous_id | 0xf00 | put.match_bits >> 48 << 48;
}

constexpr bool brings_reply(unsigned opcode) {
  return opcode == C_CMD_GET || opcode == C_CMD_FETCHING_ATOMIC;
}
constexpr bool is_atomic(unsigned opcode) {
  return opcode == C_CMD_ATOMIC || opcode == C_CMD_FETCHING_ATOMIC;
}

constexpr uint8_t hrp_dscp = 50;  // of high-rate puts (behaviour 3.3)

constexpr size_t response_header_bytes = 20 + 14;
constexpr size_t atomic_payload_bytes = 40;

/// The header's bytes replace what is in `out`.
void encode(const Request& request, std::vector<std::byte>& out);
void encode(const Response& response, std::vector<std::byte>& out);
void encode(const AtomicOperands& operands, std::vector<std::byte>& out);

bool is_response(std::span<const std::byte> header);
/// Nothing: not a header that this NIC understands.
std::optional<Request> decode_request(std::span<const std::byte> header);
std::optional<Response> decode_response(std::span<const std::byte> header);
std::optional<AtomicOperands> decode_operands(std::span<const std::byte> payload);

}  // namespace sim::nic
