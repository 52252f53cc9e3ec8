// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "../sysfs.hpp"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>

#include <array>

#include "temp_tree.hpp"

using namespace verbs;

namespace {

class ReadSysfsTest : public testing::Test {
 protected:
  int read(const char* name) {
    buffer.fill('x');
    errno = 0;
    return read_sysfs(buffer, "%s/%s", tree.path().c_str(), name);
  }

  TempTree tree;
  std::array<char, 8> buffer;
};

TEST_F(ReadSysfsTest, TheFinalNewlineIsTakenOff) {
  tree.put("a", "mlx\n");
  EXPECT_EQ(read("a"), 3);
  EXPECT_STREQ(buffer.data(), "mlx");
}

TEST_F(ReadSysfsTest, TextWithoutNewlineIsTerminated) {
  tree.put("a", "mlx");
  EXPECT_EQ(read("a"), 3);
  EXPECT_STREQ(buffer.data(), "mlx");
}

TEST_F(ReadSysfsTest, AnEmptyFileIsNothing) {
  tree.put("a", "");
  EXPECT_EQ(read("a"), 0);
  EXPECT_EQ(buffer[0], 'x');
}

TEST_F(ReadSysfsTest, TextMustFitWithItsEnd) {
  tree.put("fits", "1234567\n");
  EXPECT_EQ(read("fits"), 7);
  EXPECT_STREQ(buffer.data(), "1234567");
  tree.put("full", "12345678");
  EXPECT_EQ(read("full"), -1);
  EXPECT_EQ(errno, EMSGSIZE);
  tree.put("huge", std::string(1 << 20, '1'));
  EXPECT_EQ(read("huge"), -1);
}

TEST_F(ReadSysfsTest, WhatCannotBeReadIsAnError) {
  EXPECT_EQ(read("missing"), -1);
  EXPECT_EQ(errno, ENOENT);
  tree.folder("folder");
  EXPECT_EQ(read("folder"), -1);
  EXPECT_EQ(errno, EISDIR);
  EXPECT_EQ(read(std::string(600, 'a').c_str()), -1);
  EXPECT_EQ(errno, ENAMETOOLONG);
}

TEST_F(ReadSysfsTest, ADeviceIsReadBelowItsFolder) {
  tree.put("ports/1/rate", "200\n");
  verbs_sysfs_dev record{};
  snprintf(record.ibdev_path, sizeof(record.ibdev_path), "%s", tree.path().c_str());
  EXPECT_EQ(
      ibv_read_ibdev_sysfs_file(buffer.data(), buffer.size(), &record, "ports/%d/%s", 1, "rate"),
      3);
  EXPECT_STREQ(buffer.data(), "200");
  errno = 0;
  EXPECT_EQ(ibv_read_ibdev_sysfs_file(buffer.data(), buffer.size(), nullptr, "x"), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST(SysfsRootTest, TrailingSlashesAreTakenOff) {
  std::array<char, 16> root;
  normalize_root(root, "/a/b///");
  EXPECT_STREQ(root.data(), "/a/b");
  normalize_root(root, "/");
  EXPECT_STREQ(root.data(), "");
  normalize_root(root, "/0123456789012345678");
  EXPECT_STREQ(root.data(), "/01234567890123");
}

TEST(ParseTest, Numbers) {
  EXPECT_EQ(parse_number("0"), 0u);
  EXPECT_EQ(parse_number("4294967295"), UINT32_MAX);
  EXPECT_EQ(parse_number("4294967296"), std::nullopt);
  EXPECT_EQ(parse_number("99999999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_number(""), std::nullopt);
  EXPECT_EQ(parse_number("-1"), std::nullopt);
  EXPECT_EQ(parse_number("1x"), std::nullopt);
}

TEST(ParseTest, DeviceNumbers) {
  EXPECT_EQ(parse_device_number("231:192"), makedev(231, 192));
  EXPECT_EQ(parse_device_number("231"), std::nullopt);
  EXPECT_EQ(parse_device_number("231:"), std::nullopt);
  EXPECT_EQ(parse_device_number("231:1 2"), std::nullopt);
}

TEST(ParseTest, Guids) {
  EXPECT_EQ(parse_guid("0002:c903:00ab:CDEF"), 0x0002c90300abcdefu);
  EXPECT_EQ(parse_guid("0002:c903:00ab:cde"), std::nullopt);
  EXPECT_EQ(parse_guid("0002:c903:00ab:cdef0"), std::nullopt);
  EXPECT_EQ(parse_guid("0002:c903:00ab"), std::nullopt);
  EXPECT_EQ(parse_guid("0002-c903-00ab-cdef"), std::nullopt);
  EXPECT_EQ(parse_guid(""), std::nullopt);
}

TEST(ParseTest, Gids) {
  ibv_gid gid{};
  EXPECT_TRUE(parse_gid("fe80:0000:0000:0000:0000:0000:0000:00a5", gid));
  EXPECT_EQ(gid.raw[0], 0xfe);
  EXPECT_EQ(gid.raw[15], 0xa5);
  EXPECT_FALSE(parse_gid("fe80::1", gid));
}

TEST(ParseTest, NodeTypes) {
  EXPECT_EQ(parse_node_type("1: CA"), IBV_NODE_CA);
  EXPECT_EQ(parse_node_type("7: unspecified"), IBV_NODE_UNSPECIFIED);
  EXPECT_EQ(parse_node_type("4"), IBV_NODE_RNIC);
  EXPECT_EQ(parse_node_type("8: new"), IBV_NODE_UNKNOWN);
  EXPECT_EQ(parse_node_type("99999999999999: x"), IBV_NODE_UNKNOWN);
  EXPECT_EQ(parse_node_type("CA"), IBV_NODE_UNKNOWN);
  EXPECT_EQ(parse_node_type(""), IBV_NODE_UNKNOWN);
}

}  // namespace
