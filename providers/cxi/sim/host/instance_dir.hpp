// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The private folder of one running software Cassini: its trees and its control socket. It is
// locked as long as a process of that instance lives, so that a later one can remove what a killed
// one left.
#pragma once

#include <string>
#include <vector>

#include "host/fd.hpp"

namespace sim::host {

// Where instances of this user live; need not exist.
std::string instances_folder();

class InstanceDir {
 public:
  // Removes what dead instances left, then makes the folder of `name`. Throws std::system_error;
  // EEXIST: an instance of that name runs.
  explicit InstanceDir(const std::string& name);

  const std::string& path() const { return path_; }
  const std::string& name() const { return name_; }
  std::string mirror() const { return path_ + "/tree"; }
  std::string socket() const { return path_ + "/control"; }

  // Removes everything. May be called by any process of the instance, also twice.
  void remove() const;

 private:
  std::string base_, name_, path_;
  Fd lock_;
};

// Names of the instances that run.
std::vector<std::string> running_instances();
std::string instance_socket(const std::string& name);

}  // namespace sim::host
