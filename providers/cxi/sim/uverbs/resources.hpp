// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What the driver makes on the device, each with its memory and its account: event queues, command
// queues, portal entries, mapped memory. Making one either succeeds whole or leaves nothing behind.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "uverbs/arena.hpp"
#include "uverbs/lni.hpp"
#include "uverbs/notifier.hpp"

namespace sim::uverbs {

class Qp;

class EventQueue {
 public:
  struct Spec {
    uint32_t flags = 0;  // enum cxi_abi_eq_flags
    uint32_t slots = 0;  // of the ring, the status included; rounded up to pages
    uint32_t reserve = 0;
    unsigned status_count = 0, status_base = 0, status_delta = 0;
  };
  static nic::Made<std::unique_ptr<EventQueue>> make(std::shared_ptr<Lni> lni, Arena& arena,
                                                     const Spec& spec);
  ~EventQueue();

  Lni& lni() { return *lni_; }
  unsigned eqn() const { return eqn_; }
  uint32_t flags() const { return flags_; }
  uint32_t reserve() const { return reserve_; }
  // Of the ring; of the smaller one while the NIC switches to another.
  uint32_t slots() const;
  cxi_abi_eq_info info(uint32_t handle) const;
  // Adds to (or takes from) the slots that network events cannot use. ENOMEM when they are not
  // there.
  int change_reserve(int delta);
  // A new ring of `slots`, in which the NIC goes on after its EQ_SWITCH event; the program has
  // moved to it when it completes. EINVAL: a switch is under way already, or none is.
  int begin_resize(Arena& arena, uint32_t slots, cxi_abi_eq_info* info);
  int complete_resize();
  bool resizing() const { return next_ring_.length != 0; }

  Notifier notifier;
  bool serves_cq = false;  // which reads everything that comes

 private:
  EventQueue(std::shared_ptr<Lni> lni) : lni_(std::move(lni)) {}

  std::shared_ptr<Lni> lni_;
  Charge charge_;
  PageRange ring_, next_ring_, sw_state_;
  unsigned eqn_ = 0;
  uint32_t flags_ = 0, reserve_ = 0;
};

class CommandQueue {
 public:
  struct Spec {
    bool transmit = true;
    bool triggered = false;
    uint32_t slots = 0;  // rounded up to a power of two of pages
    unsigned eqn = 0;    // for COMMAND_FAILURE
    unsigned lcid = 0;
    nic::StatusPolicy policy = nic::StatusPolicy::always;
    unsigned stat_pool = 0;
  };
  static nic::Made<std::unique_ptr<CommandQueue>> make(std::shared_ptr<Lni> lni, Arena& arena,
                                                       const Spec& spec);
  ~CommandQueue();

  unsigned index() const { return index_; }
  cxi_abi_cmdq_info info(uint32_t handle) const;
  // Whether every command that the program has rung for has been fetched.
  bool drained() const;

  Qp* qp = nullptr;  // whose it is, if a queue pair's

 private:
  CommandQueue(std::shared_ptr<Lni> lni) : lni_(std::move(lni)) {}

  std::shared_ptr<Lni> lni_;
  Charge charge_;
  PageRange ring_, launch_;
  unsigned index_ = 0;
  uint32_t slots_ = 0;
  unsigned lcid_ = 0;
  bool made_ = false;
};

class PortalEntry;

// List entries kept for a portal entry beside those it was made with.
class KeptEntries {
 public:
  KeptEntries() = default;
  KeptEntries(PortalEntry& entry, uint32_t count, Charge charge);
  KeptEntries(KeptEntries&& other) noexcept { *this = std::move(other); }
  KeptEntries& operator=(KeptEntries&& other) noexcept;
  ~KeptEntries();

 private:
  PortalEntry* entry_ = nullptr;
  uint32_t count_ = 0;
  Charge charge_;
};

class PortalEntry {
 public:
  static nic::Made<std::unique_ptr<PortalEntry>> make(std::shared_ptr<Lni> lni,
                                                      const nic::PteConfig& config,
                                                      uint32_t list_entries);
  ~PortalEntry();

  unsigned number() const { return number_; }
  uint32_t list_entries() const { return list_entries_; }
  bool mapped() const { return !portals_.empty() || multicast_; }
  // Further list entries; ENOSPC changes nothing.
  nic::Made<KeptEntries> keep_entries(uint32_t count);
  int map(uint16_t vni, unsigned pid, unsigned index);
  int map_multicast(uint16_t vni, uint32_t mcast);
  int unmap(uint16_t vni, unsigned pid, unsigned index);  // EINVAL: it is not mapped there
  int unmap_multicast();
  // Numbers for list entries that the driver hands out; 0 when all are taken.
  uint16_t take_buffer_id();
  void drop_buffer_id(uint16_t id) { buffer_ids_.erase(id); }

 private:
  friend class KeptEntries;
  nic::Made<Charge> charge_entries(uint32_t count);
  struct Portal {
    uint16_t vni;
    unsigned pid, index;
    bool operator==(const Portal&) const = default;
  };
  PortalEntry(std::shared_ptr<Lni> lni) : lni_(std::move(lni)) {}

  std::shared_ptr<Lni> lni_;
  Charge charge_, entries_;
  unsigned element_ = 0;
  unsigned number_ = 0;
  uint32_t list_entries_ = 0;
  std::vector<Portal> portals_;
  std::set<uint16_t> buffer_ids_;
  uint16_t next_buffer_id_ = 1;
  bool multicast_ = false;
};

class CountingEvent {
 public:
  // `writeback_va` is in `memory`, or 0.
  static nic::Made<std::unique_ptr<CountingEvent>> make(std::shared_ptr<Lni> lni,
                                                        std::shared_ptr<nic::GuestMemory> memory,
                                                        uint64_t writeback_va);
  ~CountingEvent();

  unsigned number() const { return number_; }
  nic::Device& device() { return lni_->device(); }
  const Lni& lni() const { return *lni_; }

 private:
  CountingEvent(std::shared_ptr<Lni> lni) : lni_(std::move(lni)) {}

  std::shared_ptr<Lni> lni_;
  Charge charge_;
  unsigned number_ = 0;
};

class MemoryMap {
 public:
  // Of a process or a file; `va` is as its memory counts.
  static nic::Made<std::unique_ptr<MemoryMap>> of_memory(std::shared_ptr<Lni> lni,
                                                         std::shared_ptr<nic::GuestMemory> memory,
                                                         uint64_t va, uint64_t len, bool nic_reads,
                                                         bool nic_writes);
  static nic::Made<std::unique_ptr<MemoryMap>> of_pages(std::shared_ptr<Lni> lni,
                                                        nic::SharedPages pages);
  ~MemoryMap();

  uint64_t iova() const { return mapping_.iova; }
  unsigned lac() const { return mapping_.lac; }
  uint64_t va() const { return va_; }
  uint64_t length() const { return length_; }

 private:
  static nic::Made<std::unique_ptr<MemoryMap>> keep(std::shared_ptr<Lni> lni,
                                                    const nic::Mapping& mapping, uint64_t va,
                                                    uint64_t len);
  MemoryMap(std::shared_ptr<Lni> lni, const nic::Mapping& mapping, uint64_t va, uint64_t len)
      : lni_(std::move(lni)), mapping_(mapping), va_(va), length_(len) {}

  std::shared_ptr<Lni> lni_;
  nic::Mapping mapping_;
  uint64_t va_, length_;
};

}  // namespace sim::uverbs
