// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Puts of all kinds, from command to events on both sides.
#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class Transfer : public TwoNics {
 protected:
  static constexpr unsigned pid = 5, index = 3;
  uint32_t to_b() const { return dfa(2, pid, index); }
};

TEST_F(Transfer, APutLandsInThePostedBufferAndBothSidesAreTold) {
  const unsigned pte = b.add_pte(pid, index);
  auto entry = b.buffer(pte, C_PTL_LIST_PRIORITY, 77, 4096, 1000);
  entry.use_once = 1;
  b.target.push(entry);
  go(b.target);
  run();
  a.fill(100, 500, 1);
  auto put = a.put(to_b(), index, 100, 500);
  put.user_ptr = 0xabcdef;
  put.match_bits = 0x1122334455667788;
  const uint64_t header = 0x99aabbccddeeff00;
  std::memcpy(&put.header_data, &header, 8);
  const uint32_t initiator = 0x02800001;
  std::memcpy(&put.initiator, &initiator, 4);
  put.remote_offset = 8;
  a.tx.push(put);
  go(a.tx);
  run();

  EXPECT_EQ(a.text(100, 500), b.text(4096 + 8, 500));
  auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(b.target_eq.last_size, 32u);
  EXPECT_EQ(event->tgt_short.event_type, C_EVENT_PUT);
  EXPECT_EQ(event->tgt_short.return_code, C_RC_OK);
  EXPECT_EQ(event->tgt_short.buffer_id, 77);
  EXPECT_EQ(event->tgt_short.length, 500u);
  EXPECT_EQ(event->tgt_short.vni, default_vni);
  EXPECT_EQ(event->tgt_short.match_bits, 0x1122334455667788u);
  EXPECT_EQ(event->tgt_short.header_data, 0x99aabbccddeeff00u);
  EXPECT_EQ(event->tgt_short.initiator, initiator);
  EXPECT_EQ(event->tgt_short.ptlte_index, pte);
  EXPECT_TRUE(event->tgt_short.auto_unlinked);
  EXPECT_FALSE(b.target_eq.next());

  event = a.init_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(a.init_eq.last_size, 16u);
  EXPECT_EQ(event->init_short.event_type, C_EVENT_ACK);
  EXPECT_EQ(event->init_short.return_code, C_RC_OK);
  EXPECT_EQ(event->init_short.user_ptr, 0xabcdefu);
  EXPECT_EQ(event->init_short.mlength, 500u);
  EXPECT_EQ(event->init_short.ptl_list, C_PTL_LIST_PRIORITY);
  EXPECT_FALSE(event->init_short.tgt_error);
  EXPECT_FALSE(a.init_eq.next());
}

TEST_F(Transfer, LongEventsTellStartOffsetAndTime) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .long_events = true});
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 1, 0, 100));
  go(b.target);
  auto put = a.put(to_b(), index, 0, 90);
  put.remote_offset = 20;
  a.tx.push(put);
  go(a.tx);
  run();
  const auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(b.target_eq.last_size, 64u);
  EXPECT_EQ(event->tgt_long.start, b.iova(20));
  EXPECT_EQ(event->tgt_long.remote_offset, 20u);
  EXPECT_EQ(event->tgt_long.rlength, 90u);
  EXPECT_EQ(event->tgt_long.mlength, 80u);  // truncated, and yet
  EXPECT_EQ(event->tgt_long.return_code, C_RC_OK);
  EXPECT_EQ(event->tgt_long.timestamp_ns, clock.real % 1'000'000'000);
  EXPECT_EQ(event->tgt_long.timestamp_sec_low, clock.real / 1'000'000'000 % 4);
  EXPECT_FALSE(event->tgt_long.auto_unlinked);
  const auto ack = a.init_eq.next();
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->init_short.mlength, 80u);
}

TEST_F(Transfer, ASmallMessageTakesItsOptionsFromCstate) {
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 9, 64, 256));
  go(b.target);
  auto state = cstate(a.init_eq.eqn, index, 0x1111);
  const uint32_t initiator = 0x0a0b0c0d;
  std::memcpy(&state.initiator, &initiator, 4);
  a.tx.push(state);
  const auto message = small_message(to_b(), "hello, cassini", 42, 43, 0x2222);
  a.tx.push_bytes(message.command, message.bytes);
  go(a.tx);
  run();
  EXPECT_EQ(b.text(64, 14), "hello, cassini");
  const auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_short.length, 14u);
  EXPECT_EQ(event->tgt_short.match_bits, 42u);
  EXPECT_EQ(event->tgt_short.header_data, 43u);
  EXPECT_EQ(event->tgt_short.initiator, initiator);
  const auto ack = a.init_eq.next();
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->init_short.user_ptr, 0x2222u);
  EXPECT_EQ(ack->init_short.mlength, 14u);
}

