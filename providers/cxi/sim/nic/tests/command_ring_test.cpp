// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The ring as the NIC reads it, with a program that may write anything.
#include "nic/command_ring.hpp"

#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class Commands : public ::testing::Test {
 protected:
  static constexpr size_t slots = 64;
  Commands() : writer(slots, false), ring(writer.ring, writer.launch, StatusPolicy::always) {}
  unsigned take() {
    const auto fetched = ring.fetch(bytes);
    EXPECT_EQ(fetched.return_code, C_RC_OK);
    ring.advance(fetched.bytes);
    return fetched.bytes;
  }
  void push(unsigned size_code) {
    std::byte command[256] = {};
    command[0] = static_cast<std::byte>(size_code << 2);
    writer.push_bytes(command, size_t{32} << size_code);
  }
  CommandWriter writer;
  CommandRing ring;
  CommandBytes bytes;
};

TEST_F(Commands, StartsAtSlotFourAndSaysSo) {
  EXPECT_EQ(ring.slot(), 4u);
  EXPECT_EQ(writer.status().rd_ptr, 4u);
  EXPECT_EQ(writer.status().return_code, C_RC_OK);
  EXPECT_EQ(ring.look(), CommandRing::Look::nothing_new);
  EXPECT_FALSE(ring.pending());
}

TEST_F(Commands, AreReadWithTheirPaddingInOrder) {
  push(0);  // 32 bytes, then one pad unit, then 64, two pads, 128, four pads, 256
  push(1);
  push(2);
  push(3);
  writer.ring_doorbell();
  EXPECT_EQ(ring.look(), CommandRing::Look::more);
  std::vector<unsigned> sizes;
  while (ring.pending())
    sizes.push_back(take());
  EXPECT_EQ(sizes, (std::vector<unsigned>{32, 32, 64, 128, 256}));
}

TEST_F(Commands, PaddingForEveryAlignment) {
  for (unsigned before = 0; before < 8; before++) {
    CommandWriter w(slots, false);
    CommandRing r(w.ring, w.launch, StatusPolicy::always);
    std::byte command[256] = {};
    for (unsigned i = 0; i < before; i++)
      w.push_bytes(command, 32);
    command[0] = std::byte{C_CMD_SIZE_256B << 2};
    w.push_bytes(command, 256);
    w.ring_doorbell();
    ASSERT_EQ(r.look(), CommandRing::Look::more);
    unsigned units = 0;
    while (r.pending()) {
      const auto fetched = r.fetch(bytes);
      ASSERT_EQ(fetched.return_code, C_RC_OK);
      units += fetched.bytes / 32;
      r.advance(fetched.bytes);
    }
    EXPECT_EQ(units, before == 0 ? 8u : 16u);
  }
}

TEST_F(Commands, WrapToSlotFour) {
  for (unsigned i = 0; i < 200; i++) {
    push(1);
    writer.ring_doorbell();
    ASSERT_EQ(ring.look(), CommandRing::Look::more);
    take();
    EXPECT_EQ(writer.status().rd_ptr, writer.wp32 / 2);
    EXPECT_GE(writer.status().rd_ptr, 4u);
  }
}

TEST_F(Commands, TheLargestRingWrapsBehindItsLastSlot) {
  CommandWriter w(65536, false);
  CommandRing r(w.ring, w.launch, StatusPolicy::always);
  std::byte command[256] = {};
  command[0] = std::byte{C_CMD_SIZE_256B << 2};
  constexpr unsigned fill = (65536 - 4) / 4;
  for (unsigned i = 0; i < 2 * fill + 10; i++) {
    w.push_bytes(command, 256);
    w.ring_doorbell();
    ASSERT_EQ(r.look(), CommandRing::Look::more) << i;
    ASSERT_EQ(r.fetch(bytes).bytes, 256u) << i;
    r.advance(256);
    ASSERT_FALSE(r.pending());
    ASSERT_EQ(w.status().rd_ptr, 4 + (i + 1) % fill * 4) << i;
  }
  // All of it at once, but for the slots that tell a full ring from an empty one.
  for (unsigned i = 0; i < fill - 1; i++)
    w.push_bytes(command, 256);
  w.ring_doorbell();
  ASSERT_EQ(r.look(), CommandRing::Look::more);
  unsigned taken = 0;
  for (; r.pending(); taken++)
    r.advance(r.fetch(bytes).bytes);
  EXPECT_EQ(taken, fill - 1);
}

