// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "child.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <iterator>
#include <stdexcept>

#include "failure.hpp"
#include "message.hpp"

namespace launcher {
namespace {

// Faults of our own, and what stops us in the background of the terminal as it does the program.
constexpr int not_held[] = {SIGABRT, SIGBUS,  SIGFPE,  SIGILL, SIGSEGV,
                            SIGSYS,  SIGTRAP, SIGTTIN, SIGTTOU};

constexpr int of_the_terminal[] = {SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

struct Pipe {
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) fail("make a pipe");
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(ends[0]);
    close_writer();
  }
  void close_writer() {
    if (ends[1] >= 0) close(ends[1]);
    ends[1] = -1;
  }
  int ends[2];
};

/// In the new process. What keeps the program from being run goes into the pipe, which the program
/// itself closes.
[[noreturn]] void be_program(const std::vector<std::string>& program, const HeldSignals& signals,
                             const std::function<void()>& prepare, int complaints) {
  const auto complain = [complaints](const std::string& text, int status) {
    (void)!write(complaints, text.data(), text.size());
    _exit(status);
  };
  try {
    prepare();
    std::vector<char*> argv;
    for (const std::string& word : program)
      argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    if (sigprocmask(SIG_SETMASK, &signals.before(), nullptr) != 0) fail("set the signal mask");
    execvp(argv[0], argv.data());
    const int error = errno;
    complain(program[0] + " cannot be run: " + std::strerror(error),
             error == ENOENT ? exit_not_found : exit_not_executable);
  } catch (const std::exception& error) {
    complain(error.what(), exit_own_failure);
  }
  _exit(exit_own_failure);
}

std::string read_all(int fd) {
  std::string text;
  char some[256];
  for (;;) {
    const ssize_t count = read(fd, some, sizeof(some));
    if (count > 0) text.append(some, static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

/// A signal of the terminal has reached the program too, unless it has left our process group.
bool came_to_both(const siginfo_t& info, pid_t child) {
  return info.si_code == SI_KERNEL &&
         std::ranges::find(of_the_terminal, info.si_signo) != std::end(of_the_terminal) &&
         getpgid(child) == getpgrp();
}

/// Stops us as the signal would have, had it not been held.
void stop() {
  struct sigaction action = {};
  sigaction(SIGTSTP, nullptr, &action);
  sigset_t pending;
  sigpending(&pending);
  // To stop would discard what is to continue us.
  if (action.sa_handler != SIG_IGN && !sigismember(&pending, SIGCONT)) raise(SIGSTOP);
}

void pass_on(const siginfo_t& info, pid_t child) {
  if (info.si_code <= 0 && info.si_pid == child) return;  // it knows
  if (!came_to_both(info, child)) kill(child, info.si_signo);
  if (info.si_signo == SIGTSTP) stop();
}

int wait_for(pid_t child, const HeldSignals& signals) {
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended < 0 && errno != EINTR) fail("wait for the program");
    siginfo_t info = {};
    if (sigwaitinfo(&signals.held(), &info) > 0 && info.si_signo != SIGCHLD) pass_on(info, child);
  }
}

}  // namespace

HeldSignals::HeldSignals() {
  sigfillset(&held_);
  for (const int number : not_held)
    sigdelset(&held_, number);
  // Where our parent ignores it the program would be gone before its status is read.
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &held_, &before_);
}

HeldSignals::~HeldSignals() {
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int run_program(const std::vector<std::string>& program, const HeldSignals& signals,
                const std::function<void()>& prepare) {
  Pipe complaints;
  const pid_t child = fork();
  if (child < 0) fail("start a process");
  if (child == 0) be_program(program, signals, prepare, complaints.ends[1]);
  complaints.close_writer();
  const std::string complaint = read_all(complaints.ends[0]);
  const int status = wait_for(child, signals);
  if (complaint.empty()) return status;
  if (status == exit_own_failure) throw std::runtime_error(complaint);
  say(complaint);
  return status;
}

}  // namespace launcher
