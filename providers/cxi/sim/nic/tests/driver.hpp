// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Plays the driver and the programs: rings in plain memory, process memory as byte vectors, a clock
// that only moves when told, and recorders for what the engine says. Commands are written with the
// C structures, which the engine itself does not use.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ethernet/cassini_user_defs.h"
#include "fabric/fabric.hpp"
#include "nic/device.hpp"

namespace sim::nic::testing {

constexpr uint16_t default_vni = 10;
constexpr uint32_t any_id = 0xffffffff;

class ProcessMemory : public GuestMemory {
 public:
  ProcessMemory(uint64_t va, size_t bytes) : va_(va), bytes_(bytes) {}
  bool read(uint64_t va, std::span<std::byte> out) override {
    if (va < va_ || va - va_ + out.size() > bytes_.size() || gone) return false;
    std::memcpy(out.data(), bytes_.data() + (va - va_), out.size());
    return true;
  }
  bool write(uint64_t va, std::span<const std::byte> in) override {
    if (va < va_ || va - va_ + in.size() > bytes_.size() || gone) return false;
    std::memcpy(bytes_.data() + (va - va_), in.data(), in.size());
    return true;
  }
  std::byte* at(uint64_t offset) { return bytes_.data() + offset; }
  size_t size() const { return bytes_.size(); }
  uint64_t va() const { return va_; }
  bool gone = false;

 private:
  uint64_t va_;
  std::vector<std::byte> bytes_;
};

struct FakeClock : Clock {
  uint64_t real = 1'700'000'000'123'456'789;
  uint64_t mono = 1'000'000;
  uint64_t realtime_ns() override { return real; }
  uint64_t monotonic_ns() override { return mono; }
};

struct RecordingTrace : Trace {
  bool on = false;
  std::vector<std::string> lines;
  bool enabled() const override { return on; }
  void line(std::string_view text) override { lines.emplace_back(text); }
};

struct RecordingInterrupts : Interrupts {
  std::vector<std::pair<unsigned, unsigned>> events;  // queue, armed value
  std::vector<std::pair<unsigned, bool>> failures;    // queue, target
  void event_written(unsigned eqn, uint8_t value) override { events.emplace_back(eqn, value); }
  void command_failed(unsigned cmdq, bool target) override { failures.emplace_back(cmdq, target); }
};

inline SharedPages make_pages(size_t bytes) {
  std::shared_ptr<void> owner(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096), std::free);
  std::memset(owner.get(), 0, (bytes + 4095) / 4096 * 4096);
  return {owner, {static_cast<std::byte*>(owner.get()), bytes}};
}

/// A command queue as a library writes it: pads to alignment, wraps to slot 4, rings the doorbell.
class CommandWriter {
 public:
  CommandWriter(size_t slots, bool triggered)
      : ring(make_pages(slots * 64)), launch(make_pages(4096)), triggered_(triggered) {}

  template <class Command>
  void push(const Command& command, size_t bytes = sizeof(Command)) {
    push_bytes(&command, bytes);
  }
  void push_bytes(const void* command, size_t bytes) {
    const size_t units = bytes <= 32 ? 1 : bytes <= 64 ? 2 : bytes <= 128 ? 4 : 8;
    while (wp32 % units != 0)
      pad(triggered_ ? 2 : 1);
    std::memset(unit(wp32), 0, units * 32);
    std::memcpy(unit(wp32), command, bytes);
    step(units);
  }
  void pad(size_t units) {
    std::memset(unit(wp32), 0, 8);
    if (units == 2)
      *unit(wp32) =
          static_cast<std::byte>(C_CMD_TYPE_CT | C_CMD_SIZE_64B << 2 | C_CMD_CT_NOOP << 4);
    step(units);
  }
  void ring_doorbell() {
    if (wp32 % 2 != 0) pad(1);
    write_doorbell(wp32 / 2);
  }
  void write_doorbell(uint64_t value) {
    __atomic_store_n(reinterpret_cast<uint64_t*>(launch.bytes.data()), value, __ATOMIC_RELEASE);
  }
  c_cq_status status() const {
    c_cq_status s;
    std::memcpy(&s, ring.bytes.data(), sizeof(s));
    return s;
  }
  std::byte* unit(size_t n) { return ring.bytes.data() + n * 32; }

