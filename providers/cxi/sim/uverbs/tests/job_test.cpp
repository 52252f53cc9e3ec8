// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <sys/mman.h>

#include "kernel_fixture.hpp"
#include "uverbs/exported_jobs.hpp"

namespace sim::uverbs::test {
namespace {

ib_uverbs_ah_attr_ex address_of(uint32_t nid, uint32_t qpn) {
  ib_uverbs_ah_attr_ex attr{};
  attr.ah_attr.grh.dgid[0] = 0xfe;
  attr.ah_attr.grh.dgid[1] = 0x80;
  for (int i = 0; i < 4; ++i) {
    attr.ah_attr.grh.dgid[12 + i] = static_cast<uint8_t>(nid >> (24 - 8 * i));
  }
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.remote_qpn = qpn;
  return attr;
}

class Addresses : public ContextTest {
 protected:
  uint32_t pd = alloc_pd();
  Ioctl ah_call(const ib_uverbs_ah_attr_ex& attr) {
    auto ioctl = call(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_EX_CREATE);
    ioctl.fresh(UVERBS_ATTR_CREATE_AH_EX_HANDLE)
        .handle(UVERBS_ATTR_CREATE_AH_EX_PD_HANDLE, pd)
        .in(UVERBS_ATTR_CREATE_AH_EX_AH_ATTR_EX, attr)
        .out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_create_ah_resp));
    return ioctl;
  }
  int status(const ib_uverbs_ah_attr_ex& attr) {
    auto ioctl = ah_call(attr);
    return issue(ioctl);
  }
};

TEST_F(Addresses, OfSlingshotCarryTheNid) {
  auto ioctl = ah_call(address_of(0x54321, 7));
  ASSERT_EQ(issue(ioctl), 0);
  EXPECT_EQ(ioctl.result<cxi_abi_create_ah_resp>(UVERBS_ATTR_UHW_OUT).nid, 0x54321u);
}

TEST_F(Addresses, OfTheNetdevAreNeighbours) {
  auto attr = address_of(0, 7);
  const uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 9};
  std::memcpy(attr.ah_attr.grh.dgid, mapped, 16);
  attr.ah_attr.grh.sgid_index = 1;
  auto ioctl = ah_call(attr);
  ASSERT_EQ(issue(ioctl), 0);
  EXPECT_EQ(ioctl.result<cxi_abi_create_ah_resp>(UVERBS_ATTR_UHW_OUT).nid, 9u);
  attr.ah_attr.grh.dgid[12] = 192;
  EXPECT_EQ(status(attr), ENETUNREACH);
  attr.ah_attr.grh.sgid_index = 0;
  EXPECT_EQ(status(attr), EINVAL);  // another type than the source's
}

TEST_F(Addresses, RefuseWhatTheyCannotUse) {
  auto attr = address_of(5, 7);
  attr.ah_attr.port_num = 2;
  EXPECT_EQ(status(attr), EINVAL);
  attr = address_of(5, 7);
  attr.ah_attr.is_global = 0;
  EXPECT_EQ(status(attr), EINVAL);
  attr = address_of(5, 7);
  attr.ah_attr.grh.sgid_index = 2;
  EXPECT_EQ(status(attr), EINVAL);
  attr = address_of(5, 7);
  attr.ah_attr.grh.sgid_index = 1;
  EXPECT_EQ(status(attr), EINVAL);
  attr = address_of(5, 7);
  attr.ah_attr.reserved = 1;
  EXPECT_EQ(status(attr), EINVAL);
  attr = address_of(5, 7);
  attr.ah_attr.grh.dgid[9] = 1;
  EXPECT_EQ(status(attr), ENETUNREACH);
  EXPECT_EQ(status(address_of(0xfffff, 7)), ENETUNREACH);
  EXPECT_EQ(status(address_of(0x100000, 7)), ENETUNREACH);
  auto flags = ah_call(address_of(5, 7)).u32(UVERBS_ATTR_CREATE_AH_EX_FLAGS, 1);
  EXPECT_EQ(issue(flags), EINVAL);
}

