// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "message.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace launcher {

std::string one_line(std::string text) {
  const auto commands = [](char letter) {
    const auto code = static_cast<unsigned char>(letter);
    return code < 0x20 || code == 0x7f;
  };
  std::ranges::replace_if(text, commands, '?');
  return text;
}

void say(const std::string& text) {
  signal(SIGPIPE, SIG_IGN);  // the exit status is what it is, whether or not somebody reads this
  std::fprintf(stderr, "cxi_launcher: %s\n", one_line(text).c_str());
}

}  // namespace launcher
