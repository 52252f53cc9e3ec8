// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion queues that change their size while they are used.
#include <gmock/gmock.h>
#include <poll.h>

#include <atomic>
#include <thread>

#include "on_model.hpp"

namespace on_model {
namespace {

using testing::ElementsAre;

/// A thread that goes on until the end of the test, whichever that is.
struct Ended {
  std::atomic<bool>& done;
  std::thread thread;
  ~Ended() {
    done = true;
    thread.join();
  }
};

class Resizing : public OnModel {
 protected:
  /// So many messages whose receives nobody has polled yet, with ids from `first` on.
  void leave_completions(unsigned count, std::uint64_t first) {
    for (unsigned i = 0; i < count; i++)
      ASSERT_EQ(receive(b, first + i, 4096, 64), 0);
    for (unsigned i = 0; i < count; i++)
      ASSERT_EQ(send(a, to_b, 1, 0, 64), 0);
    wait(count);  // what is acknowledged has been reported at the other end
  }
  /// Eight messages, without a look at the sender's queue.
  void pass_messages(const QpPtr& from) {
    for (unsigned i = 0; i < 8; i++)
      ASSERT_EQ(receive(b, i, 4096, 64), 0);
    wait_until_posted(b);
    for (unsigned i = 0; i < 8; i++)
      ASSERT_EQ(send(from, to_b, i, 0, 64), 0);
    EXPECT_EQ(received(8).size(), 8u);
  }
  std::vector<std::uint64_t> received(unsigned count) {
    std::vector<std::uint64_t> ids;
    for (const ibv_wc& wc : wait(receives.get(), count)) {
      EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
      ids.push_back(wc.wr_id);
    }
    return ids;
  }
  bool nothing_left() {
    ibv_wc wc;
    return ibv_poll_cq(receives.get(), 1, &wc) == 0;
  }

