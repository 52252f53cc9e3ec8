// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What a Cassini return code means for a work request.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace cxi {

/// Kinds of requests that read return codes differently.
enum class OpClass : std::uint8_t {
  send,
  rdma,
  rdma_indexed,
  rdma_immediate,
  rdma_immediate_indexed,
};

/// The class of a remote access to an indexed region.
constexpr OpClass indexed_class(OpClass op) noexcept {
  return op == OpClass::rdma_immediate ? OpClass::rdma_immediate_indexed : OpClass::rdma_indexed;
}

enum class Verdict : std::uint8_t {
  final,      ///< the request ends with the status
  rnr,        ///< receiver not ready: repeat as rnr_retry and min_rnr_timer say
  transport,  ///< repeat retry_cnt times, 1 ms at first, doubling
};

struct Outcome {
  ibv_wc_status status;  ///< what it ends with, once nothing is repeated any more
  Verdict verdict;
};

/// The outcome of a request whose command was answered with a return code (enum c_return_code)
/// other than OK. target_error says that the code is the target's. Unknown codes have an outcome
/// too.
Outcome outcome_of(OpClass op, unsigned return_code, bool target_error) noexcept;

/// How a receive ends whose event carries this return code; false: the event concerns no receive
/// that could complete (its entry was reset, or nothing had matched).
bool receive_outcome(unsigned return_code, ibv_wc_status& status) noexcept;

/// The time that min_rnr_timer stands for, in nanoseconds.
std::uint64_t rnr_delay_ns(unsigned min_rnr_timer) noexcept;

}  // namespace cxi
