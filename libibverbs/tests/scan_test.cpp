// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Finding devices in sysfs.
#include "../discovery/scan.hpp"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>

#include "temp_tree.hpp"

using namespace verbs;

namespace {

class ScanTest : public testing::Test {
 protected:
  ScanTest() { add_device("uverbs0", "cxi0"); }
  ~ScanTest() override { free_records(records); }

  void add_device(const std::string& uverbs, const std::string& name) {
    const std::string folder = "sys/class/infiniband_verbs/" + uverbs;
    tree.put(folder + "/ibdev", name + "\n");
    tree.put(folder + "/dev", "231:192\n");
    tree.put(folder + "/abi_version", "1\n");
    tree.put("sys/class/infiniband/" + name + "/node_type", "7: unspecified\n");
    tree.put("dev/" + uverbs, "");
  }

  size_t scan() {
    free_records(records);
    sysfs = tree.path("sys");
    devices = tree.path("dev");
    EXPECT_EQ(scan_sysfs({sysfs.c_str(), devices.c_str()}, records), 0);
    return records.size();
  }

  TempTree tree;
  std::string sysfs, devices;
  Records records;
};

TEST_F(ScanTest, ARecordIsFilledIn) {
  ASSERT_EQ(scan(), 1u);
  const verbs_sysfs_dev& record = *records[0];
  EXPECT_STREQ(record.sysfs_name, "uverbs0");
  EXPECT_STREQ(record.ibdev_name, "cxi0");
  EXPECT_EQ(record.ibdev_path, tree.path("sys/class/infiniband/cxi0"));
  EXPECT_EQ(record.sysfs_cdev, makedev(231, 192));
  EXPECT_EQ(record.abi_ver, 1u);
  EXPECT_EQ(record.node_type, IBV_NODE_UNSPECIFIED);
  EXPECT_EQ(record.ibdev_idx, -1);
  EXPECT_NE(record.time_created.tv_sec, 0);
}

TEST_F(ScanTest, WhatIsNotADeviceIsSkipped) {
  tree.put("sys/class/infiniband_verbs/abi_version", "6\n");
  tree.folder("sys/class/infiniband_verbs/.hidden");
  tree.folder("sys/class/infiniband_verbs/uverbs9");
  EXPECT_EQ(scan(), 1u);
}

TEST_F(ScanTest, ADeviceWithoutANodeIsHidden) {
  tree.remove("dev/uverbs0");
  EXPECT_EQ(scan(), 0u);
}

TEST_F(ScanTest, SomeFilesMayBeMissing) {
  tree.remove("sys/class/infiniband_verbs/uverbs0/abi_version");
  tree.remove("sys/class/infiniband/cxi0/node_type");
  ASSERT_EQ(scan(), 1u);
  EXPECT_EQ(records[0]->abi_ver, 0u);
  EXPECT_EQ(records[0]->node_type, IBV_NODE_UNKNOWN);
}

TEST_F(ScanTest, BrokenFilesHideOnlyTheirDevice) {
  const std::string folder = "sys/class/infiniband_verbs/uverbs0/";
  add_device("uverbs1", "cxi1");
  const std::pair<const char*, std::string> broken[] = {
      {"ibdev", ""},
      {"ibdev", "\n"},
      {"ibdev", "../../../"},
      {"ibdev", std::string(100, 'n') + "\n"},
      {"ibdev", "gone\n"},
      {"dev", "231\n"},
      {"dev", ""},
      {"dev", std::string(4096, '1')},
      {"abi_version", "x\n"},
  };
  for (const auto& [file, content] : broken) {
    add_device("uverbs0", "cxi0");
    tree.put(folder + file, content);
    ASSERT_EQ(scan(), 1u) << file << ": " << content;
    EXPECT_STREQ(records[0]->ibdev_name, "cxi1");
  }
}

TEST_F(ScanTest, WithoutTheClassThereIsNoRdma) {
  tree.remove("sys/class/infiniband_verbs");
  const std::string root = tree.path("sys");
  EXPECT_EQ(scan_sysfs({root.c_str(), "/dev"}, records), ENOSYS);
}

TEST_F(ScanTest, TheInterfaceVersionIsRead) {
  sysfs = tree.path("sys");
  const Places places{sysfs.c_str(), "/dev"};
  EXPECT_EQ(read_interface_version(places), std::nullopt);
  for (const char* broken : {"", "six\n", "-6\n", "6666666666666666666666666\n"}) {
    tree.put("sys/class/infiniband_verbs/abi_version", broken);
    EXPECT_EQ(read_interface_version(places), std::nullopt) << broken;
  }
  tree.put("sys/class/infiniband_verbs/abi_version", "6\n");
  EXPECT_EQ(read_interface_version(places), 6u);
}

TEST(InterfaceVersionTest, FourAreSpoken) {
  EXPECT_FALSE(is_spoken(2));
  EXPECT_TRUE(is_spoken(3));
  EXPECT_TRUE(is_spoken(6));
  EXPECT_FALSE(is_spoken(7));
}

}  // namespace
