// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The emitters of infiniband/cxidv_emit.h against bytes that the layout tables give.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "dv_queue.hpp"

namespace cxi {
namespace {

struct Golden {
  const char* name;
  int (*emit)(cxidv_cmdq* q);
  std::uint32_t units;
  std::string_view bytes;
};

void set_dfa(c_fab_addr& dfa, std::uint32_t value) {
  std::memcpy(&dfa, &value, sizeof(value));
}

const std::uint8_t* payload() {
  static const auto bytes = [] {
    std::array<std::uint8_t, 256> all{};
    for (std::size_t i = 0; i < all.size(); i++)
      all[i] = static_cast<std::uint8_t>(7 * i + 1);
    return all;
  }();
  return bytes.data();
}

#define GOLDEN(name, type, assignments, call, units, bytes) \
  {name,                                                    \
   [](cxidv_cmdq* q) -> int {                               \
     type c;                                                \
     std::memset(&c, 0, sizeof(c));                         \
     assignments return call;                               \
   },                                                       \
   units, bytes},
const Golden golden_cases[] = {
#include "dv_commands.inc"
};
#undef GOLDEN

std::string hex(const std::uint8_t* bytes, std::size_t count) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; i++) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

/// Every command as triggered queues or the others have it.
std::uint32_t flags_of(const Golden& golden) {
  const std::string_view name = golden.name;
  return name.starts_with("ct_") || name.starts_with("trig_")
             ? CXIDV_CMDQ_TRANSMIT | CXIDV_CMDQ_TRIGGERED
             : CXIDV_CMDQ_TRANSMIT;
}

TEST(DvEmit, EveryFieldIsWhereTheTablesHaveIt) {
  for (const Golden& golden : golden_cases) {
    DvQueue queue(64, flags_of(golden));
    ASSERT_EQ(golden.emit(queue.get()), 0) << golden.name;
    EXPECT_EQ(hex(queue.unit(8), golden.units * 32), golden.bytes) << golden.name;
    EXPECT_EQ(queue->wp32, 8 + golden.units) << golden.name;
    EXPECT_EQ(queue.word(8 + golden.units), 0xeeeeeeeeeeeeeeeeu) << golden.name;
  }
}

TEST(DvEmit, AFullRingRefusesEveryCommandAndTakesNothing) {
  for (const Golden& golden : golden_cases) {
    DvQueue queue(64, flags_of(golden));
    while (cxidv_emit_noop(queue.get()) == 0) {
    }
    EXPECT_EQ(cxidv_cmdq_free_slots(queue.get()), 0u);
    const auto before = queue.commands();
    const std::uint32_t wp = queue->wp32;
    EXPECT_EQ(golden.emit(queue.get()), ENOSPC) << golden.name;
    EXPECT_EQ(queue->wp32, wp) << golden.name;
    EXPECT_EQ(queue.commands(), before) << golden.name;
    EXPECT_EQ(queue.word(0), 4u) << "the status is the NIC's";
  }
}

using Emit = int (*)(cxidv_cmdq*);

/// Commands of 32, 64, 128 and 256 bytes.
constexpr Emit of_size[] = {[](cxidv_cmdq* q) {
                              c_nomatch_dma_cmd c = {};
                              return cxidv_emit_nomatch_put(q, &c);
                            },
                            [](cxidv_cmdq* q) {
                              c_full_dma_cmd c = {};
                              return cxidv_emit_put(q, &c);
                            },
                            [](cxidv_cmdq* q) {
                              c_dma_amo_cmd c = {};
                              return cxidv_emit_amo(q, &c);
                            },
                            [](cxidv_cmdq* q) {
                              c_idc_msg_hdr c = {};
                              return cxidv_emit_idc_msg(q, &c, payload(), 192);
                            }};

TEST(DvEmit, PadsEveryCommandToItsOwnSize) {
  // Rows: position mod 8; columns: commands of 32, 64, 128 and 256 bytes.
  constexpr std::array<std::array<unsigned, 4>, 8> expected{{{0, 0, 0, 0},
                                                             {0, 1, 3, 7},
                                                             {0, 0, 2, 6},
                                                             {0, 1, 1, 5},
                                                             {0, 0, 0, 4},
                                                             {0, 1, 3, 3},
                                                             {0, 0, 2, 2},
                                                             {0, 1, 1, 1}}};
  for (std::uint32_t base : {8u, 64u, 112u, 120u})  // the last row reaches the end of the ring
    for (unsigned position = 0; position < 8; position++)
      for (unsigned size = 0; size < 4; size++) {
        SCOPED_TRACE(testing::Message() << base + position << ", " << (32u << size) << " bytes");
        DvQueue queue;
        queue.stand_at(base + position);
        ASSERT_EQ(of_size[size](queue.get()), 0);
        const std::uint32_t pad = expected[position][size];
        for (std::uint32_t unit = base + position; unit < base + position + pad; unit++) {
          EXPECT_EQ(queue.word(unit), 0u) << unit;
          EXPECT_EQ(queue.word(unit, 1), 0xeeeeeeeeeeeeeeeeu) << unit;
        }
        std::uint32_t start = base + position + pad;
        if (start == 128) start = 8;
        EXPECT_EQ(queue.word(start) >> 2 & 3, size);
        EXPECT_NE(queue.word(start), 0u);
        const std::uint32_t end = start + (1u << size);
        EXPECT_EQ(queue->wp32, end == 128 ? 8 : end);
      }
}

TEST(DvEmit, TriggeredQueuesPadWithOneCounterNoop) {
  for (std::uint32_t base : {8u, 124u}) {
    DvQueue queue(64, CXIDV_CMDQ_TRANSMIT | CXIDV_CMDQ_TRIGGERED);
    queue.stand_at(base + 2);
    c_full_dma_cmd put = {};
    ASSERT_EQ(cxidv_emit_trig_put(queue.get(), 1, 1, &put), 0);
    EXPECT_EQ(hex(queue.unit(base + 2), 64), "06" + std::string(126, '0'));
    const std::uint32_t start = base + 4 == 128 ? 8 : base + 4;
    EXPECT_EQ(queue.word(start) & 0xff, 0x5au);
    EXPECT_EQ(queue->wp32, start + 4);
    ASSERT_EQ(cxidv_emit_ct_get(queue.get(), 1), 0);
    EXPECT_EQ(queue->wp32, start + 6) << "64 bytes are never padded";
    ASSERT_EQ(cxidv_emit_noop(queue.get()), 0);
    EXPECT_EQ(queue.word(start + 6), 6u);
  }
}

TEST(DvEmit, ValuesOutOfRangeAreRefusedAndWriteNothing) {
  DvQueue queue;
  const auto before = queue.commands();
  c_idc_hdr put = {};
  c_idc_msg_hdr message = {};
  c_full_dma_cmd dma = {};
  EXPECT_EQ(cxidv_emit_lcid(queue.get(), 16), EINVAL);
  EXPECT_EQ(cxidv_emit_idc_put(queue.get(), &put, payload(), 225), EINVAL);
  EXPECT_EQ(cxidv_emit_idc_msg(queue.get(), &message, payload(), 193), EINVAL);
  EXPECT_EQ(cxidv_emit_idc_msg(queue.get(), &message, payload(), SIZE_MAX), EINVAL);
  EXPECT_EQ(cxidv_emit_ct_get(queue.get(), 2048), EINVAL);
  EXPECT_EQ(cxidv_emit_ct_reset(queue.get(), 2048), EINVAL);
  EXPECT_EQ(cxidv_emit_ct_cancel(queue.get(), 2048), EINVAL);
  EXPECT_EQ(cxidv_emit_trig_put(queue.get(), 2048, 0, &dma), EINVAL);
  EXPECT_EQ(cxidv_emit_trig_put(queue.get(), 1, std::uint64_t{1} << 48, &dma), EINVAL);
  EXPECT_EQ(queue->wp32, 8u);
  EXPECT_EQ(queue.commands(), before);
}

TEST(DvEmit, KeepsOneSlotFreeAndLooksForMoreOnlyWhenItMust) {
  DvQueue queue;
  EXPECT_EQ(cxidv_cmdq_free_slots(queue.get()), 59u);
  for (unsigned i = 0; i < 59; i++)
    ASSERT_EQ(cxidv_emit_fence(queue.get()), 0) << i;
  EXPECT_EQ(cxidv_emit_fence(queue.get()), ENOSPC);
  EXPECT_EQ(queue->wp32, 126u);
  EXPECT_EQ(cxidv_cmdq_free_slots(queue.get()), 0u);
  queue.read_to(5);
  EXPECT_EQ(queue->rp32, 8u);
  EXPECT_EQ(cxidv_emit_fence(queue.get()), 0) << "in the last slot of the ring";
  EXPECT_EQ(queue->rp32, 10u);
  EXPECT_EQ(queue->wp32, 8u);
  EXPECT_EQ(cxidv_emit_fence(queue.get()), ENOSPC);
  queue.read_to(8);
  EXPECT_EQ(cxidv_cmdq_free_slots(queue.get()), 3u);
  EXPECT_EQ(queue->rp32, 16u);
  queue.read_to(60);
  EXPECT_EQ(cxidv_emit_fence(queue.get()), 0);
  EXPECT_EQ(queue->rp32, 16u) << "there was room that it knew of";
}

TEST(DvEmit, RoomForTheTrailingNoopIsAlwaysThere) {
  DvQueue queue;
  while (of_size[0](queue.get()) == 0) {
  }
  EXPECT_EQ(queue->wp32, 126u);
  DvQueue odd;
  ASSERT_EQ(of_size[0](odd.get()), 0);
  while (of_size[1](odd.get()) == 0) {
  }
  while (of_size[0](odd.get()) == 0) {
  }
  cxidv_cmdq_ring(odd.get());
  EXPECT_EQ(odd->wp32, 126u);
}

TEST(DvEmit, AccountingHoldsInALongRandomRun) {
  std::uint32_t seed = 1;
  const auto any = [&](std::uint32_t limit) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % limit;
  };
  DvQueue queue(64);
  std::uint32_t read = 8;  // units, even
  for (unsigned turn = 0; turn < 20000; turn++) {
    const std::uint32_t size = any(4);
    const std::uint32_t used = queue->wp32 >= read ? queue->wp32 - read : queue->wp32 + 120 - read;
    const std::uint32_t pad = -queue->wp32 & ((1u << size) - 1);
    const bool fits = used + pad + (1u << size) <= 118;
    const std::uint32_t before = queue->wp32;
    ASSERT_EQ(of_size[size](queue.get()), fits ? 0 : ENOSPC) << turn;
    if (!fits) {
      ASSERT_EQ(queue->wp32, before);
    }
    if (!fits || any(8) == 0) {
      cxidv_cmdq_ring(queue.get());
      ASSERT_EQ(queue->wp32 % 2, 0u);
      ASSERT_EQ(queue.launch().wr_ptr, queue->wp32 / 2);
      const std::uint32_t pending =
          queue->wp32 >= read ? queue->wp32 - read : queue->wp32 + 120 - read;
      ASSERT_LT(pending, 120u);
      read += 2 * any(pending / 2 + 1);
      if (read >= 128) read -= 120;
      queue.read_to(read / 2);
    }
  }
}

