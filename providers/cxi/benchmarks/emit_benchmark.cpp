// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What one command costs the processor: filled from variables and emitted through
// infiniband/cxidv_emit.h, or copied into the ring in the plain way. Rings and doorbells are
// ordinary memory, and the NIC has always read everything when the ring is full.
#include <benchmark/benchmark.h>
#include <infiniband/cxidv.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "emit_commands.hpp"
#include "tests/dv_queue.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace emission {
namespace {

constexpr std::uint32_t slots = 256;

/// A ring written with memcpy(): pads with whole commands, asks how much room there is each time.
class PlainQueue {
 public:
  int emit(const void* command, std::size_t bytes, unsigned type, unsigned opcode, unsigned size) {
    const std::uint32_t units = 1u << size;
    while (write_ % units) {
      if (room() < 1) return ENOSPC;
      std::memset(place(), 0, 32);
      advance(1);
    }
    if (room() < units) return ENOSPC;
    std::memcpy(place(), command, bytes);
    c_cmd head;
    head.cmd_type = type & 3;
    head.cmd_size = size & 3;
    head.opcode = opcode & 15;
    std::memcpy(place(), &head, sizeof(head));
    advance(units);
    return 0;
  }
  void drain() { read_ = write_; }

 private:
  std::uint32_t room() const {
    return write_ >= read_ ? size_ - write_ + read_ - 10 : read_ - write_ - 2;
  }
  std::uint8_t* place() { return &memory_[std::size_t{write_} * 32]; }
  void advance(std::uint32_t units) {
    write_ += units;
    if (write_ == size_) write_ = 8;
  }

