// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Names of values. Scripts compare these texts, so they do not change.
#include <infiniband/driver.h>

#include <array>
#include <cstddef>

#include "export.hpp"

// C programs may pass numbers that no enumerator has.
#define ANY_NUMBER __attribute__((no_sanitize("enum")))

namespace verbs {
namespace {

using Text = const char*;

// Value 0 is the first text. An empty place in the middle stays NULL, what is beyond is unknown.
template <size_t N>
Text text_of(const std::array<Text, N>& texts, int value) {
  return value >= 0 && static_cast<size_t>(value) < N ? texts[static_cast<size_t>(value)]
                                                      : "unknown";
}

constexpr std::array<Text, 8> node_types{
    "unknown",           "InfiniBand channel adapter",
    "InfiniBand switch", "InfiniBand router",
    "iWARP NIC",         "usNIC",
    "usNIC UDP",         "unspecified",
};

constexpr std::array<Text, 6> port_states{
    "no state change (NOP)", "down", "init", "armed", "active", "active defer",
};

constexpr std::array<Text, 21> events{
    "CQ error",
    "local work queue catastrophic error",
    "invalid request local work queue error",
    "local access violation work queue error",
    "communication established",
    "send queue drained",
    "path migrated",
    "path migration request error",
    "local catastrophic error",
    "port active",
    "port error",
    "LID change",
    "P_Key change",
    "SM change",
    "SRQ catastrophic error",
    "SRQ limit reached",
    "last WQE reached",
    "client reregistration",
    "GID table change",
    "WQ fatal",
    "Device link speed change",
};

constexpr std::array<Text, 24> statuses{
    "success",
    "local length error",
    "local QP operation error",
    "local EE context operation error",
    "local protection error",
    "Work Request Flushed Error",
    "memory management operation error",
    "bad response error",
    "local access error",
    "remote invalid request error",
    "remote access error",
    "remote operation error",
    "transport retry counter exceeded",
    "RNR retry counter exceeded",
    "local RDD violation error",
    "remote invalid RD request",
    "aborted error",
    "invalid EE context number",
    "invalid EE context state",
    "fatal error",
    "response timeout error",
    "general error",
    "TM error",
    "TM software rendezvous",
};

constexpr std::array<Text, 16> opcodes{
    "rdma-write",
    "rdma-write-with-imm",
    "send",
    "send-with-imm",
    "rdma-read",
    "atomic-cmp-and-swp",
    "atomic-fetch-and-add",
    "local-inv",
    "bind-mw",
    "send-with-inv",
    "tso",
    "driver1",
    nullptr,
    nullptr,
    "flush",
    "atomic-write",
};

}  // namespace
}  // namespace verbs

VERBS_EXPORT ANY_NUMBER const char* ibv_node_type_str(ibv_node_type type) {
  return verbs::text_of(verbs::node_types, type);
}

VERBS_EXPORT ANY_NUMBER const char* ibv_port_state_str(ibv_port_state state) {
  return verbs::text_of(verbs::port_states, state);
}

VERBS_EXPORT ANY_NUMBER const char* ibv_event_type_str(ibv_event_type event) {
  return verbs::text_of(verbs::events, event);
}

VERBS_EXPORT ANY_NUMBER const char* ibv_wc_status_str(ibv_wc_status status) {
  return verbs::text_of(verbs::statuses, status);
}

// NULL for the two numbers between the opcodes that none has.
VERBS_EXPORT ANY_NUMBER const char* ibv_wr_opcode_str(ibv_wr_opcode opcode) {
  return verbs::text_of(verbs::opcodes, opcode);
}
