// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "encode.hpp"

#include <algorithm>
#include <bit>

#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"

namespace cxi {
namespace {

constexpr std::uint32_t any_initiator = 0xffffffff;  // every field of it a wildcard

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

/// Answers of puts count as acknowledgements, those of gets as replies.
template <class Layout, class Kind, std::size_t N>
void put_count(std::uint64_t (&words)[N], Count count) noexcept {
  if (count.ct == 0) return;
  put<Kind>(words, 1);
  put<typename Layout::event_ct_bytes>(words, count.bytes);
  put<typename Layout::ct>(words, count.ct);
}

void encode_transfer(std::uint64_t (&words)[8], unsigned opcode,
                     const DmaTransfer& command) noexcept {
  using Layout = cassini::c_full_dma_cmd;
  std::fill_n(words, 8, 0);
  put_command<Layout>(words, C_CMD_TYPE_DMA, opcode, 2);
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
  put_count<Layout, Layout::event_ct_ack>(words, state.count);
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

void encode_dma_put(std::uint64_t (&words)[8], const DmaTransfer& command) noexcept {
  using Layout = cassini::c_full_dma_cmd;
  encode_transfer(words, C_CMD_PUT, command);
  put_count<Layout, Layout::event_ct_ack>(words, command.count);
}

void encode_dma_get(std::uint64_t (&words)[8], const DmaTransfer& command) noexcept {
  using Layout = cassini::c_full_dma_cmd;
  encode_transfer(words, C_CMD_GET, command);
  put_count<Layout, Layout::event_ct_reply>(words, command.count);
}

void change_piece(std::uint64_t (&words)[8], std::uint8_t lac, std::uint64_t local_addr,
                  std::uint64_t remote_offset, std::uint32_t length) noexcept {
  using Layout = cassini::c_full_dma_cmd;
  auto* at = reinterpret_cast<std::byte*>(words);
  Layout::lac::set(at, lac);
  Layout::local_addr::set(at, local_addr);
  Layout::remote_offset::set(at, remote_offset);
  Layout::request_len::set(at, length);
}

void encode_dma_atomic(std::uint64_t (&words)[16], const DmaAtomic& command) noexcept {
  using Layout = cassini::c_dma_amo_cmd;
  std::fill_n(words, 16, 0);
  put_command<Layout>(words, C_CMD_TYPE_DMA, C_CMD_FETCHING_ATOMIC, 4);
  put<Layout::index_ext>(words, command.index_ext);
  put<Layout::lac>(words, command.operand_lac);
  put<Layout::event_send_disable>(words, 1);
  put<Layout::dfa>(words, command.dfa);
  put<Layout::remote_offset>(words, command.remote_offset);
  put<Layout::local_read_addr>(words, command.operand_addr);
  put<Layout::request_len>(words, sizeof(std::uint64_t));
  put<Layout::eq>(words, command.eq);
  put<Layout::initiator>(words, command.initiator);
  put<Layout::match_bits>(words, command.match_bits);
  put<Layout::user_ptr>(words, command.user_ptr);
  put<Layout::local_write_addr>(words, command.result_addr);
  put<Layout::atomic_op>(words, command.compare_swap ? C_AMO_OP_CSWAP : C_AMO_OP_SUM);
  put<Layout::atomic_type>(words, C_AMO_TYPE_UINT64_T);
  put<Layout::cswap_op>(words, C_AMO_OP_CSWAP_EQ);
  put<Layout::write_lac>(words, command.result_lac);
  put<Layout::op2_word1>(words, command.compare);
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
  put<Layout::match_id>(words, any_initiator);
  put<Layout::ignore_bits>(words, ~std::uint64_t{0});
  put_count<Layout, Layout::event_ct_comm>(words, receive.count);
}

void encode_append_region(std::uint64_t (&words)[8], const AppendRegion& region) noexcept {
  using Layout = cassini::c_target_cmd;
  std::fill_n(words, 8, 0);
  put_command<Layout>(words, C_CMD_TYPE_CQ, C_CMD_TGT_APPEND, 2);
  put<Layout::ptl_list>(words, C_PTL_LIST_PRIORITY);
  put<Layout::ptlte_index>(words, region.pte);
  put<Layout::event_comm_disable>(words, !region.event);
  put<Layout::event_unlink_disable>(words, 1);
  put<Layout::no_truncate>(words, 1);
  put<Layout::op_put>(words, region.put);
  put<Layout::op_get>(words, region.get);
  put<Layout::buffer_id>(words, region.buffer_id);
  put<Layout::lac>(words, region.lac);
  put<Layout::restart_seq>(words, 1);  // an entry that found no room before must not bar this one
  put<Layout::start>(words, region.start);
  put<Layout::length>(words, region.length);
  put<Layout::match_id>(words, any_initiator);
  put<Layout::match_bits>(words, region.match_bits);
}

void encode_unlink(std::uint64_t (&words)[8], std::uint16_t pte, std::uint16_t buffer_id) noexcept {
  using Layout = cassini::c_target_cmd;
  std::fill_n(words, 8, 0);
  put_command<Layout>(words, C_CMD_TYPE_CQ, C_CMD_TGT_UNLINK, 2);
  put<Layout::ptl_list>(words, C_PTL_LIST_PRIORITY);
  put<Layout::ptlte_index>(words, pte);
  put<Layout::buffer_id>(words, buffer_id);
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