  std::vector<std::uint8_t> memory_ = std::vector<std::uint8_t>(slots * 64);
  std::uint32_t size_ = 2 * slots, write_ = 8, read_ = 8;
};

std::uint64_t cycles() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

/// Runs one emission per turn; it returns whether it found no room. Cycles are those of the best
/// thousand in a row, which a busy machine does not disturb.
template <class Queue, class Turn, class Drain>
void run(benchmark::State& state, Queue& queue, Turn turn, Drain drain) {
  constexpr std::size_t in_a_row = 1024;
  std::size_t i = 0;
  std::uint64_t start = cycles(), best = UINT64_MAX;
  for (auto _ : state) {
    const Request& request = requests()[i++ % requests().size()];
    if (turn(queue, request)) {
      drain(queue);
      turn(queue, request);
    }
    benchmark::ClobberMemory();
    if (i % in_a_row == 0) {
      const std::uint64_t now = cycles();
      best = std::min(best, now - start);
      start = now;
    }
  }
  if (best && best != UINT64_MAX)
    state.counters["cycles"] = static_cast<double>(best) / static_cast<double>(in_a_row);
}

/// A function as a library would have it: takes a request, emits a command.
template <class Command, class Emit>
[[gnu::noinline]] int post(cxidv_cmdq* queue, const Request& request) {
  Command command;
  fill(command, request);
  return Emit{}(queue, command);
}

template <class Command, unsigned type, unsigned opcode, unsigned size>
[[gnu::noinline]] int post_plain(PlainQueue& queue, const Request& request) {
  Command command;
  fill(command, request);
  return queue.emit(&command, sizeof(command), type, opcode, size);
}

template <class Command, class Emit>
void cxidv(benchmark::State& state, Emit, std::uint32_t flags = CXIDV_CMDQ_TRANSMIT) {
  cxi::DvQueue queue(slots, flags);
  run(
      state, queue,
      [](cxi::DvQueue& q, const Request& request) { return post<Command, Emit>(q.get(), request); },
      [](cxi::DvQueue& q) { q.read_to(q->wp32 / 2); });
}

template <class Command, unsigned type, unsigned opcode, unsigned size>
void plain(benchmark::State& state) {
  PlainQueue queue;
  run(state, queue, post_plain<Command, type, opcode, size>, [](PlainQueue& q) { q.drain(); });
}

const std::uint8_t payload[64] = {1, 2, 3};

#define CXIDV(name, Command, call)                                               \
  void name(benchmark::State& state) {                                           \
    cxidv<Command>(state, [](cxidv_cmdq* q, const Command& c) { return call; }); \
  }                                                                              \
  BENCHMARK(name)
#define CXIDV_TRIGGERED(name, Command, call)                         \
  void name(benchmark::State& state) {                               \
    cxidv<Command>(                                                  \
        state, [](cxidv_cmdq* q, const Command& c) { return call; }, \
        CXIDV_CMDQ_TRANSMIT | CXIDV_CMDQ_TRIGGERED);                 \
  }                                                                  \
  BENCHMARK(name)
#define PLAIN(name, Command, type, opcode, size) \
  void name(benchmark::State& state) {           \
    plain<Command, type, opcode, size>(state);   \
  }                                              \
  BENCHMARK(name)

CXIDV(put_cxidv, c_full_dma_cmd, cxidv_emit_put(q, &c));
PLAIN(put_memcpy, c_full_dma_cmd, C_CMD_TYPE_DMA, C_CMD_PUT, C_CMD_SIZE_64B);
CXIDV(nomatch_put_cxidv, c_nomatch_dma_cmd, cxidv_emit_nomatch_put(q, &c));
PLAIN(nomatch_put_memcpy, c_nomatch_dma_cmd, C_CMD_TYPE_DMA, C_CMD_NOMATCH_PUT, C_CMD_SIZE_32B);
CXIDV(amo_cxidv, c_dma_amo_cmd, cxidv_emit_fetching_amo(q, &c));
PLAIN(amo_memcpy, c_dma_amo_cmd, C_CMD_TYPE_DMA, C_CMD_FETCHING_ATOMIC, C_CMD_SIZE_128B);
CXIDV(cstate_cxidv, c_cstate_cmd, cxidv_emit_cstate(q, &c));
PLAIN(cstate_memcpy, c_cstate_cmd, C_CMD_TYPE_IDC, C_CMD_CSTATE, C_CMD_SIZE_32B);
CXIDV(append_cxidv, c_target_cmd, cxidv_emit_append(q, &c));
PLAIN(append_memcpy, c_target_cmd, C_CMD_TYPE_CQ, C_CMD_TGT_APPEND, C_CMD_SIZE_64B);
CXIDV_TRIGGERED(ct_inc_cxidv, c_ct_cmd, cxidv_emit_ct_inc(q, &c));
PLAIN(ct_inc_memcpy, c_ct_cmd, C_CMD_TYPE_CT, C_CMD_CT_INC, C_CMD_SIZE_64B);
CXIDV_TRIGGERED(trig_put_cxidv, c_full_dma_cmd, cxidv_emit_trig_put(q, 5, 100, &c));
CXIDV(msg_8_cxidv, c_idc_msg_hdr, cxidv_emit_idc_msg(q, &c, payload, 8));
CXIDV(msg_64_cxidv, c_idc_msg_hdr, cxidv_emit_idc_msg(q, &c, payload, 64));

void msg_8_memcpy(benchmark::State& state) {
  PlainQueue queue;
  run(
      state, queue,
      [](PlainQueue& q, const Request& request) {
        c_idc_msg_hdr header;
        fill(header, request);
        header.length = sizeof(header) + 8;
        std::uint8_t command[sizeof(header) + 8];
        std::memcpy(command, &header, sizeof(header));
        std::memcpy(command + sizeof(header), payload, 8);
        return q.emit(command, sizeof(command), C_CMD_TYPE_IDC, C_CMD_SMALL_MESSAGE,
                      C_CMD_SIZE_64B);
      },
      [](PlainQueue& q) { q.drain(); });
}
BENCHMARK(msg_8_memcpy);

struct EmitPut {
  int operator()(cxidv_cmdq* q, const c_full_dma_cmd& c) const { return cxidv_emit_put(q, &c); }
};

/// Commands and the doorbell: one each, and one for sixteen.
void put_and_ring(benchmark::State& state) {
  const auto every = static_cast<std::uint32_t>(state.range(0));
  cxi::DvQueue queue(slots);
  std::uint32_t count = 0;
  run(
      state, queue,
      [&](cxi::DvQueue& q, const Request& request) {
        const int err = post<c_full_dma_cmd, EmitPut>(q.get(), request);
        if (++count % every == 0) cxidv_cmdq_ring(q.get());
        return err;
      },
      [](cxi::DvQueue& q) { q.read_to(q->wp32 / 2); });
}
BENCHMARK(put_and_ring)->Arg(1)->Arg(16);

/// A command that is ready, and only copied.
void ready_put_cxidv(benchmark::State& state) {
  c_full_dma_cmd command;
  fill(command, requests()[0]);
  cxi::DvQueue queue(slots);
  run(
      state, queue,
      [&](cxi::DvQueue& q, const Request&) { return cxidv_emit_put(q.get(), &command); },
      [](cxi::DvQueue& q) { q.read_to(q->wp32 / 2); });
}
BENCHMARK(ready_put_cxidv);

/// Events out of a ring of 16-byte events, acknowledged every 32.
void next_event(benchmark::State& state) {
  constexpr std::uint32_t bytes = slots * 64;
  std::vector<std::uint8_t> ring(bytes), full(bytes);
  for (std::size_t at = 64; at < bytes; at += 16) {
    full[at + 14] = C_EVENT_SIZE_16_BYTE | C_EVENT_ACK << 2;
    full[at + 15] = C_RC_OK;
  }
  std::uint64_t sw_state = 0;
  cxidv_eq eq = {};
  eq.ring = ring.data();
  eq.byte_size = bytes;
  eq.rd_offset = eq.cleared_offset = 64;
  eq.sw_state = &sw_state;
  std::uint32_t read = 0;
  for (auto _ : state) {
    const c_event* event = cxidv_eq_next(&eq);
    if (!event) {
      state.PauseTiming();
      cxidv_eq_ack(&eq);
      std::memcpy(ring.data(), full.data(), bytes);
      state.ResumeTiming();
      event = cxidv_eq_next(&eq);
    }
    benchmark::DoNotOptimize(cxidv_event_user_ptr(event));
    if (++read % 32 == 0) cxidv_eq_ack(&eq);
  }
}
BENCHMARK(next_event);

}  // namespace
}  // namespace emission

// Never called here: the queue is not resized.
extern "C" int cxidv_follow_eq_switch(cxidv_eq*) {
  std::abort();
}

BENCHMARK_MAIN();
