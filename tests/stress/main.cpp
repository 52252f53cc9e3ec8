// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What has to be set before libibverbs is first used: its sysfs, and which providers it loads.
// Netlink is scripted (see scripted_netlink.hpp), so the devices of this machine stay out of it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "fake_sysfs.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("RDMAV_DRIVERS", STRESS_DRIVERS, 1);
  stress::FakeSysfs::instance();
  return RUN_ALL_TESTS();
}