TEST_F(Addresses, KeepTheirPdBusy) {
  auto ioctl = ah_call(address_of(5, 7));
  ASSERT_EQ(issue(ioctl), 0);
  EXPECT_EQ(dealloc_pd(pd), EBUSY);
  EXPECT_EQ(destroy(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY,
                    ioctl.handle_of(UVERBS_ATTR_CREATE_AH_EX_HANDLE)),
            0);
  EXPECT_EQ(dealloc_pd(pd), 0);
}

class Jobs : public ContextTest {
 protected:
  int status(Ioctl ioctl) { return issue(ioctl); }

  int insert(uint32_t job, uint32_t index, const ib_uverbs_ah_attr_ex& attr, uint32_t flags = 0) {
    auto ioctl = call(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_ADDR_INSERT);
    ioctl.handle(UVERBS_ATTR_JOB_ADDR_INSERT_HANDLE, job)
        .u32(UVERBS_ATTR_JOB_ADDR_INSERT_INDEX, index)
        .in(UVERBS_ATTR_JOB_ADDR_INSERT_AH_ATTR_EX, attr)
        .u32(UVERBS_ATTR_JOB_ADDR_INSERT_FLAGS, flags);
    return issue(ioctl);
  }
  int remove(uint32_t job, uint32_t index) {
    auto ioctl = call(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_ADDR_REMOVE);
    ioctl.handle(UVERBS_ATTR_JOB_ADDR_REMOVE_HANDLE, job)
        .u32(UVERBS_ATTR_JOB_ADDR_REMOVE_INDEX, index);
    return issue(ioctl);
  }
  int query_addr(uint32_t job, uint32_t index, ib_uverbs_ah_attr_ex* attr = nullptr) {
    auto ioctl = call(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_ADDR_QUERY);
    ioctl.handle(UVERBS_ATTR_JOB_ADDR_QUERY_HANDLE, job)
        .u32(UVERBS_ATTR_JOB_ADDR_QUERY_INDEX, index)
        .out(UVERBS_ATTR_JOB_ADDR_QUERY_AH_ATTR_EX, sizeof *attr);
    int error = issue(ioctl);
    if (attr) *attr = ioctl.result<ib_uverbs_ah_attr_ex>(UVERBS_ATTR_JOB_ADDR_QUERY_AH_ATTR_EX);
    return error;
  }
  int export_fd(uint32_t job) {
    auto ioctl = call(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_EXPORT);
    ioctl.handle(UVERBS_ATTR_EXPORT_JOB_HANDLE, job).out(UVERBS_ATTR_EXPORT_JOB_FD, 4);
    EXPECT_EQ(issue(ioctl), 0);
    return ioctl.result<int>(UVERBS_ATTR_EXPORT_JOB_FD);
  }
  Ioctl import_call(int fd) {
    auto ioctl = call(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_IMPORT);
    ioctl.fresh(UVERBS_ATTR_IMPORT_JOB_HANDLE)
        .in(UVERBS_ATTR_IMPORT_JOB_FD, fd)
        .out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_job_resp));
    return ioctl;
  }
  uint64_t table_entry(OpenFile& of, uint64_t cookie, uint32_t index) {
    uint64_t entry = 0;
    EXPECT_EQ(pread(of.fd(), &entry, sizeof entry, static_cast<off_t>(cookie + 8 * index)), 8);
    return entry;
  }
};

TEST_F(Jobs, AreVnis) {
  auto ioctl = job_call(10);
  ASSERT_EQ(issue(ioctl), 0);
  auto resp = ioctl.result<cxi_abi_job_resp>(UVERBS_ATTR_UHW_OUT);
  EXPECT_EQ(resp.vni, 10u);
  EXPECT_EQ(resp.entries, 0u);
  EXPECT_EQ(resp.table_cookie, 0u);
  EXPECT_EQ(resp.table_bytes, 0u);
}

