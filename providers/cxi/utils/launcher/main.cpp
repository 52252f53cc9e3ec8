// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// cxi_launcher: makes a grant, becomes the user who gets it, runs the program, takes the grant
// back.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "child.hpp"
#include "descriptors.hpp"
#include "environment.hpp"
#include "failure.hpp"
#include "grant.hpp"
#include "identity.hpp"
#include "message.hpp"
#include "options.hpp"

namespace launcher {
namespace {

void tell_program(const Options& options, const Grant& grant) {
  std::vector<std::string> devices;
  std::vector<std::uint32_t> services;
  for (const Grant::Service& service : grant.services()) {
    devices.push_back(service.device);
    services.push_back(service.svc->svc_id);
  }
  for (const auto& [name, value] : describe_grant(options.vnis, options.tc_mask, devices, services))
    if (setenv(name.c_str(), value.c_str(), 1) != 0) fail("set " + name);
}

int launch(const Options& options) {
  const std::vector<int> kept = check_kept(options.keep_fds);
  open_standard_ones();
  const Identity identity = find_identity(options.user, options.group);
  unsetenv("SLINGSHOT_SVC_IDS");  // says where others open devices, and not where grants are made
  const HeldSignals signals;
  Grant grant(options, identity.uid);
  const int status = run_program(options.program, signals, [&] {
    tell_program(options, grant);
    close_others_on_exec(kept);
    become(identity);
  });
  for (const std::string& device : grant.take_back())
    say(device +
        ": something that the program left behind still uses its service, which goes when that "
        "ends");
  return status;
}

}  // namespace
}  // namespace launcher

int main(int argc, char** argv) {
  try {
    const auto line = launcher::parse_command_line(argc, argv);
    if (line.options.program.empty()) {
      std::fputs(line.answer.c_str(), stdout);
      return EXIT_SUCCESS;
    }
    return launcher::launch(line.options);
  } catch (const std::exception& error) {
    launcher::say(error.what());
    return launcher::exit_own_failure;
  }
}
