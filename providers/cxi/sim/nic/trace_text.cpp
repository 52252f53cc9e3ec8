// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nic/trace_text.hpp"

#include "ethernet/cassini_user_defs.h"

namespace sim::nic {

const char* name_of_return_code(unsigned code) {
  switch (code) {
    case C_RC_OK:
      return "OK";
    case C_RC_UNDELIVERABLE:
      return "UNDELIVERABLE";
    case C_RC_PT_DISABLED:
      return "PT_DISABLED";
    case C_RC_DROPPED:
      return "DROPPED";
    case C_RC_PERM_VIOLATION:
      return "PERM_VIOLATION";
    case C_RC_OP_VIOLATION:
      return "OP_VIOLATION";
    case C_RC_NO_MATCH:
      return "NO_MATCH";
    case C_RC_NO_SPACE:
      return "NO_SPACE";
    case C_RC_ENTRY_NOT_FOUND:
      return "ENTRY_NOT_FOUND";
    case C_RC_INVALID_DFA_FORMAT:
      return "INVALID_DFA_FORMAT";
    case C_RC_VNI_NOT_FOUND:
      return "VNI_NOT_FOUND";
    case C_RC_PTLTE_NOT_FOUND:
      return "PTLTE_NOT_FOUND";
    case C_RC_PTLTE_SW_MANAGED:
      return "PTLTE_SW_MANAGED";
    case C_RC_SRC_ERROR:
      return "SRC_ERROR";
    case C_RC_MST_CANCELLED:
      return "MST_CANCELLED";
    case C_RC_INVALID_AC:
      return "INVALID_AC";
    case C_RC_PAGE_PERM_ERROR:
      return "PAGE_PERM_ERROR";
    case C_RC_NO_TRANSLATION:
      return "NO_TRANSLATION";
    case C_RC_AMO_INVAL_OP_ERROR:
      return "AMO_INVAL_OP_ERROR";
    case C_RC_AMO_ALIGN_ERROR:
      return "AMO_ALIGN_ERROR";
    case C_RC_AMO_FP_INVALID:
      return "AMO_FP_INVALID";
    case C_RC_AMO_FP_UNDERFLOW:
      return "AMO_FP_UNDERFLOW";
    case C_RC_AMO_FP_OVERFLOW:
      return "AMO_FP_OVERFLOW";
    case C_RC_AMO_FP_INEXACT:
      return "AMO_FP_INEXACT";
    case C_RC_ILLEGAL_OP:
      return "ILLEGAL_OP";
    case C_RC_RESTRICTED_UNICAST:
      return "RESTRICTED_UNICAST";
    case C_RC_CMD_ALIGN_ERROR:
      return "CMD_ALIGN_ERROR";
    case C_RC_CMD_INVALID_ARG:
      return "CMD_INVALID_ARG";
    case C_RC_ADDR_OUT_OF_RANGE:
      return "ADDR_OUT_OF_RANGE";
    case C_RC_CANCELED:
      return "CANCELED";
    case C_RC_DELAYED:
      return "DELAYED";
    case C_RC_AMO_LENGTH_ERROR:
      return "AMO_LENGTH_ERROR";
    default:
      return "another code";
  }
}

const char* name_of_event(unsigned type) {
  switch (type) {
    case C_EVENT_PUT:
      return "PUT";
    case C_EVENT_GET:
      return "GET";
    case C_EVENT_ATOMIC:
      return "ATOMIC";
    case C_EVENT_FETCH_ATOMIC:
      return "FETCH_ATOMIC";
    case C_EVENT_PUT_OVERFLOW:
      return "PUT_OVERFLOW";
    case C_EVENT_SEND:
      return "SEND";
    case C_EVENT_ACK:
      return "ACK";
    case C_EVENT_REPLY:
      return "REPLY";
    case C_EVENT_LINK:
      return "LINK";
    case C_EVENT_SEARCH:
      return "SEARCH";
    case C_EVENT_STATE_CHANGE:
      return "STATE_CHANGE";
    case C_EVENT_UNLINK:
      return "UNLINK";
    case C_EVENT_RENDEZVOUS:
      return "RENDEZVOUS";
    case C_EVENT_COMMAND_FAILURE:
      return "COMMAND_FAILURE";
    case C_EVENT_TRIGGERED_OP:
      return "TRIGGERED_OP";
    case C_EVENT_MATCH:
      return "MATCH";
    case C_EVENT_TIMESTAMP:
      return "TIMESTAMP";
    case C_EVENT_EQ_SWITCH:
      return "EQ_SWITCH";
    default:
      return "event";
  }
}

const char* name_of_opcode(unsigned opcode) {
  switch (opcode) {
    case C_CMD_PUT:
      return "PUT";
    case C_CMD_GET:
      return "GET";
    case C_CMD_RENDEZVOUS_PUT:
      return "RENDEZVOUS_PUT";
    case C_CMD_ATOMIC:
      return "ATOMIC";
    case C_CMD_FETCHING_ATOMIC:
      return "FETCHING_ATOMIC";
    default:
      return "request";
  }
}

const char* name_of_list(unsigned list) {
  switch (list) {
    case C_PTL_LIST_PRIORITY:
      return "PRIORITY";
    case C_PTL_LIST_OVERFLOW:
      return "OVERFLOW";
    case C_PTL_LIST_REQUEST:
      return "REQUEST";
    default:
      return "UNEXPECTED";
  }
}

const char* name_of_state(PteState state) {
  switch (state) {
    case PteState::reset:
      return "RESET";
    case PteState::disabled:
      return "DISABLED";
    case PteState::enabled:
      return "ENABLED";
    case PteState::software_managed:
      return "SOFTWARE_MANAGED";
    default:
      return "ETHERNET";
  }
}

}  // namespace sim::nic
