// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// From the bytes of one command to a checked value (behaviour 2.8 to 2.11, 5.5 to 5.8, 7.3). Pure:
// whether the named resources exist and may be used is decided where they are. After parsing nobody
// asks again whether sizes and lengths are sane.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "nic/list_matching.hpp"
#include "nic/packets.hpp"

namespace sim::nic {

/// What a command says about its completion and its packet; immediate commands get it from CSTATE.
struct CommandOptions {
  bool event_send_disable = false, event_success_disable = false;
  bool event_ct_send = false, event_ct_reply = false, event_ct_ack = false, event_ct_bytes = false;
  bool restricted = false, reduction = false, flush = false, use_offset_for_get = false;
  uint8_t write_lac = 0;
  uint8_t index_ext = 0;
  uint16_t ct = 0, eq = 0;
  uint32_t initiator = 0;
  uint64_t user_ptr = 0;
};

enum class TxKind : uint8_t {
  noop,
  state,     // CSTATE: options
  transfer,  // PUT, GET, RENDEZVOUS_PUT, SMALL_MESSAGE, atomics
  fence,
  lcid,
  counter,  // CT type
};

struct TxCommand {
  TxKind kind = TxKind::noop;
  uint8_t opcode = 0;      // enum c_dma_op or c_ct_op
  bool immediate = false;  // payload and operands in the command, options from CSTATE
  bool no_match = false;   // completes with error events only
  bool small_message = false;
  uint8_t lac = 0;
  uint8_t lcid = 0;
  uint8_t rendezvous_id = 0;
  uint32_t dfa = 0;
  uint32_t request_len = 0;
  uint32_t eager_length = 0;
  uint64_t remote_offset = 0;
  uint64_t local_addr = 0;   // source of a put, destination of a get, operand of a DMA atomic
  uint64_t local_write = 0;  // where a fetched value goes
  uint64_t match_bits = 0, header_data = 0;
  CommandOptions options;
  AtomicOperands operands;
  std::span<const std::byte>
      payload;  // of an immediate put; points into the bytes that were parsed
  // CT type
  uint8_t embedded_opcode = 0;  // enum c_dma_op of a triggered transfer
  uint16_t ct = 0, trig_ct = 0, eq = 0;
  bool set_success = false, set_failure = false;
  uint8_t failure = 0;
  uint64_t success = 0, threshold = 0;
};

enum class QueueUse : uint8_t { transfers, triggers };

struct ParsedTx {
  int return_code = 0;  // C_RC_OK or why the queue stops
  TxCommand command;
};

/// The bytes of a whole command (32 << cmd_size of them), copied out of the ring before.
ParsedTx parse_tx(std::span<const std::byte> bytes, QueueUse use);

/// The DMA command inside a triggered one, as if it stood alone.
ParsedTx parse_embedded_dma(std::span<const std::byte> bytes);

struct TargetCommand {
  uint8_t opcode = 0;  // enum c_tgt_op, or C_CMD_CQ_NOOP
  uint16_t pte = 0;
  bool restart_seq = false;
  uint8_t state = 0;        // enum c_ptlte_state
  uint32_t drop_count = 0;  // 24 bits
  ListNode entry;
};

struct ParsedTarget {
  int return_code = 0;
  TargetCommand command;
};

ParsedTarget parse_target(std::span<const std::byte, 64> bytes);

/// Bytes of an operand of this enum c_atomic_type; 0: no such type.
unsigned atomic_bytes(unsigned type);

}  // namespace sim::nic
