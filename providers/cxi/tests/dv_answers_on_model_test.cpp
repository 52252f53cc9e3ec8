// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What the manual of direct verbs says about answers of the NIC: return codes of events, stopped
// queues, counters. In front of the software NIC.
#include <gtest/gtest.h>
#include <infiniband/cxidv.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "on_model.hpp"

namespace {

using on_model::made;

constexpr std::uint32_t index_of_target = 7;

// One process that sends to itself, with everything on one logical NI.
class Answers : public testing::Test {
 protected:
  Answers() : context(on_model::open_device("cxi0")) {
    if (cxidv_query_device(context.get(), &device, sizeof device))
      throw std::runtime_error("query");
    lni = made(cxidv_create_lni(context.get(), nullptr), "logical NI");
    cxidv_eq_attr eq_attr = {};
    eq_attr.slots = 256;
    eq = made(cxidv_create_eq(lni, &eq_attr), "event queue");
    const cxidv_cp_attr cp_attr = {0, 1, CXIDV_TC_BEST_EFFORT, 0, CXIDV_CP_TRIGGERED};
    cp = made(cxidv_alloc_cp(lni, &cp_attr), "profile");
    domain = made(cxidv_create_domain(lni, 1, C_PID_ANY), "domain");
    transmit = new_queue(CXIDV_CMDQ_TRANSMIT);
    target = new_queue(0);
    cxidv_md_attr md_attr = {};
    md_attr.addr = memory;
    md_attr.length = sizeof memory;
    md_attr.flags = CXIDV_MD_READ | CXIDV_MD_WRITE;
    md = made(cxidv_map_md(lni, &md_attr), "memory");
    cxidv_pte_attr pte_attr = {};
    pte_attr.flags = CXIDV_PTE_LONG_EVENTS;
    pte_attr.eq = eq;
    pte = made(cxidv_create_pte(lni, &pte_attr), "portal entry");
    if (cxidv_map_pte(pte, domain, index_of_target, 0)) throw std::runtime_error("map");
  }
  ~Answers() override {
    EXPECT_EQ(cxidv_destroy_cmdq(transmit), 0);
    EXPECT_EQ(cxidv_destroy_cmdq(target), 0);
    EXPECT_EQ(cxidv_unmap_pte(pte, domain, index_of_target, 0), 0);
    EXPECT_EQ(cxidv_destroy_pte(pte), 0);
    EXPECT_EQ(cxidv_unmap_md(md), 0);
    EXPECT_EQ(cxidv_destroy_domain(domain), 0);
    EXPECT_EQ(cxidv_free_cp(cp), 0);
    EXPECT_EQ(cxidv_destroy_eq(eq), 0);
    EXPECT_EQ(cxidv_destroy_lni(lni), 0);
  }

  cxidv_cmdq* new_queue(std::uint32_t flags, std::uint32_t slots = 64) {
    cxidv_cmdq_attr attr = {};
    attr.flags = flags;
    attr.slots = slots;
    attr.cp = flags & CXIDV_CMDQ_TRANSMIT ? cp : nullptr;
    attr.eq = eq;
    return made(cxidv_create_cmdq(lni, &attr), "command queue");
  }

  // The next event, copied; a type that does not exist when none comes.
  c_event next_event() {
    c_event copy = {};
    copy.hdr.event_type = 31;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      if (const c_event* event = cxidv_eq_next(eq)) {
        std::memcpy(&copy, event, cxidv_event_bytes(event));
        cxidv_eq_ack(eq);
        return copy;
      }
      std::this_thread::yield();
    }
    return copy;
  }
  std::pair<unsigned, unsigned> next_answer() {
    const c_event event = next_event();
    return {cxidv_event_type(&event), cxidv_event_return_code(&event)};
  }
  using Answer = std::pair<unsigned, unsigned>;

