// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What a program sees of the provider, in front of the software NIC.
#include "on_model.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace on_model {
namespace {

using testing::ElementsAre;

class Exchange : public OnModel {};
class States : public OnModel {};
class Errors : public OnModel {};
class Jobs : public OnModel {};
class Events : public OnModel {};
class Limits : public OnModel {};

TEST_F(Exchange, SeveralPiecesOnBothSides) {
  QpPtr a = create_qp();
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  const auto base = reinterpret_cast<std::uintptr_t>(buffer.data());
  for (const std::uint32_t part : {30u, 1000u, 60000u}) {
    for (std::uint32_t i = 0; i < 3 * part; i++)
      buffer[i * 2] = static_cast<std::uint8_t>(i * 7);
    ibv_sge from[3], to[3];
    for (unsigned i = 0; i < 3; i++) {
      from[i] = {base + i * (part + 3), part, mr->lkey};
      to[i] = {base + 600'000 + (2 - i) * (part + 5), part, mr->lkey};
    }
    ASSERT_EQ(receive_list(b, 2, to, 3), 0);
    ASSERT_EQ(send_list(a, to_b.get(), 1, from, 3), 0);
    for (const ibv_wc& wc : wait(2)) {
      EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
      EXPECT_EQ(wc.byte_len, 3 * part);
    }
    for (unsigned i = 0; i < 3; i++)
      EXPECT_EQ(std::memcmp(reinterpret_cast<void*>(to[i].addr),
                            reinterpret_cast<void*>(from[i].addr), part),
                0);
  }
}

TEST_F(Exchange, UnsignalledSendsGoOnAndOn) {
  QpPtr a = create_qp({.send_wr = 4});
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  for (unsigned i = 0; i < 200; i++) {
    ASSERT_EQ(receive(b, i, 4096, 64), 0);
    int err;
    while ((err = send(a, to_b, i, 0, 64, 0)) == ENOMEM) {
      ibv_wc wc;
      ASSERT_EQ(ibv_poll_cq(cq.get(), 0, &wc), 0);
    }
    ASSERT_EQ(err, 0);
    const auto wc = wait(1);
    EXPECT_EQ(wc[0].opcode, IBV_WC_RECV);
    EXPECT_EQ(wc[0].wr_id, i);
  }
}

TEST_F(Exchange, CompletionsFollowThePostingOrder) {
  QpPtr a = create_qp();
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  for (unsigned round = 0; round < 20; round++) {
    for (unsigned i = 0; i < 8; i++)
      ASSERT_EQ(receive(b, 100, 500'000, 400'000), 0);
    for (unsigned i = 0; i < 8; i++)
      ASSERT_EQ(send(a, to_b, i, 0, i % 2 ? 64 : 300'000), 0);
    unsigned next = 0;
    for (const ibv_wc& wc : wait(16)) {
      ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
      if (wc.opcode == IBV_WC_SEND) {
        EXPECT_EQ(wc.wr_id, next++);
      }
    }
  }
}

TEST_F(Exchange, TwoThreadsPostWhileAThirdPolls) {
  QpPtr a = create_qp({.send_wr = 64, .recv_wr = 64});
  QpPtr b = create_qp({.send_wr = 64, .recv_wr = 64});
  Ah to_b = address_of(b);
  constexpr unsigned each = 300;
  std::atomic<unsigned> failures = 0;
  const auto post = [&](unsigned thread) {
    for (unsigned i = 0; i < each; i++) {
      int err;
      while ((err = send(a, to_b, thread, 0, thread ? 64 : 1000)) == ENOMEM)
        std::this_thread::yield();
      if (err) failures++;
    }
  };
  for (unsigned i = 0; i < 64; i++)
    ASSERT_EQ(receive(b, 9, 4096, 1024), 0);
  std::thread first(post, 0), second(post, 1);
  unsigned sends = 0, receives = 0;
  while (sends < 2 * each || receives < 2 * each) {
    const ibv_wc wc = wait(1)[0];
    if (wc.status != IBV_WC_SUCCESS) failures++;
    if (wc.opcode == IBV_WC_SEND) {
      sends++;
    } else {
      receives++;
      ASSERT_EQ(receive(b, 9, 4096, 1024), 0);
    }
  }
  first.join();
  second.join();
  EXPECT_EQ(failures, 0u);
}

TEST_F(Exchange, ABuilderBatchOfImmediates) {
  QpPtr a = create_qp();
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  ibv_qp_ex* ex = ibv_qp_to_qp_ex(a.get());
  ASSERT_NE(ex, nullptr);
  for (unsigned i = 0; i < 4; i++)
    ASSERT_EQ(receive(b, i, 4096 + 64 * i, 64), 0);
  wait_until_posted(b);  // so that no message overtakes another one
  ibv_wr_start(ex);
  for (unsigned i = 0; i < 4; i++) {
    ex->wr_id = 10 + i;
    ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
    ibv_wr_send_imm64(ex, 0x1111111111111111u * i);
    ibv_wr_set_ru_addr(ex, ibv_ah_to_ah_ex(to_b.get()), 0);
    ibv_wr_set_job_key(ex, key->jkey);
    ibv_wr_set_inline_data(ex, buffer.data(), 20);
  }
  ASSERT_EQ(ibv_wr_complete(ex), 0);
  unsigned receives = 0;
  for (const ibv_wc& wc : wait(8)) {
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    if (wc.opcode != IBV_WC_RECV) continue;
    EXPECT_EQ(wc.wc_flags, unsigned{IBV_WC_WITH_IMM});
    EXPECT_EQ(wc.imm_data, 0x11111111u * wc.wr_id);
    EXPECT_EQ(wc.src_qp, a->qp_num);
    receives++;
  }
  EXPECT_EQ(receives, 4u);
}

TEST_F(Exchange, ExtendedQueueShowsTimeJobAndSource) {
  ibv_cq_init_attr_ex attr = {};
  attr.cqe = 16;
  attr.wc_flags = IBV_WC_STANDARD_FLAGS | std::uint64_t{IBV_WC_EX_WITH_JOB_ID} |
                  std::uint64_t{IBV_WC_EX_WITH_SRC_ID} |
                  std::uint64_t{IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK};
  ibv_cq_ex* ex = made(ibv_create_cq_ex(context.get(), &attr), "create cq");
  CqPtr timed(ibv_cq_ex_to_cq(ex));
  QpPtr a = create_qp({.src_id = 0xabcd}, timed.get(), timed.get());
  Ah to_a = address_of(a);
  const std::time_t before = std::time(nullptr);
  ASSERT_EQ(receive(a, 1, 4096, 64), 0);
  ASSERT_EQ(send(a, to_a, 2, 0, 64), 0);
  ibv_poll_cq_attr poll = {};
  for (unsigned found = 0; found < 2;) {
    if (ibv_start_poll(ex, &poll)) continue;
    do {
      EXPECT_EQ(ex->status, IBV_WC_SUCCESS);
      const auto seconds =
          static_cast<std::time_t>(ibv_wc_read_completion_wallclock_ns(ex) / 1'000'000'000);
      EXPECT_GE(seconds, before);
      EXPECT_LE(seconds, std::time(nullptr));
      if (ibv_wc_read_opcode(ex) == IBV_WC_RECV) {
        EXPECT_EQ(ibv_wc_read_src_id(ex), 0xabcdu);
        EXPECT_EQ(ibv_wc_read_job_id(ex), 1u);
        EXPECT_EQ(ibv_wc_read_src_qp(ex), a->qp_num);
      }
      found++;
    } while (!ibv_next_poll(ex));
    ibv_end_poll(ex);
  }
}

TEST_F(Exchange, APairInAThreadDomain) {
  ibv_td_init_attr td_attr = {};
  ibv_td* td = made(ibv_alloc_td(context.get(), &td_attr), "td");
  ibv_parent_domain_init_attr attr = {};
  attr.pd = pd.get();
  attr.td = td;
  ibv_pd* parent = made(ibv_alloc_parent_domain(context.get(), &attr), "parent");
  EXPECT_EQ(ibv_dealloc_td(td), EBUSY);
  {
    QpPtr a(made(try_create_qp(parent, cq.get(), cq.get(), key.get(), {}), "qp"));
    Ah to_a = address_of(a);
    ASSERT_EQ(receive(a, 1, 4096, 64), 0);
    ASSERT_EQ(send(a, to_a, 2, 0, 64), 0);
    for (const ibv_wc& wc : wait(2))
      EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  }
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
  EXPECT_EQ(ibv_dealloc_td(td), 0);
}

TEST_F(States, ErrorFlushesInOrderAndResetMakesUsableAgain) {
  QpPtr a = create_qp();
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  for (unsigned round = 0; round < 3; round++) {
    for (unsigned i = 0; i < 5; i++)
      ASSERT_EQ(receive(a, i, 4096, 64), 0);
    for (unsigned i = 0; i < 5; i++)
      ASSERT_EQ(send(a, to_b, 10 + i, 0, 64), 0);  // no receive
    ASSERT_EQ(set_state(a, IBV_QPS_ERR), 0);
    std::vector<std::uint64_t> sends, receives;
    for (const ibv_wc& wc : wait(10)) {
      EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
      (wc.wr_id < 10 ? receives : sends).push_back(wc.wr_id);
    }
    EXPECT_THAT(receives, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(sends, ElementsAre(10, 11, 12, 13, 14));
    ASSERT_EQ(send(a, to_b, 20, 0, 64), 0);
    EXPECT_EQ(wait(1)[0].status, IBV_WC_WR_FLUSH_ERR);
    ASSERT_EQ(set_state(a, IBV_QPS_RESET), 0);
    EXPECT_EQ(send(a, to_b, 20, 0, 64), EINVAL);
    ASSERT_EQ(set_state(a, IBV_QPS_RTS), 0);
    ASSERT_EQ(receive(b, 1, 4096, 64), 0);
    ASSERT_EQ(send(a, to_b, 2, 0, 64), 0);
    for (const ibv_wc& wc : wait(2))
      EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    Ah to_a = address_of(a);
    ASSERT_EQ(receive(a, 3, 4096, 64), 0);
    ASSERT_EQ(send(b, to_a, 4, 0, 1000), 0);  // cut
    EXPECT_THAT((std::vector{wait(1)[0].status, wait(1)[0].status}),
                testing::UnorderedElementsAre(IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR));
  }
}

TEST_F(States, ResetForgetsWhatWasNotPolled) {
  QpPtr a = create_qp();
  for (unsigned i = 0; i < 5; i++)
    ASSERT_EQ(receive(a, i, 4096, 64), 0);
  ASSERT_EQ(set_state(a, IBV_QPS_ERR), 0);
  ASSERT_EQ(set_state(a, IBV_QPS_RESET), 0);
  ibv_wc wc;
  EXPECT_EQ(ibv_poll_cq(cq.get(), 1, &wc), 0);
}

TEST_F(States, OnlySomeChangesExist) {
  QpPtr a = create_qp();
  EXPECT_NE(set_state(a, IBV_QPS_INIT), 0);
  EXPECT_NE(set_state(a, IBV_QPS_RESET), 0);
  ibv_qp_attr attr = {};
  ibv_qp_init_attr init = {};
  ASSERT_EQ(ibv_query_qp(a.get(), &attr, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
}

TEST_F(States, RepeatAttributesAreEchoed) {
  QpPtr a = create_qp({.rnr_retry = 3, .retry_cnt = 2});
  ibv_qp_attr attr = {};
  ibv_qp_init_attr init = {};
  ASSERT_EQ(ibv_query_qp(a.get(), &attr, IBV_QP_RNR_RETRY, &init), 0);
  EXPECT_EQ(attr.rnr_retry, 3);
  EXPECT_EQ(attr.retry_cnt, 2);
  EXPECT_EQ(attr.min_rnr_timer, 12);
  EXPECT_EQ(init.cap.max_send_wr, 16u);
  EXPECT_EQ(init.cap.max_inline_data, 192u);
  attr.rnr_retry = 5;
  attr.min_rnr_timer = 31;
  attr.qp_state = IBV_QPS_RTS;
  ASSERT_EQ(ibv_modify_qp(a.get(), &attr, IBV_QP_STATE | IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER),
            0);
  ASSERT_EQ(ibv_query_qp(a.get(), &attr, IBV_QP_RNR_RETRY, &init), 0);
  EXPECT_EQ(attr.rnr_retry, 5);
  EXPECT_EQ(attr.min_rnr_timer, 31);
  attr.rnr_retry = 8;
  EXPECT_EQ(ibv_modify_qp(a.get(), &attr, IBV_QP_RNR_RETRY), EINVAL);
}

TEST_F(States, DestroyingLeavesNoCompletionBehind) {
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  for (unsigned round = 0; round < 10; round++) {
    QpPtr a = create_qp();
    for (unsigned i = 0; i < 8; i++)
      ASSERT_EQ(receive(b, 100 + i, 4096, 64), 0);
    for (unsigned i = 0; i < 8; i++)
      ASSERT_EQ(send(a, to_b, i, 0, 64), 0);
    for (unsigned i = 0; i < 4; i++)
      ASSERT_EQ(receive(a, 50 + i, 4096, 64), 0);
    a.reset();
    unsigned receives = 0;
    ibv_wc wc;
    while (ibv_poll_cq(cq.get(), 1, &wc) > 0) {
      EXPECT_GE(wc.wr_id, 100u);
      receives++;
    }
    EXPECT_LE(receives, 8u);
    ASSERT_EQ(set_state(b, IBV_QPS_ERR), 0);
    wait(8 - receives);
    ASSERT_EQ(set_state(b, IBV_QPS_RESET), 0);
    ASSERT_EQ(set_state(b, IBV_QPS_RTS), 0);
  }
}

TEST_F(Errors, NoReceiveIsRetriedAndGivenUp) {
  QpPtr a = create_qp({.rnr_retry = 2});
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  ASSERT_EQ(send(a, to_b, 1, 0, 64, 0), 0);  // an error is reported unasked
  const ibv_wc wc = wait(1)[0];
  EXPECT_EQ(wc.status, IBV_WC_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(wc.vendor_err, 18u);
  ASSERT_EQ(receive(b, 2, 4096, 64), 0);
  ASSERT_EQ(send(a, to_b, 3, 0, 64), 0);
  for (const ibv_wc& good : wait(2))
    EXPECT_EQ(good.status, IBV_WC_SUCCESS);
}

TEST_F(Errors, ATargetThatIsNotThereIsRetriedAndGivenUp) {
  QpPtr a = create_qp({.retry_cnt = 2});
  Ah nowhere = address_of((a->qp_num & 0xfff) | 40 << 12);
  ASSERT_EQ(send(a, nowhere, 1, 0, 64), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_RETRY_EXC_ERR);
}

TEST_F(Errors, ATargetThatAppearsInTimeGetsTheMessage) {
  QpPtr a = create_qp({.rnr_retry = 7, .retry_cnt = 7});
  const std::uint32_t qpn = (a->qp_num & 0xfff) | 41 << 12;
  Ah later = address_of(qpn);
  ASSERT_EQ(send(a, later, 1, 0, 64), 0);
  QpPtr b = create_qp({.source_qpn = qpn, .explicit_qpn = true});
  EXPECT_EQ(b->qp_num, qpn);
  ASSERT_EQ(receive(b, 2, 4096, 64), 0);
  for (const ibv_wc& wc : wait(2))
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
}

TEST_F(Errors, KeysThatDoNotAllowIt) {
  QpPtr a = create_qp();
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  const auto base = reinterpret_cast<std::uintptr_t>(buffer.data());
  ibv_sge past = {base + buffer.size() - 8, 9, mr->lkey};
  ASSERT_EQ(send_list(a, to_b.get(), 1, &past, 1), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_LOC_PROT_ERR);
  std::vector<std::uint8_t> other(4096);
  ibv_mr* gone = made(ibv_reg_mr(pd.get(), other.data(), other.size(), 0), "mr");
  ibv_sge sge = {reinterpret_cast<std::uintptr_t>(other.data()), 64, gone->lkey};
  ASSERT_EQ(receive_list(b, 2, &sge, 1), 0);  // not writable
  EXPECT_EQ(wait(1)[0].status, IBV_WC_LOC_PROT_ERR);
  ASSERT_EQ(ibv_dereg_mr(gone), 0);
  ASSERT_EQ(send_list(a, to_b.get(), 3, &sge, 1), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_LOC_PROT_ERR);
  ASSERT_EQ(receive(b, 4, 4096, 64), 0);
  ASSERT_EQ(send(a, to_b, 5, 0, 64), 0);
  for (const ibv_wc& wc : wait(2))
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
}

TEST_F(Errors, WhatIsNotSupportedSaysSo) {
  QpPtr a = create_qp();
  EXPECT_EQ(try_create_qp(pd.get(), cq.get(), cq.get(), key.get(),
                          {.operations = IBV_QP_EX_WITH_ATOMIC_WRITE}),
            nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  ibv_qp_init_attr rc = {};
  rc.send_cq = rc.recv_cq = cq.get();
  rc.qp_type = IBV_QPT_RC;
  EXPECT_EQ(ibv_create_qp(pd.get(), &rc), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  ibv_ah_attr_ex bad = address(0x01000000);
  EXPECT_EQ(ibv_create_ah_ex(pd.get(), &bad), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Jobs, AddressTableNamesPeers) {
  Job table = alloc_job(10, 8);
  Key table_key(made(ibv_create_jkey(pd.get(), table.get(), 0), "jkey"));
  QpPtr a(made(try_create_qp(pd.get(), cq.get(), cq.get(), table_key.get(), {}), "qp"));
  QpPtr b(made(try_create_qp(pd.get(), cq.get(), cq.get(), table_key.get(), {}), "qp"));
  ibv_sge sge = {reinterpret_cast<std::uintptr_t>(buffer.data()), 64, mr->lkey};
  EXPECT_EQ(send_list(a, nullptr, 1, &sge, 1, IBV_SEND_SIGNALED, 0, 3), EINVAL);
  ibv_ah_attr_ex attr = address(b->qp_num);
  ASSERT_EQ(ibv_insert_addr(table.get(), &attr, 3, 0), 0);
  ibv_ah_attr_ex back;
  std::memset(&back, 0, sizeof(back));
  ASSERT_EQ(ibv_query_addr(table.get(), 3, &back, 0), 0);
  EXPECT_EQ(std::memcmp(&attr, &back, sizeof(attr)), 0);
  ASSERT_EQ(receive(b, 2, 4096, 64), 0);
  ASSERT_EQ(send_list(a, nullptr, 1, &sge, 1, IBV_SEND_SIGNALED, table_key->jkey, 3), 0);
  for (const ibv_wc& wc : wait(2))
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  ASSERT_EQ(ibv_remove_addr(table.get(), 3, 0), 0);
  EXPECT_EQ(send_list(a, nullptr, 1, &sge, 1, IBV_SEND_SIGNALED, table_key->jkey, 3), EINVAL);
  EXPECT_EQ(ibv_query_addr(table.get(), 3, &back, 0), ENOENT);
  EXPECT_EQ(ibv_insert_addr(table.get(), &attr, 8, 0), ENOENT);
}

TEST_F(Jobs, ExportedJobsShareTheTable) {
  Job table = alloc_job(10, 4);
  int fd = -1;
  ASSERT_EQ(ibv_export_job(table.get(), &fd), 0);
  Context other = open_device("cxi0");
  ibv_job* raw = nullptr;
  ASSERT_EQ(ibv_import_job(other.get(), fd, &raw), 0);
  Job imported(raw);
  close(fd);
  ibv_ah_attr_ex attr = address(5);
  ASSERT_EQ(ibv_insert_addr(table.get(), &attr, 1, 0), 0);
  ibv_ah_attr_ex back = {};
  EXPECT_EQ(ibv_query_addr(imported.get(), 1, &back, 0), 0);
  EXPECT_EQ(back.remote_qpn, 5u);
  ibv_job_attr query = {};
  query.comp_mask = IBV_JOB_ATTR_ID | IBV_JOB_ATTR_MAX_ADDR_ENTRIES;
  ASSERT_EQ(ibv_query_job(imported.get(), &query), 0);
  EXPECT_EQ(query.id, 10u);
  EXPECT_EQ(query.max_addr_entries, 4u);
}

TEST_F(Jobs, ForeignAndTwiceAreRefused) {
  ibv_job_attr attr = {};
  attr.comp_mask = IBV_JOB_ATTR_ID;
  attr.id = 1;
  EXPECT_EQ(ibv_alloc_job(context.get(), &attr, nullptr), nullptr);
  EXPECT_EQ(errno, EEXIST);
  attr.id = 77;
  EXPECT_EQ(ibv_alloc_job(context.get(), &attr, nullptr), nullptr);
  EXPECT_EQ(errno, EPERM);
  attr.id = 0x10000;
  EXPECT_EQ(ibv_alloc_job(context.get(), &attr, nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_dealloc_job(job.get()), EBUSY);
}

TEST_F(Jobs, ARequestCanTravelInAnotherJob) {
  Job other = alloc_job(10);
  Key other_key(made(ibv_create_jkey(pd.get(), other.get(), 0), "jkey"));
  QpPtr a = create_qp();
  QpPtr b(made(try_create_qp(pd.get(), cq.get(), cq.get(), other_key.get(), {}), "qp"));
  Ah to_b = address_of(b);
  for (unsigned i = 0; i < 4; i++)
    ASSERT_EQ(receive(b, 100, 4096, 64), 0);
  QpPtr c = create_qp();
  Ah to_c = address_of(c);
  for (unsigned i = 0; i < 4; i++)
    ASSERT_EQ(receive(c, 100, 4096, 64), 0);
  for (unsigned i = 0; i < 4; i++) {
    ASSERT_EQ(send(a, to_b, i, 0, 64, IBV_SEND_SIGNALED, other_key->jkey), 0);
    ASSERT_EQ(send(a, to_c, i, 0, 64, IBV_SEND_SIGNALED, key->jkey), 0);
  }
  for (const ibv_wc& wc : wait(16))
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
}

TEST_F(Events, EveryArmingBringsOneRecord) {
  QpPtr a = create_qp();
  Ah to_a = address_of(a);
  for (unsigned i = 0; i < 40; i++) {
    ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
    ASSERT_EQ(receive(a, 1, 4096, 64), 0);
    ASSERT_EQ(send(a, to_a, 2, 0, 64), 0);
    ibv_cq* from = nullptr;
    void* user = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &user), 0);
    EXPECT_EQ(from, cq.get());
    ibv_ack_cq_events(from, 1);
    wait(2);
  }
}

TEST_F(Events, ASleepingSenderIsWokenForItsRepeat) {
  CqPtr sends = create_cq(64, channel.get());
  CqPtr receives = create_cq();
  QpPtr a = create_qp({}, sends.get(), receives.get());
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  ASSERT_EQ(ibv_req_notify_cq(sends.get(), 0), 0);
  ASSERT_EQ(send(a, to_b, 1, 0, 64), 0);
  std::thread late([&] {
    usleep(20'000);
    ASSERT_EQ(receive(b, 2, 4096, 64), 0);
  });
  ibv_wc wc;
  while (ibv_poll_cq(sends.get(), 1, &wc) == 0) {
    ibv_cq* from = nullptr;
    void* user = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &user), 0);
    ibv_ack_cq_events(from, 1);
    ASSERT_EQ(ibv_req_notify_cq(from, 0), 0);
  }
  late.join();
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  wait(1);
}

TEST_F(Events, AReceiverThatSleepsStillRepeatsItsSends) {
  CqPtr sends = create_cq();
  CqPtr receives = create_cq(64, channel.get());
  QpPtr a = create_qp({}, sends.get(), receives.get());
  QpPtr b = create_qp({}, sends.get(), cq.get());
  Ah to_a = address_of(a);
  Ah to_b = address_of(b);
  ASSERT_EQ(receive(a, 1, 4096, 64), 0);
  ASSERT_EQ(send(a, to_b, 2, 0, 64, 0), 0);  // b has no receive yet
  std::thread peer([&] {
    usleep(20'000);
    ASSERT_EQ(receive(b, 3, 8192, 64), 0);
    wait(1);  // the repeat has arrived
    ASSERT_EQ(send(b, to_a, 4, 0, 64, 0), 0);
  });
  ibv_wc wc;
  do {
    ASSERT_EQ(ibv_req_notify_cq(receives.get(), 0), 0);
    if (ibv_poll_cq(receives.get(), 1, &wc) > 0) break;
    ibv_cq* from = nullptr;
    void* user = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &user), 0);
    ibv_ack_cq_events(from, 1);
  } while (ibv_poll_cq(receives.get(), 1, &wc) == 0);
  peer.join();
  EXPECT_EQ(wc.wr_id, 1u);
}

TEST_F(Events, AnErrorWakesWhoSleeps) {
  QpPtr a = create_qp();
  ASSERT_EQ(receive(a, 1, 4096, 64), 0);
  ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
  ASSERT_EQ(set_state(a, IBV_QPS_ERR), 0);
  ibv_cq* from = nullptr;
  void* user = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &user), 0);
  ibv_ack_cq_events(from, 1);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(Events, DestroyingAQueueDropsItsRecords) {
  CqPtr other = create_cq(16, channel.get());
  QpPtr a = create_qp({}, other.get(), other.get());
  Ah to_a = address_of(a);
  ASSERT_EQ(ibv_req_notify_cq(other.get(), 0), 0);
  ASSERT_EQ(receive(a, 1, 4096, 64), 0);
  ASSERT_EQ(send(a, to_a, 2, 0, 64), 0);
  wait(other.get(), 2);
  a.reset();
  other.reset();  // its record was not taken
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
  ASSERT_EQ(receive(b, 1, 4096, 64), 0);
  ASSERT_EQ(send(b, to_b, 2, 0, 64), 0);
  ibv_cq* from = nullptr;
  void* user = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &user), 0);
  EXPECT_EQ(from, cq.get());
  ibv_ack_cq_events(from, 1);
  wait(2);
}

TEST_F(Limits, AsManyQueuePairsAsOneDomainHas) {
  std::vector<QpPtr> qps;
  for (unsigned i = 0; i < 48; i++)
    qps.push_back(create_qp({.send_wr = 1, .recv_wr = 1}));
  EXPECT_EQ(try_create_qp(pd.get(), cq.get(), cq.get(), key.get(), {.send_wr = 1, .recv_wr = 1}),
            nullptr);
  EXPECT_EQ(errno, ENOSPC);
  qps.pop_back();
  qps.push_back(create_qp());
}

TEST_F(Limits, QueuesRefuseWhatTheyDoNotHold) {
  QpPtr a = create_qp({.send_wr = 2, .recv_wr = 2});
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  EXPECT_EQ(receive(a, 1, 0, 8), 0);
  EXPECT_EQ(receive(a, 1, 0, 8), 0);
  EXPECT_EQ(receive(a, 1, 0, 8), ENOMEM);
  EXPECT_EQ(send(a, to_b, 1, 0, 8), 0);
  EXPECT_EQ(send(a, to_b, 1, 0, 8), 0);
  EXPECT_EQ(send(a, to_b, 1, 0, 8), ENOMEM);
  EXPECT_EQ(ibv_destroy_cq(cq.get()), EBUSY);
}

TEST_F(Limits, AQueueWithNextToNoSpareRoomTakesOneMessageAfterAnother) {
  // The reserve for sends fills the pages of the ring nearly to the end.
  CqPtr small = create_cq(1);
  QpOptions many_sends;
  many_sends.send_wr = 53;
  QpPtr a = create_qp();
  QpPtr b = create_qp(many_sends, small.get(), small.get());
  Ah to_b = address_of(b);
  for (std::uint64_t id = 0; id < 50; id++) {
    ASSERT_EQ(receive(b, id, 4096, 64), 0);
    ASSERT_EQ(send(a, to_b, id, 0, 64), 0);
    EXPECT_EQ(wait(small.get(), 1)[0].wr_id, id);
    EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
  }
}

TEST_F(Limits, MakingAndUnmakingLeavesNothing) {
  // Of the device, which are shared: the memory of the program itself may grow.
  const auto mappings = [] {
    std::FILE* file = std::fopen("/proc/self/maps", "r");
    unsigned shared = 0;
    char line[512];
    while (std::fgets(line, sizeof(line), file))
      shared += std::strstr(line, "s ") == std::strchr(line, ' ') + 4;
    std::fclose(file);
    return shared;
  };
  { QpPtr warm = create_qp(); }
  const unsigned before = mappings();
  EXPECT_GT(before, 0u);
  for (unsigned i = 0; i < 50; i++) {
    CqPtr other = create_cq();
    QpPtr a = create_qp({}, other.get(), other.get());
  }
  EXPECT_EQ(mappings(), before);
}

// Breaks the device, too, and nobody is told of it.
class Vanished : public OnModel {};

TEST_F(Vanished, DevicesLetAttachedRegionsGoAndKeepWhatIsInUse) {
  ibv_comp_cntr_init_attr counter_attr = {};
  Owned<ibv_comp_cntr, ibv_destroy_comp_cntr> counter(
      made(ibv_create_comp_cntr(context.get(), &counter_attr), "counter"));
  QpPtr qp = create_qp();
  ibv_qp_attach_comp_cntr_attr counted = {};
  counted.op_mask = IBV_QP_ATTACH_COMP_CNTR_OP_SEND | IBV_QP_ATTACH_COMP_CNTR_OP_RECV;
  ASSERT_EQ(ibv_qp_attach_comp_cntr(qp.get(), counter.get(), &counted), 0);
  Mr exposed(made(
      ibv_reg_mr(pd.get(), buffer.data(), 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
      "mr"));
  ASSERT_EQ(ibv_attach_mr(qp.get(), exposed.get()), 0);
  ASSERT_EQ(std::system(CXI_SIM " set device cxi0 failed"), 0);
  exposed.reset();
  EXPECT_EQ(ibv_destroy_comp_cntr(counter.get()), EBUSY);
  qp.reset();
  EXPECT_EQ(ibv_dealloc_job(job.get()), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(pd.get()), EBUSY);
}

class Unheard : public OnModel {};

TEST_F(Unheard, WhoOnlyPollsLearnsThatTheDeviceIsGone) {
  QpPtr a = create_qp();
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  ASSERT_EQ(receive(a, 1, 4096, 64), 0);
  ASSERT_EQ(send(a, to_b, 2, 0, 64), 0);  // waits for a receive
  ASSERT_EQ(std::system(CXI_SIM " set device cxi0 failed"), 0);
  for (const ibv_wc& wc : wait(2))
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
}

class Asleep : public OnModel {};

TEST_F(Asleep, WhoSleepsOnAChannelIsWokenWhenTheDeviceGoes) {
  QpPtr a = create_qp();
  ASSERT_EQ(receive(a, 1, 4096, 64), 0);
  ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
  ASSERT_EQ(std::system(CXI_SIM " set device cxi0 failed"), 0);
  ibv_cq* which = nullptr;
  void* its = nullptr;
  EXPECT_EQ(ibv_get_cq_event(channel.get(), &which, &its), -1);
  EXPECT_EQ(errno, EIO);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_WR_FLUSH_ERR);
}

class Gone : public OnModel {};

TEST_F(Gone, OutstandingRequestsAreFlushedAndEverythingCanBeDestroyed) {
  QpPtr a = create_qp();
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  ASSERT_EQ(receive(a, 1, 4096, 64), 0);
  ASSERT_EQ(send(a, to_b, 2, 0, 64), 0);  // waits for a receive
  Mr attached(made(ibv_reg_mr(pd.get(), buffer.data(), 4096, IBV_ACCESS_LOCAL_WRITE), "mr"));
  ASSERT_EQ(ibv_attach_mr(b.get(), attached.get()), 0);
  ASSERT_EQ(std::system(CXI_SIM " set device cxi0 failed"), 0);
  // Before the program has been told.
  EXPECT_EQ(ibv_detach_mr(b.get(), attached.get()), EIO);
  attached.reset();
  ibv_async_event event;
  do {
    ASSERT_EQ(ibv_get_async_event(context.get(), &event), 0);
    ibv_ack_async_event(&event);
  } while (event.event_type != IBV_EVENT_DEVICE_FATAL);
  for (const ibv_wc& wc : wait(2))
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
  ASSERT_EQ(send(a, to_b, 3, 0, 64), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(set_state(a, IBV_QPS_ERR), EIO);
  EXPECT_EQ(ibv_alloc_pd(context.get()), nullptr);
  EXPECT_EQ(errno, EIO);
  // Nothing is reported any more: nobody waits for ever.
  EXPECT_EQ(ibv_get_async_event(context.get(), &event), -1);
  EXPECT_EQ(errno, EIO);
  ibv_cq* told = nullptr;
  void* of = nullptr;
  while (ibv_get_cq_event(channel.get(), &told, &of) == 0)
    ibv_ack_cq_events(told, 1);
  EXPECT_EQ(errno, EIO);
  // The fixture and the owners here expect 0 of every destroy call.
}

}  // namespace
}  // namespace on_model
