// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs in front of the software NIC: how messages find their list entries: rendezvous,
// multicast, unexpected messages, and entries that the program manages.
#include <tuple>

#include "dv_datapath_on_model.hpp"

namespace on_model {
namespace {

class Messages : public Datapath {};

TEST_F(Messages, ARendezvousPutIsFetchedByTheTarget) {
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

TEST_F(Messages, APutToAMulticastGroupComesToTheEntryThatIsMappedThere) {
  constexpr std::uint32_t group = 77, index_ext = 3;  // unlike each other's neighbours
  PtePtr& member = entries.emplace_back(make_pte(lni, arrivals.get(), CXIDV_PTE_LONG_EVENTS));
  std::uint32_t index = 0;
  ASSERT_EQ(cxidv_encode_multicast_index(group, index_ext, &index), 0);
  ASSERT_EQ(cxidv_map_pte(member.get(), domain.get(), index, CXIDV_MAP_MULTICAST), 0);
  ASSERT_EQ(set_state(target, member, C_PTLTE_ENABLED), 0);
  take_ok(arrivals, C_EVENT_STATE_CHANGE);
  append_linked(entry(member, C_PTL_LIST_PRIORITY, 9, 40000, 8192, C_LE_OP_PUT));

  auto put = dma<c_full_dma_cmd>(plain, 100, 64);
  ASSERT_EQ(cxidv_encode_multicast_dfa(group, 0, &put.dfa), 0);
  put.index_ext = index_ext;
  put.restricted = 1;
  ASSERT_EQ(cxidv_emit_put(transmit.get(), &put), 0);
  cxidv_cmdq_ring(transmit.get());
  EXPECT_EQ(take_ok(arrivals, C_EVENT_PUT).tgt_long.ptlte_index, member->ptn);
  EXPECT_TRUE(same(100, 40000, 64));

  EXPECT_EQ(cxidv_unmap_pte(member.get(), domain.get(), index + 1, CXIDV_MAP_MULTICAST), EINVAL);
  EXPECT_EQ(cxidv_unmap_pte(member.get(), domain.get(), index, CXIDV_MAP_MULTICAST), 0);
}

// What cxidv_transition_pte(3) says of messages in the request list.
TEST_F(Messages, MessagesToASoftwareManagedEntryComeWithTheirHeaders) {
  ASSERT_EQ(set_state(target, pte, C_PTLTE_DISABLED), 0);
  take_ok(arrivals, C_EVENT_STATE_CHANGE);
  append_linked(entry(pte, C_PTL_LIST_REQUEST, 9, 40000, 16384, C_LE_OP_PUT | C_LE_MANAGE_LOCAL));
  ASSERT_EQ(cxidv_transition_pte(pte.get(), 0), 0);
  const auto arrive = [&](std::uint32_t payload, std::uint32_t headers) {
    cxidv_cmdq_ring(transmit.get());
    take_ok(sends, C_EVENT_ACK);
    const c_event event = take_ok(arrivals, C_EVENT_PUT);
    EXPECT_EQ(event.tgt_long.ptl_list, unsigned{C_PTL_LIST_REQUEST});
    EXPECT_EQ(event.tgt_long.mlength, headers + payload);
    EXPECT_EQ(event.tgt_long.match_bits, 0x1234u);
    const std::size_t at = 40000 + (event.tgt_long.start - iova(40000));
    EXPECT_TRUE(same(100, at + headers, payload));
    c_port_fab_hdr fabric;
    std::memcpy(&fabric, &memory[at], sizeof fabric);
    EXPECT_EQ(fabric.ver, 4u);
    return std::pair(event, at + sizeof fabric);
  };

  auto put = dma<c_full_dma_cmd>(matching, 100, 5000);
  put.remote_offset = 24;
  ASSERT_EQ(cxidv_emit_put(transmit.get(), &put), 0);
  auto [event, at] = arrive(5000, sizeof(c_port_fab_hdr) + sizeof(c_port_unrestricted_hdr));
  EXPECT_EQ(event.tgt_long.rlength, 5000u);
  c_port_unrestricted_hdr header;
  std::memcpy(&header, &memory[at], sizeof header);
  EXPECT_EQ(header.ver_pkt_type, unsigned{C_V4_PKT_UNRESTRICTED});
  EXPECT_EQ(header.remote_offset, 24u);

  put.eager_length = 2048;
  put.rendezvous_id = 33;
  put.use_offset_for_get = 1;
  ASSERT_EQ(cxidv_emit_rendezvous_put(transmit.get(), &put), 0);
  std::tie(event, at) = arrive(2048, sizeof(c_port_fab_hdr) + sizeof(c_port_unrestricted_hdr));
  EXPECT_EQ(event.tgt_long.rlength, 5000u);
  EXPECT_TRUE(event.tgt_long.rendezvous);
  EXPECT_FALSE(event.tgt_long.get_issued);
  EXPECT_EQ(event.tgt_long.rendezvous_id, 33u);
  EXPECT_EQ(event.tgt_long.remote_offset, 24u);

  c_cstate_cmd state = {};
  state.event_send_disable = 1;
  state.eq = sends->eqn & 2047;
  state.initiator = initiator();
  c_idc_msg_hdr message = {};
  state.index_ext = address(message.dfa, matching) & 31;
  message.match_bits = 0x1234;
  ASSERT_EQ(cxidv_emit_cstate(transmit.get(), &state), 0);
  ASSERT_EQ(cxidv_emit_idc_msg(transmit.get(), &message, &memory[100], 20), 0);
  std::tie(event, at) = arrive(20, sizeof(c_port_fab_hdr) + sizeof(c_port_small_msg_hdr));
  c_port_small_msg_hdr small;
  std::memcpy(&small, &memory[at], sizeof small);
  EXPECT_EQ(small.ver_pkt_type, unsigned{C_V4_PKT_SMALLMSG});

  append(entry(pte, C_PTL_LIST_PRIORITY, 10, 60000, 64, C_LE_OP_PUT));
  const c_event refused = take(arrivals, C_EVENT_LINK);
  EXPECT_EQ(refused.tgt_long.return_code, unsigned{C_RC_PTLTE_SW_MANAGED});
}

TEST_F(Messages, UnexpectedMessagesAreSearchedForTakenAndDeleted) {
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

TEST_F(Messages, EntriesAreUnlinkedByWhatAppendedThem) {
  const c_target_cmd command = append_linked(entry(pte, C_PTL_LIST_PRIORITY, 9, 40000, 8192, both));
  for (unsigned code : {C_RC_OK, C_RC_ENTRY_NOT_FOUND}) {
    ASSERT_EQ(cxidv_emit_unlink(target.get(), &command), 0);
    cxidv_cmdq_ring(target.get());
    const c_event event = take(arrivals, C_EVENT_UNLINK);
    EXPECT_EQ(event.tgt_long.buffer_id, 9u);
    EXPECT_EQ(cxidv_event_return_code(&event), code);
  }
}

}  // namespace
}  // namespace on_model
