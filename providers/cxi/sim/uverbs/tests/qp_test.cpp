// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/qp.hpp"

#include "kernel_fixture.hpp"

namespace sim::uverbs::test {
namespace {

constexpr uint32_t absolute = IB_UVERBS_QPN_UET_ABSOLUTE_ADDR_BIT;

class QueuePairs : public ContextTest {
 protected:
  uint32_t pd = alloc_pd();
  MadeCq send = create_cq(), recv = create_cq();
  uint32_t job = alloc_job(1);
  uint32_t jkey = create_jkey(pd, job);

  Ioctl right() { return qp_call(pd, send.handle, recv.handle, jkey); }
  MadeQp make() { return finish_qp(right()); }
  MadeQp make(uint32_t qpn) {
    return finish_qp(right().u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, qpn));
  }
  int status(Ioctl ioctl) { return issue(ioctl); }
  int status_with(uint32_t qpn) {
    return status(right().u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, qpn));
  }
  static void set(Ioctl& ioctl, uint16_t id, uint64_t value) {
    for (auto& a : ioctl.attrs) {
      if (a.attr_id == id) a.data = value;
    }
  }
  static void drop(Ioctl& ioctl, uint16_t id) {
    std::erase_if(ioctl.attrs, [id](auto& a) { return a.attr_id == id; });
  }
  // What exists on the NIC, to see that a refusal leaves no trace.
  auto census() {
    FakeDevice& d = device();
    return std::tuple(d.eqs, d.cmdqs, d.ptes, d.maps, d.portals, d.wakes.size(), d.cps,
                      d.eq_configs.at(send.eq.eqn).reserved_slots,
                      d.eq_configs.at(recv.eq.eqn).reserved_slots, impl().objects.size());
  }
};

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

class Numbers : public QueuePairs {};

TEST_F(Numbers, AreTheLowestFreeResourceIndex) {
  auto a = make(), b = make();
  EXPECT_EQ(b.qpn, 1u << 12);
  EXPECT_EQ(destroy_qp(a.handle), 0);
  EXPECT_EQ(make().qpn, 0u);
}

TEST_F(Numbers, MayBeChosen) {
  auto qp = make(5u << 12 | 17);
  EXPECT_EQ(qp.qpn, 5u << 12 | 17);
  EXPECT_EQ(qp.resp.pid, 17u);
  EXPECT_EQ(qp.resp.ri, 5u);
  EXPECT_EQ(make().qpn, 17u);  // the PD has latched its PID
}

TEST_F(Numbers, RefuseWhatDoesNotExist) {
  EXPECT_EQ(status_with(1u << 24), EINVAL);
  EXPECT_EQ(status_with(1u << 30), EINVAL);
  EXPECT_EQ(status_with(511), EINVAL);
  EXPECT_EQ(status_with(48u << 12), EINVAL);
  EXPECT_EQ(status_with(510 | 47u << 12), 0);
}

TEST_F(Numbers, KeepThePidOfThePd) {
  auto qp = make(17);
  EXPECT_EQ(status_with(18), EINVAL);
  destroy_qp(qp.handle);
  EXPECT_EQ(status_with(18), EINVAL);  // it is given up with the PD, not with the queue pair
}

TEST_F(Numbers, KeepTheResourceIndexOfTheQueuePair) {
  make(17);
  EXPECT_EQ(status_with(17), ENOSPC);
}

TEST_F(Numbers, RunOutOfResourceIndices) {
  send = recv = create_cq(2000);  // with room for the reserves of so many
  for (int i = 0; i < CXI_ABI_NUM_RI; ++i)
    make();
  EXPECT_EQ(status(right()), ENOSPC);
}

TEST_F(Numbers, AreNotSharedBetweenPds) {
  make(17);
  const uint32_t other = alloc_pd(), other_key = create_jkey(other, job);
  auto taken = qp_call(other, send.handle, recv.handle, other_key)
                   .u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 17 | 1u << 12);
  EXPECT_EQ(status(taken), ENOSPC);
  EXPECT_EQ(finish_qp(qp_call(other, send.handle, recv.handle, other_key)).qpn, 0u);
}

TEST_F(Numbers, AreFreeAgainWhenThePdIsGone) {
  const uint32_t other = alloc_pd(), other_key = create_jkey(other, job);
  auto qp = finish_qp(qp_call(other, send.handle, recv.handle, other_key)
                          .u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 17));
  EXPECT_EQ(dealloc_pd(other), EBUSY);
  destroy_qp(qp.handle);
  destroy_jkey(other_key);
  EXPECT_EQ(dealloc_pd(other), 0);
  EXPECT_EQ(status_with(17), 0);
}

