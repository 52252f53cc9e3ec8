// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// One running software Cassini: the kernel's side with its NICs, and the threads that serve
// programs.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "host/dispatcher.hpp"
#include "host/engine.hpp"
#include "host/fd.hpp"
#include "host/instance_dir.hpp"
#include "host/mirror.hpp"
#include "host/open_files.hpp"
#include "host/trace_file.hpp"
#include "uverbs/kernel.hpp"

namespace sim::host {

struct InstanceOptions {
  uverbs::KernelConfig kernel{.nics = 2};
  std::string trace;  // see TraceFile
  bool statistics = false;
};

class Instance {
 public:
  // Makes everything, but no thread yet, so that the process can still fork.
  Instance(const InstanceOptions& options, const InstanceDir& folder);
  ~Instance();

  void start();
  // Serves the programs under a filter until they have ended.
  void serve(Fd listener);
  void stop();

  bool serving();  // a program is left
  // By device name; 0 or errno (ENODEV: there is none of that name).
  int set_link(const std::string& device, bool up);
  int fail_device(const std::string& device);
  // One line on each NIC, and counts.
  std::string describe();

 private:
  struct Server {
    Listener listener;
    std::thread thread;
    bool ended = false;
  };

  void serve_until_hangup(Server& server);
  int find(const std::string& device, unsigned* nic);

  const InstanceOptions options_;
  SystemClock clock_;
  TraceFile trace_;
  std::unique_ptr<uverbs::Kernel> kernel_;
  Mirror mirror_;
  OpenFiles files_;
  Engine engine_;
  Dispatcher dispatcher_;
  Fd stop_;
  std::mutex lock_;
  std::list<Server> servers_;
};

}  // namespace sim::host
