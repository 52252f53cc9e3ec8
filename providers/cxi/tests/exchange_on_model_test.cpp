// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Messages between queue pairs of one process.

#include <atomic>
#include <ctime>
#include <thread>

#include "on_model.hpp"

namespace on_model {
namespace {

class Exchange : public OnModel {};

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

}  // namespace
}  // namespace on_model
