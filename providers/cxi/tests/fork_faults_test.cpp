// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Memory that is kept out of children while there is no memory to remember it by.
#include <gtest/gtest.h>
#include <infiniband/driver.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "faults.hpp"

namespace {

using faults::Fault;
using faults::Source;

constexpr unsigned pages = 64;

class Forking : public testing::Test {
 protected:
  Forking() {
    for (unsigned n = 1;; n++) {
      Fault fault(Source::memory, n, ENOMEM);
      const int err = ibv_fork_init();
      if (!fault.end()) {
        EXPECT_EQ(err, 0);
        break;
      }
      // Where the kernel says that it needs no protection the library does not ask for memory.
      EXPECT_TRUE(err == 0 || err == ENOMEM) << err;
      if (!err) break;
    }
  }
  ~Forking() override { munmap(memory, pages * page); }
  char* at(unsigned i) { return memory + i * page; }

  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char* memory = static_cast<char*>(
      mmap(nullptr, pages* page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
};

TEST_F(Forking, PagesAreKeptOutOrNothingIsChanged) {
  for (unsigned i = 0; i < pages; i++) {
    for (unsigned n = 1;; n++) {
      Fault fault(Source::memory, n, ENOMEM);
      errno = 0;
      const int failed = ibv_dontfork_range(at(i), page);
      const int err = errno;
      if (!fault.end()) {
        EXPECT_EQ(failed, 0);
        break;
      }
      EXPECT_EQ(failed, -1);
      EXPECT_EQ(err, ENOMEM);
    }
  }
  // Each second one leaves a hole that was not there before.
  unsigned refused = 0;
  Fault fault(Source::memory, 1, ENOMEM, true);
  for (unsigned first : {0u, 1u})
    for (unsigned i = first; i < pages; i += 2)
      refused += ibv_dofork_range(at(i), page) != 0;
  EXPECT_FALSE(fault.end());
  EXPECT_EQ(refused, 0u);
}

TEST_F(Forking, RegionsAreKeptOutOrNotMade) {
  if (ibv_is_fork_initialized() == IBV_FORK_UNNEEDED)
    GTEST_SKIP() << "this kernel copies what a device uses";
  ibv_device** list = ibv_get_device_list(nullptr);
  ASSERT_NE(list, nullptr);
  ibv_context* context = ibv_open_device(list[0]);
  ibv_free_device_list(list);
  ASSERT_NE(context, nullptr);
  ibv_pd* pd = ibv_alloc_pd(context);
  ASSERT_NE(pd, nullptr);

  ibv_mr* regions[4] = {};
  for (unsigned i = 0; i < 4; i++) {
    for (unsigned n = 1;; n++) {
      const faults::Holdings before = faults::holdings();
      Fault fault(Source::memory, n, ENOMEM);
      regions[i] = ibv_reg_mr(pd, at(2 * i), page, IBV_ACCESS_LOCAL_WRITE);
      const int err = errno;
      if (!fault.end()) break;
      ASSERT_EQ(regions[i], nullptr);
      EXPECT_EQ(err, ENOMEM);
      if (i > 0) {  // with the first one comes what the context keeps
        EXPECT_EQ(faults::holdings(), before);
      }
    }
    ASSERT_NE(regions[i], nullptr);
  }

  // One more range than there is room for.
  ibv_mr& last = *regions[3];
  Fault fault(Source::memory, 1, ENOMEM);
  const int moved = ibv_rereg_mr(&last, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, at(20), page, 0);
  const int err = errno;
  EXPECT_TRUE(fault.end());
  EXPECT_EQ(moved, IBV_REREG_MR_ERR_DONT_FORK_NEW);
  EXPECT_EQ(err, ENOMEM);
  EXPECT_EQ(last.addr, at(6));
  EXPECT_EQ(ibv_rereg_mr(&last, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, at(20), page, 0), 0);
  EXPECT_EQ(last.addr, at(20));

  for (ibv_mr* region : regions)
    EXPECT_EQ(ibv_dereg_mr(region), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  EXPECT_EQ(ibv_close_device(context), 0);
}

}  // namespace
