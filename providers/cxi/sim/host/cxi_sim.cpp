// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The command line of cxi_sim.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "host/commands.hpp"
#include "host/supervisor.hpp"

namespace sim::host {
namespace {

void add_instance_options(CLI::App* command, InstanceOptions* options, std::string* service,
                          double* give_up_seconds) {
  command->add_option("--nics", options->kernel.nics, "number of NICs, all on one fabric")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  command->add_option("--first-nid", options->kernel.first_nid, "address of the first NIC")
      ->check(CLI::Range(1, 0xf0000))
      ->capture_default_str();
  command->add_option("--pid-bits", options->kernel.pid_bits, "width of endpoint numbers (PIDs)")
      ->check(CLI::Range(6, 9))
      ->capture_default_str();
  command
      ->add_option("--give-up", *give_up_seconds,
                   "seconds after which a peer that does not answer is given up")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  command->add_option("--abi-version", options->kernel.abi_version,
                      "claim this version of the kernel ABI, to see what libraries say to it");
  command->add_option("--trace", options->trace,
                      "write one line per event to this file (-: stderr)");
  command
      ->add_option("--default-service", *service,
                   "whether everybody may use VNIs 1 and 10 (service 1)")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  command->add_flag("--statistics", options->statistics, "say at the end what was done");
}

void add_program(CLI::App* command, std::vector<std::string>* program) {
  command->add_option("program", *program, "program to run, and after -- its arguments");
}

int parse_and_act(int argc, char** argv) {
  // Everything behind "--" is the program's.
  char** end =
      std::find_if(argv, argv + argc, [](char* word) { return std::string("--") == word; });
  std::vector<std::string> tail;
  if (end != argv + argc) tail.assign(end + 1, argv + argc);

  CLI::App app("A software Cassini: runs unmodified programs on NICs that are a model.", "cxi_sim");
  app.require_subcommand(1);
  app.failure_message([&](const CLI::App*, const CLI::Error& error) {
    std::string what = error.what();
    if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-')
      what = std::string(argv[1]) + " is no command: run, up, exec, down, status and set are";
    return "cxi_sim: " + what + "; see cxi_sim --help\n";
  });
  InstanceOptions options;
  std::string service = "on", name, up_name = "default", device, state;
  std::vector<std::string> program;
  bool force = false;
  double give_up_seconds = static_cast<double>(options.kernel.give_up_ns) / 1e9;

  auto* run = app.add_subcommand("run", "bring up NICs, run a program, tear all down");
  add_instance_options(run, &options, &service, &give_up_seconds);
  add_program(run, &program);
  auto* up = app.add_subcommand("up", "bring up NICs for several programs");
  up->add_option("name", up_name, "name of the instance")->capture_default_str();
  add_instance_options(up, &options, &service, &give_up_seconds);
  auto* exec = app.add_subcommand("exec", "run a program on NICs that are up");
  exec->add_option("--name", name, "name of the instance");
  add_program(exec, &program);
  auto* down = app.add_subcommand("down", "take down what \"up\" brought up");
  down->add_option("name", name, "name of the instance");
  down->add_flag("--force", force, "kill programs that still use it");
  auto* status = app.add_subcommand("status", "describe a running instance");
  status->add_option("--name", name, "name of the instance");
  auto* set = app.add_subcommand("set", "change something in a running instance");
  set->require_subcommand(1);
  auto* link = set->add_subcommand("link", "take a link down or up");
  link->add_option("--name", name, "name of the instance");
  link->add_option("device", device, "cxi0 ...")->required();
  link->add_option("state", state, "up or down")->required()->check(CLI::IsMember({"up", "down"}));
  auto* failure = set->add_subcommand("device", "let a device fail, as if it were unplugged");
  failure->add_option("--name", name, "name of the instance");
  failure->add_option("device", device, "cxi0 ...")->required();
  failure->add_option("state", state, "failed")->required()->check(CLI::IsMember({"failed"}));

  try {
    app.parse(static_cast<int>(end - argv), argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_own_failure;
  }
  options.kernel.default_service_enabled = service == "on";
  options.kernel.give_up_ns = static_cast<uint64_t>(give_up_seconds * 1e9);
  program.insert(program.end(), tail.begin(), tail.end());
  if ((run->parsed() || exec->parsed()) && program.empty()) {
    std::fprintf(stderr, "cxi_sim: name the program to run: cxi_sim %s -- program\n",
                 run->parsed() ? "run" : "exec");
    return exit_own_failure;
  }
  if (run->parsed()) return run_command(options, program);
  if (up->parsed()) return up_command(options, up_name);
  if (exec->parsed()) return exec_command(name, program);
  if (down->parsed()) return control_command(name, force ? "end-now" : "end");
  if (status->parsed()) return control_command(name, "status");
  if (link->parsed()) return control_command(name, "link " + device + " " + state);
  return control_command(name, "device " + device + " " + state);
}

}  // namespace

int cxi_sim_main(int argc, char** argv) {
  // What we open must not take the place of a standard stream that we were started without. The
  // program is started without it too.
  int fd = -1;
  do {
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
  try {
    return parse_and_act(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cxi_sim: %s\n", error.what());
    return exit_own_failure;
  }
}

}  // namespace sim::host
