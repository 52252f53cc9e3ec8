// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What a program sees and does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/openat2.h>
#include <unistd.h>

#include <sstream>

#include "host/tests/run.hpp"

namespace sim::host::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string out(const std::vector<std::string>& words) {
  return run_probe(words).out;
}

std::string shell(const std::string& script) {
  Place place;
  auto finished = run(place, {cxi_sim(), "run", "--", "sh", "-c", script});
  EXPECT_THAT(place.leftovers(), IsEmpty());
  return finished.out;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  while (times-- > 0)
    all += text;
  return all;
}

constexpr int o_wronly = 01, o_rdwr = 02, o_creat = 0100, o_excl = 0200, o_nofollow = 0400000;

std::string open_with(const std::string& path, int flags) {
  return out({"open", path, std::to_string(flags)});
}

TEST(DeviceNode, IsACharacterDeviceHoweverItIsLookedAt) {
  EXPECT_EQ(out({"stat-device"}), repeated("20666 231:192\n", 7));
  EXPECT_EQ(out({"stat", "/dev/infiniband/uverbs1"}), "20666 231:193\n");
  EXPECT_EQ(out({"stat", "/dev/char/231:193"}), "20666 231:193\n");
}

TEST(DeviceNode, IsOneForAStaticProgramToo) {
  Place place;
  EXPECT_EQ(run(place, {cxi_sim(), "run", "--", static_probe(), "stat-device"}).out,
            repeated("20666 231:192\n", 7));
}

TEST(DeviceNode, IsOpenedByAllItsNames) {
  EXPECT_EQ(open_with("/dev/infiniband/uverbs0", o_rdwr), "ok\n");
  EXPECT_EQ(open_with("/dev/char/231:192", o_rdwr), "ok\n");
  EXPECT_EQ(open_with("/dev/../dev//infiniband/./uverbs0", o_rdwr), "ok\n");
  EXPECT_EQ(open_with("/dev/infiniband/uverbs9", o_rdwr), "ENOENT\n");
  EXPECT_EQ(shell("cd /dev && " + probe() + " open infiniband/uverbs0 2"), "ok\n");
  EXPECT_EQ(shell("cd / && " + probe() + " open dev/infiniband/uverbs0 2"), "ok\n");
}

TEST(DeviceNode, HasTheRightsOfOne) {
  EXPECT_EQ(out({"access", "/dev/infiniband/uverbs0", std::to_string(R_OK | W_OK)}), "ok\n");
  EXPECT_EQ(out({"access", "/dev/infiniband/uverbs0", std::to_string(X_OK)}), "EACCES\n");
  EXPECT_EQ(out({"access", "/dev/infiniband/uverbs9", "0"}), "ENOENT\n");
  EXPECT_EQ(open_with("/dev/infiniband/uverbs0", o_creat | o_excl), "EEXIST\n");
}

TEST(Trees, AreListed) {
  EXPECT_EQ(out({"list", "/dev/infiniband"}), "uverbs0 uverbs1 \n");
  EXPECT_EQ(out({"list", "/sys/class/infiniband"}), "cxi0 cxi1 \n");
  EXPECT_EQ(out({"list", "/sys/class/infiniband_verbs"}), "abi_version uverbs0 uverbs1 \n");
  EXPECT_EQ(out({"list", "/sys/class/infiniband/cxi0/"}), "device node_type ports \n");
}

TEST(Trees, AreReadThroughLinksAndFolders) {
  EXPECT_EQ(out({"cat", "/sys/class/infiniband/cxi0/node_type"}), "1: CA\n");
  EXPECT_EQ(out({"cat", "/sys/class/infiniband/cxi1/device/vendor"}), "0x17db\n");
  EXPECT_EQ(out({"cat", "cxi0/node_type", "/sys/class/infiniband"}), "1: CA\n");
  EXPECT_EQ(out({"cat", "../../../devices/double/0/vendor", "/sys/class/infiniband/cxi0"}),
            "ENOENT\n");  // ".." of a folder that was reached through a link
  EXPECT_EQ(out({"cat", "device/vendor", "/sys/class/infiniband/cxi0"}), "0x17db\n");
  EXPECT_EQ(out({"cat", "/sys/class/infiniband/mlx5_0/node_type"}), "ENOENT\n");
}