TEST_F(Transfer, SmallMessagesOfEverySizeArrive) {
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 9, 0, 256));
  go(b.target);
  a.tx.push(cstate(a.init_eq.eqn, index));
  for (size_t length : {0, 1, 32, 33, 96, 97, 192}) {
    const std::string payload(length, static_cast<char>('a' + length % 26));
    const auto message = small_message(to_b(), payload, 0, 0, length);
    a.tx.push_bytes(message.command, message.bytes);
    go(a.tx);
    run();
    EXPECT_EQ(b.text(0, length), payload);
    const auto ack = a.init_eq.next();
    ASSERT_TRUE(ack) << length;
    EXPECT_EQ(ack->init_short.mlength, length);
  }
}

TEST_F(Transfer, AnImmediatePutUsesUserPointerOfCstateAndNoMatchBits) {
  const unsigned pte = b.add_pte(pid, index, {.matching = false});
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 9, 0, 256));
  go(b.target);
  a.tx.push(cstate(a.init_eq.eqn, index, 0x77));
  struct {
    c_idc_hdr head;
    char data[16];
  } __attribute__((packed)) put{};
  put.head.command.cmd_size = C_CMD_SIZE_32B;
  put.head.command.opcode = C_CMD_PUT;
  put.head.length = 16 + 5;
  const uint32_t to = to_b();
  std::memcpy(&put.head.dfa, &to, 4);
  put.head.remote_offset = 3;
  std::memcpy(put.data, "12345", 5);
  a.tx.push(put);
  go(a.tx);
  run();
  EXPECT_EQ(b.text(3, 5), "12345");
  const auto ack = a.init_eq.next();
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->init_short.user_ptr, 0x77u);
}

TEST_F(Transfer, ZeroBytesNeedNoMemoryOnEitherSide) {
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(append_cmd(pte, C_PTL_LIST_PRIORITY, 4));
  go(b.target);
  auto put = dma(C_CMD_PUT, to_b(), index);
  put.eq = a.init_eq.eqn & 0x7ff;
  a.tx.push(put);
  go(a.tx);
  run();
  const auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_short.return_code, C_RC_OK);
  EXPECT_EQ(event->tgt_short.length, 0u);
  const auto ack = a.init_eq.next();
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->init_short.return_code, C_RC_OK);
}

TEST_F(Transfer, LongPutsOfSeveralPacketsMakeOneEvent) {
  const unsigned pte = b.add_pte(pid, index, {.matching = true, .long_events = true});
  const uint32_t length = (1 << 20) + 12345;
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 4, 2 << 20, 2 << 20));
  go(b.target);
  a.fill(7, length, 3);
  a.tx.push(a.put(to_b(), index, 7, length));
  a.tx.push(a.put(to_b(), index, 0, 0));  // stays behind it
  go(a.tx);
  run();
  EXPECT_EQ(a.text(7, length), b.text(2 << 20, length));
  auto event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_long.mlength, length);
  event = b.target_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_long.mlength, 0u);
  EXPECT_FALSE(b.target_eq.next());
  ASSERT_TRUE(a.init_eq.next());
  ASSERT_TRUE(a.init_eq.next());
  EXPECT_FALSE(a.init_eq.next());
}

TEST_F(Transfer, ALongPutDoesNotHoldUpAnotherQueue) {
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 4, 0, 4 << 20));
  go(b.target);
  run();
  CommandWriter other(64, false);
  a.add_cmdq(other, true);
  auto big = a.put(to_b(), index, 0, 4 << 20);
  big.user_ptr = 1;
  a.tx.push(big);
  go(a.tx);
  auto little = a.put(to_b(), index, 0, 8);
  little.user_ptr = 2;
  other.push(little);
  go(other);
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.user_ptr, 2u);
  EXPECT_EQ(a.init_eq.next()->init_short.user_ptr, 1u);
}

TEST_F(Transfer, LoopbackToTheSameNicWorks) {
  const unsigned pte = a.add_pte(pid, index);
  a.target.push(a.buffer(pte, C_PTL_LIST_PRIORITY, 4, 8192, 100));
  go(a.target);
  a.fill(0, 100, 9);
  a.tx.push(a.put(dfa(1, pid, index), index, 0, 100));
  go(a.tx);
  run();
  EXPECT_EQ(a.text(0, 100), a.text(8192, 100));
  EXPECT_TRUE(a.init_eq.next());
  EXPECT_TRUE(a.target_eq.next());
}

