// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A NIC that hands out numbers and remembers what it was asked, and that can be told to refuse.
#pragma once

#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "nic/device.hpp"

namespace sim::uverbs::test {

class FakeDevice final : public nic::Device {
 public:
  FakeDevice(const nic::DeviceConfig& c, nic::Interrupts& i) : interrupts(i), config_(c) {}

  const nic::DeviceConfig& config() const override { return config_; }

  nic::Made<unsigned> alloc_rgid(std::shared_ptr<nic::TriggeredEntries>) override {
    return number(rgids, 1, 255);
  }
  void free_rgid(unsigned rgid) override {
    log.push_back("free rgid");
    rgids.erase(rgid);
  }
  int set_cp(unsigned rgid, unsigned lcid, uint16_t vni, unsigned tc, unsigned) override {
    cps[{rgid, lcid}] = {vni, tc};
    return 0;
  }
  void clear_cp(unsigned rgid, unsigned lcid) override { cps.erase({rgid, lcid}); }

  nic::Made<nic::Mapping> map_memory(unsigned, std::shared_ptr<nic::GuestMemory>, uint64_t va,
                                     uint64_t, bool, bool nic_writes) override {
    if (refuse == "map_memory") return {{}, ENOSPC};
    auto id = number(maps, 1, 1 << 20);
    last_map_writes = nic_writes;
    return {{id.value, next_lac, uint64_t{next_lac} << 53 | id.value << 24 | (va & 4095)}, 0};
  }
  nic::Made<nic::Mapping> map_pages(unsigned, nic::SharedPages) override {
    if (refuse == "map_pages") return {{}, ENOSPC};
    auto id = number(maps, 1, 1 << 20);
    return {{id.value, next_lac, uint64_t{next_lac} << 53 | id.value << 24}, 0};
  }
  void unmap_memory(unsigned, unsigned id) override {
    log.push_back("unmap memory");
    maps.erase(id);
  }

  nic::Made<unsigned> create_eq(unsigned, const nic::EqConfig& c) override {
    if (refuse == "create_eq") return {0, ENOSPC};
    auto eqn = number(eqs, 1, 2047);
    eq_configs[eqn.value] = c;
    return eqn;
  }
  void destroy_eq(unsigned eqn) override {
    log.push_back("destroy eq");
    eqs.erase(eqn);
    eq_configs.erase(eqn);
  }
  nic::Made<unsigned> adjust_eq_reserve(unsigned eqn, int delta) override {
    if (refuse == "adjust_eq_reserve") return {0, ENOSPC};
    auto& reserved = eq_configs[eqn].reserved_slots;
    reserved = static_cast<unsigned>(static_cast<int>(reserved) + delta);
    return {reserved, 0};
  }
  void poke_eq(unsigned eqn) override {
    ++pokes[eqn];
    // The program's software state decides, as on the NIC: bit 32 disables, bits 44-47 are the
    // value.
    uint64_t state;
    __builtin_memcpy(&state, eq_configs.at(eqn).sw_state.bytes.data(), sizeof state);
    if (!(state >> 32 & 1)) interrupts.event_written(eqn, static_cast<uint8_t>(state >> 44 & 15));
  }
  void tell_every_event(unsigned eqn, bool every) override { every_event[eqn] = every; }
  int add_eq_wake(unsigned eqn, unsigned other) override {
    if (refuse == "add_eq_wake") return EINVAL;
    wakes.insert({eqn, other});
    return 0;
  }
  void remove_eq_wake(unsigned eqn, unsigned other) override {
    wakes.erase(wakes.find({eqn, other}));
  }
  // The NIC switches at once.
  int begin_eq_resize(unsigned eqn, nic::SharedPages ring) override {
    if (refuse == "begin_eq_resize") return EINVAL;
    if (!switching.insert(eqn).second) return EINVAL;
    eq_configs.at(eqn).ring = std::move(ring);
    return 0;
  }
  int complete_eq_resize(unsigned eqn) override { return switching.erase(eqn) ? 0 : EINVAL; }

  nic::Made<unsigned> create_cmdq(unsigned, const nic::CmdqConfig& c) override {
    if (refuse == (c.transmit ? "create_txq" : "create_tgq")) return {0, ENOSPC};
    auto index = c.transmit ? number(cmdqs, 0, 1023) : number(cmdqs, 1024, 1535);
    cmdq_configs[index.value] = c;
    return index;
  }
  void stop_cmdq(unsigned index) override { log.push_back("stop " + std::to_string(index)); }
  void restart_cmdq(unsigned index) override { log.push_back("restart " + std::to_string(index)); }
  void destroy_cmdq(unsigned index) override {
    log.push_back("destroy cmdq");
    cmdqs.erase(index);
    cmdq_configs.erase(index);
  }