TEST_F(Jobs, RefuseBadArguments) {
  EXPECT_EQ(status(job_call(0)), EINVAL);
  EXPECT_EQ(status(job_call(65536)), EINVAL);
  EXPECT_EQ(status(job_call(1, 65537)), EINVAL);
  EXPECT_EQ(status(job_call(1).u32(UVERBS_ATTR_ALLOC_JOB_FLAGS, 1)), EINVAL);
  EXPECT_EQ(status(job_call(1).in(UVERBS_ATTR_ALLOC_JOB_PORT_NUM, uint8_t{2})), EINVAL);
  EXPECT_EQ(status(job_call(1).in(UVERBS_ATTR_ALLOC_JOB_SGID_INDEX, uint8_t{2})), EINVAL);
  EXPECT_EQ(status(job_call(1).in(UVERBS_ATTR_ALLOC_JOB_PORT_NUM, uint8_t{1})), 0);
}

TEST_F(Jobs, NeedAGrantEvenForRoot) {
  EXPECT_EQ(status(job_call(2)), EPERM);
  caller.who.uid = caller.who.euid = 0;
  caller.who.cap_sys_admin = true;
  EXPECT_EQ(status(job_call(2)), EPERM);
}

TEST_F(Jobs, AreAllocatedOncePerContext) {
  const uint32_t job = alloc_job(1);
  EXPECT_EQ(status(job_call(1)), EEXIST);
  auto elsewhere = open();
  get_context(*elsewhere);
  auto other = job_call(1);
  EXPECT_EQ(issue(*elsewhere, other), 0);
  EXPECT_EQ(dealloc_job(job), 0);
  EXPECT_EQ(status(job_call(1)), 0);
}

TEST_F(Jobs, AreQueried) {
  const uint32_t job = alloc_job(10, 5);
  auto query = call(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_QUERY);
  query.handle(UVERBS_ATTR_QUERY_JOB_HANDLE, job)
      .out(UVERBS_ATTR_QUERY_JOB_ID, 4)
      .out(UVERBS_ATTR_QUERY_JOB_MAX_ADDR_ENTRIES, 4)
      .out(UVERBS_ATTR_QUERY_JOB_FLAGS, 4)
      .out(UVERBS_ATTR_QUERY_JOB_PORT_NUM, 1)
      .out(UVERBS_ATTR_QUERY_JOB_SGID_INDEX, 1);
  ASSERT_EQ(issue(query), 0);
  EXPECT_EQ(query.result<uint32_t>(UVERBS_ATTR_QUERY_JOB_ID), 10u);
  EXPECT_EQ(query.result<uint32_t>(UVERBS_ATTR_QUERY_JOB_MAX_ADDR_ENTRIES), 5u);
  EXPECT_EQ(query.result<uint32_t>(UVERBS_ATTR_QUERY_JOB_FLAGS), 0u);
  EXPECT_EQ(query.result<uint8_t>(UVERBS_ATTR_QUERY_JOB_PORT_NUM), 1);
}

TEST_F(Jobs, KeepAnAddressTable) {
  auto ioctl = job_call(1, 4);
  ASSERT_EQ(issue(ioctl), 0);
  const uint32_t job = ioctl.handle_of(UVERBS_ATTR_ALLOC_JOB_HANDLE);
  auto resp = ioctl.result<cxi_abi_job_resp>(UVERBS_ATTR_UHW_OUT);
  ASSERT_EQ(insert(job, 2, address_of(0x54321, 0x1002)), 0);
  EXPECT_EQ(table_entry(*file, resp.table_cookie, 2), 1ull << 63 | 0x54321ull << 32 | 0x1002);
  EXPECT_EQ(table_entry(*file, resp.table_cookie, 1), 0u);
  ib_uverbs_ah_attr_ex attr;
  ASSERT_EQ(query_addr(job, 2, &attr), 0);
  EXPECT_EQ(attr.remote_qpn, 0x1002u);
  EXPECT_EQ(attr.ah_attr.grh.dgid[15], 0x21);
  ASSERT_EQ(insert(job, 2, address_of(1, 1)), 0);
  ASSERT_EQ(remove(job, 2), 0);
  EXPECT_EQ(table_entry(*file, resp.table_cookie, 2), 0u);
  EXPECT_EQ(query_addr(job, 2), ENOENT);
}

