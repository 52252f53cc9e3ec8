// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Verbs objects on native resources, for tests in front of the software NIC.
#pragma once

#include <algorithm>
#include <numeric>

#include "dv_on_model.hpp"

namespace on_model {

constexpr std::uint32_t other_vni = 700;  // of grant()
constexpr int all_rights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

inline ibv_cq* try_cq(ibv_context* context, const cxidv_cq_attr* on,
                      ibv_comp_channel* channel = nullptr, std::uint32_t cqe = 16,
                      std::uint64_t wc_flags = 0) {
  ibv_cq_init_attr_ex attr = {};
  attr.cqe = cqe;
  attr.channel = channel;
  attr.wc_flags = wc_flags;
  ibv_cq_ex* cq = cxidv_create_cq(context, &attr, on);
  return cq ? ibv_cq_ex_to_cq(cq) : nullptr;
}
inline ibv_cq* try_cq_on(cxidv_lni* lni) {
  cxidv_cq_attr on = {};
  on.lni = lni;
  return try_cq(lni->context, &on);
}
inline ibv_cq* try_cq_on(cxidv_eq* eq, ibv_comp_channel* channel = nullptr, std::uint32_t cqe = 16,
                         std::uint64_t wc_flags = 0) {
  cxidv_cq_attr on = {};
  on.eq = eq;
  return try_cq(eq->lni->context, &on, channel, cqe, wc_flags);
}

inline ibv_qp* try_qp(ibv_pd* pd, ibv_cq* send, ibv_cq* recv, ibv_job_key* key,
                      cxidv_cp* cp = nullptr) {
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
      if (n == 0) std::this_thread::yield();
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

}  // namespace on_model
