// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs in front of the software NIC: what the commands of cxidv_emit.h do, and which events
// and counters tell of it.
#include <gmock/gmock.h>

#include <deque>
#include <numeric>

#include "dv_on_model.hpp"

namespace on_model {
namespace {

constexpr std::uint32_t matching = 5, plain = 6;  // portal indices

class Datapath : public Native {
 protected:
  Datapath() : pte(prepare()) {}
  PtePtr& prepare() {
    EXPECT_EQ(cxidv_query_device(context.get(), &device, sizeof device), 0);
    memory.resize(65536);
    std::iota(memory.begin(), memory.begin() + 32768, std::uint8_t{1});
    cxidv_md_attr attr = {};
    attr.addr = memory.data();
    attr.length = memory.size();
    attr.flags = CXIDV_MD_READ | CXIDV_MD_WRITE;
    md = MdPtr(made(cxidv_map_md(lni.get(), &attr), "map md"));
    cp = make_cp(lni);
    sends = make_eq(lni);
    arrivals = make_eq(lni);
    transmit = CmdqPtr(made(try_transmit_queue(lni, cp.get()), "transmit queue"));
    target = make_target_queue(lni, arrivals.get());
    domain = make_domain(lni);
    return enabled(CXIDV_PTE_MATCHING | CXIDV_PTE_LONG_EVENTS, matching);
  }
  ~Datapath() override {
    for (const Place& place : places)
      EXPECT_EQ(cxidv_unmap_pte(place.pte, place.domain, place.index, 0), 0);
  }

  void map(const PtePtr& entry, const DomainPtr& at, std::uint32_t index) {
    ASSERT_EQ(cxidv_map_pte(entry.get(), at.get(), index, 0), 0);
    places.push_back({entry.get(), at.get(), index});
  }
  /// A portal entry at an index. The fixture keeps it, since what is mapped cannot go.
  PtePtr& enabled(std::uint32_t flags, std::uint32_t index) {
    PtePtr& one = entries.emplace_back(make_pte(lni, arrivals.get(), flags));
    map(one, domain, index);
    EXPECT_EQ(set_state(target, one, C_PTLTE_ENABLED), 0);
    EXPECT_EQ(take(arrivals, C_EVENT_STATE_CHANGE).tgt_long.return_code, unsigned{C_RC_OK});
    return one;
  }

  /// The next event, which must be of that type; acknowledged.
  static c_event take(const EqPtr& eq, unsigned type) {
    c_event copy = {};
    const c_event* event = next(eq);
    std::memcpy(&copy, event, cxidv_event_bytes(event));
    cxidv_eq_ack(eq.get());
    EXPECT_EQ(cxidv_event_type(&copy), type);
    return copy;
  }
  /// The same, and it says OK.
  static c_event take_ok(const EqPtr& eq, unsigned type) {
    const c_event event = take(eq, type);
    EXPECT_EQ(cxidv_event_return_code(&event), unsigned{C_RC_OK}) << type;
    return event;
  }

  std::uint64_t iova(std::size_t offset) { return cxidv_md_iova(md.get(), &memory[offset]); }

  /// Puts an entry for [offset, offset + length) in a list of a portal entry, and waits for it.
  cxidv_le_attr entry(const PtePtr& of, std::uint32_t list, std::uint32_t buffer_id,
                      std::size_t offset, std::size_t length, std::uint32_t flags) {
    cxidv_le_attr attr = {};
    attr.ptn = of->ptn;
    attr.list = list;
    attr.flags = flags;
    attr.buffer_id = buffer_id;
    attr.start = iova(offset);
    attr.length = length;
    attr.match_bits = 0x1234;
    attr.match_id = CXIDV_MATCH_ID_ANY;
    attr.lac = md->lac;
    return attr;
  }
  c_target_cmd append(const cxidv_le_attr& attr) {
    c_target_cmd command = {};
    EXPECT_EQ(cxidv_build_le(&attr, &command), 0);
    EXPECT_EQ(cxidv_emit_append(target.get(), &command), 0);
    cxidv_cmdq_ring(target.get());
    return command;
  }
  c_target_cmd append_linked(const cxidv_le_attr& attr) {
    const c_target_cmd command = append(attr);
    EXPECT_EQ(take_ok(arrivals, C_EVENT_LINK).tgt_long.buffer_id, attr.buffer_id);
    return command;
  }

