// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The program: started as somebody else, sent the signals that come here, waited for.
#pragma once

#include <csignal>
#include <functional>
#include <string>
#include <vector>

namespace launcher {

constexpr int exit_own_failure = 125;
constexpr int exit_not_executable = 126;
constexpr int exit_not_found = 127;

/// Every signal that can be passed on is held back while one of these exists, so that none comes
/// between two steps. Made before there is anything to take back.
class HeldSignals {
 public:
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals();

  const sigset_t& held() const { return held_; }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t held_;
  sigset_t before_;
};

/// Runs the program and returns the exit status that the launcher ends with: the program's, 128
/// plus the signal that killed it, 126 or 127. `prepare` runs in the new process; what it throws is
/// told here, as a std::runtime_error, and the program is not run.
int run_program(const std::vector<std::string>& program, const HeldSignals& signals,
                const std::function<void()>& prepare);

}  // namespace launcher
