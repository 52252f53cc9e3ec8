// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel_fixture.hpp"
#include "uverbs/file_memory.hpp"
#include "uverbs/handlers.hpp"

namespace sim::uverbs::test {
namespace {

class Regions : public ContextTest {
 protected:
  uint32_t pd = alloc_pd();

  struct Made {
    uint32_t handle, lkey, rkey;
    uint64_t lkey64, rkey64;
    cxi_abi_reg_mr_resp resp;
  };
  Made finish(Ioctl ioctl) {
    EXPECT_EQ(issue(ioctl), 0);
    return {ioctl.handle_of(UVERBS_ATTR_REG_MR_HANDLE),
            ioctl.result<uint32_t>(UVERBS_ATTR_REG_MR_RESP_LKEY),
            ioctl.result<uint32_t>(UVERBS_ATTR_REG_MR_RESP_RKEY),
            ioctl.result<uint64_t>(UVERBS_ATTR_REG_MR_RESP_LKEY64),
            ioctl.result<uint64_t>(UVERBS_ATTR_REG_MR_RESP_RKEY64),
            ioctl.result<cxi_abi_reg_mr_resp>(UVERBS_ATTR_UHW_OUT)};
  }
  int status(Ioctl ioctl) { return issue(ioctl); }
  static void set(Ioctl& ioctl, uint16_t id, uint64_t value) {
    for (auto& a : ioctl.attrs) {
      if (a.attr_id == id) a.data = value;
    }
  }
  Ioctl keyed(uint64_t key, uint32_t flags = IB_UVERBS_REG_MR_FLAG_USER_RKEY) {
    return mr_call(pd).u32(UVERBS_ATTR_REG_MR_FLAGS, flags).in(UVERBS_ATTR_REG_MR_REQ_RKEY64, key);
  }
};

TEST_F(Regions, HaveAnIoAddressThatIsNotTheirs) {
  auto ioctl = mr_call(pd, buffer_va, 4096);
  set(ioctl, UVERBS_ATTR_REG_MR_IOVA, 0x7000);
  auto mr = finish(ioctl);
  EXPECT_EQ(mr.resp.lac, 1u);
  const uint64_t io = (0x7000 + mr.resp.iova_delta) & ((1ull << 57) - 1);
  EXPECT_EQ(io >> 53, 1u);
  EXPECT_EQ(mr.lkey64, uint64_t{mr.resp.lac} << 57 | mr.resp.iova_delta);
  EXPECT_TRUE(device().last_map_writes);
}

TEST_F(Regions, GiveTheNicNoMoreRightsThanTheirs) {
  finish(mr_call(pd, buffer_va, 4096, 0));
  EXPECT_FALSE(device().last_map_writes);
}

TEST_F(Regions, HaveKeysOfTheDriver) {
  auto a = finish(mr_call(pd)), b = finish(mr_call(pd));
  EXPECT_EQ(a.rkey64 >> 60, 8u);
  EXPECT_NE(a.rkey64, b.rkey64);
  EXPECT_EQ(a.rkey, 0x80000000u | static_cast<uint32_t>(a.rkey64 & 0x3fffffff));
  EXPECT_NE(a.lkey, b.lkey);
}

TEST_F(Regions, CanBeIndexed) {
  auto access = IB_UVERBS_ACCESS_LOCAL_WRITE | CXI_ABI_ACCESS_INDEXED;
  auto a = finish(mr_call(pd, buffer_va, 4096, access));
  auto b = finish(mr_call(pd, buffer_va, 4096, access));
  EXPECT_EQ(a.rkey64 >> 60, 0b1010u);
  EXPECT_EQ(a.rkey64 & 31, 0u);
  EXPECT_EQ(b.rkey64 & 31, 1u);
  EXPECT_EQ(a.rkey, 0xc0000000u | static_cast<uint32_t>(a.rkey64 & 0x3fffffff));
  ASSERT_EQ(destroy_mr(a.handle), 0);
  auto c = finish(mr_call(pd, buffer_va, 4096, access));
  EXPECT_EQ(c.rkey64 & 31, 0u);
  EXPECT_NE(c.rkey64, a.rkey64);
}

TEST_F(Regions, AreOrdinaryWhenNoIndexIsLeft) {
  auto access = IB_UVERBS_ACCESS_LOCAL_WRITE | CXI_ABI_ACCESS_INDEXED;
  for (int i = 0; i < CXI_ABI_NUM_INDEXED; ++i)
    finish(mr_call(pd, buffer_va, 4096, access));
  EXPECT_EQ(finish(mr_call(pd, buffer_va, 4096, access)).rkey64 >> 60, 8u);
}

TEST_F(Regions, CanHaveAKeyOfTheApplication) {
  EXPECT_EQ(finish(keyed(5)).rkey, 5u);
  auto wide = finish(keyed(1ull << 59));
  EXPECT_EQ(wide.rkey64, 1ull << 59);
  EXPECT_EQ(wide.rkey, 0u);
  EXPECT_EQ(finish(keyed((1u << 30) - 1)).rkey, (1u << 30) - 1);
  EXPECT_EQ(finish(keyed(1u << 30)).rkey, 0u);
}

TEST_F(Regions, MayShareAKeyOfTheApplication) {
  auto mr = finish(keyed(5));
  EXPECT_EQ(finish(keyed(5)).rkey64, 5u);
  ASSERT_EQ(destroy_mr(mr.handle), 0);
  EXPECT_EQ(status(keyed(5)), 0);
}

TEST_F(Regions, RefuseBadKeys) {
  for (unsigned bit = 60; bit < 64; ++bit)
    EXPECT_EQ(status(keyed(1ull << bit)), EINVAL);
  EXPECT_EQ(status(keyed(5, 0)), EINVAL);
  EXPECT_EQ(status(keyed(5, IB_UVERBS_REG_MR_FLAG_IDEMPOTENT_SAFE)), EINVAL);
  EXPECT_EQ(status(keyed(5, 3)), EOPNOTSUPP);
  EXPECT_EQ(status(keyed(5, 5)), EINVAL);
  auto flag_only = mr_call(pd).u32(UVERBS_ATTR_REG_MR_FLAGS, IB_UVERBS_REG_MR_FLAG_USER_RKEY);
  EXPECT_EQ(status(flag_only), EINVAL);
}

TEST_F(Regions, RefuseBadRanges) {
  EXPECT_EQ(status(mr_call(pd, buffer_va, 0)), EINVAL);
  EXPECT_EQ(status(mr_call(pd, ~0ull - 4095, 8192)), EINVAL);
  EXPECT_EQ(status(mr_call(pd, 0xdead0000, 4096)), EFAULT);
  EXPECT_EQ(status(mr_call(pd, FakeCaller::read_only, 4096)), EFAULT);
  EXPECT_EQ(status(mr_call(pd, FakeCaller::read_only, 4096, 0)), 0);
  auto skewed = mr_call(pd);
  set(skewed, UVERBS_ATTR_REG_MR_IOVA, buffer_va + 1);
  EXPECT_EQ(status(skewed), EINVAL);
}

TEST_F(Regions, RefuseBadAccess) {
  EXPECT_EQ(status(mr_call(pd, buffer_va, 4096, IB_UVERBS_ACCESS_REMOTE_WRITE)), EINVAL);
  EXPECT_EQ(status(mr_call(pd, buffer_va, 4096, IB_UVERBS_ACCESS_REMOTE_ATOMIC)), EINVAL);
  EXPECT_EQ(status(mr_call(pd, buffer_va, 4096, IB_UVERBS_ACCESS_MW_BIND)), EINVAL);
  EXPECT_EQ(status(mr_call(pd, buffer_va, 4096, 1u << 30)), EINVAL);
  EXPECT_EQ(status(mr_call(pd, buffer_va, 4096, IB_UVERBS_ACCESS_ON_DEMAND)), EOPNOTSUPP);
  EXPECT_EQ(status(mr_call(pd, buffer_va, 4096, IB_UVERBS_ACCESS_RELAXED_ORDERING)), 0);
}

TEST_F(Regions, TakeAnAddressOrAFile) {
  auto neither = mr_call(pd);
  std::erase_if(neither.attrs, [](auto& a) { return a.attr_id == UVERBS_ATTR_REG_MR_ADDR; });
  EXPECT_EQ(status(neither), EINVAL);
  auto both = mr_call(pd).in(UVERBS_ATTR_REG_MR_FD_OFFSET, uint64_t{0});
  EXPECT_EQ(status(both), EINVAL);
  auto offset_only = neither.in(UVERBS_ATTR_REG_MR_FD_OFFSET, uint64_t{0});
  EXPECT_EQ(status(offset_only), EINVAL);
}

class FileRegions : public Regions {
 protected:
  static constexpr uint64_t size = 3 * 4096;
  int file = memfd_create("stand-in", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  FileRegions() { EXPECT_EQ(ftruncate(file, size), 0); }
  ~FileRegions() override { close(file); }

  Ioctl of(int fd, uint64_t offset, uint64_t length, uint32_t access, uint64_t iova) {
    auto ioctl = mr_call(pd, iova, length, access);
    std::erase_if(ioctl.attrs, [](auto& a) { return a.attr_id == UVERBS_ATTR_REG_MR_ADDR; });
    return ioctl.fd(UVERBS_ATTR_REG_MR_FD, fd).in(UVERBS_ATTR_REG_MR_FD_OFFSET, offset);
  }
  Ioctl of(uint64_t offset, uint64_t length, uint32_t access = IB_UVERBS_ACCESS_LOCAL_WRITE) {
    return of(file, offset, length, access, 0x7000 + offset % 4096);
  }
};

TEST_F(FileRegions, LieAnywhereInIt) {
  EXPECT_EQ(status(of(0, size)), 0);
  EXPECT_EQ(status(of(4096, 8192)), 0);
  EXPECT_EQ(status(of(100, 17)), 0);
  EXPECT_EQ(status(of(size - 1, 1)), 0);
  EXPECT_EQ(device().maps.size(), 4u);
}

TEST_F(FileRegions, EndWithIt) {
  EXPECT_EQ(status(of(0, size + 1)), EINVAL);
  EXPECT_EQ(status(of(4096, 8193)), EINVAL);
  EXPECT_EQ(status(of(size, 1)), EINVAL);
  EXPECT_EQ(status(of(~0ull - 4095, 4096)), EINVAL);
  EXPECT_EQ(status(of(0, 0)), EINVAL);
  EXPECT_TRUE(device().maps.empty());
}

TEST_F(FileRegions, DoNotKeepTheNicWaitingForALease) {
  const auto before = signal(SIGIO, SIG_IGN);
  ASSERT_EQ(fcntl(file, F_SETLEASE, F_RDLCK), 0);
  EXPECT_EQ(status(of(0, size)), EAGAIN);
  ASSERT_EQ(fcntl(file, F_SETLEASE, F_UNLCK), 0);
  EXPECT_EQ(status(of(0, size)), 0);
  signal(SIGIO, before);
}

TEST_F(FileRegions, HaveTheirPlaceInAPage) {
  EXPECT_EQ(status(of(file, 100, 17, 0, 0x7001)), EINVAL);
}

TEST_F(FileRegions, AreOfMemoryFilesOnly) {
  EXPECT_EQ(status(of(-1, 0, 4096, 0, 0x7000)), EBADF);
  EXPECT_EQ(status(of(9999, 0, 4096, 0, 0x7000)), EBADF);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_EQ(status(of(null, 0, 4096, 0, 0x7000)), EINVAL);
  close(null);
  EXPECT_EQ(status(of(impl().fd(), 0, 4096, 0, 0x7000)), EINVAL);
}

TEST_F(FileRegions, AreNotOfHugePages) {
  const int huge = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);
  if (huge < 0) GTEST_SKIP() << "no huge pages here";
  ASSERT_EQ(ftruncate(huge, 1 << 30), 0);
  EXPECT_EQ(status(of(huge, 0, 4096, 0, 0x7000)), EINVAL);
  close(huge);
}

TEST_F(FileRegions, AreWrittenWhereTheyAreWhateverTheDescriptorSays) {
  auto made = FileMemory::make(dup(file), 0, size, true);
  ASSERT_TRUE(made);
  ASSERT_EQ(fcntl(file, F_SETFL, O_APPEND), 0);
  const char text[] = "in place";
  EXPECT_TRUE(made.value->write(4096, std::as_bytes(std::span(text))));
  EXPECT_EQ(lseek(file, 0, SEEK_END), static_cast<off_t>(size));
  char back[sizeof text] = {};
  EXPECT_TRUE(made.value->read(4096, std::as_writable_bytes(std::span(back))));
  EXPECT_STREQ(back, text);
}

TEST_F(FileRegions, NeedTheRightToWrite) {
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const int reading = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(status(of(reading, 0, 4096, IB_UVERBS_ACCESS_LOCAL_WRITE, 0x7000)), EACCES);
  EXPECT_EQ(status(of(reading, 0, 4096, IB_UVERBS_ACCESS_REMOTE_READ, 0x7000)), 0);
  close(reading);
  ASSERT_EQ(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_EQ(status(of(0, 4096)), EACCES);
  EXPECT_EQ(status(of(0, 4096, 0)), 0);
}

TEST_F(FileRegions, KeepAFileThatTheProgramCloses) {
  auto made = FileMemory::make(dup(file), 0, size, true);
  ASSERT_TRUE(made);
  const char text[] = "kept";
  ASSERT_EQ(pwrite(file, text, sizeof text, 4096), static_cast<ssize_t>(sizeof text));
  char back[sizeof text] = {};
  EXPECT_TRUE(made.value->read(4096, std::as_writable_bytes(std::span(back))));
  EXPECT_STREQ(back, text);
  EXPECT_TRUE(made.value->write(8000, std::as_bytes(std::span(text))));
  EXPECT_EQ(pread(file, back, sizeof back, 8000), static_cast<ssize_t>(sizeof back));
  EXPECT_STREQ(back, text);
  // Cut short: it is not there any more, and does not come back.
  ASSERT_EQ(ftruncate(file, 4096), 0);
  EXPECT_FALSE(made.value->read(4096, std::as_writable_bytes(std::span(back))));
  EXPECT_FALSE(made.value->write(4094, std::as_bytes(std::span(text))));
  EXPECT_EQ(lseek(file, 0, SEEK_END), 4096);
}

TEST_F(FileRegions, ThatAreDerivedNameTheSameFile) {
  auto parent = finish(of(0, 8192));
  const auto derived = [&](Ioctl ioctl) {
    return status(ioctl.handle(UVERBS_ATTR_REG_MR_PARENT_MR_HANDLE, parent.handle));
  };
  EXPECT_EQ(derived(of(4096, 4096)), 0);
  EXPECT_EQ(derived(of(4096, 4097)), EINVAL);
  EXPECT_EQ(derived(mr_call(pd, 4096, 100, 0)), EINVAL);
  const int other = memfd_create("other", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(other, size), 0);
  EXPECT_EQ(derived(of(other, 4096, 100, 0, 0x7000)), EINVAL);
  close(other);
}

TEST_F(FileRegions, AreDescriptorsToo) {
  const auto map = [&](int fd, uint64_t offset, uint64_t length) {
    auto ioctl = call(CXI_OBJECT_MD, CXI_METHOD_MD_MAP);
    ioctl.fresh(CXI_ATTR_HANDLE)
        .in(CXI_ATTR_REQ, cxi_abi_md_req{offset, length, CXI_ABI_MD_READ | CXI_ABI_MD_WRITE, fd})
        .out(CXI_ATTR_RESP, sizeof(cxi_abi_md_resp));
    return issue(ioctl);
  };
  EXPECT_EQ(map(file, 4096, 8192), 0);
  EXPECT_EQ(map(file, 4096, 8193), EINVAL);
  EXPECT_EQ(map(9999, 0, 4096), EBADF);
  EXPECT_EQ(device().maps.size(), 1u);
}

class Changing : public Regions {
 protected:
  int rereg(uint32_t handle, uint32_t flags, uint64_t va = 0, uint64_t length = 0,
            uint32_t access = 0, uint32_t other_pd = 0) {
    ib_uverbs_rereg_mr cmd{};
    cmd.mr_handle = handle;
    cmd.flags = flags;
    cmd.start = cmd.hca_va = va;
    cmd.length = length;
    cmd.access_flags = access;
    cmd.pd_handle = other_pd;
    auto ioctl = write_command(IB_USER_VERBS_CMD_REREG_MR, cmd, sizeof(ib_uverbs_rereg_mr_resp));
    ioctl.out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_rereg_mr_resp));
    int error = issue(ioctl);
    if (!error) {
      keys = ioctl.result<ib_uverbs_rereg_mr_resp>(UVERBS_ATTR_CORE_OUT);
      now = ioctl.result<cxi_abi_rereg_mr_resp>(UVERBS_ATTR_UHW_OUT);
    }
    return error;
  }
  Made mr = finish(mr_call(pd, buffer_va, 4096, IB_UVERBS_ACCESS_LOCAL_WRITE));
  ib_uverbs_rereg_mr_resp keys{};
  cxi_abi_rereg_mr_resp now{};
};

TEST_F(Changing, MovesARegionAndKeepsItsKeys) {
  ASSERT_EQ(rereg(mr.handle, rereg_translation, buffer_va + 8192, 8192), 0);
  EXPECT_EQ(keys.lkey, mr.lkey);
  EXPECT_EQ(keys.rkey, mr.rkey);
  EXPECT_EQ(now.rkey64, mr.rkey64);
  EXPECT_NE(now.mr.iova_delta, mr.resp.iova_delta);
  EXPECT_NE(now.mr.md_handle, mr.resp.md_handle);
  EXPECT_EQ(device().maps.size(), 1u);
  EXPECT_EQ(destroy_mr(mr.handle), 0);
  EXPECT_TRUE(device().maps.empty());
}

TEST_F(Changing, GivesTheNicTheNewRights) {
  ASSERT_EQ(rereg(mr.handle, rereg_access, 0, 0, IB_UVERBS_ACCESS_REMOTE_READ), 0);
  EXPECT_FALSE(device().last_map_writes);
  EXPECT_EQ(rereg(mr.handle, rereg_access, 0, 0, IB_UVERBS_ACCESS_REMOTE_WRITE), EINVAL);
  EXPECT_EQ(rereg(mr.handle, rereg_access, 0, 0, IB_UVERBS_ACCESS_ON_DEMAND), EOPNOTSUPP);
}

TEST_F(Changing, MovesToAnotherDomain) {
  const uint32_t other = alloc_pd();
  ASSERT_EQ(rereg(mr.handle, rereg_pd, 0, 0, 0, other), 0);
  EXPECT_EQ(dealloc_pd(other), EBUSY);
  EXPECT_EQ(dealloc_pd(pd), 0);
  EXPECT_EQ(rereg(mr.handle, rereg_pd, 0, 0, 0, 77), ENOENT);
}

TEST_F(Changing, NamesAnIndexOnlyWhileThereIsOne) {
  const uint32_t indexed = IB_UVERBS_ACCESS_LOCAL_WRITE | CXI_ABI_ACCESS_INDEXED;
  ASSERT_EQ(rereg(mr.handle, rereg_access, 0, 0, indexed), 0);
  const uint64_t first = now.rkey64;
  EXPECT_EQ(first >> 60, 0b1010u);
  ASSERT_EQ(rereg(mr.handle, rereg_translation, buffer_va, 8192), 0);
  EXPECT_EQ(now.rkey64, first);
  const uint32_t other = alloc_pd();
  ASSERT_EQ(rereg(mr.handle, rereg_pd, 0, 0, 0, other), 0);
  EXPECT_NE(now.rkey64, first);
  ASSERT_EQ(rereg(mr.handle, rereg_access, 0, 0, IB_UVERBS_ACCESS_LOCAL_WRITE), 0);
  EXPECT_EQ(now.rkey64 >> 60, 8u);
  // Both domains have their index back.
  EXPECT_EQ(finish(mr_call(pd, buffer_va, 4096, indexed)).rkey64 & 31, 0u);
  EXPECT_EQ(finish(mr_call(other, buffer_va, 4096, indexed)).rkey64 & 31, 0u);
}

TEST_F(Changing, RefusesWithoutAnyChange) {
  EXPECT_EQ(rereg(mr.handle, 0), EINVAL);
  EXPECT_EQ(rereg(mr.handle, 8), EINVAL);
  EXPECT_EQ(rereg(77, rereg_access), ENOENT);
  EXPECT_EQ(rereg(mr.handle, rereg_translation, buffer_va, 0), EINVAL);
  EXPECT_EQ(rereg(mr.handle, rereg_translation, 0xdead0000, 4096), EFAULT);
  device().refuse = "map_memory";
  EXPECT_EQ(rereg(mr.handle, rereg_translation, buffer_va + 4096, 4096), ENOSPC);
  device().refuse.clear();
  ASSERT_EQ(rereg(mr.handle, rereg_access, 0, 0, IB_UVERBS_ACCESS_LOCAL_WRITE), 0);
  EXPECT_EQ(now.rkey64, mr.rkey64);
  EXPECT_EQ(device().maps.size(), 1u);
}

TEST_F(Changing, IsUndoneWhenItCannotBeAnswered) {
  ib_uverbs_rereg_mr cmd{};
  cmd.mr_handle = mr.handle;
  cmd.flags = rereg_translation | rereg_access;
  cmd.start = cmd.hca_va = buffer_va + 8192;
  cmd.length = 8192;
  cmd.access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE | CXI_ABI_ACCESS_INDEXED;
  auto ioctl = write_command(IB_USER_VERBS_CMD_REREG_MR, cmd, sizeof(ib_uverbs_rereg_mr_resp));
  ioctl.place();
  caller.unwritable = ioctl.answered(UVERBS_ATTR_CORE_OUT).data;
  EXPECT_EQ(issue(ioctl), EFAULT);
  caller.unwritable = 0;
  EXPECT_EQ(device().maps.size(), 1u);
  auto query = call(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
  query.handle(UVERBS_ATTR_QUERY_MR_HANDLE, mr.handle)
      .out(UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4)
      .out(UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4)
      .out(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8)
      .out(UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8);
  ASSERT_EQ(issue(query), 0);
  EXPECT_EQ(query.result<uint32_t>(UVERBS_ATTR_QUERY_MR_RESP_RKEY), mr.rkey);
  EXPECT_EQ(query.result<uint64_t>(UVERBS_ATTR_QUERY_MR_RESP_LENGTH), 4096u);
  EXPECT_EQ(destroy_mr(mr.handle), 0);
  EXPECT_TRUE(device().maps.empty());
}

TEST_F(Changing, KeepsAKeyOfTheApplication) {
  auto own = finish(keyed(5));
  ASSERT_EQ(rereg(own.handle, rereg_access, 0, 0, CXI_ABI_ACCESS_INDEXED), 0);
  EXPECT_EQ(now.rkey64, 5u);
}

TEST_F(Changing, LeavesRegionsInUseAlone) {
  auto derived =
      finish(mr_call(pd, buffer_va, 100, 0).handle(UVERBS_ATTR_REG_MR_PARENT_MR_HANDLE, mr.handle));
  EXPECT_EQ(rereg(mr.handle, rereg_access), EBUSY);
  EXPECT_EQ(rereg(derived.handle, rereg_translation, buffer_va + 4000, 97), EINVAL);
  EXPECT_EQ(rereg(derived.handle, rereg_pd, 0, 0, 0, alloc_pd()), EINVAL);
  EXPECT_EQ(rereg(derived.handle, rereg_translation, buffer_va + 4000, 96), 0);
  EXPECT_EQ(destroy_mr(derived.handle), 0);
  EXPECT_EQ(rereg(mr.handle, rereg_access), 0);
}

TEST_F(Regions, LeaveNothingBehindWhenTheNicRefuses) {
  device().refuse = "map_memory";
  EXPECT_EQ(status(keyed(5)), ENOSPC);
  device().refuse.clear();
  EXPECT_EQ(status(keyed(5)), 0);
  EXPECT_EQ(device().maps.size(), 1u);
}

TEST_F(Regions, AreQueried) {
  auto mr = finish(mr_call(pd, buffer_va, 8192));
  auto query = call(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
  query.handle(UVERBS_ATTR_QUERY_MR_HANDLE, mr.handle)
      .out(UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4)
      .out(UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4)
      .out(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8)
      .out(UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8);
  ASSERT_EQ(issue(query), 0);
  EXPECT_EQ(query.result<uint32_t>(UVERBS_ATTR_QUERY_MR_RESP_LKEY), mr.lkey);
  EXPECT_EQ(query.result<uint32_t>(UVERBS_ATTR_QUERY_MR_RESP_RKEY), mr.rkey);
  EXPECT_EQ(query.result<uint64_t>(UVERBS_ATTR_QUERY_MR_RESP_LENGTH), 8192u);
  EXPECT_EQ(query.result<uint64_t>(UVERBS_ATTR_QUERY_MR_RESP_IOVA), buffer_va);
}

TEST_F(Regions, AreRegisteredByCommandToo) {
  ib_uverbs_reg_mr cmd{};
  cmd.start = buffer_va;
  cmd.length = 4096;
  cmd.hca_va = buffer_va;
  cmd.pd_handle = pd;
  cmd.access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE;
  auto ioctl = write_command(IB_USER_VERBS_CMD_REG_MR, cmd, sizeof(ib_uverbs_reg_mr_resp));
  ioctl.out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_reg_mr_resp));
  ASSERT_EQ(issue(ioctl), 0);
  auto resp = ioctl.result<ib_uverbs_reg_mr_resp>(UVERBS_ATTR_CORE_OUT);
  EXPECT_EQ(resp.rkey >> 31, 1u);
  EXPECT_EQ(ioctl.result<cxi_abi_reg_mr_resp>(UVERBS_ATTR_UHW_OUT).lac, 1u);
  EXPECT_EQ(write_status(
                write_command(IB_USER_VERBS_CMD_DEREG_MR, ib_uverbs_dereg_mr{resp.mr_handle}, 0)),
            0);
  cmd.pd_handle = 99;
  EXPECT_EQ(write_status(write_command(IB_USER_VERBS_CMD_REG_MR, cmd, 12)), ENOENT);
}

class DerivedRegions : public Regions {
 protected:
  Made parent = finish(mr_call(pd, buffer_va, 8192, IB_UVERBS_ACCESS_LOCAL_WRITE));
  Ioctl derived(uint64_t va, uint64_t length, uint32_t access = 0) {
    return mr_call(pd, va, length, access)
        .handle(UVERBS_ATTR_REG_MR_PARENT_MR_HANDLE, parent.handle);
  }
};

TEST_F(DerivedRegions, ShareTheDescriptor) {
  auto mr = finish(derived(buffer_va + 4096, 4096));
  EXPECT_EQ(device().maps.size(), 1u);
  EXPECT_EQ(mr.resp.md_handle, parent.resp.md_handle);
  EXPECT_EQ(mr.resp.iova_delta, parent.resp.iova_delta);
  EXPECT_NE(mr.rkey64, parent.rkey64);
}

TEST_F(DerivedRegions, KeepTheirParentBusy) {
  auto mr = finish(derived(buffer_va, 4096));
  EXPECT_EQ(destroy_mr(parent.handle), EBUSY);
  EXPECT_EQ(destroy_mr(mr.handle), 0);
  EXPECT_EQ(destroy_mr(parent.handle), 0);
  EXPECT_TRUE(device().maps.empty());
}

TEST_F(DerivedRegions, LieInsideTheirParent) {
  EXPECT_EQ(status(derived(buffer_va + 4096, 4097)), EINVAL);
  EXPECT_EQ(status(derived(buffer_va - 4096, 8192)), EINVAL);
}

TEST_F(DerivedRegions, BelongToTheSamePd) {
  auto ioctl = mr_call(alloc_pd(), buffer_va, 4096, 0)
                   .handle(UVERBS_ATTR_REG_MR_PARENT_MR_HANDLE, parent.handle);
  EXPECT_EQ(status(ioctl), EINVAL);
}

TEST_F(DerivedRegions, CannotWriteWhatTheParentCannot) {
  auto reader = finish(mr_call(pd, buffer_va, 4096, 0));
  auto ioctl = mr_call(pd, buffer_va, 4096, IB_UVERBS_ACCESS_LOCAL_WRITE)
                   .handle(UVERBS_ATTR_REG_MR_PARENT_MR_HANDLE, reader.handle);
  EXPECT_EQ(status(ioctl), EINVAL);
}

class Domains : public Regions {};

TEST_F(Domains, AreBusyWhileUsed) {
  auto mr = finish(mr_call(pd));
  EXPECT_EQ(dealloc_pd(pd), EBUSY);
  destroy_mr(mr.handle);
  EXPECT_EQ(dealloc_pd(pd), 0);
}

TEST_F(Domains, AreLimited) {
  for (int i = 1; i < 1024; ++i)
    alloc_pd();
  EXPECT_EQ(write_status(write_command(IB_USER_VERBS_CMD_ALLOC_PD, uint64_t{0}, 4)), ENOSPC);
}

TEST_F(Domains, GoByCommandToo) {
  EXPECT_EQ(write_status(write_command(IB_USER_VERBS_CMD_DEALLOC_PD, ib_uverbs_dealloc_pd{pd}, 0)),
            0);
  EXPECT_EQ(write_status(write_command(IB_USER_VERBS_CMD_DEALLOC_PD, ib_uverbs_dealloc_pd{pd}, 0)),
            ENOENT);
}

TEST_F(Domains, HaveTheLowestFreeHandle) {
  const uint32_t a = alloc_pd(), b = alloc_pd();
  dealloc_pd(a);
  EXPECT_EQ(alloc_pd(), a);
  EXPECT_NE(alloc_pd(), b);
}

}  // namespace
}  // namespace sim::uverbs::test
