// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The headers against the recorded tables: a difference breaks installed programs or providers.
#include <gtest/gtest.h>

#include <span>

#include "abi_rows.h"

namespace {

void expect_as_recorded(abi_rows rows) {
  ASSERT_GT(rows.count, 0u);
  for (const abi_row& row : std::span(rows.row, rows.count)) {
    EXPECT_EQ(row.header, row.table) << row.what << " of " << row.name;
  }
}

TEST(AbiLayout, IsAsRecordedInC) {
  expect_as_recorded(abi_layouts_in_c());
}
TEST(AbiLayout, IsAsRecordedInCpp) {
  expect_as_recorded(abi_layouts_in_cpp());
}
TEST(AbiValues, AreAsRecordedInC) {
  expect_as_recorded(abi_values_in_c());
}
TEST(AbiValues, AreAsRecordedInCpp) {
  expect_as_recorded(abi_values_in_cpp());
}
TEST(AbiSignatures, AreAsRecorded) {
  expect_as_recorded(abi_signatures_in_c());
}

}  // namespace
