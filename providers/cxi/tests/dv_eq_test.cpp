// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Reading event queues and touching counting events through infiniband/cxidv_eq.h, on plain memory.
#include <gtest/gtest.h>
#include <infiniband/cxidv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "ring_writer_of_events.hpp"

namespace cxi {
namespace {

/// What the library's calls do here instead of asking a kernel.
struct Library {
  std::vector<std::uint8_t>* next_ring = nullptr;
  int switch_error = 0;
  int switches = 0;
  std::pair<std::uint64_t, std::uint64_t> counter;
  int counter_error = 0;
};
Library library;

}  // namespace
}  // namespace cxi

extern "C" {

int cxidv_follow_eq_switch(cxidv_eq* eq) {
  using cxi::library;
  if (library.switch_error) return library.switch_error;
  library.switches++;
  eq->ring = library.next_ring->data();
  eq->byte_size = static_cast<std::uint32_t>(library.next_ring->size());
  eq->rd_offset = eq->cleared_offset = 64;
  return 0;
}
int cxidv_set_ct(cxidv_ct*, std::uint64_t success, std::uint64_t failure) {
  if (cxi::library.counter_error) return cxi::library.counter_error;
  cxi::library.counter = {success, failure};
  return 0;
}
int cxidv_inc_ct(cxidv_ct*, std::uint64_t success, std::uint64_t failure) {
  if (cxi::library.counter_error) return cxi::library.counter_error;
  cxi::library.counter.first += success;
  cxi::library.counter.second += failure;
  return 0;
}
int cxidv_read_ct(cxidv_ct*, std::uint64_t* success, std::uint64_t* failure) {
  if (cxi::library.counter_error) return cxi::library.counter_error;
  *success = cxi::library.counter.first;
  *failure = cxi::library.counter.second;
  return 0;
}
}

namespace cxi {
namespace {

class DvEq : public testing::Test {
 protected:
  static constexpr std::uint64_t untouched = 0x5555555555555555;

  DvEq() : nic_(4) {
    library = {};
    eq_.ring = reinterpret_cast<std::uint8_t*>(nic_.memory());
    eq_.byte_size = nic_.bytes();
    eq_.rd_offset = eq_.cleared_offset = 64;
    eq_.sw_state = &sw_state_;
    eq_.sw_value = 0x300000000;  // neither interrupts of events nor of the status
  }

  bool clear(std::uint32_t from, std::uint32_t to) const {
    return std::all_of(eq_.ring + from, eq_.ring + to, [](std::uint8_t byte) { return byte == 0; });
  }
  void write_switch() { nic_.answer(0, C_RC_OK, 0, false, C_EVENT_EQ_SWITCH); }

