// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/procfs.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

namespace sim::host {
namespace {

constexpr const char* status =
    "Name:\tUid: 7\nUmask:\t0022\nTgid:\t12\n"
    "Uid:\t1000\t1001\t1002\t1003\nGid:\t100\t101\t102\t103\n"
    "Groups:\t4 24 100 \nCapEff:\t0000000000201000\n";

TEST(Credentials, AreReadFromStatus) {
  auto found = parse_credentials(status);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->uid, 1000u);
  EXPECT_EQ(found->euid, 1001u);
  EXPECT_EQ(found->gid, 100u);
  EXPECT_EQ(found->egid, 101u);
  EXPECT_EQ(found->groups, (std::vector<gid_t>{4, 24, 100}));
  EXPECT_TRUE(found->cap_sys_admin);
  EXPECT_FALSE(found->cap_net_raw);
  EXPECT_TRUE(found->cap_net_admin);
}

TEST(Credentials, AreNotInvented) {
  EXPECT_FALSE(parse_credentials(""));
  EXPECT_FALSE(parse_credentials("Uid:\t1\t1\t1\t1\n"));
}

TEST(Credentials, OfThisProcess) {
  auto found = credentials_of(getpid());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->euid, geteuid());
}

TEST(Tasks, HaveAGroupAndAStart) {
  EXPECT_EQ(thread_group_of(getpid()), getpid());
  EXPECT_TRUE(start_time_of(getpid()));
  EXPECT_FALSE(start_time_of(-1));
  EXPECT_FALSE(thread_group_of(-1));
}

TEST(Tasks, ListTheirChildren) {
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  auto children = children_of_self();
  EXPECT_EQ(std::ranges::count(children, child), 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  children = children_of_self();
  EXPECT_EQ(std::ranges::count(children, child), 0);
}

}  // namespace
}  // namespace sim::host
