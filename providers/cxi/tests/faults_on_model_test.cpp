// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Every call that makes something, while memory is short, while the kernel has none, and while the
// device goes: whichever step of it fails, the call says so, and nothing stays behind.
#include "faults_on_model.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>

namespace on_model {

namespace {

/// What the default service has given away.
struct Usage {
  std::array<std::uint32_t, CXIDV_RSRC_COUNT> in_use = {};
  bool no_more_than(const Usage& other) const {
    return std::ranges::equal(in_use, other.in_use, std::less_equal());
  }
};

using faults::Fault;
using faults::Holdings;
using faults::holdings;
using faults::Source;

constexpr unsigned most_steps = 200;

class Faults : public testing::TestWithParam<Call> {
 protected:
  // What a process makes once is there before anything is counted.
  static void SetUpTestSuite() {
    World world;
    for (const auto& calls : {verbs_calls(), native_calls(), bridge_calls()})
      for (const Call& call : calls) {
        ASSERT_EQ(call.make(world), 0) << call.name;
        if (call.undo) {
          ASSERT_EQ(call.undo(world), 0) << call.name;
        }
        world.made_one = nullptr;
      }
    usage_of(world);
  }
  static Usage usage_of(const World& world) {
    cxidv_svc_attr attr = {};
    EXPECT_EQ(cxidv_query_svc(world.context.get(), 1, &attr, sizeof attr), 0);
    Usage usage;
    for (unsigned i = 0; i < CXIDV_RSRC_COUNT; i++)
      usage.in_use[i] = attr.limits[i].in_use;
    return usage;
  }

  void SetUp() override {
    faults::count_questions(std::string_view(call.name).starts_with("query_port"));
    at_start = holdings();
  }
  void TearDown() override {
    if (HasFailure()) return;
    const Holdings now = holdings();
    EXPECT_EQ(now.allocations, at_start.allocations);
    EXPECT_EQ(now.mapped_bytes, at_start.mapped_bytes);
    EXPECT_EQ(now.descriptors, at_start.descriptors);
  }
  static void expect_same(const Holdings& before, const Holdings& after, unsigned n) {
    EXPECT_EQ(after.allocations, before.allocations) << "step " << n;
    EXPECT_EQ(after.mapped_bytes, before.mapped_bytes) << "step " << n;
    EXPECT_EQ(after.descriptors, before.descriptors) << "step " << n;
  }

  /// Lets one step after the other fail until none is left. Returns how many there were.
  unsigned fail_each(World& world, Source source, bool exact) {
    for (unsigned n = 1; n < most_steps; n++) {
      const Usage used = usage_of(world);
      const Holdings before = holdings();
      Fault fault(source, n, ENOMEM);
      const int err = call.make(world);
      const bool struck = fault.end();
      const Holdings after = holdings();
      if (!struck) {
        EXPECT_EQ(err, 0);
        return n - 1;
      }
      if (err == 0 && insists(source)) {
        EXPECT_EQ(undo(world), 0) << "step " << n;
        continue;
      }
      EXPECT_EQ(err, ENOMEM) << "step " << n;
      if (HasFailure()) return n;
      if (exact) {
        expect_same(before, after, n);
        // What was closed before may have been in use a moment longer.
        EXPECT_TRUE(eventually([&] { return usage_of(world).no_more_than(used); })) << "step " << n;
      }
    }
    ADD_FAILURE() << "no end";
    return most_steps;
  }
  bool insists(Source source) const { return call.insists && source == Source::kernel; }
  int undo(World& world) { return call.undo ? call.undo(world) : 0; }

