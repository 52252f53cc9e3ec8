// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/tests/run.hpp"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace sim::host::tests {
namespace {

std::string read_all(int fd) {
  std::string text;
  char part[4096];
  off_t at = 0;
  for (ssize_t n; (n = pread(fd, part, sizeof(part), at)) > 0; at += n)
    text.append(part, static_cast<size_t>(n));
  return text;
}

}  // namespace

Place::Place() {
  char path[] = "/tmp/host_test.XXXXXX";
  if (mkdtemp(path) == nullptr) throw std::system_error(errno, std::generic_category(), path);
  path_ = path;
}

Place::~Place() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> Place::leftovers() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
    names.push_back(entry.path());
  return names;
}

Running::Running(const Place& place, const std::vector<std::string>& command, uid_t uid) {
  int ends[2];
  err_ = memfd_create("stderr", MFD_CLOEXEC);
  if (pipe2(ends, O_CLOEXEC) != 0 || err_ < 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  out_ = ends[0];
  pid_ = fork();
  if (pid_ == 0) {
    dup2(ends[1], 1);
    dup2(err_, 2);
    setenv("XDG_RUNTIME_DIR", place.path().c_str(), 1);
    unsetenv("CXI_SIM_NAME");
    if (uid != 0 && (chown(place.path().c_str(), uid, uid) != 0 || setgroups(0, nullptr) != 0 ||
                     setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0))
      _exit(99);
    std::vector<char*> argv;
    for (const auto& word : command)
      argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(98);
  }
  close(ends[1]);
}

Running::~Running() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(out_);
  close(err_);
}

bool Running::wait_for(const std::string& text) {
  char part[4096];
  while (text_.find(text) == std::string::npos) {
    ssize_t n = read(out_, part, sizeof(part));
    if (n <= 0) return false;
    text_.append(part, static_cast<size_t>(n));
  }
  return true;
}

Finished Running::finish() {
  Finished finished;
  char part[4096];
  for (ssize_t n; (n = read(out_, part, sizeof(part))) > 0;)
    text_.append(part, static_cast<size_t>(n));
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  finished.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  finished.out = text_;
  finished.err = read_all(err_);
  return finished;
}

std::string cxi_sim() {
  return CXI_SIM_TESTS_DIR "/cxi_sim_on_double";
}
std::string probe() {
  return CXI_SIM_TESTS_DIR "/cxi_sim_probe";
}
std::string static_probe() {
  return CXI_SIM_TESTS_DIR "/cxi_sim_probe_static";
}

Finished run(const Place& place, const std::vector<std::string>& command, uid_t uid) {
  return Running(place, command, uid).finish();
}

Finished run_probe(const std::vector<std::string>& words) {
  Place place;
  std::vector<std::string> command = {cxi_sim(), "run", "--", probe()};
  command.insert(command.end(), words.begin(), words.end());
  return run(place, command);
}

}  // namespace sim::host::tests
