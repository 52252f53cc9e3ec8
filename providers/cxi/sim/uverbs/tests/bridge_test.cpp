// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Verbs objects on the program's own resources: protection domains, CQs and queue pairs on another
// logical NI than the context's, CQs on an event queue, queue pairs on a communication profile.
#include "native_fixture.hpp"
#include "uverbs/qp.hpp"

namespace sim::uverbs::test {
namespace {

constexpr uint16_t own_vni = 1, other_vni = 100;

class Bridge : public NativeTest {
 protected:
  Bridge() {
    caller.who.cap_sys_admin = true;
    cxi_abi_svc_desc desc{};
    desc.flags = CXI_ABI_SVC_ENABLED;
    desc.num_vnis = 1;
    desc.vnis[0] = other_vni;
    desc.tc_mask = 1 << CXI_ABI_TC_BEST_EFFORT | 1 << CXI_ABI_TC_LOW_LATENCY;
    desc.members[0] = {CXI_ABI_MEMBER_UID, 1000};
    auto made = native(CXI_OBJECT_SVC, CXI_METHOD_SVC_ALLOC, desc, sizeof desc);
    EXPECT_EQ(made.error, 0);
    service = made.resp<cxi_abi_svc_desc>().svc_id;
    caller.who.cap_sys_admin = false;
    ni.emplace(lni(service));
    EXPECT_EQ(ni->error, 0);
  }

  uint32_t on() { return ni->handle(); }
  unsigned rgid() { return ni->resp<cxi_abi_lni_resp>().rgid; }
  int destroy_lni() { return destroy_native(CXI_OBJECT_LNI, CXI_METHOD_LNI_DESTROY, on()); }
  int destroy_eq(uint32_t h) { return destroy_native(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, h); }

  Ioctl pd_call(const cxi_abi_alloc_pd_req& req) {
    return write_command(IB_USER_VERBS_CMD_ALLOC_PD, uint64_t{0}, 4).in(UVERBS_ATTR_UHW_IN, req);
  }
  int pd_status(const cxi_abi_alloc_pd_req& req) {
    auto ioctl = pd_call(req);
    return issue(ioctl);
  }
  uint32_t pd_on(uint32_t lni_handle) {
    auto ioctl = pd_call({lni_handle, 0});
    EXPECT_EQ(issue(ioctl), 0);
    return ioctl.result<uint32_t>(UVERBS_ATTR_CORE_OUT);
  }
  Ioctl cq_call_with(const cxi_abi_create_cq_req& req, uint32_t cqe = 16, int channel = -1) {
    auto ioctl = cq_call(cqe, channel);
    std::erase_if(ioctl.attrs, [](auto& a) { return a.attr_id == UVERBS_ATTR_UHW_IN; });
    return ioctl.in(UVERBS_ATTR_UHW_IN, req);
  }
  int cq_status(const cxi_abi_create_cq_req& req, uint32_t cqe = 16, int channel = -1) {
    auto ioctl = cq_call_with(req, cqe, channel);
    return issue(ioctl);
  }
  MadeCq cq_with(const cxi_abi_create_cq_req& req, uint32_t cqe = 16, int channel = -1) {
    auto ioctl = cq_call_with(req, cqe, channel);
    EXPECT_EQ(issue(ioctl), 0);
    return {ioctl.handle_of(UVERBS_ATTR_CREATE_CQ_HANDLE),
            ioctl.result<cxi_abi_create_cq_resp>(UVERBS_ATTR_UHW_OUT).eq};
  }
  MadeCq cq_on(uint32_t lni_handle) {
    return cq_with(cq_driver_request(0, CXI_ABI_HANDLE_NONE, lni_handle));
  }
  int jkey_status(uint32_t pd, uint32_t job) {
    auto ioctl = jkey_call(pd, job);
    return issue(ioctl);
  }
  int status(Ioctl ioctl) { return issue(ioctl); }