  c_full_dma_cmd command_to(std::uint32_t index, std::uint32_t length = 8) {
    c_full_dma_cmd command = {};
    std::uint32_t index_ext = 0;
    c_fab_addr dfa = {};
    EXPECT_EQ(cxidv_encode_dfa(device.pid_bits, device.nid, domain->pid, index, &dfa, &index_ext),
              0);
    command.dfa = dfa;
    command.index_ext = index_ext & 31;
    command.lac = md->lac & 7;
    command.local_addr = md->iova;
    command.request_len = length;
    command.eq = eq->eqn;
    command.event_send_disable = 1;
    return command;
  }
  Answer put(const c_full_dma_cmd& command, cxidv_cmdq* queue = nullptr) {
    if (!queue) queue = transmit;
    EXPECT_EQ(cxidv_emit_put(queue, &command), 0);
    cxidv_cmdq_ring(queue);
    return next_answer();
  }
  Answer set_state(unsigned state, unsigned drop_count = 0) {
    c_set_state_cmd command = {};
    command.ptlte_index = pte->ptn;
    command.ptlte_state = state;
    command.drop_count = drop_count;
    EXPECT_EQ(cxidv_emit_setstate(target, &command), 0);
    cxidv_cmdq_ring(target);
    return next_answer();
  }
  cxidv_le_attr whole_memory(std::uint32_t flags) {
    cxidv_le_attr entry = {};
    entry.ptn = pte->ptn;
    entry.flags = flags;
    entry.buffer_id = 3;
    entry.start = md->iova;
    entry.length = md->length;
    entry.lac = md->lac;
    entry.match_id = CXIDV_MATCH_ID_ANY;
    return entry;
  }
  Answer append(const cxidv_le_attr& entry) {
    c_target_cmd command;
    EXPECT_EQ(cxidv_build_le(&entry, &command), 0);
    EXPECT_EQ(cxidv_emit_append(target, &command), 0);
    cxidv_cmdq_ring(target);
    return next_answer();
  }
  void enable_with(std::uint32_t flags) {
    ASSERT_EQ(append(whole_memory(flags)), Answer(C_EVENT_LINK, C_RC_OK));
    ASSERT_EQ(set_state(C_PTLTE_ENABLED), Answer(C_EVENT_STATE_CHANGE, C_RC_OK));
  }

  on_model::Context context;
  cxidv_device_attr device = {};
  cxidv_lni* lni = nullptr;
  cxidv_eq* eq = nullptr;
  cxidv_cp* cp = nullptr;
  cxidv_domain* domain = nullptr;
  cxidv_cmdq* transmit = nullptr;
  cxidv_cmdq* target = nullptr;
  cxidv_md* md = nullptr;
  cxidv_pte* pte = nullptr;
  alignas(64) char memory[4096] = {};
};

TEST_F(Answers, PutsAreAnsweredWithTheReasonWhyTheyFailed) {
  EXPECT_EQ(put(command_to(index_of_target + 1)), Answer(C_EVENT_ACK, C_RC_PTLTE_NOT_FOUND));
  EXPECT_EQ(put(command_to(index_of_target)), Answer(C_EVENT_ACK, C_RC_PT_DISABLED));
  ASSERT_EQ(set_state(C_PTLTE_ENABLED, 0xffffff), Answer(C_EVENT_STATE_CHANGE, C_RC_OK));
  EXPECT_EQ(put(command_to(index_of_target)), Answer(C_EVENT_ACK, C_RC_ENTRY_NOT_FOUND));
  ASSERT_EQ(append(whole_memory(C_LE_OP_GET)), Answer(C_EVENT_LINK, C_RC_OK));
  const Answer first = put(command_to(index_of_target));
  EXPECT_EQ(first.second, unsigned{C_RC_OP_VIOLATION});
}

TEST_F(Answers, AVniThatNobodyUsesThere) {
  const cxidv_cp_attr attr = {0, 10, CXIDV_TC_BEST_EFFORT, 0, 0};
  cxidv_cp* other = made(cxidv_alloc_cp(lni, &attr), "profile");
  EXPECT_EQ(cxidv_emit_lcid(transmit, other->lcid), 0);
  EXPECT_EQ(put(command_to(index_of_target)), Answer(C_EVENT_ACK, C_RC_VNI_NOT_FOUND));
  EXPECT_EQ(cxidv_emit_lcid(transmit, cp->lcid), 0);
  EXPECT_EQ(put(command_to(index_of_target)), Answer(C_EVENT_ACK, C_RC_PT_DISABLED));
  EXPECT_EQ(cxidv_free_cp(other), 0);
}