  NicSide nic_;
  std::uint64_t sw_state_ = untouched;
  cxidv_eq eq_ = {};
};

TEST_F(DvEq, IsEmptyAtFirst) {
  EXPECT_EQ(cxidv_eq_peek(&eq_), nullptr);
  EXPECT_EQ(cxidv_eq_next(&eq_), nullptr);
  cxidv_eq_ack(&eq_);
  EXPECT_EQ(sw_state_, untouched) << "there is nothing to tell";
}

TEST_F(DvEq, ReadsTheThreeSizesAndSkipsFillers) {
  nic_.answer(0x1234, C_RC_OK, 5);
  nic_.fill(16);
  nic_.long_answer(0x5678, C_RC_UNDELIVERABLE, 6, 7, 8);
  nic_.put({.pte = 3, .buffer_id = 9, .mlength = 10, .rlength = 11, .code = C_RC_NO_SPACE});
  const c_event* first = cxidv_eq_peek(&eq_);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(cxidv_eq_peek(&eq_), first) << "peek consumes nothing";
  EXPECT_EQ(cxidv_eq_next(&eq_), first);
  EXPECT_EQ(cxidv_event_bytes(first), 16u);
  EXPECT_EQ(cxidv_event_type(first), unsigned{C_EVENT_ACK});
  EXPECT_EQ(cxidv_event_return_code(first), unsigned{C_RC_OK});
  EXPECT_EQ(cxidv_event_user_ptr(first), 0x1234u);
  EXPECT_EQ(cxidv_event_mlength(first), 5u);
  const c_event* second = cxidv_eq_next(&eq_);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(cxidv_event_bytes(second), 32u);
  EXPECT_EQ(cxidv_event_return_code(second), unsigned{C_RC_UNDELIVERABLE});
  EXPECT_EQ(cxidv_event_user_ptr(second), 0x5678u);
  EXPECT_EQ(cxidv_event_mlength(second), 6u);
  const c_event* third = cxidv_eq_next(&eq_);
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(cxidv_event_bytes(third), 64u);
  EXPECT_EQ(cxidv_event_type(third), unsigned{C_EVENT_PUT});
  EXPECT_EQ(cxidv_event_return_code(third), unsigned{C_RC_NO_SPACE});
  EXPECT_EQ(cxidv_event_mlength(third), 10u);
  EXPECT_EQ(third->tgt_long.buffer_id, 9u);
  EXPECT_EQ(cxidv_eq_next(&eq_), nullptr);
}

TEST_F(DvEq, TellsTheLengthOfShortTargetEvents) {
  c_event event = {};
  event.tgt_short.event_size = C_EVENT_SIZE_32_BYTE;
  event.tgt_short.event_type = C_EVENT_GET;
  event.tgt_short.length = 0xfffff;
  event.tgt_short.return_code = C_RC_AMO_ALIGN_ERROR;
  EXPECT_EQ(cxidv_event_mlength(&event), 0xfffffu);
  EXPECT_EQ(cxidv_event_return_code(&event), unsigned{C_RC_AMO_ALIGN_ERROR});
}

// As cxidv_eq_peek(3) says: programs need not ask for the size to read these.
TEST_F(DvEq, ShortTargetEventsBeginAsLongOnes) {
  c_event event = {};
  event.tgt_short.header_data = 0x0123456789abcdef;
  event.tgt_short.initiator = 0x89abcdef;
  event.tgt_short.ptlte_index = 0x5a5;
  event.tgt_short.ptl_list = C_PTL_LIST_REQUEST;
  event.tgt_short.auto_unlinked = 1;
  event.tgt_short.match_bits = 0xfedcba9876543210;
  event.tgt_short.buffer_id = 0xbeef;
  event.tgt_short.vni = 0xcafe;
  const c_event_target_long& as_long = event.tgt_long;
  EXPECT_EQ(as_long.header_data, 0x0123456789abcdefu);
  EXPECT_EQ(as_long.initiator.initiator.process, 0x89abcdefu);
  EXPECT_EQ(as_long.ptlte_index, 0x5a5u);
  EXPECT_EQ(as_long.ptl_list, unsigned{C_PTL_LIST_REQUEST});
  EXPECT_EQ(as_long.auto_unlinked, 1u);
  EXPECT_EQ(as_long.rendezvous, 0u);
  EXPECT_EQ(as_long.match_bits, 0xfedcba9876543210u);
  EXPECT_EQ(as_long.buffer_id, 0xbeefu);
  EXPECT_EQ(as_long.vni, 0xcafeu);
}

TEST_F(DvEq, WaitsForTheLastByte) {
  std::byte* at = nic_.put({.pte = 3, .buffer_id = 9});
  const std::byte last = std::exchange(at[63], std::byte{0});
  EXPECT_EQ(cxidv_eq_peek(&eq_), nullptr);
  EXPECT_EQ(eq_.rd_offset, 64u);
  at[63] = last;
  EXPECT_NE(cxidv_eq_peek(&eq_), nullptr);
}

TEST_F(DvEq, AFillerThatIsNotCompleteIsWaitedFor) {
  nic_.answer(1, C_RC_OK, 0);
  std::byte* filler = nic_.fill(32);
  const std::byte last = std::exchange(filler[31], std::byte{0});
  EXPECT_NE(cxidv_eq_next(&eq_), nullptr);
  EXPECT_EQ(cxidv_eq_next(&eq_), nullptr);
  EXPECT_EQ(eq_.rd_offset, 80u);
  filler[31] = last;
  EXPECT_EQ(cxidv_eq_next(&eq_), nullptr);
  EXPECT_EQ(eq_.rd_offset, 112u) << "passed, and given back with the rest";
}

TEST_F(DvEq, AcknowledgingClearsAndThenNamesWholeSlots) {
  nic_.answer(1, C_RC_OK, 0);
  nic_.answer(2, C_RC_OK, 0);
  cxidv_eq_next(&eq_);
  cxidv_eq_ack(&eq_);
  EXPECT_TRUE(clear(64, 80));
  EXPECT_FALSE(clear(80, 96)) << "not read yet";
  EXPECT_EQ(sw_state_, untouched) << "the slot is not given back yet";
  nic_.fill(32);
  cxidv_eq_next(&eq_);
  EXPECT_FALSE(clear(80, 96)) << "valid until it is acknowledged";
  cxidv_eq_peek(&eq_);
  cxidv_eq_ack(&eq_);
  EXPECT_TRUE(clear(64, 128));
  EXPECT_EQ(sw_state_, 0x300000002u);
}

TEST_F(DvEq, GoesRoundTheRingBehindTheStatusSlot) {
  std::memset(eq_.ring, 0xa5, 64);
  std::uint64_t sent = 0, seen = 0;
  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < 2; i++) {
      if (sent % 3 == 0) {
        nic_.put({.pte = 1, .buffer_id = static_cast<std::uint16_t>(sent)});
      } else {
        nic_.answer(sent, C_RC_OK, 0);
        nic_.fill(16);
        nic_.fill(32);
      }
      sent++;
    }
    while (const c_event* event = cxidv_eq_next(&eq_)) {
      const std::uint64_t number = cxidv_event_type(event) == C_EVENT_PUT
                                       ? std::uint64_t{event->tgt_long.buffer_id}
                                       : cxidv_event_user_ptr(event);
      ASSERT_EQ(number, seen);
      seen++;
    }
    cxidv_eq_ack(&eq_);
    ASSERT_EQ(sw_state_ & 0x3ffffff, eq_.rd_offset / 64);
    ASSERT_TRUE(clear(64, eq_.byte_size));
  }
  EXPECT_EQ(seen, sent);
  EXPECT_EQ(eq_.ring[0], 0xa5);
  EXPECT_EQ(eq_.ring[63], 0xa5);
}

