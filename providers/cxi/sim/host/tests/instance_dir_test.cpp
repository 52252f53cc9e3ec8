// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The folders of instances.
#include "host/instance_dir.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <thread>

#include "host/tests/run.hpp"

namespace sim::host::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Folders : public testing::Test {
 protected:
  Folders() { setenv("XDG_RUNTIME_DIR", place.path().c_str(), 1); }
  ~Folders() override { unsetenv("XDG_RUNTIME_DIR"); }

  Place place;
};

TEST_F(Folders, AreRemovedByTheirOwnInstanceOnly) {
  InstanceDir first("a");
  first.remove();
  InstanceDir next("a");
  first.remove();
  EXPECT_EQ(access(next.mirror().c_str(), F_OK), 0);
  EXPECT_THAT(running_instances(), ElementsAre("a"));
  next.remove();
  next.remove();
  EXPECT_THAT(place.leftovers(), IsEmpty());
}

// Several processes of an instance remove its folder, the last instance that of all.
TEST_F(Folders, ComeAndGoBesideEachOther) {
  std::atomic<unsigned> failed = 0;
  const auto come_and_go = [&](const std::string& name) {
    for (unsigned i = 0; i < 300; i++) {
      try {
        const InstanceDir dir(name);
        std::thread other([&] { dir.remove(); });
        dir.remove();
        other.join();
      } catch (const std::exception&) {
        failed++;
      }
    }
  };
  std::thread first(come_and_go, "a"), second(come_and_go, "b");
  first.join();
  second.join();
  EXPECT_EQ(failed, 0u);
  EXPECT_THAT(place.leftovers(), IsEmpty());
}

TEST_F(Folders, AreNotTakenForLiveOnesBecauseSomebodyLooks) {
  { InstanceDir alive("a"); }
  Fd looking(open((instances_folder() + "/a").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(flock(looking.get(), LOCK_SH | LOCK_NB), 0);
  EXPECT_THAT(running_instances(), IsEmpty());
  InstanceDir("b").remove();  // removes the dead one, too
  EXPECT_EQ(access((instances_folder() + "/a").c_str(), F_OK), -1);
}

TEST_F(Folders, AreInMemoryWhereNothingElseIsSaid) {
  if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "this machine has no such place";
  unsetenv("XDG_RUNTIME_DIR");
  EXPECT_EQ(instances_folder(), "/dev/shm/cxi_sim-" + std::to_string(geteuid()));
}

TEST_F(Folders, AreCalledAsTheKernelCallsThem) {
  auto link = place.path() + "/link";
  ASSERT_EQ(mkdir((place.path() + "/real").c_str(), 0700), 0);
  ASSERT_EQ(symlink("real", link.c_str()), 0);
  for (const auto& name : {link, link + "/", place.path() + "//real"}) {
    setenv("XDG_RUNTIME_DIR", name.c_str(), 1);
    EXPECT_EQ(instances_folder(), place.path() + "/real/cxi_sim");
  }
}

}  // namespace
}  // namespace sim::host::tests
