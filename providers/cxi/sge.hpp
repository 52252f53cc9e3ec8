// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Scatter-gather lists after their keys have been looked up. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace cxi {

/// A piece of registered memory: as the CPU and as the NIC reach it. A null pointer in cpu with a
/// length stands for memory that only the NIC can reach. Arrays of it are not cleared on purpose.
struct Piece {
  std::byte* cpu;
  std::uint64_t iova;
  std::uint64_t length;
  std::uint8_t lac;
};

/// Joins pieces that follow each other for the NIC, and drops empty ones. Returns how many are
/// left.
std::size_t merge_pieces(std::span<Piece> pieces) noexcept;

/// Copies all pieces to one place; they have memory of the CPU.
void gather(std::byte* to, std::span<const Piece> pieces) noexcept;

/// Copies up to length bytes into the pieces, in order.
void scatter(std::span<const Piece> pieces, const std::byte* from, std::uint64_t length) noexcept;

}  // namespace cxi
