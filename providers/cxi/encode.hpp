// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands as bytes. Pure: each function fills the words of one command from plain values.
#pragma once

#include <cstdint>

namespace cxi {

/// State that immediate commands take from their queue (behaviour 2.9).
struct CState {
  std::uint32_t initiator = 0;
  std::uint16_t eq = 0;
  std::uint8_t index_ext = 0;

  bool operator==(const CState&) const = default;
};

struct SmallMessage {
  std::uint32_t dfa = 0;
  std::uint8_t payload = 0;  ///< bytes that follow the header, at most 192
  std::uint64_t match_bits = 0;
  std::uint64_t header_data = 0;
  std::uint64_t user_ptr = 0;
};

struct DmaPut {
  std::uint32_t dfa = 0;
  std::uint8_t index_ext = 0;
  std::uint8_t lac = 0;
  std::uint16_t eq = 0;
  std::uint64_t local_addr = 0;
  std::uint64_t remote_offset = 0;
  std::uint32_t length = 0;
  std::uint32_t initiator = 0;
  std::uint64_t match_bits = 0;
  std::uint64_t header_data = 0;
  std::uint64_t user_ptr = 0;
};

/// A receive: any message may take it, once, and only its own event is wanted.
struct AppendReceive {
  std::uint16_t pte = 0;
  std::uint16_t buffer_id = 0;
  std::uint8_t lac = 0;
  std::uint64_t start = 0;
  std::uint64_t length = 0;
};

/// Units of 32 bytes that a command of this many bytes takes: 1, 2, 4 or 8.
unsigned command_units(unsigned bytes) noexcept;

void encode_cstate(std::uint64_t (&words)[4], const CState& state) noexcept;
/// Header only; the payload follows it. The smallest command has 64 bytes.
void encode_small_message(std::uint64_t (&words)[4], const SmallMessage& message) noexcept;
void encode_dma_put(std::uint64_t (&words)[8], const DmaPut& put) noexcept;
void encode_append_receive(std::uint64_t (&words)[8], const AppendReceive& receive) noexcept;
void encode_fence(std::uint64_t (&words)[8]) noexcept;
/// Two commands that must stand together: the switch of the profile, and the NOOP behind it.
void encode_lcid(std::uint64_t (&words)[16], unsigned lcid) noexcept;

}  // namespace cxi
