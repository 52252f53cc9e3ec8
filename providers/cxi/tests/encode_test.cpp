// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "encode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"

namespace cxi {
namespace {

using testing::ElementsAre;

template <std::size_t N>
const std::byte* bytes(const std::uint64_t (&words)[N]) {
  return reinterpret_cast<const std::byte*>(words);
}

TEST(CommandUnits, AreTheNextPowerOfTwo) {
  EXPECT_EQ(command_units(0), 1u);
  EXPECT_EQ(command_units(32), 1u);
  EXPECT_EQ(command_units(33), 2u);
  EXPECT_EQ(command_units(64), 2u);
  EXPECT_EQ(command_units(65), 4u);
  EXPECT_EQ(command_units(128), 4u);
  EXPECT_EQ(command_units(129), 8u);
  EXPECT_EQ(command_units(224), 8u);
}

// Words put together by hand from the layout: command byte = type | size << 2 | opcode << 4.
TEST(Encode, CstateHasItsFieldsInPlace) {
  std::uint64_t words[4];
  encode_cstate(words, {.initiator = 0x12345678, .eq = 0x2a5, .index_ext = 0x1d});
  EXPECT_THAT(words, ElementsAre(0x12345678'000820a0, 0x1d, 0, 0x02a5'0000'00000000));
}

TEST(Encode, SmallMessageNeedsTwoUnitsEvenWhenEmpty) {
  std::uint64_t words[4];
  encode_small_message(words, {.dfa = 0xabcde123,
                               .payload = 0,
                               .match_bits = 0x1111222233334444,
                               .header_data = 0x5555666677778888,
                               .user_ptr = 0x9999aaaabbbbcccc});
  EXPECT_THAT(words, ElementsAre(0xabcde123'00002074, 0x1111222233334444, 0x5555666677778888,
                                 0x9999aaaabbbbcccc));
}

TEST(Encode, SmallMessageSizeFollowsItsPayload) {
  using Layout = cassini::c_idc_msg_hdr;
  for (unsigned payload = 0; payload <= 192; payload++) {
    std::uint64_t words[4];
    encode_small_message(words, {.payload = static_cast<std::uint8_t>(payload)});
    const unsigned total = 32 + payload;
    const unsigned code = total <= 64 ? 1 : total <= 128 ? 2 : 3;
    EXPECT_EQ(Layout::command::cmd_size::get(bytes(words)), code) << payload;
    EXPECT_EQ(Layout::length::get(bytes(words)), total);
  }
}

TEST(Encode, DmaPutHasItsFieldsInPlace) {
  std::uint64_t words[8];
  encode_dma_put(words, {.dfa = 0x00123a05,
                         .index_ext = 0x11,
                         .lac = 5,
                         .eq = 0x7f1,
                         .local_addr = 0x1ab'cdef'0123'4567,
                         .remote_offset = 0x00fe'dcba'9876'5432,
                         .length = 0xfedcba98,
                         .initiator = 0x0a0b0c0d,
                         .match_bits = 0x0123456789abcdef,
                         .header_data = 0xfedcba9876543210,
                         .user_ptr = 0x0f1e2d3c4b5a6978});
  EXPECT_THAT(words, ElementsAre(0x00123a05'000d1115, 0x00fedcba98765432, 0x01abcdef01234567,
                                 0x07f10000'fedcba98, 0x0a0b0c0d'00000000, 0x0123456789abcdef,
                                 0xfedcba9876543210, 0x0f1e2d3c4b5a6978));
}

TEST(Encode, DmaGetDiffersFromAPutInItsOpcode) {
  const DmaTransfer transfer{.dfa = 0x00123a05, .lac = 5, .length = 77, .user_ptr = 9};
  std::uint64_t get[8], put[8];
  encode_dma_get(get, transfer);
  encode_dma_put(put, transfer);
  EXPECT_EQ(get[0] ^ put[0], 0x30u);  // opcodes 2 and 1
  for (unsigned i = 1; i < 8; i++)
    EXPECT_EQ(get[i], put[i]);
}

TEST(Encode, CountsOfPutsAreAcknowledgementsThoseOfGetsReplies) {
  const DmaTransfer transfer{.eq = 0x7f1, .count = {.ct = 0x555}};
  std::uint64_t words[8];
  encode_dma_put(words, transfer);
  EXPECT_EQ(words[0] >> 16 & 0xffff, 0x88u);
  EXPECT_EQ(words[3], 0x07f1'0555'00000000u);
  encode_dma_get(words, transfer);
  EXPECT_EQ(words[0] >> 16 & 0xffff, 0x48u);
  encode_dma_put(words, {.count = {.ct = 1, .bytes = true}});
  EXPECT_EQ(words[0] >> 16 & 0xffff, 0x188u);
}

TEST(Encode, ChangingThePieceChangesNothingElse) {
  const DmaTransfer first{.dfa = 0x00123a05,
                          .index_ext = 0x11,
                          .lac = 5,
                          .eq = 0x7f1,
                          .local_addr = 0x1ab'cdef'0123'4567,
                          .remote_offset = 0x00fe'dcba'9876'5432,
                          .length = 0xfedcba98,
                          .match_bits = 3,
                          .user_ptr = 4};
  DmaTransfer second = first;
  second.lac = 2;
  second.local_addr = 0x123;
  second.remote_offset = 0x456;
  second.length = 0x789;
  std::uint64_t changed[8], made[8];
  encode_dma_put(changed, first);
  change_piece(changed, 2, 0x123, 0x456, 0x789);
  encode_dma_put(made, second);
  EXPECT_THAT(changed, testing::ElementsAreArray(made));
}

TEST(Encode, AtomicHasItsFieldsInPlace) {
  std::uint64_t words[16];
  DmaAtomic atomic{.compare_swap = true,
                   .dfa = 0x00123a05,
                   .index_ext = 0x11,
                   .operand_lac = 5,
                   .result_lac = 6,
                   .eq = 0x7f1,
                   .operand_addr = 0x1ab'cdef'0123'4567,
                   .result_addr = 0x0fe'dcba'9876'5432,
                   .compare = 0x1122334455667788,
                   .remote_offset = 0x00fe'dcba'9876'5432,
                   .initiator = 0x0a0b0c0d,
                   .match_bits = 0x0123456789abcdef,
                   .user_ptr = 0x0f1e2d3c4b5a6978};
  encode_dma_atomic(words, atomic);
  EXPECT_THAT(words, ElementsAre(0x00123a05'000d1159, 0x00fedcba98765432, 0x01abcdef01234567,
                                 0x07f10000'00000008, 0x0a0b0c0d'00000000, 0x0123456789abcdef, 0,
                                 0x0f1e2d3c4b5a6978, 0x00fedcba98765432, 0x00000006'0000070b,
                                 0x1122334455667788, 0, 0, 0, 0, 0));
  atomic.compare_swap = false;
  encode_dma_atomic(words, atomic);
  EXPECT_EQ(words[9], 0x00000006'00000702u);
}

TEST(Encode, DmaPutKeepsEveryValueOfItsRanges) {
  using Layout = cassini::c_full_dma_cmd;
  const std::uint64_t patterns[] = {0, 1, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa, ~0ull};
  for (const std::uint64_t p : patterns) {
    std::uint64_t words[8];
    encode_dma_put(words, {.dfa = static_cast<std::uint32_t>(p),
                           .index_ext = static_cast<std::uint8_t>(p & 0x1f),
                           .lac = static_cast<std::uint8_t>(p & 7),
                           .eq = static_cast<std::uint16_t>(p & 0x7ff),
                           .local_addr = p & Layout::local_addr::max,
                           .remote_offset = p & Layout::remote_offset::max,
                           .length = static_cast<std::uint32_t>(p),
                           .initiator = static_cast<std::uint32_t>(p),
                           .match_bits = p,
                           .header_data = p,
                           .user_ptr = p});
    const std::byte* at = bytes(words);
    EXPECT_EQ(Layout::command::cmd_type::get(at), std::uint64_t{C_CMD_TYPE_DMA});
    EXPECT_EQ(Layout::command::opcode::get(at), std::uint64_t{C_CMD_PUT});
    EXPECT_EQ(Layout::command::cmd_size::get(at), std::uint64_t{C_CMD_SIZE_64B});
    EXPECT_EQ(Layout::event_send_disable::get(at), 1u);
    EXPECT_EQ(Layout::event_success_disable::get(at), 0u);
    EXPECT_EQ(Layout::restricted::get(at), 0u);
    EXPECT_EQ(Layout::ct::get(at), 0u);
    EXPECT_EQ(Layout::dfa::get(at), p & 0xffffffff);
    EXPECT_EQ(Layout::index_ext::get(at), p & 0x1f);
    EXPECT_EQ(Layout::lac::get(at), p & 7);
    EXPECT_EQ(Layout::eq::get(at), p & 0x7ff);
    EXPECT_EQ(Layout::local_addr::get(at), p & Layout::local_addr::max);
    EXPECT_EQ(Layout::remote_offset::get(at), p & Layout::remote_offset::max);
    EXPECT_EQ(Layout::request_len::get(at), p & 0xffffffff);
    EXPECT_EQ(Layout::initiator::get(at), p & 0xffffffff);
    EXPECT_EQ(Layout::match_bits::get(at), p);
    EXPECT_EQ(Layout::header_data::get(at), p);
    EXPECT_EQ(Layout::user_ptr::get(at), p);
  }
}

TEST(Encode, ReceiveMatchesAnyMessageOnce) {
  std::uint64_t words[8];
  encode_append_receive(words, {.pte = 0x456,
                                .buffer_id = 0xbeef,
                                .lac = 3,
                                .start = 0x123'4567'89ab'cdef,
                                .length = 0xfe'dcba'9876'5432});
  const std::uint64_t flags = 1ull << 35 | 1ull << 38 | 1ull << 42 | 1ull << 46;
  EXPECT_THAT(words, ElementsAre(0x04560087 | flags, 0x3'beef, 0x0123456789abcdef,
                                 0x00fedcba98765432, 0xffffffff'00000000, 0, ~0ull, 0));
}

TEST(Encode, StateAndReceiveNameTheirCount) {
  std::uint64_t state[4], plain_state[4];
  encode_cstate(state, {.eq = 0x2a5, .count = {.ct = 0x555, .bytes = true}});
  encode_cstate(plain_state, {.eq = 0x2a5});
  EXPECT_EQ(state[0] ^ plain_state[0], 0x180'0000u);
  EXPECT_EQ(state[3], 0x02a5'0555'00000000u);
  std::uint64_t receive[8], plain_receive[8];
  encode_append_receive(receive, {.count = {.ct = 0x555}});
  encode_append_receive(plain_receive, {});
  EXPECT_EQ(receive[0] ^ plain_receive[0], 1ull << 34 | 0x555ull << 48);
}

TEST(Encode, RegionStaysAndIsNeverCut) {
  std::uint64_t words[8];
  encode_append_region(words, {.pte = 0x456,
                               .buffer_id = 0xbeef,
                               .lac = 3,
                               .start = 0x123'4567'89ab'cdef,
                               .length = 0xfe'dcba'9876'5432,
                               .match_bits = 0x8000000000000123,
                               .put = true});
  const std::uint64_t silent = 1ull << 37;
  const std::uint64_t fixed = 1ull << 35 | 1ull << 43;
  EXPECT_THAT(words,
              ElementsAre(0x04560087 | fixed | silent | 1ull << 46, 0x0103'beef, 0x0123456789abcdef,
                          0x00fedcba98765432, 0xffffffff'00000000, 0x8000000000000123, 0, 0));
  encode_append_region(words, {.get = true});
  EXPECT_EQ(words[0], 0x87 | fixed | silent | 1ull << 45);
  encode_append_region(words, {.put = true, .event = true});
  EXPECT_EQ(words[0], 0x87 | fixed | 1ull << 46);
}

TEST(Encode, UnlinkNamesItsEntry) {
  std::uint64_t words[8];
  encode_unlink(words, 0x456, 0xbeef);
  EXPECT_THAT(words, ElementsAre(0x045600b7, 0xbeef, 0, 0, 0, 0, 0, 0));
}

TEST(Encode, FenceIsAQueueCommand) {
  std::uint64_t words[8];
  encode_fence(words);
  EXPECT_THAT(words, ElementsAre(0x17, 0, 0, 0, 0, 0, 0, 0));
}

TEST(Encode, ProfileSwitchIsFollowedByANoop) {
  for (unsigned lcid = 0; lcid < 16; lcid++) {
    std::uint64_t words[16];
    encode_lcid(words, lcid);
    EXPECT_EQ(words[0], 0x27 | std::uint64_t{lcid} << 32);
    EXPECT_EQ(words[8], 0x07u);
    for (unsigned i : {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15})
      EXPECT_EQ(words[i], 0u);
  }
}

}  // namespace
}  // namespace cxi
