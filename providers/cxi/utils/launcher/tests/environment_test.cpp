// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "environment.hpp"

#include <gmock/gmock.h>

namespace launcher {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Environment, NamesTheNthServiceOfTheNthDevice) {
  EXPECT_THAT(describe_grant({{5, 9}, false}, 0xa, {"cxi0", "cxi1"}, {3, 7}),
              ElementsAre(Pair("SLINGSHOT_VNIS", "5,9"), Pair("SLINGSHOT_DEVICES", "cxi0,cxi1"),
                          Pair("SLINGSHOT_SVC_IDS", "3,7"), Pair("SLINGSHOT_TCS", "0xa")));
}

TEST(Environment, ListsTheVnisOfARange) {
  const auto told = describe_grant({{1024, 1027}, true}, 8, {"cxi0"}, {2});
  EXPECT_EQ(told[0].second, "1024,1025,1026,1027");
}

TEST(Environment, TellsALongRangeByItsEnds) {
  const auto shorter = describe_grant({{4096, 8191}, true}, 8, {"cxi0"}, {2})[0].second;
  EXPECT_EQ(std::ranges::count(shorter, ','), 4095);
  EXPECT_THAT(shorter, testing::EndsWith(",8191"));
  EXPECT_EQ(describe_grant({{8192, 16383}, true}, 8, {"cxi0"}, {2})[0].second, "8192-16383");
}

}  // namespace
}  // namespace launcher
