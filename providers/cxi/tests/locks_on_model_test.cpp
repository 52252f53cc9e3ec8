// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Which queues have a lock, and what becomes of those that have none when another thread hears of
// them, in front of the software NIC.
#include <thread>

#include "objects.hpp"
#include "on_model.hpp"

namespace on_model {
namespace {

class Locks : public OnModel {
 protected:
  using TdPtr = Owned<ibv_td, ibv_dealloc_td>;

  TdPtr alloc_td() {
    ibv_td_init_attr attr = {};
    return TdPtr(made(ibv_alloc_td(context.get(), &attr), "td"));
  }
  Pd alloc_parent(const TdPtr& td) {
    ibv_parent_domain_init_attr attr = {};
    attr.pd = pd.get();
    attr.td = td.get();
    return Pd(made(ibv_alloc_parent_domain(context.get(), &attr), "parent"));
  }
  /// A queue of one thread: of the domain's, or of whichever uses it.
  CqPtr create_own(const Pd* parent = nullptr) {
    ibv_cq_init_attr_ex attr = {};
    attr.cqe = 32;
    attr.wc_flags = IBV_WC_STANDARD_FLAGS;
    if (parent) {
      attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
      attr.parent_domain = parent->get();
    } else {
      attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
      attr.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
    }
    return CqPtr(ibv_cq_ex_to_cq(made(ibv_create_cq_ex(context.get(), &attr), "create cq ex")));
  }
  QpPtr create_in(const Pd& domain, const CqPtr& sends, const CqPtr& receives) {
    return QpPtr(
        made(try_create_qp(domain.get(), sends.get(), receives.get(), key.get(), {}), "qp"));
  }

