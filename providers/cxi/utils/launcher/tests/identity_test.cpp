// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "identity.hpp"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/keyctl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

namespace launcher {
namespace {

/// Whether that is so in a process that has become the user it already was.
bool holds(const std::function<bool()>& claim) {
  const pid_t child = fork();
  if (child == 0) {
    become({getuid(), getgid(), {getgid()}});
    _exit(claim() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status == 0;
}

class Identities : public testing::Test {
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can set groups";
  }
};

TEST_F(Identities, AreClosedToTracersUntilTheProgramIsExecuted) {
  EXPECT_TRUE(holds([] { return prctl(PR_GET_DUMPABLE) == 0; }));
}

TEST_F(Identities, CannotGainPrivileges) {
  EXPECT_TRUE(holds([] { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1; }));
  EXPECT_TRUE(holds([] { return setgroups(0, nullptr) != 0 && errno == EPERM; }));
}

TEST_F(Identities, HaveASessionKeyringOfTheirOwn) {
  const auto keyring = [] {
    return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
  };
  const long before = keyring();
  if (before < 0) GTEST_SKIP() << "no keyrings here";
  EXPECT_TRUE(holds([&] { return keyring() > 0 && keyring() != before; }));
}

TEST_F(Identities, CannotTypeIntoTheirTerminal) {
  // A kernel that has no such calls at all says EIO; for what is no terminal, ENOTTY.
  EXPECT_TRUE(holds([] {
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) return false;
    setsid();
    const int terminal = open(ptsname(master), O_RDWR);
    const char letter = 'x', paste[] = {3};
    return terminal >= 0 && ioctl(terminal, TIOCSCTTY, 0) == 0 &&
           ioctl(terminal, TIOCSTI, &letter) != 0 && errno == EPERM &&
           ioctl(terminal, TIOCLINUX, paste) != 0 && errno == EPERM;
  }));
}

}  // namespace
}  // namespace launcher
