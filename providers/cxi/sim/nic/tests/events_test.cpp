// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Events against bytes put together by hand: event_size at bit 112, event_type at bit 114, the
// return code in the low six bits of the last byte.
#include "nic/events.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "ethernet/cassini_user_defs.h"

namespace sim::nic {
namespace {

std::vector<unsigned> bytes(const EventBytes& event) {
  std::vector<unsigned> out;
  for (size_t i = 0; i < event.size; i++)
    out.push_back(std::to_integer<unsigned>(event.bytes[i]));
  return out;
}

TEST(Events, ShortAck) {
  InitiatorEvent e;
  e.type = C_EVENT_ACK;  // 9
  e.return_code = C_RC_PT_DISABLED;
  e.ptl_list = C_PTL_LIST_OVERFLOW;
  e.tgt_error = true;
  e.mlength = 0x01020304;
  e.user_ptr = 0x8877665544332211;
  EXPECT_EQ(bytes(encode(e, false, 0)),
            (std::vector<unsigned>{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 4, 3, 2, 1, 0x41,
                                   0, 1 | 9 << 2, 3}));
}

TEST(Events, LongReplyCarriesSecondsAndNanoseconds) {
  InitiatorEvent e;
  e.type = C_EVENT_REPLY;  // 10
  e.return_code = C_RC_OK;
  e.rendezvous = true;
  const auto out = bytes(encode(e, true, 0x123456'000000000ull * 0 + 7'000'000'005));
  ASSERT_EQ(out.size(), 32u);
  EXPECT_EQ(out[12], 0x10u);
  EXPECT_EQ(out[14], 2u | 10u << 2);
  EXPECT_EQ(out[16], 5u);  // nanoseconds at bit 128
  EXPECT_EQ(out[24], 7u);  // seconds at bit 192
  EXPECT_EQ(out[31], 1u);
}

TEST(Events, LongTargetEvent) {
  TargetEvent e;
  e.type = C_EVENT_PUT_OVERFLOW;  // 4
  e.return_code = C_RC_OK;
  e.ptl_list = C_PTL_LIST_UNEXPECTED;
  e.rendezvous = e.get_issued = e.auto_unlinked = true;
  e.ptlte_index = 0x765;
  e.buffer_id = 0xbeef;
  e.vni = 0x1234;
  e.initiator = 0xa4a3a2a1;
  e.mlength = 0x11;
  e.rlength = 0x22;
  e.header_data = 0x0807060504030201;
  e.match_bits = 0x33;
  e.remote_offset = 0x44;
  e.start = uint64_t{1} << 56;
  e.lpe_stat_1 = 0x0102;
  e.lpe_stat_2 = 0x0304;
  e.atomic_type = 5;
  e.atomic_op = 6;
  e.cswap_op = 3;
  e.rendezvous_id = 0x99;
  const auto out = bytes(encode_long(e, 6'000'000'007));
  EXPECT_EQ(out, (std::vector<unsigned>{
                     1,    2,    3,          4,
                     5,    6,    7,          8,               // header data
                     0xa1, 0xa2, 0xa3,       0xa4,            // initiator
                     0x65, 0x07, 3 | 4 << 2, 3 | 4 | 8 | 16,  // pte, size, type, list, flags
                     0x33, 0,    0,          0,
                     0,    0,    0,          0,  // match bits
                     0xef, 0xbe, 0x34,       0x12,
                     7,    0,    0,          0x80,  // id, vni, ns, sec 6 & 3 = 2
                     0x11, 0,    0,          0,
                     0x22, 0,    0,          0,  // lengths
                     0x44, 0,    0,          0,
                     0,    0,    0,          0,  // offset
                     0,    0,    0,          0,
                     0,    0,    0,          1,  // start, 57 bits
                     2,    1,    4,          3,
                     0x65, 3,    0x99,       1,  // stats, atomic, id, code
                 }));
}

TEST(Events, ShortTargetEvent) {
  TargetEvent e;
  e.type = C_EVENT_PUT;
  e.return_code = C_RC_OK;
  e.ptlte_index = 3;
  e.buffer_id = 0x0201;
  e.vni = 9;
  e.mlength = 0xfedcb;
  const auto out = bytes(encode_short(e));
  ASSERT_EQ(out.size(), 32u);
  EXPECT_EQ(out[14], 2u);
  EXPECT_EQ(out[24], 1u);
  EXPECT_EQ(out[25], 2u);
  EXPECT_EQ(out[28], 0xcbu);
  EXPECT_EQ(out[29], 0xedu);
  EXPECT_EQ(out[30], 0x0fu);
  EXPECT_EQ(out[31], 1u);
}

TEST(Events, CommandFailureNamesQueueSlotAndCommand) {
  const auto out = bytes(encode_command_failure(0x155, true, 0x4321, 0xab, C_RC_CMD_ALIGN_ERROR));
  ASSERT_EQ(out.size(), 16u);
  EXPECT_EQ(out[0], 0x55u);
  EXPECT_EQ(out[1], 1u | 4u);
  EXPECT_EQ(out[2], 0x21u);
  EXPECT_EQ(out[3], 0x43u);
  EXPECT_EQ(out[4], 0xabu);
  EXPECT_EQ(out[14], 1u | 17u << 2);
  EXPECT_EQ(out[15], 49u);
}

TEST(Events, StateChangeFields) {
  EXPECT_EQ(state_change_fields(C_PTLTE_DISABLED, C_SC_FC_NO_MATCH, true), 0x00010101u);
  EXPECT_EQ(state_change_fields(C_PTLTE_ENABLED, 0, false), 2u);
}

TEST(Events, PaddingIsValidAndSkippable) {
  for (const size_t size : {size_t{16}, size_t{32}}) {
    const auto out = bytes(encode_null(size));
    ASSERT_EQ(out.size(), size);
    EXPECT_EQ(out[14] >> 2, 31u);
    EXPECT_NE(out.back(), 0u);
  }
}

TEST(Events, TriggeredOpAndTimestamp) {
  auto out = bytes(encode_triggered_op(0x7ff, 0x010203040506, false, 0));
  ASSERT_EQ(out.size(), 16u);
  EXPECT_EQ(out[0], 6u);
  EXPECT_EQ(out[5], 1u);
  EXPECT_EQ(out[8], 0xffu);
  EXPECT_EQ(out[9], 7u);
  out = bytes(encode_timestamp(3'000'000'004));
  EXPECT_EQ(out[0], 4u);
  EXPECT_EQ(out[8], 3u);
}

}  // namespace
}  // namespace sim::nic