  SharedPages ring, launch;
  size_t wp32 = C_CQ_FIRST_WR_PTR_32;
  unsigned index = 0;

 private:
  void step(size_t units) {
    wp32 += units;
    if (wp32 == ring.bytes.size() / 32) wp32 = C_CQ_FIRST_WR_PTR_32;
  }
  bool triggered_;
};

/// An event queue as a library reads it.
class EventReader {
 public:
  explicit EventReader(size_t slots) : ring(make_pages(slots * 64)), sw_state(make_pages(4096)) {}

  /// The next event that is not padding; its bytes are cleared.
  std::optional<c_event> next() {
    for (;;) {
      auto event = next_raw();
      if (!event || event->hdr.event_type != C_EVENT_NULL_EVENT) return event;
    }
  }
  std::optional<c_event> next_raw() {
    std::byte* p = ring.bytes.data() + at;
    c_event event{};
    std::memcpy(&event, p, 16);
    if (event.hdr.event_size == 0) return std::nullopt;
    const size_t size = size_t{8} << event.hdr.event_size;
    if ((std::to_integer<unsigned>(p[size - 1]) & 0x3f) == 0) return std::nullopt;
    std::memcpy(&event, p, size);
    std::memset(p, 0, size);
    at += size;
    if (at == ring.bytes.size()) at = 64;
    last_size = size;
    last_code = size == 16   ? event.init_short.return_code
                : size == 32 ? event.init_long.return_code
                             : event.tgt_long.return_code;
    return event;
  }
  void ack() { write_state(at / 64, false, 0); }
  void write_state(uint64_t rd_ptr, bool armed, unsigned value) {
    c_ee_cfg_eq_sw_state s{};
    s.rd_ptr = rd_ptr & 0x3ffffff;
    s.reading_buffer_b = buffer_b;
    s.event_int_disable = !armed;
    s.event_drop_seq_no = drop_seq;
    s.spare = value & 0xf;
    uint64_t word;
    std::memcpy(&word, &s, sizeof(word));
    __atomic_store_n(reinterpret_cast<uint64_t*>(sw_state.bytes.data()), word, __ATOMIC_SEQ_CST);
  }
  void arm(unsigned value) { write_state(at / 64, true, value); }
  c_eq_status status() const {
    c_eq_status s;
    std::memcpy(&s, ring.bytes.data(), sizeof(s));
    return s;
  }

  SharedPages ring, sw_state;
  size_t at = 64;
  size_t last_size = 0;
  unsigned last_code = 0;
  bool buffer_b = false, drop_seq = false;
  unsigned eqn = 0;
};

inline uint32_t dfa(uint32_t nid, unsigned pid, unsigned index) {
  return nid << 12 | (((index >> 5) << 9) + pid);
}

inline c_full_dma_cmd dma(unsigned opcode, uint32_t to_dfa, unsigned index) {
  c_full_dma_cmd c{};
  c.command.cmd_type = C_CMD_TYPE_DMA;
  c.command.cmd_size = C_CMD_SIZE_64B;
  c.command.opcode = opcode & 0xf;
  c.index_ext = index & 0x1f;
  std::memcpy(&c.dfa, &to_dfa, 4);
  c.event_send_disable = 1;
  return c;
}

inline c_cstate_cmd cstate(unsigned eqn, unsigned index, uint64_t user_ptr = 0) {
  c_cstate_cmd c{};
  c.command.cmd_type = C_CMD_TYPE_IDC;
  c.command.cmd_size = C_CMD_SIZE_32B;
  c.command.opcode = C_CMD_CSTATE;
  c.length = 32;
  c.index_ext = index & 0x1f;
  c.eq = eqn & 0x7ff;
  c.user_ptr = user_ptr;
  c.event_send_disable = 1;
  return c;
}

