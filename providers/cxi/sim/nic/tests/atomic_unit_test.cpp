// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Which operation goes with which type, and what it does.
#include "nic/atomic_unit.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "ethernet/cassini_user_defs.h"
#include "nic/command_parse.hpp"

namespace sim::nic {
namespace {

template <class T>
T apply(unsigned op, unsigned type, T mem, T op1, T op2 = T{}, unsigned cswap = 0) {
  AtomicOperands o;
  o.op = static_cast<uint8_t>(op);
  o.type = static_cast<uint8_t>(type);
  o.cswap = static_cast<uint8_t>(cswap);
  std::memcpy(o.op1, &op1, sizeof(T));
  std::memcpy(o.op2, &op2, sizeof(T));
  EXPECT_EQ(check_atomic(o, sizeof(T)), C_RC_OK);
  AtomicValue memory{};
  std::memcpy(memory.data(), &mem, sizeof(T));
  const auto result = apply_atomic(o, memory);
  T out;
  std::memcpy(&out, result.value.data(), sizeof(T));
  return out;
}

TEST(AtomicUnit, IntegerOperations) {
  const unsigned u8 = C_AMO_TYPE_UINT8_T, i8 = C_AMO_TYPE_INT8_T;
  EXPECT_EQ(apply<uint8_t>(C_AMO_OP_SUM, u8, 250, 10), 4);
  EXPECT_EQ(apply<int8_t>(C_AMO_OP_SUM, i8, 127, 1), -128);
  EXPECT_EQ(apply<uint8_t>(C_AMO_OP_MIN, u8, 200, 100), 100);
  EXPECT_EQ(apply<int8_t>(C_AMO_OP_MIN, i8, -56, 100), -56);
  EXPECT_EQ(apply<uint8_t>(C_AMO_OP_MAX, u8, 200, 100), 200);
  EXPECT_EQ(apply<int8_t>(C_AMO_OP_MAX, i8, -56, 100), 100);
  EXPECT_EQ(apply<uint8_t>(C_AMO_OP_LOR, u8, 64, 128), 1);
  EXPECT_EQ(apply<uint8_t>(C_AMO_OP_LAND, u8, 64, 128), 1);
  EXPECT_EQ(apply<uint8_t>(C_AMO_OP_LAND, u8, 64, 0), 0);
  EXPECT_EQ(apply<uint8_t>(C_AMO_OP_LXOR, u8, 64, 128), 0);
  EXPECT_EQ(apply<uint8_t>(C_AMO_OP_LXOR, u8, 64, 0), 1);
  EXPECT_EQ(apply<uint8_t>(C_AMO_OP_BOR, u8, 0xf0, 0x18), 0xf8);
  EXPECT_EQ(apply<uint8_t>(C_AMO_OP_BAND, u8, 0xf0, 0x18), 0x10);
  EXPECT_EQ(apply<uint8_t>(C_AMO_OP_BXOR, u8, 0xf0, 0x18), 0xe8);
  EXPECT_EQ(apply<uint64_t>(C_AMO_OP_SUM, C_AMO_TYPE_UINT64_T, ~0ull, 2), 1u);
}

TEST(AtomicUnit, MaskedSwap) {
  // mem 0x11, data 0xaa, mask 0xf0 is 0xa1
  EXPECT_EQ(apply<uint8_t>(C_AMO_OP_AXOR, C_AMO_TYPE_UINT8_T, 0x11, 0xaa & 0xf0, 0xf0), 0xa1);
}

TEST(AtomicUnit, SwapIsTheBusFetchAdd) {
  EXPECT_EQ(apply<uint32_t>(C_AMO_OP_SWAP, C_AMO_TYPE_UINT32_T, 5, 6), 11u);
}

TEST(AtomicUnit, ConditionalSwapsCompareOperandTwoWithMemory) {
  const unsigned t = C_AMO_TYPE_UINT32_T, op = C_AMO_OP_CSWAP;
  const auto swaps = [&](unsigned cswap, uint32_t op2) {
    return apply<uint32_t>(op, t, 100, 1, op2, cswap) == 1;
  };
  EXPECT_TRUE(swaps(C_AMO_OP_CSWAP_EQ, 100));
  EXPECT_FALSE(swaps(C_AMO_OP_CSWAP_EQ, 99));
  EXPECT_TRUE(swaps(C_AMO_OP_CSWAP_NE, 99));
  EXPECT_TRUE(swaps(C_AMO_OP_CSWAP_LE, 99));
  EXPECT_FALSE(swaps(C_AMO_OP_CSWAP_LE, 101));
  EXPECT_FALSE(swaps(C_AMO_OP_CSWAP_LT, 100));
  EXPECT_TRUE(swaps(C_AMO_OP_CSWAP_GE, 101));
  EXPECT_FALSE(swaps(C_AMO_OP_CSWAP_GT, 100));
}

TEST(AtomicUnit, FloatingPoint) {
  EXPECT_EQ(apply<double>(C_AMO_OP_SUM, C_AMO_TYPE_DOUBLE_T, 1.5, 2.25), 3.75);
  EXPECT_EQ(apply<float>(C_AMO_OP_MIN, C_AMO_TYPE_FLOAT_T, 1.5f, -2.f), -2.f);
  EXPECT_EQ(apply<float>(C_AMO_OP_MAX, C_AMO_TYPE_FLOAT_T, 1.5f, -2.f), 1.5f);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(apply<float>(C_AMO_OP_MIN, C_AMO_TYPE_FLOAT_T, 1.f, nan)));
  EXPECT_EQ(apply<float>(C_AMO_OP_CSWAP, C_AMO_TYPE_FLOAT_T, nan, 7.f, 1.f, C_AMO_OP_CSWAP_NE),
            7.f);
  EXPECT_TRUE(std::isnan(
      apply<float>(C_AMO_OP_CSWAP, C_AMO_TYPE_FLOAT_T, nan, 7.f, 1.f, C_AMO_OP_CSWAP_LT)));
}

TEST(AtomicUnit, Complex) {
  using C = std::complex<double>;
  EXPECT_EQ(apply<C>(C_AMO_OP_SUM, C_AMO_TYPE_DOUBLE_COMPLEX_T, {1, 2}, {3, 5}), C(4, 7));
  EXPECT_EQ(apply<C>(C_AMO_OP_CSWAP, C_AMO_TYPE_DOUBLE_COMPLEX_T, {1, 2}, {3, 5}, {1, 3},
                     C_AMO_OP_CSWAP_EQ),
            C(1, 2));
  EXPECT_EQ(apply<C>(C_AMO_OP_CSWAP, C_AMO_TYPE_DOUBLE_COMPLEX_T, {1, 2}, {3, 5}, {1, 3},
                     C_AMO_OP_CSWAP_NE),
            C(3, 5));
}

TEST(AtomicUnit, HundredAndTwentyEightBits) {
  using W = std::array<uint64_t, 2>;
  EXPECT_EQ(apply<W>(C_AMO_OP_CSWAP, C_AMO_TYPE_UINT128_T, {1, 2}, {3, 4}, {1, 2}), (W{3, 4}));
  EXPECT_EQ(apply<W>(C_AMO_OP_CSWAP, C_AMO_TYPE_UINT128_T, {1, 2}, {3, 4}, {1, 3}), (W{1, 2}));
}

// Rows: operations; columns: integer, float, double, float complex, double complex, 128 bits.
TEST(AtomicUnit, TheValidityTable) {
  struct Row {
    unsigned op, cswap;
    const char* usable;
  };
  constexpr unsigned types[] = {C_AMO_TYPE_INT16_T,          C_AMO_TYPE_FLOAT_T,
                                C_AMO_TYPE_DOUBLE_T,         C_AMO_TYPE_FLOAT_COMPLEX_T,
                                C_AMO_TYPE_DOUBLE_COMPLEX_T, C_AMO_TYPE_UINT128_T};
  for (const Row& row :
       {Row{C_AMO_OP_MIN, 0, "+++---"}, Row{C_AMO_OP_MAX, 0, "+++---"},
        Row{C_AMO_OP_SUM, 0, "+++++-"}, Row{C_AMO_OP_LOR, 0, "+-----"},
        Row{C_AMO_OP_LAND, 0, "+-----"}, Row{C_AMO_OP_BOR, 0, "+-----"},
        Row{C_AMO_OP_BAND, 0, "+-----"}, Row{C_AMO_OP_LXOR, 0, "+-----"},
        Row{C_AMO_OP_BXOR, 0, "+-----"}, Row{C_AMO_OP_AXOR, 0, "+-----"},
        Row{C_AMO_OP_SWAP, 0, "------"}, Row{C_AMO_OP_CSWAP, C_AMO_OP_CSWAP_EQ, "++++++"},
        Row{C_AMO_OP_CSWAP, C_AMO_OP_CSWAP_NE, "+++++-"},
        Row{C_AMO_OP_CSWAP, C_AMO_OP_CSWAP_LT, "+++---"},
        Row{C_AMO_OP_CSWAP, C_AMO_OP_CSWAP_GT, "+++---"}, Row{C_AMO_OP_CSWAP, 6, "------"},
        Row{3, 0, "------"}, Row{13, 0, "------"}}) {
    for (unsigned i = 0; i < 6; i++) {
      AtomicOperands o;
      o.op = static_cast<uint8_t>(row.op);
      o.cswap = static_cast<uint8_t>(row.cswap);
      o.type = static_cast<uint8_t>(types[i]);
      EXPECT_EQ(check_atomic(o, atomic_bytes(types[i])),
                row.usable[i] == '+' ? C_RC_OK : C_RC_AMO_INVAL_OP_ERROR)
          << row.op << "/" << row.cswap << " on type " << types[i];
    }
  }
  AtomicOperands o;
  o.op = C_AMO_OP_SWAP;
  o.type = C_AMO_TYPE_UINT64_T;
  EXPECT_EQ(check_atomic(o, 8), C_RC_OK);
  o.type = 13;
  EXPECT_EQ(check_atomic(o, 8), C_RC_AMO_INVAL_OP_ERROR);
}

TEST(AtomicUnit, SizesOfTypes) {
  constexpr unsigned sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16, 16, 0};
  for (unsigned type = 0; type < 14; type++)
    EXPECT_EQ(atomic_bytes(type), sizes[type]);
}

TEST(AtomicUnit, ExceptionsAreReportedForFloatingPointOnly) {
  AtomicOperands o{C_AMO_OP_SUM, C_AMO_TYPE_DOUBLE_T, 0, {}, {}};
  const double big = 1.7e308;
  std::memcpy(o.op1, &big, 8);
  AtomicValue memory{};
  std::memcpy(memory.data(), &big, 8);
  EXPECT_TRUE(apply_atomic(o, memory).exceptions & FE_OVERFLOW);
  o.type = C_AMO_TYPE_UINT64_T;
  EXPECT_EQ(apply_atomic(o, memory).exceptions, 0);
}

}  // namespace
}  // namespace sim::nic
