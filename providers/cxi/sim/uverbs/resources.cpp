// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/resources.hpp"

#include <ethernet/cassini_user_defs.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "uverbs/nic_state.hpp"

namespace sim::uverbs {

nic::Made<std::unique_ptr<EventQueue>> EventQueue::make(std::shared_ptr<Lni> lni, Arena& arena,
                                                        const Spec& spec) {
  std::unique_ptr<EventQueue> eq(new EventQueue(std::move(lni)));
  auto charge = eq->lni_->charge(CXI_ABI_RSRC_EQ);
  if (!charge) return {nullptr, charge.error};
  auto ring = arena.allocate(uint64_t{spec.slots} * slot_size);
  if (!ring) return {nullptr, ring.error};
  auto sw_state = arena.allocate(page_size);
  if (!sw_state) return {nullptr, sw_state.error};

  // Nothing has been read yet, and nobody is told before the program arms the queue.
  c_ee_cfg_eq_sw_state initial{};
  initial.rd_ptr = 1;
  initial.event_int_disable = 1;
  initial.eq_sts_int_disable = 1;
  std::memcpy(sw_state.value.pages.bytes.data(), &initial, sizeof initial);

  nic::EqConfig config;
  config.ring = ring.value.pages;
  config.sw_state = sw_state.value.pages;
  config.initiator_long = spec.flags & CXI_ABI_EQ_INIT_LONG;
  config.target_long = spec.flags & CXI_ABI_EQ_TGT_LONG;
  config.drop_status_disable = spec.flags & CXI_ABI_EQ_DROP_STATUS_DISABLE;
  config.timestamp_events = spec.flags & CXI_ABI_EQ_TIMESTAMP_EVENTS;
  config.combining_disable = spec.flags & CXI_ABI_EQ_EC_DISABLE;
  config.reserved_slots = spec.reserve;
  config.status = {spec.status_count, spec.status_base, spec.status_delta};
  auto eqn = eq->lni_->device().create_eq(eq->lni_->rgid(), config);
  if (!eqn) return {nullptr, eqn.error};

  eq->charge_ = std::move(charge.value);
  eq->ring_ = std::move(ring.value);
  eq->sw_state_ = std::move(sw_state.value);
  eq->eqn_ = eqn.value;
  eq->flags_ = spec.flags;
  eq->reserve_ = spec.reserve;
  eq->lni_->nic().event_queues.emplace(eq->eqn_, eq.get());
  return {std::move(eq), 0};
}

EventQueue::~EventQueue() {
  if (eqn_ == 0) return;
  lni_->nic().forget(*this);
  lni_->device().destroy_eq(eqn_);
}

cxi_abi_eq_info EventQueue::info(uint32_t handle) const {
  cxi_abi_eq_info info{};
  info.handle = handle;
  info.eqn = eqn_;
  info.ring_cookie = ring_.offset;
  info.ring_bytes = ring_.length;
  info.sw_state_cookie = sw_state_.offset;
  info.reserve = reserve_;
  return info;
}

uint32_t EventQueue::slots() const {
  uint64_t bytes = ring_.length;
  if (next_ring_.length != 0) bytes = std::min(bytes, next_ring_.length);
  return static_cast<uint32_t>(bytes / slot_size);
}

int EventQueue::change_reserve(int delta) {
  if (delta == 0) return 0;
  auto reserve = lni_->device().adjust_eq_reserve(eqn_, delta);
  if (!reserve) return ENOMEM;
  reserve_ = reserve.value;
  return 0;
}

int EventQueue::begin_resize(Arena& arena, uint32_t slots, cxi_abi_eq_info* info) {
  if (resizing()) return EINVAL;
  auto ring = arena.allocate(uint64_t{slots} * slot_size);
  if (!ring) return ring.error;
  if (int error = lni_->device().begin_eq_resize(eqn_, ring.value.pages)) return error;
  next_ring_ = std::move(ring.value);
  info->ring_cookie = next_ring_.offset;
  info->ring_bytes = next_ring_.length;
  return 0;
}

int EventQueue::complete_resize() {
  if (!resizing()) return EINVAL;
  if (int error = lni_->device().complete_eq_resize(eqn_)) return error;
  ring_ = std::exchange(next_ring_, {});
  return 0;
}

nic::Made<std::unique_ptr<CommandQueue>> CommandQueue::make(std::shared_ptr<Lni> lni, Arena& arena,
                                                            const Spec& spec) {
  std::unique_ptr<CommandQueue> queue(new CommandQueue(std::move(lni)));
  auto charge = queue->lni_->charge(spec.transmit ? CXI_ABI_RSRC_TXQ : CXI_ABI_RSRC_TGQ);
  if (!charge) return {nullptr, charge.error};
  // A power of two of whole pages (behaviour 2.1).
  uint64_t slots = std::max(spec.slots, min_cmdq_slots);
  uint64_t bytes = std::bit_ceil((slots * slot_size + page_size - 1) / page_size) * page_size;
  auto ring = arena.allocate(bytes);
  if (!ring) return {nullptr, ring.error};
  auto launch = arena.allocate(page_size);
  if (!launch) return {nullptr, launch.error};

  nic::CmdqConfig config;
  config.transmit = spec.transmit;
  config.triggered = spec.triggered;
  config.ring = ring.value.pages;
  config.launch = launch.value.pages;
  config.eqn = spec.eqn;
  config.lcid = spec.lcid;
  config.policy = spec.policy;
  config.stat_pool = spec.stat_pool;
  auto index = queue->lni_->device().create_cmdq(queue->lni_->rgid(), config);
  if (!index) return {nullptr, index.error};

  queue->charge_ = std::move(charge.value);
  queue->ring_ = std::move(ring.value);
  queue->launch_ = std::move(launch.value);
  queue->index_ = index.value;
  queue->slots_ = static_cast<uint32_t>(bytes / slot_size);
  queue->lcid_ = spec.lcid;
  queue->made_ = true;
  queue->lni_->nic().command_queues.emplace(queue->index_, queue.get());
  return {std::move(queue), 0};
}

CommandQueue::~CommandQueue() {
  if (!made_) return;
  lni_->nic().command_queues.erase(index_);
  lni_->device().destroy_cmdq(index_);
}

cxi_abi_cmdq_info CommandQueue::info(uint32_t handle) const {
  cxi_abi_cmdq_info info{};
  info.handle = handle;
  info.index = index_;
  info.slots = slots_;
  info.window_flags = CXI_ABI_WINDOW_DOORBELL;
  info.ring_cookie = ring_.offset;
  info.launch_cookie = launch_.offset;
  info.lcid = lcid_;
  return info;
}

bool CommandQueue::drained() const {
  c_cq_status status;
  std::memcpy(&status, ring_.pages.bytes.data(), sizeof status);
  auto* doorbell = reinterpret_cast<uint64_t*>(launch_.pages.bytes.data());
  uint64_t rung = std::atomic_ref<uint64_t>(*doorbell).load(std::memory_order_acquire);
  // A queue that has never been rung has nothing to fetch, whatever its doorbell says.
  return rung == 0 || status.rd_ptr == (rung & 0xffff) || status.return_code > C_RC_OK;
}

nic::Made<std::unique_ptr<PortalEntry>> PortalEntry::make(std::shared_ptr<Lni> lni,
                                                          const nic::PteConfig& config,
                                                          uint32_t list_entries) {
  std::unique_ptr<PortalEntry> entry(new PortalEntry(std::move(lni)));
  entry->element_ = entry->lni_->next_element();
  auto charge = entry->lni_->charge(CXI_ABI_RSRC_PTE);
  if (!charge) return {nullptr, charge.error};
  auto entries = entry->charge_entries(list_entries);
  if (!entries) return {nullptr, entries.error};
  nic::PteConfig with_entries = config;
  with_entries.list_entries = list_entries;
  with_entries.element = entry->element_;
  auto number = entry->lni_->device().create_pte(entry->lni_->rgid(), with_entries);
  if (!number) return {nullptr, number.error};
  entry->charge_ = std::move(charge.value);
  entry->entries_ = std::move(entries.value);
  entry->list_entries_ = list_entries;
  entry->number_ = number.value;
  return {std::move(entry), 0};
}

PortalEntry::~PortalEntry() {
  if (number_ == 0) return;
  for (const Portal& p : portals_)
    lni_->device().unmap_portal(p.vni, p.pid, p.index);
  if (multicast_) lni_->device().unmap_multicast(number_);
  lni_->device().destroy_pte(number_);
}

nic::Made<Charge> PortalEntry::charge_entries(uint32_t count) {
  return lni_->charge(CXI_ABI_RSRC_LE, count, element_);
}

nic::Made<KeptEntries> PortalEntry::keep_entries(uint32_t count) {
  auto charge = charge_entries(count);
  if (!charge) return {{}, charge.error};
  return {KeptEntries(*this, count, std::move(charge.value)), 0};
}

KeptEntries::KeptEntries(PortalEntry& entry, uint32_t count, Charge charge)
    : entry_(&entry), count_(count), charge_(std::move(charge)) {
  entry_->lni_->device().keep_entries(entry_->number_, static_cast<int>(count_));
}

KeptEntries& KeptEntries::operator=(KeptEntries&& other) noexcept {
  std::swap(entry_, other.entry_);
  std::swap(count_, other.count_);
  std::swap(charge_, other.charge_);
  return *this;
}

KeptEntries::~KeptEntries() {
  if (entry_) entry_->lni_->device().keep_entries(entry_->number_, -static_cast<int>(count_));
}

int PortalEntry::map(uint16_t vni, unsigned pid, unsigned index) {
  if (int error = lni_->device().map_portal(number_, vni, pid, index)) return error;
  portals_.push_back({vni, pid, index});
  return 0;
}

int PortalEntry::map_multicast(uint16_t vni, uint32_t mcast) {
  if (multicast_) return EINVAL;
  if (int error = lni_->device().map_multicast(number_, vni, mcast)) return error;
  multicast_ = true;
  return 0;
}

int PortalEntry::unmap(uint16_t vni, unsigned pid, unsigned index) {
  if (std::erase(portals_, Portal{vni, pid, index}) == 0) return EINVAL;
  lni_->device().unmap_portal(vni, pid, index);
  return 0;
}

uint16_t PortalEntry::take_buffer_id() {
  // Going round, so that a number that has just been given back is not what a late event names.
  for (uint32_t tries = 0; tries < 0xffff; ++tries) {
    uint16_t id = next_buffer_id_;
    next_buffer_id_ = id == 0xffff ? 1 : static_cast<uint16_t>(id + 1);
    if (buffer_ids_.insert(id).second) return id;
  }
  return 0;
}

int PortalEntry::unmap_multicast() {
  if (!multicast_) return EINVAL;
  lni_->device().unmap_multicast(number_);
  multicast_ = false;
  return 0;
}

nic::Made<std::unique_ptr<CountingEvent>> CountingEvent::make(
    std::shared_ptr<Lni> lni, std::shared_ptr<nic::GuestMemory> memory, uint64_t writeback_va) {
  std::unique_ptr<CountingEvent> event(new CountingEvent(std::move(lni)));
  auto charge = event->lni_->charge(CXI_ABI_RSRC_CT);
  if (!charge) return {nullptr, charge.error};
  auto number = event->device().create_ct(event->lni_->rgid(), std::move(memory), writeback_va);
  if (!number) return {nullptr, number.error};
  event->charge_ = std::move(charge.value);
  event->number_ = number.value;
  return {std::move(event), 0};
}

CountingEvent::~CountingEvent() {
  if (number_ != 0) device().destroy_ct(number_);
}

nic::Made<std::unique_ptr<MemoryMap>> MemoryMap::keep(std::shared_ptr<Lni> lni,
                                                      const nic::Mapping& mapping, uint64_t va,
                                                      uint64_t len) {
  if (int error = lni->use_ac(mapping.lac)) {
    lni->device().unmap_memory(lni->rgid(), mapping.id);
    return {nullptr, error};
  }
  return {std::unique_ptr<MemoryMap>(new MemoryMap(std::move(lni), mapping, va, len)), 0};
}

nic::Made<std::unique_ptr<MemoryMap>> MemoryMap::of_memory(std::shared_ptr<Lni> lni,
                                                           std::shared_ptr<nic::GuestMemory> memory,
                                                           uint64_t va, uint64_t len,
                                                           bool nic_reads, bool nic_writes) {
  auto mapping =
      lni->device().map_memory(lni->rgid(), std::move(memory), va, len, nic_reads, nic_writes);
  if (!mapping) return {nullptr, mapping.error};
  return keep(std::move(lni), mapping.value, va, len);
}

nic::Made<std::unique_ptr<MemoryMap>> MemoryMap::of_pages(std::shared_ptr<Lni> lni,
                                                          nic::SharedPages pages) {
  uint64_t len = pages.bytes.size();
  auto mapping = lni->device().map_pages(lni->rgid(), std::move(pages));
  if (!mapping) return {nullptr, mapping.error};
  return keep(std::move(lni), mapping.value, 0, len);
}

MemoryMap::~MemoryMap() {
  lni_->device().unmap_memory(lni_->rgid(), mapping_.id);
  lni_->drop_ac(mapping_.lac);
}

}  // namespace sim::uverbs
