// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The NIC as its driver sees it: resources are made and taken back here, commands and doorbells
// come through shared memory, and step() makes the NIC work. One lock, the caller's, guards a
// device and all devices of its fabric; no function blocks.
//
// Errors are positive errno values (0: done), as a driver would report them: EINVAL, ENOSPC, EBUSY
// ...
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "nic/ports.hpp"

namespace sim::fabric {
class Fabric;
}

namespace sim::nic {

template <class T>
struct [[nodiscard]] Made {  // a value, or the errno that says why there is none
  T value{};
  int error = 0;
  explicit operator bool() const { return error == 0; }
};

struct DeviceConfig {
  uint32_t nid = 0;
  unsigned pid_bits = 9;
  uint32_t cassini_version = 0x21;
  bool drop_count_counts_trigger = true;  // Cassini 2 counts the message that disabled the entry
  bool rendezvous_get = true;             // the NIC fetches the rest of a rendezvous itself
  uint64_t iova_seed = 1;  // address contexts get bases derived from it, never the VA
  uint64_t give_up_ns =
      30'000'000'000;  // a peer that has not answered for so long is UNDELIVERABLE
};

// Entries for triggered operations, which are not shared: those that all groups of one owner have
// together (behaviour 7.4).
struct TriggeredEntries {
  unsigned most = 0, in_use = 0;
};

struct EqConfig {
  SharedPages ring;      // slot 0 is the status
  SharedPages sw_state;  // 8 bytes
  bool initiator_long = false;
  bool target_long = false;
  bool drop_status_disable = false;
  bool timestamp_events = false;
  bool combining_disable = false;
  unsigned reserved_slots = 0;
  struct {
    unsigned count = 0, base = 0, delta = 0;
  } status;
};

enum class StatusPolicy { always, high_freq_empty, low_freq_empty, low_freq };

struct CmdqConfig {
  bool transmit = true;
  bool triggered = false;
  bool ethernet = false;
  SharedPages ring;    // slots of 64 bytes; slot 0 holds the status word
  SharedPages launch;  // the page whose first 8 bytes are the write pointer
  unsigned eqn = 0;    // for COMMAND_FAILURE; 0: none
  unsigned lcid = 0;
  StatusPolicy policy = StatusPolicy::always;
  unsigned stat_pool = 0;
};

struct PteConfig {
  unsigned eqn = 0;                 // 0: none
  unsigned list_entries = 0;        // that are kept for it; further ones are those kept for nobody
  std::optional<unsigned> element;  // of the four that process lists; in turn, if it is not told
  bool matching = false;
  bool flow_control = false;
  bool long_events = false;
  bool event_match = false;
  bool logical = false;
  bool space_check = false;
  bool lossless = false;
  bool clear_remote_offset = false;
  bool restricted_unicast_lm = false;
  bool align_lm = false;
  bool sw_hw_state_change = false;
  bool signal_invalid = false, signal_underflow = false, signal_overflow = false,
       signal_inexact = false;
};

enum class PteState { reset, disabled, enabled, software_managed, ethernet };

struct PteStatus {
  PteState state;
  uint32_t drop_count;
  unsigned les_allocated, les_max;
};

// An entry that the driver appends itself (a guard), with the fields of the append command.
struct ListEntry {
  unsigned list = 0;  // enum c_ptl_list
  unsigned buffer_id = 0;
  unsigned lac = 0;
  uint64_t start = 0, length = 0;
  uint64_t match_bits = 0, ignore_bits = 0;
  uint32_t match_id = 0xffffffff;
  bool op_put = false, op_get = false, use_once = false, manage_local = false, no_truncate = false;
  bool event_link_disable = true, event_unlink_disable = true, event_comm_disable = false,
       event_success_disable = false, unexpected_hdr_disable = false;
};

struct Mapping {  // a memory descriptor
  unsigned id = 0;
  unsigned lac = 0;
  uint64_t iova = 0;  // of the first byte asked for; 56 bits, the LAC in the top three
};

class Device {
 public:
  virtual ~Device() = default;

  static std::unique_ptr<Device> make(const DeviceConfig& config, fabric::Fabric& fabric,
                                      Clock& clock, Trace& trace, Interrupts& interrupts);

  virtual const DeviceConfig& config() const = 0;

  // Resource groups (1..255) own address contexts and may name only their own EQs, CTs and PTEs.
  // Triggered operations of the group take theirs from `triggered`; null: the whole device's.
  virtual Made<unsigned> alloc_rgid(std::shared_ptr<TriggeredEntries> triggered) = 0;
  Made<unsigned> alloc_rgid() { return alloc_rgid(nullptr); }
  virtual void free_rgid(unsigned rgid) = 0;  // everything in it has been destroyed before

  // Communication profiles: an LCID of a resource group stands for a VNI and a traffic class.
  virtual int set_cp(unsigned rgid, unsigned lcid, uint16_t vni, unsigned tc, unsigned tc_type) = 0;
  virtual void clear_cp(unsigned rgid, unsigned lcid) = 0;

