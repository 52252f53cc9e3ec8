// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/packets.hpp"

#include <cstring>

#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"

namespace sim::nic {
namespace {

// Not the C structures of the same names, but their fields.
using cassini::apart;
using cassini::c_pkt_type;
using cassini::c_port_amo_payload;
using cassini::c_port_continuation_hdr;
using cassini::c_port_fab_hdr;
using cassini::c_port_restricted_hdr;
using cassini::c_port_small_msg_hdr;
using cassini::c_port_unrestricted_hdr;
using cassini::Field;

constexpr size_t fab = c_port_fab_hdr::bytes;
constexpr unsigned fab_version = 4;
constexpr unsigned fab_ihl = 5;

// A value that the wire splits: Hi holds the bits above Low's.
template <class Hi, class Low>
struct Split {
  static void set(std::byte* p, uint64_t value) {
    Hi::set(p, value >> Low::width);
    Low::set(p, value & Low::max);
  }
  static uint64_t get(const std::byte* p) { return Hi::get(p) << Low::width | Low::get(p); }
};

using FabSpt = Split<c_port_fab_hdr::spt_idx_hi, c_port_fab_hdr::spt_idx_low>;

void encode_fab(std::byte* p, uint8_t dscp, uint16_t vni, uint16_t spt, uint32_t sfa, uint32_t dfa,
                size_t bytes) {
  using h = c_port_fab_hdr;
  h::ihl::set(p, fab_ihl);
  h::ver::set(p, fab_version);
  h::dscp::set(p, dscp);
  h::tl::set(p, bytes);
  h::vni::set(p, vni);
  FabSpt::set(p, spt);
  h::sfa::set(p, sfa);
  h::dfa::set(p, dfa);
}

// The model's response, behind the fabric header.
struct rsp_hdr {
  static constexpr size_t bytes = 14;
  using opcode = Field<0, 4>;
  using ver_pkt_type = Field<4, 3>;
  using req_not_rsp = Field<7, 1>;
  using return_code = Field<8, 6>;
  using ptl_list = Field<16, 2>;
  using last = Field<18, 1>;
  using seq = Field<24, 16>;
  using offset = Field<40, 32>;
  using mlength = Field<72, 32>;
};
static_assert(
    apart<14, rsp_hdr::opcode, rsp_hdr::ver_pkt_type, rsp_hdr::req_not_rsp, rsp_hdr::return_code,
          rsp_hdr::ptl_list, rsp_hdr::last, rsp_hdr::seq, rsp_hdr::offset, rsp_hdr::mlength>());
static_assert(fab + rsp_hdr::bytes == response_header_bytes);

template <class H>
void put_type(std::byte* p, const Request& r, unsigned type) {
  H::opcode::set(p, r.opcode);
  H::ver_pkt_type::set(p, type);
  H::req_not_rsp::set(p, 1);
  H::flush::set(p, r.flush);
  H::src_error::set(p, r.src_error);
}

template <class H>
using Seq = Split<typename H::seq_num_hi, typename H::seq_num_low>;

void encode_body(std::byte* p, const Request& r) {
  switch (r.format) {
    case PacketFormat::unrestricted: {
      using h = c_port_unrestricted_hdr;
      put_type<h>(p, r, C_V4_PKT_UNRESTRICTED);
      h::index_ext::set(p, r.index_ext);
      h::remote_offset::set(p, r.remote_offset);
      Seq<h>::set(p, r.seq);
      Split<h::rendezvous_id_hi, h::rendezvous_id_low>::set(p, r.rendezvous_id);
      h::use_offset_for_get::set(p, r.use_offset_for_get);
      h::request_len::set(p, r.request_len);
      h::initiator::set(p, r.initiator);
      h::match_bits::set(p, r.match_bits);
      h::header_data::set(p, r.header_data);
      h::eg_len_hi::set(p, r.eager_length >> 12);
      h::eg_len_mid::set(p, r.eager_length >> 4);
      h::eg_len_low::set(p, r.eager_length);
      break;
    }
    case PacketFormat::small_message: {
      using h = c_port_small_msg_hdr;
      put_type<h>(p, r, C_V4_PKT_SMALLMSG);
      h::index_ext::set(p, r.index_ext);
      h::header_data::set(p, r.header_data);
      Seq<h>::set(p, r.seq);
      Split<h::request_len_hi, h::request_len_low>::set(p, r.request_len);
      h::initiator::set(p, r.initiator);
      h::match_bits::set(p, r.match_bits);
      break;
    }
    case PacketFormat::continuation: {
      using h = c_port_continuation_hdr;
      put_type<h>(p, r, C_V4_PKT_CONTINUATION);
      h::eom::set(p, r.end_of_message);
      h::pkt_ordered::set(p, 1);
      h::offset::set(p, r.offset);
      Seq<h>::set(p, r.seq);
      // pkt_xfer_len stays 0: 12 bits cannot tell the length of the model's packets, the payload
      // can.
      break;
    }
    case PacketFormat::restricted: {
      using h = c_port_restricted_hdr;
      put_type<h>(p, r, C_V4_PKT_RESTRICTED);
      h::index_ext::set(p, r.index_ext);
      h::remote_offset::set(p, r.remote_offset);
      Split<h::request_len_hi, h::request_len_low>::set(p, r.request_len);
      break;
    }
  }
}

size_t body_bytes(PacketFormat format) {
  switch (format) {
    case PacketFormat::unrestricted:
      return c_port_unrestricted_hdr::bytes;
    case PacketFormat::small_message:
      return c_port_small_msg_hdr::bytes;
    case PacketFormat::continuation:
      return c_port_continuation_hdr::bytes;
    case PacketFormat::restricted:
      break;
  }
  return c_port_restricted_hdr::bytes;
}

template <class H>
void get_type(const std::byte* p, Request& r) {
  r.opcode = static_cast<uint8_t>(H::opcode::get(p));
  r.flush = H::flush::get(p);
  r.src_error = H::src_error::get(p);
}

void decode_body(const std::byte* p, Request& r) {
  switch (r.format) {
    case PacketFormat::unrestricted: {
      using h = c_port_unrestricted_hdr;
      get_type<h>(p, r);
      r.index_ext = static_cast<uint8_t>(h::index_ext::get(p));
      r.remote_offset = h::remote_offset::get(p);
      r.seq = static_cast<uint16_t>(Seq<h>::get(p));
      r.rendezvous_id =
          static_cast<uint8_t>(Split<h::rendezvous_id_hi, h::rendezvous_id_low>::get(p));
      r.use_offset_for_get = h::use_offset_for_get::get(p);
      r.request_len = static_cast<uint32_t>(h::request_len::get(p));
      r.initiator = static_cast<uint32_t>(h::initiator::get(p));
      r.match_bits = h::match_bits::get(p);
      r.header_data = h::header_data::get(p);
      r.eager_length = static_cast<uint32_t>(h::eg_len_hi::get(p) << 12 |
                                             h::eg_len_mid::get(p) << 4 | h::eg_len_low::get(p));
      break;
    }
    case PacketFormat::small_message: {
      using h = c_port_small_msg_hdr;
      get_type<h>(p, r);
      r.index_ext = static_cast<uint8_t>(h::index_ext::get(p));
      r.header_data = h::header_data::get(p);
      r.seq = static_cast<uint16_t>(Seq<h>::get(p));
      r.request_len = static_cast<uint32_t>(Split<h::request_len_hi, h::request_len_low>::get(p));
      r.initiator = static_cast<uint32_t>(h::initiator::get(p));
      r.match_bits = h::match_bits::get(p);
      break;
    }
    case PacketFormat::continuation: {
      using h = c_port_continuation_hdr;
      get_type<h>(p, r);
      r.end_of_message = h::eom::get(p);
      r.offset = static_cast<uint32_t>(h::offset::get(p));
      r.seq = static_cast<uint16_t>(Seq<h>::get(p));
      break;
    }
    case PacketFormat::restricted: {
      using h = c_port_restricted_hdr;
      get_type<h>(p, r);
      r.index_ext = static_cast<uint8_t>(h::index_ext::get(p));
      r.remote_offset = h::remote_offset::get(p);
      r.request_len = static_cast<uint32_t>(Split<h::request_len_hi, h::request_len_low>::get(p));
      break;
    }
  }
}

}  // namespace

void encode(const Request& request, std::vector<std::byte>& out) {
  const size_t bytes = fab + body_bytes(request.format);
  out.assign(bytes, std::byte{0});
  encode_fab(out.data(), request.dscp, request.vni, request.spt, request.source_nid << 12,
             request.dfa, bytes);
  encode_body(out.data() + fab, request);
}

void encode(const Response& response, std::vector<std::byte>& out) {
  out.assign(response_header_bytes, std::byte{0});
  encode_fab(out.data(), 0, response.vni, response.spt, response.source_nid << 12,
             response.destination_nid << 12, response_header_bytes);
  std::byte* p = out.data() + fab;
  rsp_hdr::opcode::set(p, response.opcode);
  rsp_hdr::ver_pkt_type::set(p, C_RSP_PKT_ANY);
  rsp_hdr::return_code::set(p, response.return_code);
  rsp_hdr::ptl_list::set(p, response.ptl_list);
  rsp_hdr::last::set(p, response.last);
  rsp_hdr::seq::set(p, response.seq);
  rsp_hdr::offset::set(p, response.offset);
  rsp_hdr::mlength::set(p, response.mlength);
}

void encode(const AtomicOperands& operands, std::vector<std::byte>& out) {
  using h = c_port_amo_payload;
  out.assign(atomic_payload_bytes, std::byte{0});
  h::amo_op::set(out.data(), operands.op);
  h::amo_type::set(out.data(), operands.type);
  h::cswap_op::set(out.data(), operands.cswap);
  h::op1_word1_le::set(out.data(), operands.op1[0]);
  h::op1_word2_le::set(out.data(), operands.op1[1]);
  h::op2_word1_le::set(out.data(), operands.op2[0]);
  h::op2_word2_le::set(out.data(), operands.op2[1]);
}

bool is_response(std::span<const std::byte> header) {
  return header.size() > fab && !c_pkt_type::req_not_rsp::get(header.data() + fab);
}

std::optional<Request> decode_request(std::span<const std::byte> header) {
  if (header.size() <= fab || c_port_fab_hdr::ver::get(header.data()) != fab_version)
    return std::nullopt;
  const std::byte* p = header.data() + fab;
  if (!c_pkt_type::req_not_rsp::get(p)) return std::nullopt;
  Request r;
  switch (c_pkt_type::ver_pkt_type::get(p)) {
    case C_V4_PKT_UNRESTRICTED:
      r.format = PacketFormat::unrestricted;
      break;
    case C_V4_PKT_SMALLMSG:
      r.format = PacketFormat::small_message;
      break;
    case C_V4_PKT_CONTINUATION:
      r.format = PacketFormat::continuation;
      break;
    case C_V4_PKT_RESTRICTED:
      r.format = PacketFormat::restricted;
      break;
    default:
      return std::nullopt;
  }
  if (header.size() != fab + body_bytes(r.format)) return std::nullopt;
  using h = c_port_fab_hdr;
  r.dscp = static_cast<uint8_t>(h::dscp::get(header.data()));
  r.vni = static_cast<uint16_t>(h::vni::get(header.data()));
  r.spt = static_cast<uint16_t>(FabSpt::get(header.data()));
  r.source_nid = static_cast<uint32_t>(h::sfa::unicast::nid::get(header.data()));
  r.dfa = static_cast<uint32_t>(h::dfa::get(header.data()));
  decode_body(p, r);
  return r;
}

std::optional<Response> decode_response(std::span<const std::byte> header) {
  if (header.size() != response_header_bytes || !is_response(header)) return std::nullopt;
  using h = c_port_fab_hdr;
  const std::byte* p = header.data() + fab;
  Response r;
  r.vni = static_cast<uint16_t>(h::vni::get(header.data()));
  r.spt = static_cast<uint16_t>(FabSpt::get(header.data()));
  r.source_nid = static_cast<uint32_t>(h::sfa::unicast::nid::get(header.data()));
  r.destination_nid = static_cast<uint32_t>(h::dfa::unicast::nid::get(header.data()));
  r.opcode = static_cast<uint8_t>(rsp_hdr::opcode::get(p));
  r.return_code = static_cast<uint8_t>(rsp_hdr::return_code::get(p));
  r.ptl_list = static_cast<uint8_t>(rsp_hdr::ptl_list::get(p));
  r.last = rsp_hdr::last::get(p);
  r.seq = static_cast<uint16_t>(rsp_hdr::seq::get(p));
  r.offset = static_cast<uint32_t>(rsp_hdr::offset::get(p));
  r.mlength = static_cast<uint32_t>(rsp_hdr::mlength::get(p));
  return r;
}

std::optional<AtomicOperands> decode_operands(std::span<const std::byte> payload) {
  using h = c_port_amo_payload;
  if (payload.size() != atomic_payload_bytes) return std::nullopt;
  AtomicOperands o;
  o.op = static_cast<uint8_t>(h::amo_op::get(payload.data()));
  o.type = static_cast<uint8_t>(h::amo_type::get(payload.data()));
  o.cswap = static_cast<uint8_t>(h::cswap_op::get(payload.data()));
  o.op1[0] = h::op1_word1_le::get(payload.data());
  o.op1[1] = h::op1_word2_le::get(payload.data());
  o.op2[0] = h::op2_word1_le::get(payload.data());
  o.op2[1] = h::op2_word2_le::get(payload.data());
  return o;
}

}  // namespace sim::nic