TEST_F(Numbers, AreSeparateInEachVni) {
  make(17);
  const uint32_t other = alloc_pd(), other_key = create_jkey(other, alloc_job(10));
  auto qp = finish_qp(qp_call(other, send.handle, recv.handle, other_key)
                          .u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 17));
  EXPECT_EQ(qp.resp.vni, 10u);
  EXPECT_EQ(qp.qpn, 17u);
}

TEST_F(Numbers, ThatAreAbsoluteCoverTheServicesVnis) {
  auto ioctl = right();
  drop(ioctl, UVERBS_ATTR_CREATE_QP_JOB_KEY);
  auto qp = finish_qp(ioctl.u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, absolute | 9));
  EXPECT_EQ(qp.qpn, absolute | 9);
  EXPECT_EQ(qp.resp.vni, 1u);
  EXPECT_EQ(device().portals.size(), 6u);
  EXPECT_TRUE(device().portals.contains({10, 9, 0}));
  destroy_qp(qp.handle);
  EXPECT_TRUE(device().portals.empty());
}

TEST_F(Numbers, ThatAreAbsoluteWithAKeySendInItsVniAndAreReachedInAll) {
  const uint32_t other = alloc_pd(), key = create_jkey(other, alloc_job(10));
  auto qp = finish_qp(qp_call(other, send.handle, recv.handle, key)
                          .u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, absolute | 9));
  EXPECT_EQ(qp.qpn, absolute | 9);
  EXPECT_EQ(qp.resp.vni, 10u);
  EXPECT_EQ(device().portals.size(), 6u);
  EXPECT_TRUE(device().portals.contains({1, 9, 0}));
}