TEST_F(DvEq, AcknowledgesAcrossTheEndInOneGo) {
  for (int i = 0; i < 2; i++)
    nic_.put({.pte = 1});
  while (cxidv_eq_next(&eq_)) {
  }
  cxidv_eq_ack(&eq_);
  for (int i = 0; i < 2; i++)
    nic_.put({.pte = 1});
  cxidv_eq_next(&eq_);
  cxidv_eq_next(&eq_);
  EXPECT_EQ(eq_.rd_offset, 128u);
  cxidv_eq_ack(&eq_);
  EXPECT_TRUE(clear(64, eq_.byte_size));
  EXPECT_EQ(sw_state_, 0x300000002u);
}

TEST_F(DvEq, CrossesToTheNewRing) {
  NicSide bigger(8);
  std::vector<std::uint8_t> next(8 * 64);
  bigger.answer(0x99, C_RC_OK, 0);
  std::memcpy(next.data(), bigger.memory(), next.size());
  library.next_ring = &next;
  nic_.answer(1, C_RC_OK, 0);
  write_switch();
  EXPECT_EQ(cxidv_event_user_ptr(cxidv_eq_next(&eq_)), 1u);
  library.switch_error = ENOMEM;
  EXPECT_EQ(cxidv_eq_next(&eq_), nullptr);
  EXPECT_EQ(eq_.rd_offset, 80u) << "tried again next time";
  library.switch_error = 0;
  const c_event* event = cxidv_eq_next(&eq_);
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(cxidv_event_user_ptr(event), 0x99u);
  EXPECT_EQ(library.switches, 1);
  EXPECT_EQ(eq_.ring, next.data());
}