TEST(DvEmit, EmptyMeansThatTheNicHasFetchedAll) {
  DvQueue queue;
  EXPECT_TRUE(cxidv_cmdq_is_empty(queue.get()));
  of_size[0](queue.get());
  EXPECT_FALSE(cxidv_cmdq_is_empty(queue.get())) << "not even announced";
  cxidv_cmdq_ring(queue.get());
  EXPECT_FALSE(cxidv_cmdq_is_empty(queue.get()));
  queue.read_to(5);
  EXPECT_TRUE(cxidv_cmdq_is_empty(queue.get()));
}

TEST(DvEmit, DiscardTakesBackWhatWasNotRung) {
  DvQueue queue;
  of_size[1](queue.get());
  cxidv_cmdq_ring(queue.get());
  of_size[3](queue.get());
  of_size[0](queue.get());
  cxidv_cmdq_discard(queue.get());
  EXPECT_EQ(queue->wp32, 10u);
  queue.launch().wr_ptr = 99;
  cxidv_cmdq_ring(queue.get());
  EXPECT_EQ(queue.launch().wr_ptr, 99u) << "nothing to announce";
}

TEST(DvEmit, StatusIsWhatTheNicWrote) {
  DvQueue queue;
  c_cq_status written = {};
  written.rd_ptr = 7;
  written.return_code = C_RC_CMD_ALIGN_ERROR & 0x3f;
  written.fail_command = 0x5a;
  std::memcpy(queue->ring, &written, sizeof(written));
  const c_cq_status status = cxidv_cmdq_status(queue.get());
  EXPECT_EQ(status.rd_ptr, 7u);
  EXPECT_EQ(status.return_code, unsigned{C_RC_CMD_ALIGN_ERROR});
  EXPECT_EQ(status.fail_command, 0x5au);
}

