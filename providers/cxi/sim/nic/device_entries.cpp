// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Portal entries, their lists and counters, as the driver makes and changes them.
#include <algorithm>
#include <cerrno>

#include "ethernet/cassini_user_defs.h"
#include "nic/addressing.hpp"
#include "nic/engine.hpp"
#include "nic/trace_text.hpp"

namespace sim::nic {
namespace {

constexpr auto cached_entries = 256;

bool uses_cache(const std::unique_ptr<PortalEntry>& entry) {
  return entry && !entry->config.matching && !entry->config.space_check;
}

}  // namespace

Made<unsigned> Nic::create_pte(unsigned rgid, const PteConfig& config) {
  if (rgid >= groups_.size() || !groups_[rgid].used) return {0, EINVAL};
  if (config.eqn != 0 && (!eq(config.eqn) || eq(config.eqn)->rgid() != rgid)) return {0, EINVAL};
  unsigned n = 1;
  while (n < ptes_.size() && ptes_[n])
    n++;
  if (n >= C_NUM_PTLTES) return {0, ENOSPC};
  auto entry = std::make_unique<PortalEntry>();
  entry->index = n;
  entry->rgid = rgid;
  entry->pool = config.element.value_or(next_pool_++) % pools_.size();
  pools_[entry->pool].keep(entry->account, static_cast<int>(config.list_entries));
  entry->config = config;
  // Entries that match nothing need not look at lengths while a cache holds their buffers; it has
  // room for so many of them, the next ones do look (behaviour 5.1).
  if (!config.matching && std::ranges::count_if(ptes_, uses_cache) >= cached_entries)
    entry->config.space_check = true;
  if (n >= ptes_.size()) ptes_.resize(n + 1);
  ptes_[n] = std::move(entry);
  return {n, 0};
}

void Nic::destroy_pte(unsigned n) {
  PortalEntry* entry = pte(n);
  if (!entry) return;
  unmap_multicast(n);
  table_.unmap_all(n);
  reset_lists(n);
  unpark(n);  // nothing is mapped there any more, which is what their senders are told
  pool(*entry).keep(entry->account, -static_cast<int>(entry->account.kept));
  ptes_[n].reset();
}

void Nic::keep_entries(unsigned n, int delta) {
  if (PortalEntry* entry = pte(n)) pool(*entry).keep(entry->account, delta);
}

int Nic::set_pte_state(unsigned n, PteState state, uint32_t drop_count) {
  PortalEntry* entry = pte(n);
  if (!entry || state == PteState::ethernet) return EINVAL;
  if (state == entry->state) return 0;
  if (state == PteState::software_managed && entry->state != PteState::disabled) return EINVAL;
  if (set_state(*entry, state, drop_count) != C_RC_OK) return EAGAIN;
  if (state == PteState::reset) reset_lists(n);
  say("portal entry {} is {}", n, name_of_state(state));
  if (parked_packets_ != 0) unpark(n);
  return 0;
}

Made<PteStatus> Nic::query_pte(unsigned n) {
  PortalEntry* entry = pte(n);
  if (!entry) return {{}, EINVAL};
  return {{entry->state, entry->drop_count, pool(*entry).in_use(), pool(*entry).most()}, 0};
}

unsigned Nic::unexpected_offsets(unsigned n, std::span<uint64_t> out) {
  PortalEntry* entry = pte(n);
  if (!entry) return 0;
  const EntryPool& nodes = pool(*entry);
  unsigned count = 0;
  for (uint32_t at = entry->lists[C_PTL_LIST_UNEXPECTED].head; at != no_entry;
       at = nodes[at].next) {
    if (count < out.size()) out[count] = nodes[at].remote_offset;
    count++;
  }
  return count;
}

int Nic::append(unsigned n, const ListEntry& e) {
  PortalEntry* entry = pte(n);
  if (!entry || e.list >= C_PTL_LIST_UNEXPECTED || e.lac >= C_NUM_LACS || e.buffer_id > 0xffff)
    return EINVAL;
  if (!pool(*entry).may_take(entry->account)) return ENOSPC;
  ListNode node;
  node.list = static_cast<uint8_t>(e.list);
  node.buffer_id = static_cast<uint16_t>(e.buffer_id);
  node.lac = static_cast<uint8_t>(e.lac);
  node.start = e.start;
  node.length = e.length;
  node.match_bits = e.match_bits;
  node.ignore_bits = e.ignore_bits;
  node.match_id = e.match_id;
  node.op_put = e.op_put;
  node.op_get = e.op_get;
  node.use_once = e.use_once;
  node.manage_local = e.manage_local;
  node.no_truncate = e.no_truncate;
  node.event_link_disable = e.event_link_disable;
  node.event_unlink_disable = e.event_unlink_disable;
  node.event_comm_disable = e.event_comm_disable;
  node.event_success_disable = e.event_success_disable;
  node.unexpected_hdr_disable = e.unexpected_hdr_disable;
  append_entry(*entry, node, true);
  return 0;
}

void Nic::reset_lists(unsigned n) {
  PortalEntry* entry = pte(n);
  if (!entry) return;
  now_ns_ = clock_.monotonic_ns();
  cancel_deliveries(n, std::nullopt, std::nullopt, false);
  forget_rendezvous(n);
  for (auto& list : entry->lists)
    pool(*entry).clear(list, entry->account);
  entry->appends_dropped = false;
}

int Nic::invalidate_le(unsigned n, unsigned list, unsigned buffer_id) {
  if (!pte(n) || list >= C_PTL_LIST_UNEXPECTED || buffer_id > 0xffff) return EINVAL;
  now_ns_ = clock_.monotonic_ns();
  cancel_deliveries(n, list, buffer_id, true);
  if (list == C_PTL_LIST_PRIORITY) cancel_rendezvous(n, buffer_id);
  return 0;
}

int Nic::map_portal(unsigned n, uint16_t vni, unsigned pid, unsigned index) {
  PortalEntry* entry = pte(n);
  const unsigned granule = 1u << (C_DFA_ENDPOINT_BITS - config_.pid_bits);
  if (!entry || vni == 0 || pid >= (1u << config_.pid_bits) - 1 || index >= granule) return EINVAL;
  return table_.map(vni, endpoint_of(pid, index, config_.pid_bits), n);
}

int Nic::map_multicast(unsigned n, uint16_t vni, uint32_t mcast) {
  PortalEntry* entry = pte(n);
  if (!entry || vni == 0 || mcast >= 1u << 18 || entry->multicast) return EINVAL;
  if (const int error = table_.map_multicast(vni, mcast, n)) return error;
  entry->multicast = {vni, mcast};
  return 0;
}

void Nic::unmap_portal(uint16_t vni, unsigned pid, unsigned index) {
  // What waited there finds itself at no portal entry now.
  if (const auto n = table_.unmap(vni, endpoint_of(pid, index, config_.pid_bits))) unpark(*n);
}

void Nic::unmap_multicast(unsigned n) {
  PortalEntry* entry = pte(n);
  if (!entry || !entry->multicast) return;
  table_.unmap_multicast(entry->multicast->first, entry->multicast->second);
  entry->multicast.reset();
}

Made<unsigned> Nic::create_ct(unsigned rgid, std::shared_ptr<GuestMemory> memory,
                              uint64_t writeback_va) {
  if (rgid >= groups_.size() || !groups_[rgid].used || writeback_va % 8 != 0) return {0, EINVAL};
  unsigned n = 1;
  while (n < cts_.size() && cts_[n])
    n++;
  if (n >= C_NUM_CTS) return {0, ENOSPC};
  if (n >= cts_.size()) cts_.resize(n + 1);
  cts_[n] = std::make_unique<Counter>(rgid, std::move(memory), writeback_va);
  return {n, 0};
}

void Nic::destroy_ct(unsigned n) {
  Counter* counter = ct(n);
  if (!counter) return;
  unsigned& entries = groups_[counter->rgid()].triggered->in_use;
  entries -= static_cast<unsigned>(counter->cancel());
  entries -=
      static_cast<unsigned>(std::erase_if(due_, [&](const auto& due) { return due.first == n; }));
  cts_[n].reset();
}

int Nic::add_ct(unsigned n, uint64_t success, unsigned failure) {
  Counter* counter = ct(n);
  if (!counter || success > CT_SUCCESS_MASK || failure > CT_FAILURE_MASK) return EINVAL;
  counter->add(success, failure);
  counter_changed(n);
  return 0;
}

int Nic::set_ct(unsigned n, std::optional<uint64_t> success, std::optional<unsigned> failure) {
  Counter* counter = ct(n);
  if (!counter || success.value_or(0) > CT_SUCCESS_MASK || failure.value_or(0) > CT_FAILURE_MASK)
    return EINVAL;
  counter->set(success, failure);
  counter->write_back();
  counter_changed(n);
  return 0;
}

Made<Device::CtValue> Nic::read_ct(unsigned n) {
  const Counter* counter = ct(n);
  if (!counter) return {{}, EINVAL};
  return {{counter->success(), counter->failure()}, 0};
}

}  // namespace sim::nic
