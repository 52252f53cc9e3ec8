// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What the launcher says on standard error.
#pragma once

#include <string>

namespace launcher {

/// The text as a single line that no terminal takes for a command: what names of users, programs
/// and the like have in them of control characters becomes question marks.
std::string one_line(std::string text);

/// Not for a process that will execute another program: it ignores SIGPIPE from then on.
void say(const std::string& text);

}  // namespace launcher
