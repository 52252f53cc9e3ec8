// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Verbs objects on native resources, and what native resources verbs objects have, in front of the
// software NIC.
#include <algorithm>
#include <numeric>

#include "dv_on_model.hpp"

namespace on_model {
namespace {

constexpr std::uint32_t other_vni = 700;  // of grant()
constexpr int all_rights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

ibv_cq* try_cq(ibv_context* context, const cxidv_cq_attr* on, ibv_comp_channel* channel = nullptr,
               std::uint32_t cqe = 16, std::uint64_t wc_flags = 0) {
  ibv_cq_init_attr_ex attr = {};
  attr.cqe = cqe;
  attr.channel = channel;
  attr.wc_flags = wc_flags;
  ibv_cq_ex* cq = cxidv_create_cq(context, &attr, on);
  return cq ? ibv_cq_ex_to_cq(cq) : nullptr;
}
ibv_cq* try_cq_on(cxidv_lni* lni) {
  cxidv_cq_attr on = {};
  on.lni = lni;
  return try_cq(lni->context, &on);
}
ibv_cq* try_cq_on(cxidv_eq* eq, ibv_comp_channel* channel = nullptr, std::uint32_t cqe = 16,
                  std::uint64_t wc_flags = 0) {
  cxidv_cq_attr on = {};
  on.eq = eq;
  return try_cq(eq->lni->context, &on, channel, cqe, wc_flags);
}

ibv_qp* try_qp(ibv_pd* pd, ibv_cq* send, ibv_cq* recv, ibv_job_key* key, cxidv_cp* cp = nullptr) {
  cxidv_qp_attr on = {};
  on.cp = cp;
  ibv_qp_init_attr_ex attr = {};
  attr.send_cq = send;
  attr.recv_cq = recv;
  attr.cap = {8, 8, 1, 1, 64};
  attr.qp_type = IBV_QPT_RU;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_JKEY;
  attr.pd = pd;
  attr.job_key = key;
  return cxidv_create_qp(pd->context, &attr, &on);
}

/// Everything that traffic in one VNI needs, on one logical NI.
struct Place {
  Place(const LniPtr& lni, std::uint32_t vni)
      : pd(made(cxidv_create_pd(lni.get(), nullptr), "create pd")),
        job(made(alloc(lni->context, vni), "alloc job")),
        key(made(ibv_create_jkey(pd.get(), job.get(), 0), "create jkey")),
        cq(made(try_cq_on(lni.get()), "create cq")),
        buffer(1 << 16),
        mr(made(ibv_reg_mr(pd.get(), buffer.data(), buffer.size(), all_rights), "mr")) {
    std::iota(buffer.begin(), buffer.begin() + half, std::uint8_t(vni));
  }
  static ibv_job* alloc(ibv_context* context, std::uint32_t vni) {
    ibv_job_attr attr = {};
    attr.comp_mask = IBV_JOB_ATTR_ID | IBV_JOB_ATTR_PORT_NUM;
    attr.id = vni;
    attr.port_num = 1;
    return ibv_alloc_job(context, &attr, nullptr);
  }
  QpPtr qp(cxidv_cp* cp = nullptr, ibv_cq* other = nullptr) const {
    ibv_cq* used = other ? other : cq.get();
    return QpPtr(made(try_qp(pd.get(), used, used, key.get(), cp), "create qp"));
  }
  Ah address(const QpPtr& of) const {
    ibv_ah_attr_ex attr = {};
    ibv_query_gid(pd->context, 1, 0, &attr.ah_attr.grh.dgid);
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.remote_qpn = of->qp_num;
    return Ah(made(ibv_create_ah_ex(pd.get(), &attr), "create ah"));
  }

  /// The first half is what is sent, the second where it goes.
  static constexpr std::size_t half = 1 << 15;

