// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Commands of transmit queues: fetched, checked, and started or refused (behaviour 2).
#include "ethernet/cassini_fields.hpp"
#include "ethernet/cassini_user_defs.h"
#include "nic/addressing.hpp"
#include "nic/engine.hpp"
#include "nic/trace_text.hpp"

namespace sim::nic {
namespace {

constexpr unsigned commands_per_pass = 16;
constexpr unsigned most_outstanding = 128;  // of one queue, as on Cassini 2 (behaviour 12)
constexpr size_t most_held_bytes = size_t{16} << 20;  // for peers that do not answer
constexpr uint32_t much = 4096;                       // bytes of one command

bool is_queue_noop(const CommandBytes& bytes) {
  return cassini::c_cmd::cmd_type::get(bytes.data()) == C_CMD_TYPE_CQ &&
         cassini::c_cmd::opcode::get(bytes.data()) == C_CMD_CQ_NOOP;
}

}  // namespace

bool Nic::run_transmit(CommandQueue& queue) {
  bool any = false;
  for (unsigned i = 0; i < commands_per_pass && queue.ring.pending() && !queue.sending; i++) {
    if (queue.fence && queue.outstanding != 0) break;
    queue.fence = false;
    const auto fetched = queue.ring.fetch(command_);
    const auto code = static_cast<uint8_t>(command_[0]);
    Outcome outcome{fetched.return_code};
    if (fetched.return_code == C_RC_OK) {
      const auto use = queue.config.triggered ? QueueUse::triggers : QueueUse::transfers;
      const auto parsed = parse_tx(std::span(command_).first(fetched.bytes), use);
      outcome.return_code = parsed.return_code;
      if (queue.noop_must_follow && !is_queue_noop(command_))
        outcome.return_code = C_RC_CMD_INVALID_ARG;
      if (outcome.return_code == C_RC_OK) outcome = execute(queue, parsed.command);
    }
    if (outcome.stalled) break;
    any = true;
    if (outcome.return_code != C_RC_OK) {
      fail_queue(queue, outcome.return_code, code);
      break;
    }
    count_command(queue);
    queue.ring.advance(fetched.bytes);
  }
  return any;
}

// The command in command_, which has been taken.
void Nic::count_command(const CommandQueue& queue) {
  auto& c = stats_.commands;
  const size_t pool = queue.config.stat_pool % c.dma.size();
  const size_t opcode = cassini::c_cmd::opcode::get(command_.data());
  switch (cassini::c_cmd::cmd_type::get(command_.data())) {
    case C_CMD_TYPE_DMA:
      c.dma[pool]++;
      c.dma_by_opcode[opcode]++;
      break;
    case C_CMD_TYPE_IDC:
      c.immediate[pool]++;
      break;
    case C_CMD_TYPE_CT:
      c.triggering_good++;
      c.counter_by_opcode[opcode]++;
      if (opcode >= C_CMD_CT_TRIG_DMA) c.triggered[pool]++;
      return;
    default:
      c.queue[pool]++;
      c.queue_by_opcode[opcode]++;
      break;
  }
  c.transmit_good++;
}

void Nic::fail_queue(CommandQueue& queue, int return_code, uint8_t command) {
  const bool target = !queue.config.transmit;
  queue.failed = true;
  queue.ring.fail(return_code, command);
  auto& c = stats_.commands;
  if (target) {
    c.target_bad++;
    c.target_arg_errors += return_code == C_RC_CMD_INVALID_ARG;
    c.target_perm_errors += return_code == C_RC_PERM_VIOLATION;
  } else if (queue.config.triggered) {
    c.triggering_bad++;
  } else {
    c.transmit_bad++;
    c.align_errors += return_code == C_RC_CMD_ALIGN_ERROR;
    c.op_errors += return_code == C_RC_OP_VIOLATION;
    c.arg_errors += return_code == C_RC_CMD_INVALID_ARG;
    c.perm_errors += return_code == C_RC_PERM_VIOLATION;
  }
  say("queue {} slot {}: command {:#04x} failed, {}; the queue stops", queue.index,
      queue.ring.slot(), command, name_of_return_code(static_cast<unsigned>(return_code)));
  if (EventQueue* events = queue_of(queue.rgid, queue.config.eqn))
    post(*events,
         encode_command_failure(target ? queue.index - C_NUM_TRANSMIT_CQS : queue.index, target,
                                queue.ring.slot(), command, static_cast<uint8_t>(return_code)));
  interrupts_.command_failed(queue.index, target);
}

int Nic::check_rights(unsigned rgid, const CommandOptions& options) const {
  if (options.eq != 0 && (!eq(options.eq) || eq(options.eq)->rgid() != rgid))
    return C_RC_PERM_VIOLATION;
  if (options.ct != 0 && (!ct(options.ct) || ct(options.ct)->rgid() != rgid))
    return C_RC_PERM_VIOLATION;
  return C_RC_OK;
}

Nic::Outcome Nic::execute(CommandQueue& queue, const TxCommand& command) {
  switch (command.kind) {
    case TxKind::noop:
      queue.noop_must_follow = false;
      return {C_RC_OK};
    case TxKind::state: {
      const int rc = check_rights(queue.rgid, command.options);
      if (rc != C_RC_OK) return {rc};
      queue.state = command.options;
      say("queue {}: CSTATE eq {} ct {} initiator {:#010x}", queue.index, queue.state.eq,
          queue.state.ct, queue.state.initiator);
      return {C_RC_OK};
    }
    case TxKind::fence:
      say("queue {}: FENCE behind {} outstanding", queue.index, queue.outstanding);
      queue.fence = true;
      return {C_RC_OK};
    case TxKind::lcid:
      if (queue.ring.second_half_of_128()) return {C_RC_CMD_ALIGN_ERROR};
      if (!groups_[queue.rgid].profiles[command.lcid].valid) return {C_RC_PERM_VIOLATION};
      queue.lcid = command.lcid;
      queue.noop_must_follow = true;
      say("queue {}: LCID {}", queue.index, command.lcid);
      return {C_RC_OK};
    case TxKind::counter:
      return execute_counter(queue, command);
    case TxKind::transfer:
      break;
  }
  if (!command.immediate)
    return transfer(queue.index, queue.rgid, queue.lcid, command, command.options);
  CommandOptions options = queue.state;
  if (command.small_message) {
    options.restricted = options.reduction = false;
    options.user_ptr = command.options.user_ptr;
  } else if (command.opcode == C_CMD_PUT && !options.restricted &&
             command.request_len > C_MAX_IDC_PAYLOAD_UNR) {
    return {C_RC_CMD_INVALID_ARG};
  }
  return transfer(queue.index, queue.rgid, queue.lcid, command, options);
}

Nic::Outcome Nic::transfer(unsigned queue_index, unsigned rgid, unsigned lcid,
                           const TxCommand& command, const CommandOptions& options) {
  CommandQueue* queue = cmdq(queue_index);
  const Profile& profile = groups_[rgid].profiles[lcid];
  if (!profile.valid) return {C_RC_PERM_VIOLATION};
  if (const int rc = check_rights(rgid, options); rc != C_RC_OK) return {rc};
  const uint32_t peer = dfa_nid(command.dfa);
  if (!may_take_spt(rgid) || (queue && queue->outstanding >= most_outstanding) ||
      (wire_.holding(peer) && wire_.held_bytes() > most_held_bytes) ||
      (command.request_len > much && command.opcode != C_CMD_GET && wire_.congested(peer)))
    return {C_RC_OK, true};

  const uint16_t spt = take_spt(rgid);
  Message& m = messages_[spt];
  m.no_match = command.no_match;
  m.opcode = command.opcode;
  m.queue = static_cast<uint16_t>(queue_index);
  m.peer = peer;
  m.request_len = command.request_len;
  m.options = options;
  if (queue) queue->outstanding++;

  Request r;
  r.format = options.restricted      ? PacketFormat::restricted
             : command.small_message ? PacketFormat::small_message
                                     : PacketFormat::unrestricted;
  r.opcode = command.opcode;
  r.dscp = profile.dscp;
  r.vni = profile.vni;
  r.index_ext = options.index_ext;
  r.flush = options.flush;
  r.use_offset_for_get = options.use_offset_for_get;
  r.rendezvous_id = command.rendezvous_id;
  r.eager_length = command.eager_length;
  r.spt = spt;
  r.seq = m.seq;
  r.source_nid = config_.nid;
  r.dfa = command.dfa;
  r.initiator = options.initiator;
  r.request_len = command.request_len;
  r.remote_offset = command.remote_offset;
  r.match_bits = command.match_bits;
  r.header_data = command.header_data;
  const size_t traffic_class = traffic_class_of(r.dscp);
  (r.opcode == C_CMD_GET ? stats_.sending.get_messages
                         : stats_.sending.put_messages)[traffic_class]++;
  stats_.sending.high_rate_commands += traffic_class == high_rate_class;
  if (tracing())
    say("queue {}: {}{}{} to nid {} pid {} index {} vni {} length {} match {:#x} offset {:#x} as "
        "{}",
        queue_index, command.immediate ? "immediate " : "", options.restricted ? "restricted " : "",
        name_of_opcode(command.opcode), peer, pid_of_dfa(command.dfa, config_.pid_bits),
        index_of_dfa(command.dfa, options.index_ext, config_.pid_bits), profile.vni,
        command.request_len, command.match_bits, command.remote_offset, spt);
  send_first(spt, command, r);
  return {C_RC_OK};
}

}  // namespace sim::nic