TEST_F(Commands, AWritePointerOutsideTheRingIsNotFollowed) {
  for (const unsigned bad : {0u, 3u, 64u, 65535u}) {
    writer.write_doorbell(bad);
    EXPECT_EQ(ring.look(), CommandRing::Look::bad_pointer);
    EXPECT_FALSE(ring.pending());
  }
}

TEST_F(Commands, AWritePointerThatStepsBackIsNotFollowed) {
  for (int i = 0; i < 10; i++)
    push(1);
  writer.ring_doorbell();
  ring.look();
  take();
  writer.write_doorbell(7);
  EXPECT_EQ(ring.look(), CommandRing::Look::bad_pointer);
  writer.write_doorbell(5);  // reaches the read pointer from behind
  EXPECT_EQ(ring.look(), CommandRing::Look::bad_pointer);
  writer.write_doorbell(14);
  EXPECT_EQ(ring.look(), CommandRing::Look::nothing_new);
  EXPECT_TRUE(ring.pending());
}

TEST_F(Commands, OutOfAlignmentIsAnError) {
  push(0);
  *writer.unit(writer.wp32) = std::byte{C_CMD_SIZE_64B << 2};
  writer.write_doorbell(writer.wp32 / 2 + 1);
  ring.look();
  take();
  EXPECT_EQ(ring.fetch(bytes).return_code, C_RC_CMD_ALIGN_ERROR);
  ring.fail(C_RC_CMD_ALIGN_ERROR, 0x04);
  EXPECT_EQ(writer.status().return_code, C_RC_CMD_ALIGN_ERROR);
  EXPECT_EQ(writer.status().fail_command, 4u);
  EXPECT_TRUE(writer.status().fail_loc_32);
  EXPECT_EQ(writer.status().rd_ptr, 4u);
}

TEST_F(Commands, ACommandThatIsNotWhollyPublishedIsAnError) {
  *writer.unit(8) = std::byte{C_CMD_SIZE_256B << 2};
  writer.write_doorbell(6);
  ring.look();
  EXPECT_EQ(ring.fetch(bytes).return_code, C_RC_CMD_INVALID_ARG);
}

TEST_F(Commands, StatusPoliciesDifferInHowOftenTheyTell) {
  struct Case {
    StatusPolicy policy;
    unsigned after_15, after_16, drained_17;
  };
  // Read pointer shown after 15, 16 and 17 commands of one slot, the 17th draining the queue.
  for (const Case& c :
       {Case{StatusPolicy::always, 19, 20, 21}, Case{StatusPolicy::high_freq_empty, 4, 20, 21},
        Case{StatusPolicy::low_freq_empty, 4, 4, 21}, Case{StatusPolicy::low_freq, 4, 4, 4}}) {
    writer = CommandWriter(slots, false);
    ring = CommandRing(writer.ring, writer.launch, c.policy);
    for (int i = 0; i < 17; i++)
      push(1);
    writer.ring_doorbell();
    ring.look();
    for (int i = 0; i < 15; i++)
      take();
    EXPECT_EQ(writer.status().rd_ptr, c.after_15);
    take();
    EXPECT_EQ(writer.status().rd_ptr, c.after_16);
    take();
    EXPECT_EQ(writer.status().rd_ptr, c.drained_17);
  }
}

TEST_F(Commands, LowFrequencyTellsEvery256Slots) {
  CommandWriter w(1024, false);
  CommandRing r(w.ring, w.launch, StatusPolicy::low_freq);
  std::byte command[64] = {std::byte{C_CMD_SIZE_64B << 2}};
  for (int i = 0; i < 300; i++)
    w.push_bytes(command, 64);
  w.ring_doorbell();
  r.look();
  while (r.pending()) {
    r.fetch(bytes);
    r.advance(64);
  }
  EXPECT_EQ(w.status().rd_ptr, 4u + 256);
}

TEST_F(Commands, RestartPutsEveryPointerBack) {
  push(1);
  writer.ring_doorbell();
  ring.look();
  take();
  ring.fail(C_RC_CMD_INVALID_ARG, 0x55);
  ring.restart();
  EXPECT_EQ(ring.slot(), 4u);
  EXPECT_EQ(writer.status().rd_ptr, 4u);
  EXPECT_EQ(writer.status().return_code, C_RC_OK);
  EXPECT_EQ(ring.look(), CommandRing::Look::nothing_new);
}

}  // namespace
}  // namespace sim::nic::testing
