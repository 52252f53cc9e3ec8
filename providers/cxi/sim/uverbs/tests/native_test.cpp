// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
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

class Descriptors : public NativeTest {
 protected:
  Answer map(cxi_abi_md_req req) {
    return native(CXI_OBJECT_MD, CXI_METHOD_MD_MAP, req, sizeof(cxi_abi_md_resp));
  }
};

TEST_F(Descriptors, MakeMemoryReachable) {
  auto md = map({buffer_va, 100, CXI_ABI_MD_READ | CXI_ABI_MD_WRITE, -1});
  ASSERT_EQ(md.error, 0);
  EXPECT_EQ(md.resp<cxi_abi_md_resp>().lac, 1u);
  EXPECT_TRUE(device().last_map_writes);
  EXPECT_EQ(destroy_native(CXI_OBJECT_MD, CXI_METHOD_MD_UNMAP, md.handle()), 0);
  EXPECT_TRUE(device().maps.empty());
}

TEST_F(Descriptors, RefuseWhatCannotBeMapped) {
  EXPECT_EQ(map({buffer_va, 0, 1, -1}).error, EINVAL);
  EXPECT_EQ(map({buffer_va, 8, 0, -1}).error, EINVAL);
  EXPECT_EQ(map({buffer_va, 8, 4, -1}).error, EINVAL);
  EXPECT_EQ(map({~0ull, 8, 1, -1}).error, EINVAL);
  EXPECT_EQ(map({buffer_va, 8, 1, 3}).error, EOPNOTSUPP);
  EXPECT_EQ(map({0xdead0000, 8, 1, -1}).error, EFAULT);
  EXPECT_EQ(map({FakeCaller::read_only, 8, CXI_ABI_MD_WRITE, -1}).error, EFAULT);
}

TEST_F(Descriptors, OfRegionsAreBusy) {
  auto mr = mr_call(alloc_pd());
  ASSERT_EQ(issue(mr), 0);
  auto handle = mr.result<cxi_abi_reg_mr_resp>(UVERBS_ATTR_UHW_OUT).md_handle;
  EXPECT_EQ(destroy_native(CXI_OBJECT_MD, CXI_METHOD_MD_UNMAP, handle), EBUSY);
}

class NativeEventQueues : public NativeTest {};

TEST_F(NativeEventQueues, AreAsAsked) {
  auto made = eq();
  ASSERT_EQ(made.error, 0);
  auto info = made.resp<cxi_abi_eq_info>();
  EXPECT_EQ(info.handle, made.handle());
  EXPECT_EQ(info.ring_bytes, 8192u);
  EXPECT_EQ(info.reserve, 10u);
  EXPECT_EQ(destroy_native(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, made.handle()), 0);
}

TEST_F(NativeEventQueues, RefuseBadRequests) {
  auto with = [&](auto change) {
    auto req = eq_request();
    change(req);
    return eq(req).error;
  };
  EXPECT_EQ(with([](auto& r) { r.slots = 3; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.slots = (1u << 26) + 1; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.reserve = 128; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.flags = 2; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.status_count = 5; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.status_base = 101; }), EINVAL);
  EXPECT_EQ(with([](auto& r) {
              r.status_count = 3;
              r.status_base = 50;
              r.status_delta = 26;
            }),
            EINVAL);
  EXPECT_EQ(with([](auto& r) { r.reserved_60 = 1; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.reserved_b0 = 1; }), EINVAL);
  EXPECT_EQ(with([](auto& r) {
              r.status_count = 3;
              r.status_base = 50;
              r.status_delta = 25;
            }),
            0);
}

TEST_F(NativeEventQueues, NotifyAChannel) {
  int channel = comp_channel();
  auto req = eq_request();
  req.user_handle = 0x77;
  auto made = native(CXI_OBJECT_EQ, CXI_METHOD_EQ_CREATE, req, sizeof(cxi_abi_eq_info),
                     {{CXI_ATTR_HANDLE, 0}, {CXI_ATTR_CHANNEL_FD, static_cast<uint64_t>(channel)}});
  ASSERT_EQ(made.error, 0);
  auto info = made.resp<cxi_abi_eq_info>();
  arm(info, 1);
  event(info);
  auto told = records<ib_uverbs_comp_event_desc>(channel);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].cq_handle, 0x77u);
}

TEST_F(NativeEventQueues, OfACqAreBusy) {
  auto cq = create_cq();
  EXPECT_EQ(destroy_native(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, cq.eq.handle), EBUSY);
}

class NativeCommandQueues : public NativeTest {
 protected:
  uint32_t profile = cp({1, 0, CXI_ABI_TC_BEST_EFFORT, 0}).handle();
};

