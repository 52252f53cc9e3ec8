// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Who runs the program.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace launcher {

struct Identity {
  uid_t uid;
  gid_t gid;
  std::vector<gid_t> groups;  // supplementary ones
};

/// Names or numbers; without a user, the caller. A user who is known brings the groups of the group
/// database. Throws Refusal for a name that is not known, and for a number of an unknown user
/// without a group.
Identity find_identity(const std::optional<std::string>& user,
                       const std::optional<std::string>& group);

/// Becomes that user for good: groups and users are set, every capability goes, also those that a
/// set-uid program or a program of root could gain again, and so do the keys of the caller's
/// session and the way to type into the caller's terminal. Throws std::system_error.
void become(const Identity& identity);

}  // namespace launcher
