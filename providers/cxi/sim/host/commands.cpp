// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/commands.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>

#include "host/control.hpp"
#include "host/filter.hpp"
#include "host/packet.hpp"
#include "host/procfs.hpp"
#include "host/supervisor.hpp"

namespace sim::host {
namespace {

constexpr const char* name_variable =
    "CXI_SIM_NAME";  // tells our own control commands where they are

int complain(const std::string& what, int error) {
  std::fprintf(stderr, "cxi_sim: %s: %s\n", what.c_str(), std::strerror(error));
  return exit_own_failure;
}

// Whether this kernel lets us do our work; complains if not. Descendants are looked into more
// freely (Yama, ptrace_scope) than programs that merely join.
bool able(bool descendants) {
  if (int error = filter_support()) {
    std::fprintf(stderr,
                 "cxi_sim: this kernel does not hand over system calls (seccomp user notification "
                 "with WAIT_KILLABLE_RECV, Linux 5.19): %s\n",
                 std::strerror(error));
    return false;
  }
  int scope = std::atoi(read_text("/proc/sys/kernel/yama/ptrace_scope").c_str());
  auto ours = credentials_of(getpid());
  if (scope > (descendants ? 1 : 0) && !(ours && ours->cap_sys_admin)) {
    std::fprintf(stderr,
                 "cxi_sim: kernel.yama.ptrace_scope is %d, which keeps it from the memory of %s\n",
                 scope, descendants ? "its programs" : "programs that join; use cxi_sim run");
    return false;
  }
  return true;
}

bool good_name(const std::string& name) {
  return !name.empty() && name.size() <= 32 && name[0] != '.' &&
         std::ranges::all_of(name, [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
         });
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

// The name, or the first numbered one after it: process numbers repeat in containers that share the
// folder of instances.
std::string unused_name(const std::string& wanted) {
  auto running = running_instances();
  std::string name = wanted;
  for (int n = 2; std::ranges::count(running, name) != 0; n++)
    name = wanted + "-" + std::to_string(n);
  return name;
}

// Which instance a command means; nothing if that is not clear (and it has been said).
std::optional<std::string> choose(const std::string& name) {
  if (!name.empty()) return name;
  if (const char* around = std::getenv(name_variable)) return around;
  auto running = running_instances();
  if (running.size() == 1) return running[0];
  std::fprintf(stderr,
               running.empty()
                   ? "cxi_sim: no instance is running; start one with cxi_sim up\n"
                   : "cxi_sim: several instances are running; name the one you mean: %s\n",
               listed(running).c_str());
  return std::nullopt;
}

// An instance could not be reached.
int complain_absent(const std::string& name, int error) {
  auto running = running_instances();
  if (std::ranges::find(running, name) != running.end())
    return complain(name + " does not answer, it may be about to start or to end", error);
  std::fprintf(stderr, "cxi_sim: no instance %s is running; there is: %s\n", name.c_str(),
               listed(running).c_str());
  return exit_own_failure;
}

// An instance has refused a request.
int complain_refused(const std::string& name, const std::string& request, int error) {
  const char* remedy = "";
  if (error == ENODEV) remedy = "; cxi_sim status lists the devices";
  if (error == EBUSY) remedy = ": programs run on it; let them end, or kill them with --force";
  std::fprintf(stderr, "cxi_sim: %s: %s: %s%s\n", name.c_str(), request.c_str(),
               std::strerror(error), remedy);
  return exit_own_failure;
}

bool life_goes_on() {
  return false;
}  // a lifeline speaks only once: its other end has died

int be_instance(const InstanceOptions& options, const InstanceDir& folder,
                const std::vector<std::string>& program, const Inherited& inherited, int lifeline) {
  setenv(name_variable, folder.name().c_str(), 1);
  Instance instance(options, folder);
  ControlServer control(folder.socket(), instance);
  auto attach = [&](Fd listener) {
    instance.start();
    instance.serve(std::move(listener));
    return 0;
  };
  std::vector<Source> sources = {{lifeline, life_goes_on}, {control.fd(), [&] {
                                                              control.serve_one();
                                                              return !control.asked_to_end();
                                                            }}};
  int code = supervise(program, inherited, attach, sources);
  instance.stop();
  if (options.statistics) std::fprintf(stderr, "%s", instance.describe().c_str());
  return code;
}

// Turns exceptions into a line and an exit status: none may pass a fork.
int reporting(const std::function<int()>& inside) {
  try {
    return inside();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cxi_sim: %s\n", error.what());
    return exit_own_failure;
  }
}

// From now on a descriptor leads nowhere.
void let_go_of(int fd) {
  Fd nowhere(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (nowhere) dup2(nowhere.get(), fd);
}

int be_daemon(const InstanceOptions& options, const InstanceDir& folder, Fd ready) {
  Instance instance(options, folder);
  ControlServer control(folder.socket(), instance);
  sigset_t ends;
  sigemptyset(&ends);
  for (int number : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&ends, number);
  Fd signals(signalfd(-1, &ends, SFD_CLOEXEC));
  instance.start();
  send_packet(ready.get(), "up");
  ready.reset();
  // Whoever reads what "up" says must not wait for the daemon's end; a trace has its own copy.
  let_go_of(2);
  if (chdir("/") != 0) std::perror("cxi_sim: /");
  while (!control.asked_to_end()) {
    pollfd fds[2] = {{control.fd(), POLLIN, 0}, {signals.get(), POLLIN, 0}};
    if (poll(fds, 2, -1) < 0 && errno != EINTR) break;
    if (fds[1].revents != 0) break;
    if (fds[0].revents != 0) control.serve_one();
  }
  instance.stop();
  folder.remove();
  return 0;
}

}  // namespace

int run_command(const InstanceOptions& options, const std::vector<std::string>& program) {
  if (!able(true)) return exit_own_failure;
  auto inherited = prepare_process();
  InstanceDir folder(unused_name("run-" + std::to_string(getpid())));
  return guarded(
      [&](int lifeline) {
        int code =
            reporting([&] { return be_instance(options, folder, program, inherited, lifeline); });
        folder.remove();  // here too, in case the guard has died
        return code;
      },
      [&] { folder.remove(); });
}

int up_command(const InstanceOptions& options, const std::string& name) {
  if (!good_name(name)) {
    std::fprintf(stderr,
                 "cxi_sim: \"%s\" cannot be a name: use up to 32 letters, digits, '-', '_', '.'\n",
                 name.c_str());
    return exit_own_failure;
  }
  if (const char* around = std::getenv(name_variable);
      around != nullptr && std::ranges::count(running_instances(), around) != 0) {
    std::fprintf(stderr, "cxi_sim: %s: this runs on the instance %s and would end with it\n",
                 std::strerror(EBUSY), around);
    return exit_own_failure;
  }
  if (!able(false)) return exit_own_failure;
  // Locks and pipes that we were started with are none of the daemon's.
  close_range(STDERR_FILENO + 1, UINT_MAX, 0);
  prepare_process();
  InstanceDir folder(name);
  Fd ours, theirs;
  if (int error = make_socket_pair(&ours, &theirs)) return complain("socketpair", error);
  pid_t daemon = fork();
  if (daemon < 0) return complain("fork", errno);
  if (daemon == 0) {
    ours.reset();
    setsid();
    int code = reporting([&] {
      let_go_of(0);
      let_go_of(1);
      return be_daemon(options, folder, std::move(theirs));
    });
    folder.remove();  // here too, in case it could not be brought up
    _exit(code);
  }
  theirs.reset();
  auto ready = receive_packet(ours.get());
  return ready && ready->text == "up" ? 0 : exit_own_failure;  // the daemon has said why
}

int exec_command(const std::string& name, const std::vector<std::string>& program) {
  if (!able(false)) return exit_own_failure;
  auto chosen = choose(name);
  if (!chosen) return exit_own_failure;
  auto inherited = prepare_process();
  Fd instance;
  if (int error = connect_to(instance_socket(*chosen), &instance))
    return complain_absent(*chosen, error);
  setenv(name_variable, chosen->c_str(), 1);
  return guarded(
      [&](int lifeline) {
        auto join = [&](Fd listener) {
          return ask(instance.get(), "join", listener.get(), nullptr);
        };
        auto instance_ended = [&] {
          std::fprintf(stderr, "cxi_sim: %s has ended, and the program with it\n", chosen->c_str());
          return false;
        };
        return supervise(program, inherited, join,
                         {{lifeline, life_goes_on}, {instance.get(), instance_ended}});
      },
      [] {});
}

int control_command(const std::string& name, const std::string& request) {
  auto chosen = choose(name);
  if (!chosen) return exit_own_failure;
  Fd instance;
  std::string answer;
  if (int error = connect_to(instance_socket(*chosen), &instance))
    return complain_absent(*chosen, error);
  if (int error = ask(instance.get(), request, -1, &answer))
    return complain_refused(*chosen, request, error);
  std::fputs(answer.c_str(), stdout);
  if (request.starts_with("end")) receive_packet(instance.get());  // until all is down
  return 0;
}

}  // namespace sim::host
