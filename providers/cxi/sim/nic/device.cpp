// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Resources of the NIC that have no memory of their own behind them: groups, profiles, memory,
// queues. Portal entries and counters are made in device_entries.cpp.
#include <algorithm>
#include <cerrno>

#include "ethernet/cassini_user_defs.h"
#include "nic/engine.hpp"
#include "nic/trace_text.hpp"

namespace sim::nic {
namespace {

constexpr unsigned entries_per_element = 16384;
constexpr unsigned trackers = 2048;
constexpr unsigned slot_bytes = 64;
constexpr unsigned most_reserved = 16383;
constexpr unsigned high_rate_put = 1;  // traffic class type

bool word_aligned(const SharedPages& pages, size_t bytes) {
  return pages.bytes.size() >= bytes && reinterpret_cast<uintptr_t>(pages.bytes.data()) % 8 == 0;
}

template <class T>
Made<unsigned> free_number(const std::vector<std::unique_ptr<T>>& table, unsigned first,
                           unsigned end) {
  for (unsigned n = first; n < end; n++)
    if (n >= table.size() || !table[n]) return {n, 0};
  return {0, ENOSPC};
}

template <class T>
void put(std::vector<std::unique_ptr<T>>& table, unsigned n, std::unique_ptr<T> object) {
  if (n >= table.size()) table.resize(n + 1);
  table[n] = std::move(object);
}

// DSCPs of unrestricted requests under the default QoS profile (behaviour 3.3).
uint8_t dscp_of(unsigned tc, unsigned tc_type) {
  constexpr uint8_t of_class[] = {14, 10, 6, 2};
  constexpr uint8_t restricted = 30, coll_leaf = 52;
  switch (tc_type) {
    case high_rate_put:
      return hrp_dscp;
    case 2:
      return restricted;
    case 3:
      return coll_leaf;
    default:
      return of_class[tc];
  }
}

}  // namespace

std::unique_ptr<Device> Device::make(const DeviceConfig& config, fabric::Fabric& fabric,
                                     Clock& clock, Trace& trace, Interrupts& interrupts) {
  auto nic = std::make_unique<Nic>(config, fabric, clock, trace, interrupts);
  return nic->attached() ? std::move(nic) : nullptr;
}

Nic::Nic(const DeviceConfig& config, fabric::Fabric& fabric, Clock& clock, Trace& trace,
         Interrupts& interrupts)
    : config_(config),
      fabric_(fabric),
      clock_(clock),
      trace_(trace),
      interrupts_(interrupts),
      wire_(fabric, config.nid, config.give_up_ns, stats_),
      memory_(config.iova_seed),
      groups_(C_NUM_RGIDS),
      whole_device_(std::make_shared<TriggeredEntries>(TriggeredEntries{C_NUM_TLES, 0})),
      pools_{EntryPool(entries_per_element), EntryPool(entries_per_element),
             EntryPool(entries_per_element), EntryPool(entries_per_element)},
      messages_(trackers),
      registers_(config.cassini_version, live_words()) {
  for (unsigned spt = 0; spt < trackers; spt++)
    free_spts_.push_back(static_cast<uint16_t>(spt));
  attached_ = fabric_.attach(config.nid, *this) == 0;
}

Nic::~Nic() {
  if (attached_) fabric_.detach(config_.nid);
}

Made<unsigned> Nic::alloc_rgid(std::shared_ptr<TriggeredEntries> triggered) {
  for (unsigned rgid = 1; rgid < C_NUM_RGIDS; rgid++) {
    if (groups_[rgid].used) continue;
    groups_[rgid].used = true;
    groups_[rgid].triggered = triggered ? std::move(triggered) : whole_device_;
    return {rgid, 0};
  }
  return {0, ENOSPC};
}

void Nic::free_rgid(unsigned rgid) {
  if (rgid >= groups_.size()) return;
  groups_[rgid].used = false;
  groups_[rgid].profiles = {};
  memory_.forget(rgid);
}

int Nic::set_cp(unsigned rgid, unsigned lcid, uint16_t vni, unsigned tc, unsigned tc_type) {
  if (rgid >= groups_.size() || !groups_[rgid].used || lcid >= C_COMM_PROF_PER_CQ || vni == 0 ||
      tc > 3 || tc_type > 3)
    return EINVAL;
  groups_[rgid].profiles[lcid] = {true, vni, dscp_of(tc, tc_type), tc_type == high_rate_put};
  return 0;
}

void Nic::clear_cp(unsigned rgid, unsigned lcid) {
  if (rgid < groups_.size() && lcid < C_COMM_PROF_PER_CQ) groups_[rgid].profiles[lcid] = {};
}

Made<Mapping> Nic::map_memory(unsigned rgid, std::shared_ptr<GuestMemory> memory, uint64_t va,
                              uint64_t len, bool nic_reads, bool nic_writes) {
  if (rgid >= groups_.size() || !groups_[rgid].used || !memory) return {{}, EINVAL};
  MemoryRegion region;
  region.va = va;
  region.len = len;
  region.memory = std::move(memory);
  region.readable = nic_reads;
  region.writable = nic_writes;
  return memory_.map(rgid, std::move(region));
}

Made<Mapping> Nic::map_pages(unsigned rgid, SharedPages pages) {
  if (rgid >= groups_.size() || !groups_[rgid].used) return {{}, EINVAL};
  MemoryRegion region;
  region.len = pages.bytes.size();
  region.pages = std::move(pages);
  region.readable = region.writable = true;
  return memory_.map(rgid, std::move(region));
}

void Nic::unmap_memory(unsigned rgid, unsigned id) {
  memory_.unmap(rgid, id);
}

Made<unsigned> Nic::create_eq(unsigned rgid, const EqConfig& config) {
  const size_t slots = config.ring.bytes.size() / slot_bytes;
  const auto& s = config.status;
  if (rgid >= groups_.size() || !groups_[rgid].used || !word_aligned(config.ring, 3 * slot_bytes) ||
      !word_aligned(config.sw_state, 8) || config.reserved_slots > slots - 1 ||
      config.reserved_slots > most_reserved || s.count > 4 || s.base > 100 || s.delta > 100 ||
      (s.count != 0 && (s.count - 1) * s.delta + (100 - s.base) > 100))
    return {0, EINVAL};
  const auto n = free_number(eqs_, 1, C_NUM_EQS);
  if (!n) return n;
  put(eqs_, n.value, std::make_unique<EventQueue>(n.value, rgid, config));
  if (config.timestamp_events) timestamp_queues_++;
  if (config.status.count != 0) threshold_queues_++;
  return n;
}

void Nic::destroy_eq(unsigned eqn) {
  EventQueue* queue = eq(eqn);
  if (!queue) return;
  if (queue->timestamps()) timestamp_queues_--;
  if (queue->watches_thresholds()) threshold_queues_--;
  eqs_[eqn].reset();
  std::erase(switching_, eqn);
  for (auto& other : eqs_)
    if (other) std::erase(other->wakes, eqn);
}

Made<unsigned> Nic::adjust_eq_reserve(unsigned eqn, int delta) {
  EventQueue* queue = eq(eqn);
  if (!queue) return {0, EINVAL};
  const int error = queue->adjust_reserve(delta);
  return {queue->reserved(), error};
}

void Nic::poke_eq(unsigned eqn) {
  if (EventQueue* queue = eq(eqn)) notify(*queue);
}

void Nic::tell_every_event(unsigned eqn, bool every) {
  if (EventQueue* queue = eq(eqn)) queue->tell_every_event = every;
}

int Nic::add_eq_wake(unsigned eqn, unsigned wakes) {
  EventQueue* queue = eq(eqn);
  if (!queue || !eq(wakes)) return EINVAL;
  queue->wakes.push_back(wakes);
  return 0;
}

void Nic::remove_eq_wake(unsigned eqn, unsigned wakes) {
  EventQueue* queue = eq(eqn);
  if (!queue) return;
  const auto at = std::ranges::find(queue->wakes, wakes);
  if (at != queue->wakes.end()) queue->wakes.erase(at);
}

int Nic::begin_eq_resize(unsigned eqn, SharedPages ring) {
  EventQueue* queue = eq(eqn);
  if (!queue || !word_aligned(ring, 3 * slot_bytes)) return EINVAL;
  const int error = queue->begin_resize(std::move(ring), clock_);
  if (error != 0) return error;
  if (queue->wants_switch()) switching_.push_back(eqn);
  notify(*queue);
  return 0;
}

int Nic::complete_eq_resize(unsigned eqn) {
  EventQueue* queue = eq(eqn);
  return queue ? queue->complete_resize() : EINVAL;
}

Made<unsigned> Nic::create_cmdq(unsigned rgid, const CmdqConfig& config) {
  const size_t slots = config.ring.bytes.size() / C_CQ_CMD_SIZE;
  if (rgid >= groups_.size() || !groups_[rgid].used) return {0, EINVAL};
  if (slots > 65536) return {0, E2BIG};
  // Whole commands of 256 bytes fit between the first slot and the end.
  if (!word_aligned(config.ring, 8 * C_CQ_CMD_SIZE) || config.ring.bytes.size() % 256 != 0 ||
      !word_aligned(config.launch, 8))
    return {0, EINVAL};
  if (config.ethernet) return {0, EOPNOTSUPP};
  if (config.transmit &&
      (config.lcid >= C_COMM_PROF_PER_CQ || !groups_[rgid].profiles[config.lcid].valid ||
       (config.triggered && config.lcid != 0)))
    return {0, EINVAL};
  if (config.eqn != 0 && (!eq(config.eqn) || eq(config.eqn)->rgid() != rgid)) return {0, EINVAL};
  const unsigned first = config.transmit ? 0 : C_NUM_TRANSMIT_CQS;
  const unsigned end = first + (config.transmit ? C_NUM_TRANSMIT_CQS : C_NUM_TARGET_CQS);
  const auto n = free_number(cmdqs_, first, end);
  if (!n) return n;
  put(cmdqs_, n.value, std::make_unique<CommandQueue>(n.value, rgid, config));
  active_.push_back({cmdqs_[n.value]->ring.doorbell(), C_CQ_FIRST_WR_PTR, n.value, 0});
  return n;
}

void Nic::stop_cmdq(unsigned index) {
  CommandQueue* queue = cmdq(index);
  if (!queue) return;
  queue->stopped = true;
  unlist_queue(index);
  // Whoever stops one queue of a pair wants to see the other one's commands done.
  look_everywhere_ = true;
  now_ns_ = clock_.monotonic_ns();
  // What has been sent is answered by NICs that only work when told to. A put that is half sent is
  // not carried on with, nor is a long get: who stops a queue is not kept waiting for gigabytes.
  abort_sending(*queue);
  abort_long_gets(index);
  constexpr unsigned most_rounds = 4096;
  for (unsigned i = 0; queue->outstanding != 0 && i < most_rounds; i++)
    if (!fabric_.progress()) break;
  if (queue->outstanding != 0) end_queue_messages(index, C_RC_UNDELIVERABLE);
  say("queue {} stopped", index);
}

void Nic::restart_cmdq(unsigned index) {
  CommandQueue* queue = cmdq(index);
  if (!queue) return;
  if (!queue->stopped) stop_cmdq(index);
  queue->ring.restart();
  queue->lcid = queue->config.lcid;
  queue->state = {};
  queue->fence = queue->noop_must_follow = queue->failed = queue->stopped = false;
  for (auto* bells : {&active_, &sleeping_})
    for (auto& bell : *bells)
      if (bell.queue == index) bell.seen = C_CQ_FIRST_WR_PTR;
  say("queue {} restarted", index);
}

void Nic::destroy_cmdq(unsigned index) {
  if (!cmdq(index)) return;
  if (!cmdq(index)->stopped) stop_cmdq(index);
  for (auto* bells : {&active_, &sleeping_})
    std::erase_if(*bells, [&](const Doorbell& bell) { return bell.queue == index; });
  unsigned& entries = groups_[cmdq(index)->rgid].triggered->in_use;
  for (auto& counter : cts_)  // what waits for a counter came through some queue
    if (counter) entries -= static_cast<unsigned>(counter->cancel_of(index));
  entries -= static_cast<unsigned>(
      std::erase_if(due_, [&](const auto& due) { return due.second.queue == index; }));
  cmdqs_[index].reset();
}

void Nic::set_link(bool up) {
  link_up_ = up;
  fabric_.set_link(config_.nid, up);
  say("link {}", up ? "up" : "down");
}

}  // namespace sim::nic
