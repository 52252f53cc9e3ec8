// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "fabric/fabric.hpp"

namespace {

using sim::fabric::Endpoint;
using sim::fabric::Fabric;
using sim::fabric::Packet;

struct Nic : Endpoint {
  std::vector<Packet> got;
  bool work = false;
  void deliver(Packet&& packet) override { got.push_back(std::move(packet)); }
  bool progress() override { return std::exchange(work, false); }
};

Packet packet(uint32_t from, uint32_t to, unsigned char mark = 0) {
  Packet p;
  p.source_nid = from;
  p.destination_nid = to;
  p.header.push_back(std::byte{mark});
  return p;
}

class InProcess : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(fabric->attach(1, one), 0);
    ASSERT_EQ(fabric->attach(2, two), 0);
  }
  std::unique_ptr<Fabric> fabric = Fabric::in_process();
  Nic one, two;
};

TEST_F(InProcess, DeliversInTheOrderOfSending) {
  for (unsigned char i = 0; i < 3; i++)
    EXPECT_TRUE(fabric->send(packet(1, 2, i)));
  ASSERT_EQ(two.got.size(), 3u);
  for (unsigned char i = 0; i < 3; i++)
    EXPECT_EQ(two.got[i].header[0], std::byte{i});
  EXPECT_TRUE(one.got.empty());
}

TEST_F(InProcess, LoopsBackToTheSender) {
  EXPECT_TRUE(fabric->send(packet(1, 1)));
  EXPECT_EQ(one.got.size(), 1u);
}

TEST_F(InProcess, RefusesANidThatIsTaken) {
  Nic other;
  EXPECT_EQ(fabric->attach(1, other), EEXIST);
}

TEST_F(InProcess, RefusesAPacketToNobodyAndLeavesItWhole) {
  Packet p = packet(1, 3, 7);
  EXPECT_FALSE(fabric->send(std::move(p)));
  ASSERT_EQ(p.header.size(), 1u);
  EXPECT_EQ(p.header[0], std::byte{7});
}

TEST_F(InProcess, ALinkThatIsDownNeitherSendsNorReceives) {
  fabric->set_link(2, false);
  EXPECT_FALSE(fabric->reachable(2));
  EXPECT_FALSE(fabric->send(packet(1, 2)));
  EXPECT_FALSE(fabric->send(packet(2, 1)));
  EXPECT_FALSE(fabric->send(packet(2, 2)));
  fabric->set_link(2, true);
  EXPECT_TRUE(fabric->send(packet(1, 2)));
  EXPECT_EQ(two.got.size(), 1u);
}

TEST_F(InProcess, ADetachedNicIsUnreachableAndItsNidIsFree) {
  fabric->detach(2);
  EXPECT_FALSE(fabric->reachable(2));
  EXPECT_FALSE(fabric->send(packet(1, 2)));
  Nic other;
  EXPECT_EQ(fabric->attach(2, other), 0);
}

TEST_F(InProcess, MulticastReachesEveryNicThatIsUp) {
  Nic three;
  ASSERT_EQ(fabric->attach(3, three), 0);
  fabric->set_link(3, false);
  fabric->multicast(packet(1, 0, 9));
  ASSERT_EQ(one.got.size(), 1u);
  ASSERT_EQ(two.got.size(), 1u);
  EXPECT_EQ(two.got[0].destination_nid, 2u);
  EXPECT_TRUE(three.got.empty());
}

TEST(PacketPool, GivesBuffersOutAgainAndKeepsLargeOnesApart) {
  sim::fabric::PacketPool pool;
  Packet large = pool.take(1 << 20);
  ASSERT_EQ(large.payload.size(), size_t{1} << 20);
  const auto* where = large.payload.data();
  pool.give(std::move(large));
  Packet small = pool.take(64);
  EXPECT_EQ(small.payload.size(), 64u);
  EXPECT_NE(small.payload.data(), where);
  EXPECT_EQ(pool.take(size_t{512} << 10).payload.data(), where);
}

TEST_F(InProcess, ProgressReachesEveryNic) {
  EXPECT_FALSE(fabric->progress());
  two.work = true;
  EXPECT_TRUE(fabric->progress());
  EXPECT_FALSE(two.work);
}

}  // namespace