TEST(DvEmit, AnOddUnitIsFilledBeforeTheDoorbell) {
  DvQueue queue;
  of_size[0](queue.get());
  cxidv_cmdq_ring(queue.get());
  EXPECT_EQ(queue.word(9), 0u);
  EXPECT_EQ(queue.word(9, 1), 0xeeeeeeeeeeeeeeeeu);
  EXPECT_EQ(queue.launch().wr_ptr, 5u);
  EXPECT_EQ(queue->hw_wp32, 10u);
}

/// The low-latency window (behaviour 2.5).
class LowLatency : public testing::Test {
 protected:
  static constexpr std::uint16_t untouched = 0;

  /// What of the launch page is not zero: offset and bytes.
  void expect_window(std::size_t offset, std::uint32_t unit, std::size_t bytes) {
    const auto* page = reinterpret_cast<const std::uint8_t*>(&queue_.launch());
    EXPECT_EQ(hex(page + offset, bytes), hex(queue_.unit(unit), bytes));
    for (std::size_t at = 8; at < sizeof(c_cmdq); at++) {
      if (at == offset) at += bytes;
      if (at < sizeof(c_cmdq)) {
        EXPECT_EQ(page[at], 0) << "at " << at;
      }
    }
  }
  void expect_no_window() { expect_window(sizeof(c_cmdq), 0, 0); }

