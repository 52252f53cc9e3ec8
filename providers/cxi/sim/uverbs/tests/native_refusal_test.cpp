// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Refusals of the driver's own objects that rdma/cxiverbs-native-abi.h names and that need a
// service, a device or a process which has run out of something.
#include "native_fixture.hpp"

namespace sim::uverbs::test {
namespace {

class Refusals : public NativeTest {
 protected:
  Service& service() { return *impl().nic.services.find(CXI_ABI_DEFAULT_SVC_ID); }
  void allow(cxi_abi_resource type, uint32_t most) { service().limits[type] = {most, 0}; }
  Answer map(cxi_abi_md_req req) {
    return native(CXI_OBJECT_MD, CXI_METHOD_MD_MAP, req, sizeof(cxi_abi_md_resp));
  }
  Answer ct(cxi_abi_ct_req req = {}) {
    return native(CXI_OBJECT_CT, CXI_METHOD_CT_CREATE, req, sizeof(cxi_abi_ct_resp));
  }
  int query_lni() {
    auto ioctl = call(CXI_OBJECT_LNI, CXI_METHOD_LNI_QUERY);
    ioctl.out(CXI_ATTR_RESP, sizeof(cxi_abi_lni_resp));
    return issue(ioctl);
  }
};

TEST_F(Refusals, OfALogicalNiComeInTheirOrder) {
  service().members[0] = {CXI_ABI_MEMBER_UID, 4242};
  service().enabled = false;
  EXPECT_EQ(lni().error, EKEYREVOKED);
  EXPECT_EQ(query_lni(), EKEYREVOKED);
  EXPECT_EQ(cp({1, 0, CXI_ABI_TC_BEST_EFFORT, 0}).error, EKEYREVOKED);
  service().enabled = true;
  EXPECT_EQ(lni().error, EPERM);
  EXPECT_EQ(query_lni(), EPERM);
  EXPECT_EQ(domain(1, 5).error, EPERM);
  EXPECT_EQ(eq().error, EPERM);
  EXPECT_EQ(pte(0).error, EPERM);
  EXPECT_EQ(ct().error, EPERM);
  EXPECT_EQ(map({buffer_va, 8, CXI_ABI_MD_READ, -1}).error, EPERM);
  service().members[0] = {CXI_ABI_MEMBER_ANY, 0};
  for (unsigned i = 0; i < 255; i++)
    ASSERT_EQ(lni().error, 0);
  EXPECT_EQ(lni().error, ENOSPC);
  EXPECT_EQ(query_lni(), ENOSPC);
}

TEST_F(Refusals, OfTheVniComeInTheirOrder) {
  ASSERT_EQ(query_lni(), 0);
  service().members[0] = {CXI_ABI_MEMBER_UID, 4242};
  for (const uint32_t wide : {0u, 65536u}) {
    EXPECT_EQ(domain(wide, 5).error, EINVAL);
    EXPECT_EQ(reserve(wide, 5, 1).error, EINVAL);
  }
  EXPECT_EQ(domain(2, 5).error, ENOENT);
  EXPECT_EQ(reserve(2, 5, 1).error, ENOENT);
  EXPECT_EQ(domain(1, 5).error, EPERM);
  EXPECT_EQ(reserve(1, 5, 1).error, EPERM);
}

TEST_F(Refusals, OfProfilesWhenTheLcidsAreUsedUp) {
  service().vnis = {1, 2, 3, 4, 5, 6};
  unsigned made = 0;
  for (uint16_t vni = 1; vni <= 6; vni++)
    for (uint16_t tc : {CXI_ABI_TC_LOW_LATENCY, CXI_ABI_TC_BULK_DATA, CXI_ABI_TC_BEST_EFFORT})
      if (const int error = cp({vni, 0, tc, 0}).error; error == 0)
        made++;
      else
        EXPECT_EQ(error, ENOSPC);
  EXPECT_EQ(made, 16u);
  EXPECT_EQ(cp({6, CXI_ABI_CP_TRIGGERED, CXI_ABI_TC_BEST_EFFORT, 0}).error, ENOSPC);
}

TEST_F(Refusals, OfDomains) {
  const auto create = [&](cxi_abi_domain_req req) {
    return native(CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_CREATE, req, sizeof(cxi_abi_domain_resp))
        .error;
  };
  EXPECT_EQ(create({1, 5, 1, 0}), EINVAL);
  EXPECT_EQ(create({1, 5, 0, 1}), EINVAL);
  EXPECT_EQ(reserve(1, 511, 1).error, 0);  // C_PID_ANY of 9 bits
  EXPECT_EQ(reserve(1, 512, 1).error, EINVAL);
  EXPECT_EQ(reserve(1, 510, 2).error, EEXIST);  // beyond the last
  for (uint32_t pid = 1; pid < 511; pid++)
    ASSERT_EQ(domain(1, pid).error, 0);
  EXPECT_EQ(domain(1, C_PID_ANY).error, ENOSPC);
  EXPECT_EQ(domain(1, 0).error, 0);  // reserved for this logical NI
}

TEST_F(Refusals, OfMemoryThatTheDeviceCannotPlace) {
  device().refuse = "map_memory";
  EXPECT_EQ(map({buffer_va, 8, CXI_ABI_MD_READ, -1}).error, ENOSPC);
  device().refuse.clear();
  EXPECT_TRUE(device().maps.empty());
}

TEST_F(Refusals, OfWhatTheServiceHasNothingOf) {
  const uint32_t profile = cp({1, 0, CXI_ABI_TC_BEST_EFFORT, 0}).handle();
  for (unsigned type = 0; type < CXI_ABI_RSRC_COUNT; type++)
    allow(static_cast<cxi_abi_resource>(type), 0);
  EXPECT_EQ(map({buffer_va, 8, CXI_ABI_MD_READ, -1}).error, EBADR);
  EXPECT_EQ(eq().error, EBADR);
  EXPECT_EQ(cmdq({CXI_ABI_CMDQ_TRANSMIT, 64, 0, 0}, {{CXI_ATTR_CP_HANDLE, profile}}).error, EBADR);
  EXPECT_EQ(cmdq({0, 64, 0, 0}).error, EBADR);
  EXPECT_EQ(pte(0).error, EBADR);
  EXPECT_EQ(ct().error, EBADR);
  EXPECT_TRUE(device().maps.empty());
  EXPECT_TRUE(device().eqs.empty());
  EXPECT_TRUE(device().cmdq_configs.empty());
  // List entries are charged only where some are asked for.
  allow(CXI_ABI_RSRC_PTE, 1);
  EXPECT_EQ(pte(0, 1).error, EBADR);
  EXPECT_EQ(pte(0).error, 0);
}

TEST_F(Refusals, OfFilesComeBeforeThoseOfTheLogicalNi) {
  service().enabled = false;
  EXPECT_EQ(map({0, 8, CXI_ABI_MD_READ, 12345}).error, EBADF);
  EXPECT_EQ(map({buffer_va, 8, CXI_ABI_MD_READ, -1}).error, EKEYREVOKED);
}

TEST_F(Refusals, LookOnlyAtWhatAMethodNames) {
  const uint32_t counter = ct().handle();
  cxi_abi_ct_req req{};
  req.failure = ~0ull;
  const auto wait = [&] {
    return native(CXI_OBJECT_CT, CXI_METHOD_CT_WAIT, req, sizeof(cxi_abi_ct_resp),
                  {{CXI_ATTR_HANDLE, counter}})
        .error;
  };
  EXPECT_EQ(wait(), 0);
  req.success = 1ull << 48;
  EXPECT_EQ(wait(), EINVAL);
}

TEST_F(Refusals, OfQueuesThatTheServiceHasNot) {
  const uint32_t profile = cp({1, 0, CXI_ABI_TC_BEST_EFFORT, 0}).handle();
  allow(CXI_ABI_RSRC_EQ, 1);
  allow(CXI_ABI_RSRC_TXQ, 1);
  allow(CXI_ABI_RSRC_TGQ, 1);
  EXPECT_EQ(eq().error, 0);
  EXPECT_EQ(eq().error, ENOSPC);
  const cxi_abi_cmdq_req transmit{CXI_ABI_CMDQ_TRANSMIT, 64, 0, 0}, target{0, 64, 0, 0};
  EXPECT_EQ(cmdq(transmit, {{CXI_ATTR_CP_HANDLE, profile}}).error, 0);
  EXPECT_EQ(cmdq(transmit, {{CXI_ATTR_CP_HANDLE, profile}}).error, ENOSPC);
  EXPECT_EQ(cmdq(target).error, 0);
  EXPECT_EQ(cmdq(target).error, ENOSPC);
  EXPECT_EQ(device().eqs.size(), 1u);
  EXPECT_EQ(device().cmdq_configs.size(), 2u);
}

TEST_F(Refusals, OfEventQueuesBeyondTheirReserve) {
  auto req = eq_request();
  req.slots = 20000;
  req.reserve = 16384;
  EXPECT_EQ(eq(req).error, EINVAL);
  req.reserve = 16383;
  EXPECT_EQ(eq(req).error, 0);
  req = eq_request();
  req.status_delta = 101;
  EXPECT_EQ(eq(req).error, EINVAL);
}

TEST_F(Refusals, OfPortalEntries) {
  const uint32_t other = lni().handle();
  const uint32_t queue = eq().handle();
  EXPECT_EQ(pte(0, 0, {{CXI_ATTR_EQ_HANDLE, queue}, {CXI_ATTR_LNI_HANDLE, other}}).error, EINVAL);
  allow(CXI_ABI_RSRC_LE, 4);
  EXPECT_EQ(pte(0, 5).error, ENOSPC);
  allow(CXI_ABI_RSRC_PTE, 2);
  const uint32_t first = pte(0).handle(), second = pte(0).handle();
  EXPECT_EQ(pte(0).error, ENOSPC);

  const uint32_t place = domain(1, 5).handle();
  cxi_abi_pte_req req{};
  req.multicast = 2;
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_MAP, first, req, place), EINVAL);
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_UNMAP, first, req, place), EINVAL);
  req.multicast = 0;
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_MAP, first, req, place), 0);
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_MAP, second, req, place), ENOSPC);
}

