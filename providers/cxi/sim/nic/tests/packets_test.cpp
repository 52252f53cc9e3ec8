// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Wire headers against bytes put together by hand from the layouts.
#include "nic/packets.hpp"

#include <gtest/gtest.h>

#include "ethernet/cassini_user_defs.h"

namespace sim::nic {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> values) {
  std::vector<std::byte> out;
  for (const unsigned v : values)
    out.push_back(static_cast<std::byte>(v));
  return out;
}

TEST(Packets, SmallMessageHeaderHasTheWireLayout) {
  Request r;
  r.format = PacketFormat::small_message;
  r.opcode = C_CMD_PUT;
  r.dscp = 2;
  r.vni = 0x1234;
  r.spt = 0x2a5;  // high six bits 0x15, low five 0x05
  r.seq = 0xabc;
  r.source_nid = 0x12345;
  r.dfa = 0x54321678;
  r.index_ext = 0x13;
  r.request_len = 0xc0;
  r.initiator = 0x11223344;
  r.match_bits = 0x8877665544332211;
  r.header_data = 0x0102030405060708;
  std::vector<std::byte> out;
  encode(r, out);
  EXPECT_EQ(out, bytes_of({
                     // fabric header: ihl 5, ver 4; dscp 2 above two bits of ecn; length 49
                     0x45,
                     0x08,
                     0x31,
                     0x00,
                     0x34,
                     0x12,
                     0x15,
                     0x28,
                     0,
                     0,
                     0,
                     0,
                     0x00,
                     0x50,
                     0x34,
                     0x12,  // source address: NID in bits 31-12
                     0x78,
                     0x16,
                     0x32,
                     0x54,
                     // opcode 1, small message, request; index_ext
                     0x91,
                     0x13,
                     0x08,
                     0x07,
                     0x06,
                     0x05,
                     0x04,
                     0x03,
                     0x02,
                     0x01,
                     0xab,
                     0xc0,
                     0x00,
                     0x00,  // sequence number 0xab, 0xc
                     0x00,
                     0xc0,  // length: four bits, then eight
                     0x44,
                     0x33,
                     0x22,
                     0x11,
                     0x11,
                     0x22,
                     0x33,
                     0x44,
                     0x55,
                     0x66,
                     0x77,
                     0x88,
                     0x00,
                 }));
}

TEST(Packets, UnrestrictedHeaderHasTheWireLayout) {
  Request r;
  r.opcode = C_CMD_RENDEZVOUS_PUT;
  r.seq = 0x123;
  r.index_ext = 1;
  r.flush = true;
  r.use_offset_for_get = true;
  r.src_error = true;
  r.rendezvous_id = 0x5a;
  r.eager_length = 0xabcde;
  r.request_len = 0x01020304;
  r.remote_offset = 0x11223344556677;
  r.initiator = 0xa1a2a3a4;
  r.match_bits = 0x0807060504030201;
  r.header_data = 0x1817161514131211;
  std::vector<std::byte> out;
  encode(r, out);
  ASSERT_EQ(out.size(), 63u);
  out.erase(out.begin(), out.begin() + 20);
  EXPECT_EQ(out, bytes_of({
                     0x83, 0x81, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,  // opcode, offset
                     0x00, 0x12, 0x30, 0x00, 0x00,                          // msg_id, sequence
                     0x05, 0xac,  // rendezvous id 0x5 / 0xa; use_offset_for_get, src_error
                     0x04, 0x03, 0x02, 0x01, 0xa4, 0xa3, 0xa2, 0xa1, 0x01,
                     0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x11, 0x12,
                     0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0xab, 0xcd, 0xe0,  // eager length
                 }));
}

TEST(Packets, RestrictedHeaderHasTheWireLayout) {
  Request r;
  r.format = PacketFormat::restricted;
  r.opcode = C_CMD_GET;
  r.index_ext = 2;
  r.request_len = 0x7ab;
  r.remote_offset = 0x99;
  r.src_error = true;
  std::vector<std::byte> out;
  encode(r, out);
  ASSERT_EQ(out.size(), 31u);
  out.erase(out.begin(), out.begin() + 20);
  EXPECT_EQ(out, bytes_of({0xc2, 0x02, 0x99, 0, 0, 0, 0, 0, 0, 0x17, 0xab}));
}

TEST(Packets, ContinuationHeaderHasTheWireLayout) {
  Request r;
  r.format = PacketFormat::continuation;
  r.opcode = C_CMD_PUT;
  r.offset = 0x00080000;
  r.end_of_message = true;
  r.seq = 0xfed;
  std::vector<std::byte> out;
  encode(r, out);
  ASSERT_EQ(out.size(), 33u);
  out.erase(out.begin(), out.begin() + 20);
  // eom is bit 12, pkt_ordered bit 11
  EXPECT_EQ(out, bytes_of({0xa1, 0x18, 0x00, 0x00, 0x08, 0x00, 0, 0xfe, 0xd0, 0, 0, 0, 0}));
}