  std::uint32_t initiator() {
    std::uint32_t value = 0;
    EXPECT_EQ(cxidv_encode_initiator(device.pid_bits, domain->pid, device.nid, &value), 0);
    return value;
  }
  std::uint8_t address(c_fab_addr& dfa, std::uint32_t index) {
    std::uint32_t index_ext = 0;
    EXPECT_EQ(cxidv_encode_dfa(device.pid_bits, device.nid, domain->pid, index, &dfa, &index_ext),
              0);
    return static_cast<std::uint8_t>(index_ext);
  }
  template <class Command>
  Command dma(std::uint32_t index, std::size_t local, std::uint32_t length) {
    Command c = {};
    c.index_ext = address(c.dfa, index) & 31;
    c.lac = md->lac & 7;
    c.event_send_disable = 1;
    c.eq = sends->eqn & 2047;
    c.request_len = length;
    if constexpr (requires { c.local_addr; })
      c.local_addr = iova(local);
    else
      c.local_read_addr = iova(local);
    if constexpr (requires { c.match_bits; }) {
      c.initiator = initiator();
      c.match_bits = 0x1234;
      c.user_ptr = 0xabcdef;
    }
    return c;
  }
  bool same(std::size_t a, std::size_t b, std::size_t length) const {
    return std::memcmp(&memory[a], &memory[b], length) == 0;
  }

