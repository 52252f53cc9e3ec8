// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <stdexcept>

namespace launcher {

/// Why the program is not run: one line that says what was wrong and how to put it right.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace launcher
