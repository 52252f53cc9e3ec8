// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Runs one program under the filter and sees to it that nothing of it stays. Two processes watch
// each other, so that killing either ends the program too: a guard, which is the process that the
// user started, and below it the one that does the work.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <functional>
#include <string>
#include <vector>

#include "host/fd.hpp"

namespace sim::host {

constexpr int exit_own_failure = 125;  // as with env(1) and timeout(1)

// What the program is to find as we found it.
struct Inherited {
  sigset_t signal_mask{};
  bool children_ignored = false;  // SIGCHLD
  rlimit files{};
};

// Blocks the signals that are passed on, sees to it that children leave their status, and makes
// room for descriptors.
Inherited prepare_process();

// Something else to wait for while the program runs. `ready` returns false to end the program.
struct Source {
  int fd = -1;
  std::function<bool()> ready;
};

// Runs `inside` in a process of its own and returns its exit status. `lifeline` is readable there
// once the guard has died. If it is killed itself, all that it started is killed too, and
// `clean_up` called.
int guarded(const std::function<int(int lifeline)>& inside, const std::function<void()>& clean_up);

// Starts the program, gives the listener of its filter to `attach` (0 or errno), lets it run, and
// returns its exit status, or 128 + the signal that ended it. All its descendants have ended then.
int supervise(const std::vector<std::string>& program, const Inherited& inherited,
              const std::function<int(Fd)>& attach, const std::vector<Source>& sources);

// Kills and reaps all descendants of this process.
void end_descendants();

}  // namespace sim::host
