// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/procfs.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>

#include <array>
#include <charconv>
#include <climits>
#include <cstdlib>

#include "host/fd.hpp"

namespace sim::host {
namespace {

std::string of_task(pid_t task, std::string_view name) {
  return "/proc/" + std::to_string(task) + "/" + std::string(name);
}

// The rest of the line of `text` that begins with `key`, without blanks in front.
std::optional<std::string_view> line_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    while (!line.empty() && (line[0] == ' ' || line[0] == '\t'))
      line.remove_prefix(1);
    return line;
  }
  return std::nullopt;
}

template <class T>
std::vector<T> numbers(std::string_view line, int base = 10) {
  std::vector<T> all;
  while (!line.empty()) {
    T value{};
    auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, base);
    if (error == std::errc()) all.push_back(value);
    size_t used = std::max<size_t>(1, static_cast<size_t>(end - line.data()));
    line.remove_prefix(std::min(used, line.size()));
  }
  return all;
}

// Whether a link in a task's folder leads where ours leads.
bool same_link(pid_t task, const std::string& name) {
  struct stat theirs {
  }, ours{};
  return stat(of_task(task, name).c_str(), &theirs) == 0 &&
         stat(("/proc/self/" + name).c_str(), &ours) == 0 && theirs.st_ino == ours.st_ino &&
         theirs.st_dev == ours.st_dev;
}

}  // namespace

std::string read_text(const std::string& path) {
  Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!file) return text;
  char part[4096];
  for (ssize_t n; (n = read(file.get(), part, sizeof(part))) > 0;)
    text.append(part, static_cast<size_t>(n));
  return text;
}

std::optional<std::string> read_link(const std::string& path) {
  char target[PATH_MAX];
  ssize_t n = readlink(path.c_str(), target, sizeof(target));
  if (n < 0) return std::nullopt;
  return std::string(target, static_cast<size_t>(n));
}

std::optional<pid_t> thread_group_of(pid_t task) {
  auto status = read_text(of_task(task, "status"));
  auto line = line_of(status, "Tgid:");
  if (!line) return std::nullopt;
  auto found = numbers<pid_t>(*line);
  if (found.empty() || found[0] == 0) return std::nullopt;
  return found[0];
}

std::optional<uint64_t> start_time_of(pid_t pid) {
  auto text = read_text(of_task(pid, "stat"));
  auto name_end = text.rfind(')');  // the name may hold anything, blanks and brackets too
  if (name_end == std::string::npos) return std::nullopt;
  size_t at = name_end;
  for (int field = 2; field < 22; field++) {
    at = text.find(' ', at);
    if (at == std::string::npos) return std::nullopt;
    at++;
  }
  return std::strtoull(text.c_str() + at, nullptr, 10);
}

std::vector<pid_t> children_of_self() {
  std::vector<pid_t> all;
  bool listed = false;
  if (DIR* tasks = opendir("/proc/self/task")) {
    while (dirent* entry = readdir(tasks)) {
      if (entry->d_name[0] == '.') continue;
      auto path = std::string("/proc/self/task/") + entry->d_name + "/children";
      if (access(path.c_str(), R_OK) != 0) continue;
      listed = true;
      auto some = numbers<pid_t>(read_text(path));
      all.insert(all.end(), some.begin(), some.end());
    }
    closedir(tasks);
  }
  if (listed) return all;
  if (DIR* proc = opendir("/proc")) {  // a kernel without lists of children
    while (dirent* entry = readdir(proc)) {
      auto pid = static_cast<pid_t>(std::atoi(entry->d_name));
      if (pid <= 0) continue;
      auto status = read_text(of_task(pid, "status"));
      auto parent = line_of(status, "PPid:");
      if (parent && numbers<pid_t>(*parent) == std::vector<pid_t>{getpid()}) all.push_back(pid);
    }
    closedir(proc);
  }
  return all;
}

bool same_files_as_self(pid_t task) {
  for (const char* link : {"root", "ns/mnt", "ns/user"})
    if (!same_link(task, link)) return false;
  auto theirs = read_text(of_task(task, "status")), ours = read_text("/proc/self/status");
  for (const char* key : {"Uid:", "Gid:", "Groups:", "CapEff:"}) {
    auto line = line_of(theirs, key);
    if (!line || line != line_of(ours, key)) return false;
  }
  return true;
}

std::optional<uverbs::Credentials> parse_credentials(std::string_view status) {
  auto uid = line_of(status, "Uid:"), gid = line_of(status, "Gid:");
  auto groups = line_of(status, "Groups:"), caps = line_of(status, "CapEff:");
  if (!uid || !gid || !groups || !caps) return std::nullopt;
  auto uids = numbers<uid_t>(*uid);
  auto gids = numbers<gid_t>(*gid);
  auto bits = numbers<uint64_t>(*caps, 16);
  if (uids.size() < 2 || gids.size() < 2 || bits.empty()) return std::nullopt;
  uverbs::Credentials found;
  found.uid = uids[0];
  found.euid = uids[1];
  found.gid = gids[0];
  found.egid = gids[1];
  found.groups = numbers<gid_t>(*groups);
  auto has = [&](unsigned capability) { return (bits[0] >> capability & 1) != 0; };
  found.cap_sys_admin = has(CAP_SYS_ADMIN);
  found.cap_net_raw = has(CAP_NET_RAW);
  found.cap_net_admin = has(CAP_NET_ADMIN);
  return found;
}

std::optional<uverbs::Credentials> credentials_of(pid_t task) {
  auto found = parse_credentials(read_text(of_task(task, "status")));
  if (found && (found->cap_sys_admin || found->cap_net_raw || found->cap_net_admin) &&
      !same_link(task, "ns/user"))
    found->cap_sys_admin = found->cap_net_raw = found->cap_net_admin = false;
  return found;
}

}  // namespace sim::host