  uint32_t service = 0;
  std::optional<Answer> ni;
};

class DomainsOfALogicalNi : public Bridge {};

TEST_F(DomainsOfALogicalNi, KeepItBusy) {
  const uint32_t pd = pd_on(on());
  EXPECT_EQ(destroy_lni(), EBUSY);
  EXPECT_EQ(dealloc_pd(pd), 0);
  EXPECT_EQ(destroy_lni(), 0);
  EXPECT_FALSE(impl().has_lni());  // the context's own was not needed
}

TEST_F(DomainsOfALogicalNi, AreTheContextsOwnWithoutOne) {
  pd_on(CXI_ABI_HANDLE_NONE);
  EXPECT_TRUE(impl().has_lni());
  EXPECT_EQ(destroy_lni(), 0);
}

TEST_F(DomainsOfALogicalNi, CheckTheirRequest) {
  const uint32_t pd = alloc_pd();
  EXPECT_EQ(pd_status({999, 0}), ENOENT);
  EXPECT_EQ(pd_status({pd, 0}), ENOENT);
  EXPECT_EQ(pd_status({on(), 1}), EINVAL);
  auto shorter = write_command(IB_USER_VERBS_CMD_ALLOC_PD, uint64_t{0}, 4)
                     .in(UVERBS_ATTR_UHW_IN, uint32_t{on()});
  EXPECT_EQ(issue(shorter), EINVAL);
}

TEST_F(DomainsOfALogicalNi, HaveTheirRegionsThere) {
  const uint32_t pd = pd_on(on());
  auto mr = mr_call(pd);
  ASSERT_EQ(issue(mr), 0);
  auto query = call(CXI_OBJECT_LNI, CXI_METHOD_LNI_QUERY);
  query.handle(CXI_ATTR_HANDLE, on()).out(CXI_ATTR_RESP, sizeof(cxi_abi_lni_resp));
  ASSERT_EQ(issue(query), 0);
  EXPECT_EQ(query.result<cxi_abi_lni_resp>(CXI_ATTR_RESP).num_acs, 1u);
  EXPECT_FALSE(impl().has_lni());
}

TEST_F(DomainsOfALogicalNi, HaveKeysOfItsServiceOnly) {
  const uint32_t here = pd_on(on()), own = alloc_pd();
  const uint32_t here_job = alloc_job(other_vni), own_job = alloc_job(own_vni);
  EXPECT_EQ(jkey_status(here, own_job), EPERM);
  EXPECT_EQ(jkey_status(own, here_job), EPERM);
  auto key = jkey_call(here, here_job);
  ASSERT_EQ(issue(key), 0);
  auto resp = key.result<cxi_abi_create_jkey_resp>(UVERBS_ATTR_UHW_OUT);
  EXPECT_EQ(resp.vni, other_vni);
  EXPECT_EQ(device().cps.at({rgid(), resp.lcid}).first, other_vni);
  EXPECT_EQ(jkey_status(own, own_job), 0);
}

TEST_F(DomainsOfALogicalNi, GiveNoKeysWhenTheGrantEnds) {
  const uint32_t pd = pd_on(on()), job = alloc_job(other_vni);
  impl().nic.services.find(service)->enabled = false;
  EXPECT_EQ(jkey_status(pd, job), EPERM);
  impl().nic.services.find(service)->enabled = true;
  impl().nic.services.find(service)->members[0].id = 7;
  EXPECT_EQ(jkey_status(pd, job), EPERM);
}

TEST_F(DomainsOfALogicalNi, BringTheJobsOfItsService) {
  EXPECT_EQ(status(job_call(other_vni)), 0);
  EXPECT_FALSE(impl().has_lni());
  EXPECT_EQ(status(job_call(own_vni)), 0);
  EXPECT_EQ(status(job_call(77)), EPERM);
  EXPECT_EQ(destroy_lni(), 0);
  EXPECT_EQ(status(job_call(other_vni)), EPERM);
}

class CqsOfALogicalNi : public Bridge {};

TEST_F(CqsOfALogicalNi, KeepItBusy) {
  auto cq = cq_on(on());
  EXPECT_FALSE(impl().has_lni());
  EXPECT_EQ(destroy_lni(), EBUSY);
  EXPECT_EQ(destroy_cq(cq.handle), 0);
  EXPECT_EQ(destroy_lni(), 0);
}

TEST_F(CqsOfALogicalNi, CheckTheirRequest) {
  EXPECT_EQ(cq_status(cq_driver_request(0, CXI_ABI_HANDLE_NONE, 999)), ENOENT);
  EXPECT_EQ(cq_status({0, CXI_ABI_HANDLE_NONE, on(), 1}), EINVAL);
  EXPECT_TRUE(device().eqs.empty());
}

class CqsOnEventQueues : public Bridge {
 protected:
  uint32_t reserve_of(const cxi_abi_eq_info& info) {
    return device().eq_configs.at(info.eqn).reserved_slots;
  }
  // Room for what a CQ of 16 takes: 96 slots of reserve, 16 more, and two.
  Answer eq_of(uint32_t slots, uint32_t reserve = 10, uint32_t flags = 0) {
    cxi_abi_eq_req req{};
    req.slots = slots;
    req.reserve = reserve;
    req.flags = flags;
    return eq(req, {{CXI_ATTR_LNI_HANDLE, on()}});
  }
};

TEST_F(CqsOnEventQueues, RaiseItsReserveWhileTheyLive) {
  auto queue = eq_of(128);
  auto cq = cq_with(cq_driver_request(0, queue.handle()));
  EXPECT_EQ(cq.eq.handle, queue.handle());
  EXPECT_EQ(cq.eq.reserve, 96u);
  EXPECT_EQ(reserve_of(cq.eq), 96u);
  EXPECT_EQ(destroy_cq(cq.handle), 0);
  EXPECT_EQ(reserve_of(cq.eq), 10u);
  EXPECT_EQ(destroy_eq(queue.handle()), 0);
}

TEST_F(CqsOnEventQueues, LeaveAGreaterReserve) {
  auto queue = eq_of(256, 100);
  auto cq = cq_with(cq_driver_request(0, queue.handle()));
  EXPECT_EQ(cq.eq.reserve, 100u);
  EXPECT_EQ(destroy_cq(cq.handle), 0);
  EXPECT_EQ(reserve_of(cq.eq), 100u);
}

TEST_F(CqsOnEventQueues, NeedRoomForTheirReserveAndSize) {
  // Rings are whole pages of 64 slots: 128 hold 2 + 96 + 16 and not 2 + 102 + 19 + more.
  auto queue = eq_of(128);
  EXPECT_EQ(cq_status(cq_driver_request(0, queue.handle()), 21), EINVAL);  // 2 + 106 + 21
  EXPECT_EQ(cq_status(cq_driver_request(0, queue.handle()), 20), 0);       // 2 + 104 + 20
  auto reserving = eq_of(128, 120);
  EXPECT_EQ(cq_status(cq_driver_request(0, reserving.handle()), 7), EINVAL);
  EXPECT_EQ(cq_status(cq_driver_request(0, reserving.handle()), 6), 0);
}

TEST_F(CqsOnEventQueues, NeedItsEventsToSuit) {
  const uint32_t stamps = CXI_ABI_EQ_INIT_LONG | CXI_ABI_EQ_TGT_LONG;
  auto brief = eq_of(128), half = eq_of(128, 10, CXI_ABI_EQ_TGT_LONG);
  EXPECT_EQ(cq_status(cq_driver_request(stamps, brief.handle())), EINVAL);
  EXPECT_EQ(cq_status(cq_driver_request(stamps, half.handle())), EINVAL);
  EXPECT_EQ(cq_status(cq_driver_request(CXI_ABI_EQ_TGT_LONG, half.handle())), 0);
  auto right = eq_of(128, 10, stamps | CXI_ABI_EQ_EC_DISABLE);
  EXPECT_EQ(cq_status(cq_driver_request(stamps, right.handle())), 0);
}

TEST_F(CqsOnEventQueues, AreOfItsLogicalNi) {
  auto queue = eq_of(128);
  EXPECT_EQ(cq_status(cq_driver_request(0, queue.handle(), lni().handle())), EINVAL);
  EXPECT_EQ(cq_status(cq_driver_request(0, queue.handle(), 999)), ENOENT);
  EXPECT_EQ(cq_status(cq_driver_request(0, queue.handle(), on())), 0);
  EXPECT_FALSE(impl().has_lni());
}

TEST_F(CqsOnEventQueues, WantItForThemselves) {
  auto queue = eq_of(128);
  auto used =
      cmdq({0, 64, 0, 0}, {{CXI_ATTR_EQ_HANDLE, queue.handle()}, {CXI_ATTR_LNI_HANDLE, on()}});
  ASSERT_EQ(used.error, 0);
  EXPECT_EQ(cq_status(cq_driver_request(0, queue.handle())), EBUSY);
  destroy_native(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_DESTROY, used.handle());
  auto cq = cq_with(cq_driver_request(0, queue.handle()));
  EXPECT_EQ(cq_status(cq_driver_request(0, queue.handle())), EBUSY);
  EXPECT_EQ(destroy_eq(queue.handle()), EBUSY);
  for (auto [handle, where] : {std::pair{queue.handle(), on()}, {cq_on(on()).eq.handle, on()}}) {
    std::vector<std::pair<uint16_t, uint64_t>> with = {{CXI_ATTR_EQ_HANDLE, handle},
                                                       {CXI_ATTR_LNI_HANDLE, where}};
    EXPECT_EQ(cmdq({0, 64, 0, 0}, with).error, EBUSY);
    EXPECT_EQ(pte(0, 0, with).error, EBUSY);
  }
  EXPECT_EQ(destroy_cq(cq.handle), 0);
  EXPECT_EQ(pte(0, 0, {{CXI_ATTR_EQ_HANDLE, queue.handle()}, {CXI_ATTR_LNI_HANDLE, on()}}).error,
            0);
}

TEST_F(CqsOnEventQueues, LeaveNothingBehindWhenRefused) {
  auto queue = eq_of(128);
  const size_t objects = impl().objects.size();
  device().refuse = "adjust_eq_reserve";
  EXPECT_EQ(cq_status(cq_driver_request(0, queue.handle())), ENOMEM);
  device().refuse.clear();
  EXPECT_EQ(impl().objects.size(), objects);
  EXPECT_EQ(destroy_eq(queue.handle()), 0);
}

class CqsOnChannels : public CqsOnEventQueues {
 protected:
  static constexpr uint64_t eq_handle = 0x77, cq_handle = 0xc0;
  int channel = comp_channel();
  Answer queue = eq(
      [] {
        cxi_abi_eq_req req{};
        req.slots = 128;
        req.user_handle = eq_handle;
        return req;
      }(),
      {{CXI_ATTR_LNI_HANDLE, on()}, {CXI_ATTR_CHANNEL_FD, static_cast<uint64_t>(channel)}});
  cxi_abi_eq_info info = queue.resp<cxi_abi_eq_info>();
  unsigned value = 0;