  const Call& call = GetParam();
  Holdings at_start = {};
};

TEST_P(Faults, OfMemory) {
  World world;
  // What the context or a domain keeps for later calls is made in the first round.
  const unsigned steps = fail_each(world, Source::memory, false);
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(steps > 0, call.allocates);
  for (bool exact : {false, true}) {
    Fault fault(Source::memory, 1, ENOMEM, true);
    const int err = undo(world);
    EXPECT_FALSE(fault.end());
    ASSERT_EQ(err, 0);
    if (exact) return;
    fail_each(world, Source::memory, true);
    ASSERT_FALSE(HasFailure());
  }
}

TEST_P(Faults, OfTheKernel) {
  World world;
  EXPECT_EQ(fail_each(world, Source::kernel, false) > 0, call.commands);
  ASSERT_FALSE(HasFailure());
  ASSERT_EQ(undo(world), 0);
  fail_each(world, Source::kernel, true);
  ASSERT_FALSE(HasFailure());
  ASSERT_EQ(undo(world), 0);
}

// What the manual calls the refusals of device, service and kernel.
TEST_P(Faults, OfTheKernelKeepTheirNames) {
  World world;
  for (const int error : {E2BIG, EACCES, EBADF, EBADR, EBUSY, EEXIST, EFAULT, EINVAL, EKEYREVOKED,
                          EMFILE, ENFILE, ENETUNREACH, ENOENT, ENOSPC, EOPNOTSUPP, EPERM}) {
    // A ring that is the program's own cannot be made larger for a queue pair: there is no room.
    if (error == EOPNOTSUPP && call.insists) continue;
    Fault fault(Source::kernel, 1, error);
    const int err = call.make(world);
    const bool struck = fault.end();
    EXPECT_EQ(struck, call.commands);
    EXPECT_EQ(err, struck ? error : 0);
    if (!err) {
      EXPECT_EQ(undo(world), 0);
    }
  }
}

TEST_P(Faults, OfTheKernelWhenItEnds) {
  if (!call.undo) return;
  World world;
  for (unsigned n = 1; n < most_steps; n++) {
    ASSERT_EQ(call.make(world), 0);
    Fault fault(Source::kernel, n, ENOMEM);
    const int err = undo(world);
    const bool struck = fault.end();
    if (!struck) {
      EXPECT_EQ(err, 0);
      return;
    }
    // Then it is there as before, and goes when it is asked again.
    EXPECT_TRUE(err == ENOMEM || (call.insists && err == 0)) << "step " << n << ": " << err;
    if (err) {
      ASSERT_EQ(undo(world), 0) << "step " << n;
    }
  }
  FAIL() << "no end";
}

TEST_P(Faults, OfADeviceThatGoes) {
  for (unsigned n = 1; n < most_steps; n++) {
    std::optional<World> world(std::in_place);
    Fault fault(Source::kernel, n, EIO, true);
    const int err = call.make(*world);
    const bool last = !fault.has_struck();
    if (!last) {
      EXPECT_TRUE(err == EIO || (call.insists && err == 0)) << "step " << n << ": " << err;
    } else {
      // It goes when the call has been made.
      ASSERT_EQ(err, 0);
      fault.bring_forward();
      EXPECT_EQ(undo(*world), call.effect == Effect::change ? EIO : 0);
    }
    // Whatever there was goes while the device is gone.
    world.reset();
    if (last || HasFailure()) return;
  }
  FAIL() << "no end";
}

TEST(Descriptors, ThatAreUsedUpAreSaid) {
  World world;
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  const int lowest = dup(0);
  close(lowest);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(lowest);
  setrlimit(RLIMIT_NOFILE, &none);
  ibv_device* device = world.context->device;
  int fd = -1;
  const int channel = error_of(ibv_create_comp_channel(world.context.get()));
  const int exported = ibv_export_job(world.job.get(), &fd);
  const int opened = error_of(ibv_open_device(device));
  const int imported = error_of(ibv_import_device(world.context->cmd_fd));
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(channel, EMFILE);
  EXPECT_EQ(exported, EMFILE);
  EXPECT_EQ(fd, -1);
  EXPECT_EQ(opened, EMFILE);
  EXPECT_EQ(imported, EMFILE);
}

std::string name_of(const testing::TestParamInfo<Call>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Verbs, Faults, testing::ValuesIn(verbs_calls()), name_of);
INSTANTIATE_TEST_SUITE_P(Native, Faults, testing::ValuesIn(native_calls()), name_of);
INSTANTIATE_TEST_SUITE_P(Bridge, Faults, testing::ValuesIn(bridge_calls()), name_of);

}  // namespace
}  // namespace on_model
