// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The field templates at their edges, and the table of registers.
#include "ethernet/cassini_field.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>

#include "ethernet/cassini_csrs.hpp"

namespace {

using cassini::ArrayField;
using cassini::Field;
using cassini::StructField;

template <class F, std::size_t Bytes>
constexpr std::uint64_t written_and_read(std::uint64_t value) {
  std::array<std::byte, Bytes> memory{};
  memory.fill(std::byte{0xff});
  F::set(memory, value);
  return F::get(std::span<const std::byte>(memory));
}

TEST(CassiniField, WorksInConstantExpressions) {
  static_assert(written_and_read<Field<3, 1>, 1>(0) == 0);
  static_assert(written_and_read<Field<7, 64>, 9>(0x0123'4567'89ab'cdef) == 0x0123'4567'89ab'cdef);
  static_assert(written_and_read<Field<63, 2>, 9>(2) == 2);
  static_assert(written_and_read<Field<0, 64>, 8>(~uint64_t{0}) == ~uint64_t{0});
  static_assert(Field<31, 1>::encode(1) == 0x8000'0000);
  static_assert(Field<90, 5>::word == 1 && Field<90, 5>::mask == uint64_t{31} << 26);
}

TEST(CassiniField, DropsBitsThatDoNotFitAndKeepsTheNeighbours) {
  std::array<std::byte, 9> memory{};
  Field<7, 58>::set(memory, ~uint64_t{0});
  EXPECT_EQ(memory[0], std::byte{0x80});
  EXPECT_EQ(memory[8], std::byte{0x01});
  memory.fill(std::byte{0xff});
  Field<7, 58>::set(memory, uint64_t{1} << 58);
  EXPECT_EQ(memory[0], std::byte{0x7f});
  EXPECT_EQ(memory[1], std::byte{0});
  EXPECT_EQ(memory[8], std::byte{0xfe});
}

TEST(CassiniField, WordFormAndMemoryFormAgree) {
  using F = Field<128 + 5, 57>;
  std::array<std::uint64_t, 3> words{};
  words[F::word] = F::encode(0x1ff'0000'1234'5678);
  const auto memory = std::as_bytes(std::span(words));
  EXPECT_EQ(F::get(memory), 0x1ff'0000'1234'5678U);
  EXPECT_EQ(F::decode(words[2]), 0x1ff'0000'1234'5678U);
}

TEST(CassiniField, ArrayElementsLieSideBySide) {
  using A = ArrayField<16, 16, 3>;
  std::array<std::byte, 8> memory{};
  A::set(memory, 1, 0xabcd);
  EXPECT_EQ(memory[4], std::byte{0xcd});
  EXPECT_EQ(memory[5], std::byte{0xab});
  EXPECT_EQ(A::get(memory, 1), 0xabcdU);
  EXPECT_EQ(A::at<1>::get(memory), 0xabcdU);
  EXPECT_EQ(A::get(memory, 0) + A::get(memory, 2), 0U);
}

TEST(CassiniField, OverlapAndOverflowOfAStructureAreSeen) {
  static_assert(cassini::apart<4, Field<0, 3>, Field<3, 29>>());
  static_assert(!cassini::apart<4, Field<0, 4>, Field<3, 29>>());
  static_assert(!cassini::apart<4, Field<0, 3>, Field<3, 30>>());
  static_assert(!cassini::apart<16, StructField<0, 12>, Field<95, 1>>());
}

TEST(CassiniCsrs, AreFoundByName) {
  const cassini::Csr* found = cassini::find_csr("c_ee_cfg_eq_sw_state");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->offset, 142622720U);
  EXPECT_EQ(found->size, 8U);
  EXPECT_EQ(found->entries, 2048U);
  EXPECT_EQ(cassini::find_csr("c_ee_cfg_eq_sw_stat"), nullptr);
  EXPECT_EQ(cassini::find_csr("zzz"), nullptr);
}

TEST(CassiniCsrs, AreSortedAlignedAndInsideTheAperture) {
  EXPECT_TRUE(std::ranges::is_sorted(cassini::csr_table, {}, &cassini::Csr::name));
  for (const cassini::Csr& csr : cassini::csr_table) {
    EXPECT_EQ(csr.offset % 8, 0U) << csr.name;
    EXPECT_EQ(csr.size % 8, 0U) << csr.name;
    EXPECT_LE(uint64_t{csr.offset} + uint64_t{csr.size} * csr.entries, 671088640U) << csr.name;
  }
}

TEST(CassiniCsrs, WideCountersAreArraysOf64Bits) {
  using counters = cassini::csr::c_ee_cntrs;
  static_assert(counters::events_enqueued_cntr::count == 4);
  static_assert(counters::events_enqueued_cntr::at<3>::lsb == 192);
  using state = cassini::csr::c_ee_cfg_eq_sw_state;
  EXPECT_EQ(state::rd_ptr::encode(5) | state::reading_buffer_b::encode(1), 0x8000'0005U);
}

}  // namespace