TEST_F(DvEq, ArmingNamesTheNextNotification) {
  nic_.put({.pte = 1});
  cxidv_eq_next(&eq_);
  cxidv_eq_arm(&eq_);
  EXPECT_EQ(sw_state_, 0x100200000001u) << "bit 32 is clear; slot 1 is not acknowledged yet";
  cxidv_eq_ack(&eq_);
  EXPECT_EQ(sw_state_, 0x100200000002u) << "acknowledging keeps it armed";
  eq_.notified = 15;
  cxidv_eq_arm(&eq_);
  EXPECT_EQ(sw_state_, 0x200000002u) << "of sixteen values";
  eq_.notified = 20;
  cxidv_eq_arm(&eq_);
  EXPECT_EQ(sw_state_, 0x500200000002u);
}

TEST_F(DvEq, ReadsAStatusThatIsWhole) {
  c_eq_status written = {};
  written.timestamp_ns = written.timestamp_ns_cpy = 123456789;
  written.timestamp_sec = written.timestamp_sec_cpy = 0x123456789abc;
  written.event_slots_free = 77;
  written.wr_ptr = 0x2abcdef;
  written.thld_id = 3;
  std::memcpy(eq_.ring, &written, sizeof(written));
  c_eq_status status = {};
  ASSERT_TRUE(cxidv_eq_read_status(&eq_, &status));
  EXPECT_EQ(std::memcmp(&status, &written, sizeof(status)), 0);
  written.timestamp_ns++;
  std::memcpy(eq_.ring, &written, sizeof(written));
  EXPECT_FALSE(cxidv_eq_read_status(&eq_, &status));
  written.timestamp_ns--;
  written.timestamp_sec++;
  std::memcpy(eq_.ring, &written, sizeof(written));
  EXPECT_FALSE(cxidv_eq_read_status(&eq_, &status));
}

TEST_F(DvEq, AcknowledgesDrops) {
  EXPECT_FALSE(cxidv_eq_drops(&eq_));
  c_eq_status written = {};
  written.unackd_dropped_event = 1;
  written.event_drop_seq_no = 1;
  written.thld_sts = 1;
  std::memcpy(eq_.ring, &written, sizeof(written));
  EXPECT_TRUE(cxidv_eq_drops(&eq_));
  cxidv_eq_ack_drops(&eq_);
  EXPECT_FALSE(cxidv_eq_drops(&eq_));
  c_eq_status status = {};
  ASSERT_TRUE(cxidv_eq_read_status(&eq_, &status));
  EXPECT_EQ(status.event_drop_seq_no, 1u);
  EXPECT_EQ(status.thld_sts, 1u);
  EXPECT_EQ(sw_state_, 0x300000001u | std::uint64_t{1} << 40);
  written.event_drop_seq_no = 0;
  std::memcpy(eq_.ring, &written, sizeof(written));
  cxidv_eq_ack_drops(&eq_);
  EXPECT_EQ(sw_state_, 0x300000001u);
}

class DvCt : public testing::Test {
 protected:
  DvCt() { library = {}; }

  static constexpr std::uint64_t most = (std::uint64_t{1} << 48) - 1;
  std::array<std::uint64_t, 32> page_{};
  c_ct_writeback writeback_ = {};
  cxidv_ct with_window_{nullptr, 5, CXIDV_WINDOW_CT, &writeback_, page_.data()};
  cxidv_ct without_{nullptr, 5, 0, &writeback_, nullptr};
};

