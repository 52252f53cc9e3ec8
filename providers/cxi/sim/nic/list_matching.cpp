// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/list_matching.hpp"

#include <algorithm>

#include "nic/addressing.hpp"

namespace sim::nic {

bool EntryPool::may_take(const EntryAccount& account) const {
  return account.in_use < account.kept || kept_ + beyond_ < most_;
}

uint32_t EntryPool::take(EntryAccount& account) {
  if (!may_take(account)) return no_entry;
  if (account.in_use++ >= account.kept) beyond_++;
  in_use_++;
  if (free_.empty()) {
    nodes_.emplace_back();
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  const uint32_t node = free_.back();
  free_.pop_back();
  nodes_[node] = ListNode{};
  return node;
}

void EntryPool::give(uint32_t node, EntryAccount& account) {
  free_.push_back(node);
  if (account.in_use-- > account.kept) beyond_--;
  in_use_--;
}

void EntryPool::keep(EntryAccount& account, int delta) {
  beyond_ -= account.beyond();
  kept_ += static_cast<unsigned>(delta);
  account.kept += static_cast<unsigned>(delta);
  beyond_ += account.beyond();
}

void EntryPool::push_back(EntryList& list, uint32_t node) {
  ListNode& n = nodes_[node];
  n.prev = list.tail;
  n.next = no_entry;
  if (list.tail == no_entry)
    list.head = node;
  else
    nodes_[list.tail].next = node;
  list.tail = node;
}

void EntryPool::unlink(EntryList& list, uint32_t node) {
  const ListNode& n = nodes_[node];
  (n.prev == no_entry ? list.head : nodes_[n.prev].next) = n.next;
  (n.next == no_entry ? list.tail : nodes_[n.next].prev) = n.prev;
}

void EntryPool::clear(EntryList& list, EntryAccount& account) {
  for (uint32_t node = list.head; node != no_entry;) {
    const uint32_t next = nodes_[node].next;
    give(node, account);
    node = next;
  }
  list = {};
}

uint64_t space_left(const ListNode& entry, uint64_t remote_offset) {
  const uint64_t offset = entry.manage_local ? entry.local_offset : remote_offset;
  return offset >= entry.length ? 0 : entry.length - offset;
}

bool fits(const ListNode& entry, uint64_t remote_offset, uint64_t length) {
  // An offset past the end is no place, not even for nothing.
  const uint64_t offset = entry.manage_local ? entry.local_offset : remote_offset;
  return offset <= entry.length && length <= entry.length - offset;
}

uint64_t next_place(const ListNode& entry, uint64_t taken, bool aligned) {
  constexpr uint64_t line = 64;
  const uint64_t next = entry.local_offset + taken;
  const uint64_t past = (entry.start + next) % line;
  return !aligned || past == 0 ? next : std::min(entry.length, next + line - past);
}

bool accepts(const ListNode& entry, const MatchQuery& query) {
  if (query.matching) {
    if ((query.match_bits ^ entry.match_bits) & ~entry.ignore_bits) return false;
    if (!match_id_accepts(entry.match_id, query.initiator, query.pid_bits, query.logical))
      return false;
    return !entry.no_truncate || fits(entry, query.remote_offset, query.length);
  }
  return !query.space_check || !entry.no_truncate || fits(entry, query.remote_offset, query.length);
}

uint32_t find_match(const EntryPool& pool, const EntryList& list, const MatchQuery& query,
                    unsigned* attempts) {
  unsigned looked_at = 0;
  uint32_t node = list.head;
  for (; node != no_entry; node = query.matching ? pool[node].next : no_entry) {
    looked_at++;
    if (accepts(pool[node], query)) break;
  }
  if (attempts) *attempts += looked_at;
  return node;
}

uint32_t find_buffer(const EntryPool& pool, const EntryList& list, unsigned buffer_id) {
  for (uint32_t node = list.head; node != no_entry; node = pool[node].next)
    if (pool[node].buffer_id == buffer_id) return node;
  return no_entry;
}

bool wants(const ListNode& entry, const ListNode& message, unsigned pid_bits, bool logical,
           bool matching) {
  if (!matching) return true;
  if ((message.match_bits ^ entry.match_bits) & ~entry.ignore_bits) return false;
  if (!match_id_accepts(entry.match_id, message.match_id, pid_bits, logical)) return false;
  return !entry.no_truncate || fits(entry, message.place_offset, message.rlength);
}

}  // namespace sim::nic