  DvQueue queue_{64, CXIDV_CMDQ_TRANSMIT, CXIDV_WINDOW_DOORBELL | CXIDV_WINDOW_LOW_LATENCY};
};

TEST_F(LowLatency, A256ByteCommandGoesByDoorbell) {
  of_size[3](queue_.get());
  of_size[1](queue_.get());
  cxidv_cmdq_ring(queue_.get());
  expect_no_window();
  EXPECT_EQ(queue_.launch().wr_ptr, 9u);
}

TEST_F(LowLatency, OneSlotGoesAlone) {
  of_size[1](queue_.get());
  cxidv_cmdq_ring(queue_.get());
  expect_window(1024 + 4 * 64, 8, 64);
  EXPECT_EQ(queue_.launch().wr_ptr, untouched) << "the store into the window says it all";
  EXPECT_EQ(queue_->hw_wp32, 10u);
}

TEST_F(LowLatency, ASmallCommandIsFilledToASlotFirst) {
  of_size[0](queue_.get());
  cxidv_cmdq_ring(queue_.get());
  expect_window(1024 + 4 * 64, 8, 64);
  EXPECT_EQ(queue_.word(9), 0u);
  EXPECT_EQ(queue_->hw_wp32, 10u);
}

TEST_F(LowLatency, TwoSlotsFromAnEvenOneGoTogether) {
  queue_.stand_at(2 * 22);
  of_size[2](queue_.get());
  cxidv_cmdq_ring(queue_.get());
  expect_window(2048 + (22 & 15) * 64, 44, 128);
  EXPECT_EQ(queue_.launch().wr_ptr, untouched);
  EXPECT_EQ(queue_->hw_wp32, 48u);
}

