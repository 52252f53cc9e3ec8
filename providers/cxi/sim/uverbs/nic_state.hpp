// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What the driver knows about one NIC: its services, who has which PID, which queue belongs to
// whom, and what is to be done after the NIC has worked.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "nic/device.hpp"
#include "uverbs/kernel.hpp"
#include "uverbs/service.hpp"

namespace sim::uverbs {

class AsyncChannel;
class CommandQueue;
class EventQueue;
class ExportedJobs;
class File;

// PIDs of each VNI and their owners: a protection domain, a domain, or a logical NI that has
// reserved them.
class PidTable {
 public:
  explicit PidTable(unsigned pid_bits) : count_((1u << pid_bits) - 1) {}

  unsigned count() const { return count_; }
  const void* owner(uint16_t vni, unsigned pid) const;
  bool free(uint16_t vni, unsigned pid) const { return owner(vni, pid) == nullptr; }
  void take(uint16_t vni, unsigned pid, const void* owner);
  void release(uint16_t vni, unsigned pid);
  // The lowest PID with which `count` in a row are free in all of the VNIs.
  std::optional<unsigned> lowest_free(const std::vector<uint16_t>& vnis, unsigned count = 1) const;

 private:
  unsigned count_;
  std::map<std::pair<uint16_t, unsigned>, const void*> owners_;
};

class NicState final : public nic::Interrupts {
 public:
  using DeviceFactory =
      std::function<std::unique_ptr<nic::Device>(const nic::DeviceConfig&, nic::Interrupts&)>;

  NicState(NicDescription description, const KernelConfig& config, nic::Clock& clock,
           const DeviceFactory& factory);
  ~NicState() override;

  nic::Clock& clock() { return clock_; }
  uint32_t nid() const { return description.nid; }
  // Whether the address handle's GID names somebody; ENETUNREACH, or EINVAL for another type.
  nic::Made<uint32_t> resolve(uint32_t source_gid_index, const uint8_t (&gid)[16]) const;
  void gid(uint32_t index, uint8_t (&out)[16]) const;
  static uint32_t gid_type(uint32_t index);
  uint64_t node_guid() const;  // as a number

  // nic::Interrupts
  void event_written(unsigned eqn, uint8_t armed_value) override;
  void command_failed(unsigned cmdq, bool target) override;

  // What is due after the NIC has worked or a call has been made: timers, notifications that
  // follow from others, failed queues, records that did not fit. Returns whether anything was done.
  bool settle();
  std::optional<uint64_t> next_due_ns();
  bool quiet() { return command_queues.empty() && event_queues.empty() && !next_due_ns(); }
  // Notify of the queue now, if it is armed, whatever its moderation.
  void poke(EventQueue& queue);
  // Tell of the queue when `count` events have come, or `period_ns` after the first.
  void moderate(EventQueue& queue, uint32_t count, uint64_t period_ns);
  // Notify of the queue at this time; 0 cancels.
  void notify_at(EventQueue& queue, uint64_t ns);
  void raise_async(AsyncChannel& channel, uint64_t element, uint32_t type,
                   std::shared_ptr<uint32_t> count);
  // Nobody may refer to the queue any more.
  void forget(EventQueue& queue);

  void set_link(bool up);
  void fail();
  void raise_port_event(uint32_t type);

  const NicDescription description;
  std::unique_ptr<nic::Device> device;
  Services services;
  PidTable pids;
  bool failed = false;
  std::set<File*> files;
  std::map<unsigned, EventQueue*> event_queues;      // by number
  std::map<unsigned, CommandQueue*> command_queues;  // by index
  std::unique_ptr<ExportedJobs> exported_jobs;
  // Serial numbers of remote keys (see rdma/cxiverbs-abi.h).
  uint32_t next_key = 1, next_indexed_key = 1, next_local_key = 1;
  unsigned qps = 0, pds = 0, mrs = 0, ahs = 0;

 private:
  bool settle_once();
  bool fire_timers();
  bool raise_held();
  bool pay_records();

  nic::Clock& clock_;
  std::map<EventQueue*, uint64_t> timers_;  // CLOCK_MONOTONIC
  std::set<EventQueue*> holding_;           // records that moderation holds back
  bool poking_ = false;
  std::set<EventQueue*> owing_;  // records that did not fit into a pipe
  bool async_owing_ = false;
  std::vector<unsigned> failed_queues_;
};

}  // namespace sim::uverbs
