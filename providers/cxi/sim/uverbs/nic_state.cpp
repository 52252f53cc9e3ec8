// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/nic_state.hpp"

#include <rdma/ib_user_ioctl_verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "uverbs/exported_jobs.hpp"
#include "uverbs/file.hpp"
#include "uverbs/qp.hpp"
#include "uverbs/resources.hpp"

namespace sim::uverbs {
namespace {

constexpr uint64_t retry_delay_ns = 1'000'000;  // of records that did not fit into a pipe
constexpr uint8_t slingshot_prefix[8] = {0xfe, 0x80};
constexpr uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr uint8_t network_octet = 10;  // the netdev's address is 10.<24 bits of the NID>

uint32_t big_endian_word(const uint8_t* at) {
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | at[3];
}

void put_big_endian_word(uint8_t* at, uint32_t value) {
  for (int i = 0; i < 4; ++i)
    at[i] = static_cast<uint8_t>(value >> (24 - 8 * i));
}

}  // namespace

const void* PidTable::owner(uint16_t vni, unsigned pid) const {
  auto it = owners_.find({vni, pid});
  return it == owners_.end() ? nullptr : it->second;
}

void PidTable::take(uint16_t vni, unsigned pid, const void* owner) {
  owners_[{vni, pid}] = owner;
}

void PidTable::release(uint16_t vni, unsigned pid) {
  owners_.erase({vni, pid});
}

std::optional<unsigned> PidTable::lowest_free(const std::vector<uint16_t>& vnis,
                                              unsigned count) const {
  unsigned run = 0;
  for (unsigned pid = 0; pid < count_; ++pid) {
    bool is_free = std::ranges::all_of(vnis, [&](uint16_t vni) { return free(vni, pid); });
    run = is_free ? run + 1 : 0;
    if (run == count) return pid + 1 - count;
  }
  return std::nullopt;
}

NicState::NicState(NicDescription d, const KernelConfig& config, nic::Clock& clock,
                   const DeviceFactory& factory)
    : description(std::move(d)),
      services(config.default_service_enabled),
      pids(config.pid_bits),
      exported_jobs(std::make_unique<ExportedJobs>()),
      clock_(clock) {
  nic::DeviceConfig device_config;
  device_config.nid = description.nid;
  device_config.pid_bits = config.pid_bits;
  device_config.iova_seed = description.nid;
  device_config.give_up_ns = config.give_up_ns;
  device = factory(device_config, *this);
}

NicState::~NicState() = default;

uint64_t NicState::node_guid() const {
  // EUI-64 of the algorithmic MAC address 02:00:00 and 24 bits of the NID, with its U/L bit
  // flipped.
  return uint64_t{0xfffe} << 24 | (nid() & 0xffffff);
}

void NicState::gid(uint32_t index, uint8_t (&out)[16]) const {
  std::memset(out, 0, sizeof out);
  if (index == gid_slingshot) {
    std::memcpy(out, slingshot_prefix, sizeof slingshot_prefix);
    put_big_endian_word(&out[12], nid());
  } else {
    std::memcpy(out, mapped_prefix, sizeof mapped_prefix);
    put_big_endian_word(&out[12], uint32_t{network_octet} << 24 | nid());
  }
}

uint32_t NicState::gid_type(uint32_t index) {
  return index == gid_slingshot ? IB_UVERBS_GID_TYPE_SLINGSHOT : IB_UVERBS_GID_TYPE_UET_UDP;
}

nic::Made<uint32_t> NicState::resolve(uint32_t source_gid_index, const uint8_t (&gid)[16]) const {
  uint32_t low = big_endian_word(&gid[12]);
  uint32_t found;
  if (source_gid_index == gid_slingshot) {
    if (std::memcmp(gid, slingshot_prefix, sizeof slingshot_prefix) != 0) return {0, EINVAL};
    if (big_endian_word(&gid[8]) != 0) return {0, ENETUNREACH};
    found = low;
  } else {
    if (std::memcmp(gid, mapped_prefix, sizeof mapped_prefix) != 0) return {0, EINVAL};
    if (low >> 24 != network_octet) return {0, ENETUNREACH};
    found = low & 0xffffff;
  }
  if (found >= nid_any) return {0, ENETUNREACH};
  return {found, 0};
}

void NicState::event_written(unsigned eqn, uint8_t armed_value) {
  auto it = event_queues.find(eqn);
  if (it == event_queues.end()) return;
  Notifier& notifier = it->second->notifier;
  if (notifier.moderated() && !poking_) {
    notifier.raise(armed_value, clock_.monotonic_ns());
  } else {
    notifier.raise(armed_value);
  }
  if (notifier.due_ns()) {
    holding_.insert(it->second);
  } else {
    holding_.erase(it->second);
  }
  if (notifier.owes()) owing_.insert(it->second);
}

void NicState::poke(EventQueue& queue) {
  poking_ = true;
  device->poke_eq(queue.eqn());
  poking_ = false;
}

void NicState::moderate(EventQueue& queue, uint32_t count, uint64_t period_ns) {
  queue.notifier.moderate(count, period_ns);
  device->tell_every_event(queue.eqn(), queue.notifier.moderated());
  if (holding_.erase(&queue) == 0) return;
  queue.notifier.raise_held();
  if (queue.notifier.owes()) owing_.insert(&queue);
}

bool NicState::raise_held() {
  if (holding_.empty()) return false;
  const uint64_t now = clock_.monotonic_ns();
  return std::erase_if(holding_, [&](EventQueue* queue) {
           if (queue->notifier.due_ns().value_or(0) > now) return false;
           queue->notifier.raise_held();
           if (queue->notifier.owes()) owing_.insert(queue);
           return true;
         }) != 0;
}

void NicState::notify_at(EventQueue& queue, uint64_t ns) {
  if (ns == 0) {
    timers_.erase(&queue);
  } else {
    timers_[&queue] = ns;
  }
}

void NicState::raise_async(AsyncChannel& channel, uint64_t element, uint32_t type,
                           std::shared_ptr<uint32_t> count) {
  channel.raise(element, type, std::move(count));
  async_owing_ |= channel.owes();
}

void NicState::command_failed(unsigned cmdq, bool) {
  failed_queues_.push_back(cmdq);
}

void NicState::forget(EventQueue& queue) {
  event_queues.erase(queue.eqn());
  timers_.erase(&queue);
  owing_.erase(&queue);
  holding_.erase(&queue);
}

bool NicState::fire_timers() {
  if (timers_.empty()) return false;
  const uint64_t now = clock_.monotonic_ns();
  std::vector<EventQueue*> due;
  std::erase_if(timers_, [&](const auto& timer) {
    if (timer.second > now) return false;
    due.push_back(timer.first);
    return true;
  });
  for (EventQueue* queue : due) {
    poke(*queue);
  }
  return !due.empty();
}

bool NicState::pay_records() {
  bool any = false;
  std::erase_if(owing_, [&](EventQueue* queue) {
    any |= queue->notifier.flush();
    return !queue->notifier.owes();
  });
  if (!async_owing_) return any;
  async_owing_ = false;
  for (File* file : files) {
    for (auto& async : file->async_channels) {
      any |= async->flush();
      async_owing_ |= async->owes();
    }
  }
  return any;
}

bool NicState::settle_once() {
  bool any = fire_timers();
  any |= raise_held();
  any |= pay_records();
  for (unsigned index : std::exchange(failed_queues_, {})) {
    auto it = command_queues.find(index);
    if (it != command_queues.end() && it->second->qp) it->second->qp->on_command_failure();
    any = true;
  }
  return any;
}

bool NicState::settle() {
  if (failed) return false;
  bool any = false;
  // A queue that fails writes events, which may wake others; nothing here goes round for ever.
  for (int round = 0; round < 4 && settle_once(); ++round)
    any = true;
  return any;
}

std::optional<uint64_t> NicState::next_due_ns() {
  if (failed) return std::nullopt;
  std::optional<uint64_t> due = device->next_due_ns();
  auto sooner = [&](uint64_t at) { due = due ? std::min(*due, at) : at; };
  for (const auto& [queue, at] : timers_) {
    sooner(at);
  }
  for (const EventQueue* queue : holding_) {
    if (auto at = queue->notifier.due_ns()) sooner(*at);
  }
  if (!owing_.empty() || async_owing_) sooner(clock_.monotonic_ns() + retry_delay_ns);
  return due;
}

void NicState::raise_port_event(uint32_t type) {
  for (File* file : files) {
    for (auto& async : file->async_channels) {
      raise_async(*async, port, type, nullptr);
    }
  }
}

void NicState::set_link(bool up) {
  if (device->link_up() == up) return;
  device->set_link(up);
  raise_port_event(up ? event_port_active : event_port_err);
}

void NicState::fail() {
  if (failed) return;
  raise_port_event(event_device_fatal);
  for (File* file : files)
    file->destroy_all();
  failed = true;
}

}  // namespace sim::uverbs