TEST_F(LowLatency, WhatIsLeftGoesByDoorbell) {
  for (int i = 0; i < 5; i++)
    of_size[1](queue_.get());
  cxidv_cmdq_ring(queue_.get());
  expect_window(2048 + 4 * 64, 8, 128);
  EXPECT_EQ(queue_.launch().wr_ptr, 9u);
  EXPECT_EQ(queue_->hw_wp32, 18u);
}

TEST_F(LowLatency, FromAnOddSlotOneGoes) {
  queue_.stand_at(2 * 21);
  of_size[1](queue_.get());
  of_size[1](queue_.get());
  cxidv_cmdq_ring(queue_.get());
  expect_window(1024 + (21 & 15) * 64, 42, 64);
  EXPECT_EQ(queue_.launch().wr_ptr, 23u);
}

TEST_F(LowLatency, APaddingSlotIsSkipped) {
  queue_.stand_at(2 * 21);
  of_size[2](queue_.get());
  cxidv_cmdq_ring(queue_.get());
  expect_window(3072 + (22 & 15) * 64, 44, 128);
  EXPECT_EQ(queue_.launch().wr_ptr, untouched);
  EXPECT_EQ(queue_->hw_wp32, 48u);
}

TEST_F(LowLatency, APaddingSlotBefore256BytesIsNot) {
  queue_.stand_at(2 * 23);
  of_size[3](queue_.get());
  cxidv_cmdq_ring(queue_.get());
  expect_window(1024 + (23 & 15) * 64, 46, 64);
  EXPECT_EQ(queue_.launch().wr_ptr, 28u);
}

TEST_F(LowLatency, ASlotHalfOfWhichIsPaddingIsNot) {
  queue_.stand_at(2 * 21);
  of_size[0](queue_.get());
  of_size[2](queue_.get());
  cxidv_cmdq_ring(queue_.get());
  expect_window(1024 + (21 & 15) * 64, 42, 64);
  EXPECT_EQ(queue_.launch().wr_ptr, 24u);
}

TEST_F(LowLatency, OnlySlotsBeforeTheEndOfTheRingCount) {
  queue_.stand_at(126);
  for (int i = 0; i < 3; i++)
    of_size[1](queue_.get());
  cxidv_cmdq_ring(queue_.get());
  expect_window(1024 + (63 & 15) * 64, 126, 64);
  EXPECT_EQ(queue_.launch().wr_ptr, 6u);
  EXPECT_EQ(queue_->hw_wp32, 12u);
}

TEST_F(LowLatency, TheLastSlotOfTheRingWrapsThePointer) {
  queue_.stand_at(126);
  of_size[1](queue_.get());
  cxidv_cmdq_ring(queue_.get());
  EXPECT_EQ(queue_->hw_wp32, 8u);
  EXPECT_EQ(queue_.launch().wr_ptr, untouched);
}

TEST_F(LowLatency, ThePlainDoorbellCanBeAskedFor) {
  of_size[1](queue_.get());
  cxidv_cmdq_ring_doorbell(queue_.get());
  expect_no_window();
  EXPECT_EQ(queue_.launch().wr_ptr, 5u);
}

TEST_F(LowLatency, NothingPendingIsNothing) {
  cxidv_cmdq_ring(queue_.get());
  expect_no_window();
  EXPECT_EQ(queue_.launch().wr_ptr, untouched);
}

}  // namespace
}  // namespace cxi
