// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands as bytes. Pure: each function fills the words of one command from plain values.
#pragma once

#include <cstdint>

namespace cxi {

/// A counting event that a command counts on when it has been answered, or a list entry when it has
/// been used; 0: none.
struct Count {
  std::uint16_t ct = 0;
  bool bytes = false;  ///< count bytes, not operations

  bool operator==(const Count&) const = default;
};

/// State that immediate commands take from their queue (behaviour 2.9).
struct CState {
  std::uint32_t initiator = 0;
  std::uint16_t eq = 0;
  std::uint8_t index_ext = 0;
  Count count = {};

  bool operator==(const CState&) const = default;
};

struct SmallMessage {
  std::uint32_t dfa = 0;
  std::uint8_t payload = 0;  ///< bytes that follow the header, at most 192
  std::uint64_t match_bits = 0;
  std::uint64_t header_data = 0;
  std::uint64_t user_ptr = 0;
};

/// A put or a get of memory.
struct DmaTransfer {
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
  Count count = {};
};

/// An atomic of 64 bits that brings back what was there before.
struct DmaAtomic {
  bool compare_swap = false;  ///< else an addition
  std::uint32_t dfa = 0;
  std::uint8_t index_ext = 0;
  std::uint8_t operand_lac = 0;
  std::uint8_t result_lac = 0;
  std::uint16_t eq = 0;
  std::uint64_t operand_addr = 0;  ///< where the NIC finds what is added or swapped in
  std::uint64_t result_addr = 0;
  std::uint64_t compare = 0;
  std::uint64_t remote_offset = 0;
  std::uint32_t initiator = 0;
  std::uint64_t match_bits = 0;
  std::uint64_t user_ptr = 0;
};

/// A receive: any message may take it, once, and only its own event is wanted.
struct AppendReceive {
  std::uint16_t pte = 0;
  std::uint16_t buffer_id = 0;
  std::uint8_t lac = 0;
  std::uint64_t start = 0;
  std::uint64_t length = 0;
  Count count = {};
};

/// A region under one key: stays until it is unlinked, takes nothing that goes past its end, and
/// its link is answered.
struct AppendRegion {
  std::uint16_t pte = 0;
  std::uint16_t buffer_id = 0;
  std::uint8_t lac = 0;
  std::uint64_t start = 0;
  std::uint64_t length = 0;
  std::uint64_t match_bits = 0;
  bool put = false;
  bool get = false;
  bool event = false;  ///< one for each access
};

/// Units of 32 bytes that a command of this many bytes takes: 1, 2, 4 or 8.
unsigned command_units(unsigned bytes) noexcept;

void encode_cstate(std::uint64_t (&words)[4], const CState& state) noexcept;
/// Header only; the payload follows it. The smallest command has 64 bytes.
void encode_small_message(std::uint64_t (&words)[4], const SmallMessage& message) noexcept;
void encode_dma_put(std::uint64_t (&words)[8], const DmaTransfer& put) noexcept;
void encode_dma_get(std::uint64_t (&words)[8], const DmaTransfer& get) noexcept;
/// Makes a put or get the one of another piece of its memory.
void change_piece(std::uint64_t (&words)[8], std::uint8_t lac, std::uint64_t local_addr,
                  std::uint64_t remote_offset, std::uint32_t length) noexcept;
/// Takes 128 bytes in the ring, the last 32 of them unused.
void encode_dma_atomic(std::uint64_t (&words)[16], const DmaAtomic& atomic) noexcept;
void encode_append_receive(std::uint64_t (&words)[8], const AppendReceive& receive) noexcept;
void encode_append_region(std::uint64_t (&words)[8], const AppendRegion& region) noexcept;
/// Always answered by an event.
void encode_unlink(std::uint64_t (&words)[8], std::uint16_t pte, std::uint16_t buffer_id) noexcept;
void encode_fence(std::uint64_t (&words)[8]) noexcept;
/// Two commands that must stand together: the switch of the profile, and the NOOP behind it.
void encode_lcid(std::uint64_t (&words)[16], unsigned lcid) noexcept;

}  // namespace cxi
