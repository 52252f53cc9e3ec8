// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What native resources verbs objects have, in front of the software NIC.
#include "dv_bridge_on_model.hpp"

namespace on_model {
namespace {

class BridgeQueries : public BridgeQueues {};

TEST_F(BridgeQueries, OfDomainsNameTheirPid) {
  EXPECT_EQ(told(cxidv_query_pd, place.pd.get()).lni, lni.get());
  EXPECT_EQ(told(cxidv_query_pd, place.pd.get()).pid, std::uint32_t{C_PID_ANY});
  QpPtr qp = place.qp();
  const std::uint32_t pid = told(cxidv_query_pd, place.pd.get()).pid;
  EXPECT_EQ(pid, qp->qp_num & 0xfff);
  qp.reset();
  EXPECT_EQ(told(cxidv_query_pd, place.pd.get()).pid, pid);
}

TEST_F(BridgeQueries, OfOrdinaryObjectsNameTheContextsLogicalNi) {
  cxidv_lni* own = cxidv_context_lni(context.get());
  Pd pd(made(ibv_alloc_pd(context.get()), "pd"));
  CqPtr cq(made(ibv_create_cq(context.get(), 20, nullptr, nullptr, 0), "cq"));
  Mr mr(made(ibv_reg_mr(pd.get(), &state, sizeof(state), 0), "mr"));
  EXPECT_EQ(told(cxidv_query_pd, pd.get()).lni, own);
  EXPECT_EQ(told(cxidv_query_mr, mr.get()).lni, own);
  const cxidv_cq_info info = told(cxidv_query_cq, cq.get());
  EXPECT_EQ(info.lni, own);
  EXPECT_EQ(info.eq, nullptr);
  EXPECT_EQ(info.flags, 0u);
  EXPECT_EQ(info.reserve, 104u);
  EXPECT_GE(info.slots, 2u + 104 + 20);
}

TEST_F(BridgeQueries, OfCqsNameTheirQueue) {
  EqPtr eq = make_eq(lni, nullptr, 256);
  CqPtr cq(made(try_cq_on(eq.get()), "cq"));
  cxidv_cq_info info = told(cxidv_query_cq, cq.get());
  EXPECT_EQ(info.lni, lni.get());
  EXPECT_EQ(info.eq, eq.get());
  EXPECT_EQ(info.eqn, eq->eqn);
  EXPECT_EQ(info.slots, 256u);
  EXPECT_EQ(info.reserve, 96u);
  QpPtr qp = place.qp(nullptr, cq.get());
  info = told(cxidv_query_cq, cq.get());
  EXPECT_EQ(info.reserve, 96u + 2 * 8 + 8 + 8);
  EXPECT_EQ(told(cxidv_query_qp, qp.get()).send_eqn, eq->eqn);
  EXPECT_EQ(told(cxidv_query_qp, qp.get()).recv_eqn, eq->eqn);
  qp.reset();
  EXPECT_EQ(told(cxidv_query_cq, cq.get()).reserve, 96u);
}

TEST_F(BridgeQueries, OfQueuePairsAndRegionsGiveNumbersForCommands) {
  QpPtr qp = place.qp();
  const cxidv_qp_info to = told(cxidv_query_qp, qp.get());
  const cxidv_mr_info from = told(cxidv_query_mr, place.mr.get());
  EXPECT_EQ(to.lni, lni.get());
  EXPECT_EQ(from.lni, lni.get());
  EXPECT_EQ(from.length, place.buffer.size());
  EXPECT_EQ(to.vni, first_vni);
  // A profile of the same VNI and class is the one that the queue pair has.
  CpPtr cp = make_cp(lni, to.vni, CXIDV_TC_LOW_LATENCY);
  QpPtr on_cp = place.qp(cp.get());
  EXPECT_EQ(told(cxidv_query_qp, on_cp.get()).lcid, cp->lcid);

  // The program's own put, out of the region and to the queue pair's receive entry.
  cxidv_device_attr device = {};
  ASSERT_EQ(cxidv_query_device(context.get(), &device, sizeof(device)), 0);
  EqPtr eq = make_eq(lni);
  cxidv_cmdq_attr attr = {};
  attr.flags = CXIDV_CMDQ_TRANSMIT;
  attr.cp = cp.get();
  attr.eq = eq.get();
  CmdqPtr transmit(made(cxidv_create_cmdq(lni.get(), &attr), "cmdq"));
  c_full_dma_cmd put = {};
  std::uint32_t index_ext = 0;
  ASSERT_EQ(cxidv_encode_dfa(device.pid_bits, device.nid, to.pid, to.ri, &put.dfa, &index_ext), 0);
  put.index_ext = index_ext;
  put.lac = from.lac;
  put.local_addr = from.iova + 40;
  put.request_len = 500;
  put.eq = eq->eqn;
  put.event_send_disable = 1;  // the acknowledgement is enough
  put.user_ptr = 0x1234;
  clear(place);
  std::copy_n(place.buffer.begin() + 40, 500, place.buffer.begin());
  ASSERT_EQ(receive(place, qp, Place::half, 600), 0);
  // Attached behind the receive, so that this is in the list too: nothing repeats the put.
  ASSERT_EQ(ibv_attach_mr(qp.get(), place.mr.get()), 0);
  EXPECT_EQ(ibv_detach_mr(qp.get(), place.mr.get()), 0);
  ASSERT_EQ(cxidv_emit_put(transmit.get(), &put), 0);
  cxidv_cmdq_ring(transmit.get());
  const c_event* event = next(eq);
  EXPECT_EQ(cxidv_event_type(event), std::uint32_t{C_EVENT_ACK});
  EXPECT_EQ(cxidv_event_return_code(event), std::uint32_t{C_RC_OK});
  const ibv_wc wc = wait(place.cq.get(), 1)[0];
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc.byte_len, 500u);
  EXPECT_EQ(wc.qp_num, qp->qp_num);
  EXPECT_TRUE(std::equal(place.buffer.begin() + 40, place.buffer.begin() + 540,
                         place.buffer.begin() + Place::half));
}

TEST_F(BridgeQueries, OfQueuePairsGiveEachItsOwnNumbers) {
  LniPtr other = second_lni();
  Place second(other, second_vni);
  QpPtr a = place.qp(), b = second.qp();
  const cxidv_qp_info one = told(cxidv_query_qp, a.get()), two = told(cxidv_query_qp, b.get());
  EXPECT_EQ(one.lni, lni.get());
  EXPECT_EQ(two.lni, other.get());
  EXPECT_EQ(two.vni, second_vni);
  EXPECT_NE(one.txq, two.txq);
  EXPECT_NE(one.tgq, two.tgq);
  EXPECT_NE(one.send_eqn, two.send_eqn);
  std::vector<std::uint32_t> entries = {one.recv_ptn, one.memory_ptn, two.recv_ptn, two.memory_ptn};
  std::ranges::sort(entries);
  EXPECT_EQ(std::ranges::adjacent_find(entries), entries.end());
  // The next one that is made gets another number again.
  PtePtr native = make_pte(lni);
  EXPECT_FALSE(std::ranges::binary_search(entries, native->ptn));
  CmdqPtr native_queue = make_target_queue(lni);
  EXPECT_NE(native_queue->index, one.tgq);
  EXPECT_NE(native_queue->index, two.tgq);
}

TEST_F(BridgeQueries, OfRegionsTellTheirIndex) {
  EXPECT_EQ(told(cxidv_query_mr, place.mr.get()).index, UINT32_MAX);
  Mr indexed(
      made(ibv_reg_mr(place.pd.get(), place.buffer.data(), 8192, all_rights | CXIDV_ACCESS_INDEXED),
           "mr"));
  EXPECT_EQ(told(cxidv_query_mr, indexed.get()).index, 96u);
}

TEST_F(BridgeQueries, CheckTheirArguments) {
  QpPtr qp = place.qp();
  cxidv_pd_info pd_info;
  cxidv_cq_info cq_info;
  cxidv_qp_info qp_info;
  cxidv_mr_info mr_info;
  EXPECT_EQ(cxidv_query_pd(place.pd.get(), &pd_info, sizeof(pd_info) - 1), EINVAL);
  EXPECT_EQ(cxidv_query_cq(place.cq.get(), &cq_info, sizeof(cq_info) - 1), EINVAL);
  EXPECT_EQ(cxidv_query_qp(qp.get(), &qp_info, sizeof(qp_info) - 1), EINVAL);
  EXPECT_EQ(cxidv_query_mr(place.mr.get(), &mr_info, sizeof(mr_info) - 1), EINVAL);
  EXPECT_EQ(cxidv_query_pd(place.pd.get(), nullptr, sizeof(pd_info)), EINVAL);
  EXPECT_EQ(cxidv_query_pd(nullptr, &pd_info, sizeof(pd_info)), EINVAL);
  EXPECT_EQ(cxidv_query_cq(nullptr, &cq_info, sizeof(cq_info)), EINVAL);
  EXPECT_EQ(cxidv_query_qp(nullptr, &qp_info, sizeof(qp_info)), EINVAL);
  EXPECT_EQ(cxidv_query_mr(nullptr, &mr_info, sizeof(mr_info)), EINVAL);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace on_model
