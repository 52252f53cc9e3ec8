// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/supervisor.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "host/filter.hpp"
#include "host/packet.hpp"
#include "host/procfs.hpp"

namespace sim::host {
namespace {

constexpr int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : passed_on)
    sigaddset(&set, number);
  sigaddset(&set, SIGCHLD);
  return set;
}

Fd open_signals() {
  sigset_t set = watched_signals();
  return Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Signals to pass on to `target`. The terminal sends its own to the whole group, the program
// included.
void pass_signals_on(int signals, pid_t target) {
  signalfd_siginfo info{};
  while (read(signals, &info, sizeof(info)) == sizeof(info)) {
    if (info.ssi_signo == SIGCHLD || info.ssi_code == SI_KERNEL || target <= 0) continue;
    kill(target, static_cast<int>(info.ssi_signo));
  }
}

int status_code(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Reaps what has ended; the status of `wanted` if it is among them.
std::optional<int> reap(pid_t wanted) {
  std::optional<int> found;
  int status = 0;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0;)
    if (pid == wanted) found = status;
  return found;
}

// What the child tells before it is the program.
struct Report {
  enum Stage : uint8_t { filtered, not_filtered, not_executed } stage;
  int error;
};

std::string_view as_text(const Report& report) {
  return {reinterpret_cast<const char*>(&report), sizeof(report)};
}

[[noreturn]] void become_program(const std::vector<std::string>& program,
                                 const Inherited& inherited, pid_t parent, int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(exit_own_failure);
  std::vector<char*> argv;
  for (const auto& word : program)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  setrlimit(RLIMIT_NOFILE, &inherited.files);
  if (inherited.children_ignored) signal(SIGCHLD, SIG_IGN);
  sigprocmask(SIG_SETMASK, &inherited.signal_mask, nullptr);

  Fd listener;
  Report report{Report::filtered, install_filter(&listener)};
  if (report.error != 0) report.stage = Report::not_filtered;
  if (send_packet(socket, as_text(report), listener.get()) != 0 || report.error != 0)
    _exit(exit_own_failure);
  listener.reset();
  auto go = receive_packet(socket);
  if (!go || go->text.empty()) _exit(exit_own_failure);
  execvp(argv[0], argv.data());
  report = {Report::not_executed, errno};
  send_packet(socket, as_text(report));
  _exit(report.error == ENOENT ? 127 : 126);
}

std::optional<Report> read_report(int socket, Fd* descriptor) {
  auto packet = receive_packet(socket);
  if (!packet || packet->text.size() != sizeof(Report)) return std::nullopt;
  Report report;
  std::memcpy(&report, packet->text.data(), sizeof(report));
  if (descriptor != nullptr) *descriptor = std::move(packet->descriptor);
  return report;
}

int complain(const char* what, int error) {
  std::fprintf(stderr, "cxi_sim: %s: %s\n", what, std::strerror(error));
  return exit_own_failure;
}

int complain_filter(int error) {
  if (error == EBUSY)
    return complain(
        "this process runs under a system call listener already (cxi_sim inside cxi_sim?)", error);
  return complain("cannot have system calls brought here", error);
}

}  // namespace

Inherited prepare_process() {
  Inherited inherited;
  sigset_t block = watched_signals();
  sigaddset(&block, SIGPIPE);
  sigaddset(&block, SIGIO);    // a lease of ours that is asked for
  sigaddset(&block, SIGXFSZ);  // a limit that the trace or the device memory meets: EFBIG instead
  sigprocmask(SIG_BLOCK, &block, &inherited.signal_mask);
  // Children of a process that ignores this signal leave no status behind (sigaction(2)).
  inherited.children_ignored = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
  getrlimit(RLIMIT_NOFILE, &inherited.files);
  rlimit most = inherited.files;
  most.rlim_cur = most.rlim_max;
  setrlimit(RLIMIT_NOFILE, &most);
  return inherited;
}

void end_descendants() {
  for (;;) {
    // What one of them leaves behind becomes our child, so this comes to an end.
    for (pid_t child : children_of_self())
      kill(child, SIGKILL);
    if (waitpid(-1, nullptr, __WALL) < 0 && errno == ECHILD) return;
  }
}

int guarded(const std::function<int(int)>& inside, const std::function<void()>& clean_up) {
  prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
  Fd guard_end, lifeline;
  if (int error = make_socket_pair(&guard_end, &lifeline)) return complain("socketpair", error);
  Fd signals = open_signals();
  if (!signals) return complain("signalfd", errno);
  pid_t worker = fork();
  if (worker < 0) return complain("fork", errno);
  if (worker == 0) {
    guard_end.reset();
    signals.reset();
    prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
    int code = inside(lifeline.get());
    std::fflush(nullptr);
    _exit(code);
  }
  lifeline.reset();
  for (;;) {
    pollfd fd{signals.get(), POLLIN, 0};
    if (poll(&fd, 1, -1) < 0 && errno != EINTR) return complain("poll", errno);
    pass_signals_on(signals.get(), worker);
    auto status = reap(worker);
    if (!status) continue;
    end_descendants();
    clean_up();
    if (WIFSIGNALED(*status))
      std::fprintf(stderr, "cxi_sim: ended by signal %d, and the program with it\n",
                   WTERMSIG(*status));
    return status_code(*status);
  }
}

int supervise(const std::vector<std::string>& program, const Inherited& inherited,
              const std::function<int(Fd)>& attach, const std::vector<Source>& sources) {
  Fd ours, theirs;
  if (int error = make_socket_pair(&ours, &theirs)) return complain("socketpair", error);
  Fd signals = open_signals();
  if (!signals) return complain("signalfd", errno);
  pid_t parent = getpid();
  pid_t child = fork();
  if (child < 0) return complain("fork", errno);
  if (child == 0) become_program(program, inherited, parent, theirs.get());
  theirs.reset();

  Fd listener;
  auto report = read_report(ours.get(), &listener);
  int failure = 0;
  if (!report)
    failure = complain("the program could not be started", ECHILD);
  else if (report->stage != Report::filtered)
    failure = complain_filter(report->error);
  else if (int error = attach(std::move(listener)))
    failure = complain("the program could not be attached", error);
  else if (int refused = send_packet(ours.get(), "go"))
    failure = complain("the program could not be started", refused);
  if (failure != 0) {
    end_descendants();
    return failure;
  }

  std::vector<pollfd> fds = {{signals.get(), POLLIN, 0}, {ours.get(), POLLIN, 0}};
  for (const auto& source : sources)
    fds.push_back({source.fd, POLLIN, 0});
  std::optional<int> status;
  bool go_on = true;
  while (go_on && !status) {
    if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) break;
    if (fds[1].revents != 0) {
      auto late = read_report(ours.get(), nullptr);
      if (late && late->stage == Report::not_executed)
        std::fprintf(stderr, "cxi_sim: %s: %s\n", program[0].c_str(), std::strerror(late->error));
      fds[1].fd = -1;  // the end of the stream: the program runs
      fds[1].revents = 0;
    }
    for (size_t i = 0; i < sources.size(); i++)
      if (fds[i + 2].revents != 0) go_on = sources[i].ready() && go_on;
    pass_signals_on(signals.get(), child);
    status = reap(child);
  }
  end_descendants();
  return status ? status_code(*status) : 128 + SIGKILL;
}

}  // namespace sim::host
