// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// List entries and how a message finds its own (behaviour 5.4). Entries live in one pool per
// processing element and are linked by number, so that appending and unlinking never allocates once
// a pool has grown.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace sim::nic {

constexpr uint32_t no_entry = 0xffffffff;

struct ListNode {  // a posted buffer, or the header of an unexpected message
  uint32_t next = no_entry, prev = no_entry;
  // What was appended.
  uint16_t buffer_id = 0;
  uint16_t ct = 0;
  uint8_t list = 0;
  uint8_t lac = 0;
  bool op_put = false, op_get = false;
  bool use_once = false, manage_local = false, no_truncate = false, unexpected_hdr_disable = false;
  bool event_link_disable = false, event_unlink_disable = false, event_comm_disable = false,
       event_success_disable = false;
  bool event_ct_comm = false, event_ct_overflow = false, event_ct_bytes = false;
  uint32_t match_id = 0;
  uint32_t min_free = 0;
  uint64_t start = 0, length = 0;
  uint64_t match_bits = 0, ignore_bits = 0;
  uint64_t local_offset = 0;  // of a locally managed entry
  // Of an unexpected message: match_bits, start and length (of the data in the overflow buffer) as
  // above, match_id is its initiator, and
  uint64_t header_data = 0, remote_offset = 0;
  uint64_t place_offset = 0;  // where its data wants to go; remote_offset may be meant for a get
  uint32_t rlength = 0;
  uint32_t source_nid = 0;
  uint32_t dfa = 0;
  uint16_t vni = 0;
  uint8_t opcode = 0, dscp = 0, rendezvous_id = 0;
};

struct EntryList {
  uint32_t head = no_entry, tail = no_entry;
  bool empty() const { return head == no_entry; }
};

// Who takes entries from a pool: so many are kept for him, of the rest he may take what nobody has
// taken.
struct EntryAccount {
  unsigned kept = 0, in_use = 0;
  unsigned beyond() const { return in_use > kept ? in_use - kept : 0; }
};

class EntryPool {
 public:
  explicit EntryPool(unsigned most) : most_(most) {}
  /// A node with default values, or no_entry when the pool is used up.
  uint32_t take(EntryAccount& account);
  void give(uint32_t node, EntryAccount& account);
  bool may_take(const EntryAccount& account) const;
  void keep(EntryAccount& account, int delta);
  ListNode& operator[](uint32_t node) { return nodes_[node]; }
  const ListNode& operator[](uint32_t node) const { return nodes_[node]; }
  unsigned in_use() const { return in_use_; }
  unsigned most() const { return most_; }

  void push_back(EntryList& list, uint32_t node);
  void unlink(EntryList& list, uint32_t node);
  void clear(EntryList& list, EntryAccount& account);

 private:
  std::deque<ListNode> nodes_;
  std::vector<uint32_t> free_;
  unsigned most_, in_use_ = 0;
  unsigned kept_ = 0, beyond_ = 0;  // of all accounts
};

/// What a message brings to the match.
struct MatchQuery {
  uint64_t match_bits = 0;
  uint32_t initiator = 0;
  uint64_t remote_offset = 0;
  uint32_t length = 0;
  unsigned pid_bits = 9;
  bool matching = true;  // kind of portal entry
  bool logical = false;
  bool space_check = false;
};

/// Whether the length fits behind the offset (or, locally managed, behind what is filled).
bool fits(const ListNode& entry, uint64_t remote_offset, uint64_t length);
/// Bytes from there to the end of the entry.
uint64_t space_left(const ListNode& entry, uint64_t remote_offset);

/// Where the next message goes in a locally managed entry that has taken so many bytes more;
/// aligned ones begin a cache line.
uint64_t next_place(const ListNode& entry, uint64_t taken, bool aligned);

bool accepts(const ListNode& entry, const MatchQuery& query);
/// The first entry of the list that accepts, or no_entry. Adds how many were looked at.
uint32_t find_match(const EntryPool& pool, const EntryList& list, const MatchQuery& query,
                    unsigned* attempts = nullptr);
uint32_t find_buffer(const EntryPool& pool, const EntryList& list, unsigned buffer_id);

/// The other way round: whether an unexpected message is one that the entry (or a search) asks for.
bool wants(const ListNode& entry, const ListNode& message, unsigned pid_bits, bool logical,
           bool matching);

}  // namespace sim::nic