TEST_F(Answers, APutThatIsTooLongFailsWithoutMatchingAndIsCutOffWithIt) {
  enable_with(C_LE_OP_PUT | C_LE_EVENT_COMM_DISABLE);
  c_full_dma_cmd command = command_to(index_of_target, 100);
  command.remote_offset = sizeof memory - 10;
  EXPECT_EQ(put(command), Answer(C_EVENT_ACK, C_RC_NO_SPACE));

  cxidv_pte* plain = pte;
  const cxidv_pte_attr attr = {0, CXIDV_PTE_MATCHING, 0, eq};
  pte = made(cxidv_create_pte(lni, &attr), "portal entry");
  EXPECT_EQ(cxidv_map_pte(pte, domain, index_of_target + 1, 0), 0);
  enable_with(C_LE_OP_PUT | C_LE_EVENT_COMM_DISABLE);
  const c_full_dma_cmd place = command_to(index_of_target + 1);
  command.dfa = place.dfa;
  command.index_ext = place.index_ext;
  EXPECT_EQ(cxidv_emit_put(transmit, &command), 0);
  cxidv_cmdq_ring(transmit);
  const c_event event = next_event();
  EXPECT_EQ(cxidv_event_type(&event), unsigned{C_EVENT_ACK});
  EXPECT_EQ(cxidv_event_return_code(&event), unsigned{C_RC_OK});
  EXPECT_EQ(cxidv_event_mlength(&event), 10u);
  EXPECT_EQ(cxidv_unmap_pte(pte, domain, index_of_target + 1, 0), 0);
  EXPECT_EQ(cxidv_destroy_pte(pte), 0);
  pte = plain;
}

TEST_F(Answers, NothingIsLegalToMove) {
  enable_with(C_LE_OP_PUT | C_LE_OP_GET | C_LE_EVENT_COMM_DISABLE);
  c_full_dma_cmd command = command_to(index_of_target, 0);
  command.lac = 0;
  command.local_addr = 0;
  EXPECT_EQ(put(command), Answer(C_EVENT_ACK, C_RC_OK));
  EXPECT_EQ(cxidv_emit_get(transmit, &command), 0);
  cxidv_cmdq_ring(transmit);
  EXPECT_EQ(next_answer(), Answer(C_EVENT_REPLY, C_RC_OK));
}

TEST_F(Answers, MemoryThatWasUnmappedCannotBeSent) {
  enable_with(C_LE_OP_PUT | C_LE_EVENT_COMM_DISABLE);
  alignas(64) static char gone[64];
  cxidv_md_attr attr = {};
  attr.addr = gone, attr.length = sizeof gone, attr.flags = CXIDV_MD_READ;
  cxidv_md* other = made(cxidv_map_md(lni, &attr), "memory");
  c_full_dma_cmd command = command_to(index_of_target);
  command.lac = other->lac & 7;
  command.local_addr = other->iova;
  EXPECT_EQ(put(command), Answer(C_EVENT_ACK, C_RC_OK));
  EXPECT_EQ(cxidv_unmap_md(other), 0);
  const Answer answer = put(command);
  EXPECT_EQ(answer.first, unsigned{C_EVENT_ACK});
  EXPECT_TRUE(answer.second == C_RC_NO_TRANSLATION || answer.second == C_RC_PAGE_PERM_ERROR)
      << answer.second;
}

TEST_F(Answers, AFalseDropCountChangesNothing) {
  EXPECT_EQ(set_state(C_PTLTE_ENABLED, 5), Answer(C_EVENT_STATE_CHANGE, C_RC_NO_MATCH));
  cxidv_pte_status status = {};
  ASSERT_EQ(cxidv_query_pte(pte, &status, sizeof status), 0);
  EXPECT_EQ(status.state, unsigned{C_PTLTE_DISABLED});
}

TEST_F(Answers, AnUnlinkOfNothingIsAnsweredToo) {
  enable_with(C_LE_OP_PUT);
  c_target_cmd command;
  const cxidv_le_attr entry = whole_memory(0);
  ASSERT_EQ(cxidv_build_le(&entry, &command), 0);
  EXPECT_EQ(cxidv_emit_unlink(target, &command), 0);
  EXPECT_EQ(cxidv_emit_unlink(target, &command), 0);
  cxidv_cmdq_ring(target);
  EXPECT_EQ(next_answer(), Answer(C_EVENT_UNLINK, C_RC_OK));
  EXPECT_EQ(next_answer(), Answer(C_EVENT_UNLINK, C_RC_ENTRY_NOT_FOUND));
}

