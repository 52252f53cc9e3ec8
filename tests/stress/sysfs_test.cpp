// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Discovery from a sysfs in which something is missing, empty, huge or of the wrong kind.
#include <endian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "device_list.hpp"
#include "fake_sysfs.hpp"

namespace stress {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string huge(1 << 20, '7');

class Sysfs : public testing::Test {
 protected:
  void SetUp() override {
    sysfs.clear();
    sysfs.add(0, "fake0");
    sysfs.add(1, "fake1");
  }
  FakeSysfs& sysfs = FakeSysfs::instance();
};

TEST_F(Sysfs, WholeDevicesAreListed) {
  const DeviceList list;
  EXPECT_THAT(list.names(), ElementsAre("fake0", "fake1"));
  ibv_device* device = list.find("fake1");
  EXPECT_STREQ(device->dev_name, "uverbs1");
  EXPECT_EQ(device->dev_path, sysfs.uverbs(1).string());
  EXPECT_EQ(device->ibdev_path, sysfs.device("fake1").string());
  EXPECT_EQ(device->node_type, IBV_NODE_CA);
  EXPECT_EQ(be64toh(ibv_get_device_guid(device)), 0x0200'0000'0000'0001u);
  EXPECT_EQ(ibv_get_device_index(device), -1);
}

TEST_F(Sysfs, WithoutTheClassThereIsNoRdma) {
  std::filesystem::remove_all(sysfs.uverbs(0).parent_path());
  const DeviceList list;
  EXPECT_EQ(list.error(), ENOSYS);
  EXPECT_EQ(list.count(), 0);
}

TEST_F(Sysfs, AnEmptyClassIsAnEmptyList) {
  sysfs.remove(0, "fake0");
  sysfs.remove(1, "fake1");
  const DeviceList list;
  EXPECT_EQ(list.error(), 0);
  EXPECT_EQ(list.count(), 0);
}

TEST_F(Sysfs, ADeviceWithoutAFileThatItNeedsIsLeftOut) {
  for (const char* file : {"dev", "ibdev"}) {
    sysfs.add(1, "fake1");
    std::filesystem::remove(sysfs.uverbs(1) / file);
    EXPECT_THAT(DeviceList().names(), ElementsAre("fake0")) << file;
  }
}

TEST_F(Sysfs, ADeviceWithAnUnusableFileIsLeftOut) {
  const std::string_view bad_numbers[] = {"", "\n", "1", "1:", ":3", "1:3:4", "a:b", huge};
  for (std::string_view content : bad_numbers) {
    sysfs.set_uverbs(1, "dev", content);
    EXPECT_THAT(DeviceList().names(), ElementsAre("fake0")) << content.substr(0, 20);
  }
  sysfs.add(1, "fake1");
  const std::string_view bad_names[] = {
      "", "\n", "no such device\n", "../infiniband/fake1\n", huge, "fake1/\n"};
  for (std::string_view content : bad_names) {
    sysfs.set_uverbs(1, "ibdev", content);
    EXPECT_THAT(DeviceList().names(), ElementsAre("fake0")) << content.substr(0, 20);
  }
}

TEST_F(Sysfs, AFolderInPlaceOfAFileIsNoFile) {
  std::filesystem::remove(sysfs.uverbs(1) / "dev");
  std::filesystem::create_directory(sysfs.uverbs(1) / "dev");
  EXPECT_THAT(DeviceList().names(), ElementsAre("fake0"));
}

TEST_F(Sysfs, ALinkToItselfIsNoFile) {
  std::filesystem::remove(sysfs.uverbs(1) / "ibdev");
  std::filesystem::create_symlink("ibdev", sysfs.uverbs(1) / "ibdev");
  EXPECT_THAT(DeviceList().names(), ElementsAre("fake0"));
}

TEST_F(Sysfs, ADeviceWithoutANodeIsLeftOut) {
  sysfs.add(100, "fake100");
  EXPECT_THAT(DeviceList().names(), ElementsAre("fake0", "fake1"));
}

TEST_F(Sysfs, NodeTypesThatMakeNoSenseAreUnknown) {
  for (std::string_view content : {std::string_view(""), std::string_view("CA\n"),
                                   std::string_view("99: what\n"), std::string_view(huge)}) {
    sysfs.remove(1, "fake1");
    DeviceList();  // forget it
    sysfs.add(1, "fake1");
    sysfs.set_device("fake1", "node_type", content);
    const DeviceList list;
    ASSERT_NE(list.find("fake1"), nullptr) << content.substr(0, 20);
    EXPECT_EQ(list.find("fake1")->node_type, IBV_NODE_UNKNOWN) << content.substr(0, 20);
  }
}

TEST_F(Sysfs, GuidsThatMakeNoSenseAreZeroAndReadAgain) {
  const DeviceList list;
  ibv_device* device = list.find("fake1");
  for (std::string_view content :
       {std::string_view(""), std::string_view("0200:0000:0000\n"),
        std::string_view("0200:0000:0000:000g\n"), std::string_view(huge)}) {
    sysfs.set_device("fake1", "node_guid", content);
    EXPECT_EQ(ibv_get_device_guid(device), 0u) << content.substr(0, 20);
  }
  sysfs.set_device("fake1", "node_guid", "0123:4567:89ab:cdef\n");
  EXPECT_EQ(be64toh(ibv_get_device_guid(device)), 0x0123'4567'89ab'cdefu);
}

TEST_F(Sysfs, PKeysThatMakeNoSenseAreRefused) {
  const Context context = open_device("fake0");
  ASSERT_TRUE(context);
  std::filesystem::create_directories(sysfs.device("fake0") / "ports/1/pkeys");
  __be16 pkey;
  EXPECT_EQ(ibv_query_pkey(context.get(), 1, 0, &pkey), -1) << "there is none";
  for (std::string_view content :
       {std::string_view(""), std::string_view("pkey\n"), std::string_view(huge)}) {
    sysfs.set_device("fake0", "ports/1/pkeys/0", content);
    EXPECT_EQ(ibv_query_pkey(context.get(), 1, 0, &pkey), -1) << content.substr(0, 20);
  }
  sysfs.set_device("fake0", "ports/1/pkeys/0", "0x8001\n");
  EXPECT_EQ(ibv_query_pkey(context.get(), 1, 0, &pkey), 0);
  EXPECT_EQ(be16toh(pkey), 0x8001);
}

// The version is asked for once, so each of these needs a process of its own.
int error_with_version(std::string_view version) {
  FakeSysfs::instance().set_version(version);
  return DeviceList().error();
}

class Version : public Sysfs {};

TEST_F(Version, OfAnotherInterfaceIsRefused) {
  for (const char* version : {"2\n", "7\n", "4294967295\n"})
    EXPECT_EXIT(end_with(error_with_version(version)), testing::ExitedWithCode(ENOSYS),
                "kernel ABI")
        << version;
}

TEST_F(Version, ThatMakesNoSenseIsRefused) {
  for (std::string_view version : {std::string_view(""), std::string_view("six\n"),
                                   std::string_view("-6\n"), std::string_view(huge)})
    EXPECT_EXIT(end_with(error_with_version(version)), testing::ExitedWithCode(ENOSYS), "")
        << version.substr(0, 20);
}

TEST_F(Version, IsTakenFromThreeToSix) {
  for (const char* version : {"3\n", "6\n"})
    EXPECT_EXIT(end_with(error_with_version(version)), testing::ExitedWithCode(0), "") << version;
}

}  // namespace
}  // namespace stress
