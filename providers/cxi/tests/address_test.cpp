// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "address.hpp"

#include <gtest/gtest.h>

namespace cxi {
namespace {

TEST(FabricAddress, SplitsTheIndexBetweenAddressAndCommand) {
  constexpr Geometry nine{9};
  EXPECT_EQ(fabric_address({.nid = 0x12345, .pid = 0x1fe}, 0, nine), 0x12345'1feu);
  EXPECT_EQ(fabric_address({.nid = 0x12345, .pid = 5}, 47, nine), 0x12345'205u);
  EXPECT_EQ(index_ext(47), 15u);
  EXPECT_EQ(fabric_address({.nid = 1, .pid = 2}, 254, nine), 0x1'e02u);
  EXPECT_EQ(index_ext(254), 30u);
  EXPECT_EQ(fabric_address({.nid = 1, .pid = 2}, 47, Geometry{8}), 0x1'102u);
}

TEST(Initiator, CarriesPidAndNid) {
  for (unsigned bits = 6; bits <= 9; bits++) {
    const Geometry geometry{bits};
    for (std::uint32_t pid : {0u, 1u, geometry.pids() - 1}) {
      const std::uint32_t value = initiator(pid, 0xabcde, geometry);
      EXPECT_EQ(initiator_pid(value, geometry), pid);
      EXPECT_EQ(value & 0xfffff, 0xabcdeu);
    }
  }
}

TEST(QueuePairNumber, IsValidOnlyForWhatANicCanHave) {
  constexpr Geometry nine{9};
  EXPECT_TRUE(qpn::valid(0, nine));
  EXPECT_TRUE(qpn::valid(qpn::make(510, 47), nine));
  EXPECT_TRUE(qpn::valid(qpn::make(10, 15) | 1u << 31, nine));
  EXPECT_FALSE(qpn::valid(qpn::make(511, 0), nine));
  EXPECT_FALSE(qpn::valid(qpn::make(0, 48), nine));
  for (unsigned bit = 24; bit < 31; bit++)
    EXPECT_FALSE(qpn::valid(1u << bit, nine));
  EXPECT_EQ(qpn::make(10, 15), 0x00f00au);
}

TEST(SendBits, KeepTheirFieldsApart) {
  const std::uint64_t bits = send_bits::src_id::encode(0xfedcba98) | send_bits::ri::encode(47) |
                             send_bits::immediate::encode(2) | send_bits::solicited::encode(1);
  EXPECT_EQ(send_bits::src_id::decode(bits), 0xfedcba98u);
  EXPECT_EQ(send_bits::ri::decode(bits), 47u);
  EXPECT_EQ(send_bits::immediate::decode(bits), 2u);
  EXPECT_EQ(send_bits::solicited::decode(bits), 1u);
  EXPECT_EQ(bits, 0x602f'fedcba98ull);
}

TEST(UserPointer, NamesRequestQueuePairAndGeneration) {
  const std::uint64_t pointer = user_ptr::request::encode(4095) | user_ptr::qp_slot::encode(1023) |
                                user_ptr::generation::encode(0xdeadbeef);
  EXPECT_EQ(pointer, 0xdeadbeef'03ff'0fffull);
}

}  // namespace
}  // namespace cxi
