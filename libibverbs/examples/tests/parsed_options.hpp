// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A command line, what became of it and what was said about it.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

/// Options of the program whose parse_options stands beside them.
template <class Options>
struct ParsedOptions {
  Options options;
  std::optional<int> status;
  std::string out, err;

  explicit ParsedOptions(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "program");
    std::vector<char*> argv;
    for (std::string& argument : arguments)
      argv.push_back(argument.data());
    argv.push_back(nullptr);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    status = parse_options(static_cast<int>(arguments.size()), argv.data(), options);
    out = testing::internal::GetCapturedStdout();
    err = testing::internal::GetCapturedStderr();
  }
};
