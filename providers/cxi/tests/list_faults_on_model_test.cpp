// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The list of devices while memory or descriptors are short, from the first call of a process on:
// there is all of it, or an errno, and the next call has all of it.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "faults.hpp"

namespace on_model {
namespace {

using faults::Fault;
using faults::Holdings;
using faults::holdings;
using faults::Source;

constexpr unsigned most_steps = 2000;

/// 0 for the whole list, or the errno value.
int list() {
  int count = -1;
  ibv_device** devices = ibv_get_device_list(&count);
  if (!devices) {
    const int err = errno;
    EXPECT_EQ(count, 0);
    return err;
  }
  faults::Fault::stop();
  EXPECT_EQ(count, 1);
  if (count == 1) {
    EXPECT_STREQ(ibv_get_device_name(devices[0]), "cxi0");
  }
  EXPECT_EQ(devices[count], nullptr);
  ibv_free_device_list(devices);
  return 0;
}

TEST(Listing, IsWholeOrSaysThatThereIsNoMemory) {
  unsigned failed = 0;
  for (bool first_time : {true, false}) {
    unsigned n = 1;
    for (; n < most_steps; n++) {
      const Holdings before = holdings();
      Fault fault(Source::memory, n, ENOMEM);
      const int err = list();
      const bool struck = fault.end();
      const Holdings after = holdings();
      if (!struck) break;
      failed += err != 0;
      EXPECT_TRUE(err == 0 || err == ENOMEM) << "step " << n << ": " << err;
      if (!first_time) {
        EXPECT_EQ(after.allocations, before.allocations) << "step " << n;
        EXPECT_EQ(after.mapped_bytes, before.mapped_bytes) << "step " << n;
      }
      EXPECT_EQ(after.descriptors, before.descriptors) << "step " << n;
      ASSERT_FALSE(HasFailure());
    }
    ASSERT_LT(n, most_steps);
    EXPECT_EQ(list(), 0);
  }
  EXPECT_GT(failed, 5u);
}

class Descriptors : public testing::Test {
 protected:
  Descriptors() { getrlimit(RLIMIT_NOFILE, &before); }
  ~Descriptors() override { setrlimit(RLIMIT_NOFILE, &before); }
  /// So many descriptors may be opened from now on.
  void leave(unsigned count) {
    const int lowest = dup(0);
    close(lowest);
    rlimit limit = before;
    limit.rlim_cur = static_cast<rlim_t>(lowest) + count;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  rlimit before = {};
};

TEST_F(Descriptors, TooFewOfThemAreSaid) {
  for (unsigned few = 0; few < 20; few++) {
    leave(few);
    const int err = list();
    EXPECT_TRUE(err == 0 || err == EMFILE) << few << ": " << err;
    if (few == 0) {
      EXPECT_EQ(err, EMFILE);
    }
    ASSERT_FALSE(HasFailure());
    if (err == 0) return;
  }
  FAIL();
}

}  // namespace
}  // namespace on_model
