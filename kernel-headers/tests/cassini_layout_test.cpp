// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The C bit-field structures and the C++ field types against the table of layouts, field by field,
// and against bytes written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"

namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<unsigned> values) {
  Bytes bytes;
  for (unsigned value : values)
    bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

/// A structure of size bytes in which exactly the bits [lsb, lsb + width) are set.
Bytes ones_at(std::size_t size, std::size_t lsb, std::size_t width) {
  Bytes bytes(size);
  for (std::size_t bit = lsb; bit < lsb + width; bit++)
    bytes[bit / 8] |= std::byte{1} << (bit % 8);
  return bytes;
}

Bytes inverted(Bytes bytes) {
  for (std::byte& byte : bytes)
    byte = ~byte;
  return bytes;
}

template <class T>
Bytes bytes_of(const T& structure) {
  Bytes bytes(sizeof(T));
  std::memcpy(bytes.data(), &structure, sizeof(T));
  return bytes;
}

constexpr std::uint64_t all_ones = ~std::uint64_t{0};

/// One scalar field of the table, with its setter in C and its field type.
struct ScalarCase {
  const char* name;
  std::size_t size, lsb, width;
  Bytes (*set_in_c)(std::uint64_t value);
  std::uint64_t (*get)(const std::byte*);
  void (*set)(std::byte*, std::uint64_t value);
  std::size_t type_lsb, type_width;
};

/// One member that is an array or a structure: where C and C++ place it.
struct MemberCase {
  const char* name;
  std::size_t lsb, bits, c_offset, c_bytes, type_lsb, type_end;
};

template <class T>
T& owner_of();  // for sizeof only

struct SizeCase {
  const char* name;
  std::size_t bytes, c_bytes, type_bytes;
};

#define SIZE(kind, owner, in_table) {#owner, in_table, sizeof(kind owner), cassini::owner::bytes},
const SizeCase size_cases[] = {
#include "cassini_sizes.inc"
};

#define SCALAR(kind, owner, field, first, bits)                                       \
  {#owner "." #field,                                                                 \
   sizeof(kind owner),                                                                \
   first,                                                                             \
   bits,                                                                              \
   [](std::uint64_t value) {                                                          \
     kind owner structure;                                                            \
     std::memset(&structure, 0, sizeof(structure));                                   \
     structure.field = value;                                                         \
     return bytes_of(structure);                                                      \
   },                                                                                 \
   [](const std::byte* from) { return cassini::owner::field::get(from); },            \
   [](std::byte* to, std::uint64_t value) { cassini::owner::field::set(to, value); }, \
   cassini::owner::field::lsb,                                                        \
   cassini::owner::field::width},
const ScalarCase scalar_cases[] = {
#include "cassini_scalars.inc"
};

#define MEMBER(kind, owner, field, first, bits) \
  {#owner "." #field,                           \
   first,                                       \
   bits,                                        \
   offsetof(kind owner, field),                 \
   sizeof(owner_of<kind owner>().field),        \
   cassini::owner::field::lsb,                  \
   cassini::owner::field::end},
#define TAIL(kind, owner, field, first)                               \
  {                                                                   \
      #owner "." #field,           first, 0,                          \
      offsetof(kind owner, field), 0,     cassini::owner::field::lsb, \
      cassini::owner::field::end},
const MemberCase member_cases[] = {
#include "cassini_members.inc"
};

TEST(CassiniLayout, EveryStructureHasTheSizeOfTheTable) {
  for (const SizeCase& c : size_cases) {
    EXPECT_EQ(c.c_bytes, c.bytes) << c.name;
    EXPECT_EQ(c.type_bytes, c.bytes) << c.name;
  }
}

TEST(CassiniLayout, EveryScalarFieldInCSetsExactlyItsBits) {
  for (const ScalarCase& c : scalar_cases)
    EXPECT_EQ(c.set_in_c(all_ones), ones_at(c.size, c.lsb, c.width)) << c.name;
}

TEST(CassiniLayout, EveryFieldTypeIsWhereTheTableSays) {
  for (const ScalarCase& c : scalar_cases) {
    EXPECT_EQ(c.type_lsb, c.lsb) << c.name;
    EXPECT_EQ(c.type_width, c.width) << c.name;
  }
}

TEST(CassiniLayout, EveryFieldTypeReadsWhatCWrote) {
  const std::uint64_t pattern = 0xa5c3'96e1'7b2d'48f1;
  for (const ScalarCase& c : scalar_cases) {
    const std::uint64_t max = all_ones >> (64 - c.width);
    EXPECT_EQ(c.get(c.set_in_c(all_ones).data()), max) << c.name;
    EXPECT_EQ(c.get(c.set_in_c(pattern).data()), pattern & max) << c.name;
    EXPECT_EQ(c.get(inverted(ones_at(c.size, c.lsb, c.width)).data()), 0U) << c.name;
  }
}

TEST(CassiniLayout, EveryFieldTypeWritesItsBitsAndLeavesItsNeighboursAlone) {
  const std::uint64_t pattern = 0xa5c3'96e1'7b2d'48f1;
  for (const ScalarCase& c : scalar_cases) {
    Bytes structure(c.size);
    c.set(structure.data(), all_ones);
    EXPECT_EQ(structure, ones_at(c.size, c.lsb, c.width)) << c.name;
    c.set(structure.data(), pattern);
    EXPECT_EQ(structure, c.set_in_c(pattern)) << c.name;
    Bytes full(c.size, std::byte{0xff});
    c.set(full.data(), 0);
    EXPECT_EQ(full, inverted(ones_at(c.size, c.lsb, c.width))) << c.name;
  }
}

TEST(CassiniLayout, EveryArrayAndInnerStructureIsWhereTheTableSays) {
  for (const MemberCase& c : member_cases) {
    EXPECT_EQ(c.c_offset * 8, c.lsb) << c.name;
    EXPECT_EQ(c.c_bytes * 8, c.bits) << c.name;
    EXPECT_EQ(c.type_lsb, c.lsb) << c.name;
    EXPECT_EQ(c.type_end, c.lsb + c.bits) << c.name;
  }
}

// From here on the bytes are written by hand.

const Bytes full_dma_put = bytes_of({
    0x15, 0x1f, 0x0d, 0x31,                          // DMA, 64 bytes, PUT; index_ext 31; lac 5
    0x34, 0x12, 0xc0, 0xab,                          // dfa: nid 0xabc01, endpoint 0x234
    0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x00,  // remote_offset, 56 bits
    0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,  // local_addr, 57 bits
    0x00, 0x10, 0x00, 0x00,                          // request_len 4096
    0xff, 0x07, 0x23, 0x01,                          // ct 2047, eq 0x123
    0x45, 0x23, 0x01, 0xa5,                          // eager_length 0x12345, rendezvous_id 0xa5
    0x04, 0x03, 0x02, 0x01,                          // initiator
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,  // match_bits
    0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,  // header_data
    0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,  // user_ptr
});

TEST(CassiniLayout, FullDmaCommandInCIsTheBytesByHand) {
  c_full_dma_cmd cmd;
  std::memset(&cmd, 0, sizeof(cmd));
  cmd.command.cmd_type = C_CMD_TYPE_DMA;
  cmd.command.cmd_size = C_CMD_SIZE_64B;
  cmd.command.opcode = C_CMD_PUT;
  cmd.index_ext = 31;
  cmd.lac = 5;
  cmd.event_send_disable = 1;
  cmd.event_ct_bytes = 1;
  cmd.flush = 1;
  cmd.use_offset_for_get = 1;
  cmd.dfa.unicast.nid = 0xabc01;
  cmd.dfa.unicast.endpoint_defined = 0x234;
  cmd.remote_offset = 0x22334455667788;
  cmd.local_addr = 0x123456789abcdef;
  cmd.request_len = 4096;
  cmd.ct = 2047;
  cmd.eq = 0x123;
  cmd.eager_length = 0x12345;
  cmd.rendezvous_id = 0xa5;
  cmd.initiator = 0x01020304;
  cmd.match_bits = 0x0807060504030201;
  cmd.header_data = 0x1817161514131211;
  cmd.user_ptr = 0x2827262524232221;
  EXPECT_EQ(bytes_of(cmd), full_dma_put);
}

TEST(CassiniLayout, FullDmaCommandReadsFromTheBytesByHand) {
  using cmd = cassini::c_full_dma_cmd;
  const std::byte* at = full_dma_put.data();
  EXPECT_EQ(cmd::command::get(at), 0x15U);
  EXPECT_EQ(cmd::command::cmd_type::get(at), 1U);
  EXPECT_EQ(cmd::command::cmd_size::get(at), 1U);
  EXPECT_EQ(cmd::command::opcode::get(at), 1U);
  EXPECT_EQ(cmd::index_ext::get(at), 31U);
  EXPECT_EQ(cmd::lac::get(at), 5U);
  EXPECT_EQ(cmd::dfa::get(at), 0xabc0'1234U);
  EXPECT_EQ(cmd::dfa::unicast::nid::get(at), 0xabc01U);
  EXPECT_EQ(cmd::dfa::unicast::endpoint_defined::get(at), 0x234U);
  EXPECT_EQ(cmd::remote_offset::get(at), 0x22334455667788U);
  EXPECT_EQ(cmd::local_addr::get(at), 0x123456789abcdefU);
  EXPECT_EQ(cmd::request_len::get(at), 4096U);
  EXPECT_EQ(cmd::ct::get(at), 2047U);
  EXPECT_EQ(cmd::eq::get(at), 0x123U);
  EXPECT_EQ(cmd::eager_length::get(at), 0x12345U);
  EXPECT_EQ(cmd::user_ptr::get(at), 0x2827262524232221U);
}

TEST(CassiniLayout, TargetEventReadsFromBytesByHand) {
  Bytes event(64);
  event[14] = std::byte{0x03 | (0 << 2)};  // event_size 3 (64 bytes), event_type PUT
  event[15] = std::byte{0x11};             // overflow list, auto_unlinked
  event[24] = std::byte{0x34};             // buffer_id 0x1234
  event[25] = std::byte{0x12};
  event[63] = std::byte{C_RC_OK};
  using tgt = cassini::c_event::tgt_long;
  EXPECT_EQ(tgt::event_size::get(event), static_cast<unsigned>(C_EVENT_SIZE_64_BYTE));
  EXPECT_EQ(tgt::event_type::get(event), static_cast<unsigned>(C_EVENT_PUT));
  EXPECT_EQ(tgt::ptl_list::get(event), static_cast<unsigned>(C_PTL_LIST_OVERFLOW));
  EXPECT_EQ(tgt::auto_unlinked::get(event), 1U);
  EXPECT_EQ(tgt::buffer_id::get(event), 0x1234U);
  EXPECT_EQ(tgt::return_code::get(event), static_cast<unsigned>(C_RC_OK));
}

TEST(CassiniLayout, EventQueueAcknowledgementIsTheWordByHand) {
  c_ee_cfg_eq_sw_state state;
  std::memset(&state, 0, sizeof(state));
  state.rd_ptr = 5;
  state.reading_buffer_b = 1;
  state.event_drop_seq_no = 1;
  EXPECT_EQ(bytes_of(state), bytes_of({0x05, 0, 0, 0x80, 0, 0x01, 0, 0}));
  EXPECT_EQ(C_EE_CFG_EQ_SW_STATE_ENTRIES, C_NUM_EQS);
}

TEST(CassiniLayout, RegistersOfOverlappingViewsShareTheirBits) {
  c_msc_shadow_action action;
  action.qw = 0;
  action.addr_offset = 0x7fffff;
  action.write = 1;
  EXPECT_EQ(action.qw, 0x80'7f'ff'ffU);
  cxi_rdzv_match_bits bits;
  bits.raw = 0;
  bits.transaction_type = 0xf;
  bits.match_bits = 0x8001;
  EXPECT_EQ(bits.raw, 0x8001'0000'0000'0f00U);
}

}  // namespace