  Pd pd;
  Job job;
  Key key;
  CqPtr cq;
  std::vector<std::uint8_t> buffer;
  Mr mr;
};

class Bridge : public Native {
 protected:
  static std::vector<ibv_wc> wait(ibv_cq* cq, unsigned count) {
    std::vector<ibv_wc> found;
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (found.size() < count) {
      ibv_wc wc;
      const int n = ibv_poll_cq(cq, 1, &wc);
      if (n > 0) found.push_back(wc);
      if (n < 0 || std::chrono::steady_clock::now() > give_up)
        throw std::runtime_error("no completion");
    }
    return found;
  }
  static int post(const Place& place, const QpPtr& from, const Ah& to, ibv_wr_opcode opcode,
                  std::size_t local, std::uint32_t length, std::size_t remote = 0,
                  std::uint32_t jkey = 0, std::uint32_t lkey = 0) {
    ibv_sge sge = {reinterpret_cast<std::uintptr_t>(place.buffer.data()) + local, length,
                   lkey ? lkey : place.mr->lkey};
    ibv_send_wr wr = {};
    wr.wr_id = 5;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    if (opcode == IBV_WR_SEND) {
      wr.wr.ru.ah = ibv_ah_to_ah_ex(to.get());
      wr.wr.ru.jkey = jkey;
    } else {
      wr.wr.ru_rdma.ah = ibv_ah_to_ah_ex(to.get());
      wr.wr.ru_rdma.jkey = jkey;
      wr.wr.ru_rdma.remote_addr = remote;
      wr.wr.ru_rdma.rkey64 = place.mr->rkey64;
    }
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(from.get(), &wr, &bad);
  }
  static int receive(const Place& place, const QpPtr& at, std::size_t offset,
                     std::uint32_t length) {
    ibv_sge sge = {reinterpret_cast<std::uintptr_t>(place.buffer.data()) + offset, length,
                   place.mr->lkey};
    ibv_recv_wr wr = {};
    wr.wr_id = 6;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    return ibv_post_recv(at.get(), &wr, &bad);
  }
  static void expect_done(ibv_cq* cq, std::vector<ibv_wc_opcode> expected) {
    std::vector<ibv_wc_opcode> found;
    for (const ibv_wc& wc : wait(cq, static_cast<unsigned>(expected.size()))) {
      EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
      found.push_back(wc.opcode);
    }
    std::ranges::sort(found);
    std::ranges::sort(expected);
    EXPECT_EQ(found, expected);
  }
  static void clear(Place& place) {
    std::fill(place.buffer.begin() + Place::half, place.buffer.end(), 0);
  }
  static void expect_arrived(const Place& place, std::size_t count) {
    const auto from = place.buffer.begin(), to = from + Place::half;
    EXPECT_TRUE(std::equal(from, from + count, to));
    EXPECT_EQ(std::count(to + count, place.buffer.end(), 0),
              static_cast<long>(Place::half - count));
  }
  /// A message, a write and a read. Both queue pairs have the same CQ.
  static void exchange(Place& place, const QpPtr& from, const QpPtr& to, std::uint32_t jkey = 0) {
    ibv_cq* cq = from->send_cq;
    Ah ah = place.address(to);
    clear(place);
    ASSERT_EQ(receive(place, to, Place::half, 400), 0);
    ASSERT_EQ(post(place, from, ah, IBV_WR_SEND, 0, 300, 0, jkey), 0);
    expect_done(cq, {IBV_WC_SEND, IBV_WC_RECV});
    expect_arrived(place, 300);

    ASSERT_EQ(ibv_attach_mr(to.get(), place.mr.get()), 0);
    clear(place);
    ASSERT_EQ(post(place, from, ah, IBV_WR_RDMA_WRITE, 0, 5000, Place::half, jkey), 0);
    expect_done(cq, {IBV_WC_RDMA_WRITE});
    expect_arrived(place, 5000);
    clear(place);
    ASSERT_EQ(post(place, from, ah, IBV_WR_RDMA_READ, Place::half, 9000, 0, jkey), 0);
    expect_done(cq, {IBV_WC_RDMA_READ});
    expect_arrived(place, 9000);
    EXPECT_EQ(ibv_detach_mr(to.get(), place.mr.get()), 0);
  }
  template <class T, class Object>
  static T told(int (*query)(Object*, T*, std::size_t), Object* object) {
    T info = {};
    EXPECT_EQ(query(object, &info, sizeof(info)), 0);
    return info;
  }
};

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

/// An event queue, and native events for it.
class BridgeQueues : public Bridge {
 protected:
  void make_source(const EqPtr& eq) {
    queue = make_target_queue(lni, eq.get());
    pte = make_pte(lni, eq.get(), CXIDV_PTE_SW_HW_STATE_CHANGE);
  }
  void drop_source() {
    pte.reset();
    queue.reset();
  }
  void cause_event() {
    state = state == C_PTLTE_ENABLED ? C_PTLTE_DISABLED : C_PTLTE_ENABLED;
    ASSERT_EQ(set_state(queue, pte, state), 0);
  }
  /// The queue is the program's: events come round and round.
  void expect_usable(const EqPtr& eq, unsigned events) {
    state = C_PTLTE_DISABLED;
    make_source(eq);
    for (unsigned i = 0; i < events; i++) {
      cause_event();
      EXPECT_EQ(cxidv_event_type(next(eq)), std::uint32_t{C_EVENT_STATE_CHANGE});
      if (i % 3 == 0) cxidv_eq_ack(eq.get());
    }
    EXPECT_EQ(cxidv_eq_peek(eq.get()), nullptr);
    drop_source();
  }
  Place place = Place(lni, first_vni);
  std::uint32_t state = C_PTLTE_DISABLED;
  CmdqPtr queue;
  PtePtr pte;
};

TEST_F(BridgeQueues, OfTheProgramServeCqsAndAreGivenBack) {
  EqPtr eq = make_eq(lni, nullptr, 256);
  for (int round = 0; round < 3; round++) {
    expect_usable(eq, 61);  // leaves it in the middle of a slot, and of the ring
    CqPtr cq(made(try_cq_on(eq.get()), "cq"));
    QpPtr a = place.qp(nullptr, cq.get()), b = place.qp(nullptr, cq.get());
    for (int i = 0; i < 30; i++)
      exchange(place, a, b);
    // Events that nobody has read do not turn up as the program's.
    Ah ah = place.address(b);
    ASSERT_EQ(receive(place, b, Place::half, 400), 0);
    ASSERT_EQ(post(place, a, ah, IBV_WR_SEND, 0, 300), 0);
    wait(cq.get(), 1);
  }
  expect_usable(eq, 50);
}

TEST_F(BridgeQueues, AreTheCqsAloneMeanwhile) {
  EqPtr eq = make_eq(lni, nullptr, 256);
  CqPtr cq(made(try_cq_on(eq.get()), "cq"));
  EXPECT_EQ(cxidv_destroy_eq(eq.get()), EBUSY);
  EXPECT_EQ(cxidv_resize_eq(eq.get(), 512), EBUSY);
  EXPECT_EQ(error_of(try_target_queue(lni, eq.get())), EBUSY);
  cxidv_pte_attr attr = {};
  attr.eq = eq.get();
  EXPECT_EQ(error_of(cxidv_create_pte(lni.get(), &attr)), EBUSY);
  EXPECT_EQ(error_of(try_cq_on(eq.get())), EBUSY);
  cq.reset();
  EXPECT_EQ(cxidv_resize_eq(eq.get(), 512), 0);
}

TEST_F(BridgeQueues, MayHaveBeenResized) {
  EqPtr eq = make_eq(lni, nullptr, 64);
  expect_usable(eq, 21);
  ASSERT_EQ(cxidv_resize_eq(eq.get(), 256), 0);
  EXPECT_EQ(error_of(try_cq_on(eq.get())), EBUSY);  // the switch has not been read
  expect_usable(eq, 5);
  for (int round = 0; round < 2; round++) {
    {
      CqPtr cq(made(try_cq_on(eq.get()), "cq"));
      EXPECT_EQ(told(cxidv_query_cq, cq.get()).slots, 256u);
      QpPtr a = place.qp(nullptr, cq.get()), b = place.qp(nullptr, cq.get());
      for (int i = 0; i < 30; i++)
        exchange(place, a, b);
    }
    expect_usable(eq, 5);
  }
  ASSERT_EQ(cxidv_resize_eq(eq.get(), 512), 0);
  expect_usable(eq, 5);
}

TEST_F(BridgeQueues, MustBeFree) {
  EqPtr eq = make_eq(lni, nullptr, 256);
  make_source(eq);
  cause_event();
  next(eq);
  EXPECT_EQ(error_of(try_cq_on(eq.get())), EBUSY);  // in use
  cause_event();
  cause_event();
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!cxidv_eq_peek(eq.get()) && std::chrono::steady_clock::now() < give_up) {
  }
  drop_source();
  EXPECT_EQ(error_of(try_cq_on(eq.get())), EBUSY);  // not read to its end
  while (cxidv_eq_next(eq.get())) {
  }
  CqPtr cq(made(try_cq_on(eq.get()), "cq"));
  QpPtr a = place.qp(nullptr, cq.get()), b = place.qp(nullptr, cq.get());
  exchange(place, a, b);
}

TEST_F(BridgeQueues, MustSuit) {
  EqPtr small = make_eq(lni, nullptr, 128);
  EXPECT_EQ(error_of(try_cq_on(small.get(), nullptr, 30)), EINVAL);
  EXPECT_EQ(error_of(try_cq_on(small.get(), nullptr, 16, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)),
            EINVAL);
  LniPtr other = second_lni();
  cxidv_cq_attr on = {};
  on.lni = other.get();
  on.eq = small.get();
  EXPECT_EQ(error_of(try_cq(context.get(), &on)), EINVAL);
  Context stranger(made(open_on("cxi0", 0), "open"));
  on.lni = nullptr;
  EXPECT_EQ(error_of(try_cq(stranger.get(), &on)), EINVAL);
  on.eq = nullptr;
  on.lni = lni.get();
  EXPECT_EQ(error_of(try_cq(stranger.get(), &on)), EINVAL);
  on.comp_mask = 1;
  EXPECT_EQ(error_of(try_cq(context.get(), &on)), EINVAL);
  EXPECT_EQ(error_of(try_cq(nullptr, nullptr)), EINVAL);
  EXPECT_EQ(error_of(cxidv_create_cq(context.get(), nullptr, nullptr)), EINVAL);
  EXPECT_EQ(error_of(try_cq(context.get(), nullptr, nullptr, 0)), EINVAL);
  EXPECT_EQ(error_of(try_cq(context.get(), nullptr, nullptr, 16, 1ull << 40)), EOPNOTSUPP);
  CqPtr cq(made(try_cq_on(small.get()), "cq"));
}

TEST_F(BridgeQueues, HaveNoRoomForEveryQueuePair) {
  EqPtr eq = make_eq(lni, nullptr, 128);
  CqPtr cq(made(try_cq_on(eq.get()), "cq"));
  int made_qps = 0;
  std::vector<QpPtr> qps;
  while (ibv_qp* qp = try_qp(place.pd.get(), cq.get(), cq.get(), place.key.get())) {
    qps.emplace_back(qp);
    ASSERT_LT(++made_qps, 10);
  }
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(told(cxidv_query_cq, cq.get()).slots, 128u);
}

TEST_F(BridgeQueues, BringTimeStamps) {
  cxidv_eq_attr attr = {};
  attr.slots = 256;
  attr.flags = CXIDV_EQ_INIT_LONG | CXIDV_EQ_TGT_LONG | CXIDV_EQ_EC_DISABLE;
  EqPtr eq(made(cxidv_create_eq(lni.get(), &attr), "eq"));
  CqPtr cq(made(try_cq_on(eq.get(), nullptr, 16, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP), "cq"));
  EXPECT_EQ(told(cxidv_query_cq, cq.get()).flags, attr.flags);
  QpPtr a = place.qp(nullptr, cq.get()), b = place.qp(nullptr, cq.get());
  for (int i = 0; i < 30; i++)
    exchange(place, a, b);
}

class BridgeChannels : public BridgeQueues {
 protected:
  Channel channel = Channel(made(ibv_create_comp_channel(context.get()), "channel"));
  EqPtr eq = make_eq(lni, channel.get(), 256);

