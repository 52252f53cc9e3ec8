// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs in front of the software NIC: memory descriptors, event queues and command queues.
#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <thread>

#include "dv_on_model.hpp"

namespace on_model {
namespace {

class Descriptors : public Native {
 protected:
  cxidv_md* map(const cxidv_md_attr& attr) { return cxidv_map_md(lni.get(), &attr); }
  cxidv_md_attr right() {
    cxidv_md_attr attr = {};
    attr.addr = memory.data();
    attr.length = memory.size();
    attr.flags = CXIDV_MD_READ | CXIDV_MD_WRITE;
    return attr;
  }
  int refusal(const cxidv_md_attr& attr) { return error_of(map(attr)); }
  std::vector<char> memory = std::vector<char>(10'000);
};

TEST_F(Descriptors, GiveEveryByteAnIoAddress) {
  MdPtr md(made(map(right()), "map"));
  EXPECT_EQ(md->addr, memory.data());
  EXPECT_EQ(md->length, memory.size());
  EXPECT_EQ(cxidv_md_iova(md.get(), &memory[0]), md->iova);
  EXPECT_EQ(cxidv_md_iova(md.get(), &memory[777]), md->iova + 777);
  EXPECT_EQ(md->iova % 4096, reinterpret_cast<std::uintptr_t>(memory.data()) % 4096);
}

TEST_F(Descriptors, AreRefusedForWhatIsNoMemoryOfTheCaller) {
  cxidv_md_attr attr = right();
  attr.length = 0;
  EXPECT_EQ(refusal(attr), EINVAL);
  attr.length = ~std::size_t{0};
  EXPECT_EQ(refusal(attr), EINVAL);
  attr = right();
  attr.flags = 0;
  EXPECT_EQ(refusal(attr), EINVAL);
  attr.flags = 4 | CXIDV_MD_READ;
  EXPECT_EQ(refusal(attr), EINVAL);
  attr = right();
  attr.comp_mask = 1ull << 40;
  EXPECT_EQ(refusal(attr), EINVAL);
  attr = right();
  attr.comp_mask = CXIDV_MD_MASK_DMABUF;  // and an address
  EXPECT_EQ(refusal(attr), EINVAL);
  attr.addr = nullptr;
  attr.dmabuf_fd = -1;
  EXPECT_EQ(refusal(attr), EINVAL);
  attr = right();
  attr.addr = reinterpret_cast<void*>(8);
  EXPECT_EQ(refusal(attr), EFAULT);
  void* read_only = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  attr.addr = read_only;
  attr.length = 4096;
  EXPECT_EQ(refusal(attr), EFAULT);
  attr.flags = CXIDV_MD_READ;
  { MdPtr md(made(map(attr), "map")); }
  munmap(read_only, 4096);
  EXPECT_EQ(error_of(cxidv_map_md(lni.get(), nullptr)), EINVAL);
  EXPECT_EQ(cxidv_unmap_md(nullptr), EINVAL);
}

TEST_F(Descriptors, NeedAnAddressContext) {
  NEEDS_PRIVILEGE();
  cxidv_svc_attr limits = small_grant(0);
  SvcPtr svc = make_svc(limits);
  LniPtr poor = lni_on(svc->svc_id);
  const cxidv_md_attr attr = right();
  EXPECT_EQ(error_of(cxidv_map_md(poor.get(), &attr)), EBADR);
}

class EventQueues : public Native {
 protected:
  EventQueues() : channel(made(ibv_create_comp_channel(context.get()), "channel")) {}
  int refusal(const cxidv_eq_attr& attr) { return error_of(cxidv_create_eq(lni.get(), &attr)); }
  /// An entry whose changes of state are the events.
  void make_source(const EqPtr& eq) {
    queue = make_target_queue(lni, eq.get());
    pte = make_pte(lni, eq.get(), CXIDV_PTE_SW_HW_STATE_CHANGE);
  }
  void cause_event() {
    state = state == C_PTLTE_ENABLED ? C_PTLTE_DISABLED : C_PTLTE_ENABLED;
    ASSERT_EQ(set_state(queue, pte, state), 0);
  }
  void expect_event(const EqPtr& eq) {
    const c_event* event = next(eq);
    EXPECT_EQ(cxidv_event_type(event), std::uint32_t{C_EVENT_STATE_CHANGE});
    EXPECT_EQ(cxidv_event_return_code(event), std::uint32_t{C_RC_OK});
  }
  std::uint32_t state = C_PTLTE_DISABLED;
  Channel channel;
  CmdqPtr queue;
  PtePtr pte;
};

TEST_F(EventQueues, BringEventsRoundAndRound) {
  EqPtr eq = make_eq(lni, nullptr, 8);
  EXPECT_EQ(eq->byte_size, 4096u);  // whole pages
  EXPECT_EQ(eq->lni, lni.get());
  make_source(eq);
  for (unsigned i = 0; i < 100; i++) {
    cause_event();
    expect_event(eq);
    cxidv_eq_ack(eq.get());
  }
  EXPECT_EQ(cxidv_eq_peek(eq.get()), nullptr);
  queue.reset();
  pte.reset();
}

TEST_F(EventQueues, AreRefusedWithBadNumbers) {
  const auto with = [&](auto change) {
    cxidv_eq_attr attr = {};
    attr.slots = 64;
    change(attr);
    return refusal(attr);
  };
  EXPECT_EQ(with([](auto& a) { a.flags = 1; }), EINVAL);
  EXPECT_EQ(with([](auto& a) { a.flags = 1 << 7; }), EINVAL);
  EXPECT_EQ(with([](auto& a) { a.slots = 0; }), EINVAL);
  EXPECT_EQ(with([](auto& a) { a.slots = 3; }), EINVAL);
  EXPECT_EQ(with([](auto& a) { a.slots = 1u << 26; }), EINVAL);
  EXPECT_EQ(with([](auto& a) { a.reserve = 64; }), EINVAL);
  EXPECT_EQ(with([](auto& a) { a.slots = 40'000, a.reserve = 16'384; }), EINVAL);
  EXPECT_EQ(with([](auto& a) { a.status_count = 5; }), EINVAL);
  EXPECT_EQ(with([](auto& a) { a.status_base = 101; }), EINVAL);
  EXPECT_EQ(with([](auto& a) { a.status_count = 3, a.status_delta = 60; }), EINVAL);
  for (const unsigned i : {0u, 1u, 2u})
    EXPECT_EQ(with([i](auto& a) { a.reserved[i] = 1; }), EINVAL);
  EXPECT_EQ(with([](auto& a) { a.comp_mask = 1; }), EINVAL);
  EXPECT_EQ(error_of(cxidv_create_eq(lni.get(), nullptr)), EINVAL);
  EXPECT_EQ(cxidv_destroy_eq(nullptr), EINVAL);
}

TEST_F(EventQueues, AreBusyWhileAQueueOrAnEntryUsesThem) {
  EqPtr eq = make_eq(lni);
  const std::uint32_t eqn = eq->eqn;
  queue = make_target_queue(lni, eq.get());
  EXPECT_EQ(cxidv_destroy_eq(eq.get()), EBUSY);
  queue.reset();
  pte = make_pte(lni, eq.get());
  EXPECT_EQ(cxidv_destroy_eq(eq.get()), EBUSY);
  EXPECT_EQ(errno, EBUSY);
  pte.reset();
  // It is as it was.
  EXPECT_EQ(eq->eqn, eqn);
  make_source(eq);
  cause_event();
  expect_event(eq);
  queue.reset();
  pte.reset();
}

TEST_F(EventQueues, WakeWhoWaitsOnTheirChannel) {
  int mark = 0;
  cxidv_eq_attr attr = {};
  attr.slots = 64;
  attr.channel = channel.get();
  attr.eq_context = &mark;
  EqPtr eq(made(cxidv_create_eq(lni.get(), &attr), "eq")), other = make_eq(lni, channel.get());
  EXPECT_EQ(ibv_destroy_comp_channel(channel.get()), EBUSY);
  make_source(eq);
  for (unsigned round = 0; round < 40; round++) {
    cxidv_eq_arm(eq.get());
    ASSERT_EQ(cxidv_eq_peek(eq.get()), nullptr);
    cause_event();
    cxidv_eq* told = nullptr;
    ASSERT_EQ(cxidv_get_eq_event(channel.get(), &told), 0);
    EXPECT_EQ(told, eq.get());
    EXPECT_EQ(told->eq_context, &mark);
    expect_event(eq);
    cxidv_eq_ack(eq.get());
    cxidv_ack_eq_events(told, 1);
  }
  queue.reset();
  pte.reset();
}

TEST_F(EventQueues, SayNothingOnANonBlockingChannel) {
  EqPtr eq = make_eq(lni, channel.get());
  ASSERT_EQ(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
  cxidv_eq* told = nullptr;
  EXPECT_EQ(cxidv_get_eq_event(channel.get(), &told), EAGAIN);
  EXPECT_EQ(cxidv_get_eq_event(channel.get(), nullptr), EINVAL);
  EXPECT_EQ(cxidv_get_eq_event(nullptr, &told), EINVAL);
}

TEST_F(EventQueues, GoWhenEveryEventIsAcknowledged) {
  EqPtr eq = make_eq(lni, channel.get());
  make_source(eq);
  cxidv_eq_arm(eq.get());
  cause_event();
  cxidv_eq* told = nullptr;
  ASSERT_EQ(cxidv_get_eq_event(channel.get(), &told), 0);
  expect_event(eq);
  // One more, which nobody takes out of the channel: it goes with the queue.
  cxidv_eq_arm(eq.get());
  cause_event();
  expect_event(eq);
  queue.reset();
  pte.reset();
  std::atomic<bool> acknowledged = false;
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    acknowledged = true;
    cxidv_ack_eq_events(told, 1);
  });
  eq.reset();
  EXPECT_TRUE(acknowledged);
  late.join();
  EXPECT_EQ(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(cxidv_get_eq_event(channel.get(), &told), EAGAIN);
}

TEST_F(EventQueues, ShareNoChannelWithCompletionQueues) {
  {
    EqPtr eq = make_eq(lni, channel.get());
    EXPECT_EQ(ibv_create_cq(context.get(), 4, nullptr, channel.get(), 0), nullptr);
    EXPECT_EQ(errno, EINVAL);
  }
  CqPtr cq(made(ibv_create_cq(context.get(), 4, nullptr, channel.get(), 0), "cq"));
  EXPECT_EQ(error_of(try_eq(lni, channel.get())), EINVAL);
  cxidv_eq* told = nullptr;
  EXPECT_EQ(cxidv_get_eq_event(channel.get(), &told), EINVAL);
  cq.reset();
  EXPECT_TRUE(make_eq(lni, channel.get()));
  Context elsewhere(made(open_on("cxi0", 0), "open"));
  Channel foreign(made(ibv_create_comp_channel(elsewhere.get()), "channel"));
  EXPECT_EQ(error_of(try_eq(lni, foreign.get())), EINVAL);
  EXPECT_EQ(ibv_destroy_comp_channel(foreign.release()), 0);
}

TEST_F(EventQueues, GrowWithoutLosingAnEvent) {
  EqPtr eq = make_eq(lni, nullptr, 64);
  make_source(eq);
  for (unsigned i = 0; i < 5; i++)
    cause_event();
  ASSERT_EQ(cxidv_resize_eq(eq.get(), 256), 0);
  EXPECT_EQ(cxidv_resize_eq(eq.get(), 512), EINVAL);  // not crossed yet
  for (unsigned i = 0; i < 5; i++)
    cause_event();
  for (unsigned i = 0; i < 10; i++) {
    expect_event(eq);
    cxidv_eq_ack(eq.get());
  }
  EXPECT_EQ(eq->byte_size, 256u * 64);
  for (unsigned i = 0; i < 300; i++) {
    cause_event();
    expect_event(eq);
    cxidv_eq_ack(eq.get());
  }
  ASSERT_EQ(cxidv_resize_eq(eq.get(), 64), 0);  // and back
  for (unsigned i = 0; i < 90; i++) {
    cause_event();
    expect_event(eq);
    cxidv_eq_ack(eq.get());
  }
  EXPECT_EQ(eq->byte_size, 64u * 64);
  queue.reset();
  pte.reset();
}

TEST_F(EventQueues, AreResizedToWhatTheyNeedOnly) {
  cxidv_eq_attr attr = {};
  attr.slots = 64;
  attr.reserve = 32;
  EqPtr eq(made(cxidv_create_eq(lni.get(), &attr), "eq"));
  EXPECT_EQ(cxidv_resize_eq(eq.get(), 0), EINVAL);
  EXPECT_EQ(cxidv_resize_eq(eq.get(), 32), EINVAL);
  EXPECT_EQ(cxidv_resize_eq(eq.get(), 1u << 26), EINVAL);
  EXPECT_EQ(cxidv_resize_eq(nullptr, 32), EINVAL);
  EXPECT_EQ(cxidv_follow_eq_switch(eq.get()), EINVAL);
  EXPECT_EQ(cxidv_follow_eq_switch(nullptr), EINVAL);
  EXPECT_EQ(eq->byte_size, 64u * 64);
  // One that is resized goes with both rings.
  EXPECT_EQ(cxidv_resize_eq(eq.get(), 128), 0);
}

class CommandQueues : public Native {
 protected:
  int refusal(std::function<void(cxidv_cmdq_attr&)> change) {
    cxidv_cmdq_attr attr = {};
    change(attr);
    return error_of(cxidv_create_cmdq(lni.get(), &attr));
  }
};

TEST_F(CommandQueues, HaveTheSizeThatWasAskedOrMore) {
  CpPtr cp = make_cp(lni);
  CmdqPtr least(made(try_transmit_queue(lni, cp.get()), "queue"));
  EXPECT_EQ(least->size32, 128u);
  EXPECT_EQ(least->wp32, 8u);
  EXPECT_EQ(least->flags, std::uint32_t{CXIDV_CMDQ_TRANSMIT});
  EXPECT_TRUE(least->window_flags & CXIDV_WINDOW_DOORBELL);
  EXPECT_EQ(cxidv_cmdq_free_slots(least.get()), 59u);
  cxidv_cmdq_attr attr = {};
  attr.slots = 100;
  CmdqPtr more(made(cxidv_create_cmdq(lni.get(), &attr), "queue"));
  EXPECT_EQ(more->size32, 256u);
  EXPECT_NE(more->index, least->index);
  attr.slots = 65'536;
  CmdqPtr most(made(cxidv_create_cmdq(lni.get(), &attr), "queue"));
  EXPECT_EQ(most->size32, 131'072u);
}

TEST_F(CommandQueues, ExecuteWhatIsRung) {
  CpPtr cp = make_cp(lni);
  CmdqPtr queue(made(try_transmit_queue(lni, cp.get()), "queue"));
  for (unsigned i = 0; i < 200; i++) {
    ASSERT_EQ(cxidv_emit_noop(queue.get()), 0);
    cxidv_cmdq_ring(queue.get());
    ASSERT_TRUE(eventually([&] { return cxidv_cmdq_is_empty(queue.get()); }));
  }
}

TEST_F(CommandQueues, ReportAFailedCommand) {
  EqPtr eq = make_eq(lni);
  CmdqPtr queue = make_target_queue(lni, eq.get());
  c_set_state_cmd command = {};
  command.ptlte_index = 2000;  // nobody's
  command.ptlte_state = C_PTLTE_ENABLED;
  ASSERT_EQ(cxidv_emit_setstate(queue.get(), &command), 0);
  cxidv_cmdq_ring(queue.get());
  const c_event* event = next(eq);
  EXPECT_EQ(cxidv_event_type(event), std::uint32_t{C_EVENT_COMMAND_FAILURE});
  const c_event_cmd_fail failure = event->cmd_fail;
  EXPECT_EQ(std::uint32_t{failure.is_target} << 10 | failure.cq_id, queue->index);
}

TEST_F(CommandQueues, AreRefusedWithWhatDoesNotFit) {
  CpPtr cp = make_cp(lni);
  EXPECT_EQ(refusal([](auto& a) { a.flags = 4; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.policy = 4; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) {
              a.policy = CXIDV_CMDQ_POLICY_LOW_FREQ;
              a.slots = 512;
            }),
            EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.stat_pool = 4; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.slots = 65'537; }), E2BIG);
  EXPECT_EQ(refusal([](auto& a) { a.comp_mask = 1; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.flags = CXIDV_CMDQ_TRANSMIT; }), EINVAL);  // without profile
  EXPECT_EQ(refusal([&](auto& a) { a.cp = cp.get(); }), EINVAL);  // a target queue with one
  EXPECT_EQ(refusal([&](auto& a) { a.flags = CXIDV_CMDQ_TRIGGERED; }), EINVAL);
  EXPECT_EQ(error_of(cxidv_create_cmdq(lni.get(), nullptr)), EINVAL);
  EXPECT_EQ(cxidv_destroy_cmdq(nullptr), EINVAL);
}

TEST_F(CommandQueues, TriggeredOnesNeedTheFirstProfile) {
  CpPtr first = make_cp(lni), second = make_cp(lni, second_vni);
  ASSERT_EQ(first->lcid, 0);
  EXPECT_EQ(error_of(try_transmit_queue(lni, second.get(), CXIDV_CMDQ_TRIGGERED)), EINVAL);
  CmdqPtr queue(made(try_transmit_queue(lni, first.get(), CXIDV_CMDQ_TRIGGERED), "queue"));
}

TEST_F(CommandQueues, TakeNoPartsOfAnotherLogicalNi) {
  LniPtr other = second_lni();
  CpPtr foreign_cp = make_cp(other);
  EqPtr foreign_eq = make_eq(other);
  EXPECT_EQ(error_of(try_transmit_queue(lni, foreign_cp.get())), EINVAL);
  EXPECT_EQ(error_of(try_target_queue(lni, foreign_eq.get())), EINVAL);
  // Of another context, whose handles mean something else here.
  Context elsewhere(made(open_on("cxi0", 0), "open"));
  LniPtr there(made(cxidv_create_lni(elsewhere.get(), nullptr), "lni"));
  CpPtr far_cp = make_cp(there);
  EqPtr far_eq = make_eq(there);
  EXPECT_EQ(error_of(try_transmit_queue(lni, far_cp.get())), EINVAL);
  EXPECT_EQ(error_of(try_target_queue(lni, far_eq.get())), EINVAL);
}

TEST_F(CommandQueues, AndTheRestRunOutWhereTheServiceSaysSo) {
  NEEDS_PRIVILEGE();
  SvcPtr svc = make_svc(small_grant(1));
  LniPtr poor = lni_on(svc->svc_id);
  CpPtr cp = make_cp(poor, 700);
  CmdqPtr transmit(made(try_transmit_queue(poor, cp.get()), "transmit"));
  EXPECT_EQ(error_of(try_transmit_queue(poor, cp.get())), ENOSPC);
  CmdqPtr target = make_target_queue(poor);
  EXPECT_EQ(error_of(try_target_queue(poor)), ENOSPC);
  EqPtr eq = make_eq(poor);
  EXPECT_EQ(error_of(try_eq(poor)), ENOSPC);
  cxidv_pte_attr attr = {};
  attr.le_charge = 2;
  EXPECT_EQ(error_of(cxidv_create_pte(poor.get(), &attr)), ENOSPC);
  PtePtr pte = make_pte(poor);
  attr.le_charge = 0;
  EXPECT_EQ(error_of(cxidv_create_pte(poor.get(), &attr)), ENOSPC);
  CtPtr ct(made(cxidv_create_ct(poor.get(), nullptr), "ct"));
  EXPECT_EQ(error_of(cxidv_create_ct(poor.get(), nullptr)), ENOSPC);
  // What is given back can be had again.
  target.reset();
  target = make_target_queue(poor);
}

}  // namespace
}  // namespace on_model