TEST_F(Transfer, SendEventsComeFirstAndOnlyWhenWanted) {
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 4, 0, 100));
  go(b.target);
  auto put = a.put(to_b(), index, 0, 10);
  put.event_send_disable = 0;
  a.tx.push(put);
  put.event_success_disable = 1;
  a.tx.push(put);
  go(a.tx);
  run();
  EXPECT_EQ(a.init_eq.next()->init_short.event_type, C_EVENT_SEND);
  EXPECT_EQ(a.init_eq.next()->init_short.event_type, C_EVENT_ACK);
  EXPECT_FALSE(a.init_eq.next());
}

TEST_F(Transfer, LongInitiatorEventsCarryTheTime) {
  EventReader eq(64);
  a.add_eq(eq, {.initiator_long = true});
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 4, 0, 100));
  go(b.target);
  auto put = a.put(to_b(), index, 0, 10);
  put.eq = eq.eqn & 0x7ff;
  a.tx.push(put);
  go(a.tx);
  run();
  const auto event = eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(eq.last_size, 32u);
  EXPECT_EQ(event->init_long.timestamp_sec, clock.real / 1'000'000'000);
  EXPECT_EQ(event->init_long.timestamp_ns, clock.real % 1'000'000'000);
}

TEST_F(Transfer, MessagesOfOneQueueAreMatchedInOrder) {
  const unsigned pte = b.add_pte(pid, index);
  for (unsigned i = 0; i < 40; i++) {
    auto entry = b.buffer(pte, C_PTL_LIST_PRIORITY, i, i * 64, 64);
    entry.use_once = 1;
    b.target.push(entry);
  }
  go(b.target);
  run();
  a.tx.push(cstate(a.init_eq.eqn, index));
  for (unsigned i = 0; i < 40; i++) {
    const auto message = small_message(to_b(), std::string(1 + i, 'x'), i, i, i);
    a.tx.push_bytes(message.command, message.bytes);
  }
  go(a.tx);
  run();
  for (unsigned i = 0; i < 40; i++) {
    const auto event = b.target_eq.next();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->tgt_short.buffer_id, i);
    EXPECT_EQ(event->tgt_short.length, 1 + i);
  }
}

TEST_F(Transfer, CommandsBehindAFenceWaitForTheAnswer) {
  const unsigned pte = b.add_pte(pid, index);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 4, 0, 100));
  go(b.target);
  b.device->step();
  a.tx.push(a.put(to_b(), index, 0, 10));
  a.tx.push(cq_cmd(C_CMD_CQ_FENCE));
  a.tx.push(a.put(to_b(), index, 0, 20));
  go(a.tx);
  for (int i = 0; i < 10; i++)
    a.device->step();
  b.device->step();
  EXPECT_TRUE(b.target_eq.next());
  EXPECT_FALSE(b.target_eq.next());
  run();
  EXPECT_EQ(b.target_eq.next()->tgt_short.length, 20u);
}

TEST_F(Transfer, AnLcidChangeSelectsTheVniOfLaterCommands) {
  const unsigned pte = b.add_pte(pid, index);
  ASSERT_EQ(b.device->map_portal(pte, 20, pid, index), 0);
  b.target.push(b.buffer(pte, C_PTL_LIST_PRIORITY, 4, 0, 100));
  go(b.target);
  ASSERT_EQ(a.device->set_cp(a.rgid, 2, 20, 3, 0), 0);
  a.tx.push(a.put(to_b(), index, 0, 10));
  while (a.tx.wp32 % 4 != 0)
    a.tx.pad(1);
  a.tx.push(cq_cmd(C_CMD_CQ_LCID, 2));
  a.tx.push(cq_cmd(C_CMD_CQ_NOOP));
  a.tx.push(a.put(to_b(), index, 0, 10));
  go(a.tx);
  run();
  EXPECT_EQ(b.target_eq.next()->tgt_short.vni, default_vni);
  EXPECT_EQ(b.target_eq.next()->tgt_short.vni, 20);
}

TEST_F(Transfer, NoStepWithoutAnythingToDoReportsWork) {
  EXPECT_FALSE(a.device->step());
  EXPECT_FALSE(a.device->next_due_ns());
}

}  // namespace
}  // namespace sim::nic::testing