  void notify() {
    arm(info, ++value);
    event(info);
  }
  std::vector<uint64_t> told() {
    std::vector<uint64_t> handles;
    for (auto& r : records<ib_uverbs_comp_event_desc>(channel))
      handles.push_back(r.cq_handle);
    return handles;
  }
};

TEST_F(CqsOnChannels, NeedTheSameOne) {
  const auto req = cq_driver_request(0, queue.handle());
  EXPECT_EQ(cq_status(req), EINVAL);
  EXPECT_EQ(cq_status(req, 16, comp_channel()), EINVAL);
  EXPECT_EQ(cq_status(cq_driver_request(0, eq_of(128).handle()), 16, channel), EINVAL);
  EXPECT_EQ(cq_status(req, 16, channel), 0);
}

TEST_F(CqsOnChannels, HaveItsRecordsWhileTheyLive) {
  notify();
  EXPECT_EQ(told(), std::vector<uint64_t>{eq_handle});
  notify();  // unread: it does not become the CQ's
  auto cq = cq_with(cq_driver_request(0, queue.handle()), 16, channel);
  EXPECT_TRUE(told().empty());
  notify();
  EXPECT_EQ(told(), std::vector<uint64_t>{cq_handle});
  notify();
  ib_uverbs_destroy_cq_resp resp;
  ASSERT_EQ(destroy_cq(cq.handle, &resp), 0);
  EXPECT_EQ(resp.comp_events_reported, 1u);  // the other one went unread
  EXPECT_TRUE(told().empty());
  notify();
  EXPECT_EQ(told(), std::vector<uint64_t>{eq_handle});
}

TEST_F(CqsOnChannels, GoOnWithTheValuesOfTheQueue) {
  notify();
  EXPECT_EQ(told().size(), 1u);
  cq_with(cq_driver_request(0, queue.handle()), 16, channel);
  event(info);
  EXPECT_TRUE(told().empty());  // this value has been told of
}

class QueuePairsOfALogicalNi : public Bridge {
 protected:
  uint32_t pd = pd_on(on());
  MadeCq cq = cq_on(on());
  uint32_t job = alloc_job(other_vni);
  uint32_t jkey = create_jkey(pd, job);

