// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sge.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace cxi {
namespace {

class Pieces : public testing::Test {
 protected:
  Piece piece(std::size_t at, std::size_t length, std::uint8_t lac = 1) {
    return {memory_.data() + at, 0x700000 + at, length, lac};
  }
  std::array<std::byte, 64> memory_{};
};

TEST_F(Pieces, NeighboursBecomeOne) {
  std::array list{piece(0, 8), piece(8, 8), piece(16, 16)};
  ASSERT_EQ(merge_pieces(list), 1u);
  EXPECT_EQ(list[0].length, 32u);
  EXPECT_EQ(list[0].iova, 0x700000u);
}

TEST_F(Pieces, GapsAndOtherOrdersStayApart) {
  std::array list{piece(0, 8), piece(9, 8), piece(0, 4)};
  EXPECT_EQ(merge_pieces(list), 3u);
}

TEST_F(Pieces, AddressContextsStayApart) {
  std::array list{piece(0, 8, 1), piece(8, 8, 2)};
  EXPECT_EQ(merge_pieces(list), 2u);
}

TEST_F(Pieces, NeighboursOfTheNicOnlyStayApartForTheCpu) {
  std::array list{piece(0, 8), piece(32, 8)};
  list[1].iova = list[0].iova + 8;
  EXPECT_EQ(merge_pieces(list), 2u);
  list[0].cpu = list[1].cpu = nullptr;
  EXPECT_EQ(merge_pieces(list), 1u);
}

TEST_F(Pieces, EmptyOnesVanish) {
  std::array list{piece(5, 0), piece(0, 8), piece(60, 0), piece(8, 8)};
  ASSERT_EQ(merge_pieces(list), 1u);
  EXPECT_EQ(list[0].length, 16u);
  std::array none{piece(5, 0)};
  EXPECT_EQ(merge_pieces(none), 0u);
}

TEST_F(Pieces, GatherAndScatterAreInverse) {
  for (std::size_t i = 0; i < memory_.size(); i++)
    memory_[i] = std::byte(i);
  const std::array list{piece(40, 5), piece(3, 7), piece(20, 1)};
  std::array<std::byte, 13> staged{};
  gather(staged.data(), list);
  EXPECT_EQ(staged[0], std::byte{40});
  EXPECT_EQ(staged[5], std::byte{3});
  EXPECT_EQ(staged[12], std::byte{20});
  const auto before = memory_;
  memory_ = {};
  scatter(list, staged.data(), staged.size());
  for (const std::size_t i : {40, 44, 3, 9, 20})
    EXPECT_EQ(memory_[i], before[i]);
  EXPECT_EQ(memory_[45], std::byte{0});
}

TEST_F(Pieces, ScatterStopsWithTheMessage) {
  const std::array list{piece(0, 4), piece(8, 4)};
  const std::vector<std::byte> message(6, std::byte{0xaa});
  scatter(list, message.data(), message.size());
  EXPECT_EQ(memory_[9], std::byte{0xaa});
  EXPECT_EQ(memory_[10], std::byte{0});
}

}  // namespace
}  // namespace cxi
