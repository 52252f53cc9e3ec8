// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "environment.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace cxi {
namespace {

TEST(ServiceFromLists, DefaultServiceWithoutAGrant) {
  std::uint32_t service = 99;
  EXPECT_EQ(service_from_lists(nullptr, nullptr, "cxi0", service), 0);
  EXPECT_EQ(service, 0u);
  EXPECT_EQ(service_from_lists("", "cxi0", "cxi0", service), 0);
  EXPECT_EQ(service, 0u);
}

TEST(ServiceFromLists, TheNthServiceBelongsToTheNthDevice) {
  std::uint32_t service = 0;
  EXPECT_EQ(service_from_lists("5,17,4294967295", "cxi0,cxi1,cxi3", "cxi1", service), 0);
  EXPECT_EQ(service, 17u);
  EXPECT_EQ(service_from_lists("5,17,4294967295", "cxi0,cxi1,cxi3", "cxi3", service), 0);
  EXPECT_EQ(service, 4294967295u);
  EXPECT_EQ(service_from_lists(" 5 , 17", "cxi0 , cxi1", "cxi1", service), 0);
  EXPECT_EQ(service, 17u);
}

TEST(ServiceFromLists, ADeviceThatIsNotListedHasTheDefaultService) {
  std::uint32_t service = 99;
  EXPECT_EQ(service_from_lists("5,6", "cxi0,cxi1", "cxi10", service), 0);
  EXPECT_EQ(service, 0u);
}

TEST(ServiceFromLists, OneServiceWithoutDevicesServesAll) {
  std::uint32_t service = 0;
  EXPECT_EQ(service_from_lists("7", nullptr, "cxi2", service), 0);
  EXPECT_EQ(service, 7u);
  EXPECT_EQ(service_from_lists("7,8", nullptr, "cxi2", service), EINVAL);
  EXPECT_EQ(service, 0u);
}

TEST(ServiceFromLists, RefusesWhatIsNoNumber) {
  std::uint32_t service = 0;
  for (const char* bad : {"x", "-1", "1x", "4294967296", "99999999999999999999", ",1"})
    EXPECT_EQ(service_from_lists(bad, "cxi0", "cxi0", service), EINVAL) << bad;
  EXPECT_EQ(service_from_lists("3", "cxi0,cxi1", "cxi1", service), EINVAL);
}

}  // namespace
}  // namespace cxi