TEST_F(DvCt, UsesTheDoorbells) {
  page_.fill(~std::uint64_t{0});
  EXPECT_EQ(cxidv_ct_inc_success(&with_window_, most), 0);
  EXPECT_EQ(cxidv_ct_inc_failure(&with_window_, 127), 0);
  EXPECT_EQ(page_[0], most);
  EXPECT_EQ(page_[8], 127u);
  EXPECT_EQ(page_[16], ~std::uint64_t{0}) << "not reset";
  EXPECT_EQ(cxidv_ct_set_success(&with_window_, 9), 0);
  EXPECT_EQ(page_[0], 9u);
  EXPECT_EQ(page_[16], 0u);
  EXPECT_EQ(page_[24], ~std::uint64_t{0});
  EXPECT_EQ(cxidv_ct_set_failure(&with_window_, 3), 0);
  EXPECT_EQ(page_[8], 3u);
  EXPECT_EQ(page_[24], 0u);
  page_.fill(7);
  EXPECT_EQ(cxidv_ct_set_success(&with_window_, 0), 0);
  EXPECT_EQ(page_[0], 7u) << "a reset says it all";
  EXPECT_EQ(cxidv_ct_reset(&with_window_), 0);
  EXPECT_EQ(page_[16], 0u);
  EXPECT_EQ(page_[24], 0u);
  EXPECT_EQ(library.counter, std::pair(std::uint64_t{0}, std::uint64_t{0}))
      << "the kernel is not asked";
}

TEST_F(DvCt, AsksTheKernelWhereThereIsNoWindow) {
  EXPECT_EQ(cxidv_ct_inc_success(&without_, 3), 0);
  EXPECT_EQ(cxidv_ct_inc_failure(&without_, 2), 0);
  EXPECT_EQ(library.counter, std::pair(std::uint64_t{3}, std::uint64_t{2}));
  EXPECT_EQ(cxidv_ct_set_success(&without_, 8), 0);
  EXPECT_EQ(library.counter, std::pair(std::uint64_t{8}, std::uint64_t{2}));
  EXPECT_EQ(cxidv_ct_set_failure(&without_, 1), 0);
  EXPECT_EQ(library.counter, std::pair(std::uint64_t{8}, std::uint64_t{1}));
  library.counter_error = EIO;
  EXPECT_EQ(cxidv_ct_inc_success(&without_, 1), EIO);
  EXPECT_EQ(cxidv_ct_set_success(&without_, 1), EIO);
  EXPECT_EQ(cxidv_ct_set_failure(&without_, 1), EIO);
  EXPECT_EQ(cxidv_ct_reset(&without_), EIO);
  library.counter_error = 0;
  EXPECT_EQ(cxidv_ct_reset(&without_), 0);
  EXPECT_EQ(library.counter, std::pair(std::uint64_t{0}, std::uint64_t{0}));
}

TEST_F(DvCt, RefusesWhatACounterCannotHold) {
  for (cxidv_ct* ct : {&with_window_, &without_}) {
    EXPECT_EQ(cxidv_ct_inc_success(ct, most + 1), EINVAL);
    EXPECT_EQ(cxidv_ct_set_success(ct, most + 1), EINVAL);
    EXPECT_EQ(cxidv_ct_inc_failure(ct, 128), EINVAL);
    EXPECT_EQ(cxidv_ct_set_failure(ct, 128), EINVAL);
  }
  EXPECT_EQ(page_, (std::array<std::uint64_t, 32>{}));
}

TEST_F(DvCt, ReadsWriteBacks) {
  std::uint64_t success = 1, failure = 1;
  EXPECT_FALSE(cxidv_ct_writeback(&without_, &success, &failure));
  EXPECT_EQ(success, 0u);
  writeback_.ct_success = most;
  writeback_.ct_failure = 127;
  EXPECT_FALSE(cxidv_ct_writeback(&without_, &success, &failure));
  writeback_.ct_writeback = 1;
  EXPECT_TRUE(cxidv_ct_writeback(&without_, &success, &failure));
  EXPECT_EQ(success, most);
  EXPECT_EQ(failure, 127u);
  cxidv_ct_clear_writeback(&without_);
  EXPECT_FALSE(cxidv_ct_writeback(&without_, &success, &failure));
  EXPECT_EQ(success, most);
  EXPECT_EQ(failure, 127u);
}

}  // namespace
}  // namespace cxi
