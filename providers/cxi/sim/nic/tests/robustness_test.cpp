// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Programs that write anything anywhere. Nothing may crash, hang, or touch what is not theirs; and
// another program on the same NIC goes on as if nothing had happened.
#include <cerrno>
#include <random>

#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class Robustness : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 3;
  std::mt19937_64 random{1};
  uint64_t any(uint64_t below) { return random() % below; }

  void scribble(std::byte* to, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
      to[i] = static_cast<std::byte>(random());
  }
  // A second program on the same NIC, in a group of its own.
  void expect_another_program_to_work() {
    const unsigned rgid = b.device->alloc_rgid().value;
    ASSERT_NE(rgid, 0u);
    ASSERT_EQ(b.device->set_cp(rgid, 1, 77, 3, 0), 0);
    EventReader eq(64);
    const unsigned eqn =
        b.device->create_eq(rgid, {.ring = eq.ring, .sw_state = eq.sw_state}).value;
    eq.ack();
    const unsigned pte = b.device->create_pte(rgid, {.eqn = eqn, .matching = true}).value;
    ASSERT_EQ(b.device->map_portal(pte, 77, pid, index), 0);
    ASSERT_EQ(b.device->set_pte_state(pte, PteState::enabled, 0), 0);
    ListEntry entry;
    entry.op_put = true;
    ASSERT_EQ(b.device->append(pte, entry), 0);
    CommandWriter queue(64, false);
    const auto made = b.device->create_cmdq(
        rgid, {.ring = queue.ring, .launch = queue.launch, .eqn = eqn, .lcid = 1});
    ASSERT_EQ(made.error, 0);
    auto put = dma(C_CMD_PUT, dfa(2, pid, index), index);
    put.eq = eqn & 0x7ff;
    queue.push(put);
    go(queue);
    run();
    bool acknowledged = false;
    while (const auto event = eq.next())
      acknowledged |= event->hdr.event_type == C_EVENT_ACK && eq.last_code == C_RC_OK;
    EXPECT_TRUE(acknowledged);
  }
};

TEST_F(Robustness, RandomBytesInTheTransmitQueue) {
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 4096));
  go(b.target);
  for (unsigned seed = 0; seed < 400; seed++) {
    random.seed(seed);
    scribble(a.tx.unit(8), 64 * 60);
    a.tx.write_doorbell(5 + any(60));
    for (int i = 0; i < 200; i++) {
      a.device->step();
      b.device->step();
    }
    a.device->restart_cmdq(a.tx.index);
    while (a.init_eq.next()) {
    }
    a.init_eq.ack();
  }
  expect_another_program_to_work();
}

TEST_F(Robustness, PlausibleTransferCommandsWithRandomFields) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .flow_control = false});
  auto entry = b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 1 << 20);
  entry.op_get = 1;
  b.target.push(entry);
  go(b.target);
  run();
  for (unsigned seed = 0; seed < 400; seed++) {
    random.seed(seed);
    a.device->restart_cmdq(a.tx.index);
    a.tx.wp32 = C_CQ_FIRST_WR_PTR_32;
    for (int i = 0; i < 12; i++) {
      auto command = a.put(dfa(1 + any(3) % 2, pid, index), index, any(4096), 1);
      constexpr unsigned opcodes[] = {C_CMD_PUT, C_CMD_GET, C_CMD_RENDEZVOUS_PUT};
      command.command.opcode = opcodes[any(3)];
      command.request_len = static_cast<uint32_t>(any(2) ? any(3000) : random() >> any(64));
      command.eager_length = any(4096) & 0xfffff;
      command.remote_offset = (random() >> any(64)) & ((uint64_t{1} << 56) - 1);
      if (any(4) == 0) command.local_addr = random() & ((uint64_t{1} << 57) - 1);
      if (any(8) == 0) command.lac = any(8) & 7;
      command.restricted = any(4) == 0;
      command.use_offset_for_get = any(2) & 1;
      command.match_bits = random();
      a.tx.push(command);
    }
    go(a.tx);
    for (int i = 0; i < 100; i++) {
      a.device->step();
      b.device->step();
    }
    for (EventReader* eq : {&a.init_eq, &a.target_eq, &b.init_eq, &b.target_eq}) {
      while (eq->next()) {
      }
      eq->ack();
    }
  }
  expect_another_program_to_work();
}

TEST_F(Robustness, RandomTargetCommandsWhileMessagesArrive) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .flow_control = true});
  for (unsigned seed = 0; seed < 300; seed++) {
    random.seed(seed);
    b.device->restart_cmdq(b.target.index);
    b.target.wp32 = C_CQ_FIRST_WR_PTR_32;
    for (int i = 0; i < 20; i++) {
      c_target_cmd command;
      scribble(reinterpret_cast<std::byte*>(&command), sizeof(command));
      command.command.cmd_type = C_CMD_TYPE_CQ;
      command.command.cmd_size = C_CMD_SIZE_64B;
      command.command.opcode = (8 + any(5)) & 0xf;
      command.ptlte_index = pte & 0x7ff;
      command.ct = 0;
      if (any(2)) command.ptl_list = any(3) & 3;
      if (any(2)) {
        command.lac = b.map.lac & 7;
        command.start = b.iova(any(4096)) & ((uint64_t{1} << 57) - 1);
        command.length = any(70000);
      }
      b.target.push(command);
    }
    go(b.target);
    for (int i = 0; i < 8; i++) {
      auto put = a.put(dfa(2, pid, index), index, 0, static_cast<uint32_t>(any(5000)));
      put.match_bits = random();
      a.tx.push(put);
    }
    go(a.tx);
    run(100);
    for (EventReader* eq : {&a.init_eq, &b.init_eq, &b.target_eq}) {
      while (eq->next()) {
      }
      eq->ack();
    }
    ASSERT_EQ(b.device->set_pte_state(pte, PteState::disabled, 0), 0);
    ASSERT_EQ(b.device->set_pte_state(pte, PteState::enabled, 0xffffff), 0);
  }
  expect_another_program_to_work();
}