TEST_F(Jobs, RefuseBadTableAccess) {
  const uint32_t job = alloc_job(1, 4);
  EXPECT_EQ(insert(job, 4, address_of(1, 1)), ENOENT);
  EXPECT_EQ(insert(job, 0, address_of(1, 1), 1), EINVAL);
  EXPECT_EQ(insert(job, 0, address_of(0xfffff, 1)), ENETUNREACH);
  EXPECT_EQ(insert(job, 0, ib_uverbs_ah_attr_ex{}), EINVAL);
  EXPECT_EQ(remove(job, 0), ENOENT);
  EXPECT_EQ(remove(job, 4), ENOENT);
  EXPECT_EQ(query_addr(job, 4), ENOENT);
}

TEST_F(Jobs, AreSharedThroughADescriptor) {
  const uint32_t job = alloc_job(1, 4);
  insert(job, 1, address_of(5, 6));
  int fd = export_fd(job);
  EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
  auto elsewhere = open();
  get_context(*elsewhere);
  auto import = import_call(fd);
  ASSERT_EQ(issue(*elsewhere, import), 0);
  auto resp = import.result<cxi_abi_job_resp>(UVERBS_ATTR_UHW_OUT);
  EXPECT_EQ(resp.entries, 4u);
  EXPECT_EQ(table_entry(*elsewhere, resp.table_cookie, 1), 1ull << 63 | 5ull << 32 | 6);
  // Both copies follow at once.
  insert(job, 3, address_of(7, 8));
  EXPECT_EQ(table_entry(*elsewhere, resp.table_cookie, 3), 1ull << 63 | 7ull << 32 | 8);
}

TEST_F(Jobs, MayBeImportedIntoTheContextThatHasThem) {
  int fd = export_fd(alloc_job(1));
  EXPECT_EQ(status(import_call(fd)), 0);
  EXPECT_EQ(status(import_call(fd)), 0);
}

TEST_F(Jobs, LiveAsLongAsACopyOfTheDescriptor) {
  const uint32_t job = alloc_job(1);
  int fd = export_fd(job);
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  dealloc_job(job);
  caller.close_fd(fd);
  EXPECT_EQ(status(import_call(copy)), 0);
  auto& exported = *impl().nic.exported_jobs;
  EXPECT_EQ(exported.size(), 1u);
  close(copy);
  exported.prune();
  EXPECT_EQ(exported.size(), 0u);
}

TEST_F(Jobs, AreNotImportedFromAnythingElse) {
  EXPECT_EQ(status(import_call(987654)), EBADF);
  EXPECT_EQ(status(import_call(comp_channel())), EINVAL);
}

TEST_F(Jobs, AreImportedOnlyWithTheGrant) {
  int fd = export_fd(alloc_job(1));
  auto& services = impl().nic.services;
  Service narrow = *services.find(1);
  narrow.vnis = {10};
  const uint32_t id = services.add(narrow).id;
  auto elsewhere = open();
  get_context(*elsewhere, id);
  auto import = import_call(fd);
  EXPECT_EQ(issue(*elsewhere, import), EPERM);
}

class JobKeys : public Jobs {
 protected:
  uint32_t pd = alloc_pd();
  uint32_t job = alloc_job(1);
};

TEST_F(JobKeys, TakeAProfileForTheVni) {
  auto ioctl = jkey_call(pd, job);
  ASSERT_EQ(issue(ioctl), 0);
  auto resp = ioctl.result<cxi_abi_create_jkey_resp>(UVERBS_ATTR_UHW_OUT);
  EXPECT_EQ(resp.vni, 1u);
  EXPECT_EQ(resp.traffic_class, uint32_t{CXI_ABI_TC_BEST_EFFORT});
  ASSERT_EQ(device().cps.size(), 1u);
  EXPECT_EQ(device().cps.begin()->second.first, 1);
  auto again = jkey_call(pd, job);
  ASSERT_EQ(issue(again), 0);
  EXPECT_EQ(again.result<cxi_abi_create_jkey_resp>(UVERBS_ATTR_UHW_OUT).lcid, resp.lcid);
  EXPECT_EQ(device().cps.size(), 1u);
  auto other = jkey_call(pd, alloc_job(10));
  ASSERT_EQ(issue(other), 0);
  EXPECT_NE(other.result<cxi_abi_create_jkey_resp>(UVERBS_ATTR_UHW_OUT).lcid, resp.lcid);
}

