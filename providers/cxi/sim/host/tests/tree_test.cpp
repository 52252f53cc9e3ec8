// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace sim::host {
namespace {

class Paths : public testing::Test {
 protected:
  Paths()
      : tree([](const std::string& path) {
          for (const char* folder :
               {"/dev", "/dev/char", "/sys", "/sys/class", "/sys/devices", "/sys/class/infiniband"})
            if (path == folder) return true;
          return false;
        }) {
    tree.add_device("/dev/infiniband/uverbs0", 0, 231, 192);
    tree.add_link("/dev/char/231:192", "../infiniband/uverbs0");
    tree.add_file("/sys/devices/model/0/infiniband/cxi0/node_type", "1: CA\n");
    tree.add_link("/sys/devices/model/0/infiniband/cxi0/device", "../..");
    tree.add_link("/sys/devices/model/0/driver", "../../../bus/drivers/cxi");
    tree.add_link("/sys/class/infiniband/cxi0", "../../devices/model/0/infiniband/cxi0");
    tree.add_link("/sys/class/infiniband/round", "round");
    tree.add_link("/sys/class/infiniband/out", "/etc/passwd");
  }

  std::string found(const char* path, bool follow = true) {
    auto place = tree.resolve(path, follow);
    if (place.error != 0) return strerrorname_np(place.error);
    return (place.node != nullptr ? "here " : "host ") + place.path;
  }

  Tree tree;
};

TEST_F(Paths, OfTheTreeAreFound) {
  EXPECT_EQ(found("/dev/infiniband"), "here /dev/infiniband");
  EXPECT_EQ(found("/dev/infiniband/uverbs0"), "here /dev/infiniband/uverbs0");
  EXPECT_EQ(found("/sys/class/infiniband/"), "here /sys/class/infiniband");
}

TEST_F(Paths, OfTheHostAreLeftAlone) {
  EXPECT_EQ(found("/"), "host /");
  EXPECT_EQ(found("/dev"), "host /dev");
  EXPECT_EQ(found("/dev/null"), "host /dev/null");
  EXPECT_EQ(found("/sys/class/net/lo/mtu"), "host /sys/class/net/lo/mtu");
  EXPECT_EQ(found("/etc/passwd"), "host /etc/passwd");
}

TEST_F(Paths, ThatAreNotInOurFoldersDoNotExist) {
  EXPECT_EQ(found("/dev/infiniband/uverbs9"), "ENOENT");
  EXPECT_EQ(found("/sys/class/infiniband/mlx5_0"), "ENOENT");  // also if the host has one
  EXPECT_EQ(found("/sys/class/infiniband/mlx5_0/ports"), "ENOENT");
}

TEST_F(Paths, FollowLinks) {
  EXPECT_EQ(found("/sys/class/infiniband/cxi0/node_type"),
            "here /sys/devices/model/0/infiniband/cxi0/node_type");
  EXPECT_EQ(found("/sys/class/infiniband/cxi0/device/infiniband/cxi0/device"),
            "here /sys/devices/model/0");
  EXPECT_EQ(found("/dev/char/231:192"), "here /dev/infiniband/uverbs0");
}

TEST_F(Paths, LeaveTheLastLinkIfAsked) {
  EXPECT_EQ(found("/sys/class/infiniband/cxi0", false), "here /sys/class/infiniband/cxi0");
  EXPECT_EQ(found("/sys/class/infiniband/cxi0/", false),
            "here /sys/devices/model/0/infiniband/cxi0");
}

TEST_F(Paths, UnderstandDots) {
  EXPECT_EQ(found("/sys/class/./infiniband/../infiniband//cxi0/device/.."),
            "here /sys/devices/model");
  EXPECT_EQ(found("/usr/lib/../../sys/class/infiniband"), "here /sys/class/infiniband");
  EXPECT_EQ(found("/../../dev/infiniband"), "here /dev/infiniband");
  EXPECT_EQ(found("/sys/class/infiniband/../net/lo"), "host /sys/class/net/lo");
}

TEST_F(Paths, TellWhetherTheHostCanFollowThem) {
  EXPECT_FALSE(tree.resolve("/dev/../etc/passwd", true).climbed);
  EXPECT_TRUE(tree.resolve("/dev/infiniband/../../etc/passwd", true).climbed);
  EXPECT_TRUE(tree.resolve("/dev/infiniband/..", true).climbed);
}

TEST_F(Paths, LeadOutAgain) {
  auto place = tree.resolve("/sys/class/infiniband/out", true);
  EXPECT_EQ(place.node, nullptr);
  EXPECT_EQ(place.path, "/etc/passwd");
  EXPECT_TRUE(place.followed_link);
}

TEST_F(Paths, ThroughAFileAreRefused) {
  EXPECT_EQ(found("/dev/infiniband/uverbs0/x"), "ENOTDIR");
  EXPECT_EQ(found("/dev/infiniband/uverbs0/"), "ENOTDIR");
}

TEST_F(Paths, ThatGoInCirclesEnd) {
  EXPECT_EQ(found("/sys/class/infiniband/round"), "ELOOP");
}

TEST_F(Paths, SayWhetherOnlyTheLastNameIsMissing) {
  EXPECT_TRUE(tree.resolve("/dev/infiniband/new", true).only_last_missing);
  EXPECT_FALSE(tree.resolve("/dev/infiniband/new/new", true).only_last_missing);
}

TEST(QuickTest, LetsNearlyAllPathsPass) {
  EXPECT_FALSE(worth_resolving("/usr/lib/python3/os.py"));
  EXPECT_FALSE(worth_resolving("/home/me/.config"));
  EXPECT_FALSE(worth_resolving("/home/me/..."));
  EXPECT_FALSE(worth_resolving("/device"));
  EXPECT_TRUE(worth_resolving("/dev/infiniband/uverbs0"));
  EXPECT_TRUE(worth_resolving("//dev/infiniband"));
  EXPECT_TRUE(worth_resolving("/home/../dev/infiniband"));
  EXPECT_TRUE(worth_resolving("/home/./x"));
  EXPECT_TRUE(worth_resolving("/home/.."));
}

TEST(Joining, KeepsAbsolutePaths) {
  EXPECT_EQ(join("/sys", "class"), "/sys/class");
  EXPECT_EQ(join("/", "sys"), "/sys");
  EXPECT_EQ(join("/sys", "/dev"), "/dev");
}

}  // namespace
}  // namespace sim::host
