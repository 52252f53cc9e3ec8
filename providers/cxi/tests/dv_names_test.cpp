// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The names of event types and return codes.
#include <gtest/gtest.h>
#include <infiniband/cxidv.h>

#include <set>
#include <string>

namespace cxi {
namespace {

/// The names among the first 64 values, each of which begins like its enumeration.
std::set<std::string> names(const char* (*name)(std::uint32_t), const std::string& prefix) {
  std::set<std::string> found;
  for (std::uint32_t value = 0; value < 64; value++) {
    const std::string text = name(value);
    if (text == "unknown") continue;
    EXPECT_EQ(text.substr(0, prefix.size()), prefix) << value;
    EXPECT_TRUE(found.insert(text).second) << value;
  }
  return found;
}

TEST(NamesOfEvents, AreThoseOfTheHeader) {
  EXPECT_STREQ(cxidv_event_type_str(C_EVENT_PUT), "C_EVENT_PUT");
  EXPECT_STREQ(cxidv_event_type_str(C_EVENT_STATE_CHANGE), "C_EVENT_STATE_CHANGE");
  EXPECT_STREQ(cxidv_event_type_str(C_EVENT_NULL_EVENT), "C_EVENT_NULL_EVENT");
  EXPECT_EQ(names(cxidv_event_type_str, "C_EVENT_").size(), 26u);
}

TEST(NamesOfReturnCodes, AreThoseOfTheHeader) {
  EXPECT_STREQ(cxidv_return_code_str(C_RC_OK), "C_RC_OK");
  EXPECT_STREQ(cxidv_return_code_str(C_RC_PTLTE_NOT_FOUND), "C_RC_PTLTE_NOT_FOUND");
  EXPECT_STREQ(cxidv_return_code_str(C_RC_TRS_PEND_RSP), "C_RC_TRS_PEND_RSP");
  EXPECT_EQ(names(cxidv_return_code_str, "C_RC_").size(), 56u);
}

TEST(NamesOfReturnCodes, ExistForEveryNumber) {
  for (const std::uint32_t value : {7u, 63u, 64u, 65u, 0x40000001u, ~0u}) {
    EXPECT_STREQ(cxidv_return_code_str(value), "unknown") << value;
  }
  for (const std::uint32_t value : {22u, 32u, 33u, ~0u}) {
    EXPECT_STREQ(cxidv_event_type_str(value), "unknown") << value;
  }
}

}  // namespace
}  // namespace cxi