TEST_F(NativeCommandQueues, AreAsAsked) {
  auto queue = eq();
  auto made = cmdq({CXI_ABI_CMDQ_TRANSMIT, 100, 2, 1},
                   {{CXI_ATTR_CP_HANDLE, profile}, {CXI_ATTR_EQ_HANDLE, queue.handle()}});
  ASSERT_EQ(made.error, 0);
  auto info = made.resp<cxi_abi_cmdq_info>();
  EXPECT_EQ(info.slots, 128u);
  const nic::CmdqConfig& config = device().cmdq_configs.at(info.index);
  EXPECT_EQ(config.eqn, queue.resp<cxi_abi_eq_info>().eqn);
  EXPECT_EQ(config.policy, nic::StatusPolicy::low_freq_empty);
  EXPECT_EQ(config.stat_pool, 1u);
  EXPECT_EQ(destroy_native(CXI_OBJECT_CP, CXI_METHOD_CP_FREE, profile), EBUSY);
  EXPECT_EQ(destroy_native(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, queue.handle()), EBUSY);
  EXPECT_EQ(destroy_native(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_DESTROY, made.handle()), 0);
  EXPECT_EQ(destroy_native(CXI_OBJECT_CP, CXI_METHOD_CP_FREE, profile), 0);
}

TEST_F(NativeCommandQueues, RefuseBadRequests) {
  EXPECT_EQ(cmdq({CXI_ABI_CMDQ_TRANSMIT, 64, 0, 0}).error, EINVAL);  // no profile
  EXPECT_EQ(cmdq({0, 64, 0, 0}, {{CXI_ATTR_CP_HANDLE, profile}}).error, EINVAL);
  EXPECT_EQ(cmdq({4, 64, 0, 0}).error, EINVAL);
  EXPECT_EQ(cmdq({0, 64, 4, 0}).error, EINVAL);
  EXPECT_EQ(cmdq({0, 64, 0, 4}).error, EINVAL);
  EXPECT_EQ(cmdq({0, 65537, 0, 0}).error, E2BIG);
  EXPECT_EQ(cmdq({CXI_ABI_CMDQ_TRIGGERED, 64, 0, 0}).error, EINVAL);
  const uint32_t second = cp({10, 0, 3, 0}).handle();
  constexpr uint32_t triggered = CXI_ABI_CMDQ_TRANSMIT | CXI_ABI_CMDQ_TRIGGERED;
  EXPECT_EQ(cmdq({triggered, 64, 0, 0}, {{CXI_ATTR_CP_HANDLE, second}}).error, EINVAL);
  EXPECT_EQ(cmdq({triggered, 64, 0, 0}, {{CXI_ATTR_CP_HANDLE, profile}}).error, 0);
  const uint32_t other = lni().handle();
  EXPECT_EQ(cmdq({CXI_ABI_CMDQ_TRANSMIT, 64, 0, 0},
                 {{CXI_ATTR_CP_HANDLE, profile}, {CXI_ATTR_LNI_HANDLE, other}})
                .error,
            EINVAL);
  EXPECT_EQ(cmdq({0, 64, 0, 0}, {{CXI_ATTR_EQ_HANDLE, eq().handle()}, {CXI_ATTR_LNI_HANDLE, other}})
                .error,
            EINVAL);
}

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

class ServiceCalls : public NativeTest {
 protected:
  ServiceCalls() { caller.who.cap_sys_admin = true; }
  OpenFile* target() override { return on ? on : file.get(); }

  static cxi_abi_svc_desc right() {
    cxi_abi_svc_desc desc{};
    desc.flags = CXI_ABI_SVC_ENABLED;
    desc.num_vnis = 2;
    desc.vnis[0] = 100;
    desc.vnis[1] = 200;
    desc.tc_mask = 1 << CXI_ABI_TC_BEST_EFFORT;
    desc.members[0] = {CXI_ABI_MEMBER_UID, 1000};
    return desc;
  }
  Answer alloc(const cxi_abi_svc_desc& desc) {
    return native(CXI_OBJECT_SVC, CXI_METHOD_SVC_ALLOC, desc, sizeof desc);
  }
  int alloc_with(std::function<void(cxi_abi_svc_desc&)> change) {
    auto desc = right();
    change(desc);
    return alloc(desc).error;
  }
  Answer modify(const cxi_abi_svc_desc& desc) {
    return native(CXI_OBJECT_SVC, CXI_METHOD_SVC_MODIFY, desc, sizeof desc, {});
  }
  Answer query(uint32_t id) {
    return native(CXI_OBJECT_SVC, CXI_METHOD_SVC_QUERY, cxi_abi_lni_req{id, 0},
                  sizeof(cxi_abi_svc_desc), {});
  }
  int destroy_service(uint32_t id) {
    return native(CXI_OBJECT_SVC, CXI_METHOD_SVC_DESTROY, cxi_abi_lni_req{id, 0}, 0, {}).error;
  }
  std::vector<uint32_t> list() {
    auto ioctl = call(CXI_OBJECT_SVC, CXI_METHOD_SVC_LIST);
    ioctl.out(CXI_ATTR_RESP, 32);
    EXPECT_EQ(issue(ioctl), 0);
    std::vector<uint32_t> ids;
    for (uint32_t id : ioctl.result<std::array<uint32_t, 8>>(CXI_ATTR_RESP)) {
      if (id) ids.push_back(id);
    }
    return ids;
  }

