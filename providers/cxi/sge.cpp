// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sge.hpp"

#include <algorithm>

namespace cxi {

std::size_t merge_pieces(std::span<Piece> pieces) noexcept {
  std::size_t kept = 0;
  for (const Piece piece : pieces) {
    if (piece.length == 0) continue;
    if (kept > 0) {
      Piece& last = pieces[kept - 1];
      const bool same_kind = (last.cpu != nullptr) == (piece.cpu != nullptr);
      const bool cpu_follows = !last.cpu || last.cpu + last.length == piece.cpu;
      if (last.lac == piece.lac && last.iova + last.length == piece.iova && same_kind &&
          cpu_follows) {
        last.length += piece.length;
        continue;
      }
    }
    pieces[kept++] = piece;
  }
  return kept;
}

void gather(std::byte* to, std::span<const Piece> pieces) noexcept {
  for (const Piece& piece : pieces) {
    std::memcpy(to, piece.cpu, piece.length);
    to += piece.length;
  }
}

void scatter(std::span<const Piece> pieces, const std::byte* from, std::uint64_t length) noexcept {
  for (const Piece& piece : pieces) {
    const std::uint64_t bytes = std::min(piece.length, length);
    std::memcpy(piece.cpu, from, bytes);
    from += bytes;
    length -= bytes;
    if (length == 0) return;
  }
}

}  // namespace cxi
