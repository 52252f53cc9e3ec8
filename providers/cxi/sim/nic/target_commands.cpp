// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Commands of target queues: APPEND, UNLINK, SEARCH, SEARCH_AND_DELETE, SETSTATE
// (behaviour 5.2, 5.5 to 5.8). Each is whole with respect to arriving messages.
#include <algorithm>

#include "ethernet/cassini_user_defs.h"
#include "nic/engine.hpp"
#include "nic/trace_text.hpp"

namespace sim::nic {
namespace {

constexpr unsigned commands_per_pass = 16;
constexpr uint32_t any_drop_count = 0xffffff;

PteState state_of(unsigned ptlte_state) {
  switch (ptlte_state) {
    case C_PTLTE_RESET:
      return PteState::reset;
    case C_PTLTE_ENABLED:
      return PteState::enabled;
    case C_PTLTE_SOFTWARE_MANAGED:
      return PteState::software_managed;
    default:
      return PteState::disabled;
  }
}

uint8_t overflow_event(unsigned opcode) {
  switch (opcode) {
    case C_CMD_GET:
      return C_EVENT_GET_OVERFLOW;
    case C_CMD_ATOMIC:
      return C_EVENT_ATOMIC_OVERFLOW;
    case C_CMD_FETCHING_ATOMIC:
      return C_EVENT_FETCH_ATOMIC_OVERFLOW;
    default:
      return C_EVENT_PUT_OVERFLOW;
  }
}

}  // namespace

bool Nic::run_target(CommandQueue& queue) {
  bool any = false;
  for (unsigned i = 0; i < commands_per_pass && queue.ring.pending(); i++) {
    any = true;
    const auto fetched = queue.ring.fetch(command_);
    const auto code = static_cast<uint8_t>(command_[0]);
    int rc = fetched.return_code;
    // A target queue knows no alignment error: its commands have one size.
    if (rc != C_RC_OK || fetched.bytes != C_CQ_CMD_SIZE) {
      rc = C_RC_CMD_INVALID_ARG;
    } else {
      const auto parsed = parse_target(std::span(command_).first<C_CQ_CMD_SIZE>());
      rc = parsed.return_code == C_RC_OK ? execute(queue, parsed.command) : parsed.return_code;
    }
    if (rc != C_RC_OK) {
      fail_queue(queue, rc, code);
      break;
    }
    stats_.commands.target_good++;
    stats_.commands.target[queue.config.stat_pool % stats_.commands.target.size()]++;
    queue.ring.advance(fetched.bytes);
  }
  return any;
}

int Nic::execute(CommandQueue& queue, const TargetCommand& command) {
  if (command.opcode == C_CMD_CQ_NOOP) return C_RC_OK;
  PortalEntry* entry = pte(command.pte);
  if (!entry || entry->rgid != queue.rgid) return C_RC_PERM_VIOLATION;
  const ListNode& node = command.entry;
  switch (command.opcode) {
    case C_CMD_TGT_APPEND:
      if (node.ct != 0 && (!ct(node.ct) || ct(node.ct)->rgid() != queue.rgid))
        return C_RC_PERM_VIOLATION;
      if (tracing())
        say("queue {}: APPEND pte {} {} buffer {} length {} match {:#x} ignore {:#x} id {:#010x}",
            queue.index, command.pte, name_of_list(node.list), node.buffer_id, node.length,
            node.match_bits, node.ignore_bits, node.match_id);
      append_entry(*entry, node, command.restart_seq);
      return C_RC_OK;
    case C_CMD_TGT_UNLINK:
      say("queue {}: UNLINK pte {} {} buffer {}", queue.index, command.pte, name_of_list(node.list),
          node.buffer_id);
      unlink_entry(*entry, node);
      return C_RC_OK;
    case C_CMD_TGT_SEARCH:
    case C_CMD_TGT_SEARCH_AND_DELETE:
      say("queue {}: SEARCH{} pte {} match {:#x} ignore {:#x}", queue.index,
          command.opcode == C_CMD_TGT_SEARCH ? "" : "_AND_DELETE", command.pte, node.match_bits,
          node.ignore_bits);
      search(*entry, node, command.opcode == C_CMD_TGT_SEARCH_AND_DELETE);
      return C_RC_OK;
    default:
      break;
  }
  const PteState wanted = state_of(command.state);
  const int rc = set_state(*entry, wanted, command.drop_count);
  auto& l = stats_.lists;
  l.set_states++;
  l.set_states_good += rc == C_RC_OK;
  l.set_state_no_match += rc == C_RC_NO_MATCH;
  (rc == C_RC_OK ? l.good : l.bad)++;
  if (rc == C_RC_OK && wanted == PteState::reset) reset_lists(entry->index);
  say("queue {}: SETSTATE pte {} {}: {}", queue.index, command.pte, name_of_state(wanted),
      name_of_return_code(static_cast<unsigned>(rc)));
  TargetEvent event;
  event.type = C_EVENT_STATE_CHANGE;
  event.return_code = static_cast<uint8_t>(rc);
  event.initiator = state_change_fields(static_cast<unsigned>(entry->state), 0, false);
  post_target(*entry, event, nullptr);
  if (parked_packets_ != 0) unpark(entry->index);
  return C_RC_OK;
}

int Nic::set_state(PortalEntry& entry, PteState state, uint32_t drop_count) {
  const bool from_off = entry.state == PteState::disabled || entry.state == PteState::reset;
  const bool to_on = state == PteState::enabled || state == PteState::software_managed;
  if (from_off && to_on && drop_count != any_drop_count && drop_count != entry.drop_count)
    return C_RC_NO_MATCH;
  if (entry.state != state) entry.drop_count = 0;
  entry.state = state;
  return C_RC_OK;
}

void Nic::link_result(PortalEntry& entry, const ListNode& node, int return_code) {
  auto& l = stats_.lists;
  l.appends_good += return_code == C_RC_OK;
  l.no_space_append += return_code == C_RC_NO_SPACE;
  l.software_managed += return_code == C_RC_PTLTE_SW_MANAGED;
  (return_code == C_RC_OK ? l.good : l.bad)++;
  if (return_code == C_RC_OK && node.event_link_disable) return;
  TargetEvent event;
  event.type = C_EVENT_LINK;
  event.return_code = static_cast<uint8_t>(return_code);
  event.buffer_id = node.buffer_id;
  event.ptl_list = node.list;
  event.lpe_stat_1 = static_cast<uint16_t>(pool(entry).in_use());
  event.lpe_stat_2 = static_cast<uint16_t>(pool(entry).most());
  post_target(entry, event, nullptr);
}

void Nic::append_entry(PortalEntry& entry, const ListNode& node, bool restart_seq) {
  stats_.lists.appends++;
  if (entry.state == PteState::software_managed && node.list != C_PTL_LIST_REQUEST)
    return link_result(entry, node, C_RC_PTLTE_SW_MANAGED);
  if (entry.appends_dropped && !restart_seq) return link_result(entry, node, C_RC_NO_SPACE);
  entry.appends_dropped = false;
  EntryPool& nodes = pool(entry);
  ListNode asked = node;
  asked.manage_local |= node.list == C_PTL_LIST_REQUEST;  // by nature (behaviour 5.9)
  if (node.list == C_PTL_LIST_PRIORITY) {
    EntryList& unexpected = entry.lists[C_PTL_LIST_UNEXPECTED];
    count_search(entry, node);
    for (uint32_t at = unexpected.head; at != no_entry;) {
      const uint32_t next = nodes[at].next;
      if (wants(asked, nodes[at], config_.pid_bits, entry.config.logical, entry.config.matching)) {
        const ListNode message = nodes[at];
        nodes.unlink(unexpected, at);
        give_entry(entry, at);
        if (claim(entry, asked, message)) {  // used up before it was linked
          stats_.lists.appends_good++;
          stats_.lists.good++;
          return;
        }
      }
      at = next;
    }
  }
  const uint32_t added = take_entry(entry);
  if (added == no_entry) {
    if (node.list == C_PTL_LIST_PRIORITY && entry.state == PteState::enabled &&
        !entry.lists[C_PTL_LIST_REQUEST].empty()) {
      change_state(entry, PteState::software_managed, C_SC_SM_APPEND_FAIL);
      return link_result(entry, node, C_RC_PTLTE_SW_MANAGED);
    }
    entry.appends_dropped = true;
    return link_result(entry, node, C_RC_NO_SPACE);
  }
  nodes[added] = asked;
  nodes.push_back(entry.lists[node.list], added);
  link_result(entry, node, C_RC_OK);
  if (parked_packets_ != 0) unpark(entry.index);
}

// An entry that is being appended takes an unexpected message; true: the entry is used up by it.
bool Nic::claim(PortalEntry& entry, ListNode& node, const ListNode& message) {
  const bool rendezvous = message.opcode == C_CMD_RENDEZVOUS_PUT;
  Delivery d;
  d.pte = static_cast<uint16_t>(entry.index);
  d.rgid = static_cast<uint16_t>(entry.rgid);
  d.buffer_id = node.buffer_id;
  d.list = C_PTL_LIST_PRIORITY;
  d.lac = node.lac;
  // Where the data would have gone; only the rest of a rendezvous does.
  const uint64_t offset = message.place_offset;
  d.address = node.start + (node.manage_local ? node.local_offset : offset);
  d.space = space_left(node, offset);
  d.mlength = static_cast<uint32_t>(message.length);
  if (node.manage_local)
    node.local_offset =
        next_place(node, std::min<uint64_t>(d.space, rendezvous ? message.rlength : message.length),
                   entry.config.align_lm);
  const uint64_t left = node.manage_local ? node.length - node.local_offset : 0;
  const bool used_up =
      node.use_once || (node.manage_local && (left == 0 || left < uint64_t{node.min_free}));
  if (used_up && !node.event_unlink_disable) {
    TargetEvent event;
    event.type = C_EVENT_UNLINK;
    event.return_code = C_RC_OK;
    event.buffer_id = node.buffer_id;
    event.ptl_list = node.list;
    event.auto_unlinked = true;
    event.start = node.start;
    post_target(entry, event, nullptr);
  }
  const bool flag_unlink = used_up && node.event_unlink_disable;
  if (!node.event_comm_disable && !node.event_success_disable) {
    TargetEvent event;
    event.type = overflow_event(message.opcode);
    event.return_code = C_RC_OK;
    event.buffer_id = node.buffer_id;
    event.auto_unlinked = flag_unlink;
    post_unexpected(entry, event, message);
  }
  if (node.event_ct_overflow)
    count(entry.rgid, node.ct, true, node.event_ct_bytes ? message.length : 1);
  if (rendezvous) {
    Request& r = d.request;
    r.opcode = message.opcode;
    r.dscp = message.dscp;
    r.vni = message.vni;
    r.dfa = message.dfa;
    r.source_nid = message.source_nid;
    r.rendezvous_id = message.rendezvous_id;
    r.initiator = message.match_id;
    r.request_len = message.rlength;
    r.remote_offset = message.remote_offset;
    r.match_bits = message.match_bits;
    r.header_data = message.header_data;
    const bool get_issued = issue_rendezvous_get(d);
    stats_.lists.rendezvous_offloaded += get_issued;
    if (!node.event_comm_disable) post_rendezvous(entry, d, get_issued);
  }
  return used_up;
}

// The fields that tell of the message; type, code and whose event it is are the caller's.
void Nic::post_unexpected(PortalEntry& entry, TargetEvent event, const ListNode& message) {
  event.ptl_list = C_PTL_LIST_UNEXPECTED;
  event.rendezvous = message.opcode == C_CMD_RENDEZVOUS_PUT;
  event.rendezvous_id = message.rendezvous_id;
  event.vni = message.vni;
  event.initiator = message.match_id;
  event.match_bits = message.match_bits;
  event.header_data = message.header_data;
  event.mlength = static_cast<uint32_t>(message.length);
  event.rlength = message.rlength;
  event.start = message.start;
  post_target(entry, event, nullptr);
}

void Nic::unlink_entry(PortalEntry& entry, const ListNode& node) {
  EntryPool& nodes = pool(entry);
  EntryList& list = entry.lists[node.list];
  const uint32_t at = find_buffer(nodes, list, node.buffer_id);
  auto& l = stats_.lists;
  l.unlinks++;
  (at == no_entry ? l.unlink_not_found : l.unlinks_good)++;
  (at == no_entry ? l.bad : l.good)++;
  TargetEvent event;
  event.type = C_EVENT_UNLINK;
  event.return_code = at == no_entry ? C_RC_ENTRY_NOT_FOUND : C_RC_OK;
  event.buffer_id = node.buffer_id;
  event.ptl_list = node.list;
  if (at != no_entry) {
    event.start = nodes[at].start + nodes[at].local_offset;
    nodes.unlink(list, at);
    give_entry(entry, at);
  }
  post_target(entry, event, nullptr);
}

// A search of the unexpected messages, by an append or for its own sake.
void Nic::count_search(const PortalEntry& entry, const ListNode& node) {
  if (!entry.config.matching) return;
  const unsigned ep_bits = 32 - config_.pid_bits;
  const uint32_t ep_any = entry.config.logical ? (1u << ep_bits) - 1 : C_NID_ANY;
  auto& l = stats_.lists;
  l.any_pid += node.match_id >> ep_bits == (1u << config_.pid_bits) - 1;
  (entry.config.logical ? l.any_rank : l.any_nid) += (node.match_id & ep_any) == ep_any;
}

void Nic::search(PortalEntry& entry, const ListNode& node, bool remove) {
  EntryPool& nodes = pool(entry);
  EntryList& unexpected = entry.lists[C_PTL_LIST_UNEXPECTED];
  bool found = false;
  count_search(entry, node);
  for (uint32_t at = unexpected.head; at != no_entry && !(found && node.use_once);) {
    const uint32_t next = nodes[at].next;
    if (wants(node, nodes[at], config_.pid_bits, entry.config.logical, entry.config.matching)) {
      found = true;
      const ListNode message = nodes[at];
      TargetEvent event;
      event.type = remove ? overflow_event(message.opcode) : static_cast<uint8_t>(C_EVENT_SEARCH);
      event.return_code = C_RC_OK;
      event.buffer_id = node.buffer_id;
      post_unexpected(entry, event, message);
      if (remove) {
        nodes.unlink(unexpected, at);
        give_entry(entry, at);
      }
    }
    at = next;
  }
  auto& l = stats_.lists;
  auto& search = remove ? l.search_delete : l.search;
  search.asked++;
  (found ? search.found : search.not_found)++;
  (found ? l.good : l.bad)++;
  if (found && node.use_once) return;
  l.search_no_match++;
  TargetEvent end;
  end.type = C_EVENT_SEARCH;
  end.return_code = C_RC_NO_MATCH;
  end.buffer_id = node.buffer_id;
  end.ptl_list = C_PTL_LIST_UNEXPECTED;
  post_target(entry, end, nullptr);
}

}  // namespace sim::nic
