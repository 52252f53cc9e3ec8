// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What the manual pages promise of numbers, semantics, attributes and completion fields.
#include <gmock/gmock.h>
#include <poll.h>
#include <time.h>

#include "rma_on_model.hpp"

namespace on_model {
namespace {

class Numbers : public OnModel {
 protected:
  ibv_qp* number(ibv_pd* of, std::uint32_t pid, std::uint32_t ri) {
    errno = 0;
    ibv_job_key* job_key = of == pd.get() ? key.get() : other_key.get();
    return try_create_qp(of, cq.get(), cq.get(), job_key,
                         {.source_qpn = ri << 12 | pid, .explicit_qpn = true});
  }

  Pd other{made(ibv_alloc_pd(context.get()), "pd")};
  Key other_key{made(ibv_create_jkey(other.get(), job.get(), 0), "jkey")};
};

TEST_F(Numbers, MayBeZero) {
  QpPtr zero(made(number(pd.get(), 0, 0), "qp"));
  EXPECT_EQ(zero->qp_num, 0u);
}

TEST_F(Numbers, KeepThePidOfTheirDomain) {
  QpPtr first(made(number(pd.get(), 7, 5), "qp"));
  EXPECT_EQ(first->qp_num, 5u << 12 | 7);
  EXPECT_EQ(number(pd.get(), 8, 6), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(number(other.get(), 7, 6), nullptr);
  EXPECT_EQ(errno, ENOSPC);
  first.reset();  // the PID stays with the domain
  EXPECT_EQ(number(pd.get(), 8, 6), nullptr);
  EXPECT_EQ(errno, EINVAL);
  QpPtr again(made(number(pd.get(), 7, 5), "qp"));
}

TEST_F(Numbers, HaveAResourceIndexOfTheirOwn) {
  QpPtr first(made(number(pd.get(), 7, 0), "qp"));
  EXPECT_EQ(number(pd.get(), 7, 0), nullptr);
  EXPECT_EQ(errno, ENOSPC);
  QpPtr chosen = create_qp();  // the lowest that is free, and relative
  EXPECT_EQ(chosen->qp_num, 1u << 12 | 7);
  first.reset();
  QpPtr lowest = create_qp();
  EXPECT_EQ(lowest->qp_num, 7u);
}

TEST_F(Numbers, ThatNoNicHasAreRefused) {
  for (const std::uint32_t qpn : {511u, 48u << 12, 1u << 24, 1u << 30}) {
    EXPECT_EQ(try_create_qp(pd.get(), cq.get(), cq.get(), key.get(),
                            {.source_qpn = qpn, .explicit_qpn = true}),
              nullptr)
        << qpn;
    EXPECT_EQ(errno, EINVAL) << qpn;
  }
  EXPECT_EQ(try_create_qp(pd.get(), cq.get(), cq.get(), nullptr, {}), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

class Made : public OnModel {
 protected:
  ibv_qp_init_attr_ex small_qp() {
    ibv_qp_init_attr_ex attr = {};
    attr.send_cq = attr.recv_cq = cq.get();
    attr.cap = {4, 4, 1, 1, 0};
    attr.qp_type = IBV_QPT_RU;
    attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_JKEY;
    attr.pd = pd.get();
    attr.job_key = key.get();
    return attr;
  }
};

class Semantics : public Made {
 protected:
  int create_with(const ibv_qp_semantics& wanted) {
    ibv_qp_semantics semantics = wanted;
    ibv_qp_init_attr_ex attr = small_qp();
    attr.comp_mask |= IBV_QP_INIT_ATTR_QP_SEMANTICS;
    attr.qp_semantics = &semantics;
    QpPtr qp(ibv_create_qp_ex(context.get(), &attr));
    return qp ? 0 : errno;
  }
};

TEST_F(Semantics, SayWhatTheNicGuarantees) {
  ibv_qp_semantics semantics = {};
  ASSERT_EQ(ibv_query_qp_semantics(context.get(), IBV_QPT_RU, 1, 0, &semantics, sizeof(semantics)),
            0);
  EXPECT_EQ(semantics.comp_mask, 0x7fu);
  EXPECT_EQ(semantics.msg_order, 0u);
  EXPECT_EQ(semantics.max_rdma_raw_size, 0u);
  EXPECT_EQ(semantics.max_rdma_war_size, 0u);
  EXPECT_EQ(semantics.max_rdma_waw_size, 0u);
  EXPECT_EQ(semantics.max_pdu, 2048u);
  EXPECT_EQ(semantics.imm_data_size, 64);
  EXPECT_EQ(semantics.usage_flags, unsigned{IBV_QP_USAGE_ATTACH_MR});
  EXPECT_EQ(create_with(semantics), 0);
  EXPECT_EQ(ibv_query_qp_semantics(context.get(), IBV_QPT_RC, 1, 0, &semantics, sizeof(semantics)),
            EOPNOTSUPP);
  EXPECT_EQ(ibv_query_qp_semantics(context.get(), IBV_QPT_RU, 1, 0, nullptr, sizeof(semantics)),
            EINVAL);
  EXPECT_EQ(ibv_query_qp_semantics(context.get(), IBV_QPT_RU, 1, 0, &semantics, 0), EINVAL);
}

TEST_F(Semantics, AreThoseOfAPortAndAGidThatExist) {
  const auto query = [&](std::uint8_t port, std::uint8_t gid_index) {
    ibv_qp_semantics semantics = {};
    semantics.max_pdu = 77;
    const int err = ibv_query_qp_semantics(context.get(), IBV_QPT_RU, port, gid_index, &semantics,
                                           sizeof(semantics));
    EXPECT_EQ(semantics.max_pdu, err ? 77u : 2048u);
    return err;
  };
  EXPECT_EQ(query(1, 1), 0);
  EXPECT_EQ(query(0, 0), EINVAL);
  EXPECT_EQ(query(2, 0), EINVAL);
  EXPECT_EQ(query(1, 2), EINVAL);
  EXPECT_EQ(query(1, 255), EINVAL);
}

TEST_F(Semantics, AreRefusedWhereTheNicHasThemNot) {
  const auto refused = [&](auto change) {
    ibv_qp_semantics semantics = {};
    change(semantics);
    const int with = create_with(semantics);
    semantics.comp_mask = 0;  // a member that is not named does not count
    EXPECT_EQ(create_with(semantics), 0);
    return with;
  };
  EXPECT_EQ(refused([](ibv_qp_semantics& s) {
              s.comp_mask = IBV_QP_SEMANTICS_MASK_MSG_ORDER;
              s.msg_order = IBV_ORDER_SAS;
            }),
            EINVAL);
  EXPECT_EQ(refused([](ibv_qp_semantics& s) {
              s.comp_mask = IBV_QP_SEMANTICS_MASK_WAW;
              s.max_rdma_waw_size = 1;
            }),
            EINVAL);
  EXPECT_EQ(refused([](ibv_qp_semantics& s) {
              s.comp_mask = IBV_QP_SEMANTICS_MASK_PDU;
              s.max_pdu = 4096;
            }),
            EINVAL);
  EXPECT_EQ(refused([](ibv_qp_semantics& s) {
              s.comp_mask = IBV_QP_SEMANTICS_MASK_USAGE;
              s.usage_flags = IBV_QP_USAGE_IMM_DATA_RQ;
            }),
            EINVAL);
}

class Attributes : public Made {
 protected:
  int modify(const QpPtr& qp, int mask, const ibv_qp_attr& attr) {
    ibv_qp_attr copy = attr;
    return ibv_modify_qp(qp.get(), &copy, mask);
  }
  int to_state(const QpPtr& qp, ibv_qp_state state) {
    ibv_qp_attr attr = {};
    attr.qp_state = state;
    return modify(qp, IBV_QP_STATE, attr);
  }
};

TEST_F(Attributes, AreToldByEveryMask) {
  QpPtr qp = create_qp({.rnr_retry = 4, .retry_cnt = 3, .signal_all = true});
  ibv_qp_attr access = {};
  access.qp_state = IBV_QPS_RTS;
  access.qp_access_flags = IBV_ACCESS_REMOTE_READ;
  access.min_rnr_timer = 9;
  ASSERT_EQ(modify(qp, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER, access), 0);
  for (int bit = -1; bit < 25; bit++) {
    ibv_qp_attr attr;
    ibv_qp_init_attr init;
    std::memset(&attr, 0xee, sizeof(attr));
    std::memset(&init, 0xee, sizeof(init));
    const int mask = bit < 0 ? 0 : 1 << bit;
    ASSERT_EQ(ibv_query_qp(qp.get(), &attr, mask, &init), 0) << bit;
    EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
    EXPECT_EQ(attr.cur_qp_state, IBV_QPS_RTS);
    EXPECT_EQ(attr.path_mtu, IBV_MTU_2048);
    EXPECT_EQ(attr.port_num, 1);
    EXPECT_EQ(attr.pkey_index, 0);
    EXPECT_EQ(attr.qp_access_flags, unsigned{IBV_ACCESS_REMOTE_READ});
    EXPECT_EQ(attr.rnr_retry, 4);
    EXPECT_EQ(attr.retry_cnt, 3);
    EXPECT_EQ(attr.min_rnr_timer, 9);
    EXPECT_EQ(attr.cap.max_send_wr, 16u);
    EXPECT_EQ(attr.cap.max_recv_wr, 16u);
    EXPECT_EQ(attr.cap.max_send_sge, 4u);
    EXPECT_EQ(attr.cap.max_recv_sge, 4u);
    EXPECT_EQ(attr.cap.max_inline_data, 192u);
    EXPECT_EQ(init.qp_type, IBV_QPT_RU);
    EXPECT_EQ(init.send_cq, cq.get());
    EXPECT_EQ(init.recv_cq, cq.get());
    EXPECT_EQ(init.srq, nullptr);
    EXPECT_EQ(init.sq_sig_all, 1);
    EXPECT_EQ(init.cap.max_send_wr, 16u);
  }
  ibv_qp_attr attr = {};
  ibv_qp_init_attr init = {};
  EXPECT_EQ(ibv_query_qp(qp.get(), &attr, IBV_QP_RATE_LIMIT, &init), EOPNOTSUPP);
}

TEST_F(Attributes, AtCreationAreCheckedAndKept) {
  const auto create = [&](int mask, auto change) {
    ibv_qp_attr wanted = {};
    change(wanted);
    ibv_qp_init_attr_ex attr = small_qp();
    attr.comp_mask |= IBV_QP_INIT_ATTR_QP_ATTR;
    attr.qp_attr = &wanted;
    attr.qp_attr_mask = mask;
    return QpPtr(ibv_create_qp_ex(context.get(), &attr));
  };
  const auto refused = [&](int mask, auto change) { return create(mask, change) ? 0 : errno; };
  using Attr = ibv_qp_attr;
  EXPECT_EQ(refused(IBV_QP_STATE, [](Attr& a) { a.qp_state = IBV_QPS_RTS; }), 0);
  for (const ibv_qp_state state : {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_ERR})
    EXPECT_EQ(refused(IBV_QP_STATE, [&](Attr& a) { a.qp_state = state; }), EOPNOTSUPP) << state;
  for (const int mask : {int{IBV_QP_QKEY}, int{IBV_QP_AV}, int{IBV_QP_SQ_PSN}, 1 << 30})
    EXPECT_EQ(refused(mask, [](Attr&) {}), EOPNOTSUPP) << mask;
  EXPECT_EQ(refused(IBV_QP_PORT, [](Attr& a) { a.port_num = 2; }), EINVAL);
  EXPECT_EQ(refused(IBV_QP_PKEY_INDEX, [](Attr& a) { a.pkey_index = 1; }), EINVAL);
  EXPECT_EQ(refused(IBV_QP_RNR_RETRY, [](Attr& a) { a.rnr_retry = 8; }), EINVAL);
  EXPECT_EQ(refused(IBV_QP_RETRY_CNT, [](Attr& a) { a.retry_cnt = 8; }), EINVAL);
  EXPECT_EQ(refused(IBV_QP_MIN_RNR_TIMER, [](Attr& a) { a.min_rnr_timer = 32; }), EINVAL);
  for (const int mtu : {0, int{IBV_MTU_4096}, 6})
    EXPECT_EQ(refused(IBV_QP_PATH_MTU, [&](Attr& a) { a.path_mtu = static_cast<ibv_mtu>(mtu); }),
              EINVAL)
        << mtu;
  QpPtr qp = create(IBV_QP_PATH_MTU | IBV_QP_PORT, [](Attr& a) {
    a.path_mtu = IBV_MTU_512;
    a.port_num = 1;
  });
  ASSERT_NE(qp, nullptr);
  Attr attr = {};
  ibv_qp_init_attr init = {};
  ASSERT_EQ(ibv_query_qp(qp.get(), &attr, IBV_QP_PATH_MTU, &init), 0);
  EXPECT_EQ(attr.path_mtu, IBV_MTU_512);
  attr.qp_state = IBV_QPS_RTS;
  EXPECT_EQ(modify(qp, IBV_QP_STATE | IBV_QP_PATH_MTU, attr), 0);
}

TEST_F(Attributes, FollowTheTableOfStates) {
  QpPtr qp = create_qp();
  for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_SQD, IBV_QPS_SQE})
    EXPECT_EQ(to_state(qp, state), EOPNOTSUPP) << state;
  EXPECT_EQ(to_state(qp, IBV_QPS_RTS), 0);
  EXPECT_EQ(to_state(qp, IBV_QPS_RESET), EOPNOTSUPP);
  EXPECT_EQ(to_state(qp, IBV_QPS_ERR), 0);
  EXPECT_EQ(to_state(qp, IBV_QPS_RTS), EOPNOTSUPP);
  EXPECT_EQ(to_state(qp, IBV_QPS_ERR), 0);
  EXPECT_EQ(to_state(qp, IBV_QPS_RESET), 0);
  EXPECT_EQ(to_state(qp, IBV_QPS_ERR), 0);
  EXPECT_EQ(to_state(qp, IBV_QPS_RESET), 0);
  EXPECT_EQ(to_state(qp, IBV_QPS_RESET), 0);
  EXPECT_EQ(to_state(qp, IBV_QPS_RTS), 0);
}

TEST_F(Attributes, ARefusedChangeChangesNothing) {
  QpPtr qp = create_qp();
  ibv_qp_attr attr = {};
  attr.qp_state = IBV_QPS_ERR;
  attr.port_num = 1;
  attr.rnr_retry = 1;
  attr.path_mtu = IBV_MTU_512;
  EXPECT_EQ(modify(qp, IBV_QP_PORT, attr), EINVAL);
  EXPECT_EQ(modify(qp, IBV_QP_STATE | IBV_QP_RNR_RETRY | IBV_QP_PATH_MTU, attr), EINVAL);
  attr.rnr_retry = 8;
  EXPECT_EQ(modify(qp, IBV_QP_STATE | IBV_QP_RNR_RETRY, attr), EINVAL);
  EXPECT_EQ(modify(qp, IBV_QP_STATE | IBV_QP_SQ_PSN, attr), EOPNOTSUPP);
  ibv_qp_init_attr init = {};
  ASSERT_EQ(ibv_query_qp(qp.get(), &attr, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(attr.rnr_retry, 7);
}

class Fields : public Rma {
 protected:
  static std::uint64_t wall_clock() {
    timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
  }
};

TEST_F(Fields, TimeStampsAreOfTheWallClock) {
  ibv_cq_init_attr_ex attr = {};
  attr.cqe = 16;
  attr.wc_flags =
      IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
  ibv_cq_ex* ex = made(ibv_create_cq_ex(context.get(), &attr), "create cq");
  CqPtr timed(ibv_cq_ex_to_cq(ex));
  QpPtr a = create_qp({}, timed.get(), timed.get());
  Ah to_a = address_of(a);
  const auto expect_between = [&](std::uint64_t begin, unsigned count) {
    ibv_poll_cq_attr none = {};
    std::uint64_t last = begin;
    for (unsigned found = 0; found < count;) {
      if (ibv_start_poll(ex, &none)) continue;
      do {
        const std::uint64_t raw = ibv_wc_read_completion_ts(ex);
        EXPECT_EQ(raw, ibv_wc_read_completion_wallclock_ns(ex));
        EXPECT_GE(raw, begin);
        EXPECT_LE(raw, wall_clock());
        last = raw;
        found++;
      } while (!ibv_next_poll(ex));
      ibv_end_poll(ex);
    }
    return last;
  };
  for (const std::uint32_t length : {8u, 5000u}) {
    const std::uint64_t begin = wall_clock();
    ASSERT_EQ(receive(a, 1, 8192, length), 0);
    ASSERT_EQ(send(a, to_a, 2, 0, length), 0);
    expect_between(begin, 2);
  }
  // A completion that no event brings has the time at which it came to be, or was polled.
  const std::uint64_t begin = wall_clock();
  ASSERT_EQ(receive(a, 3, 8192, 8), 0);
  ASSERT_EQ(set_state(a, IBV_QPS_ERR), 0);
  ASSERT_EQ(send(a, to_a, 4, 0, 8), 0);
  expect_between(begin, 2);
}

TEST_F(Fields, TheVendorErrorIsTheCodeOfTheNic) {
  constexpr unsigned op_violation = 6, entry_not_found = 18, ptlte_not_found = 26;
  const auto ended = [&] { return wait(1)[0]; };
  QpPtr one_try = create_qp({.rnr_retry = 0, .retry_cnt = 0});
  ASSERT_EQ(send(one_try, to_target, 1, 0, 64, 0), 0);
  ibv_wc wc = ended();
  EXPECT_EQ(wc.status, IBV_WC_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(wc.vendor_err, entry_not_found);
  Ah nobody = address_of(47u << 12 | (target->qp_num & 0xfff));
  ASSERT_EQ(send(one_try, nobody, 1, 0, 64, 0), 0);
  wc = ended();
  EXPECT_EQ(wc.status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(wc.vendor_err, ptlte_not_found);
  Window window(pd.get(), 4096, IBV_ACCESS_LOCAL_WRITE);
  ASSERT_EQ(attach(window), 0);
  const std::uint64_t good = window.mr()->rkey64;
  ASSERT_EQ(rma(IBV_WR_RDMA_READ, 0, 8, good ^ 1, 0), 0);
  EXPECT_EQ(ended().vendor_err, entry_not_found);
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 8, good ^ 1, 0), 0);
  EXPECT_EQ(ended().vendor_err, op_violation);
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 0, 8, good, 0), 0);  // without the right to
  EXPECT_EQ(ended().vendor_err, op_violation);
  ASSERT_EQ(rma(IBV_WR_RDMA_WRITE, 0, 8, std::uint64_t{1} << 60, 0), 0);  // no region's
  wc = ended();
  EXPECT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(wc.vendor_err, 0u);
}

TEST_F(Fields, ASolicitedMessageWakesWhoAskedForOne) {
  CqPtr sleeping = create_cq(16, channel.get());
  QpPtr b = create_qp({}, sleeping.get(), sleeping.get());
  Ah to_b = address_of(b);
  for (unsigned i = 0; i < 10; i++) {
    ASSERT_EQ(receive(b, i, 4096, 64), 0);
    wait_until_posted(b);
    ASSERT_EQ(ibv_req_notify_cq(sleeping.get(), 1), 0);
    ASSERT_EQ(send(source, to_b, i, 0, 64, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED), 0);
    pollfd sleeper = {channel->fd, POLLIN, 0};
    ASSERT_EQ(poll(&sleeper, 1, 20'000), 1) << i;
    ibv_cq* from = nullptr;
    void* user = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &user), 0);
    EXPECT_EQ(from, sleeping.get());
    ibv_ack_cq_events(from, 1);
    EXPECT_EQ(wait(sleeping.get(), 1)[0].wr_id, i);
    wait(1);
  }
}

TEST_F(Fields, APostThatFailsNamesTheRequest) {
  ibv_sge sge = {local(0), 64, mr->lkey};
  ibv_send_wr list[3] = {};
  for (unsigned i = 0; i < 3; i++) {
    list[i].wr_id = i;
    list[i].next = i < 2 ? &list[i + 1] : nullptr;
    list[i].sg_list = &sge;
    list[i].num_sge = 1;
    list[i].opcode = IBV_WR_SEND;
    list[i].send_flags = IBV_SEND_SIGNALED;
    list[i].wr.ru.ah = ibv_ah_to_ah_ex(to_target.get());
  }
  ASSERT_EQ(receive(target, 1, 4096, 64), 0);
  for (const ibv_wr_opcode opcode :
       {IBV_WR_LOCAL_INV, IBV_WR_BIND_MW, IBV_WR_SEND_WITH_INV, IBV_WR_TSO}) {
    list[0].opcode = opcode;
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(source.get(), list, &bad), EOPNOTSUPP);
    EXPECT_EQ(bad, &list[0]);
  }
  list[0].opcode = IBV_WR_SEND;
  list[1].num_sge = 17;
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(source.get(), list, &bad), EINVAL);
  EXPECT_EQ(bad, &list[1]);
  EXPECT_EQ(wait(1)[0].wr_id, 0u);  // what stands before it was posted
  wait(target_cq.get(), 1);
}

}  // namespace
}  // namespace on_model