  void expect_eq_notification() {
    cxidv_eq_arm(eq.get());
    cause_event();
    cxidv_eq* from = nullptr;
    ASSERT_EQ(cxidv_get_eq_event(channel.get(), &from), 0);
    EXPECT_EQ(from, eq.get());
    cxidv_ack_eq_events(from, 1);
    next(eq);
    cxidv_eq_ack(eq.get());
  }
};

TEST_F(BridgeChannels, NotifyWhoeverHasTheQueue) {
  for (int round = 0; round < 3; round++) {
    state = C_PTLTE_DISABLED;
    make_source(eq);
    for (int i = 0; i < 5; i++)
      expect_eq_notification();
    // Armed and told of, but not taken: the CQ must be told all the same.
    cxidv_eq_arm(eq.get());
    cause_event();
    next(eq);
    drop_source();
    {
      CqPtr cq(made(try_cq_on(eq.get(), channel.get()), "cq"));
      QpPtr a = place.qp(nullptr, cq.get()), b = place.qp(nullptr, cq.get());
      Ah ah = place.address(b);
      for (int i = 0; i < 20; i++) {
        ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
        ASSERT_EQ(receive(place, b, Place::half, 400), 0);
        ASSERT_EQ(post(place, a, ah, IBV_WR_SEND, 0, 300), 0);
        ibv_cq* from = nullptr;
        void* ignored = nullptr;
        ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &ignored), 0);
        EXPECT_EQ(from, cq.get());
        ibv_ack_cq_events(from, 1);
        expect_done(cq.get(), {IBV_WC_SEND, IBV_WC_RECV});
      }
      cxidv_eq* none = nullptr;
      EXPECT_EQ(cxidv_get_eq_event(channel.get(), &none), EINVAL);
      // The same the other way round.
      ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
      ASSERT_EQ(receive(place, b, Place::half, 400), 0);
      ASSERT_EQ(post(place, a, ah, IBV_WR_SEND, 0, 300), 0);
      expect_done(cq.get(), {IBV_WC_SEND, IBV_WC_RECV});
    }
  }
  state = C_PTLTE_DISABLED;
  make_source(eq);
  expect_eq_notification();
  drop_source();
}

TEST_F(BridgeChannels, MustBeTheQueuesAlone) {
  Channel another(made(ibv_create_comp_channel(context.get()), "channel"));
  EXPECT_EQ(error_of(try_cq_on(eq.get())), EINVAL);
  EXPECT_EQ(error_of(try_cq_on(eq.get(), another.get())), EINVAL);
  EqPtr silent = make_eq(lni, nullptr, 256);
  EXPECT_EQ(error_of(try_cq_on(silent.get(), channel.get())), EINVAL);
  {
    EqPtr second = make_eq(lni, channel.get(), 256);
    EXPECT_EQ(error_of(try_cq_on(eq.get(), channel.get())), EINVAL);
  }
  CqPtr cq(made(try_cq_on(eq.get(), channel.get()), "cq"));
  EXPECT_EQ(error_of(try_eq(lni, channel.get())), EINVAL);
  EXPECT_EQ(error_of(ibv_create_cq(context.get(), 4, nullptr, channel.get(), 0)), EINVAL);
  EXPECT_EQ(ibv_destroy_comp_channel(channel.get()), EBUSY);
  cq.reset();
  EXPECT_NE(EqPtr(try_eq(lni, channel.get())), nullptr);
}

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