TEST_F(Numbers, NeedTheGrantOfTheirVni) {
  auto& service = *impl().nic.services.find(1);
  service.vnis = {10};
  auto before = census();
  EXPECT_EQ(status(right()), EPERM);
  EXPECT_EQ(census(), before);
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

class States : public QueuePairs {
 protected:
  MadeQp qp = make();
  int modify(uint8_t state, uint32_t mask = qp_attr_state,
             std::function<void(ib_uverbs_modify_qp&)> change = nullptr) {
    ib_uverbs_modify_qp cmd{};
    cmd.qp_handle = qp.handle;
    cmd.attr_mask = mask;
    cmd.qp_state = state;
    if (change) change(cmd);
    return write_status(write_command(IB_USER_VERBS_CMD_MODIFY_QP, cmd, 0));
  }
  ib_uverbs_query_qp_resp query() {
    ib_uverbs_query_qp cmd{};
    cmd.qp_handle = qp.handle;
    auto ioctl = write_command(IB_USER_VERBS_CMD_QUERY_QP, cmd, sizeof(ib_uverbs_query_qp_resp));
    EXPECT_EQ(issue(ioctl), 0);
    return ioctl.result<ib_uverbs_query_qp_resp>(UVERBS_ATTR_CORE_OUT);
  }
  static constexpr uint8_t reset = 0, init = 1, rtr = 2, rts = 3, sqd = 4, error = 6;
};

TEST_F(States, BeginInReadyToSend) {
  auto attr = query();
  EXPECT_EQ(attr.qp_state, rts);
  EXPECT_EQ(attr.cur_qp_state, rts);
  EXPECT_EQ(attr.max_send_wr, 16u);
  EXPECT_EQ(attr.max_inline_data, 64u);
  EXPECT_EQ(attr.path_mtu, 4);
  EXPECT_EQ(attr.rnr_retry, 7);
  EXPECT_EQ(attr.min_rnr_timer, 12);
  EXPECT_EQ(attr.retry_cnt, 7);
  EXPECT_EQ(attr.port_num, 1);
}

TEST_F(States, FollowTheTable) {
  const std::vector<std::tuple<uint8_t, uint8_t, int>> transitions = {
      {rts, init, EOPNOTSUPP},
      {rts, rtr, EOPNOTSUPP},
      {rts, sqd, EOPNOTSUPP},
      {rts, reset, EOPNOTSUPP},
      {rts, rts, 0},
      {rts, error, 0},
      {error, rts, EOPNOTSUPP},
      {error, init, EOPNOTSUPP},
      {error, error, 0},
      {error, reset, 0},
      {reset, init, EOPNOTSUPP},
      {reset, rtr, EOPNOTSUPP},
      {reset, reset, 0},
      {reset, error, 0},
      {error, reset, 0},
      {reset, rts, 0},
  };
  for (auto [from, to, expected] : transitions) {
    ASSERT_EQ(query().qp_state, from);
    EXPECT_EQ(modify(to), expected) << int{from} << " to " << int{to};
    EXPECT_EQ(query().qp_state, expected ? from : to);
  }
}

TEST_F(States, InErrorStopTheQueuePair) {
  device().log.clear();
  ASSERT_EQ(modify(error), 0);
  EXPECT_EQ(device().log, (std::vector<std::string>{"stop " + std::to_string(qp.resp.txq.index),
                                                    "reset " + std::to_string(qp.resp.recv_pte)}));
  EXPECT_EQ(device().states.at(qp.resp.recv_pte), nic::PteState::disabled);
  EXPECT_EQ(device().states.at(qp.resp.mem_pte), nic::PteState::disabled);
  EXPECT_EQ(device().pokes[send.eq.eqn], 1u);
  EXPECT_EQ(device().pokes[recv.eq.eqn], 1u);
}

TEST_F(States, AfterAResetBeginAnew) {
  modify(error);
  modify(reset);
  device().log.clear();
  ASSERT_EQ(modify(rts), 0);
  const std::string tx = std::to_string(qp.resp.txq.index), tg = std::to_string(qp.resp.tgq.index);
  EXPECT_EQ(device().log,
            (std::vector<std::string>{"stop " + tg, "restart " + tx, "restart " + tg}));
  EXPECT_EQ(device().states.at(qp.resp.recv_pte), nic::PteState::enabled);
  EXPECT_EQ(device().states.at(qp.resp.mem_pte), nic::PteState::enabled);
  EXPECT_EQ(device().drop_counts.at(qp.resp.recv_pte), 0xffffffu);
}

TEST_F(States, ChangeWithAttributes) {
  auto with = [&](uint32_t bits, std::function<void(ib_uverbs_modify_qp&)> change) {
    return modify(rts, qp_attr_state | bits, change);
  };
  EXPECT_EQ(with(qp_attr_rnr_retry | qp_attr_min_rnr_timer | qp_attr_retry_cnt,
                 [](auto& a) {
                   a.rnr_retry = 3;
                   a.min_rnr_timer = 20;
                   a.retry_cnt = 2;
                 }),
            0);
  EXPECT_EQ(with(qp_attr_access_flags, [](auto& a) { a.qp_access_flags = 6; }), 0);
  auto attr = query();
  EXPECT_EQ(attr.rnr_retry, 3);
  EXPECT_EQ(attr.min_rnr_timer, 20);
  EXPECT_EQ(attr.retry_cnt, 2);
  EXPECT_EQ(attr.qp_access_flags, 6u);
}

TEST_F(States, RefuseAttributesWithoutAnyChange) {
  EXPECT_EQ(modify(rts, 0), EINVAL);
  EXPECT_EQ(modify(7), EINVAL);
  EXPECT_EQ(modify(rts, qp_attr_state | 1 << 6), EOPNOTSUPP);  // a queue key
  EXPECT_EQ(modify(rts, qp_attr_state | 1 << 25), EOPNOTSUPP);
  EXPECT_EQ(
      modify(error, qp_attr_state | qp_attr_cur_state, [](auto& a) { a.cur_qp_state = error; }),
      EINVAL);
  EXPECT_EQ(modify(error, qp_attr_state | qp_attr_path_mtu, [](auto& a) { a.path_mtu = 3; }),
            EINVAL);
  EXPECT_EQ(modify(error, qp_attr_state | qp_attr_port, [](auto& a) { a.port_num = 2; }), EINVAL);
  EXPECT_EQ(modify(error, qp_attr_state | qp_attr_retry_cnt | qp_attr_rnr_retry,
                   [](auto& a) {
                     a.retry_cnt = 1;
                     a.rnr_retry = 9;
                   }),
            EINVAL);
  EXPECT_EQ(query().qp_state, rts);
  EXPECT_EQ(query().retry_cnt, 7);
}

TEST_F(States, ChangeByTheExtendedCommand) {
  ib_uverbs_ex_modify_qp cmd{};
  cmd.base.qp_handle = qp.handle;
  cmd.base.attr_mask = qp_attr_state;
  cmd.base.qp_state = error;
  constexpr uint64_t command =
      IB_USER_VERBS_CMD_FLAG_EXTENDED | uint64_t{IB_USER_VERBS_EX_CMD_MODIFY_QP};
  auto ioctl = write_command(command, cmd, sizeof(ib_uverbs_ex_modify_qp_resp));
  ASSERT_EQ(issue(ioctl), 0);
  EXPECT_EQ(ioctl.result<ib_uverbs_ex_modify_qp_resp>(UVERBS_ATTR_CORE_OUT).response_length, 8u);
  EXPECT_EQ(query().qp_state, error);
  cmd.base.attr_mask |= 1 << 25;  // a rate limit
  EXPECT_EQ(write_status(write_command(command, cmd, 8)), EOPNOTSUPP);
  cmd.base.attr_mask = 1 << 26;
  EXPECT_EQ(write_status(write_command(command, cmd, 8)), EOPNOTSUPP);
}

TEST_F(States, OfUnknownQueuePairs) {
  qp.handle = 1234;
  EXPECT_EQ(modify(error), ENOENT);
  qp.handle = pd;
  EXPECT_EQ(modify(error), EINVAL);
}

class CommandFailure : public QueuePairs {};

TEST_F(CommandFailure, PutsTheQueuePairIntoErrorAndTells) {
  int fd = async_fd();
  auto qp = make();
  device().interrupts.command_failed(qp.resp.tgq.index, true);
  EXPECT_TRUE(kernel->step());
  EXPECT_EQ(device().states.at(qp.resp.mem_pte), nic::PteState::disabled);
  auto events = records<ib_uverbs_async_event_desc>(fd);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].element, 0xbeefu);
  EXPECT_EQ(events[0].event_type, 1u);
  // A second failure of the same queue pair is no news.
  device().interrupts.command_failed(qp.resp.txq.index, false);
  kernel->step();
  EXPECT_TRUE(records<ib_uverbs_async_event_desc>(fd).empty());
  uint32_t reported = 0;
  ASSERT_EQ(destroy_qp(qp.handle, &reported), 0);
  EXPECT_EQ(reported, 1u);
}

