// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Portal entries and counting events.
#include "native_fixture.hpp"

namespace sim::uverbs::test {
namespace {

class PortalEntries : public NativeTest {
 protected:
  uint32_t domain_handle = domain(1, 5).handle();
};

TEST_F(PortalEntries, AreAsAsked) {
  auto queue = eq();
  auto made = pte(CXI_ABI_PTE_MATCHING | CXI_ABI_PTE_SIGNAL_INEXACT, 7,
                  {{CXI_ATTR_EQ_HANDLE, queue.handle()}});
  ASSERT_EQ(made.error, 0);
  auto resp = made.resp<cxi_abi_pte_resp>();
  EXPECT_EQ(resp.state, 1u);
  EXPECT_EQ(resp.les_reserved, 7u);
  const nic::PteConfig& config = device().pte_configs.at(resp.pte);
  EXPECT_TRUE(config.matching && config.signal_inexact);
  EXPECT_FALSE(config.flow_control);
  EXPECT_EQ(config.eqn, queue.resp<cxi_abi_eq_info>().eqn);
  EXPECT_EQ(destroy_native(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, queue.handle()), EBUSY);
  EXPECT_EQ(pte(1u << 15).error, EINVAL);
  EXPECT_EQ(pte(0, 16385).error, EINVAL);
}

TEST_F(PortalEntries, AreMappedInADomain) {
  auto made = pte(0);
  const uint32_t number = made.resp<cxi_abi_pte_resp>().pte;
  cxi_abi_pte_req req{};
  req.index = 12;
  ASSERT_EQ(pte_work(CXI_METHOD_PTE_MAP, made.handle(), req, domain_handle), 0);
  EXPECT_EQ(device().portals.at({1, 5, 12}), number);
  EXPECT_EQ(destroy_native(CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_DESTROY, domain_handle), EBUSY);
  EXPECT_EQ(destroy_native(CXI_OBJECT_PTE, CXI_METHOD_PTE_DESTROY, made.handle()), EBUSY);
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_UNMAP, made.handle(), req, domain_handle), 0);
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_UNMAP, made.handle(), req, domain_handle), EINVAL);
  EXPECT_TRUE(device().portals.empty());
  EXPECT_EQ(destroy_native(CXI_OBJECT_PTE, CXI_METHOD_PTE_DESTROY, made.handle()), 0);
}

TEST_F(PortalEntries, RefuseBadMappings) {
  auto made = pte(0);
  cxi_abi_pte_req req{};
  req.index = 256;
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_MAP, made.handle(), req, domain_handle), EINVAL);
  req.multicast = 1;
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_MAP, made.handle(), req, domain_handle), 0);
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_MAP, made.handle(), req, domain_handle), EINVAL);
  EXPECT_EQ(destroy_native(CXI_OBJECT_PTE, CXI_METHOD_PTE_DESTROY, made.handle()), EBUSY);
  req.index = 1 << 18;
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_MAP, made.handle(), req, domain_handle), EINVAL);
  req = {};
  const uint32_t other = lni().handle();
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_MAP, made.handle(), req, domain(10, 5, other).handle()),
            EINVAL);
}

TEST_F(PortalEntries, AreQueriedWithTheirUnexpectedMessages) {
  auto made = pte(0);
  cxi_abi_pte_req req{};
  req.max_offsets = 4;
  req.offsets_ptr = buffer_va;
  auto query = native(CXI_OBJECT_PTE, CXI_METHOD_PTE_QUERY, req, sizeof(cxi_abi_pte_resp),
                      {{CXI_ATTR_HANDLE, made.handle()}});
  ASSERT_EQ(query.error, 0);
  auto resp = query.resp<cxi_abi_pte_resp>();
  EXPECT_EQ(resp.drop_count, 7u);
  EXPECT_EQ(resp.les_allocated, 3u);
  EXPECT_EQ(resp.les_max, 9u);
  EXPECT_EQ(resp.ule_count, 2u);
  EXPECT_EQ(caller.load<uint64_t>(buffer_va + 8), 101u);
  EXPECT_EQ(caller.load<uint64_t>(buffer_va + 16), 0u);
  req.offsets_ptr = 0xdead0000;
  EXPECT_EQ(
      native(CXI_OBJECT_PTE, CXI_METHOD_PTE_QUERY, req, 32, {{CXI_ATTR_HANDLE, made.handle()}})
          .error,
      EFAULT);
}

