// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/qp.hpp"

#include "qp_fixture.hpp"

namespace sim::uverbs::test {
namespace {

TEST_F(QueuePairs, AreMadeOfQueuesAndEntries) {
  auto qp = make();
  FakeDevice& d = device();
  EXPECT_EQ(qp.qpn, 0u);  // PID 0, resource index 0
  EXPECT_EQ(qp.resp.vni, 1u);
  EXPECT_TRUE(d.cmdq_configs.at(qp.resp.txq.index).transmit);
  EXPECT_FALSE(d.cmdq_configs.at(qp.resp.tgq.index).transmit);
  EXPECT_EQ(d.cmdq_configs.at(qp.resp.txq.index).eqn, send.eq.eqn);
  EXPECT_EQ(d.cmdq_configs.at(qp.resp.tgq.index).eqn, recv.eq.eqn);
  EXPECT_EQ(qp.resp.txq.slots, 64u);
  EXPECT_EQ(qp.resp.txq.window_flags, uint32_t{CXI_ABI_WINDOW_DOORBELL});
  EXPECT_TRUE(d.pte_configs.at(qp.resp.recv_pte).matching);
  EXPECT_TRUE(d.pte_configs.at(qp.resp.recv_pte).long_events);
  EXPECT_FALSE(d.pte_configs.at(qp.resp.recv_pte).space_check);
  EXPECT_TRUE(d.pte_configs.at(qp.resp.mem_pte).space_check);
  EXPECT_EQ(d.states.at(qp.resp.recv_pte), nic::PteState::enabled);
  EXPECT_EQ(d.states.at(qp.resp.mem_pte), nic::PteState::enabled);
}

TEST_F(QueuePairs, AreMappedAtTheirIndices) {
  make();
  auto qp = make();
  std::map<std::tuple<uint16_t, unsigned, unsigned>, unsigned> expected = {
      {{1, 0, 1}, qp.resp.recv_pte}, {{1, 0, 49}, qp.resp.mem_pte}, {{1, 0, 177}, qp.resp.mem_pte}};
  for (auto& [where, pte] : expected)
    EXPECT_EQ(device().portals.at(where), pte);
  EXPECT_EQ(device().portals.size(), 6u);
}

TEST_F(QueuePairs, GuardTheMemoryEntry) {
  auto qp = make();
  ASSERT_EQ(device().appended[qp.resp.mem_pte].size(), 1u);
  const nic::ListEntry& guard = device().appended[qp.resp.mem_pte][0];
  EXPECT_EQ(guard.list, 1u);
  EXPECT_EQ(guard.match_bits, 1ull << 62);
  EXPECT_EQ(guard.ignore_bits, ~(1ull << 62));
  EXPECT_EQ(guard.length, ~0ull);
  EXPECT_FALSE(guard.op_put || guard.op_get);
  EXPECT_TRUE(guard.event_comm_disable);
  EXPECT_TRUE(device().appended[qp.resp.recv_pte].empty());
}

TEST_F(QueuePairs, HaveSlotMemory) {
  auto qp = make();
  EXPECT_EQ(qp.resp.slot_map_bytes, 4096u);
  EXPECT_EQ(qp.resp.slot_cookie % 4096, 0u);
  EXPECT_EQ(qp.resp.slot_iova >> 53, qp.resp.slot_lac);
  auto req = qp_driver_request();
  req.slot_bytes = req.slot_count = 0;
  auto bare = finish_qp(qp_call(pd, send.handle, recv.handle, jkey, req));
  EXPECT_EQ(bare.resp.slot_map_bytes, 0u);
}

TEST_F(QueuePairs, HaveEveryDoorbellInAPageOfItsOwn) {
  auto a = make(), b = make();
  std::set<uint64_t> pages = {send.eq.sw_state_cookie,  recv.eq.sw_state_cookie,
                              a.resp.txq.launch_cookie, a.resp.tgq.launch_cookie,
                              b.resp.txq.launch_cookie, b.resp.tgq.launch_cookie};
  EXPECT_EQ(pages.size(), 6u);
}

TEST_F(QueuePairs, RaiseTheReserveOfTheirQueues) {
  auto qp = make();
  EXPECT_EQ(qp.resp.send_eq_reserve, send.eq.reserve + 40);
  EXPECT_EQ(qp.resp.recv_eq_reserve, recv.eq.reserve + 8);
  EXPECT_EQ(destroy_qp(qp.handle), 0);
  EXPECT_EQ(device().eq_configs.at(send.eq.eqn).reserved_slots, send.eq.reserve);
  EXPECT_EQ(device().eq_configs.at(recv.eq.eqn).reserved_slots, recv.eq.reserve);
}

TEST_F(QueuePairs, NeedTheirEventSlots) {
  auto req = qp_driver_request();
  req.send_eq_reserve = 16383;
  EXPECT_EQ(status(qp_call(pd, send.handle, recv.handle, jkey, req)), ENOMEM);
  // As many as can be reserved at all: after the ring has been made large enough.
  req.send_eq_reserve = 16383 - send.eq.reserve;
  EXPECT_EQ(status(qp_call(pd, send.handle, recv.handle, jkey, req)), ENOMEM);
  auto resize =
      write_command(IB_USER_VERBS_CMD_RESIZE_CQ, ib_uverbs_resize_cq{0, send.handle, 16, {}}, 8);
  resize.in(UVERBS_ATTR_UHW_IN, cxi_abi_resize_cq_req{16383, 0});
  ASSERT_EQ(issue(resize), 0);
  // Both rings count until the program has left the old one.
  EXPECT_EQ(status(qp_call(pd, send.handle, recv.handle, jkey, req)), ENOMEM);
  auto complete = call(CXI_OBJECT_EQ, CXI_METHOD_EQ_RESIZE);
  complete.handle(CXI_ATTR_HANDLE, send.eq.handle)
      .in(CXI_ATTR_REQ, cxi_abi_eq_req{})
      .out(CXI_ATTR_RESP, sizeof(cxi_abi_eq_info));
  ASSERT_EQ(issue(complete), 0);
  EXPECT_EQ(status(qp_call(pd, send.handle, recv.handle, jkey, req)), 0);
}

TEST_F(QueuePairs, LeaveTheCqTheSlotsItWasMadeWith) {
  auto cq = create_cq(4000);
  const auto slots = static_cast<uint32_t>(cq.eq.ring_bytes / 64);
  auto req = qp_driver_request();
  req.send_eq_reserve = slots - 2 - 4000 - cq.eq.reserve + 1;
  EXPECT_EQ(status(qp_call(pd, cq.handle, recv.handle, jkey, req)), ENOMEM);
  --req.send_eq_reserve;
  EXPECT_EQ(status(qp_call(pd, cq.handle, recv.handle, jkey, req)), 0);
}

TEST_F(QueuePairs, LetSendsWakeTheReceiveQueue) {
  make();
  EXPECT_TRUE(device().wakes.contains({send.eq.eqn, recv.eq.eqn}));
  finish_qp(qp_call(pd, send.handle, send.handle, jkey));
  EXPECT_EQ(device().wakes.size(), 1u);
}

TEST_F(QueuePairs, GiveEverythingBack) {
  auto before = census();
  auto qp = make();
  EXPECT_NE(census(), before);
  EXPECT_EQ(destroy_qp(qp.handle), 0);
  EXPECT_EQ(census(), before);
}

TEST_F(QueuePairs, LeaveNoTraceOfARefusal) {
  auto before = census();
  for (const char* refusal : {"create_txq", "create_tgq", "create_pte", "append", "map_portal",
                              "map_pages", "adjust_eq_reserve", "set_pte_state", "add_eq_wake"}) {
    device().refuse = refusal;
    EXPECT_NE(status(right()), 0) << refusal;
    device().refuse.clear();
    EXPECT_EQ(census(), before) << refusal;
  }
  EXPECT_EQ(make().qpn, 0u);
}

TEST_F(QueuePairs, OfOtherTypesDoNotExist) {
  for (uint64_t type : {2, 3, 4, 8, 255, 1000}) {
    auto ioctl = right();
    set(ioctl, UVERBS_ATTR_CREATE_QP_TYPE, type);
    EXPECT_EQ(status(ioctl), EOPNOTSUPP);
  }
}

TEST_F(QueuePairs, NeedPdAndQueues) {
  for (unsigned id : std::initializer_list<unsigned>{
           UVERBS_ATTR_CREATE_QP_PD_HANDLE, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE,
           UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, UVERBS_ATTR_UHW_IN}) {
    auto ioctl = right();
    drop(ioctl, static_cast<uint16_t>(id));
    EXPECT_EQ(status(ioctl), EINVAL) << id;
  }
}

TEST_F(QueuePairs, NeedAJobKeyOfTheirPdUnlessAbsolute) {
  auto ioctl = right();
  drop(ioctl, UVERBS_ATTR_CREATE_QP_JOB_KEY);
  EXPECT_EQ(status(ioctl), EINVAL);
  EXPECT_EQ(status(ioctl.u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 3)), EINVAL);
  EXPECT_EQ(status(qp_call(alloc_pd(), send.handle, recv.handle, jkey)), EINVAL);
}

TEST_F(QueuePairs, CheckTheirDriverData) {
  auto with = [&](auto change) {
    auto req = qp_driver_request();
    change(req);
    return status(qp_call(pd, send.handle, recv.handle, jkey, req));
  };
  EXPECT_EQ(with([](auto& r) { r.tx_slots = 63; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.tx_slots = 65537; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.tgt_slots = 0; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.send_eq_reserve = 16384; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.recv_eq_reserve = 16384; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.slot_bytes = 65; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.slot_bytes = 0; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.slot_count = 1u << 30; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.recv_le_charge = 16385; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.cp_handle = 9999; }), ENOENT);
  EXPECT_EQ(with([](auto& r) { r.tx_slots = 65; }), 0);
}

TEST_F(QueuePairs, RoundTheirQueuesUp) {
  auto req = qp_driver_request();
  req.tx_slots = 65;
  req.tgt_slots = 129;
  auto qp = finish_qp(qp_call(pd, send.handle, recv.handle, jkey, req));
  EXPECT_EQ(qp.resp.txq.slots, 128u);
  EXPECT_EQ(qp.resp.tgq.slots, 256u);
}

TEST_F(QueuePairs, CheckTheirCapabilities) {
  auto with = [&](ib_uverbs_qp_cap cap) {
    return status(qp_call(pd, send.handle, recv.handle, jkey, qp_driver_request(), cap));
  };
  EXPECT_EQ(with({4097, 1, 1, 1, 0}), EINVAL);
  EXPECT_EQ(with({1, 4097, 1, 1, 0}), EINVAL);
  EXPECT_EQ(with({1, 1, 17, 1, 0}), EINVAL);
  EXPECT_EQ(with({1, 1, 1, 17, 0}), EINVAL);
  EXPECT_EQ(with({1, 1, 1, 1, 193}), EINVAL);
  EXPECT_EQ(with({4096, 4096, 16, 16, 192}), 0);
}

TEST_F(QueuePairs, CheckTheirSemantics) {
  auto with = [&](ib_uverbs_qp_semantics s) {
    return status(right().in(UVERBS_ATTR_CREATE_QP_SEMANTICS, s));
  };
  ib_uverbs_qp_semantics s{};
  s.comp_mask = 1 << 7;
  EXPECT_EQ(with(s), EINVAL);
  s = {};
  s.reserved[1] = 1;
  EXPECT_EQ(with(s), EINVAL);
  s = {};
  s.comp_mask = IB_UVERBS_QP_SEMANTICS_MASK_MSG_ORDER;
  s.msg_order = IB_UVERBS_QP_ORDER_SAS;
  EXPECT_EQ(with(s), EINVAL);
  s = {};
  s.comp_mask = IB_UVERBS_QP_SEMANTICS_MASK_WAW;
  s.max_rdma_waw_size = 1;
  EXPECT_EQ(with(s), EINVAL);
  s = {};
  s.comp_mask = IB_UVERBS_QP_SEMANTICS_MASK_PDU;
  s.max_pdu = 2049;
  EXPECT_EQ(with(s), EINVAL);
  s = {};
  s.comp_mask = IB_UVERBS_QP_SEMANTICS_MASK_IMM;
  s.imm_data_size = 16;
  EXPECT_EQ(with(s), EINVAL);
  s = {};
  s.comp_mask = IB_UVERBS_QP_SEMANTICS_MASK_USAGE;
  s.usage_flags = IB_UVERBS_QP_USAGE_IMM_DATA_RQ;
  EXPECT_EQ(with(s), EINVAL);
  s = {};
  s.msg_order = ~0u;  // its bit is clear
  EXPECT_EQ(with(s), 0);
  EXPECT_EQ(with(offered_semantics()), 0);
}

TEST_F(QueuePairs, CheckTheirFlags) {
  EXPECT_EQ(status(right().u32(UVERBS_ATTR_CREATE_QP_FLAGS, 1 << 0)), EINVAL);
  EXPECT_EQ(status(right().u32(UVERBS_ATTR_CREATE_QP_FLAGS, 1 << 1)), EOPNOTSUPP);
  EXPECT_EQ(status(right().u32(UVERBS_ATTR_CREATE_QP_FLAGS, 1 << 12)), 0);
}

TEST_F(QueuePairs, CheckTheirAttributes) {
  auto with = [&](uint32_t mask, auto change) {
    ib_uverbs_ex_modify_qp attr{};
    attr.base.attr_mask = mask;
    change(attr.base);
    return status(right().in(UVERBS_ATTR_CREATE_QP_ATTR, attr));
  };
  EXPECT_EQ(with(1 << 2, [](auto&) {}), EOPNOTSUPP);
  EXPECT_EQ(with(qp_attr_state, [](auto& a) { a.qp_state = 1; }), EOPNOTSUPP);
  EXPECT_EQ(with(qp_attr_path_mtu, [](auto& a) { a.path_mtu = 5; }), EINVAL);
  EXPECT_EQ(with(qp_attr_path_mtu, [](auto& a) { a.path_mtu = 0; }), EINVAL);
  EXPECT_EQ(with(qp_attr_port, [](auto& a) { a.port_num = 2; }), EINVAL);
  EXPECT_EQ(with(qp_attr_pkey_index, [](auto& a) { a.pkey_index = 1; }), EINVAL);
  EXPECT_EQ(with(qp_attr_rnr_retry, [](auto& a) { a.rnr_retry = 8; }), EINVAL);
  EXPECT_EQ(with(qp_attr_min_rnr_timer, [](auto& a) { a.min_rnr_timer = 32; }), EINVAL);
  EXPECT_EQ(with(qp_attr_state | qp_attr_path_mtu | qp_attr_retry_cnt | qp_attr_cur_state,
                 [](auto& a) {
                   a.qp_state = 3;
                   a.path_mtu = 3;
                   a.retry_cnt = 1;
                 }),
            0);
}

TEST_F(QueuePairs, AreLimitedByListEntries) {
  auto& service = *impl().nic.services.find(1);
  service.limits[CXI_ABI_RSRC_LE].max = 16;
  auto before = census();
  make();
  // The next receive entry lies on another processing element, so it takes four times the entries.
  int error = 0;
  for (int i = 0; i < 8 && error == 0; ++i)
    error = status(right());
  EXPECT_EQ(error, ENOSPC);
  EXPECT_NE(census(), before);
}

TEST_F(QueuePairs, ThatCannotBeMadeTakeThePidNowhereElse) {
  auto qp = make();
  const uint16_t other = qp.resp.vni == 1 ? 10 : 1;  // of the default service
  auto& service = *impl().nic.services.find(1);
  service.limits[CXI_ABI_RSRC_PTE].max = service.used(CXI_ABI_RSRC_PTE);
  EXPECT_EQ(status_with(IB_UVERBS_QPN_UET_ABSOLUTE_ADDR_BIT | 1u << 12), ENOSPC);  // in every VNI
  EXPECT_TRUE(impl().nic.pids.free(other, qp.resp.pid));
  EXPECT_FALSE(impl().nic.pids.free(static_cast<uint16_t>(qp.resp.vni), qp.resp.pid));
}

class Parts : public QueuePairs {};

TEST_F(Parts, AreBusy) {
  auto qp = make();
  EXPECT_EQ(destroy_cq(send.handle), EBUSY);
  EXPECT_EQ(destroy_cq(recv.handle), EBUSY);
  EXPECT_EQ(dealloc_pd(pd), EBUSY);
  EXPECT_EQ(destroy_jkey(jkey), EBUSY);
  EXPECT_EQ(destroy_qp(qp.handle), 0);
  EXPECT_EQ(destroy_cq(send.handle), 0);
}

TEST_F(Parts, HaveHandlesInTheOneIdSpace) {
  auto qp = make();
  std::set<uint32_t> ids = {
      pd,        send.handle,        recv.handle,       job, jkey, send.eq.handle, recv.eq.handle,
      qp.handle, qp.resp.txq.handle, qp.resp.tgq.handle};
  EXPECT_EQ(ids.size(), 10u);
}

class Release : public QueuePairs {};

TEST_F(Release, GivesEverythingBackNewestFirst) {
  make();
  auto mr = mr_call(pd);
  ASSERT_EQ(issue(mr), 0);
  kernel->release(*file);
  EXPECT_TRUE(device().empty());
  auto& service = *impl().nic.services.find(1);
  for (unsigned type = 0; type < CXI_ABI_RSRC_COUNT; ++type) {
    EXPECT_EQ(service.used(static_cast<cxi_abi_resource>(type)), 0u) << type;
  }
  EXPECT_EQ(service.lnis, 0u);
}

TEST_F(Release, FreesThePidsForOthers) {
  make(17);
  auto elsewhere = open();
  get_context(*elsewhere);
  kernel->release(*file);
  file = elsewhere;
  pd = alloc_pd();
  send = create_cq();
  recv = create_cq();
  job = alloc_job(1);
  jkey = create_jkey(pd, job);
  EXPECT_EQ(make(17).qpn, 17u);
}

}  // namespace
}  // namespace sim::uverbs::test