  static bool locks(cxi::Lock& lock) {
    EXPECT_TRUE(lock.try_lock());
    const bool kept_out = !lock.try_lock();
    lock.unlock();
    return kept_out;
  }
  static bool locks(const CqPtr& cq) { return locks(cxi::cq_of(cq.get()).lock); }
  /// All three locks of a queue pair are alike.
  static bool locks(const QpPtr& qp) {
    cxi::Qp& own = cxi::qp_of(qp.get());
    const bool sends = locks(own.send.lock);
    EXPECT_EQ(locks(own.send.post_lock), sends);
    EXPECT_EQ(locks(own.recv.lock), sends);
    return sends;
  }
  void expect_an_exchange(const QpPtr& qp, ibv_cq* sends, ibv_cq* receives) {
    Ah to_itself = address_of(qp);
    ASSERT_EQ(receive(qp, 1, 4096, 64), 0);
    ASSERT_EQ(send(qp, to_itself, 2, 0, 64), 0);
    EXPECT_EQ(wait(sends, sends == receives ? 2 : 1)[0].status, IBV_WC_SUCCESS);
    if (sends == receives) return;
    EXPECT_EQ(wait(receives, 1)[0].status, IBV_WC_SUCCESS);
  }
};

TEST_F(Locks, AreLeftOutWhereOneThreadUsesEverything) {
  TdPtr td = alloc_td();
  Pd parent = alloc_parent(td);
  CqPtr sends = create_own(&parent), receives = create_own(&parent);
  QpPtr together = create_in(parent, sends, sends);
  QpPtr apart = create_in(parent, sends, receives);
  EXPECT_FALSE(locks(sends) || locks(receives));
  EXPECT_FALSE(locks(together) || locks(apart));
  expect_an_exchange(together, sends.get(), sends.get());
  expect_an_exchange(apart, sends.get(), receives.get());
}

TEST_F(Locks, OfAQueuePairAreKeptWhereAnotherThreadPolls) {
  TdPtr td = alloc_td(), other_td = alloc_td();
  Pd parent = alloc_parent(td), other = alloc_parent(other_td);
  CqPtr own = create_own(&parent), anybodys = create_own();
  QpPtr foreign = create_in(other, own, own);
  QpPtr unknown = create_in(parent, anybodys, anybodys);
  QpPtr plain = create_in(pd, own, own);
  EXPECT_TRUE(locks(foreign) && locks(unknown) && locks(plain));
  EXPECT_FALSE(locks(own) || locks(anybodys));  // still polled by one thread each
  expect_an_exchange(foreign, own.get(), own.get());
}

TEST_F(Locks, ComeToQueuesThatLookAtEachOther) {
  TdPtr td = alloc_td(), other_td = alloc_td();
  Pd parent = alloc_parent(td), other = alloc_parent(other_td);
  CqPtr sends = create_own(&parent), receives = create_own(&other);
  CqPtr anybodys_sends = create_own(), anybodys_receives = create_own();
  QpPtr before = create_in(parent, sends, sends);
  EXPECT_FALSE(locks(before));
  QpPtr across = create_in(parent, sends, receives);
  QpPtr anybodys = create_in(pd, anybodys_sends, anybodys_receives);
  EXPECT_TRUE(locks(sends) && locks(receives));
  EXPECT_TRUE(locks(anybodys_sends) && locks(anybodys_receives));
  EXPECT_TRUE(locks(before) && locks(across));
  QpPtr after = create_in(parent, sends, sends);
  EXPECT_TRUE(locks(after));
  expect_an_exchange(across, sends.get(), receives.get());
}

TEST_F(Locks, ThreadsWithAQueueEachLoseNothing) {
  constexpr unsigned many = 500, depth = 8;
  CqPtr sends = create_own(), receives = create_own();
  QpPtr qp = create_in(pd, sends, receives);
  Ah to_itself = address_of(qp);
  std::thread receiver([&] {
    unsigned posted = 0;
    for (unsigned got = 0; got < many; got++) {
      // Fewer than are sent at a time, so that some are refused, and repeated by whoever polls.
      for (; posted < many && posted < got + depth / 2; posted++)
        EXPECT_EQ(receive(qp, posted, 4096, 64), 0);
      EXPECT_EQ(wait(receives.get(), 1)[0].status, IBV_WC_SUCCESS);
    }
  });
  unsigned posted = 0;
  for (unsigned done = 0; done < many; done++) {
    for (; posted < many && posted < done + depth; posted++)
      EXPECT_EQ(send(qp, to_itself, posted, 0, 64), 0);
    const ibv_wc wc = wait(sends.get(), 1)[0];
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    EXPECT_EQ(wc.wr_id, done);
  }
  receiver.join();
}

TEST_F(Locks, ComeWithACounterThatAnyThreadReads) {
  TdPtr td = alloc_td();
  Pd parent = alloc_parent(td);
  CqPtr own = create_own(&parent);
  ibv_comp_cntr_init_attr attr = {};
  Owned<ibv_comp_cntr, ibv_destroy_comp_cntr> counter(
      made(ibv_create_comp_cntr(context.get(), &attr), "counter"));
  QpPtr qp = create_in(parent, own, own);
  ibv_qp_attach_comp_cntr_attr counted = {};
  counted.op_mask = IBV_QP_ATTACH_COMP_CNTR_OP_RECV;
  ASSERT_EQ(ibv_qp_attach_comp_cntr(qp.get(), counter.get(), &counted), 0);
  EXPECT_FALSE(locks(own) || locks(qp));  // the NIC counts receives
  counted.op_mask = IBV_QP_ATTACH_COMP_CNTR_OP_SEND;
  ASSERT_EQ(ibv_qp_attach_comp_cntr(qp.get(), counter.get(), &counted), 0);
  EXPECT_TRUE(locks(own) && locks(qp));
  expect_an_exchange(qp, own.get(), own.get());
}

TEST_F(Locks, KeepTheThreadDomainInUse) {
  TdPtr td = alloc_td();
  Pd parent = alloc_parent(td);
  CqPtr own = create_own(&parent);
  EXPECT_EQ(ibv_dealloc_pd(parent.get()), EBUSY);
  EXPECT_EQ(ibv_dealloc_td(td.get()), EBUSY);
}

TEST_F(Locks, OfAQueueThatIsBeingPolledKeepNobodyWaiting) {
  ibv_cq_init_attr_ex attr = {};
  attr.cqe = 32;
  attr.wc_flags = IBV_WC_STANDARD_FLAGS;
  attr.channel = channel.get();
  ibv_cq_ex* ex = made(ibv_create_cq_ex(context.get(), &attr), "create cq ex");
  CqPtr sends(ibv_cq_ex_to_cq(ex));
  CqPtr receives = create_cq(32, channel.get());
  ibv_comp_cntr_init_attr counter_attr = {};
  Owned<ibv_comp_cntr, ibv_destroy_comp_cntr> counter(
      made(ibv_create_comp_cntr(context.get(), &counter_attr), "counter"));
  QpPtr qp = create_in(pd, sends, receives);
  ibv_qp_attach_comp_cntr_attr counted = {};
  counted.op_mask = IBV_QP_ATTACH_COMP_CNTR_OP_SEND;
  ASSERT_EQ(ibv_qp_attach_comp_cntr(qp.get(), counter.get(), &counted), 0);
  Ah to_itself = address_of(qp);
  ASSERT_EQ(receive(qp, 1, 4096, 64), 0);
  ASSERT_EQ(send(qp, to_itself, 2, 0, 64), 0);
  ibv_poll_cq_attr none_of_it = {};
  while (ibv_start_poll(ex, &none_of_it) == ENOENT) {
  }
  {
    // Another thread makes changes meanwhile.
    cxi::MutexGuard topology(cxi::context_of(context.get()).topology);
    std::uint64_t value = 0;
    EXPECT_EQ(ibv_read_comp_cntr(counter.get(), &value), 0);
    EXPECT_EQ(value, 1u);
    EXPECT_EQ(ibv_read_err_comp_cntr(counter.get(), &value), 0);
    EXPECT_EQ(ibv_set_comp_cntr(counter.get(), 0), 0);
    EXPECT_EQ(ibv_req_notify_cq(receives.get(), 0), 0);
    EXPECT_EQ(ibv_req_notify_cq(sends.get(), 0), 0);
    EXPECT_EQ(wait(receives.get(), 1)[0].wr_id, 1u);
    ASSERT_EQ(receive(qp, 3, 4096, 64), 0);
    ASSERT_EQ(send(qp, to_itself, 4, 0, 64), 0);
  }
  std::uint64_t value = 0;
  EXPECT_EQ(ibv_read_comp_cntr(counter.get(), &value), 0);
  EXPECT_EQ(ibv_req_notify_cq(receives.get(), 0), 0);
  EXPECT_EQ(ex->wr_id, 2u);
  ibv_end_poll(ex);
  EXPECT_EQ(wait(sends.get(), 1)[0].wr_id, 4u);
  EXPECT_EQ(wait(receives.get(), 1)[0].wr_id, 3u);
}

class Failures : public Locks {
 protected:
  /// Has the NIC read a command that there is not.
  static void break_queue(const QpPtr& qp) {
    cxi::SendQueue& send = cxi::qp_of(qp.get()).send;
    cxi::Guard guard(send.lock);
    std::byte* place = send.commands.reserve(2);
    ASSERT_NE(place, nullptr);
    std::memset(place, 0xff, 64);
    send.commands.ring();
  }
  void take_notice(const QpPtr& qp) {
    ibv_async_event event;
    ASSERT_EQ(ibv_get_async_event(context.get(), &event), 0);
    EXPECT_EQ(event.event_type, IBV_EVENT_QP_FATAL);
    EXPECT_EQ(event.element.qp, qp.get());
    ibv_ack_async_event(&event);
  }
  static ibv_qp_state state_of(const QpPtr& qp) {
    ibv_qp_attr attr = {};
    ibv_qp_init_attr init = {};
    EXPECT_EQ(ibv_query_qp(qp.get(), &attr, IBV_QP_STATE, &init), 0);
    return attr.qp_state;
  }
};

TEST_F(Failures, OfWhichANoticeComesLateAreOver) {
  QpPtr qp = create_qp();
  Ah to_itself = address_of(qp);
  break_queue(qp);
  ASSERT_EQ(send(qp, to_itself, 1, 0, 64), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_WR_FLUSH_ERR);
  ASSERT_EQ(set_state(qp, IBV_QPS_RESET), 0);
  ASSERT_EQ(set_state(qp, IBV_QPS_RTS), 0);
  take_notice(qp);
  EXPECT_EQ(state_of(qp), IBV_QPS_RTS);
  expect_an_exchange(qp, cq.get(), cq.get());
}

TEST_F(Failures, AreFollowedByTheThreadOfAQueueWithoutALock) {
  CqPtr own = create_own();
  QpPtr qp = create_in(pd, own, own);
  Ah to_itself = address_of(qp);
  ASSERT_EQ(receive(qp, 1, 4096, 64), 0);
  break_queue(qp);
  take_notice(qp);
  EXPECT_EQ(cxi::qp_of(qp.get()).state, IBV_QPS_RTS);
  EXPECT_EQ(wait(own.get(), 1)[0].status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(state_of(qp), IBV_QPS_ERR);
}

}  // namespace
}  // namespace on_model
