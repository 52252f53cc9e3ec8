// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "completion_table.hpp"

#include <gtest/gtest.h>

#include "ethernet/cassini_user_defs.h"

namespace cxi {
namespace {

constexpr OpClass all_classes[] = {OpClass::send, OpClass::rdma, OpClass::rdma_indexed,
                                   OpClass::rdma_immediate, OpClass::rdma_immediate_indexed};

TEST(OutcomeTable, EveryCodeIsAnErrorForEveryOperation) {
  for (const OpClass op : all_classes)
    for (unsigned code = 0; code < 64; code++)
      for (const bool target : {false, true})
        EXPECT_NE(outcome_of(op, code, target).status, IBV_WC_SUCCESS) << code;
}

TEST(OutcomeTable, OnlyTheseCodesAreRepeated) {
  for (const OpClass op : all_classes)
    for (unsigned code = 0; code < 64; code++) {
      Verdict expected = Verdict::final;
      const bool indexed = op == OpClass::rdma_indexed || op == OpClass::rdma_immediate_indexed;
      const bool plain = op == OpClass::rdma || op == OpClass::rdma_indexed;
      if (code == C_RC_ENTRY_NOT_FOUND && !plain) expected = Verdict::rnr;
      if (code == C_RC_PT_DISABLED || code == C_RC_VNI_NOT_FOUND ||
          (code == C_RC_PTLTE_NOT_FOUND && !indexed))
        expected = Verdict::transport;
      EXPECT_EQ(outcome_of(op, code, true).verdict, expected) << code;
    }
}

TEST(OutcomeTable, RepeatsEndWithTheirOwnStatus) {
  EXPECT_EQ(outcome_of(OpClass::send, C_RC_ENTRY_NOT_FOUND, true).status, IBV_WC_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(outcome_of(OpClass::send, C_RC_PT_DISABLED, true).status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(outcome_of(OpClass::rdma, C_RC_ENTRY_NOT_FOUND, true).status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(outcome_of(OpClass::rdma_indexed, C_RC_PTLTE_NOT_FOUND, true).status,
            IBV_WC_REM_ACCESS_ERR);
}

TEST(OutcomeTable, MemoryFaultsBelongToTheSideThatHadThem) {
  for (const unsigned code : {C_RC_OP_VIOLATION, C_RC_PAGE_PERM_ERROR, C_RC_NO_TRANSLATION,
                              C_RC_ADDR_OUT_OF_RANGE, C_RC_INVALID_AC, C_RC_NO_SPACE}) {
    EXPECT_EQ(outcome_of(OpClass::send, code, true).status, IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(outcome_of(OpClass::send, code, false).status, IBV_WC_LOC_PROT_ERR);
  }
}

TEST(OutcomeTable, TheRestOfTheTable) {
  for (const unsigned code : {C_RC_UNDELIVERABLE, C_RC_CANCELED, C_RC_CONN_CLOSED})
    EXPECT_EQ(outcome_of(OpClass::rdma, code, false).status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(outcome_of(OpClass::send, C_RC_MST_CANCELLED, true).status, IBV_WC_REM_OP_ERR);
  EXPECT_EQ(outcome_of(OpClass::rdma, C_RC_MST_CANCELLED, true).status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(outcome_of(OpClass::rdma, C_RC_AMO_ALIGN_ERROR, true).status, IBV_WC_REM_INV_REQ_ERR);
  EXPECT_EQ(outcome_of(OpClass::rdma, C_RC_DELAYED, true).status, IBV_WC_REM_OP_ERR);
  EXPECT_EQ(outcome_of(OpClass::send, C_RC_UNCOR, true).status, IBV_WC_REM_OP_ERR);
}

TEST(ReceiveOutcome, IgnoresEventsOfEntriesThatWereReset) {
  ibv_wc_status status = IBV_WC_GENERAL_ERR;
  EXPECT_FALSE(receive_outcome(C_RC_MST_CANCELLED, status));
  EXPECT_FALSE(receive_outcome(C_RC_ENTRY_NOT_FOUND, status));
  EXPECT_TRUE(receive_outcome(C_RC_OK, status));
  EXPECT_EQ(status, IBV_WC_SUCCESS);
  EXPECT_TRUE(receive_outcome(C_RC_NO_TRANSLATION, status));
  EXPECT_EQ(status, IBV_WC_LOC_PROT_ERR);
}

TEST(RnrDelay, FollowsTheVerbsEncoding) {
  EXPECT_EQ(rnr_delay_ns(0), 655'350'000u);
  EXPECT_EQ(rnr_delay_ns(1), 10'000u);
  EXPECT_EQ(rnr_delay_ns(12), 640'000u);
  EXPECT_EQ(rnr_delay_ns(31), 491'520'000u);
  for (unsigned timer = 2; timer < 32; timer++)
    EXPECT_GT(rnr_delay_ns(timer), rnr_delay_ns(timer - 1));
}

}  // namespace
}  // namespace cxi
