// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs: names of what events hold, for messages of programs. A switch over an enumeration
// has a case for each value, or a warning.
#include "dv.hpp"

namespace cxi::dv {
namespace {

constexpr const char* unknown = "unknown";

// Of an enumeration's values the bits are known, those above make no value of it.
constexpr std::uint32_t event_type_bits = 5;
constexpr std::uint32_t return_code_bits = 6;

#define CXI_NAME(value) \
  case value:           \
    return #value;

const char* name_of(c_event_type type) noexcept {
  switch (type) {
    CXI_NAME(C_EVENT_PUT)
    CXI_NAME(C_EVENT_GET)
    CXI_NAME(C_EVENT_ATOMIC)
    CXI_NAME(C_EVENT_FETCH_ATOMIC)
    CXI_NAME(C_EVENT_PUT_OVERFLOW)
    CXI_NAME(C_EVENT_GET_OVERFLOW)
    CXI_NAME(C_EVENT_ATOMIC_OVERFLOW)
    CXI_NAME(C_EVENT_FETCH_ATOMIC_OVERFLOW)
    CXI_NAME(C_EVENT_SEND)
    CXI_NAME(C_EVENT_ACK)
    CXI_NAME(C_EVENT_REPLY)
    CXI_NAME(C_EVENT_LINK)
    CXI_NAME(C_EVENT_SEARCH)
    CXI_NAME(C_EVENT_STATE_CHANGE)
    CXI_NAME(C_EVENT_UNLINK)
    CXI_NAME(C_EVENT_RENDEZVOUS)
    CXI_NAME(C_EVENT_ETHERNET)
    CXI_NAME(C_EVENT_COMMAND_FAILURE)
    CXI_NAME(C_EVENT_TRIGGERED_OP)
    CXI_NAME(C_EVENT_ETHERNET_FGFC)
    CXI_NAME(C_EVENT_PCT)
    CXI_NAME(C_EVENT_MATCH)
    CXI_NAME(C_EVENT_ERROR)
    CXI_NAME(C_EVENT_TIMESTAMP)
    CXI_NAME(C_EVENT_EQ_SWITCH)
    CXI_NAME(C_EVENT_NULL_EVENT)
  }
  return unknown;
}

const char* name_of(c_return_code code) noexcept {
  switch (code) {
    CXI_NAME(C_RC_NO_EVENT)
    CXI_NAME(C_RC_OK)
    CXI_NAME(C_RC_UNDELIVERABLE)
    CXI_NAME(C_RC_PT_DISABLED)
    CXI_NAME(C_RC_DROPPED)
    CXI_NAME(C_RC_PERM_VIOLATION)
    CXI_NAME(C_RC_OP_VIOLATION)
    CXI_NAME(C_RC_NO_MATCH)
    CXI_NAME(C_RC_UNCOR)
    CXI_NAME(C_RC_UNCOR_TRNSNT)
    CXI_NAME(C_RC_NO_SPACE)
    CXI_NAME(C_RC_ENTRY_NOT_FOUND)
    CXI_NAME(C_RC_NO_TARGET_CONN)
    CXI_NAME(C_RC_NO_TARGET_MST)
    CXI_NAME(C_RC_NO_TARGET_TRS)
    CXI_NAME(C_RC_SEQUENCE_ERROR)
    CXI_NAME(C_RC_NO_MATCHING_CONN)
    CXI_NAME(C_RC_INVALID_DFA_FORMAT)
    CXI_NAME(C_RC_VNI_NOT_FOUND)
    CXI_NAME(C_RC_PTLTE_NOT_FOUND)
    CXI_NAME(C_RC_PTLTE_SW_MANAGED)
    CXI_NAME(C_RC_SRC_ERROR)
    CXI_NAME(C_RC_MST_CANCELLED)
    CXI_NAME(C_RC_HRP_CONFIG_ERROR)
    CXI_NAME(C_RC_HRP_RSP_ERROR)
    CXI_NAME(C_RC_HRP_RSP_DISCARD)
    CXI_NAME(C_RC_INVALID_AC)
    CXI_NAME(C_RC_PAGE_PERM_ERROR)
    CXI_NAME(C_RC_ATS_ERROR)
    CXI_NAME(C_RC_NO_TRANSLATION)
    CXI_NAME(C_RC_PAGE_REQ_ERROR)
    CXI_NAME(C_RC_PCIE_ERROR_POISONED)
    CXI_NAME(C_RC_PCIE_UNSUCCESS_CMPL)
    CXI_NAME(C_RC_AMO_INVAL_OP_ERROR)
    CXI_NAME(C_RC_AMO_ALIGN_ERROR)
    CXI_NAME(C_RC_AMO_FP_INVALID)
    CXI_NAME(C_RC_AMO_FP_UNDERFLOW)
    CXI_NAME(C_RC_AMO_FP_OVERFLOW)
    CXI_NAME(C_RC_AMO_FP_INEXACT)
    CXI_NAME(C_RC_ILLEGAL_OP)
    CXI_NAME(C_RC_INVALID_ENDPOINT)
    CXI_NAME(C_RC_RESTRICTED_UNICAST)
    CXI_NAME(C_RC_CMD_ALIGN_ERROR)
    CXI_NAME(C_RC_CMD_INVALID_ARG)
    CXI_NAME(C_RC_INVALID_EVENT)
    CXI_NAME(C_RC_ADDR_OUT_OF_RANGE)
    CXI_NAME(C_RC_CONN_CLOSED)
    CXI_NAME(C_RC_CANCELED)
    CXI_NAME(C_RC_NO_MATCHING_TRS)
    CXI_NAME(C_RC_NO_MATCHING_MST)
    CXI_NAME(C_RC_DELAYED)
    CXI_NAME(C_RC_AMO_LENGTH_ERROR)
    CXI_NAME(C_RC_PKTBUF_ERROR)
    CXI_NAME(C_RC_RESOURCE_BUSY)
    CXI_NAME(C_RC_FLUSH_TRANSLATION)
    CXI_NAME(C_RC_TRS_PEND_RSP)
  }
  return unknown;
}

#undef CXI_NAME

}  // namespace
}  // namespace cxi::dv

using namespace cxi;

CXIDV_EXPORT const char* cxidv_event_type_str(uint32_t type) {
  return type >> dv::event_type_bits ? dv::unknown : dv::name_of(static_cast<c_event_type>(type));
}

CXIDV_EXPORT const char* cxidv_return_code_str(uint32_t code) {
  return code >> dv::return_code_bits ? dv::unknown : dv::name_of(static_cast<c_return_code>(code));
}
