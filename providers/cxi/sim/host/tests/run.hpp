// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Starts programs, with a private place for what cxi_sim keeps in files.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace sim::host::tests {

struct Finished {
  int status = -1;  // exit status, or 128 + signal
  std::string out, err;
};

// A private XDG_RUNTIME_DIR, gone at the end.
class Place {
 public:
  Place();
  ~Place();
  const std::string& path() const { return path_; }
  // What is left in it.
  std::vector<std::string> leftovers() const;

 private:
  std::string path_;
};

// A program that runs, its output gathered.
class Running {
 public:
  Running(const Place& place, const std::vector<std::string>& command, uid_t uid = 0);
  ~Running();
  pid_t pid() const { return pid_; }
  // Reads output until it holds `text`; false at its end.
  bool wait_for(const std::string& text);
  Finished finish();

 private:
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  std::string text_;
};

// cxi_sim on the kernel double, the probe, and the same linked statically.
std::string cxi_sim();
std::string probe();
std::string static_probe();

Finished run(const Place& place, const std::vector<std::string>& command, uid_t uid = 0);
// "cxi_sim run -- probe words..."
Finished run_probe(const std::vector<std::string>& words);

}  // namespace sim::host::tests