  struct Place {
    cxidv_pte* pte;
    cxidv_domain* domain;
    std::uint32_t index;
  };
  cxidv_device_attr device = {};
  std::vector<std::uint8_t> memory;
  MdPtr md;
  CpPtr cp;
  EqPtr sends, arrivals;
  CmdqPtr transmit, target;
  DomainPtr domain, second_domain;
  std::deque<PtePtr> entries;
  std::vector<Place> places;
  PtePtr& pte;
};

constexpr std::uint32_t both = C_LE_OP_PUT | C_LE_OP_GET;

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

TEST_F(Datapath, ARendezvousPutIsFetchedByTheTarget) {
  append_linked(entry(pte, C_PTL_LIST_PRIORITY, 9, 40000, 16384,
                      C_LE_OP_PUT | C_LE_USE_ONCE | C_LE_EVENT_UNLINK_DISABLE));
  PtePtr& source = enabled(CXIDV_PTE_MATCHING | CXIDV_PTE_LONG_EVENTS, device.rdzv_get_index);
  cxidv_le_attr all = entry(source, C_PTL_LIST_PRIORITY, 11, 0, 32768, C_LE_OP_GET);
  ASSERT_EQ(cxidv_encode_rdzv_match_bits(0x1234, 33, &all.match_bits), 0);
  append_linked(all);

  auto put = dma<c_full_dma_cmd>(matching, 100, 10000);
  put.eager_length = 2048;
  put.rendezvous_id = 33;
  put.use_offset_for_get = 1;
  put.remote_offset = 100;  // of the data in the entry at the source
  ASSERT_EQ(cxidv_emit_rendezvous_put(transmit.get(), &put), 0);
  cxidv_cmdq_ring(transmit.get());
  take_ok(sends, C_EVENT_ACK);
  unsigned seen = 0;
  for (int i = 0; i < 4; i++) {
    const c_event* event = next(arrivals);
    EXPECT_EQ(cxidv_event_return_code(event), unsigned{C_RC_OK});
    seen |= 1u << cxidv_event_type(event);
    if (cxidv_event_type(event) == C_EVENT_REPLY) {
      cxidv_rdzv parts = {};
      EXPECT_TRUE(event->init_short.rendezvous);
      cxidv_decode_rdzv_user_ptr(cxidv_event_user_ptr(event), &parts);
      EXPECT_EQ(parts.src_nid, device.nid);
      EXPECT_EQ(parts.src_pid, domain->pid);
      EXPECT_EQ(parts.ptn, pte->ptn);
      EXPECT_EQ(parts.rendezvous_id, 33u);
      EXPECT_EQ(parts.buffer_id, 9u);
    }
    cxidv_eq_ack(arrivals.get());
  }
  EXPECT_EQ(seen,
            1u << C_EVENT_PUT | 1u << C_EVENT_RENDEZVOUS | 1u << C_EVENT_REPLY | 1u << C_EVENT_GET);
  EXPECT_TRUE(same(100, 40000, 10000));
}

TEST_F(Datapath, UnexpectedMessagesAreSearchedForTakenAndDeleted) {
  append_linked(entry(pte, C_PTL_LIST_OVERFLOW, 20, 40000, 8192, C_LE_OP_PUT | C_LE_MANAGE_LOCAL));
  auto put = dma<c_full_dma_cmd>(matching, 100, 50);
  for (std::uint64_t header : {1, 2, 3}) {
    put.header_data = header;
    ASSERT_EQ(cxidv_emit_put(transmit.get(), &put), 0);
    cxidv_cmdq_ring(transmit.get());
    EXPECT_EQ(take_ok(sends, C_EVENT_ACK).init_short.ptl_list, unsigned{C_PTL_LIST_OVERFLOW});
    EXPECT_EQ(take_ok(arrivals, C_EVENT_PUT).tgt_long.buffer_id, 20u);
  }
  cxidv_le_attr wanted = entry(pte, C_PTL_LIST_UNEXPECTED, 21, 0, 0, C_LE_USE_ONCE);
  wanted.length = CXIDV_LE_UNLIMITED;
  c_target_cmd search = {};
  ASSERT_EQ(cxidv_build_le(&wanted, &search), 0);
  ASSERT_EQ(cxidv_emit_search(target.get(), &search), 0);
  cxidv_cmdq_ring(target.get());
  EXPECT_EQ(take_ok(arrivals, C_EVENT_SEARCH).tgt_long.header_data, 1u);
  ASSERT_EQ(cxidv_emit_search_and_delete(target.get(), &search), 0);
  cxidv_cmdq_ring(target.get());
  EXPECT_EQ(take_ok(arrivals, C_EVENT_PUT_OVERFLOW).tgt_long.header_data, 1u);
  // A receive that is posted late takes the next, and never is in a list.
  append(entry(pte, C_PTL_LIST_PRIORITY, 22, 60000, 1000,
               C_LE_OP_PUT | C_LE_USE_ONCE | C_LE_EVENT_UNLINK_DISABLE));
  const c_event late = take_ok(arrivals, C_EVENT_PUT_OVERFLOW);
  EXPECT_EQ(late.tgt_long.header_data, 2u);
  EXPECT_EQ(late.tgt_long.buffer_id, 22u);
  EXPECT_EQ(late.tgt_long.start, iova(40050));
  search.use_once = 0;
  search.match_bits++;
  ASSERT_EQ(cxidv_emit_search(target.get(), &search), 0);
  cxidv_cmdq_ring(target.get());
  const c_event end = take(arrivals, C_EVENT_SEARCH);
  EXPECT_EQ(cxidv_event_return_code(&end), unsigned{C_RC_NO_MATCH});
}

TEST_F(Datapath, EntriesAreUnlinkedByWhatAppendedThem) {
  const c_target_cmd command = append_linked(entry(pte, C_PTL_LIST_PRIORITY, 9, 40000, 8192, both));
  for (unsigned code : {C_RC_OK, C_RC_ENTRY_NOT_FOUND}) {
    ASSERT_EQ(cxidv_emit_unlink(target.get(), &command), 0);
    cxidv_cmdq_ring(target.get());
    const c_event event = take(arrivals, C_EVENT_UNLINK);
    EXPECT_EQ(event.tgt_long.buffer_id, 9u);
    EXPECT_EQ(cxidv_event_return_code(&event), code);
  }
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