TEST(Trees, LeadBackToTheHost) {
  EXPECT_EQ(out({"cat", "../../../etc/hostname", "/sys/class/infiniband"}),
            out({"cat", "/etc/hostname"}));
  EXPECT_EQ(out({"cat", "/dev/infiniband/../../etc/hostname"}), out({"cat", "/etc/hostname"}));
  EXPECT_EQ(shell("cd /dev && " + probe() + " cat infiniband/../../etc/hostname"),
            out({"cat", "/etc/hostname"}));
}

TEST(Trees, LeadNobodyToWhatHeHasGivenUp) {
  struct Way {
    const char* name;
    bool for_root;
  };
  for (auto [name, for_root] : {Way{"uid", true}, Way{"root", true}, Way{"namespace", false}}) {
    if (for_root && geteuid() != 0) continue;
    auto seen = out({"confined", name});
    if (!for_root && seen == "EPERM\n") continue;  // some systems grant no namespaces
    EXPECT_EQ(seen, "EACCES EACCES EACCES\nok\n") << name;
  }
  EXPECT_EQ(access("/tmp/cxi_sim_confined", F_OK), -1);
}

TEST(Trees, RefuseUnknownFlags) {
  EXPECT_EQ(out({"unknown-flags"}), "EINVAL EINVAL EINVAL \n");
}

TEST(Trees, HaveLinks) {
  EXPECT_EQ(out({"link", "/sys/class/infiniband/cxi0"}),
            "../../devices/double/0/infiniband/cxi0\n");
  EXPECT_EQ(out({"link", "/sys/class/infiniband"}), "EINVAL\n");
  EXPECT_EQ(out({"real", "/sys/class/infiniband/cxi0/device"}), "/sys/devices/double/0\n");
  EXPECT_EQ(open_with("/sys/class/infiniband/cxi0", o_nofollow), "ELOOP\n");
}

TEST(Trees, KeepAProgramWithinWhatItAskedFor) {
  auto open_within = [](const std::string& folder, const std::string& path, int resolve) {
    return out({"open-within", folder, path, std::to_string(resolve)});
  };
  const std::string sys = "/sys/class/infiniband";
  EXPECT_EQ(open_within(sys, "cxi0/node_type", 0), "ok\n");
  EXPECT_EQ(open_within(sys, "cxi0/node_type", RESOLVE_NO_SYMLINKS), "ELOOP\n");
  EXPECT_EQ(open_within(sys, "cxi0/node_type", RESOLVE_BENEATH), "EXDEV\n");  // through a link
  EXPECT_EQ(open_within(sys, sys + "/cxi0/node_type", RESOLVE_BENEATH), "EXDEV\n");
  EXPECT_EQ(open_within("/dev/infiniband", "uverbs0", RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS),
            "ok\n");
  EXPECT_EQ(open_within("/dev/infiniband", "/uverbs0", RESOLVE_IN_ROOT), "ok\n");
  EXPECT_EQ(open_within("/dev/infiniband", "/dev/infiniband/uverbs0", RESOLVE_IN_ROOT), "ENOENT\n");
}

TEST(Trees, AreNotWrittenTo) {
  EXPECT_EQ(open_with("/sys/class/infiniband/cxi0/node_type", o_wronly), "EACCES\n");
  EXPECT_EQ(open_with("/sys/class/infiniband/new", o_wronly | o_creat), "EACCES\n");
  EXPECT_EQ(open_with("/sys/class/infiniband", o_wronly), "EISDIR\n");
}