  OpenFile* on = nullptr;
};

TEST_F(ServiceCalls, MakeAGrant) {
  auto made = alloc(right());
  ASSERT_EQ(made.error, 0);
  auto desc = made.resp<cxi_abi_svc_desc>();
  EXPECT_EQ(desc.svc_id, 2u);
  EXPECT_EQ(desc.num_vnis, 2u);
  EXPECT_EQ(desc.vnis[1], 200);
  EXPECT_EQ(desc.limits[CXI_ABI_RSRC_EQ].max, 2047u);
  caller.who.cap_sys_admin = false;
  auto elsewhere = open();
  get_context(*elsewhere, desc.svc_id);
  on = elsewhere.get();
  EXPECT_EQ(cp({100, 0, CXI_ABI_TC_BEST_EFFORT, 0}).error, 0);
  EXPECT_EQ(cp({1, 0, CXI_ABI_TC_BEST_EFFORT, 0}).error, ENOENT);
  EXPECT_EQ(cp({100, 0, CXI_ABI_TC_BULK_DATA, 0}).error, EINVAL);
}

TEST_F(ServiceCalls, NeedPrivilege) {
  auto made = alloc(right());
  auto desc = made.resp<cxi_abi_svc_desc>();
  caller.who.cap_sys_admin = false;
  caller.who.euid = 0;
  EXPECT_EQ(alloc(right()).error, EPERM);
  EXPECT_EQ(modify(desc).error, EPERM);
  EXPECT_EQ(destroy_service(desc.svc_id), EPERM);
}

TEST_F(ServiceCalls, CheckTheDescription) {
  EXPECT_EQ(alloc_with([](auto& d) { d.num_vnis = 5; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.num_vnis = 3; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.num_vnis = 1; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.vnis[0] = 0; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.flags |= CXI_ABI_SVC_DYING; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.flags |= CXI_ABI_SVC_VNI_RANGE; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.tc_mask = 0; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.tc_mask = 16; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.members[1].type = 4; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.limits[0] = {1, 2, 0, 0}; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.limits[0] = {2048, 0, 0, 0}; }), EINVAL);
  EXPECT_EQ(list(), std::vector<uint32_t>{1});
}

TEST_F(ServiceCalls, HaveRangesThatDoNotOverlap) {
  auto range = [](uint16_t first, uint16_t last) {
    return [first, last](cxi_abi_svc_desc& d) {
      d.flags |= CXI_ABI_SVC_VNI_RANGE;
      d.vnis[0] = first;
      d.vnis[1] = last;
    };
  };
  EXPECT_EQ(alloc_with(range(1024, 1031)), 0);
  EXPECT_EQ(alloc_with(range(1028, 1031)), EEXIST);
  EXPECT_EQ(alloc_with(range(1032, 1039)), 0);
  EXPECT_EQ(alloc_with(range(2000, 2002)), EINVAL);
  EXPECT_EQ(alloc_with(range(2001, 2002)), EINVAL);
  EXPECT_EQ(alloc_with(range(2010, 2009)), EINVAL);
}

TEST_F(ServiceCalls, SayWhatIsFreeWhenAReservationFails) {
  auto desc = right();
  desc.flags |= CXI_ABI_SVC_LIMITED;
  desc.limits[CXI_ABI_RSRC_TXQ] = {1000, 1000, 0, 0};
  ASSERT_EQ(alloc(desc).error, 0);
  desc.limits[CXI_ABI_RSRC_TXQ] = {25, 25, 0, 0};
  auto refused = alloc(desc);
  EXPECT_EQ(refused.error, ENOSPC);
  EXPECT_EQ(refused.resp<cxi_abi_svc_desc>().limits[CXI_ABI_RSRC_TXQ].free, 24u);
  EXPECT_EQ(list().size(), 2u);
}

TEST_F(ServiceCalls, ShowMembersTheirOwn) {
  auto made = alloc(right()).resp<cxi_abi_svc_desc>();
  caller.who.cap_sys_admin = false;
  EXPECT_EQ(list(), (std::vector<uint32_t>{1, made.svc_id}));
  EXPECT_EQ(query(made.svc_id).error, 0);
  caller.who.euid = 7;
  EXPECT_EQ(list(), std::vector<uint32_t>{1});
  EXPECT_EQ(query(made.svc_id).error, EPERM);
  EXPECT_EQ(query(99).error, EINVAL);
}

