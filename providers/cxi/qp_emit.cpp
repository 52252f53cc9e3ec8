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
  if (!commands.select_state({qp.initiator, qp.eqn, request.index_ext})) return false;
  const unsigned bytes = header + request.length;
  std::byte* place = commands.reserve(std::max(2u, command_units(bytes)));
  if (!place) return false;
  std::memcpy(place, image, header);
  std::memcpy(place + header, image + payload_offset, request.length);
  return true;
}

bool write_dma(CommandQueue& commands, const std::byte* image) noexcept {
  std::byte* place = commands.reserve(2);
  if (!place) return false;
  std::memcpy(place, image, 64);
  return true;
}

}  // namespace

bool emit_request(Qp& qp, std::uint32_t index, bool fence) noexcept {
  CommandQueue& commands = qp.send.commands;
  const SendRequest& request = qp.send.requests[index & qp.send.mask];
  const std::byte* image = send_slot(qp, index);
  const CommandQueue::Mark mark = commands.mark();
  if (commands.select_profile(request.lcid) && (!fence || write_fence(commands)) &&
      (request.small ? write_small(commands, qp, request, image) : write_dma(commands, image)))
    return true;
  commands.back_to(mark);
  return false;
}

}  // namespace cxi