TEST_F(JobKeys, AreNeverZeroAndNeverTheSame) {
  std::set<uint32_t> seen;
  for (int i = 0; i < 300; ++i) {
    auto ioctl = jkey_call(pd, job);
    ASSERT_EQ(issue(ioctl), 0);
    auto key = ioctl.result<uint32_t>(UVERBS_ATTR_CREATE_JKEY_JKEY);
    EXPECT_NE(key, 0u);
    EXPECT_EQ(key & 255, 0u);  // the slot
    EXPECT_TRUE(seen.insert(key).second);
    destroy_jkey(ioctl.handle_of(UVERBS_ATTR_CREATE_JKEY_HANDLE));
  }
}

TEST_F(JobKeys, AreLimited) {
  for (int i = 0; i < 256; ++i)
    create_jkey(pd, job);
  EXPECT_EQ(status(jkey_call(pd, job)), ENOSPC);
}

TEST_F(JobKeys, HaveNoFlags) {
  EXPECT_EQ(status(jkey_call(pd, job).u32(UVERBS_ATTR_CREATE_JKEY_FLAGS, 1)), EINVAL);
}

TEST_F(JobKeys, KeepJobAndPdBusy) {
  const uint32_t key = create_jkey(pd, job);
  EXPECT_EQ(dealloc_job(job), EBUSY);
  EXPECT_EQ(dealloc_pd(pd), EBUSY);
  EXPECT_EQ(destroy_jkey(key), 0);
  EXPECT_EQ(dealloc_job(job), 0);
  EXPECT_EQ(dealloc_pd(pd), 0);
}

TEST_F(JobKeys, AreBusyWhileARegionUsesThem) {
  const uint32_t key = create_jkey(pd, job);
  auto mr = mr_call(pd).handle(UVERBS_ATTR_REG_MR_JKEY_HANDLE, key);
  ASSERT_EQ(issue(mr), 0);
  EXPECT_EQ(destroy_jkey(key), EBUSY);
  auto foreign = mr_call(alloc_pd()).handle(UVERBS_ATTR_REG_MR_JKEY_HANDLE, key);
  EXPECT_EQ(issue(foreign), EINVAL);
  destroy_mr(mr.handle_of(UVERBS_ATTR_REG_MR_HANDLE));
  EXPECT_EQ(destroy_jkey(key), 0);
}

TEST_F(JobKeys, ShareSixteenProfilesThatStay) {
  auto& service = *impl().nic.services.find(1);
  service.vni_range = true;
  service.vnis = {1, 64};
  for (uint32_t vni = 2; vni <= 17; ++vni) {
    auto ioctl = jkey_call(pd, alloc_job(vni));
    ASSERT_EQ(issue(ioctl), 0) << vni;
    destroy_jkey(ioctl.handle_of(UVERBS_ATTR_CREATE_JKEY_HANDLE));
  }
  EXPECT_EQ(status(jkey_call(pd, alloc_job(18))), ENOSPC);
  EXPECT_EQ(status(jkey_call(pd, alloc_job(19))), ENOSPC);
}

class Services : public KernelTest {
 protected:
  static KernelConfig disabled() {
    KernelConfig config;
    config.default_service_enabled = false;
    return config;
  }
  explicit Services(KernelConfig config = {}) : KernelTest(config) {}
  int make_lni(OpenFile& on) {
    auto ioctl = write_command(IB_USER_VERBS_CMD_ALLOC_PD, uint64_t{0}, 4);
    return issue(on, ioctl);
  }
};

