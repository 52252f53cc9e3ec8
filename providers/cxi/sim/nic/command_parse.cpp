// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/command_parse.hpp"

#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"

namespace sim::nic {
namespace {

// Not the C structures of the same names, but their fields.
using cassini::c_cmd;
using cassini::c_cq_cmd;
using cassini::c_cstate_cmd;
using cassini::c_ct_cmd;
using cassini::c_dma_amo_cmd;
using cassini::c_full_dma_cmd;
using cassini::c_idc_amo_cmd;
using cassini::c_idc_hdr;
using cassini::c_idc_msg_hdr;
using cassini::c_nomatch_dma_cmd;
using cassini::c_set_state_cmd;
using cassini::c_small_amo_payload;
using cassini::c_target_cmd;

ParsedTx refuse(int return_code) {
  return {return_code, {}};
}

template <class F>
auto get(std::span<const std::byte> bytes) {
  return F::get(bytes.data());
}

template <class C>
CommandOptions dma_options(std::span<const std::byte> b) {
  CommandOptions o;
  o.event_send_disable = get<typename C::event_send_disable>(b);
  o.event_success_disable = get<typename C::event_success_disable>(b);
  o.event_ct_send = get<typename C::event_ct_send>(b);
  o.event_ct_reply = get<typename C::event_ct_reply>(b);
  o.event_ct_ack = get<typename C::event_ct_ack>(b);
  o.event_ct_bytes = get<typename C::event_ct_bytes>(b);
  o.restricted = get<typename C::restricted>(b);
  o.reduction = get<typename C::reduction>(b);
  o.flush = get<typename C::flush>(b);
  o.use_offset_for_get = get<typename C::use_offset_for_get>(b);
  o.index_ext = static_cast<uint8_t>(get<typename C::index_ext>(b));
  o.ct = static_cast<uint16_t>(get<typename C::ct>(b));
  o.eq = static_cast<uint16_t>(get<typename C::eq>(b));
  return o;
}

template <class C>
void dma_head(TxCommand& c, std::span<const std::byte> b) {
  c.kind = TxKind::transfer;
  c.options = dma_options<C>(b);
  c.lac = static_cast<uint8_t>(get<typename C::lac>(b));
  c.dfa = static_cast<uint32_t>(get<typename C::dfa>(b));
  c.remote_offset = get<typename C::remote_offset>(b);
  c.request_len = static_cast<uint32_t>(get<typename C::request_len>(b));
}

template <class C>
void dma_tail(TxCommand& c, std::span<const std::byte> b) {
  c.options.initiator = static_cast<uint32_t>(get<typename C::initiator>(b));
  c.options.user_ptr = get<typename C::user_ptr>(b);
  c.match_bits = get<typename C::match_bits>(b);
  c.header_data = get<typename C::header_data>(b);
}

ParsedTx parse_dma(std::span<const std::byte> b) {
  ParsedTx out{C_RC_OK, {}};
  TxCommand& c = out.command;
  c.opcode = static_cast<uint8_t>(get<c_cmd::opcode>(b));
  const unsigned size = static_cast<unsigned>(get<c_cmd::cmd_size>(b));
  switch (c.opcode) {
    case C_CMD_PUT:
    case C_CMD_GET:
    case C_CMD_RENDEZVOUS_PUT:
      if (size != C_CMD_SIZE_64B) return refuse(C_RC_CMD_INVALID_ARG);
      dma_head<c_full_dma_cmd>(c, b);
      dma_tail<c_full_dma_cmd>(c, b);
      c.local_addr = get<c_full_dma_cmd::local_addr>(b);
      if (c.opcode == C_CMD_RENDEZVOUS_PUT) {
        c.eager_length = static_cast<uint32_t>(get<c_full_dma_cmd::eager_length>(b));
        c.rendezvous_id = static_cast<uint8_t>(get<c_full_dma_cmd::rendezvous_id>(b));
        // Its header does not exist in the restricted format.
        if (c.options.restricted || c.eager_length > c.request_len)
          return refuse(C_RC_CMD_INVALID_ARG);
      }
      return out;
    case C_CMD_NOMATCH_PUT:
    case C_CMD_NOMATCH_GET:
      if (size != C_CMD_SIZE_32B) return refuse(C_RC_CMD_INVALID_ARG);
      dma_head<c_nomatch_dma_cmd>(c, b);
      c.local_addr = get<c_nomatch_dma_cmd::local_addr>(b);
      c.no_match = true;
      c.opcode = c.opcode == C_CMD_NOMATCH_PUT ? C_CMD_PUT : C_CMD_GET;
      return out;
    case C_CMD_ATOMIC:
    case C_CMD_FETCHING_ATOMIC:
      if (size != C_CMD_SIZE_128B) return refuse(C_RC_CMD_INVALID_ARG);
      dma_head<c_dma_amo_cmd>(c, b);
      dma_tail<c_dma_amo_cmd>(c, b);
      c.local_addr = get<c_dma_amo_cmd::local_read_addr>(b);
      c.local_write = get<c_dma_amo_cmd::local_write_addr>(b);
      c.options.write_lac = static_cast<uint8_t>(get<c_dma_amo_cmd::write_lac>(b));
      c.operands.op = static_cast<uint8_t>(get<c_dma_amo_cmd::atomic_op>(b));
      c.operands.type = static_cast<uint8_t>(get<c_dma_amo_cmd::atomic_type>(b));
      c.operands.cswap = static_cast<uint8_t>(get<c_dma_amo_cmd::cswap_op>(b));
      c.operands.op2[0] = get<c_dma_amo_cmd::op2_word1>(b);
      c.operands.op2[1] = get<c_dma_amo_cmd::op2_word2>(b);
      return out;
    case C_CMD_ETHERNET_TX:
      return refuse(C_RC_OP_VIOLATION);
    default:
      return refuse(C_RC_CMD_INVALID_ARG);
  }
}

ParsedTx parse_state(std::span<const std::byte> b) {
  using s = c_cstate_cmd;
  if (b.size() != s::bytes || get<s::length>(b) != s::bytes) return refuse(C_RC_CMD_INVALID_ARG);
  ParsedTx out{C_RC_OK, {}};
  out.command.kind = TxKind::state;
  CommandOptions& o = out.command.options;
  o = dma_options<s>(b);
  o.write_lac = static_cast<uint8_t>(get<s::write_lac>(b));
  o.initiator = static_cast<uint32_t>(get<s::initiator>(b));
  o.user_ptr = get<s::user_ptr>(b);
  return out;
}

// The payload between the header and the length that the command tells.
bool take_payload(TxCommand& c, std::span<const std::byte> b, size_t length, size_t header,
                  size_t most) {
  if (length < header || length > b.size() || length - header > most) return false;
  c.payload = b.subspan(header, length - header);
  c.request_len = static_cast<uint32_t>(c.payload.size());
  return true;
}

ParsedTx parse_immediate(std::span<const std::byte> b) {
  ParsedTx out{C_RC_OK, {}};
  TxCommand& c = out.command;
  c.opcode = static_cast<uint8_t>(get<c_cmd::opcode>(b));
  if (c.opcode == C_CMD_NOOP) return out;
  if (c.opcode == C_CMD_CSTATE) return parse_state(b);
  c.kind = TxKind::transfer;
  c.immediate = true;
  c.dfa = static_cast<uint32_t>(get<c_idc_hdr::dfa>(b));
  const size_t length = get<c_idc_hdr::length>(b);
  switch (c.opcode) {
    case C_CMD_PUT:
      c.remote_offset = get<c_idc_hdr::remote_offset>(b);
      if (!take_payload(c, b, length, c_idc_hdr::bytes, C_MAX_IDC_PAYLOAD_RES))
        return refuse(C_RC_CMD_INVALID_ARG);
      return out;
    case C_CMD_SMALL_MESSAGE:
      if (b.size() < 64 || !take_payload(c, b, length, c_idc_msg_hdr::bytes, C_MAX_IDC_PAYLOAD_UNR))
        return refuse(C_RC_CMD_INVALID_ARG);
      c.small_message = true;
      c.opcode = C_CMD_PUT;
      c.match_bits = get<c_idc_msg_hdr::match_bits>(b);
      c.header_data = get<c_idc_msg_hdr::header_data>(b);
      c.options.user_ptr = get<c_idc_msg_hdr::user_ptr>(b);
      return out;
    case C_CMD_ATOMIC:
    case C_CMD_FETCHING_ATOMIC:
      c.remote_offset = get<c_idc_hdr::remote_offset>(b);
      if (b.size() == 32 && length == 32 && c.opcode == C_CMD_ATOMIC) {
        const auto small = b.subspan(c_idc_hdr::bytes);
        c.operands.op = static_cast<uint8_t>(get<c_small_amo_payload::amo_op>(small));
        c.operands.type = static_cast<uint8_t>(get<c_small_amo_payload::amo_type>(small));
        c.operands.op1[0] = get<c_small_amo_payload::op1_word1>(small);
        // It has one operand of one word (behaviour 2.9).
        if (c.operands.op == C_AMO_OP_CSWAP || c.operands.op == C_AMO_OP_AXOR ||
            atomic_bytes(c.operands.type) > sizeof(c.operands.op1[0]))
          return refuse(C_RC_CMD_INVALID_ARG);
      } else if (b.size() == 64 && length == 64) {
        c.local_write = get<c_idc_amo_cmd::local_addr>(b);
        c.operands.op = static_cast<uint8_t>(get<c_idc_amo_cmd::atomic_op>(b));
        c.operands.type = static_cast<uint8_t>(get<c_idc_amo_cmd::atomic_type>(b));
        c.operands.cswap = static_cast<uint8_t>(get<c_idc_amo_cmd::cswap_op>(b));
        c.operands.op1[0] = get<c_idc_amo_cmd::op1_word1>(b);
        c.operands.op1[1] = get<c_idc_amo_cmd::op1_word2>(b);
        c.operands.op2[0] = get<c_idc_amo_cmd::op2_word1>(b);
        c.operands.op2[1] = get<c_idc_amo_cmd::op2_word2>(b);
      } else {
        return refuse(C_RC_CMD_INVALID_ARG);
      }
      c.request_len = atomic_bytes(c.operands.type);
      return out;
    case C_CMD_ETHERNET_TX:
      return refuse(C_RC_OP_VIOLATION);
    default:
      return refuse(C_RC_CMD_INVALID_ARG);
  }
}

ParsedTx parse_queue_command(std::span<const std::byte> b) {
  ParsedTx out{C_RC_OK, {}};
  out.command.opcode = static_cast<uint8_t>(get<c_cmd::opcode>(b));
  if (b.size() != 64) return refuse(C_RC_CMD_INVALID_ARG);
  switch (out.command.opcode) {
    case C_CMD_CQ_NOOP:
      return out;
    case C_CMD_CQ_FENCE:
      out.command.kind = TxKind::fence;
      return out;
    case C_CMD_CQ_LCID:
      out.command.kind = TxKind::lcid;
      out.command.lcid = static_cast<uint8_t>(get<c_cq_cmd::lcid>(b));
      return out;
    default:
      // Target opcodes are not for this kind of queue.
      return refuse(C_RC_OP_VIOLATION);
  }
}

ParsedTx parse_counter(std::span<const std::byte> b) {
  using c = c_ct_cmd;
  ParsedTx out{C_RC_OK, {}};
  TxCommand& t = out.command;
  t.opcode = static_cast<uint8_t>(get<c::command::opcode>(b));
  const bool carries_dma = t.opcode == C_CMD_CT_TRIG_DMA;
  if (b.size() != (carries_dma ? 128u : 64u)) return refuse(C_RC_CMD_INVALID_ARG);
  if (t.opcode > C_CMD_CT_TRIG_EVENT) return refuse(C_RC_CMD_INVALID_ARG);
  if (t.opcode == C_CMD_CT_NOOP) return out;
  if (carries_dma) {
    out = parse_embedded_dma(b.subspan(c::embedded_dma::byte_offset));
    if (out.return_code != C_RC_OK) return out;
    t.embedded_opcode = t.opcode;
    t.opcode = C_CMD_CT_TRIG_DMA;
  }
  t.kind = TxKind::counter;
  t.ct = static_cast<uint16_t>(get<c::ct>(b));
  t.trig_ct = static_cast<uint16_t>(get<c::trig_ct>(b));
  t.eq = static_cast<uint16_t>(get<c::eq>(b));
  t.success = get<c::ct_success>(b);
  t.failure = static_cast<uint8_t>(get<c::ct_failure>(b));
  t.set_success = get<c::set_ct_success>(b);
  t.set_failure = get<c::set_ct_failure>(b);
  t.threshold = get<c::threshold>(b);
  return out;
}

}  // namespace

unsigned atomic_bytes(unsigned type) {
  constexpr std::array<uint8_t, 13> sizes{1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16, 16};
  return type < sizes.size() ? sizes[type] : 0;
}

ParsedTx parse_embedded_dma(std::span<const std::byte> bytes) {
  if (get<c_cmd::cmd_type>(bytes) != C_CMD_TYPE_DMA) return refuse(C_RC_CMD_INVALID_ARG);
  return parse_dma(bytes);
}

ParsedTx parse_tx(std::span<const std::byte> bytes, QueueUse use) {
  const auto type = get<c_cmd::cmd_type>(bytes);
  if ((type == C_CMD_TYPE_CT) != (use == QueueUse::triggers)) return refuse(C_RC_OP_VIOLATION);
  switch (type) {
    case C_CMD_TYPE_IDC:
      return parse_immediate(bytes);
    case C_CMD_TYPE_DMA:
      return parse_dma(bytes);
    case C_CMD_TYPE_CT:
      return parse_counter(bytes);
    default:
      return parse_queue_command(bytes);
  }
}

ParsedTarget parse_target(std::span<const std::byte, 64> bytes) {
  using c = c_target_cmd;
  ParsedTarget out{C_RC_OK, {}};
  TargetCommand& t = out.command;
  const std::span<const std::byte> b = bytes;
  if (get<c_cmd::cmd_type>(b) != C_CMD_TYPE_CQ || get<c_cmd::cmd_size>(b) != C_CMD_SIZE_64B)
    return {C_RC_CMD_INVALID_ARG, {}};
  t.opcode = static_cast<uint8_t>(get<c_cmd::opcode>(b));
  if (t.opcode == C_CMD_CQ_NOOP) return out;
  t.pte = static_cast<uint16_t>(get<c::ptlte_index>(b));
  switch (t.opcode) {
    case C_CMD_TGT_SETSTATE:
      t.state = static_cast<uint8_t>(get<c_set_state_cmd::ptlte_state>(b));
      t.drop_count = static_cast<uint32_t>(get<c_set_state_cmd::drop_count>(b));
      if (t.state > C_PTLTE_SOFTWARE_MANAGED) return {C_RC_CMD_INVALID_ARG, {}};
      return out;
    case C_CMD_TGT_APPEND:
    case C_CMD_TGT_SEARCH:
    case C_CMD_TGT_SEARCH_AND_DELETE:
    case C_CMD_TGT_UNLINK:
      break;
    default:
      return {C_RC_CMD_INVALID_ARG, {}};
  }
  ListNode& e = t.entry;
  e.list = static_cast<uint8_t>(get<c::ptl_list>(b));
  if ((t.opcode == C_CMD_TGT_APPEND || t.opcode == C_CMD_TGT_UNLINK) &&
      e.list == C_PTL_LIST_UNEXPECTED)
    return {C_RC_CMD_INVALID_ARG, {}};
  e.event_ct_bytes = get<c::event_ct_bytes>(b);
  e.event_ct_overflow = get<c::event_ct_overflow>(b);
  e.event_ct_comm = get<c::event_ct_comm>(b);
  e.event_unlink_disable = get<c::event_unlink_disable>(b);
  e.event_success_disable = get<c::event_success_disable>(b);
  e.event_comm_disable = get<c::event_comm_disable>(b);
  e.event_link_disable = get<c::event_link_disable>(b);
  e.unexpected_hdr_disable = get<c::unexpected_hdr_disable>(b);
  e.use_once = get<c::use_once>(b);
  e.no_truncate = get<c::no_truncate>(b);
  e.manage_local = get<c::manage_local>(b);
  e.op_get = get<c::op_get>(b);
  e.op_put = get<c::op_put>(b);
  e.ct = static_cast<uint16_t>(get<c::ct>(b));
  e.buffer_id = static_cast<uint16_t>(get<c::buffer_id>(b));
  e.lac = static_cast<uint8_t>(get<c::lac>(b));
  t.restart_seq = get<c::restart_seq>(b);
  e.start = get<c::start>(b);
  e.length = get<c::length>(b);
  e.min_free = static_cast<uint32_t>(get<c::min_free>(b));
  e.match_id = static_cast<uint32_t>(get<c::match_id>(b));
  e.match_bits = get<c::match_bits>(b);
  e.ignore_bits = get<c::ignore_bits>(b);
  return out;
}

}  // namespace sim::nic
