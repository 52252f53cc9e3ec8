// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// From a request's slot to the ring: the command image, and what must stand in front of it.
#include <algorithm>
#include <cstring>

#include "internal.hpp"

namespace cxi {
namespace {

bool write_fence(CommandQueue& commands) noexcept {
  std::byte* place = commands.reserve(2);
  if (!place) return false;
  std::uint64_t words[8];
  encode_fence(words);
  std::memcpy(place, words, sizeof(words));
  return true;
}

bool write_small(CommandQueue& commands, const Qp& qp, const SendRequest& request,
                 const std::byte* image) noexcept {
  constexpr std::size_t header = 32;
  if (!commands.select_state({qp.initiator, qp.eqn, request.index_ext, count_by_nic(request)}))
    return false;
  const unsigned bytes = header + request.length;
  std::byte* place = commands.reserve(std::max(2u, command_units(bytes)));
  if (!place) return false;
  std::memcpy(place, image, header);
  std::memcpy(place + header, image + payload_offset, request.length);
  return true;
}

bool write_image(CommandQueue& commands, const std::byte* image, unsigned units) noexcept {
  std::byte* place = commands.reserve(units);
  if (!place) return false;
  std::memcpy(place, image, units * std::size_t{32});
  return true;
}

/// How pieces lie in a slot, behind the command.
struct KeptPieces {
  std::uint64_t where[max_sges];  // io address, address context above it
  std::uint32_t length[max_sges];
};
static_assert(payload_offset + sizeof(KeptPieces) <= send_slot_bytes);
constexpr unsigned lac_shift = 57;

bool write_pieces(CommandQueue& commands, const std::byte* image, unsigned count) noexcept {
  KeptPieces kept;
  std::memcpy(&kept, image + payload_offset, sizeof(kept));
  std::uint64_t words[8];
  std::memcpy(words, image, sizeof(words));
  std::uint64_t offset = cassini::c_full_dma_cmd::remote_offset::get(image);
  for (unsigned i = 0; i < count; i++) {
    change_piece(words, static_cast<std::uint8_t>(kept.where[i] >> lac_shift),
                 kept.where[i] & ((std::uint64_t{1} << lac_shift) - 1), offset, kept.length[i]);
    if (!write_image(commands, reinterpret_cast<const std::byte*>(words), 2)) return false;
    offset += kept.length[i];
  }
  return true;
}

bool write_request(CommandQueue& commands, const Qp& qp, const SendRequest& request,
                   const std::byte* image) noexcept {
  switch (request.form) {
    case Form::message:
      return write_small(commands, qp, request, image);
    case Form::dma:
      return write_image(commands, image, 2);
    case Form::pieces:
      return write_pieces(commands, image, request.commands);
    case Form::atomic:
      return write_image(commands, image, 4);
  }
  return false;
}

}  // namespace

void remember_piece(std::byte* slot, std::size_t index, const Piece& piece) noexcept {
  std::byte* kept = slot + payload_offset;
  const std::uint64_t where = piece.iova | std::uint64_t{piece.lac} << lac_shift;
  const auto length = static_cast<std::uint32_t>(piece.length);
  std::memcpy(kept + offsetof(KeptPieces, where) + index * sizeof(where), &where, sizeof(where));
  std::memcpy(kept + offsetof(KeptPieces, length) + index * sizeof(length), &length,
              sizeof(length));
}

bool emit_request(Qp& qp, std::uint32_t index, bool fence) noexcept {
  CommandQueue& commands = qp.send.commands;
  const SendRequest& request = qp.send.requests[index & qp.send.mask];
  const std::byte* image = send_slot(qp, index);
  const CommandQueue::Mark mark = commands.mark();
  if (commands.select_profile(request.lcid) && (!fence || write_fence(commands)) &&
      write_request(commands, qp, request, image))
    return true;
  commands.back_to(mark);
  return false;
}

}  // namespace cxi