  CqPtr receives = create_cq(32, channel.get());
  QpPtr a = create_qp();
  QpPtr b = create_qp({}, receives.get(), receives.get());
  Ah to_b = address_of(b);
};

TEST_F(Resizing, KeepsWhatIsInTheQueue) {
  leave_completions(3, 10);
  ASSERT_EQ(ibv_resize_cq(receives.get(), 500), 0);
  EXPECT_EQ(receives->cqe, 500);
  leave_completions(2, 20);
  // Once more before anything was polled: what was carried over is carried on.
  ASSERT_EQ(ibv_resize_cq(receives.get(), 8), 0);
  EXPECT_EQ(receives->cqe, 8);
  leave_completions(1, 30);
  EXPECT_THAT(received(2), ElementsAre(10, 11));
  ASSERT_EQ(ibv_resize_cq(receives.get(), 4), 0);
  EXPECT_THAT(received(4), ElementsAre(12, 20, 21, 30));
  EXPECT_TRUE(nothing_left());
}

TEST_F(Resizing, RefusesLessThanThereIs) {
  leave_completions(5, 10);
  EXPECT_EQ(ibv_resize_cq(receives.get(), 4), EINVAL);
  EXPECT_EQ(receives->cqe, 32);
  EXPECT_EQ(ibv_resize_cq(receives.get(), 5), 0);
  EXPECT_EQ(received(5).size(), 5u);
  EXPECT_EQ(ibv_resize_cq(receives.get(), 1), 0);
}

TEST_F(Resizing, CountsOnlyWhatWillBeReported) {
  ASSERT_EQ(receive(b, 1, 4096, 64), 0);
  ASSERT_EQ(receive(b, 2, 4096, 64), 0);
  wait_until_posted(b);
  ASSERT_EQ(send(a, to_b, 3, 0, 64, 0), 0);  // its success is no completion
  ASSERT_EQ(send(a, to_b, 4, 0, 64, 0), 0);
  received(2);
  ASSERT_EQ(set_state(a, IBV_QPS_ERR), 0);
  ASSERT_EQ(send(a, to_b, 5, 0, 64, 0), 0);  // its error is
  ASSERT_EQ(send(a, to_b, 6, 0, 64, 0), 0);
  EXPECT_EQ(ibv_resize_cq(cq.get(), 1), EINVAL);
  EXPECT_EQ(ibv_resize_cq(cq.get(), 2), 0);
  const auto ended = wait(2);
  EXPECT_EQ(ended[0].wr_id, 5u);
  EXPECT_EQ(ended[1].status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(Resizing, RefusesSizesThatNoQueueHas) {
  EXPECT_EQ(ibv_resize_cq(receives.get(), 0), EINVAL);
  EXPECT_EQ(ibv_resize_cq(receives.get(), -1), EINVAL);
  EXPECT_EQ(ibv_resize_cq(receives.get(), 65537), EINVAL);
  EXPECT_EQ(receives->cqe, 32);
  leave_completions(1, 10);
  EXPECT_THAT(received(1), ElementsAre(10));
}

TEST_F(Resizing, LosesNoPlaceOfASend) {
  QpPtr idle = create_qp();  // has no receive: what is sent to it stays outstanding
  Ah to_idle = address_of(idle);
  for (unsigned round = 0; round < 3; round++) {
    QpPtr full = create_qp({.send_wr = 64});
    unsigned posted = 0;
    while (send(full, to_idle, posted, 0, 64) == 0)
      posted++;
    EXPECT_EQ(posted, 64u);
    ASSERT_EQ(ibv_resize_cq(cq.get(), 300 + static_cast<int>(round)), 0);
    ASSERT_EQ(set_state(full, IBV_QPS_ERR), 0);
    for (const ibv_wc& wc : wait(64))
      EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
  }
}

TEST_F(Resizing, SendsCompleteAcrossIt) {
  for (unsigned round = 0; round < 200; round++) {
    for (unsigned i = 0; i < 8; i++) {
      ASSERT_EQ(receive(b, i, 4096, 64), 0) << round;
      ASSERT_EQ(send(a, to_b, i, 0, 64), 0) << round;
    }
    ASSERT_EQ(ibv_resize_cq(cq.get(), 64 + static_cast<int>(round)), 0);
    ASSERT_EQ(ibv_resize_cq(receives.get(), 64 + static_cast<int>(round)), 0);
    const auto sent = wait(8);
    for (unsigned i = 0; i < 8; i++)
      EXPECT_EQ(sent[i].wr_id, i);
    EXPECT_EQ(received(8).size(), 8u);
  }
}

TEST_F(Resizing, GivesBackThePlacesOfAnswersThatItLookedAt) {
  // More commands than the queue has places for, and no poll that finds nothing.
  for (unsigned round = 0; round < 100; round++) {
    pass_messages(a);
    while (ibv_resize_cq(cq.get(), 7) == 0)  // refused when all eight have been answered
      std::this_thread::yield();
    ASSERT_EQ(ibv_resize_cq(cq.get(), 64), 0);
    ibv_wc wc[8];
    ASSERT_EQ(ibv_poll_cq(cq.get(), 8, wc), 8);
  }
}

TEST_F(Resizing, GivesThemBackWhenItIsRefusedToo) {
  for (unsigned round = 0; round < 300; round++) {
    pass_messages(a);
    for (unsigned i = 0; i < 20; i++)  // most have been answered by the last of them
      ASSERT_EQ(ibv_resize_cq(cq.get(), 65537), EINVAL);
    wait(8);
  }
}

TEST_F(Resizing, IsNotNeededWhereAnotherQueueLooksAtTheAnswers) {
  QpPtr c = create_qp({}, cq.get(), receives.get());
  for (unsigned round = 0; round < 300; round++) {
    pass_messages(c);
    for (unsigned i = 0; i < 20; i++) {
      ASSERT_TRUE(nothing_left());
      ASSERT_EQ(ibv_req_notify_cq(receives.get(), 0), 0);
    }
    wait(8);
  }
}

TEST_F(Resizing, UnderTrafficOfOtherThreads) {
  constexpr unsigned messages = 3000;
  std::atomic<unsigned> polled{0};
  std::atomic<bool> done{false};
  std::vector<std::atomic<unsigned>> seen(messages);
  std::thread resizer([&] {
    int cqe = 32;
    while (!done) {
      EXPECT_EQ(ibv_resize_cq(receives.get(), cqe), 0);
      EXPECT_EQ(ibv_resize_cq(cq.get(), cqe), 0);
      cqe = cqe >= 4096 ? 32 : 2 * cqe;
      std::this_thread::yield();
    }
  });
  const auto poller = [&] {
    ibv_wc wc[4];
    while (polled < messages) {
      const int n = ibv_poll_cq(receives.get(), 4, wc);
      for (int i = 0; i < n; i++) {
        EXPECT_EQ(wc[i].status, IBV_WC_SUCCESS);
        seen[wc[i].wr_id]++;
        polled++;
      }
      if (n == 0) std::this_thread::yield();
    }
  };
  std::thread first(poller), second(poller);
  unsigned posted = 0, sent = 0, ended = 0;
  ibv_wc wc[8];
  while (ended < messages) {
    while (posted < messages && receive(b, posted, 4096, 64) == 0)
      posted++;
    while (sent < posted && sent - ended < 16 && send(a, to_b, sent, 0, 64) == 0)
      sent++;
    const int n = ibv_poll_cq(cq.get(), 8, wc);
    for (int i = 0; i < n; i++) {
      EXPECT_EQ(wc[i].status, IBV_WC_SUCCESS);
      EXPECT_EQ(wc[i].wr_id, ended++);
    }
    if (n == 0) std::this_thread::yield();
  }
  first.join();
  second.join();
  done = true;
  resizer.join();
  for (unsigned i = 0; i < messages; i++)
    EXPECT_EQ(seen[i], 1u) << i;
}

TEST_F(Resizing, WakesASleeperAllTheSame) {
  constexpr unsigned messages = 100;
  std::atomic<bool> done{false};
  std::atomic<unsigned> polled{0};
  // Once around each message, whenever that is.
  const Ended resizer{done, std::thread([&] {
                        for (unsigned seen = 0; !done; seen = polled) {
                          EXPECT_EQ(ibv_resize_cq(receives.get(), 40 + static_cast<int>(seen)), 0);
                          while (!done && polled == seen)
                            std::this_thread::yield();
                        }
                      })};
  for (unsigned i = 0; i < messages; i++) {
    ASSERT_EQ(receive(b, i, 4096, 64), 0);
    wait_until_posted(b);
    ASSERT_EQ(ibv_req_notify_cq(receives.get(), 0), 0);
    ASSERT_EQ(send(a, to_b, i, 0, 64), 0);
    ibv_wc wc;
    while (ibv_poll_cq(receives.get(), 1, &wc) == 0) {
      pollfd sleeper = {channel->fd, POLLIN, 0};
      ASSERT_EQ(poll(&sleeper, 1, 20'000), 1) << "nobody was woken for message " << i;
      ibv_cq* from = nullptr;
      void* user = nullptr;
      ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &user), 0);
      ibv_ack_cq_events(from, 1);
      ASSERT_EQ(ibv_req_notify_cq(receives.get(), 0), 0);
    }
    EXPECT_EQ(wc.wr_id, i);
    polled++;
    wait(1);
  }
}

TEST_F(Resizing, ExtendedQueuesToo) {
  ibv_cq_init_attr_ex attr = {};
  attr.cqe = 4;
  attr.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
  ibv_cq_ex* ex = made(ibv_create_cq_ex(context.get(), &attr), "create cq ex");
  CqPtr owned(ibv_cq_ex_to_cq(ex));
  QpPtr c = create_qp({}, owned.get(), owned.get());
  Ah to_c = address_of(c);
  for (unsigned i = 0; i < 3; i++) {
    ASSERT_EQ(receive(c, 50 + i, 4096, 64), 0);
    ASSERT_EQ(send(a, to_c, 1, 0, 32), 0);
  }
  wait(3);
  ASSERT_EQ(ibv_resize_cq(owned.get(), 100), 0);
  ibv_poll_cq_attr poll_attr = {};
  ASSERT_EQ(ibv_start_poll(ex, &poll_attr), 0);
  for (unsigned i = 0; i < 3; i++) {
    EXPECT_EQ(ex->wr_id, 50u + i);
    EXPECT_EQ(ibv_wc_read_byte_len(ex), 32u);
    EXPECT_NE(ibv_wc_read_completion_ts(ex), 0u);
    EXPECT_EQ(ibv_next_poll(ex), i == 2 ? ENOENT : 0);
  }
  ibv_end_poll(ex);
}

TEST_F(Resizing, QueuePairsMakeTheRingGrow) {
  CqPtr small = create_cq(1);
  std::vector<QpPtr> qps;
  // The ring of so small a queue has room for some 60 more slots; each of these takes 1040.
  for (unsigned i = 0; i < 8; i++)
    qps.push_back(create_qp({.send_wr = 512, .recv_wr = 16}, small.get(), small.get()));
  Ah to_first = address_of(qps[0]);
  for (unsigned round = 0; round < 8; round++) {
    for (unsigned i = 0; i < 16; i++) {
      ASSERT_EQ(receive(qps[0], 1000 + i, 4096, 64), 0);
      ASSERT_EQ(send(qps[round], to_first, i, 0, 64), 0);
    }
    for (const ibv_wc& wc : wait(small.get(), 32))
      EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  }
}

TEST_F(Resizing, EventSlotsHaveAnEnd) {
  CqPtr small = create_cq(1);
  QpPtr large = create_qp({.send_wr = 4096}, small.get(), small.get());
  EXPECT_EQ(try_create_qp(pd.get(), small.get(), small.get(), key.get(), {.send_wr = 4096}),
            nullptr);
  EXPECT_EQ(errno, ENOMEM);
  QpPtr more = create_qp({.send_wr = 2048}, small.get(), small.get());
  large.reset();
  QpPtr again = create_qp({.send_wr = 4096}, small.get(), small.get());
}

TEST_F(Resizing, OfAQueueWhoseDomainHasOneThread) {
  ibv_td_init_attr none = {};
  ibv_td* td = made(ibv_alloc_td(context.get(), &none), "alloc td");
  {
    ibv_parent_domain_init_attr parent_attr = {};
    parent_attr.pd = pd.get();
    parent_attr.td = td;
    Pd parent(made(ibv_alloc_parent_domain(context.get(), &parent_attr), "parent domain"));
    ibv_cq_init_attr_ex attr = {};
    attr.cqe = 4;
    attr.wc_flags = IBV_WC_STANDARD_FLAGS;
    attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
    attr.parent_domain = parent.get();
    ibv_cq_ex* ex = made(ibv_create_cq_ex(context.get(), &attr), "create cq ex");
    CqPtr alone(ibv_cq_ex_to_cq(ex));
    QpPtr c(made(try_create_qp(parent.get(), alone.get(), alone.get(), key.get(), {}), "qp"));
    Ah to_c = address_of(c);
    ASSERT_EQ(receive(c, 5, 4096, 64), 0);
    ASSERT_EQ(send(c, to_c, 6, 0, 64), 0);
    ASSERT_EQ(ibv_resize_cq(alone.get(), 50), 0);
    wait(alone.get(), 2);
    // It has no lock: what would wait for the end of a poll does not.
    ASSERT_EQ(receive(c, 7, 4096, 64), 0);
    ASSERT_EQ(send(c, to_c, 8, 0, 64), 0);
    ibv_poll_cq_attr none_of_it = {};
    while (ibv_start_poll(ex, &none_of_it) == ENOENT) {
    }
    {
      QpPtr more(made(try_create_qp(parent.get(), alone.get(), alone.get(), key.get(), {}), "qp"));
    }
    EXPECT_EQ(ibv_resize_cq(alone.get(), 60), 0);
    EXPECT_EQ(ex->status, IBV_WC_SUCCESS);
    ibv_end_poll(ex);
    wait(alone.get(), 1);
  }
  EXPECT_EQ(ibv_dealloc_td(td), 0);
}

class Moderating : public Resizing {
 protected:
  int moderate(std::uint16_t count, std::uint16_t period_us) {
    ibv_modify_cq_attr attr = {};
    attr.attr_mask = IBV_CQ_ATTR_MODERATE;
    attr.moderate = {count, period_us};
    return ibv_modify_cq(receives.get(), &attr);
  }
  bool told() {
    pollfd sleeper = {channel->fd, POLLIN, 0};
    return poll(&sleeper, 1, 0) == 1;
  }
  void take_record() {
    ibv_cq* from = nullptr;
    void* user = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel.get(), &from, &user), 0);
    EXPECT_EQ(from, receives.get());
    ibv_ack_cq_events(from, 1);
  }
};

TEST_F(Moderating, IsOffered) {
  ibv_device_attr_ex attr = {};
  ASSERT_EQ(ibv_query_device_ex(context.get(), nullptr, &attr), 0);
  EXPECT_EQ(attr.cq_mod_caps.max_cq_count, 65535u);
  EXPECT_EQ(attr.cq_mod_caps.max_cq_period, 65535u);
}

TEST_F(Moderating, TellsOfManyAtOnce) {
  ASSERT_EQ(moderate(4, 65535), 0);
  for (unsigned round = 0; round < 20; round++) {
    ASSERT_EQ(ibv_req_notify_cq(receives.get(), 0), 0);
    leave_completions(4, 10);
    take_record();
    EXPECT_EQ(received(4).size(), 4u);
  }
}

TEST_F(Moderating, TellsOfFewWhenThePeriodIsOver) {
  ASSERT_EQ(moderate(1000, 20'000), 0);
  ASSERT_EQ(ibv_req_notify_cq(receives.get(), 0), 0);
  leave_completions(1, 10);
  take_record();
  EXPECT_THAT(received(1), ElementsAre(10));
}

TEST_F(Moderating, HoldsNothingBackWhenItIsOff) {
  ASSERT_EQ(moderate(1000, 65535), 0);
  ASSERT_EQ(moderate(0, 0), 0);
  ASSERT_EQ(ibv_req_notify_cq(receives.get(), 0), 0);
  leave_completions(1, 10);
  EXPECT_TRUE(told());
  take_record();
}

TEST_F(Moderating, RefusesWhatItDoesNotKnow) {
  ibv_modify_cq_attr attr = {};
  EXPECT_EQ(ibv_modify_cq(receives.get(), &attr), EINVAL);
  attr.attr_mask = IBV_CQ_ATTR_RESERVED;
  EXPECT_EQ(ibv_modify_cq(receives.get(), &attr), EINVAL);
}

}  // namespace
}  // namespace on_model