TEST_F(PortalEntries, BecomeSoftwareManagedFromDisabledOnly) {
  auto made = pte(0);
  const uint32_t number = made.resp<cxi_abi_pte_resp>().pte;
  cxi_abi_pte_req req{};
  device().states[number] = nic::PteState::enabled;
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_TRANSITION, made.handle(), req), EINVAL);
  device().states[number] = nic::PteState::disabled;
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_TRANSITION, made.handle(), req), EAGAIN);
  req.drop_count = 7;
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_TRANSITION, made.handle(), req), 0);
  EXPECT_EQ(device().states[number], nic::PteState::software_managed);
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_TRANSITION, made.handle(), req), 0);
}

TEST_F(PortalEntries, InvalidateListEntries) {
  auto made = pte(0);
  cxi_abi_pte_req req{};
  req.buffer_id = 77;
  req.list = 1;
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_INVALIDATE_LE, made.handle(), req), 0);
  EXPECT_EQ(device().invalidated.back(), (std::pair<unsigned, unsigned>{1, 77}));
  req.list = 3;
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_INVALIDATE_LE, made.handle(), req), EINVAL);
  req.list = 1;
  req.buffer_id = 65536;
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_INVALIDATE_LE, made.handle(), req), EINVAL);
}

class CountingEvents : public NativeTest {
 protected:
  Answer ct(uint64_t writeback = 0) {
    return native(CXI_OBJECT_CT, CXI_METHOD_CT_CREATE, cxi_abi_ct_req{writeback, 0, 0, 0},
                  sizeof(cxi_abi_ct_resp));
  }
  Answer work(uint16_t method, uint32_t handle, uint64_t success, uint64_t failure,
              size_t resp = 0) {
    return native(CXI_OBJECT_CT, method, cxi_abi_ct_req{0, success, failure, 0}, resp,
                  {{CXI_ATTR_HANDLE, handle}});
  }
};

TEST_F(CountingEvents, Count) {
  auto made = ct(buffer_va);
  ASSERT_EQ(made.error, 0);
  EXPECT_EQ(made.resp<cxi_abi_ct_resp>().window_flags, 0u);
  EXPECT_EQ(work(CXI_METHOD_CT_SET, made.handle(), 40, 1).error, 0);
  EXPECT_EQ(work(CXI_METHOD_CT_INC, made.handle(), 2, 1).error, 0);
  auto read = call(CXI_OBJECT_CT, CXI_METHOD_CT_READ);
  read.handle(CXI_ATTR_HANDLE, made.handle()).out(CXI_ATTR_RESP, sizeof(cxi_abi_ct_resp));
  ASSERT_EQ(issue(read), 0);
  EXPECT_EQ(read.result<cxi_abi_ct_resp>(CXI_ATTR_RESP).success, 42u);
  EXPECT_EQ(read.result<cxi_abi_ct_resp>(CXI_ATTR_RESP).failure, 2u);
  EXPECT_EQ(destroy_native(CXI_OBJECT_CT, CXI_METHOD_CT_DESTROY, made.handle()), 0);
  EXPECT_TRUE(device().cts.empty());
}

TEST_F(CountingEvents, AreWaitedForWithoutSleeping) {
  auto made = ct();
  EXPECT_EQ(work(CXI_METHOD_CT_WAIT, made.handle(), 5, 0, 32).error, EAGAIN);
  work(CXI_METHOD_CT_SET, made.handle(), 5, 0);
  EXPECT_EQ(work(CXI_METHOD_CT_WAIT, made.handle(), 5, 0, 32).error, 0);
  work(CXI_METHOD_CT_SET, made.handle(), 0, 1);
  EXPECT_EQ(work(CXI_METHOD_CT_WAIT, made.handle(), 5, 0, 32).error, 0);  // a failure ends it too
}

TEST_F(CountingEvents, RefuseBadValues) {
  EXPECT_EQ(ct(buffer_va + 4).error, EINVAL);
  EXPECT_EQ(ct(0xdead0000).error, EFAULT);
  EXPECT_EQ(ct(FakeCaller::read_only).error, EFAULT);
  auto made = ct();
  EXPECT_EQ(work(CXI_METHOD_CT_SET, made.handle(), 1ull << 48, 0).error, EINVAL);
  EXPECT_EQ(work(CXI_METHOD_CT_INC, made.handle(), 0, 128).error, EINVAL);
}

}  // namespace
}  // namespace sim::uverbs::test