// Every kind of command that stops its queue says so in the event and in the status.
TEST_F(Answers, AQueueStopsAtACommandThatItCannotExecute) {
  const auto stops = [&](std::uint32_t flags, unsigned return_code, auto emit) {
    cxidv_cmdq* queue = new_queue(flags);
    emit(queue);
    cxidv_cmdq_ring(queue);
    const c_event event = next_event();
    EXPECT_EQ(cxidv_event_type(&event), unsigned{C_EVENT_COMMAND_FAILURE});
    EXPECT_EQ(cxidv_event_return_code(&event), return_code);
    EXPECT_EQ(event.cmd_fail.is_target, !(flags & CXIDV_CMDQ_TRANSMIT));
    EXPECT_EQ(cxidv_cmdq_status(queue).return_code, return_code);
    EXPECT_EQ(cxidv_destroy_cmdq(queue), 0);
  };
  stops(CXIDV_CMDQ_TRANSMIT, C_RC_PERM_VIOLATION,
        [](cxidv_cmdq* q) { EXPECT_EQ(cxidv_emit_lcid(q, 9), 0); });
  stops(CXIDV_CMDQ_TRANSMIT, C_RC_PERM_VIOLATION, [&](cxidv_cmdq* q) {
    c_full_dma_cmd command = command_to(index_of_target);
    command.eq = 2000;
    EXPECT_EQ(cxidv_emit_put(q, &command), 0);
  });
  stops(CXIDV_CMDQ_TRANSMIT | CXIDV_CMDQ_TRIGGERED, C_RC_PERM_VIOLATION,
        [](cxidv_cmdq* q) { EXPECT_EQ(cxidv_emit_ct_get(q, 2000), 0); });
  stops(CXIDV_CMDQ_TRANSMIT | CXIDV_CMDQ_TRIGGERED, C_RC_OP_VIOLATION, [&](cxidv_cmdq* q) {
    const c_full_dma_cmd command = command_to(index_of_target);
    EXPECT_EQ(cxidv_emit_put(q, &command), 0);
  });
  stops(CXIDV_CMDQ_TRANSMIT, C_RC_OP_VIOLATION,
        [](cxidv_cmdq* q) { EXPECT_EQ(cxidv_emit_ct_get(q, 0), 0); });
  stops(0, C_RC_PERM_VIOLATION, [](cxidv_cmdq* q) {
    c_set_state_cmd command = {};
    command.ptlte_index = 2000;
    command.ptlte_state = C_PTLTE_ENABLED;
    EXPECT_EQ(cxidv_emit_setstate(q, &command), 0);
  });
}

TEST_F(Answers, APutThatTheStateDoesNotAllowStopsTheQueue) {
  cxidv_cmdq* queue = new_queue(CXIDV_CMDQ_TRANSMIT);
  c_cstate_cmd state = {};
  state.eq = eq->eqn;
  EXPECT_EQ(cxidv_emit_cstate(queue, &state), 0);
  c_idc_hdr header = {};
  char data[256] = {};
  EXPECT_EQ(cxidv_emit_idc_put(queue, &header, data, 225), EINVAL);
  c_idc_msg_hdr message = {};
  EXPECT_EQ(cxidv_emit_idc_msg(queue, &message, data, 193), EINVAL);
  EXPECT_EQ(cxidv_emit_idc_put(queue, &header, data, 224), 0);
  cxidv_cmdq_ring(queue);
  EXPECT_EQ(next_answer(), Answer(C_EVENT_COMMAND_FAILURE, C_RC_CMD_INVALID_ARG));
  EXPECT_EQ(cxidv_destroy_cmdq(queue), 0);
}

// Fills a queue and lets every emitter find out.
template <class... Emit>
void expect_no_room(cxidv_cmdq* queue, Emit... emit) {
  while (cxidv_emit_noop(queue) == 0)
    continue;
  const std::uint32_t written = queue->wp32;
  const int answers[] = {emit(queue)...};
  for (const int& answer : answers)
    EXPECT_EQ(answer, ENOSPC) << "emitter " << &answer - answers;
  EXPECT_EQ(queue->wp32, written);
}

