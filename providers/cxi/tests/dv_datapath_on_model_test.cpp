// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs in front of the software NIC: what the commands of cxidv_emit.h do, and which events
// and counters tell of it.
#include "dv_datapath_on_model.hpp"

#include <gmock/gmock.h>

namespace on_model {
namespace {

TEST_F(Datapath, PutsAndGetsMoveBytesAndAreTold) {
  append_linked(entry(pte, C_PTL_LIST_PRIORITY, 9, 40000, 8192, both));
  auto put = dma<c_full_dma_cmd>(matching, 100, 5000);
  put.remote_offset = 24;
  put.header_data = 77;
  ASSERT_EQ(cxidv_emit_put(transmit.get(), &put), 0);
  cxidv_cmdq_ring(transmit.get());
  const c_event ack = take_ok(sends, C_EVENT_ACK);
  EXPECT_EQ(cxidv_event_user_ptr(&ack), 0xabcdefu);
  EXPECT_EQ(cxidv_event_mlength(&ack), 5000u);
  const c_event arrived = take_ok(arrivals, C_EVENT_PUT);
  EXPECT_EQ(arrived.tgt_long.buffer_id, 9u);
  EXPECT_EQ(arrived.tgt_long.header_data, 77u);
  EXPECT_EQ(arrived.tgt_long.match_bits, 0x1234u);
  EXPECT_EQ(arrived.tgt_long.initiator.initiator.process, initiator());
  EXPECT_EQ(arrived.tgt_long.remote_offset, 24u);
  EXPECT_EQ(cxidv_event_mlength(&arrived), 5000u);
  EXPECT_TRUE(same(100, 40024, 5000));

  auto get = dma<c_full_dma_cmd>(matching, 60000, 64);
  get.remote_offset = 30;
  ASSERT_EQ(cxidv_emit_get(transmit.get(), &get), 0);
  cxidv_cmdq_ring(transmit.get());
  EXPECT_EQ(take_ok(sends, C_EVENT_REPLY).init_short.mlength, 64u);
  take_ok(arrivals, C_EVENT_GET);
  EXPECT_TRUE(same(60000, 40030, 64));
}

TEST_F(Datapath, ImmediateCommandsCarryTheirBytes) {
  append_linked(entry(pte, C_PTL_LIST_PRIORITY, 9, 40000, 8192, both));
  PtePtr& simple = enabled(CXIDV_PTE_LONG_EVENTS, plain);
  append_linked(entry(simple, C_PTL_LIST_PRIORITY, 10, 50000, 8192, both));
  c_cstate_cmd state = {};
  c_idc_msg_hdr message = {};
  state.index_ext = address(message.dfa, matching) & 31;
  state.event_send_disable = 1;
  state.eq = sends->eqn & 2047;
  state.initiator = initiator();
  state.user_ptr = 55;
  ASSERT_EQ(cxidv_emit_cstate(transmit.get(), &state), 0);
  message.match_bits = 0x1234;
  message.header_data = 3;
  message.user_ptr = 44;
  ASSERT_EQ(cxidv_emit_idc_msg(transmit.get(), &message, &memory[7], 192), 0);
  cxidv_cmdq_ring(transmit.get());
  EXPECT_EQ(take_ok(sends, C_EVENT_ACK).init_short.user_ptr, 44u) << "of the message itself";
  EXPECT_EQ(take_ok(arrivals, C_EVENT_PUT).tgt_long.header_data, 3u);
  EXPECT_TRUE(same(7, 40000, 192));

  c_idc_hdr put = {};
  state.index_ext = address(put.dfa, plain) & 31;
  put.remote_offset = 16;
  ASSERT_EQ(cxidv_emit_cstate(transmit.get(), &state), 0);
  ASSERT_EQ(cxidv_emit_idc_put(transmit.get(), &put, &memory[9], 100), 0);
  cxidv_cmdq_ring(transmit.get());
  EXPECT_EQ(take_ok(sends, C_EVENT_ACK).init_short.user_ptr, 55u) << "of the state";
  EXPECT_EQ(take_ok(arrivals, C_EVENT_PUT).tgt_long.buffer_id, 10u);
  EXPECT_TRUE(same(9, 50016, 100));
}

TEST_F(Datapath, AtomicsChangeMemoryAndFetch) {
  append_linked(entry(pte, C_PTL_LIST_PRIORITY, 9, 40000, 64, both));
  PtePtr& simple = enabled(CXIDV_PTE_LONG_EVENTS, plain);
  append_linked(entry(simple, C_PTL_LIST_PRIORITY, 10, 40000, 64, both));
  const auto value = [&](std::size_t offset) {
    std::uint64_t found;
    std::memcpy(&found, &memory[offset], sizeof found);
    return found;
  };
  const auto set = [&](std::size_t offset, std::uint64_t to) {
    std::memcpy(&memory[offset], &to, sizeof to);
  };
  set(40000, 100);
  set(256, 11);
  auto amo = dma<c_dma_amo_cmd>(matching, 256, 8);
  amo.atomic_op = C_AMO_OP_SUM;
  amo.atomic_type = C_AMO_TYPE_UINT64_T;
  ASSERT_EQ(cxidv_emit_amo(transmit.get(), &amo), 0);
  cxidv_cmdq_ring(transmit.get());
  take_ok(sends, C_EVENT_ACK);
  take_ok(arrivals, C_EVENT_ATOMIC);
  EXPECT_EQ(value(40000), 111u);

  amo.local_write_addr = iova(512);
  amo.write_lac = md->lac & 7;
  ASSERT_EQ(cxidv_emit_fetching_amo(transmit.get(), &amo), 0);
  cxidv_cmdq_ring(transmit.get());
  take_ok(sends, C_EVENT_REPLY);
  take_ok(arrivals, C_EVENT_FETCH_ATOMIC);
  EXPECT_EQ(value(512), 111u);
  EXPECT_EQ(value(40000), 122u);

  c_cstate_cmd state = {};
  c_idc_amo_cmd immediate = {};
  state.index_ext = address(immediate.idc_header.dfa, plain) & 31;
  state.event_send_disable = 1;
  state.eq = sends->eqn & 2047;
  state.write_lac = md->lac & 7;
  ASSERT_EQ(cxidv_emit_cstate(transmit.get(), &state), 0);
  immediate.atomic_op = C_AMO_OP_SUM;
  immediate.atomic_type = C_AMO_TYPE_UINT64_T;
  immediate.op1_word1 = 1000;
  ASSERT_EQ(cxidv_emit_idc_amo(transmit.get(), &immediate, false), 0);
  immediate.atomic_op = C_AMO_OP_CSWAP;
  immediate.cswap_op = C_AMO_OP_CSWAP_EQ;
  immediate.op1_word1 = 5;
  immediate.op2_word1 = 1122;
  immediate.local_addr = iova(520);
  ASSERT_EQ(cxidv_emit_fence(transmit.get()), 0);
  ASSERT_EQ(cxidv_emit_idc_amo(transmit.get(), &immediate, true), 0);
  cxidv_cmdq_ring(transmit.get());
  take_ok(sends, C_EVENT_ACK);
  take_ok(sends, C_EVENT_REPLY);
  EXPECT_EQ(value(520), 1122u);
  EXPECT_EQ(value(40000), 5u);
}

TEST_F(Datapath, NomatchTransfersAreCounted) {
  PtePtr& simple = enabled(0, plain);
  append_linked(
      entry(simple, C_PTL_LIST_PRIORITY, 10, 50000, 8192, both | C_LE_EVENT_COMM_DISABLE));
  CtPtr ct(made(cxidv_create_ct(lni.get(), nullptr), "ct"));
  auto put = dma<c_nomatch_dma_cmd>(plain, 100, 3000);
  put.ct = ct->ct & 2047;
  put.event_ct_ack = 1;
  ASSERT_EQ(cxidv_emit_nomatch_put(transmit.get(), &put), 0);
  cxidv_cmdq_ring(transmit.get());
  std::uint64_t success = 0, failure = 0;
  ASSERT_EQ(cxidv_wait_ct(ct.get(), 1, 20'000'000'000, &success, &failure), 0);
  EXPECT_EQ(failure, 0u);
  EXPECT_TRUE(same(100, 50000, 3000));
  auto get = dma<c_nomatch_dma_cmd>(plain, 60000, 3000);
  get.ct = ct->ct & 2047;
  get.event_ct_reply = 1;
  get.event_ct_bytes = 1;
  ASSERT_EQ(cxidv_emit_nomatch_get(transmit.get(), &get), 0);
  cxidv_cmdq_ring(transmit.get());
  ASSERT_EQ(cxidv_wait_ct(ct.get(), 3001, 20'000'000'000, &success, &failure), 0);
  EXPECT_EQ(success, 3001u);
  EXPECT_TRUE(same(60000, 50000, 3000));
}

TEST_F(Datapath, FencesAndProfilesApplyToWhatFollows) {
  CpPtr other = make_cp(lni, second_vni);
  second_domain = make_domain(lni, second_vni, domain->pid);
  map(pte, second_domain, matching);
  append_linked(entry(pte, C_PTL_LIST_PRIORITY, 9, 40000, 8192, both));
  auto put = dma<c_full_dma_cmd>(matching, 100, 8);
  // The queue's place is not on a boundary of 128 bytes when the profile changes.
  ASSERT_EQ(cxidv_emit_put(transmit.get(), &put), 0);
  ASSERT_EQ(cxidv_emit_noop(transmit.get()), 0);
  ASSERT_EQ(cxidv_emit_fence(transmit.get()), 0);
  ASSERT_EQ(cxidv_emit_lcid(transmit.get(), other->lcid), 0);
  ASSERT_EQ(cxidv_emit_put(transmit.get(), &put), 0);
  cxidv_cmdq_ring(transmit.get());
  EXPECT_EQ(take_ok(arrivals, C_EVENT_PUT).tgt_long.vni, first_vni);
  EXPECT_EQ(take_ok(arrivals, C_EVENT_PUT).tgt_long.vni, second_vni);
  take_ok(sends, C_EVENT_ACK);
  take_ok(sends, C_EVENT_ACK);
  EXPECT_TRUE(eventually([&] { return cxidv_cmdq_is_empty(transmit.get()); }));
}

TEST_F(Datapath, TheRingGoesRoundForAsLongAsTheNicReads) {
  PtePtr& simple = enabled(0, plain);
  append_linked(entry(simple, C_PTL_LIST_PRIORITY, 10, 50000, 64, both | C_LE_EVENT_COMM_DISABLE));
  CtPtr ct(made(cxidv_create_ct(lni.get(), nullptr), "ct"));
  auto small = dma<c_nomatch_dma_cmd>(plain, 100, 8);
  small.ct = ct->ct & 2047;
  small.event_ct_ack = 1;
  constexpr std::uint64_t rounds = 500;
  for (std::uint64_t i = 0; i < rounds; i++) {
    const auto sent = [&](auto emit) {
      return eventually([&] {
        const int err = emit();
        if (err) cxidv_cmdq_ring(transmit.get());
        return err == 0;
      });
    };
    // Of 32, 128 and 64 bytes: every alignment is met.
    ASSERT_TRUE(sent([&] { return cxidv_emit_nomatch_put(transmit.get(), &small); }));
    ASSERT_TRUE(sent([&] { return cxidv_emit_lcid(transmit.get(), cp->lcid); }));
    ASSERT_TRUE(sent([&] { return cxidv_emit_noop(transmit.get()); }));
    if (i % 7 == 0) cxidv_cmdq_ring(transmit.get());
  }
  cxidv_cmdq_ring(transmit.get());
  std::uint64_t success = 0, failure = 0;
  ASSERT_EQ(cxidv_wait_ct(ct.get(), rounds, 20'000'000'000, &success, &failure), 0);
  EXPECT_EQ(success, rounds);
  EXPECT_EQ(failure, 0u);
  EXPECT_EQ(cxidv_eq_peek(arrivals.get()), nullptr) << "no command has failed";
}

class Triggered : public Datapath {
 protected:
  Triggered() {
    cxidv_cp_attr attr = {};
    attr.vni = first_vni;
    attr.traffic_class = CXIDV_TC_BEST_EFFORT;
    attr.flags = CXIDV_CP_TRIGGERED;
    trigger_cp = CpPtr(made(cxidv_alloc_cp(lni.get(), &attr), "triggered cp"));
    triggers = CmdqPtr(
        made(try_transmit_queue(lni, trigger_cp.get(), CXIDV_CMDQ_TRIGGERED), "triggered queue"));
    ct = CtPtr(made(cxidv_create_ct(lni.get(), &writeback), "ct"));
    second = CtPtr(made(cxidv_create_ct(lni.get(), nullptr), "second ct"));
  }
  std::uint64_t value(const CtPtr& of) {
    std::uint64_t success = 0, failure = 0;
    EXPECT_EQ(cxidv_read_ct(of.get(), &success, &failure), 0);
    return success;
  }

  c_ct_writeback writeback = {};
  CpPtr trigger_cp;
  CmdqPtr triggers;
  CtPtr ct, second;
};

TEST_F(Triggered, APutGoesWhenTheCounterGetsThere) {
  append_linked(entry(pte, C_PTL_LIST_PRIORITY, 9, 40000, 8192, both));
  auto put = dma<c_full_dma_cmd>(matching, 100, 500);
  ASSERT_EQ(cxidv_emit_trig_put(triggers.get(), ct->ct, 3, &put), 0);
  cxidv_cmdq_ring(triggers.get());
  ASSERT_EQ(cxidv_ct_inc_success(ct.get(), 2), 0);
  EXPECT_TRUE(eventually([&] { return cxidv_cmdq_is_empty(triggers.get()); }));
  EXPECT_EQ(cxidv_eq_peek(sends.get()), nullptr);
  ASSERT_EQ(cxidv_ct_inc_success(ct.get(), 1), 0);
  take_ok(sends, C_EVENT_ACK);
  take_ok(arrivals, C_EVENT_PUT);
  EXPECT_TRUE(same(100, 40000, 500));

  // Of the other kinds too, and at once where the counter is there already.
  auto get = dma<c_full_dma_cmd>(matching, 60000, 64);
  ASSERT_EQ(cxidv_emit_trig_get(triggers.get(), ct->ct, 1, &get), 0);
  cxidv_cmdq_ring(triggers.get());
  take_ok(sends, C_EVENT_REPLY);
  take_ok(arrivals, C_EVENT_GET);
  EXPECT_TRUE(same(60000, 40000, 64));
  auto amo = dma<c_dma_amo_cmd>(matching, 256, 8);
  amo.atomic_op = C_AMO_OP_SUM;
  amo.atomic_type = C_AMO_TYPE_UINT64_T;
  ASSERT_EQ(cxidv_emit_trig_amo(triggers.get(), ct->ct, 1, &amo), 0);
  cxidv_cmdq_ring(triggers.get());
  take_ok(sends, C_EVENT_ACK);
  take_ok(arrivals, C_EVENT_ATOMIC);
}

TEST_F(Triggered, CountersSetAndAddToEachOther) {
  c_ct_cmd command = {};
  command.ct = ct->ct & 2047;
  command.ct_success = 41;
  command.set_ct_success = 1;
  ASSERT_EQ(cxidv_emit_ct_set(triggers.get(), &command), 0);
  command.ct_success = 1;
  ASSERT_EQ(cxidv_emit_ct_inc(triggers.get(), &command), 0);
  command.trig_ct = ct->ct & 2047;
  command.ct = second->ct & 2047;
  command.threshold = 42;
  command.ct_success = 7;
  ASSERT_EQ(cxidv_emit_ct_trig_inc(triggers.get(), &command), 0);
  command.threshold = 43;
  command.ct_success = 100;
  ASSERT_EQ(cxidv_emit_ct_trig_set(triggers.get(), &command), 0);
  ASSERT_EQ(cxidv_emit_ct_get(triggers.get(), ct->ct), 0);
  cxidv_cmdq_ring(triggers.get());
  std::uint64_t success = 0, failure = 0;
  EXPECT_TRUE(eventually([&] { return cxidv_ct_writeback(ct.get(), &success, &failure); }));
  EXPECT_EQ(success, 42u);
  EXPECT_TRUE(eventually([&] { return value(second) == 7; }));
  ASSERT_EQ(cxidv_ct_inc_success(ct.get(), 1), 0);
  EXPECT_TRUE(eventually([&] { return value(second) == 100; }));
  ASSERT_EQ(cxidv_emit_ct_reset(triggers.get(), second->ct), 0);
  cxidv_cmdq_ring(triggers.get());
  EXPECT_TRUE(eventually([&] { return value(second) == 0; }));
}

TEST_F(Triggered, AnEventTellsOfAThresholdUnlessItIsCancelled) {
  c_ct_cmd command = {};
  command.trig_ct = ct->ct & 2047;
  command.threshold = 5;
  command.eq = sends->eqn & 2047;
  ASSERT_EQ(cxidv_emit_ct_trig_event(triggers.get(), &command), 0);
  cxidv_cmdq_ring(triggers.get());
  ASSERT_EQ(cxidv_ct_set_success(ct.get(), 5), 0);
  const c_event fired = take_ok(sends, C_EVENT_TRIGGERED_OP);
  EXPECT_EQ(fired.trig_short.ct_handle, ct->ct);
  EXPECT_EQ(fired.trig_short.threshold, 5u);
  std::uint64_t success = 0, failure = 0;
  EXPECT_TRUE(eventually([&] { return cxidv_ct_writeback(ct.get(), &success, &failure); }));
  EXPECT_EQ(success, 5u);

  command.threshold = 9;
  ASSERT_EQ(cxidv_emit_ct_trig_event(triggers.get(), &command), 0);
  ASSERT_EQ(cxidv_emit_ct_cancel(triggers.get(), ct->ct), 0);
  command.threshold = 10;
  ASSERT_EQ(cxidv_emit_ct_trig_event(triggers.get(), &command), 0);
  cxidv_cmdq_ring(triggers.get());
  EXPECT_TRUE(eventually([&] { return cxidv_cmdq_is_empty(triggers.get()); }));
  ASSERT_EQ(cxidv_ct_inc_success(ct.get(), 5), 0);
  EXPECT_EQ(take_ok(sends, C_EVENT_TRIGGERED_OP).trig_short.threshold, 10u) << "not that at 9";
}

}  // namespace
}  // namespace on_model
