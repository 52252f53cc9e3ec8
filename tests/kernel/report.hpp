// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The outcome of checks, one line each, for whoever reads the console of the guest.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace guest {

class Report {
 public:
  // PASS or FAIL. The detail explains a failure. Returns whether it holds.
  bool that(bool holds, std::string_view what, std::string_view detail = {}) {
    fmt::print("{} {}{}{}\n", holds ? "PASS" : "FAIL", what, !holds && !detail.empty() ? ": " : "",
               holds ? std::string_view{} : detail);
    std::fflush(stdout);
    checks_++;
    if (!holds) failures_++;
    return holds;
  }

  template <class Actual, class Expected>
  bool equal(const Actual& actual, const Expected& expected, std::string_view what) {
    return that(actual == expected, what, fmt::format("got {}, not {}", actual, expected));
  }

  int checks() const { return checks_; }
  int failures() const { return failures_; }

 private:
  int checks_ = 0;
  int failures_ = 0;
};

}  // namespace guest