TEST_F(Refusals, OfCountingEvents) {
  EXPECT_EQ(ct({0, 1, 0, 0}).error, EINVAL);
  EXPECT_EQ(ct({0, 0, 1, 0}).error, EINVAL);
  EXPECT_EQ(ct({0, 0, 0, 1}).error, EINVAL);
  allow(CXI_ABI_RSRC_CT, 1);
  const auto made = ct();
  EXPECT_EQ(made.error, 0);
  EXPECT_EQ(ct().error, ENOSPC);
  EXPECT_EQ(native(CXI_OBJECT_CT, CXI_METHOD_CT_WAIT, cxi_abi_ct_req{0, 1ull << 48, 0, 0},
                   sizeof(cxi_abi_ct_resp), {{CXI_ATTR_HANDLE, made.handle()}})
                .error,
            EINVAL);
}

TEST_F(Refusals, OfServicesThatAreNotNamed) {
  caller.who.cap_sys_admin = true;
  auto ioctl = call(CXI_OBJECT_SVC, CXI_METHOD_SVC_DESTROY);
  EXPECT_EQ(issue(ioctl), EINVAL);
}

TEST_F(Refusals, OfServicesWhoseKindOfLimitsWouldChange) {
  caller.who.cap_sys_admin = true;
  auto query = native(CXI_OBJECT_SVC, CXI_METHOD_SVC_QUERY,
                      cxi_abi_lni_req{CXI_ABI_DEFAULT_SVC_ID, 0}, sizeof(cxi_abi_svc_desc), {});
  auto desc = query.resp<cxi_abi_svc_desc>();
  const auto modify = [&] {
    return native(CXI_OBJECT_SVC, CXI_METHOD_SVC_MODIFY, desc, sizeof desc, {}).error;
  };
  EXPECT_EQ(modify(), 0);
  desc.flags &= ~uint32_t{CXI_ABI_SVC_LIMITED};
  EXPECT_EQ(modify(), EINVAL);
}

TEST_F(Refusals, OfAnotherContextsHandles) {
  const uint32_t mine = lni().handle();
  auto other = open();
  ASSERT_EQ(get_context(*other), 0);
  auto ioctl = call(CXI_OBJECT_LNI, CXI_METHOD_LNI_DESTROY);
  ioctl.handle(CXI_ATTR_HANDLE, mine);
  EXPECT_EQ(issue(*other, ioctl), ENOENT);
  EXPECT_EQ(destroy_native(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, mine), EINVAL);
  EXPECT_EQ(destroy_native(CXI_OBJECT_LNI, CXI_METHOD_LNI_DESTROY, mine), 0);
}

TEST_F(Refusals, OfADeviceThatIsGone) {
  const uint32_t mine = lni().handle();
  EXPECT_EQ(kernel->fail_device(0), 0);
  EXPECT_EQ(lni().error, EIO);
  EXPECT_EQ(destroy_native(CXI_OBJECT_LNI, CXI_METHOD_LNI_DESTROY, mine), EIO);
}

}  // namespace
}  // namespace sim::uverbs::test
