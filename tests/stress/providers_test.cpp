// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Providers that fail to load, register twice, or let their devices down. Providers are loaded
// once, so what is said about it is looked for in a process of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_list.hpp"
#include "fake_sysfs.hpp"

namespace stress {
namespace {

using testing::ElementsAre;
using testing::ExitedWithCode;

class Providers : public testing::Test {
 protected:
  void SetUp() override {
    sysfs.clear();
    sysfs.add(0, "fake0");
  }
  FakeSysfs& sysfs = FakeSysfs::instance();
};

int devices() {
  return DeviceList().count();
}

TEST_F(Providers, ThatAreNotThereAreReportedAndDoNotStopOthers) {
  EXPECT_EXIT(end_with(devices()), ExitedWithCode(1), "couldn't load driver '/no/such/provider'");
  EXPECT_EXIT(end_with(devices()), ExitedWithCode(1), "couldn't load driver 'nosuchname'");
}

TEST_F(Providers, ThatAreNoLibrariesAreReportedAndDoNotStopOthers) {
  EXPECT_EXIT(end_with(devices()), ExitedWithCode(1), "couldn't load driver '.*libgarbage'");
}

TEST_F(Providers, ThatNeedMoreThanThereIsAreReportedAndDoNotStopOthers) {
  EXPECT_EXIT(end_with(devices()), ExitedWithCode(1),
              "couldn't load driver '.*libunresolved'.*verbs_function_of_another_library");
}

TEST_F(Providers, ThatRegisterTwiceServeADeviceOnce) {
  // libfake and libtwice are the same, and the latter registers twice.
  sysfs.add(1, "fake1");
  EXPECT_THAT(DeviceList().names(), ElementsAre("fake0", "fake1"));
  EXPECT_TRUE(open_device("fake0"));
}

TEST_F(Providers, ThatMakeNoDeviceLeaveItToTheNextOne) {
  sysfs.add(1, "stubborn0");
  EXPECT_THAT(DeviceList().names(), ElementsAre("fake0", "stubborn0"));
  EXPECT_TRUE(open_device("stubborn0"));
}

TEST_F(Providers, ThatDoNotSpeakTheAbiOfADeviceLeaveItOut) {
  sysfs.add(1, "fake1");
  sysfs.set_uverbs(1, "abi_version", "9\n");
  EXPECT_THAT(DeviceList().names(), ElementsAre("fake0"));
  EXPECT_EXIT(end_with(devices()), ExitedWithCode(1),
              "Driver fake does not support the kernel ABI of 9 .*fake1");
}

TEST_F(Providers, ThatDoNotKnowADeviceLeaveItOut) {
  sysfs.add(1, "unheard");
  EXPECT_THAT(DeviceList().names(), ElementsAre("fake0"));
  setenv("IBV_SHOW_WARNINGS", "1", 1);
  EXPECT_EXIT(end_with(devices()), ExitedWithCode(1),
              "no userspace device-specific driver found for uverbs1");
  unsetenv("IBV_SHOW_WARNINGS");
}

TEST_F(Providers, ThatFailToOpenSayWhy) {
  sysfs.add(1, "fakebroken");
  errno = 0;
  EXPECT_FALSE(open_device("fakebroken"));
  EXPECT_EQ(errno, ENXIO);
}

TEST_F(Providers, WithoutEventsOfTheKernelDoNotOpen) {
  sysfs.add(1, "fakesilent");
  errno = 0;
  EXPECT_FALSE(open_device("fakesilent"));
  EXPECT_EQ(errno, ENOTTY);
}

}  // namespace
}  // namespace stress
