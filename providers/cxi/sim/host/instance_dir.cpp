// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/instance_dir.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace sim::host {
namespace {

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

bool own_private_folder(const struct stat& found) {
  return S_ISDIR(found.st_mode) && found.st_uid == geteuid() && (found.st_mode & 022) == 0;
}

Fd open_folder(const std::string& path) {
  return Fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Waits for others to let go: those who look whether an instance lives hold its lock for a moment.
bool lock(const Fd& folder) {
  while (flock(folder.get(), LOCK_EX) != 0)
    if (errno != EINTR) return false;
  return true;
}

bool same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Opens and locks the folder of all instances, making it if needed.
Fd lock_base(const std::string& base) {
  for (;;) {
    if (mkdir(base.c_str(), 0700) != 0 && errno != EEXIST) fail(errno, base);
    Fd folder = open_folder(base);
    if (!folder) {
      if (errno == ENOENT) continue;
      fail(errno, base);
    }
    struct stat found {};
    if (fstat(folder.get(), &found) != 0) fail(errno, base);
    if (!own_private_folder(found)) fail(EPERM, base + " belongs to somebody else");
    if (!lock(folder)) fail(errno, base);
    // The last instance may have removed it while we waited.
    if (fstat(folder.get(), &found) == 0 && found.st_nlink > 0) return folder;
  }
}

std::vector<std::string> names_in(const std::string& base) {
  std::vector<std::string> names;
  if (DIR* folder = opendir(base.c_str())) {
    while (dirent* entry = readdir(folder))
      if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    closedir(folder);
  }
  return names;
}

bool alive(const std::string& path) {
  Fd folder = open_folder(path);
  // Shared: several may look at once, and none takes the other for an instance.
  return folder && flock(folder.get(), LOCK_SH | LOCK_NB) != 0;
}

void remove_all(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace

std::string instances_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  struct stat found {};
  if (runtime != nullptr && runtime[0] == '/' && stat(runtime, &found) == 0 &&
      own_private_folder(found)) {
    // As the kernel calls it: what programs have opened below is known by its name.
    if (char* real = realpath(runtime, nullptr)) {
      std::string folder = std::string(real) + "/cxi_sim";
      std::free(real);
      return folder;
    }
  }
  // In memory if possible: on a disk the trees take most of the time of starting and ending.
  const bool memory = stat("/dev/shm", &found) == 0 && (found.st_mode & 01777) == 01777 &&
                      access("/dev/shm", W_OK | X_OK) == 0;
  return (memory ? "/dev/shm/cxi_sim-" : "/tmp/cxi_sim-") + std::to_string(geteuid());
}

std::string instance_socket(const std::string& name) {
  return instances_folder() + "/" + name + "/control";
}

std::vector<std::string> running_instances() {
  auto base = instances_folder();
  std::vector<std::string> running;
  for (const auto& name : names_in(base))
    if (alive(base + "/" + name)) running.push_back(name);
  return running;
}

InstanceDir::InstanceDir(const std::string& name)
    : base_(instances_folder()), name_(name), path_(base_ + "/" + name) {
  Fd base = lock_base(base_);
  for (const auto& other : names_in(base_))
    if (!alive(base_ + "/" + other)) remove_all(base_ + "/" + other);
  if (mkdir(path_.c_str(), 0700) != 0) {
    if (errno != EEXIST) fail(errno, path_);
    throw std::runtime_error("an instance " + name_ +
                             " is running; choose another name, or end it with cxi_sim down");
  }
  lock_ = open_folder(path_);
  if (!lock_ || !lock(lock_) || mkdir(mirror().c_str(), 0755) != 0) {
    int error = errno;
    remove_all(path_);
    fail(error, path_);
  }
}

void InstanceDir::remove() const {
  Fd base = open_folder(base_);
  if (!base) return;
  (void)lock(base);
  // The next instance of this name may be there already.
  struct stat ours {
  }, found{};
  if (fstat(lock_.get(), &ours) != 0 || ::lstat(path_.c_str(), &found) != 0 ||
      !same_file(ours, found))
    return;
  remove_all(path_);
  rmdir(base_.c_str());  // stays if there are others
}

}  // namespace sim::host
