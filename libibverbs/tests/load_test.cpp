// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Providers that are loaded at run time. The program has the library's code in it and exports it,
// as the library does.
#include <gtest/gtest.h>

#include <string>

#include "../discovery/providers.hpp"

using namespace verbs;

namespace {

bool has(const std::string& name) {
  for (const verbs_device_ops* provider : registered_providers())
    if (provider->name == name) return true;
  return false;
}

TEST(LoadTest, AProviderOfTheEnvironmentRegistersItself) {
  ASSERT_FALSE(has("loaded"));
  setenv("RDMAV_DRIVERS", "/nonexistent/libnothing;" LOADED_PROVIDER, 1);
  testing::internal::CaptureStderr();
  load_providers();
  const std::string output = testing::internal::GetCapturedStderr();
  EXPECT_NE(output.find("couldn't load driver '/nonexistent/libnothing'"), std::string::npos);
  EXPECT_EQ(output.find(LOADED_PROVIDER), std::string::npos);
  ASSERT_TRUE(has("loaded"));
}

TEST(LoadTest, TheNewerNameShadowsTheOlder) {
  setenv("RDMAV_DRIVERS", "/nonexistent/liba", 1);
  setenv("IBV_DRIVERS", "/nonexistent/libb", 1);
  testing::internal::CaptureStderr();
  load_providers();
  const std::string output = testing::internal::GetCapturedStderr();
  EXPECT_NE(output.find("/nonexistent/liba"), std::string::npos);
  EXPECT_EQ(output.find("/nonexistent/libb"), std::string::npos);
}

}  // namespace