  // Memory. Rights are those of the NIC. unmap waits for nothing: accesses are whole within a step.
  virtual Made<Mapping> map_memory(unsigned rgid, std::shared_ptr<GuestMemory> memory, uint64_t va,
                                   uint64_t len, bool nic_reads, bool nic_writes) = 0;
  virtual Made<Mapping> map_pages(unsigned rgid, SharedPages pages) = 0;
  virtual void unmap_memory(unsigned rgid, unsigned id) = 0;

  virtual Made<unsigned> create_eq(unsigned rgid, const EqConfig& config) = 0;
  virtual void destroy_eq(unsigned eqn) = 0;
  // Changes the number of slots that network events cannot take. ENOSPC: the ring is too small.
  virtual Made<unsigned> adjust_eq_reserve(unsigned eqn, int delta) = 0;
  // Behave as if an event had been written now: notify if armed.
  virtual void poke_eq(unsigned eqn) = 0;
  // Tell of every event that an armed queue gets, not only of the first for each value.
  virtual void tell_every_event(unsigned eqn, bool every) = 0;
  // An event written to eqn counts as one written to `wakes` too, when it comes to notification
  // (the send queue of a QP wakes the completion queue of its receives). Pairs are counted: each
  // add needs a remove, except that destroying either queue forgets the pair.
  virtual int add_eq_wake(unsigned eqn, unsigned wakes) = 0;
  virtual void remove_eq_wake(unsigned eqn, unsigned wakes) = 0;
  virtual int begin_eq_resize(unsigned eqn, SharedPages ring) = 0;
  virtual int complete_eq_resize(unsigned eqn) = 0;

  virtual Made<unsigned> create_cmdq(unsigned rgid, const CmdqConfig& config) = 0;  // driver index
  // Stop: fetch no further command; return when what was fetched has been acknowledged or given up.
  virtual void stop_cmdq(unsigned index) = 0;
  virtual void restart_cmdq(unsigned index) = 0;  // pointers back to 4, status rewritten
  virtual void destroy_cmdq(unsigned index) = 0;

  virtual Made<unsigned> create_pte(unsigned rgid, const PteConfig& config) = 0;
  virtual void destroy_pte(unsigned pte) = 0;
  // Keeps more list entries for it, or fewer.
  virtual void keep_entries(unsigned pte, int delta) = 0;
  virtual int set_pte_state(unsigned pte, PteState state, uint32_t drop_count) = 0;
  virtual Made<PteStatus> query_pte(unsigned pte) = 0;
  // The Unexpected list's offsets, oldest first; returns how many there are.
  virtual unsigned unexpected_offsets(unsigned pte, std::span<uint64_t> out) = 0;
  virtual int append(unsigned pte, const ListEntry& entry) = 0;
  virtual void reset_lists(unsigned pte) = 0;  // entries go without events
  virtual int invalidate_le(unsigned pte, unsigned list, unsigned buffer_id) = 0;
  virtual int map_portal(unsigned pte, uint16_t vni, unsigned pid, unsigned index) = 0;
  virtual int map_multicast(unsigned pte, uint16_t vni, uint32_t mcast) = 0;
  virtual void unmap_portal(uint16_t vni, unsigned pid, unsigned index) = 0;
  virtual void unmap_multicast(unsigned pte) = 0;

  virtual Made<unsigned> create_ct(unsigned rgid, std::shared_ptr<GuestMemory> memory,
                                   uint64_t writeback_va) = 0;
  virtual void destroy_ct(unsigned ct) = 0;
  virtual int add_ct(unsigned ct, uint64_t success, unsigned failure) = 0;
  virtual int set_ct(unsigned ct, std::optional<uint64_t> success,
                     std::optional<unsigned> failure) = 0;
  struct CtValue {
    uint64_t success;
    unsigned failure;
  };
  virtual Made<CtValue> read_ct(unsigned ct) = 0;

  // Control and status registers, words of 64 bits by offset in the CSR aperture. EINVAL:
  // misaligned, or no register is there; EACCES: software cannot change any bit of the word.
  virtual Made<uint64_t> read_csr(uint32_t offset) = 0;
  virtual int write_csr(uint32_t offset, uint64_t value) = 0;
  virtual int check_csr_write(uint32_t offset) = 0;
  virtual bool is_public_csr(uint32_t offset) = 0;  // every program may read it

  virtual void set_link(bool up) = 0;
  virtual bool link_up() const = 0;

  // One pass over active queues, events and packets. Returns whether anything was done. Bounded
  // work.
  virtual bool step() = 0;
  // The monotonic time of the next thing that is due without any command (a combining timer, a
  // retry time-out), or nothing.
  virtual std::optional<uint64_t> next_due_ns() const = 0;
  // Look at every queue at the next step, also those that have been idle for long.
  virtual void wake() = 0;
};

}  // namespace sim::nic
