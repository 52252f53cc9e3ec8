// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "identity.hpp"

#include <cap-ng.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>

#include "failure.hpp"
#include "refusal.hpp"
#include "terminal.hpp"

namespace launcher {
namespace {

std::optional<std::uint32_t> parse_id(const std::string& text) {
  std::uint32_t id = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, id);
  // The largest number stands for "no change" in the calls that set users and groups.
  if (error != std::errc{} || end != last || id == UINT32_MAX) return std::nullopt;
  return id;
}

/// Names come first: they may consist of digits.
const passwd* find_user(const std::optional<std::string>& user, std::optional<uid_t>& id) {
  if (!user) {
    id = getuid();
    return getpwuid(*id);
  }
  if (const passwd* found = getpwnam(user->c_str())) return found;
  id = parse_id(*user);
  if (!id) throw Refusal("--user: there is no user \"" + *user + "\"");
  return getpwuid(*id);
}

gid_t find_group(const std::string& group) {
  if (const ::group* found = getgrnam(group.c_str())) return found->gr_gid;
  if (const auto id = parse_id(group)) return *id;
  throw Refusal("--group: there is no group \"" + group + "\"");
}

std::vector<gid_t> groups_of(const char* user, gid_t group) {
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  while (getgrouplist(user, group, groups.data(), &count) < 0)
    groups.resize(static_cast<std::size_t>(count));
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

/// The library leaves it as it is, and says nothing, where CAP_SETPCAP is missing.
bool bounding_set_is_empty() {
  for (unsigned long capability = 0;; capability++) {
    const int there = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (there != 0) return there < 0;  // behind the last one that the kernel knows
  }
}

/// Whoever has the keyring of the caller's session has the caller's keys.
void leave_session_keyring() {
  if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) >= 0) return;
  // A kernel without keys, or a container that forbids them to the program as well.
  if (errno != ENOSYS && errno != EPERM) fail("leave the session keyring");
}

}  // namespace

Identity find_identity(const std::optional<std::string>& user,
                       const std::optional<std::string>& group) {
  std::optional<uid_t> id;
  const passwd* entry = find_user(user, id);
  if (!entry) {
    if (user && !group)
      throw Refusal("--user: nobody knows the groups of user " + *user + ": name one with --group");
    const gid_t gid = group ? find_group(*group) : getgid();
    return {*id, gid, {gid}};
  }
  const std::string name = entry->pw_name;
  const uid_t uid = entry->pw_uid;
  const gid_t gid = group ? find_group(*group) : entry->pw_gid;
  return {uid, gid, groups_of(name.c_str(), gid)};
}

void become(const Identity& identity) {
  // Until the program is executed this is still an image of the launcher's memory: not for other
  // processes of the user. Where the user stays the same, becoming him would not see to it.
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) fail("close the process to tracers");
  if (setgroups(identity.groups.size(), identity.groups.data()) != 0) fail("set the groups");
  // The bounding set first, while CAP_SETPCAP is there: it is what a program of root gains from.
  capng_clear(CAPNG_SELECT_ALL);
  if (capng_apply(CAPNG_SELECT_BOUNDS) != 0 || !bounding_set_is_empty()) {
    errno = EPERM;
    fail("drop the bounding set of capabilities");
  }
  if (setresgid(identity.gid, identity.gid, identity.gid) != 0) fail("set the group");
  if (setresuid(identity.uid, identity.uid, identity.uid) != 0) fail("set the user");
  if (capng_apply(CAPNG_SELECT_CAPS) != 0) fail("drop capabilities");
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
    fail("drop ambient capabilities");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("forbid new privileges");
  leave_session_keyring();
  forbid_terminal_input();
}

}  // namespace launcher