TEST_F(CommandFailure, IsNotReportedWhenItWasNeverRead) {
  int fd = async_fd();
  auto qp = make();
  device().interrupts.command_failed(qp.resp.txq.index, false);
  kernel->step();
  uint32_t reported = 1;
  ASSERT_EQ(destroy_qp(qp.handle, &reported), 0);
  EXPECT_EQ(reported, 0u);
  EXPECT_TRUE(records<ib_uverbs_async_event_desc>(fd).empty());
}

TEST_F(CommandFailure, GoesToTheChannelThatWasChosen) {
  int first = async_fd(), second = async_fd();
  auto qp = finish_qp(right().fd(UVERBS_ATTR_CREATE_QP_EVENT_FD, second));
  device().interrupts.command_failed(qp.resp.txq.index, false);
  kernel->step();
  EXPECT_TRUE(records<ib_uverbs_async_event_desc>(first).empty());
  EXPECT_EQ(records<ib_uverbs_async_event_desc>(second).size(), 1u);
}

TEST_F(CommandFailure, OfAQueueThatIsGoneIsIgnored) {
  auto qp = make();
  destroy_qp(qp.handle);
  device().interrupts.command_failed(qp.resp.txq.index, false);
  EXPECT_TRUE(kernel->step());
  EXPECT_FALSE(kernel->step());
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

class TwoNics : public KernelTest {
 protected:
  TwoNics()
      : KernelTest([] {
          KernelConfig config;
          config.nics = 2;
          return config;
        }()) {}
};

TEST_F(TwoNics, AreApart) {
  get_context();
  auto other = open(1);
  get_context(*other);
  alloc_pd(*other);
  EXPECT_TRUE(device(0).rgids.empty());
  EXPECT_EQ(device(1).rgids.size(), 1u);
  EXPECT_EQ(kernel->nics()[1].nid, 2u);
  kernel->step();
  EXPECT_EQ(device(0).steps, 1u);
  EXPECT_EQ(device(1).steps, 1u);
  kernel->fail_device(1);
  EXPECT_EQ(get_context(*other), EIO);
  alloc_pd();
}

TEST_F(TwoNics, WakeTheirEngineOnEveryCall) {
  unsigned before = device(0).wakeups;
  get_context();
  EXPECT_GT(device(0).wakeups, before);
}

}  // namespace
}  // namespace sim::uverbs::test
