// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "message.hpp"

#include <gtest/gtest.h>

namespace launcher {
namespace {

TEST(Message, IsOneLineWithoutCommandsToTheTerminal) {
  EXPECT_EQ(one_line("a\nb\r\x1b[31m\x7f"), "a?b??[31m?");
  EXPECT_EQ(one_line(""), "");
  EXPECT_EQ(one_line("there is no user \"J\xc3\xb6rg\""), "there is no user \"J\xc3\xb6rg\"");
}

}  // namespace
}  // namespace launcher