/// A small message with its payload; `bytes` of `command` are to be pushed.
struct SmallMessage {
  std::byte command[256] = {};
  size_t bytes = 64;
};
inline SmallMessage small_message(uint32_t to_dfa, std::string_view payload, uint64_t match_bits,
                                  uint64_t header_data, uint64_t user_ptr) {
  SmallMessage m;
  c_idc_msg_hdr h{};
  const size_t length = sizeof(h) + payload.size();
  m.bytes = length <= 64 ? 64 : length <= 128 ? 128 : 256;
  h.command.cmd_type = C_CMD_TYPE_IDC;
  h.command.cmd_size = m.bytes == 64    ? C_CMD_SIZE_64B
                       : m.bytes == 128 ? C_CMD_SIZE_128B
                                        : C_CMD_SIZE_256B;
  h.command.opcode = C_CMD_SMALL_MESSAGE;
  h.length = static_cast<uint8_t>(length);
  std::memcpy(&h.dfa, &to_dfa, 4);
  h.match_bits = match_bits;
  std::memcpy(&h.header_data, &header_data, 8);
  h.user_ptr = user_ptr;
  std::memcpy(m.command, &h, sizeof(h));
  std::memcpy(m.command + sizeof(h), payload.data(), payload.size());
  return m;
}

inline c_target_cmd append_cmd(unsigned pte, unsigned list, unsigned buffer_id) {
  c_target_cmd c{};
  c.command.cmd_type = C_CMD_TYPE_CQ;
  c.command.cmd_size = C_CMD_SIZE_64B;
  c.command.opcode = C_CMD_TGT_APPEND;
  c.ptlte_index = pte & 0x7ff;
  c.ptl_list = list & 3;
  c.buffer_id = static_cast<uint16_t>(buffer_id);
  std::memcpy(&c.match_id, &any_id, 4);
  c.ignore_bits = ~uint64_t{0};
  c.op_put = 1;
  c.event_link_disable = 1;
  c.event_unlink_disable = 1;
  return c;
}

inline c_set_state_cmd set_state_cmd(unsigned pte, unsigned state, unsigned drop_count) {
  c_set_state_cmd c{};
  c.command.cmd_type = C_CMD_TYPE_CQ;
  c.command.cmd_size = C_CMD_SIZE_64B;
  c.command.opcode = C_CMD_TGT_SETSTATE;
  c.ptlte_index = pte & 0x7ff;
  c.ptlte_state = state & 7;
  c.drop_count = drop_count & 0xffffff;
  return c;
}

inline c_cq_cmd cq_cmd(unsigned opcode, unsigned lcid = 0) {
  c_cq_cmd c{};
  c.command.cmd_type = C_CMD_TYPE_CQ;
  c.command.cmd_size = C_CMD_SIZE_64B;
  c.command.opcode = opcode & 0xf;
  c.lcid = lcid & 0xf;
  return c;
}

