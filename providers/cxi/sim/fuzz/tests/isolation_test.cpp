// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Programs of different users on one NIC, with the kernel and the engine as they are: what one does
// with the other's numbers, addresses and cookies has no effect on it.
#include "fuzz/bystander.hpp"

namespace sim::fuzz {
namespace {

class TwoPrograms : public ::testing::Test {
 protected:
  TwoPrograms() {
    uverbs::KernelConfig config;
    kernel = uverbs::Kernel::make(config, clock, trace);
    bystander = std::make_unique<Bystander>(*kernel);
    attacker = std::make_unique<Program>(*kernel, 0, 1000, 0);
    attacker->set_up(1, C_PID_ANY);
  }
  ~TwoPrograms() override { attacker.reset(); }
  const Program& victim() const { return bystander->program(); }

  c_full_dma_cmd put(uint32_t to_pid, unsigned index = 0) {
    auto command = nic::testing::dma(C_CMD_PUT, nic::testing::dfa(1, to_pid, index), index);
    command.lac = attacker->lac & 7;
    command.local_addr = attacker->iova(buffer_va) & ((uint64_t{1} << 57) - 1);
    command.request_len = 64;
    command.match_bits = 1;
    command.eq = attacker->eqn & 0x7ff;
    return command;
  }
  template <class Command>
  unsigned status_after(CommandWriter& queue, const Command& command) {
    queue.push(command);
    queue.ring_doorbell();
    attacker->run(*kernel);
    return queue.status().return_code;
  }
  unsigned answer(const c_full_dma_cmd& command) {
    while (attacker->events.next()) {
    }
    attacker->queues[0].push(command);
    attacker->queues[0].ring_doorbell();
    attacker->run(*kernel);
    // Events of the portal entry are on the same queue.
    while (const auto event = attacker->events.next()) {
      if (event->hdr.event_type == C_EVENT_ACK || event->hdr.event_type == C_EVENT_REPLY)
        return attacker->events.last_code;
    }
    ADD_FAILURE() << "no answer";
    return 0;
  }
  void expect_unharmed() {
    bystander->expect_untouched();
    bystander->expect_working(clock);
  }

  uverbs::test::FakeClock clock;
  Silence trace;
  std::unique_ptr<uverbs::Kernel> kernel;
  std::unique_ptr<Bystander> bystander;
  std::unique_ptr<Program> attacker;
};

TEST_F(TwoPrograms, AnothersEventQueueIsNotToBeNamed) {
  auto command = put(0);
  command.eq = victim().eqn & 0x7ff;
  EXPECT_EQ(status_after(attacker->queues[0], command), unsigned{C_RC_PERM_VIOLATION});
  expect_unharmed();
}

TEST_F(TwoPrograms, AnothersCounterIsNotToBeNamed) {
  auto command = put(0);
  command.ct = victim().ct_number & 0x7ff;
  EXPECT_EQ(status_after(attacker->queues[0], command), unsigned{C_RC_PERM_VIOLATION});
  c_ct_cmd head{};
  head.command.cmd_type = C_CMD_TYPE_CT;
  head.command.cmd_size = C_CMD_SIZE_64B;
  head.command.opcode = C_CMD_CT_INC;
  head.ct = victim().ct_number & 0x7ff;
  head.set_ct_success = 1;
  head.ct_success = 100;
  std::array<std::byte, 64> counter{};
  std::memcpy(counter.data(), &head, sizeof head);
  EXPECT_EQ(status_after(attacker->queues[2], counter), unsigned{C_RC_PERM_VIOLATION});
  expect_unharmed();
}

TEST_F(TwoPrograms, AnothersPortalEntryIsNotToBeNamed) {
  EXPECT_EQ(status_after(attacker->queues[1],
                         nic::testing::set_state_cmd(victim().pte_number, C_PTLTE_RESET, 0)),
            unsigned{C_RC_PERM_VIOLATION});
  expect_unharmed();
}

TEST_F(TwoPrograms, AnothersAppendIsNotToBeUnlinkedOrAddedTo) {
  auto append = nic::testing::append_cmd(victim().pte_number, C_PTL_LIST_PRIORITY, 1);
  append.command.opcode = C_CMD_TGT_UNLINK;
  EXPECT_EQ(status_after(attacker->queues[1], append), unsigned{C_RC_PERM_VIOLATION});
  expect_unharmed();
}

TEST_F(TwoPrograms, AnothersMemoryIsNotReachedByItsIoAddress) {
  auto command = put(attacker->pid);
  command.lac = victim().lac & 7;
  command.local_addr = victim().iova(buffer_va + 0x8000) & ((uint64_t{1} << 57) - 1);
  const unsigned code = answer(command);
  EXPECT_TRUE(code == C_RC_NO_TRANSLATION || code == C_RC_ADDR_OUT_OF_RANGE) << code;
  command.command.opcode = C_CMD_GET;
  const unsigned of_get = answer(command);
  EXPECT_TRUE(of_get == C_RC_NO_TRANSLATION || of_get == C_RC_ADDR_OUT_OF_RANGE) << of_get;
  expect_unharmed();
}

TEST_F(TwoPrograms, AnothersPidIsNotReachedInADifferentVni) {
  EXPECT_EQ(answer(put(victim().pid)), unsigned{C_RC_PTLTE_NOT_FOUND});
  expect_unharmed();
}

TEST_F(TwoPrograms, APageOfOneDescriptorIsNoPageOfAnother) {
  const auto pages = attacker->window().all();
  std::fill(pages.begin(), pages.end(), std::byte{0xff});
  attacker->run(*kernel);
  expect_unharmed();
}

TEST_F(TwoPrograms, AProgramThatEndsInTheMiddleTakesOnlyItsOwnWithIt) {
  for (int i = 0; i < 20; ++i)
    attacker->queues[0].push(put(attacker->pid));
  attacker->queues[0].ring_doorbell();
  kernel->step();
  attacker.reset();
  expect_unharmed();
  bystander->expect_destructible();
}

TEST_F(TwoPrograms, TriggeredEntriesAreChargedToTheServiceUntilTheyFire) {
  Program& p = *attacker;
  const auto used = [&] { return p.file().nic.services.find(1)->used(CXI_ABI_RSRC_TLE); };
  c_ct_cmd head{};
  head.command.cmd_type = C_CMD_TYPE_CT;
  head.command.cmd_size = C_CMD_SIZE_64B;
  head.command.opcode = C_CMD_CT_TRIG_EVENT;
  head.trig_ct = p.ct_number & 0x7ff;
  head.threshold = 1;
  std::array<std::byte, 64> command{};
  std::memcpy(command.data(), &head, sizeof head);
  for (int i = 0; i < 520; ++i)
    status_after(p.queues[2], command);
  EXPECT_EQ(used(), 512u) << "what the service has; the queue stands";
  bystander->expect_untouched();
  ASSERT_EQ(p.native(CXI_OBJECT_CT, CXI_METHOD_CT_INC, cxi_abi_ct_req{0, 1, 0, 0}, 0,
                     {{CXI_ATTR_HANDLE, p.ct}})
                .error,
            0);
  p.run(*kernel, 1000);
  EXPECT_EQ(used(), 0u);
  expect_unharmed();
}

}  // namespace
}  // namespace sim::fuzz