  nic::Made<unsigned> create_pte(unsigned, const nic::PteConfig& c) override {
    if (refuse == "create_pte") return {0, ENOSPC};
    auto pte = number(ptes, 1, 2047);
    pte_configs[pte.value] = c;
    return pte;
  }
  void destroy_pte(unsigned pte) override {
    log.push_back("destroy pte");
    ptes.erase(pte);
    states.erase(pte);
    appended.erase(pte);
  }
  void keep_entries(unsigned pte, int delta) override {
    pte_configs[pte].list_entries += static_cast<unsigned>(delta);
  }
  int set_pte_state(unsigned pte, nic::PteState state, uint32_t drop_count) override {
    if (refuse == "set_pte_state") return EAGAIN;
    states[pte] = state;
    drop_counts[pte] = drop_count;
    return 0;
  }
  nic::Made<nic::PteStatus> query_pte(unsigned pte) override { return {{states[pte], 7, 3, 9}, 0}; }
  unsigned unexpected_offsets(unsigned, std::span<uint64_t> out) override {
    for (size_t i = 0; i < out.size() && i < 2; ++i)
      out[i] = 100 + i;
    return 2;
  }
  int append(unsigned pte, const nic::ListEntry& entry) override {
    if (refuse == "append") return ENOSPC;
    appended[pte].push_back(entry);
    return 0;
  }
  void reset_lists(unsigned pte) override { log.push_back("reset " + std::to_string(pte)); }
  int invalidate_le(unsigned, unsigned list, unsigned buffer_id) override {
    invalidated.push_back({list, buffer_id});
    return 0;
  }
  int map_portal(unsigned pte, uint16_t vni, unsigned pid, unsigned index) override {
    if (refuse == "map_portal") return ENOSPC;
    return portals.try_emplace({vni, pid, index}, pte).second ? 0 : EEXIST;
  }
  int map_multicast(unsigned pte, uint16_t, uint32_t mcast) override {
    multicasts[pte] = mcast;
    return 0;
  }
  void unmap_portal(uint16_t vni, unsigned pid, unsigned index) override {
    portals.erase({vni, pid, index});
  }
  void unmap_multicast(unsigned pte) override { multicasts.erase(pte); }

  nic::Made<unsigned> create_ct(unsigned, std::shared_ptr<nic::GuestMemory>, uint64_t) override {
    auto ct = number(cts, 1, 2047);
    ct_values[ct.value] = {};
    return ct;
  }
  void destroy_ct(unsigned ct) override {
    log.push_back("destroy ct");
    cts.erase(ct);
  }
  int add_ct(unsigned ct, uint64_t success, unsigned failure) override {
    ct_values[ct].success += success;
    ct_values[ct].failure += failure;
    return 0;
  }
  int set_ct(unsigned ct, std::optional<uint64_t> success,
             std::optional<unsigned> failure) override {
    if (success) ct_values[ct].success = *success;
    if (failure) ct_values[ct].failure = *failure;
    return 0;
  }
  nic::Made<CtValue> read_ct(unsigned ct) override { return {ct_values[ct], 0}; }

  nic::Made<uint64_t> read_csr(uint32_t offset) override {
    if (offset >= csr_end) return {0, EINVAL};
    return {csrs[offset], 0};
  }
  int write_csr(uint32_t offset, uint64_t value) override {
    csrs[offset] = value;
    return 0;
  }
  int check_csr_write(uint32_t offset) override {
    if (offset >= csr_end) return EINVAL;
    return offset == read_only_csr ? EACCES : 0;
  }
  bool is_public_csr(uint32_t offset) override { return public_csrs.contains(offset); }
  static constexpr uint32_t csr_end = 0x20000000, read_only_csr = 0x108;
  std::map<uint32_t, uint64_t> csrs;
  std::set<uint32_t> public_csrs;

  void set_link(bool up) override { up_ = up; }
  bool link_up() const override { return up_; }
  bool step() override {
    ++steps;
    return false;
  }
  std::optional<uint64_t> next_due_ns() const override { return due; }
  void wake() override { ++wakeups; }

  // Whether everything has been given back.
  bool empty() const {
    return rgids.empty() && cps.empty() && maps.empty() && eqs.empty() && cmdqs.empty() &&
           ptes.empty() && cts.empty() && portals.empty() && wakes.empty() && multicasts.empty();
  }

  nic::Interrupts& interrupts;
  std::string refuse;  // the call that answers an error
  unsigned next_lac = 1;
  bool last_map_writes = false;
  std::set<unsigned> rgids, maps, eqs, cmdqs, ptes, cts;
  std::set<unsigned> switching;  // event queues whose old ring is not let go of
  std::map<std::pair<unsigned, unsigned>, std::pair<uint16_t, unsigned>> cps;
  std::map<unsigned, nic::EqConfig> eq_configs;
  std::map<unsigned, nic::CmdqConfig> cmdq_configs;
  std::map<unsigned, nic::PteConfig> pte_configs;
  std::map<unsigned, nic::PteState> states;
  std::map<unsigned, uint32_t> drop_counts;
  std::map<unsigned, std::vector<nic::ListEntry>> appended;
  std::map<std::tuple<uint16_t, unsigned, unsigned>, unsigned> portals;
  std::map<unsigned, uint32_t> multicasts;
  std::multiset<std::pair<unsigned, unsigned>> wakes;
  std::map<unsigned, unsigned> pokes;
  std::map<unsigned, bool> every_event;
  std::map<unsigned, CtValue> ct_values;
  std::vector<std::pair<unsigned, unsigned>> invalidated;
  std::vector<std::string> log;
  std::optional<uint64_t> due;
  unsigned steps = 0, wakeups = 0;

 private:
  static nic::Made<unsigned> number(std::set<unsigned>& taken, unsigned first, unsigned last) {
    for (unsigned n = first; n <= last; ++n) {
      if (taken.insert(n).second) return {n, 0};
    }
    return {0, ENOSPC};
  }

  nic::DeviceConfig config_;
  bool up_ = true;
};

}  // namespace sim::uverbs::test