void expect_same(const Request& a, const Request& b) {
  EXPECT_EQ(a.format, b.format);
  EXPECT_EQ(a.opcode, b.opcode);
  EXPECT_EQ(a.dscp, b.dscp);
  EXPECT_EQ(a.vni, b.vni);
  EXPECT_EQ(a.spt, b.spt);
  EXPECT_EQ(a.seq, b.seq);
  EXPECT_EQ(a.source_nid, b.source_nid);
  EXPECT_EQ(a.dfa, b.dfa);
  EXPECT_EQ(a.initiator, b.initiator);
  EXPECT_EQ(a.request_len, b.request_len);
  EXPECT_EQ(a.eager_length, b.eager_length);
  EXPECT_EQ(a.rendezvous_id, b.rendezvous_id);
  EXPECT_EQ(a.remote_offset, b.remote_offset);
  EXPECT_EQ(a.match_bits, b.match_bits);
  EXPECT_EQ(a.header_data, b.header_data);
  EXPECT_EQ(a.index_ext, b.index_ext);
  EXPECT_EQ(a.flush, b.flush);
}

TEST(Packets, RequestsSurviveTheWayThere) {
  Request r;
  r.opcode = C_CMD_PUT;
  r.dscp = 63;
  r.vni = 0xffff;
  r.spt = 0x7ff;
  r.seq = 0xfff;
  r.source_nid = 0xfffff;
  r.dfa = 0xfffffff0;
  r.initiator = 0xffffffff;
  r.request_len = 0xffffffff;
  r.eager_length = 0xfffff;
  r.rendezvous_id = 0xff;
  r.remote_offset = (uint64_t{1} << 56) - 1;
  r.match_bits = r.header_data = ~uint64_t{0};
  r.index_ext = 0x1f;
  std::vector<std::byte> out;
  encode(r, out);
  EXPECT_FALSE(is_response(out));
  const auto back = decode_request(out);
  ASSERT_TRUE(back);
  expect_same(r, *back);
}

TEST(Packets, ResponsesSurviveTheWayBack) {
  Response r;
  r.opcode = C_CMD_GET;
  r.return_code = C_RC_ENTRY_NOT_FOUND;
  r.ptl_list = C_PTL_LIST_REQUEST;
  r.last = false;
  r.vni = 7;
  r.spt = 0x555;
  r.seq = 0xaaa;
  r.source_nid = 0x12345;
  r.destination_nid = 0xabcde;
  r.offset = 0x89abcdef;
  r.mlength = 0x76543210;
  std::vector<std::byte> out;
  encode(r, out);
  EXPECT_TRUE(is_response(out));
  EXPECT_FALSE(decode_request(out));
  const auto back = decode_response(out);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->return_code, C_RC_ENTRY_NOT_FOUND);
  EXPECT_EQ(back->ptl_list, C_PTL_LIST_REQUEST);
  EXPECT_FALSE(back->last);
  EXPECT_EQ(back->spt, 0x555);
  EXPECT_EQ(back->seq, 0xaaa);
  EXPECT_EQ(back->source_nid, 0x12345u);
  EXPECT_EQ(back->destination_nid, 0xabcdeu);
  EXPECT_EQ(back->offset, 0x89abcdefu);
  EXPECT_EQ(back->mlength, 0x76543210u);
}

TEST(Packets, OperandsHaveTheWireLayout) {
  AtomicOperands o{C_AMO_OP_CSWAP, C_AMO_TYPE_UINT64_T, C_AMO_OP_CSWAP_GT, {1, 2}, {3, 4}};
  std::vector<std::byte> out;
  encode(o, out);
  ASSERT_EQ(out.size(), 40u);
  EXPECT_EQ(out[0], std::byte{11});
  EXPECT_EQ(out[1], std::byte{7});
  EXPECT_EQ(out[2], std::byte{5});
  for (unsigned i = 0; i < 4; i++)
    EXPECT_EQ(out[8 + 8 * i], static_cast<std::byte>(i + 1));
  EXPECT_EQ(decode_operands(out)->op2[1], 4u);
  out.pop_back();
  EXPECT_FALSE(decode_operands(out));
}

TEST(Packets, HeadersOfAnotherLengthOrVersionAreRefused) {
  Request r;
  std::vector<std::byte> out;
  encode(r, out);
  auto longer = out;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode_request(longer));
  auto version = out;
  version[0] = std::byte{0x65};
  EXPECT_FALSE(decode_request(version));
  EXPECT_FALSE(decode_request({}));
  EXPECT_FALSE(decode_response({}));
}

}  // namespace
}  // namespace sim::nic
