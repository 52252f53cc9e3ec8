// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "encode.hpp"

#include <algorithm>
#include <bit>

#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"

namespace cxi {
namespace {

template <class F, std::size_t N>
void put(std::uint64_t (&words)[N], std::uint64_t value) noexcept {
  static_assert(F::word < N);
  words[F::word] |= F::encode(value);
}

template <class Layout, std::size_t N>
void put_command(std::uint64_t (&words)[N], unsigned type, unsigned opcode,
                 unsigned units) noexcept {
  put<typename Layout::command::cmd_type>(words, type);
  put<typename Layout::command::cmd_size>(words, static_cast<unsigned>(std::countr_zero(units)));
  put<typename Layout::command::opcode>(words, opcode);
}

}  // namespace

unsigned command_units(unsigned bytes) noexcept {
  return std::bit_ceil(std::max(1u, (bytes + 31) / 32));
}

void encode_cstate(std::uint64_t (&words)[4], const CState& state) noexcept {
  using Layout = cassini::c_cstate_cmd;
  std::fill_n(words, 4, 0);
  put_command<Layout>(words, C_CMD_TYPE_IDC, C_CMD_CSTATE, 1);
  put<Layout::length>(words, Layout::bytes);
  put<Layout::event_send_disable>(words, 1);
  put<Layout::initiator>(words, state.initiator);
  put<Layout::index_ext>(words, state.index_ext);
  put<Layout::eq>(words, state.eq);
}

void encode_small_message(std::uint64_t (&words)[4], const SmallMessage& message) noexcept {
  using Layout = cassini::c_idc_msg_hdr;
  const unsigned bytes = Layout::bytes + message.payload;
  std::fill_n(words, 4, 0);
  put_command<Layout>(words, C_CMD_TYPE_IDC, C_CMD_SMALL_MESSAGE,
                      std::max(2u, command_units(bytes)));
  put<Layout::length>(words, bytes);
  put<Layout::dfa>(words, message.dfa);
  put<Layout::match_bits>(words, message.match_bits);
  put<Layout::header_data>(words, message.header_data);
  put<Layout::user_ptr>(words, message.user_ptr);
}

void encode_dma_put(std::uint64_t (&words)[8], const DmaPut& command) noexcept {
  using Layout = cassini::c_full_dma_cmd;
  std::fill_n(words, 8, 0);
  put_command<Layout>(words, C_CMD_TYPE_DMA, C_CMD_PUT, 2);
  put<Layout::index_ext>(words, command.index_ext);
  put<Layout::lac>(words, command.lac);
  put<Layout::event_send_disable>(words, 1);
  put<Layout::dfa>(words, command.dfa);
  put<Layout::remote_offset>(words, command.remote_offset);
  put<Layout::local_addr>(words, command.local_addr);
  put<Layout::request_len>(words, command.length);
  put<Layout::eq>(words, command.eq);
  put<Layout::initiator>(words, command.initiator);
  put<Layout::match_bits>(words, command.match_bits);
  put<Layout::header_data>(words, command.header_data);
  put<Layout::user_ptr>(words, command.user_ptr);
}

void encode_append_receive(std::uint64_t (&words)[8], const AppendReceive& receive) noexcept {
  using Layout = cassini::c_target_cmd;
  std::fill_n(words, 8, 0);
  put_command<Layout>(words, C_CMD_TYPE_CQ, C_CMD_TGT_APPEND, 2);
  put<Layout::ptl_list>(words, C_PTL_LIST_PRIORITY);
  put<Layout::ptlte_index>(words, receive.pte);
  put<Layout::event_link_disable>(words, 1);
  put<Layout::event_unlink_disable>(words, 1);
  put<Layout::use_once>(words, 1);
  put<Layout::op_put>(words, 1);
  put<Layout::buffer_id>(words, receive.buffer_id);
  put<Layout::lac>(words, receive.lac);
  put<Layout::start>(words, receive.start);
  put<Layout::length>(words, receive.length);
  put<Layout::match_id>(words, 0xffffffff);  // every field a wildcard
  put<Layout::ignore_bits>(words, ~std::uint64_t{0});
}

void encode_fence(std::uint64_t (&words)[8]) noexcept {
  std::fill_n(words, 8, 0);
  put_command<cassini::c_cq_cmd>(words, C_CMD_TYPE_CQ, C_CMD_CQ_FENCE, 2);
}

void encode_lcid(std::uint64_t (&words)[16], unsigned lcid) noexcept {
  std::fill_n(words, 16, 0);
  put_command<cassini::c_cq_cmd>(words, C_CMD_TYPE_CQ, C_CMD_CQ_LCID, 2);
  put<cassini::c_cq_cmd::lcid>(words, lcid);
  std::uint64_t noop[8] = {};
  put_command<cassini::c_cq_cmd>(noop, C_CMD_TYPE_CQ, C_CMD_CQ_NOOP, 2);
  std::copy_n(noop, 8, words + 8);
}

}  // namespace cxi
