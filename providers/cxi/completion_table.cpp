// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "completion_table.hpp"

#include "ethernet/cassini_user_defs.h"

namespace cxi {
namespace {

bool is_immediate(OpClass op) noexcept {
  return op == OpClass::rdma_immediate || op == OpClass::rdma_immediate_indexed;
}
bool is_indexed(OpClass op) noexcept {
  return op == OpClass::rdma_indexed || op == OpClass::rdma_immediate_indexed;
}

}  // namespace

Outcome outcome_of(OpClass op, unsigned return_code, bool target_error) noexcept {
  switch (return_code) {
    case C_RC_ENTRY_NOT_FOUND:
      // Sends: no receive is posted, or the receiver's event queue is full. Immediate writes: only
      // the latter, since a guard entry catches what no region matches.
      if (op == OpClass::send || is_immediate(op)) return {IBV_WC_RNR_RETRY_EXC_ERR, Verdict::rnr};
      return {IBV_WC_REM_ACCESS_ERR, Verdict::final};

    case C_RC_PTLTE_NOT_FOUND:
      if (is_indexed(op)) return {IBV_WC_REM_ACCESS_ERR, Verdict::final};
      return {IBV_WC_RETRY_EXC_ERR, Verdict::transport};
    case C_RC_PT_DISABLED:
    case C_RC_VNI_NOT_FOUND:
      return {IBV_WC_RETRY_EXC_ERR, Verdict::transport};

    case C_RC_OP_VIOLATION:
    case C_RC_PAGE_PERM_ERROR:
    case C_RC_NO_TRANSLATION:
    case C_RC_ADDR_OUT_OF_RANGE:
    case C_RC_INVALID_AC:
    case C_RC_NO_SPACE:
      return {target_error ? IBV_WC_REM_ACCESS_ERR : IBV_WC_LOC_PROT_ERR, Verdict::final};

    case C_RC_UNDELIVERABLE:
    case C_RC_CANCELED:
    case C_RC_CONN_CLOSED:
      // The request may have taken effect: never repeated.
      return {IBV_WC_RETRY_EXC_ERR, Verdict::final};

    case C_RC_MST_CANCELLED:
      return {op == OpClass::send ? IBV_WC_REM_OP_ERR : IBV_WC_REM_ACCESS_ERR, Verdict::final};

    case C_RC_AMO_INVAL_OP_ERROR:
    case C_RC_AMO_ALIGN_ERROR:
    case C_RC_AMO_FP_INVALID:
    case C_RC_AMO_FP_UNDERFLOW:
    case C_RC_AMO_FP_OVERFLOW:
    case C_RC_AMO_FP_INEXACT:
    case C_RC_AMO_LENGTH_ERROR:
      return {IBV_WC_REM_INV_REQ_ERR, Verdict::final};

    default:
      return {IBV_WC_REM_OP_ERR, Verdict::final};
  }
}

bool receive_outcome(unsigned return_code, ibv_wc_status& status) noexcept {
  switch (return_code) {
    case C_RC_OK:
      status = IBV_WC_SUCCESS;
      return true;
    case C_RC_ENTRY_NOT_FOUND:
    case C_RC_MST_CANCELLED:
      return false;
    case C_RC_PAGE_PERM_ERROR:
    case C_RC_NO_TRANSLATION:
    case C_RC_ADDR_OUT_OF_RANGE:
    case C_RC_INVALID_AC:
      status = IBV_WC_LOC_PROT_ERR;
      return true;
    default:
      status = IBV_WC_GENERAL_ERR;
      return true;
  }
}

std::uint64_t rnr_delay_ns(unsigned min_rnr_timer) noexcept {
  // In units of 10 us, as verbs number them.
  static constexpr std::uint16_t units[32] = {65535, 1,    2,    3,     4,     6,     8,     12,
                                              16,    24,   32,   48,    64,    96,    128,   192,
                                              256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                              4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return std::uint64_t{units[min_rnr_timer & 31]} * 10'000;
}

}  // namespace cxi