TEST(Trees, LeaveAListingProgramNothingToComplainAbout) {
  Place place;
  auto finished = run(place, {cxi_sim(), "run", "--", "ls", "-lR", "/dev/infiniband",
                              "/sys/class/infiniband", "/sys/class/infiniband_verbs"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, HasSubstr("crw-rw-rw- "));
}

TEST(OtherFiles, AreTheHosts) {
  EXPECT_EQ(out({"many", "850"}), "850\n");
  EXPECT_EQ(shell("cat /proc/self/comm; ls -d /usr"), "cat\n/usr\n");
  EXPECT_EQ(open_with("/dev/null", o_rdwr), "ok\n");
}

TEST(NetlinkRdma, IsNotThere) {
  EXPECT_EQ(out({"socket"}), "EPROTONOSUPPORT\n");
}

TEST(Ioctl, ReachesTheKernel) {
  EXPECT_EQ(out({"count", "5"}), "5\n");
  EXPECT_EQ(out({"fail", "11"}), "EAGAIN\n");
  EXPECT_EQ(out({"fail", "5"}), "EIO\n");
  EXPECT_EQ(out({"other-ioctl"}), "ENOTTY\n");
}

TEST(Ioctl, RunsOnceUnderSignals) {
  EXPECT_EQ(out({"timer", "50"}), "50\n");
}

TEST(Ioctl, FindsTheFileOfAnyDescriptor) {
  EXPECT_EQ(out({"descriptors"}), "2 3 4 1 0\n");
}

TEST(Ioctl, ComesFromManyThreads) {
  EXPECT_EQ(out({"threads", "16"}), "16\n");
}

TEST(Ioctl, KnowsItsCaller) {
  EXPECT_EQ(out({"who"}), "1 1\n");
  if (geteuid() == 0) {
    EXPECT_EQ(shell("setpriv --reuid 12345 --clear-groups " + probe() + " who"), "1 1\n");
  }
}

TEST(Ioctl, InstallsDescriptors) {
  EXPECT_EQ(out({"install"}), "4711 1\n");
}

TEST(Mapping, SharesPagesWithTheKernelAndCannotBeTruncated) {
  EXPECT_EQ(out({"map"}), "EPERM\n");
}

TEST(Memory, IsReadAndWritten) {
  EXPECT_EQ(out({"memory"}), "fedcba small large\n");
}

TEST(Memory, StaysWithinReachOfAProgramThatGaveUpItsRights) {
  EXPECT_EQ(out({"memory", "undumpable"}), "fedcba small large\n");
  if (geteuid() == 0) {
    EXPECT_EQ(out({"memory", "other-uid"}), "fedcba small large\n");
  }
}

TEST(Memory, OfAnOldProgramIsNotThatOfTheNext) {
  EXPECT_EQ(out({"exec", probe()}), "untouched filled\n");
  EXPECT_EQ(out({"failed-exec"}), "filled\n");
}

TEST(Memory, IsThatOfAProgramWhoseFirstThreadHasEnded) {
  EXPECT_EQ(out({"without-first-thread"}),
            "fedcba small large\nok ok EFAULT EFAULT ok EINVAL EINVAL \n");
}

TEST(Memory, OfACallMustBeReadable) {
  EXPECT_EQ(out({"unreadable"}), "ok EFAULT EFAULT EFAULT \n");
}

TEST(Memory, IsCheckedForRights) {
  EXPECT_EQ(out({"check-range"}), "ok ok EFAULT EFAULT ok EINVAL EINVAL \n");
}

TEST(Release, ComesWithTheEndOfAProgram) {
  EXPECT_EQ(shell(probe() + " count 1; " + probe() + " count 1; " + probe() + " await 1 2"),
            "1\n1\nok\n");
}

TEST(Release, ComesAfterAKillToo) {
  // One holds the descriptor, one only a mapping.
  EXPECT_THAT(shell(probe() + " hold > $XDG_RUNTIME_DIR/a & A=$!; " + probe() +
                    " hold x > $XDG_RUNTIME_DIR/b & B=$!; "
                    "until grep -q ready $XDG_RUNTIME_DIR/a && grep -q ready $XDG_RUNTIME_DIR/b; "
                    "do sleep 0.02; done; rm $XDG_RUNTIME_DIR/a $XDG_RUNTIME_DIR/b; " +
                    probe() + " await 3 0; kill -9 $A $B; " + probe() + " await 1 3"),
              HasSubstr("ok\nok\n"));
}

TEST(Release, WaitsForTheLastCopy) {
  // The child of a shell that opened the device keeps it when the shell closes it.
  EXPECT_EQ(shell("exec 9<>/dev/infiniband/uverbs0; sleep 1000 & exec 9>&-; " + probe() +
                  " await 2 0; kill $!; " + probe() + " await 1 2"),
            "ok\nok\n");
}

}  // namespace
}  // namespace sim::host::tests