TEST_F(Robustness, RandomDoorbellsAndSoftwareStates) {
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 4096));
  go(b.target);
  run();
  random.seed(7);
  for (int i = 0; i < 2000; i++) {
    a.tx.write_doorbell(random());
    std::memset(a.tx.ring.bytes.data(), 0, 8);
    const uint64_t state = random();
    __atomic_store_n(reinterpret_cast<uint64_t*>(a.init_eq.sw_state.bytes.data()), state,
                     __ATOMIC_RELAXED);
    a.device->step();
    b.device->step();
  }
  expect_another_program_to_work();
}

TEST_F(Robustness, RandomPacketsFromAStrangeNic) {
  struct Stranger : fabric::Endpoint {
    void deliver(fabric::Packet&&) override {}
  } stranger;
  ASSERT_EQ(fabric->attach(9, stranger), 0);
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 4096));
  go(b.target);
  random.seed(11);
  for (int i = 0; i < 20000; i++) {
    fabric::Packet packet;
    packet.source_nid = 9;
    packet.destination_nid = 2;
    constexpr size_t sizes[] = {63, 49, 33, 31, 34};
    packet.header.resize(any(10) ? sizes[any(5)] : any(80));
    scribble(packet.header.data(), packet.header.size());
    if (packet.header.size() > 20) {
      packet.header[0] = std::byte{0x45};
      const uint16_t vni = default_vni;
      std::memcpy(&packet.header[4], &vni, 2);
      const uint32_t to = dfa(2, pid, index);
      std::memcpy(&packet.header[16], &to, 4);
    }
    packet.payload.resize(any(64));
    fabric->send(std::move(packet));
    if (i % 16 == 0) b.device->step();
  }
  run();
  expect_another_program_to_work();
}

TEST_F(Robustness, ImpossibleResourcesAreRefused) {
  Device& d = *a.device;
  EventReader eq(64);
  EXPECT_EQ(d.create_eq(77, {.ring = eq.ring, .sw_state = eq.sw_state}).error, EINVAL);
  EXPECT_EQ(d.create_eq(a.rgid, {.ring = {}, .sw_state = eq.sw_state}).error, EINVAL);
  EXPECT_EQ(
      d.create_eq(a.rgid, {.ring = eq.ring, .sw_state = eq.sw_state, .reserved_slots = 64}).error,
      EINVAL);
  CommandWriter queue(64, false);
  EXPECT_EQ(d.create_cmdq(a.rgid, {.ring = queue.ring, .launch = queue.launch, .lcid = 7}).error,
            EINVAL)
      << "no profile there";
  EXPECT_EQ(d.create_cmdq(
                 a.rgid, {.triggered = true, .ring = queue.ring, .launch = queue.launch, .lcid = 1})
                .error,
            EINVAL);
  EXPECT_EQ(d.create_cmdq(a.rgid,
                          {.ethernet = true, .ring = queue.ring, .launch = queue.launch, .lcid = 1})
                .error,
            EOPNOTSUPP);
  EXPECT_EQ(d.set_cp(a.rgid, 16, 1, 0, 0), EINVAL);
  EXPECT_EQ(d.set_cp(a.rgid, 0, 0, 0, 0), EINVAL);
  EXPECT_EQ(d.map_portal(999, 1, 1, 1), EINVAL);
  const unsigned pte = a.add_pte(pid, index);
  EXPECT_EQ(d.map_portal(pte, default_vni, 511, 0), EINVAL);
  EXPECT_EQ(d.map_portal(pte, default_vni, 0, 256), EINVAL);
  EXPECT_EQ(d.map_portal(pte, 0, 0, 0), EINVAL);
  EXPECT_EQ(d.map_portal(pte, default_vni, pid, index), EEXIST);
  EXPECT_EQ(d.map_memory(99, a.memory, a.memory->va(), 10, true, true).error, EINVAL);
  EXPECT_EQ(d.map_memory(a.rgid, nullptr, 0, 10, true, true).error, EINVAL);
  EXPECT_EQ(Device::make({.nid = 1}, *fabric, clock, trace, a.interrupts), nullptr)
      << "the NID is taken";
}

TEST_F(Robustness, NumbersRunOutAndComeBack) {
  Device& d = *a.device;
  std::vector<unsigned> groups;
  for (;;) {
    const auto made = d.alloc_rgid();
    if (!made) {
      EXPECT_EQ(made.error, ENOSPC);
      break;
    }
    groups.push_back(made.value);
  }
  EXPECT_EQ(groups.size(), 254u) << "255, one of which is the node's";
  d.free_rgid(groups.back());
  EXPECT_EQ(d.alloc_rgid().value, groups.back());
  unsigned ptes = 0;
  while (d.create_pte(a.rgid, {}))
    ptes++;
  EXPECT_EQ(ptes, 2047u);
  unsigned cts = 0;
  while (d.create_ct(a.rgid, nullptr, 0))
    cts++;
  EXPECT_EQ(cts, 2047u);
}

}  // namespace
}  // namespace sim::nic::testing