  Ioctl right() { return qp_call(pd, cq.handle, cq.handle, jkey); }
  Answer profile(uint16_t vni, uint16_t tc = CXI_ABI_TC_LOW_LATENCY) {
    return cp({vni, 0, tc, 0}, on());
  }
  Ioctl on_profile(uint32_t handle) {
    auto req = qp_driver_request();
    req.cp_handle = handle;
    return qp_call(pd, cq.handle, cq.handle, jkey, req);
  }
  int free_cp(uint32_t h) { return destroy_native(CXI_OBJECT_CP, CXI_METHOD_CP_FREE, h); }
};

TEST_F(QueuePairsOfALogicalNi, AreThere) {
  auto qp = finish_qp(right());
  EXPECT_EQ(qp.resp.vni, other_vni);
  EXPECT_EQ(device().portals.at({other_vni, qp.resp.pid, qp.resp.ri}), qp.resp.recv_pte);
  EXPECT_EQ(device().cps.at({rgid(), qp.resp.txq.lcid}).first, other_vni);
  EXPECT_FALSE(impl().has_lni());
}

TEST_F(QueuePairsOfALogicalNi, NeedEverythingOfOne) {
  auto own = create_cq();
  EXPECT_EQ(status(qp_call(pd, own.handle, cq.handle, jkey)), EINVAL);
  EXPECT_EQ(status(qp_call(pd, cq.handle, own.handle, jkey)), EINVAL);
  const uint32_t own_pd = alloc_pd();
  const uint32_t own_key = create_jkey(own_pd, alloc_job(own_vni));
  EXPECT_EQ(status(qp_call(pd, cq.handle, cq.handle, own_key)), EINVAL);
  EXPECT_EQ(status(qp_call(own_pd, own.handle, own.handle, jkey)), EINVAL);
  EXPECT_EQ(status(qp_call(own_pd, cq.handle, cq.handle, own_key)), EINVAL);
  EXPECT_EQ(status(qp_call(own_pd, own.handle, own.handle, own_key)), 0);
}

TEST_F(QueuePairsOfALogicalNi, StartOnAProfileOfTheProgram) {
  auto wanted = profile(other_vni);
  auto qp = finish_qp(on_profile(wanted.handle()));
  EXPECT_EQ(qp.resp.txq.lcid, wanted.resp<cxi_abi_cp_resp>().lcid);
  EXPECT_EQ(device().cmdq_configs.at(qp.resp.txq.index).lcid, qp.resp.txq.lcid);
  EXPECT_EQ(device().cps.at({rgid(), qp.resp.txq.lcid}),
            (std::pair<uint16_t, unsigned>{other_vni, CXI_ABI_TC_LOW_LATENCY}));
  EXPECT_EQ(free_cp(wanted.handle()), EBUSY);
  EXPECT_EQ(destroy_qp(qp.handle), 0);
  EXPECT_EQ(free_cp(wanted.handle()), 0);
}

TEST_F(QueuePairsOfALogicalNi, RefuseProfilesThatDoNotSuit) {
  impl().nic.services.find(service)->vnis.push_back(200);
  EXPECT_EQ(status(on_profile(profile(200).handle())), EINVAL);
  EXPECT_EQ(status(on_profile(999)), ENOENT);
  EXPECT_EQ(status(on_profile(pd)), ENOENT);
  impl().nic.services.find(1)->vnis.push_back(other_vni);
  auto elsewhere = cp({other_vni, 0, CXI_ABI_TC_LOW_LATENCY, 0}, lni().handle());
  ASSERT_EQ(elsewhere.error, 0);
  EXPECT_EQ(status(on_profile(elsewhere.handle())), EINVAL);
  EXPECT_TRUE(device().cmdqs.empty());
}

TEST_F(QueuePairsOfALogicalNi, TakeProfilesWithoutAKeyToo) {
  auto req = qp_driver_request();
  impl().nic.services.find(service)->vnis.push_back(200);
  req.cp_handle = profile(200).handle();
  auto absolute = [&] {
    return qp_call(pd, cq.handle, cq.handle, std::nullopt, req)
        .u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, IB_UVERBS_QPN_UET_ABSOLUTE_ADDR_BIT);
  };
  EXPECT_EQ(status(absolute()), EINVAL);  // it sends in the service's first VNI
  auto first = profile(other_vni);
  req.cp_handle = first.handle();
  EXPECT_EQ(finish_qp(absolute()).resp.txq.lcid, first.resp<cxi_abi_cp_resp>().lcid);
}

TEST_F(QueuePairsOfALogicalNi, MayHavePidsThatAreReservedForIt) {
  auto take = [&](Ioctl ioctl, uint32_t pid) {
    return ioctl.u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, pid << IB_UVERBS_QPN_UET_PID_ON_FEP_SHIFT);
  };
  auto run =
      native(CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_RESERVE, cxi_abi_domain_req{other_vni, 20, 2, 0},
             sizeof(cxi_abi_domain_resp), {{CXI_ATTR_LNI_HANDLE, on()}});
  ASSERT_EQ(run.error, 0);
  const uint32_t second = lni(service).handle();
  const uint32_t second_pd = pd_on(second);
  auto second_cq = cq_on(second);
  const uint32_t second_key = create_jkey(second_pd, job);
  EXPECT_EQ(status(take(qp_call(second_pd, second_cq.handle, second_cq.handle, second_key), 20)),
            ENOSPC);
  auto qp = finish_qp(take(right(), 20));
  EXPECT_EQ(qp.resp.pid, 20u);
  // Used, and afterwards reserved again.
  EXPECT_EQ(domain(other_vni, 20, on()).error, EEXIST);
  EXPECT_EQ(destroy_qp(qp.handle), 0);
  EXPECT_EQ(destroy_jkey(jkey), 0);
  EXPECT_EQ(dealloc_pd(pd), 0);
  EXPECT_EQ(domain(other_vni, 20, second).error, EEXIST);
  EXPECT_EQ(domain(other_vni, 20, on()).error, 0);
}

