// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// High-rate puts: a switch answers them, whatever the target does, and not everything can be one.
#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class HighRatePut : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 3, high_rate = 1;
  void SetUp() override { ASSERT_EQ(a.device->set_cp(a.rgid, 1, default_vni, 3, high_rate), 0); }
  void expose() {
    const unsigned pte = b.add_pte(pid, index, {.matching = false});
    b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 1 << 20));
    go(b.target);
    run();
  }
  c_full_dma_cmd put(uint32_t length, uint32_t nid = 2) {
    auto command = a.put(dfa(nid, pid, index), index, 4096, length);
    command.restricted = 1;
    return command;
  }
  c_event_initiator_short answer(const c_full_dma_cmd& command) {
    a.tx.push(command);
    go(a.tx);
    run();
    const auto event = a.init_eq.next();
    EXPECT_TRUE(event);
    EXPECT_FALSE(a.init_eq.next());
    return event ? event->init_short : c_event_initiator_short{};
  }
};

TEST_F(HighRatePut, IsPlacedAndAcknowledged) {
  expose();
  a.fill(4096, 5000, 3);
  const auto event = answer(put(5000));  // of three packets
  EXPECT_EQ(event.event_type, C_EVENT_ACK);
  EXPECT_EQ(event.return_code, C_RC_OK);
  EXPECT_EQ(event.mlength, 5000u);
  EXPECT_EQ(b.text(0, 5000), a.text(4096, 5000));
}

TEST_F(HighRatePut, IsAcknowledgedWhateverTheTargetDoes) {
  EXPECT_EQ(answer(put(8)).return_code, C_RC_OK) << "nobody there has the VNI";
  b.add_pte(pid, index + 1, {.matching = false});
  EXPECT_EQ(answer(put(8)).return_code, C_RC_OK) << "no such place";
  const unsigned pte = b.add_pte(pid, index, {.matching = false});
  EXPECT_EQ(answer(put(8)).return_code, C_RC_OK) << "no list entry";
  ASSERT_EQ(b.device->set_pte_state(pte, PteState::disabled, 0), 0);
  EXPECT_EQ(answer(put(8)).return_code, C_RC_OK) << "disabled";
}

TEST_F(HighRatePut, ToANicThatIsNotThereIsUndeliverable) {
  a.tx.push(put(8, 9));
  go(a.tx);
  run();
  EXPECT_FALSE(a.init_eq.next());
  clock.mono += 1'100'000'000;
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.return_code, C_RC_UNDELIVERABLE);
}

TEST_F(HighRatePut, NeedsASwitchAndTheRestrictedFormatAndNoReply) {
  expose();
  EXPECT_EQ(answer(put(8, 1)).return_code, C_RC_HRP_CONFIG_ERROR) << "to the same NIC";
  auto command = put(8);
  command.restricted = 0;
  EXPECT_EQ(answer(command).return_code, C_RC_HRP_CONFIG_ERROR);
  command = put(8);
  command.command.opcode = C_CMD_GET;
  const auto event = answer(command);
  EXPECT_EQ(event.return_code, C_RC_HRP_CONFIG_ERROR);
  EXPECT_EQ(event.event_type, C_EVENT_REPLY);
  EXPECT_FALSE(event.tgt_error);
}

}  // namespace
}  // namespace sim::nic::testing
