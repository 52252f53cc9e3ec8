// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Logical NIs, communication profiles, domains.
#include "native_fixture.hpp"

namespace sim::uverbs::test {
namespace {

class LogicalNis : public NativeTest {};

TEST_F(LogicalNis, AreMadeAndBusyWhileUsed) {
  auto made = lni();
  ASSERT_EQ(made.error, 0);
  EXPECT_EQ(made.resp<cxi_abi_lni_resp>().svc_id, 1u);
  EXPECT_EQ(device().rgids.size(), 1u);
  auto profile = cp({1, 0, CXI_ABI_TC_BEST_EFFORT, 0}, made.handle());
  ASSERT_EQ(profile.error, 0);
  EXPECT_EQ(destroy_native(CXI_OBJECT_LNI, CXI_METHOD_LNI_DESTROY, made.handle()), EBUSY);
  EXPECT_EQ(destroy_native(CXI_OBJECT_CP, CXI_METHOD_CP_FREE, profile.handle()), 0);
  EXPECT_EQ(destroy_native(CXI_OBJECT_LNI, CXI_METHOD_LNI_DESTROY, made.handle()), 0);
  EXPECT_TRUE(device().rgids.empty());
}

TEST_F(LogicalNis, CheckTheirRequest) {
  EXPECT_EQ(lni(99).error, EINVAL);
  EXPECT_EQ(lni(1, 1).error, EINVAL);
  auto shorter = native(CXI_OBJECT_LNI, CXI_METHOD_LNI_CREATE, uint32_t{1}, 16);
  EXPECT_EQ(shorter.error, EINVAL);
  auto longer =
      native(CXI_OBJECT_LNI, CXI_METHOD_LNI_CREATE, std::array<uint32_t, 4>{1, 0, 0, 1}, 16);
  EXPECT_EQ(longer.error, E2BIG);
}

TEST_F(LogicalNis, AreQueried) {
  auto made = lni();
  cp({1, 0, CXI_ABI_TC_BEST_EFFORT, 0}, made.handle());
  auto query = call(CXI_OBJECT_LNI, CXI_METHOD_LNI_QUERY);
  query.handle(CXI_ATTR_HANDLE, made.handle()).out(CXI_ATTR_RESP, sizeof(cxi_abi_lni_resp));
  ASSERT_EQ(issue(query), 0);
  EXPECT_EQ(query.result<cxi_abi_lni_resp>(CXI_ATTR_RESP).num_cps, 1u);
}

class Profiles : public NativeTest {};

TEST_F(Profiles, RefuseWhatIsNotGranted) {
  EXPECT_EQ(cp({0, 0, 3, 0}).error, EINVAL);
  EXPECT_EQ(cp({2, 0, 3, 0}).error, ENOENT);
  EXPECT_EQ(cp({1, 0, 4, 0}).error, EINVAL);
  EXPECT_EQ(cp({1, 0, CXI_ABI_TC_DEDICATED_ACCESS, 0}).error, EINVAL);
  EXPECT_EQ(cp({1, 0, CXI_ABI_TC_LOW_LATENCY, CXI_ABI_TC_TYPE_HRP}).error, EINVAL);
  EXPECT_EQ(cp({1, 0, CXI_ABI_TC_BEST_EFFORT, 4}).error, EINVAL);
  EXPECT_EQ(cp({1, 2, CXI_ABI_TC_BEST_EFFORT, 0}).error, EINVAL);
  impl().nic.services.find(1)->tc_mask = 1 << CXI_ABI_TC_LOW_LATENCY;
  EXPECT_EQ(cp({1, 0, CXI_ABI_TC_BEST_EFFORT, 0}).error, EINVAL);
  EXPECT_EQ(cp({1, 0, CXI_ABI_TC_LOW_LATENCY, 0}).error, 0);
  impl().nic.services.find(1)->members[0] = {CXI_ABI_MEMBER_UID, 4};
  EXPECT_EQ(cp({1, 0, CXI_ABI_TC_LOW_LATENCY, 0}).error, EPERM);
}

TEST_F(Profiles, AreSharedWhenTheSame) {
  auto a = cp({1, 0, 3, 0}), b = cp({1, 0, 3, 0}), c = cp({10, 0, 3, 0});
  EXPECT_EQ(a.resp<cxi_abi_cp_resp>().lcid, b.resp<cxi_abi_cp_resp>().lcid);
  EXPECT_NE(a.resp<cxi_abi_cp_resp>().lcid, c.resp<cxi_abi_cp_resp>().lcid);
  destroy_native(CXI_OBJECT_CP, CXI_METHOD_CP_FREE, a.handle());
  EXPECT_EQ(device().cps.size(), 2u);
  destroy_native(CXI_OBJECT_CP, CXI_METHOD_CP_FREE, b.handle());
  EXPECT_EQ(device().cps.size(), 1u);
}

TEST_F(Profiles, ForTriggersAreTheFirst) {
  EXPECT_EQ(cp({1, CXI_ABI_CP_TRIGGERED, 3, 0}).resp<cxi_abi_cp_resp>().lcid, 0u);
  EXPECT_EQ(cp({10, CXI_ABI_CP_TRIGGERED, 3, 0}).error, ENOSPC);
}

class NativeDomains : public NativeTest {};

TEST_F(NativeDomains, HaveOnePidEach) {
  auto first = domain(1, C_PID_ANY);
  ASSERT_EQ(first.error, 0);
  EXPECT_EQ(first.resp<cxi_abi_domain_resp>().pid, 0u);
  EXPECT_EQ(domain(1, 0).error, EEXIST);
  EXPECT_EQ(domain(10, 0).error, 0);
  EXPECT_EQ(domain(1, 510).error, 0);
  EXPECT_EQ(domain(1, 512).error, EINVAL);
  EXPECT_EQ(domain(0, 5).error, EINVAL);
  EXPECT_EQ(domain(3, 5).error, ENOENT);
  EXPECT_EQ(destroy_native(CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_DESTROY, first.handle()), 0);
  EXPECT_EQ(domain(1, 0).error, 0);
}

TEST_F(NativeDomains, AreReservedForALogicalNi) {
  auto run = reserve(1, C_PID_ANY, 4);
  ASSERT_EQ(run.error, 0);
  EXPECT_EQ(run.resp<cxi_abi_domain_resp>().pid, 0u);
  EXPECT_EQ(reserve(1, 3, 2).error, EEXIST);
  EXPECT_EQ(reserve(1, C_PID_ANY, 508).error, ENOSPC);
  EXPECT_EQ(reserve(1, C_PID_ANY, 0).error, EINVAL);
  EXPECT_EQ(reserve(1, C_PID_ANY, 512).error, EINVAL);
  EXPECT_EQ(reserve(10, 0, 511).error, 0);
  // Its own domains may be made in it, another's not.
  auto other = lni();
  EXPECT_EQ(domain(1, 2, other.handle()).error, EEXIST);
  auto own = domain(1, 2);
  ASSERT_EQ(own.error, 0);
  EXPECT_EQ(domain(1, 2).error, EEXIST);
  destroy_native(CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_DESTROY, own.handle());
  EXPECT_EQ(domain(1, 2, other.handle()).error, EEXIST);
  kernel->release(*file);
  EXPECT_TRUE(impl().nic.pids.free(1, 2));
}

TEST_F(NativeDomains, AreNotReservedWhenThatCannotBeAnswered) {
  auto ioctl = call(CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_RESERVE);
  ioctl.in(CXI_ATTR_REQ, cxi_abi_domain_req{1, 7, 2, 0})
      .out(CXI_ATTR_RESP, sizeof(cxi_abi_domain_resp));
  ioctl.place();
  caller.unwritable = ioctl.answered(CXI_ATTR_RESP).data;
  EXPECT_EQ(issue(ioctl), EFAULT);
  caller.unwritable = 0;
  EXPECT_TRUE(impl().nic.pids.free(1, 7));
  EXPECT_EQ(reserve(1, 7, 2).error, 0);
}

}  // namespace
}  // namespace sim::uverbs::test