TEST_F(QueuePairsOfALogicalNi, AreCountedByCountersOfItOnly) {
  auto counter = call(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_CREATE);
  counter.fresh(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE);
  ASSERT_EQ(issue(counter), 0);
  auto attach = [&](uint32_t qp) {
    auto ioctl = call(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_COMP_CNTR);
    ioctl.handle(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE, qp)
        .handle(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE,
                counter.handle_of(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE))
        .u32(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK, IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_SEND);
    return issue(ioctl);
  };
  EXPECT_EQ(attach(finish_qp(right()).handle), EINVAL);
  const uint32_t own = alloc_pd();
  auto own_cq = create_cq();
  auto qp =
      finish_qp(qp_call(own, own_cq.handle, own_cq.handle, create_jkey(own, alloc_job(own_vni))));
  EXPECT_EQ(attach(qp.handle), 0);
}

TEST_F(QueuePairsOfALogicalNi, OwnTheirParts) {
  auto qp = finish_qp(right());
  auto mr = mr_call(pd);
  ASSERT_EQ(issue(mr), 0);
  const uint32_t md = mr.result<cxi_abi_reg_mr_resp>(UVERBS_ATTR_UHW_OUT).md_handle;
  const size_t objects = impl().objects.size();
  EXPECT_EQ(destroy_native(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_DESTROY, qp.resp.txq.handle), EBUSY);
  EXPECT_EQ(destroy_native(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_DESTROY, qp.resp.tgq.handle), EBUSY);
  EXPECT_EQ(destroy_native(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, cq.eq.handle), EBUSY);
  EXPECT_EQ(destroy_native(CXI_OBJECT_MD, CXI_METHOD_MD_UNMAP, md), EBUSY);
  EXPECT_EQ(impl().objects.size(), objects);
  EXPECT_EQ(destroy_qp(qp.handle), 0);
  EXPECT_EQ(destroy_native(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_DESTROY, qp.resp.txq.handle), ENOENT);
}

TEST_F(QueuePairsOfALogicalNi, GoWithTheirContext) {
  cxi_abi_eq_req req = eq_request();
  req.slots = 256;
  auto queue = eq(req, {{CXI_ATTR_LNI_HANDLE, on()}});
  auto borrowed = cq_with(cq_driver_request(0, queue.handle()));
  auto driver = qp_driver_request();
  driver.cp_handle = profile(other_vni).handle();
  finish_qp(qp_call(pd, borrowed.handle, cq.handle, jkey, driver));
  kernel->release(*file);
  EXPECT_TRUE(device().empty());
}

}  // namespace
}  // namespace sim::uverbs::test