class DisabledService : public Services {
 protected:
  DisabledService() : Services(disabled()) {}
};

TEST_F(DisabledService, RefusesWhatNeedsALogicalNi) {
  ASSERT_EQ(get_context(), 0);
  auto job = job_call(1);
  auto cq = cq_call();
  EXPECT_EQ(make_lni(*file), EKEYREVOKED);
  EXPECT_EQ(issue(job), EKEYREVOKED);
  EXPECT_EQ(issue(cq), EKEYREVOKED);
}

TEST_F(Services, RefuseInTheOrderOfTheInterface) {
  auto& services = impl().nic.services;
  ASSERT_EQ(get_context(*file, 99), 0);
  EXPECT_EQ(make_lni(*file), EINVAL);

  Service other = *services.find(1);
  other.enabled = false;
  other.members[0] = {CXI_ABI_MEMBER_UID, 55};
  Service& made = services.add(other);
  auto second = open();
  ASSERT_EQ(get_context(*second, made.id), 0);
  EXPECT_EQ(make_lni(*second), EKEYREVOKED);
  made.enabled = true;
  EXPECT_EQ(make_lni(*second), EPERM);
  made.members[1] = {CXI_ABI_MEMBER_GID, 100};
  for (unsigned rgid = 1; rgid <= 255; ++rgid)
    device().rgids.insert(rgid);
  EXPECT_EQ(make_lni(*second), ENOSPC);
  device().rgids.clear();
  EXPECT_EQ(make_lni(*second), 0);
}

TEST_F(Services, CompareTheEffectiveUser) {
  auto& services = impl().nic.services;
  Service other = *services.find(1);
  other.members[0] = {CXI_ABI_MEMBER_UID, 7};
  get_context(*file, services.add(other).id);
  caller.who.uid = 7;
  EXPECT_EQ(make_lni(*file), EPERM);
  caller.who.euid = 7;
  EXPECT_EQ(make_lni(*file), 0);
}

TEST_F(Services, MakeOneLogicalNiPerContext) {
  get_context();
  EXPECT_TRUE(device().rgids.empty());
  alloc_pd();
  alloc_pd();
  create_cq();
  EXPECT_EQ(device().rgids.size(), 1u);
}

TEST_F(Services, CountWhatTheyGive) {
  auto& services = impl().nic.services;
  Service& service = *services.find(1);
  get_context();
  auto cq = create_cq();
  EXPECT_EQ(service.used(CXI_ABI_RSRC_EQ), 1u);
  EXPECT_EQ(services.free(CXI_ABI_RSRC_EQ), 2046u);
  service.limits[CXI_ABI_RSRC_EQ].max = 1;
  auto more = cq_call();
  EXPECT_EQ(issue(more), ENOSPC);
  destroy_cq(cq.handle);
  EXPECT_EQ(service.used(CXI_ABI_RSRC_EQ), 0u);
}

TEST_F(Services, LeaveTheReservationsOfOthersAlone) {
  auto& services = impl().nic.services;
  Service other = *services.find(1);
  other.limits[CXI_ABI_RSRC_EQ].reserved = 2046;
  services.add(other);
  get_context();
  create_cq();
  auto more = cq_call();
  EXPECT_EQ(issue(more), ENOSPC);
}

TEST_F(Services, PayForAddressContexts) {
  auto& services = impl().nic.services;
  Service& service = *services.find(1);
  service.limits[CXI_ABI_RSRC_AC].max = 1;
  get_context();
  const uint32_t pd = alloc_pd();
  auto first = mr_call(pd), second = mr_call(pd);
  ASSERT_EQ(issue(first), 0);
  ASSERT_EQ(issue(second), 0);
  EXPECT_EQ(service.used(CXI_ABI_RSRC_AC), 1u);
  device().next_lac = 2;
  auto third = mr_call(pd);
  EXPECT_EQ(issue(third), ENOSPC);
  EXPECT_EQ(device().maps.size(), 2u);
}

}  // namespace
}  // namespace sim::uverbs::test