TEST_F(Answers, NoEmitterWritesIntoAFullQueue) {
  const c_full_dma_cmd full = {};
  const c_nomatch_dma_cmd nomatch = {};
  const c_dma_amo_cmd amo = {};
  const c_idc_amo_cmd immediate = {};
  const c_cstate_cmd state = {};
  const c_ct_cmd counter = {};
  const c_target_cmd entry = {};
  const c_set_state_cmd set = {};
  using Q = cxidv_cmdq*;
  expect_no_room(
      transmit, [](Q q) { return cxidv_emit_fence(q); }, [](Q q) { return cxidv_emit_lcid(q, 0); },
      [&](Q q) { return cxidv_emit_cstate(q, &state); },
      [](Q q) {
        const c_idc_hdr header = {};
        return cxidv_emit_idc_put(q, &header, nullptr, 0);
      },
      [](Q q) {
        const c_idc_msg_hdr header = {};
        return cxidv_emit_idc_msg(q, &header, nullptr, 0);
      },
      [&](Q q) { return cxidv_emit_idc_amo(q, &immediate, false); },
      [&](Q q) { return cxidv_emit_idc_amo(q, &immediate, true); },
      [&](Q q) { return cxidv_emit_put(q, &full); }, [&](Q q) { return cxidv_emit_get(q, &full); },
      [&](Q q) { return cxidv_emit_rendezvous_put(q, &full); },
      [&](Q q) { return cxidv_emit_nomatch_put(q, &nomatch); },
      [&](Q q) { return cxidv_emit_nomatch_get(q, &nomatch); },
      [&](Q q) { return cxidv_emit_amo(q, &amo); },
      [&](Q q) { return cxidv_emit_fetching_amo(q, &amo); });
  expect_no_room(
      target, [&](Q q) { return cxidv_emit_append(q, &entry); },
      [&](Q q) { return cxidv_emit_unlink(q, &entry); },
      [&](Q q) { return cxidv_emit_search(q, &entry); },
      [&](Q q) { return cxidv_emit_search_and_delete(q, &entry); },
      [&](Q q) { return cxidv_emit_setstate(q, &set); });
  cxidv_cmdq* triggered = new_queue(CXIDV_CMDQ_TRANSMIT | CXIDV_CMDQ_TRIGGERED);
  expect_no_room(
      triggered, [&](Q q) { return cxidv_emit_ct_set(q, &counter); },
      [&](Q q) { return cxidv_emit_ct_inc(q, &counter); },
      [](Q q) { return cxidv_emit_ct_reset(q, 0); }, [](Q q) { return cxidv_emit_ct_get(q, 0); },
      [](Q q) { return cxidv_emit_ct_cancel(q, 0); },
      [&](Q q) { return cxidv_emit_ct_trig_set(q, &counter); },
      [&](Q q) { return cxidv_emit_ct_trig_inc(q, &counter); },
      [&](Q q) { return cxidv_emit_ct_trig_event(q, &counter); },
      [&](Q q) { return cxidv_emit_trig_put(q, 0, 1, &full); },
      [&](Q q) { return cxidv_emit_trig_get(q, 0, 1, &full); },
      [&](Q q) { return cxidv_emit_trig_rendezvous_put(q, 0, 1, &full); },
      [&](Q q) { return cxidv_emit_trig_nomatch_put(q, 0, 1, &nomatch); },
      [&](Q q) { return cxidv_emit_trig_nomatch_get(q, 0, 1, &nomatch); },
      [&](Q q) { return cxidv_emit_trig_amo(q, 0, 1, &amo); },
      [&](Q q) { return cxidv_emit_trig_fetching_amo(q, 0, 1, &amo); });
  EXPECT_EQ(cxidv_destroy_cmdq(triggered), 0);
}

TEST_F(Answers, AFullQueueTakesNothing) {
  const c_full_dma_cmd command = command_to(index_of_target);
  unsigned taken = 0;
  while (cxidv_emit_put(transmit, &command) == 0)
    taken++;
  EXPECT_EQ(cxidv_emit_put(transmit, &command), ENOSPC);
  EXPECT_EQ(taken, 64u - 4 - 1);
  EXPECT_EQ(cxidv_cmdq_free_slots(transmit), 0u);
  EXPECT_FALSE(cxidv_cmdq_is_empty(transmit));
  cxidv_cmdq_discard(transmit);
  EXPECT_TRUE(cxidv_cmdq_is_empty(transmit));
  EXPECT_EQ(cxidv_emit_lcid(transmit, 16), EINVAL);
}

