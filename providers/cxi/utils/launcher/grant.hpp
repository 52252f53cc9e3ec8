// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The services under which a program runs: one on each device, all of them or none.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "options.hpp"

namespace launcher {

class Grant {
 public:
  /// Throws Refusal, and leaves nothing, when a service cannot be made in full.
  Grant(const Options& options, uid_t user);

  /// Takes the services back. Those that something left behind still uses go with the last user;
  /// the result names their devices.
  std::vector<std::string> take_back();

  struct Service {
    std::string device;
    std::unique_ptr<ibv_context, int (*)(ibv_context*)> context;
    std::unique_ptr<cxidv_svc, int (*)(cxidv_svc*)> svc;
  };
  const std::vector<Service>& services() const { return services_; }

 private:
  std::vector<Service> services_;
};

}  // namespace launcher
