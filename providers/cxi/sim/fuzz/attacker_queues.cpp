// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Memory that the NIC reads: rings, doorbells, software state. Commands are plausible but for a few
// bytes, or not at all.
#include "fuzz/attacker.hpp"

namespace sim::fuzz {
namespace {

constexpr uint64_t bits57 = (uint64_t{1} << 57) - 1;

uint32_t any_place(Input& input) {
  const uint32_t nid =
      input.one_in(8) ? static_cast<uint32_t>(input.number()) & 0xfffff : 1 + input.below(2);
  const unsigned pid = input.below(5), index = input.one_in(4) ? 255 : input.below(3);
  if (input.one_in(16)) return 0x1ffu << 23 | input.below(8) << 3 | 7;  // multicast
  if (input.one_in(16)) return static_cast<uint32_t>(input.raw(4));
  return nic::testing::dfa(nid, pid, index);
}

unsigned any_number(Input& input, unsigned own) {
  return (input.one_in(4) ? input.below(12) : own) & 0x7ff;
}

uint32_t any_length(Input& input) {
  switch (input.below(4)) {
    case 0:
      return input.byte();
    case 1:
      return static_cast<uint32_t>(input.raw(2));
    default:
      return static_cast<uint32_t>(input.number());
  }
}

}  // namespace

CommandWriter* Attacker::any_queue(Input& input) {
  auto& queues = program_->queues;
  return &queues[input.byte() % queues.size()];
}

void Attacker::push(Input& input, CommandWriter* queue, std::span<std::byte> command) {
  if (input.one_in(8))
    command[input.byte() % command.size()] = static_cast<std::byte>(input.byte());
  // The largest command with its padding, of whatever kind of queue it was not meant for, ends
  // before the ring does; what is left there the NIC runs through.
  constexpr size_t most_units = 16;
  if (queue->wp32 + most_units > queue->ring.bytes.size() / 32) queue->wp32 = C_CQ_FIRST_WR_PTR_32;
  // Padding of a queue for triggers keeps an odd place odd.
  if (queue->wp32 % 2 != 0 && command.size() > 32) queue->pad(1);
  queue->push_bytes(command.data(), command.size());
  if (!input.one_in(4)) queue->ring_doorbell();
}

void Attacker::write_transfer(Input& input) {
  Program& p = *program_;
  constexpr unsigned opcodes[] = {C_CMD_PUT, C_CMD_GET, C_CMD_RENDEZVOUS_PUT, C_CMD_PUT};
  const unsigned shape = input.below(4);
  const uint32_t to = any_place(input);
  const unsigned index_ext = input.one_in(4) ? 31 : input.below(3);
  CommandWriter* queue = input.one_in(8) ? any_queue(input) : &p.queues[0];
  const uint64_t at = p.iova(buffer_va + any_length(input) % 0x10000) & bits57;
  if (shape == 3) {
    c_dma_amo_cmd c{};
    c.command.cmd_type = C_CMD_TYPE_DMA;
    c.command.cmd_size = C_CMD_SIZE_128B;
    c.command.opcode = (C_CMD_ATOMIC + input.below(2)) & 0xf;
    std::memcpy(&c.dfa, &to, 4);
    c.index_ext = index_ext & 0x1f;
    c.eq = any_number(input, p.eqn) & 0x7ff;
    c.ct = any_number(input, input.one_in(2) ? p.ct_number : 0) & 0x7ff;
    c.lac = c.write_lac = (input.one_in(8) ? input.below(8) : p.lac) & 7;
    c.local_read_addr = c.local_write_addr = at;
    c.request_len = input.one_in(4) ? any_length(input) : 1u << input.below(5);
    c.atomic_op = input.below(16) & 0xf;
    c.atomic_type = input.below(16) & 0xf;
    c.cswap_op = input.below(8) & 7;
    c.remote_offset = 16u * input.byte();
    c.match_bits = input.below(4);
    c.restricted = input.one_in(8);
    return push(input, queue, std::as_writable_bytes(std::span(&c, 1)));
  }
  if (shape == 2) {
    c_nomatch_dma_cmd c{};
    c.command.cmd_type = C_CMD_TYPE_DMA;
    c.command.cmd_size = C_CMD_SIZE_32B;
    c.command.opcode = (C_CMD_NOMATCH_PUT + input.below(2)) & 0xf;
    std::memcpy(&c.dfa, &to, 4);
    c.index_ext = index_ext & 0x1f;
    c.eq = any_number(input, p.eqn) & 0x7ff;
    c.ct = any_number(input, p.ct_number) & 0x7ff;
    c.event_ct_ack = c.event_ct_reply = input.below(2) & 1;
    c.restricted = !input.one_in(4);
    c.lac = p.lac & 7;
    c.local_addr = at;
    c.request_len = any_length(input);
    c.remote_offset = input.number() & ((uint64_t{1} << 56) - 1);
    return push(input, queue, std::as_writable_bytes(std::span(&c, 1)));
  }
  c_full_dma_cmd c = nic::testing::dma(opcodes[input.below(4)], to, index_ext);
  const uint8_t bits = input.byte();
  c.event_send_disable = bits & 1;
  c.event_success_disable = bits >> 1 & 1;
  c.event_ct_send = bits >> 2 & 1;
  c.event_ct_reply = c.event_ct_ack = bits >> 3 & 1;
  c.event_ct_bytes = bits >> 4 & 1;
  c.flush = bits >> 5 & 1;
  c.use_offset_for_get = bits >> 6 & 1;
  c.restricted = (bits >> 7 & 1) && input.one_in(2);
  c.eq = any_number(input, p.eqn) & 0x7ff;
  c.ct = any_number(input, p.ct_number) & 0x7ff;
  c.lac = (input.one_in(8) ? input.below(8) : p.lac) & 7;
  c.local_addr = at;
  c.request_len = any_length(input);
  c.eager_length = input.one_in(2) ? c.request_len & 0xfffff : input.byte();
  c.rendezvous_id = input.byte();
  c.remote_offset = input.one_in(4) ? input.number() & ((uint64_t{1} << 56) - 1) : input.byte();
  c.match_bits = input.one_in(8) ? input.raw(8) : input.below(4);
  c.initiator = input.one_in(2) ? static_cast<uint32_t>(input.below(4) << 23 | 1) : 0;
  push(input, queue, std::as_writable_bytes(std::span(&c, 1)));
}

void Attacker::write_immediate(Input& input) {
  Program& p = *program_;
  CommandWriter* queue = input.one_in(8) ? any_queue(input) : &p.queues[0];
  const uint32_t to = any_place(input);
  switch (input.below(6)) {
    case 0: {
      auto c = nic::testing::cstate(any_number(input, p.eqn), input.below(3), input.byte());
      c.ct = any_number(input, p.ct_number) & 0x7ff;
      c.restricted = input.one_in(3);
      c.flush = input.one_in(3);
      c.event_ct_ack = input.one_in(2);
      c.write_lac = p.lac & 7;
      return push(input, queue, std::as_writable_bytes(std::span(&c, 1)));
    }
    case 1: {
      auto m = nic::testing::small_message(to, std::string(input.byte() % 193, 'x'), input.below(4),
                                           input.byte(), input.byte());
      return push(input, queue, std::span(m.command).first(m.bytes));
    }
    case 2: {
      std::array<std::byte, 256> c{};
      c_idc_hdr h{};
      const unsigned size = input.below(4);
      h.command.cmd_type = C_CMD_TYPE_IDC;
      h.command.cmd_size = size & 3;
      h.command.opcode = C_CMD_PUT;
      h.length = static_cast<uint8_t>(16 + input.byte() % ((32u << size) - 16));
      std::memcpy(&h.dfa, &to, 4);
      h.remote_offset = input.byte();
      std::memcpy(c.data(), &h, sizeof h);
      return push(input, queue, std::span(c).first(32u << size));
    }
    case 3: {
      c_idc_amo_cmd c{};
      c.idc_header.command.cmd_type = C_CMD_TYPE_IDC;
      c.idc_header.command.cmd_size = C_CMD_SIZE_64B;
      c.idc_header.command.opcode = (C_CMD_ATOMIC + input.below(2)) & 0xf;
      c.idc_header.length = 64;
      std::memcpy(&c.idc_header.dfa, &to, 4);
      c.idc_header.remote_offset = 8u * input.byte();
      c.atomic_op = input.below(16) & 0xf;
      c.atomic_type = input.below(16) & 0xf;
      c.cswap_op = input.below(8) & 7;
      c.local_addr = p.iova(buffer_va + 8u * input.byte()) & bits57;
      c.op1_word1 = input.number();
      c.op2_word1 = input.number();
      return push(input, queue, std::as_writable_bytes(std::span(&c, 1)));
    }
    case 4: {
      auto c = nic::testing::cq_cmd(C_CMD_CQ_FENCE + input.below(2));
      return push(input, queue, std::as_writable_bytes(std::span(&c, 1)));
    }
    default: {
      while (queue->wp32 % 4 != 0)
        queue->pad(1);
      auto c = nic::testing::cq_cmd(C_CMD_CQ_LCID, input.below(4));
      queue->push(c);
      c = nic::testing::cq_cmd(C_CMD_CQ_NOOP);
      return push(input, queue, std::as_writable_bytes(std::span(&c, 1)));
    }
  }
}

void Attacker::write_target_command(Input& input) {
  Program& p = *program_;
  CommandWriter* queue = input.one_in(8) ? any_queue(input) : &p.queues[1];
  const unsigned entry = any_number(input, p.pte_number);
  if (input.one_in(6)) {
    auto c = nic::testing::set_state_cmd(entry, input.below(5),
                                         input.one_in(2) ? 0xffffff : input.byte());
    return push(input, queue, std::as_writable_bytes(std::span(&c, 1)));
  }
  auto c = nic::testing::append_cmd(entry, input.below(4), input.below(6));
  constexpr unsigned opcodes[] = {C_CMD_TGT_APPEND,
                                  C_CMD_TGT_APPEND,
                                  C_CMD_TGT_APPEND,
                                  C_CMD_TGT_SEARCH,
                                  C_CMD_TGT_SEARCH_AND_DELETE,
                                  C_CMD_TGT_UNLINK};
  c.command.opcode = opcodes[input.below(6)] & 0xf;
  const uint16_t bits = static_cast<uint16_t>(input.raw(2));
  c.event_ct_bytes = bits & 1;
  c.event_ct_overflow = bits >> 1 & 1;
  c.event_ct_comm = bits >> 2 & 1;
  c.event_unlink_disable = bits >> 3 & 1;
  c.event_success_disable = bits >> 4 & 1;
  c.event_comm_disable = bits >> 5 & 1;
  c.event_link_disable = bits >> 6 & 1;
  c.unexpected_hdr_disable = bits >> 7 & 1;
  c.use_once = bits >> 8 & 1;
  c.no_truncate = bits >> 9 & 1;
  c.manage_local = bits >> 10 & 1;
  c.op_get = bits >> 11 & 1;
  c.op_put = !(bits >> 12 & 1);
  c.restart_seq = bits >> 13 & 1;
  c.ct = any_number(input, p.ct_number) & 0x7ff;
  c.lac = (input.one_in(8) ? input.below(8) : p.lac) & 7;
  c.start = p.iova(buffer_va + any_length(input) % 0x10000) & bits57;
  c.length =
      (input.one_in(4) ? input.number() : any_length(input) % 0x20000) & ((uint64_t{1} << 56) - 1);
  c.min_free = static_cast<uint32_t>(input.number()) & 0xffffff;
  c.match_bits = input.one_in(8) ? input.raw(8) : input.below(4);
  c.ignore_bits = input.one_in(2) ? ~uint64_t{0} : input.below(4);
  push(input, queue, std::as_writable_bytes(std::span(&c, 1)));
}

void Attacker::write_counter_command(Input& input) {
  Program& p = *program_;
  CommandWriter* queue = input.one_in(8) ? any_queue(input) : &p.queues[2];
  std::array<std::byte, 128> command{};
  const unsigned opcode = input.below(10);
  const bool carries_dma = opcode == C_CMD_CT_TRIG_DMA;
  c_ct_cmd c{};
  c.command.cmd_type = C_CMD_TYPE_CT;
  c.command.cmd_size = (carries_dma ? C_CMD_SIZE_128B : C_CMD_SIZE_64B) & 3;
  c.command.opcode = opcode & 0xf;
  c.ct = any_number(input, p.ct_number) & 0x7ff;
  c.trig_ct = any_number(input, p.ct_number) & 0x7ff;
  c.eq = any_number(input, p.eqn) & 0x7ff;
  c.ct_success = input.number() & ((uint64_t{1} << 48) - 1);
  c.ct_failure = input.byte() & 0x7f;
  c.set_ct_success = input.below(2) & 1;
  c.set_ct_failure = input.one_in(4);
  c.threshold = input.number() & ((uint64_t{1} << 48) - 1);
  std::memcpy(command.data(), &c, sizeof c);
  if (carries_dma) {
    constexpr unsigned opcodes[] = {C_CMD_PUT, C_CMD_GET, C_CMD_RENDEZVOUS_PUT, C_CMD_ATOMIC};
    auto put = nic::testing::dma(opcodes[input.below(4)], any_place(input), input.below(3));
    put.lac = p.lac & 7;
    put.local_addr = p.iova(buffer_va + input.byte()) & bits57;
    put.request_len = any_length(input);
    put.eq = any_number(input, p.eqn) & 0x7ff;
    put.ct = any_number(input, p.ct_number) & 0x7ff;
    put.event_ct_ack = put.event_ct_reply = input.below(2) & 1;
    std::memcpy(command.data() + sizeof c, &put, sizeof put);
  }
  push(input, queue, std::span(command).first(carries_dma ? 128 : 64));
}

void Attacker::write_garbage(Input& input) {
  CommandWriter* queue = any_queue(input);
  if (input.one_in(2)) {
    std::array<std::byte, 64> command{};
    input.fill(command);
    return push(input, queue, command);
  }
  // Anywhere in the pages of the device: rings in use, status words, doorbells, software state.
  const auto pages = program_->window().all();
  if (pages.empty()) return;
  const size_t at = (input.raw(3) * 8) % pages.size();
  const uint64_t value = input.number();
  std::memcpy(pages.data() + at, &value, std::min<size_t>(sizeof value, pages.size() - at));
}

void Attacker::ring(Input& input) {
  CommandWriter* queue = any_queue(input);
  if (!input.one_in(4)) return queue->ring_doorbell();
  queue->write_doorbell(input.number());
}

void Attacker::read_events(Input& input) {
  EventReader& events = program_->events;
  switch (input.below(4)) {
    case 0:
      return events.write_state(input.number(), input.below(2) != 0, input.below(16));
    case 1:
      events.drop_seq = !events.drop_seq;
      break;
    default:
      break;
  }
  for (int i = 0; i < 1000 && events.next(); ++i) {
  }
  events.ack();
}

}  // namespace sim::fuzz
