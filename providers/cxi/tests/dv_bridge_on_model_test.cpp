// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Protection domains and queue pairs on logical NIs and profiles of the program, in front of the
// software NIC.
#include "dv_bridge_on_model.hpp"

namespace on_model {
namespace {

class BridgeDomains : public Bridge {};

TEST_F(BridgeDomains, CarryTrafficOnTheirLogicalNi) {
  LniPtr other = second_lni();
  {
    Place place(other, second_vni);
    QpPtr a = place.qp(), b = place.qp();
    exchange(place, a, b);
    EXPECT_EQ(cxidv_destroy_lni(other.get()), EBUSY);
  }
  EXPECT_EQ(cxidv_destroy_lni(other.release()), 0);
}

TEST_F(BridgeDomains, NeedALogicalNi) {
  EXPECT_EQ(error_of(cxidv_create_pd(nullptr, nullptr)), EINVAL);
  cxidv_pd_attr attr = {1};
  EXPECT_EQ(error_of(cxidv_create_pd(lni.get(), &attr)), EINVAL);
}

TEST_F(BridgeDomains, KeepItBusy) {
  Pd pd(made(cxidv_create_pd(lni.get(), nullptr), "pd"));
  EXPECT_EQ(cxidv_destroy_lni(lni.get()), EBUSY);
  pd.reset();
  CqPtr cq(made(try_cq_on(lni.get()), "cq"));
  EXPECT_EQ(cxidv_destroy_lni(lni.get()), EBUSY);
}

TEST_F(BridgeDomains, OfTwoServicesWorkSideBySide) {
  NEEDS_PRIVILEGE();
  SvcPtr svc = make_svc(grant());
  LniPtr granted = lni_on(svc->svc_id);
  Place here(lni, first_vni), there(granted, other_vni);
  QpPtr here_a = here.qp(), here_b = here.qp(), there_a = there.qp(), there_b = there.qp();
  // The same numbers in two VNIs are different queue pairs.
  EXPECT_EQ(here_b->qp_num, there_b->qp_num);
  Ah to_here = here.address(here_b), to_there = there.address(there_b);
  clear(here);
  clear(there);
  ASSERT_EQ(receive(here, here_b, Place::half, 200), 0);
  ASSERT_EQ(receive(there, there_b, Place::half, 200), 0);
  ASSERT_EQ(post(here, here_a, to_here, IBV_WR_SEND, 0, 100), 0);
  ASSERT_EQ(post(there, there_a, to_there, IBV_WR_SEND, 0, 150), 0);
  expect_done(here.cq.get(), {IBV_WC_SEND, IBV_WC_RECV});
  expect_done(there.cq.get(), {IBV_WC_SEND, IBV_WC_RECV});
  expect_arrived(here, 100);
  expect_arrived(there, 150);
  for (int i = 0; i < 3; i++) {
    exchange(here, here_a, here_b);
    exchange(there, there_b, there_a);
  }
}

TEST_F(BridgeDomains, OfTwoServicesAreIsolated) {
  NEEDS_PRIVILEGE();
  SvcPtr svc = make_svc(grant());
  LniPtr granted = lni_on(svc->svc_id);
  Place here(lni, first_vni), there(granted, other_vni);
  EXPECT_EQ(error_of(ibv_create_jkey(here.pd.get(), there.job.get(), 0)), EPERM);
  EXPECT_EQ(error_of(ibv_create_jkey(there.pd.get(), here.job.get(), 0)), EPERM);
  EXPECT_EQ(error_of(try_qp(here.pd.get(), here.cq.get(), here.cq.get(), there.key.get())), EINVAL);
  EXPECT_EQ(error_of(try_qp(here.pd.get(), there.cq.get(), here.cq.get(), here.key.get())), EINVAL);
  EXPECT_EQ(error_of(try_qp(here.pd.get(), here.cq.get(), there.cq.get(), here.key.get())), EINVAL);
  QpPtr a = here.qp(), b = here.qp(), far = there.qp();
  Ah to_b = here.address(b);
  EXPECT_EQ(ibv_attach_mr(b.get(), there.mr.get()), EINVAL);
  EXPECT_EQ(post(here, a, to_b, IBV_WR_SEND, 0, 100, 0, there.key->jkey), EINVAL);
  ASSERT_EQ(post(here, a, to_b, IBV_WR_SEND, 0, 100, 0, 0, there.mr->lkey), 0);
  EXPECT_EQ(wait(here.cq.get(), 1)[0].status, IBV_WC_LOC_PROT_ERR);
  exchange(here, a, b);
  // A region of the other place cannot be named from here: no byte of it changes.
  ASSERT_EQ(ibv_attach_mr(far.get(), there.mr.get()), 0);
  clear(there);
  const std::uint64_t key = there.mr->rkey64;
  std::swap(here.mr->rkey64, there.mr->rkey64);
  ASSERT_EQ(here.mr->rkey64, key);
  ASSERT_EQ(post(here, a, to_b, IBV_WR_RDMA_WRITE, 0, 100, Place::half), 0);
  EXPECT_EQ(wait(here.cq.get(), 1)[0].status, IBV_WC_REM_ACCESS_ERR);
  std::swap(here.mr->rkey64, there.mr->rkey64);
  expect_arrived(there, 0);
  EXPECT_EQ(ibv_detach_mr(far.get(), there.mr.get()), 0);
}

TEST_F(BridgeDomains, KeepIndexedRegionsApart) {
  LniPtr other = second_lni();
  Place one(lni, first_vni), two(other, second_vni);
  QpPtr from[] = {one.qp(), two.qp()}, to[] = {one.qp(), two.qp()};
  const Place* places[] = {&one, &two};
  std::vector<Mr> regions;
  for (int i = 0; i < 2; i++) {
    // The same index in both, and the same queue pair numbers.
    void* memory = const_cast<std::uint8_t*>(places[i]->buffer.data()) + Place::half;
    regions.emplace_back(
        made(ibv_reg_mr(places[i]->pd.get(), memory, 4096, all_rights | CXIDV_ACCESS_INDEXED),
             "indexed"));
    EXPECT_EQ(told(cxidv_query_mr, regions[i].get()).index, 96u);
    ASSERT_EQ(ibv_attach_mr(to[i].get(), regions[i].get()), 0);
  }
  EXPECT_EQ(to[0]->qp_num, to[1]->qp_num);
  clear(one);
  clear(two);
  for (int i = 0; i < 2; i++) {
    Ah ah = places[i]->address(to[i]);
    ibv_sge sge = {reinterpret_cast<std::uintptr_t>(places[i]->buffer.data()),
                   static_cast<std::uint32_t>(100 + i), places[i]->mr->lkey};
    ibv_send_wr wr = {};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.ru_rdma.ah = ibv_ah_to_ah_ex(ah.get());
    wr.wr.ru_rdma.rkey64 = regions[i]->rkey64;
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(from[i].get(), &wr, &bad), 0);
    expect_done(places[i]->cq.get(), {IBV_WC_RDMA_WRITE, IBV_WC_RECV_RDMA_WITH_IMM});
    ibv_wc wc;
    EXPECT_EQ(ibv_poll_cq(places[1 - i]->cq.get(), 1, &wc), 0);
  }
  expect_arrived(one, 100);
  expect_arrived(two, 101);
  for (int i = 0; i < 2; i++)
    EXPECT_EQ(ibv_detach_mr(to[i].get(), regions[i].get()), 0);
}

TEST_F(BridgeDomains, BringTheJobsOfTheirService) {
  NEEDS_PRIVILEGE();
  SvcPtr svc = make_svc(grant());
  EXPECT_EQ(error_of(Place::alloc(context.get(), other_vni)), EPERM);
  LniPtr granted = lni_on(svc->svc_id);
  EXPECT_EQ(Job(made(Place::alloc(context.get(), other_vni), "job"))->context, context.get());
}

TEST_F(BridgeDomains, AreNotCountedByCountersOfAnother) {
  Place place(lni, first_vni);
  QpPtr qp = place.qp();
  ibv_comp_cntr_init_attr init = {};
  Owned<ibv_comp_cntr, ibv_destroy_comp_cntr> counter(
      made(ibv_create_comp_cntr(context.get(), &init), "counter"));
  ibv_qp_attach_comp_cntr_attr attr = {};
  attr.op_mask = IBV_QP_ATTACH_COMP_CNTR_OP_SEND;
  EXPECT_EQ(ibv_qp_attach_comp_cntr(qp.get(), counter.get(), &attr), EINVAL);
}

TEST_F(BridgeDomains, HaveParentDomains) {
  Place place(lni, first_vni);
  ibv_td_init_attr td_attr = {};
  ibv_td* td = ibv_alloc_td(context.get(), &td_attr);
  ASSERT_NE(td, nullptr);
  ibv_parent_domain_init_attr attr = {};
  attr.pd = place.pd.get();
  attr.td = td;
  Pd parent(made(ibv_alloc_parent_domain(context.get(), &attr), "parent domain"));
  EXPECT_EQ(told(cxidv_query_pd, parent.get()).lni, lni.get());
  {
    QpPtr a(made(try_qp(parent.get(), place.cq.get(), place.cq.get(), place.key.get()), "qp"));
    QpPtr b = place.qp();
    exchange(place, a, b);
  }
  parent.reset();
  EXPECT_EQ(ibv_dealloc_td(td), 0);
}

class BridgeProfiles : public Bridge {
 protected:
  Place place = Place(lni, first_vni);
};

TEST_F(BridgeProfiles, OfTheProgramCarryTraffic) {
  CpPtr cp = make_cp(lni, first_vni, CXIDV_TC_LOW_LATENCY);
  QpPtr a = place.qp(cp.get()), b = place.qp();
  EXPECT_EQ(told(cxidv_query_qp, a.get()).lcid, cp->lcid);
  EXPECT_NE(told(cxidv_query_qp, b.get()).lcid, cp->lcid);
  exchange(place, a, b);
  exchange(place, a, b, place.key->jkey);
  exchange(place, b, a);
}

TEST_F(BridgeProfiles, AreBusyMeanwhile) {
  CpPtr cp = make_cp(lni, first_vni, CXIDV_TC_LOW_LATENCY);
  QpPtr qp = place.qp(cp.get());
  EXPECT_EQ(cxidv_free_cp(cp.get()), EBUSY);
  qp.reset();
  EXPECT_EQ(cxidv_free_cp(cp.release()), 0);
}

TEST_F(BridgeProfiles, MustSuit) {
  CpPtr wrong_vni = make_cp(lni, second_vni);
  LniPtr other = second_lni();
  CpPtr elsewhere = make_cp(other, first_vni);
  Context stranger(made(open_on("cxi0", 0), "open"));
  LniPtr strange_lni(made(cxidv_create_lni(stranger.get(), nullptr), "lni"));
  CpPtr strange = make_cp(strange_lni, first_vni);
  for (const CpPtr* cp : {&wrong_vni, &elsewhere, &strange})
    EXPECT_EQ(error_of(try_qp(place.pd.get(), place.cq.get(), place.cq.get(), place.key.get(),
                              cp->get())),
              EINVAL);
  EXPECT_EQ(error_of(cxidv_create_qp(context.get(), nullptr, nullptr)), EINVAL);
  EXPECT_EQ(error_of(cxidv_create_qp(nullptr, nullptr, nullptr)), EINVAL);
  ibv_qp_init_attr_ex attr = {};
  cxidv_qp_attr bad = {};
  bad.comp_mask = 1;
  EXPECT_EQ(error_of(cxidv_create_qp(context.get(), &attr, &bad)), EINVAL);
}

}  // namespace
}  // namespace on_model