TEST_F(ServiceCalls, AreModifiedWhileUnused) {
  auto desc = alloc(right()).resp<cxi_abi_svc_desc>();
  desc.vnis[0] = 101;
  EXPECT_EQ(modify(desc).error, 0);
  auto elsewhere = open();
  get_context(*elsewhere, desc.svc_id);
  alloc_pd(*elsewhere);
  desc.vnis[0] = 102;
  EXPECT_EQ(modify(desc).error, EBUSY);
  desc.vnis[0] = 101;
  desc.flags = 0;
  EXPECT_EQ(modify(desc).error, 0);  // disabling is always possible
  EXPECT_EQ(lni(desc.svc_id).error, EKEYREVOKED);
  desc.svc_id = 99;
  EXPECT_EQ(modify(desc).error, EINVAL);
}

TEST_F(ServiceCalls, KeepTheirLimits) {
  auto desc = right();
  desc.flags |= CXI_ABI_SVC_LIMITED;
  desc.limits[CXI_ABI_RSRC_EQ].max = 5;
  desc = alloc(desc).resp<cxi_abi_svc_desc>();
  desc.limits[CXI_ABI_RSRC_EQ].max = 6;
  EXPECT_EQ(modify(desc).error, EINVAL);
}

TEST_F(ServiceCalls, AreDestroyedWhileUnused) {
  auto made = alloc(right());
  const uint32_t id = made.resp<cxi_abi_svc_desc>().svc_id;
  auto on_it = lni(id);
  EXPECT_EQ(destroy_service(id), EBUSY);
  EXPECT_EQ(destroy_native(CXI_OBJECT_SVC, CXI_METHOD_SVC_DESTROY, made.handle()), EBUSY);
  destroy_native(CXI_OBJECT_LNI, CXI_METHOD_LNI_DESTROY, on_it.handle());
  EXPECT_EQ(destroy_service(id), 0);
  EXPECT_EQ(destroy_service(id), EINVAL);
  EXPECT_EQ(destroy_native(CXI_OBJECT_SVC, CXI_METHOD_SVC_DESTROY, made.handle()), ENOENT);
  EXPECT_EQ(destroy_service(1), EINVAL);
}

TEST_F(ServiceCalls, GoWithTheLastLogicalNiWhenTheOwnerDied) {
  auto owner = open();
  get_context(*owner);
  on = owner.get();
  const uint32_t id = alloc(right()).resp<cxi_abi_svc_desc>().svc_id;
  on = nullptr;
  auto user = lni(id);
  ASSERT_EQ(user.error, 0);
  kernel->release(*owner);
  EXPECT_EQ(query(id).resp<cxi_abi_svc_desc>().flags & CXI_ABI_SVC_DYING,
            uint32_t{CXI_ABI_SVC_DYING});
  EXPECT_EQ(lni(id).error, EKEYREVOKED);
  destroy_native(CXI_OBJECT_LNI, CXI_METHOD_LNI_DESTROY, user.handle());
  EXPECT_EQ(query(id).error, EINVAL);
}

TEST_F(ServiceCalls, EndWithTheirOwner) {
  auto owner = open();
  get_context(*owner);
  on = owner.get();
  const uint32_t id = alloc(right()).resp<cxi_abi_svc_desc>().svc_id;
  on = nullptr;
  kernel->release(*owner);
  EXPECT_EQ(query(id).error, EINVAL);
}

class NativeRelease : public NativeTest {};

TEST_F(NativeRelease, GivesEverythingBack) {
  const uint32_t ni = lni().handle();
  const uint32_t profile = cp({1, 0, 3, 0}, ni).handle();
  auto queue = native(CXI_OBJECT_EQ, CXI_METHOD_EQ_CREATE, eq_request(), 40,
                      {{CXI_ATTR_HANDLE, 0}, {CXI_ATTR_LNI_HANDLE, ni}});
  native(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_CREATE, cxi_abi_cmdq_req{1, 64, 0, 0}, 40,
         {{CXI_ATTR_HANDLE, 0},
          {CXI_ATTR_LNI_HANDLE, ni},
          {CXI_ATTR_CP_HANDLE, profile},
          {CXI_ATTR_EQ_HANDLE, queue.handle()}});
  auto entry = pte(0, 3, {{CXI_ATTR_LNI_HANDLE, ni}});
  cxi_abi_pte_req req{};
  EXPECT_EQ(pte_work(CXI_METHOD_PTE_MAP, entry.handle(), req, domain(1, 9, ni).handle()), 0);
  EXPECT_FALSE(device().empty());
  kernel->release(*file);
  EXPECT_TRUE(device().empty());
}

}  // namespace
}  // namespace sim::uverbs::test