/// One NIC with one process on it: a resource group, memory, two command queues, two event queues.
class Node {
 public:
  Node(uint32_t nid_, fabric::Fabric& fabric, FakeClock& clock, RecordingTrace& trace,
       uint64_t give_up_ns = 1'000'000'000, bool counts_trigger = true, bool rendezvous_get = true)
      : nid(nid_), tx(256, false), target(256, false), init_eq(1024), target_eq(1024) {
    DeviceConfig config;
    config.nid = nid;
    config.iova_seed = nid * 77;
    config.give_up_ns = give_up_ns;
    config.drop_count_counts_trigger = counts_trigger;
    config.rendezvous_get = rendezvous_get;
    device = Device::make(config, fabric, clock, trace, interrupts);
    rgid = device->alloc_rgid().value;
    EXPECT_EQ(device->set_cp(rgid, 1, default_vni, 3, 0), 0);
    memory = std::make_shared<ProcessMemory>(0x7f00'1234'5000, size_t{4} << 20);
    map = device->map_memory(rgid, memory, memory->va(), memory->size(), true, true).value;
    add_eq(init_eq);
    add_eq(target_eq);
    add_cmdq(tx, true);
    add_cmdq(target, false);
  }

  void add_eq(EventReader& eq, EqConfig config = {}) {
    config.ring = eq.ring;
    config.sw_state = eq.sw_state;
    eq.eqn = device->create_eq(rgid, config).value;
    ASSERT_NE(eq.eqn, 0u);
    eq.ack();
  }
  void add_cmdq(CommandWriter& queue, bool transmit, CmdqConfig config = {}) {
    config.transmit = transmit;
    config.ring = queue.ring;
    config.launch = queue.launch;
    if (config.eqn == 0) config.eqn = init_eq.eqn;
    if (transmit && !config.triggered) config.lcid = 1;
    const auto made = device->create_cmdq(rgid, config);
    ASSERT_EQ(made.error, 0);
    queue.index = made.value;
  }
  /// An enabled portal entry at (vni, pid, index).
  unsigned add_pte(unsigned pid, unsigned index, PteConfig config = {.matching = true},
                   uint16_t vni = default_vni) {
    if (config.eqn == 0) config.eqn = target_eq.eqn;
    const unsigned pte = device->create_pte(rgid, config).value;
    EXPECT_EQ(device->map_portal(pte, vni, pid, index), 0);
    EXPECT_EQ(device->set_pte_state(pte, PteState::enabled, 0), 0);
    return pte;
  }
  uint64_t iova(uint64_t offset) const { return map.iova + offset; }
  /// A list entry over the process's memory.
  c_target_cmd buffer(unsigned pte, unsigned list, unsigned id, uint64_t offset, uint64_t length) {
    c_target_cmd c = append_cmd(pte, list, id);
    c.lac = map.lac & 7;
    c.start = iova(offset) & ((uint64_t{1} << 57) - 1);
    c.length = length & ((uint64_t{1} << 56) - 1);
    return c;
  }
  c_full_dma_cmd put(uint32_t to_dfa, unsigned index, uint64_t offset, uint32_t length) {
    c_full_dma_cmd c = dma(C_CMD_PUT, to_dfa, index);
    c.lac = map.lac & 7;
    c.local_addr = iova(offset) & ((uint64_t{1} << 57) - 1);
    c.request_len = length;
    c.eq = init_eq.eqn & 0x7ff;
    return c;
  }
  /// An atomic whose operand is at offset 0 and whose result goes to offset 64.
  c_dma_amo_cmd amo(unsigned opcode, uint32_t to_dfa, unsigned index, unsigned op, unsigned type,
                    uint32_t length) {
    c_dma_amo_cmd c{};
    c.command.cmd_type = C_CMD_TYPE_DMA;
    c.command.cmd_size = C_CMD_SIZE_128B;
    c.command.opcode = opcode & 0xf;
    c.index_ext = index & 0x1f;
    c.lac = c.write_lac = map.lac & 7;
    c.event_send_disable = 1;
    std::memcpy(&c.dfa, &to_dfa, 4);
    c.local_read_addr = iova(0) & ((uint64_t{1} << 57) - 1);
    c.local_write_addr = iova(64) & ((uint64_t{1} << 57) - 1);
    c.request_len = length;
    c.eq = init_eq.eqn & 0x7ff;
    c.atomic_op = op & 0xf;
    c.atomic_type = type & 0xf;
    return c;
  }
  void fill(uint64_t offset, size_t length, unsigned seed) {
    for (size_t i = 0; i < length; i++)
      *memory->at(offset + i) = static_cast<std::byte>((i * 7 + seed) & 0xff);
  }
  std::string text(uint64_t offset, size_t length) {
    return {reinterpret_cast<const char*>(memory->at(offset)), length};
  }

  uint32_t nid;
  RecordingInterrupts interrupts;
  std::unique_ptr<Device> device;
  unsigned rgid = 0;
  std::shared_ptr<ProcessMemory> memory;
  Mapping map;
  CommandWriter tx, target;
  EventReader init_eq, target_eq;
};

/// Two NICs on one fabric.
class TwoNics : public ::testing::Test {
 protected:
  void run(unsigned most = 2000) {
    for (unsigned i = 0, idle = 0; i < most && idle < 3; i++) {
      const bool first = a.device->step(), second = b.device->step();
      idle = first || second ? 0 : idle + 1;
    }
  }
  static void go(CommandWriter& queue) { queue.ring_doorbell(); }

  FakeClock clock;
  RecordingTrace trace;
  std::unique_ptr<fabric::Fabric> fabric = fabric::Fabric::in_process();
  Node a{1, *fabric, clock, trace};
  Node b{2, *fabric, clock, trace};
};

}  // namespace sim::nic::testing