TEST_F(Answers, QueuesArePowersOfTwo) {
  cxidv_cmdq* queue = new_queue(0, 65);
  EXPECT_EQ(queue->size32, 2 * 128u);
  EXPECT_EQ(cxidv_destroy_cmdq(queue), 0);
  queue = new_queue(0, 1);
  EXPECT_EQ(queue->size32, 2 * 64u);
  EXPECT_EQ(cxidv_destroy_cmdq(queue), 0);
}

TEST_F(Answers, TriggeredOperationsWantACounterThatExists) {
  cxidv_cmdq* queue = new_queue(CXIDV_CMDQ_TRANSMIT | CXIDV_CMDQ_TRIGGERED);
  const c_full_dma_cmd command = command_to(index_of_target);
  EXPECT_EQ(cxidv_emit_trig_put(queue, 2048, 1, &command), EINVAL);
  EXPECT_EQ(cxidv_emit_trig_put(queue, 1, 1ull << 48, &command), EINVAL);
  EXPECT_EQ(cxidv_emit_trig_get(queue, 2048, 1, &command), EINVAL);
  EXPECT_EQ(cxidv_emit_trig_rendezvous_put(queue, 2048, 1, &command), EINVAL);
  const c_nomatch_dma_cmd nomatch = {};
  EXPECT_EQ(cxidv_emit_trig_nomatch_put(queue, 2048, 1, &nomatch), EINVAL);
  EXPECT_EQ(cxidv_emit_trig_nomatch_get(queue, 2048, 1, &nomatch), EINVAL);
  const c_dma_amo_cmd amo = {};
  EXPECT_EQ(cxidv_emit_trig_amo(queue, 2048, 1, &amo), EINVAL);
  EXPECT_EQ(cxidv_emit_trig_fetching_amo(queue, 2048, 1, &amo), EINVAL);
  EXPECT_EQ(cxidv_emit_ct_get(queue, 2048), EINVAL);
  EXPECT_EQ(cxidv_emit_ct_reset(queue, 2048), EINVAL);
  EXPECT_EQ(cxidv_emit_ct_cancel(queue, 2048), EINVAL);
  EXPECT_EQ(cxidv_destroy_cmdq(queue), 0);
}

TEST_F(Answers, ATriggerEventTellsOfAThreshold) {
  cxidv_cmdq* queue = new_queue(CXIDV_CMDQ_TRANSMIT | CXIDV_CMDQ_TRIGGERED);
  alignas(8) static c_ct_writeback word;
  word = {};
  cxidv_ct* ct = made(cxidv_create_ct(lni, &word), "counter");
  c_ct_cmd command = {};
  command.trig_ct = ct->ct;
  command.threshold = 3;
  command.eq = eq->eqn;
  EXPECT_EQ(cxidv_emit_ct_trig_event(queue, &command), 0);
  cxidv_cmdq_ring(queue);
  std::uint64_t success = 0, failure = 0;
  EXPECT_EQ(cxidv_inc_ct(ct, 2, 0), 0);
  EXPECT_FALSE(cxidv_ct_writeback(ct, &success, &failure));
  EXPECT_EQ(cxidv_inc_ct(ct, 1, 0), 0);
  const c_event event = next_event();
  EXPECT_EQ(cxidv_event_type(&event), unsigned{C_EVENT_TRIGGERED_OP});
  EXPECT_EQ(event.trig_short.threshold, 3u);
  EXPECT_TRUE(cxidv_ct_writeback(ct, &success, &failure));
  EXPECT_EQ(success, 3u);
  cxidv_ct_clear_writeback(ct);
  EXPECT_FALSE(cxidv_ct_writeback(ct, &success, &failure));
  // A failure writes back, a success does not.
  EXPECT_EQ(cxidv_inc_ct(ct, 1, 0), 0);
  EXPECT_FALSE(cxidv_ct_writeback(ct, &success, &failure));
  EXPECT_EQ(cxidv_inc_ct(ct, 0, 1), 0);
  EXPECT_TRUE(cxidv_ct_writeback(ct, &success, &failure));
  EXPECT_EQ(failure, 1u);
  EXPECT_EQ(cxidv_destroy_cmdq(queue), 0);
  EXPECT_EQ(cxidv_destroy_ct(ct), 0);
}

}  // namespace
