// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Providers that are loaded at run time. The program has the library's code in it and exports it,
// as the library does.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

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
  EXPECT_EQ(load_providers(), 0);
  const std::string output = testing::internal::GetCapturedStderr();
  EXPECT_NE(output.find("couldn't load driver '/nonexistent/libnothing'"), std::string::npos);
  EXPECT_EQ(output.find(LOADED_PROVIDER), std::string::npos);
  ASSERT_TRUE(has("loaded"));
}

TEST(LoadTest, TheNewerNameShadowsTheOlder) {
  setenv("RDMAV_DRIVERS", "/nonexistent/liba", 1);
  setenv("IBV_DRIVERS", "/nonexistent/libb", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(load_providers(), 0);
  const std::string output = testing::internal::GetCapturedStderr();
  EXPECT_NE(output.find("/nonexistent/liba"), std::string::npos);
  EXPECT_EQ(output.find("/nonexistent/libb"), std::string::npos);
}

TEST(Registration, KeepsTheOrderOfEachThreadAndMayGoOnWhileTheListIsRead) {
  constexpr unsigned threads = 4, each = 500;
  static verbs_device_ops ops[threads][each];
  Providers providers;
  std::atomic<bool> done{false};
  const auto look = [&] {
    std::array<unsigned, threads> seen{};
    for (const verbs_device_ops* provider : providers) {
      for (unsigned t = 0; t < threads; t++) {
        const bool own = provider >= ops[t] && provider < ops[t] + each;
        if (own) {
          EXPECT_EQ(provider, &ops[t][seen[t]++]);
        }
      }
    }
    return seen;
  };
  std::thread reader([&] {
    while (!done)
      look();
  });
  std::vector<std::thread> writers;
  for (auto& own : ops)
    writers.emplace_back([&providers, &own] {
      for (const verbs_device_ops& provider : own)
        EXPECT_TRUE(providers.push(&provider));
    });
  for (std::thread& writer : writers)
    writer.join();
  done = true;
  reader.join();
  for (const unsigned count : look())
    EXPECT_EQ(count, each);
  for (const Providers::Entry* entry = providers.first(); entry;) {
    const Providers::Entry* next = entry->next;
    std::free(const_cast<Providers::Entry*>(entry));
    entry = next;
  }
}

}  // namespace
