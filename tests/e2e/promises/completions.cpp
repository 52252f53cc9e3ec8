// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Completion counters, and events that are asked for.
#include <poll.h>
#include <time.h>

#include <atomic>
#include <thread>

#include "promises.hpp"

namespace promises {
namespace {

using Counter = e2e::Owned<ibv_comp_cntr, ibv_destroy_comp_cntr>;

e2e::Options options(const std::string& device) {
  e2e::Options options;
  options.device = device;
  options.rma = true;
  options.imm64 = true;
  options.buffer_bytes = 8192;
  options.retry_cnt = 1;
  return options;
}

Counter counter_of(Endpoint& endpoint, uint32_t operations,
                   ibv_comp_cntr_type type = IBV_COMP_CNTR_TYPE_WRS) {
  ibv_comp_cntr_init_attr init{};
  init.type = type;
  Counter counter(made(ibv_create_comp_cntr(endpoint.context(), &init), "create a counter"));
  ibv_qp_attach_comp_cntr_attr attr{};
  attr.op_mask = operations;
  expect_error(ibv_qp_attach_comp_cntr(endpoint.qp(), counter.get(), &attr), 0, "attach");
  return counter;
}

uint64_t value(const Counter& counter) {
  uint64_t found = 0;
  expect_error(ibv_read_comp_cntr(counter.get(), &found), 0, "read a counter");
  return found;
}
uint64_t errors(const Counter& counter) {
  uint64_t found = 0;
  expect_error(ibv_read_err_comp_cntr(counter.get(), &found), 0, "read the errors");
  return found;
}

void request(Endpoint& me, Operation operation, unsigned count,
             std::optional<e2e::Remote> remote = {}, size_t bytes = 100) {
  for (unsigned i = 0; i < count; ++i) {
    Request request{};
    request.operation = operation;
    request.bytes = bytes;
    request.remote = remote;
    expect_error(me.post(request), 0, "post");
    me.wait();
  }
}

constexpr uint32_t sends = IBV_QP_ATTACH_COMP_CNTR_OP_SEND,
                   receives = IBV_QP_ATTACH_COMP_CNTR_OP_RECV,
                   reads = IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ,
                   writes = IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE;

void counters_here(const Place& place, Wire& wire) {
  Acquainted me(options(place.here_dev), wire);
  Counter sent = counter_of(me, sends), read = counter_of(me, reads),
          written = counter_of(me, writes);
  expect_error(ibv_destroy_comp_cntr(sent.get()), EBUSY, "destroying a counter that is used");
  sync(wire);
  request(me, Operation::send, 5);
  request(me, Operation::write, 3);
  request(me, Operation::write_imm64, 2);
  request(me, Operation::read, 2);
  request(me, Operation::write, 4, e2e::Remote{0x77, 0x77, 0});  // no such key
  expect_equal(value(sent), 5, "the counter of sends");
  expect_equal(value(written), 5, "the counter of writes");
  expect_equal(value(read), 2, "the counter of reads");
  expect_equal(errors(written), 4, "the errors of writes");
  expect_equal(errors(sent), 0, "the errors of sends");
  expect_error(ibv_set_comp_cntr(sent.get(), 100), 0, "set");
  expect_error(ibv_inc_comp_cntr(sent.get(), 11), 0, "increment");
  request(me, Operation::send, 1);
  expect_equal(value(sent), 112, "a counter that was set");
  expect_error(ibv_set_err_comp_cntr(written.get(), 0), 0, "set the errors");
  expect_equal(errors(written), 0, "errors that were set");
  expect_equal(value(written), 5, "the counter beside them");
  sync(wire);
  expect_error(ibv_destroy_qp(me.release_qp()), 0, "destroying the queue pair");
  expect_equal(value(sent), 112, "a counter whose queue pair is gone");
}

// Counts without a poll.
void counters_there(const Place& place, Wire& wire) {
  Acquainted me(options(place.there_dev), wire);
  Counter received = counter_of(me, receives);
  for (int i = 0; i < 6; ++i)
    expect_error(me.post_recv(1, 100), 0, "post a receive");
  sync(wire);
  sync(wire);
  expect_equal(value(received), 6, "the counter of receives");
  expect_equal(errors(received), 0, "the errors of receives");
  expect_error(ibv_destroy_qp(me.release_qp()), 0, "destroying the queue pair");
}

bool event_within(ibv_comp_channel* channel, int milliseconds) {
  pollfd descriptor{channel->fd, POLLIN, 0};
  if (poll(&descriptor, 1, milliseconds) != 1) return false;
  ibv_cq* cq = nullptr;
  void* cq_context = nullptr;
  if (ibv_get_cq_event(channel, &cq, &cq_context)) e2e::fail("completion event", errno);
  ibv_ack_cq_events(cq, 1);
  return true;
}

// Who asks for solicited completions is woken by those, of every operation that can ask for it.
void solicited_there(const Place& place, Wire& wire) {
  e2e::Options mine = options(place.there_dev);
  mine.events = true;
  Acquainted me(mine, wire);
  for (int i = 0; i < 5; ++i) {
    Completion completion;
    expect_error(me.post_recv(1, 100), 0, "post a receive");
    expect_error(ibv_req_notify_cq(me.cq(), 1), 0, "arm");
    expect(!me.poll(completion), "a completion before anything was sent");
    sync(wire);
    expect(event_within(me.channel(), 20'000), "a solicited completion woke nobody");
    expect_status(me.wait(), IBV_WC_SUCCESS, "a solicited message");
    if (i >= 3) expect_error(me.post_recv(1, 100), 0, "post a receive");  // it was not taken
  }
  sync(wire);
}

void solicited_here(const Place& place, Wire& wire) {
  Acquainted me(options(place.here_dev), wire);
  for (Operation operation : {Operation::send, Operation::send_imm, Operation::send_imm64,
                              Operation::write_imm, Operation::write_imm64}) {
    sync(wire);
    Request request{};
    request.operation = operation;
    request.bytes = 100;
    request.solicited = true;
    expect_error(me.post(request), 0, "post");
    expect_status(me.wait(), IBV_WC_SUCCESS, "a solicited message");
  }
  sync(wire);
}

// Threads post to queue pairs of their own whose completions go to one queue, and poll it.
void shared_queue(const Place& place, Wire&) {
  constexpr unsigned threads = 4, each = 200, window = 8;
  Bench bench(place.here_dev);
  std::vector<uint8_t> memory(4096);
  Mr mr(made(ibv_reg_mr(bench.pd.get(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE),
             "region"));
  union ibv_gid gid;
  expect_error(ibv_query_gid(bench.context.get(), 1, 0, &gid), 0, "query the GID");
  std::vector<Qp> qps;
  std::vector<e2e::Owned<ibv_ah, ibv_destroy_ah>> ways;
  for (unsigned i = 0; i < threads; ++i) {
    qps.push_back(bench.qp());
    ibv_ah_attr_ex way = way_to(gid, qps.back()->qp_num);
    ways.emplace_back(made(ibv_create_ah_ex(bench.pd.get(), &way), "address handle"));
  }
  std::atomic<unsigned> completed[threads] = {}, received[threads] = {};
  std::atomic<bool> failed = false;
  auto work = [&](unsigned number) {
    unsigned posted = 0;
    auto mine = [&] { return completed[number].load(); };
    ibv_sge sge{reinterpret_cast<uint64_t>(memory.data()) + number * 64, 64, mr->lkey};
    while (!failed && (mine() < each || received[number] < each)) {
      if (posted < each && posted - mine() < window && posted - received[number] < window) {
        ibv_recv_wr receive{number, nullptr, &sge, 1}, *bad_receive = nullptr;
        ibv_send_wr send{}, *bad = nullptr;
        send.wr_id = number;
        send.sg_list = &sge;
        send.num_sge = 1;
        send.opcode = IBV_WR_SEND;
        send.send_flags = IBV_SEND_SIGNALED;
        send.wr.ru.ah = ibv_ah_to_ah_ex(ways[number].get());
        if (ibv_post_recv(qps[number].get(), &receive, &bad_receive) ||
            ibv_post_send(qps[number].get(), &send, &bad))
          failed = true;
        ++posted;
      }
      ibv_wc wc;
      int found = ibv_poll_cq(bench.cq.get(), 1, &wc);
      if (found < 0 || (found == 1 && (wc.status != IBV_WC_SUCCESS || wc.wr_id >= threads ||
                                       wc.qp_num != qps[wc.wr_id]->qp_num)))
        failed = true;
      else if (found == 1)
        ++(wc.opcode == IBV_WC_RECV ? received : completed)[wc.wr_id];
      else
        std::this_thread::yield();
    }
  };
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i)
    all.emplace_back(work, i);
  for (std::thread& thread : all)
    thread.join();
  expect(!failed, "a thread failed");
  ibv_wc wc;
  expect(ibv_poll_cq(bench.cq.get(), 1, &wc) == 0, "a completion too many");
}

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return uint64_t{1'000'000'000} * static_cast<uint64_t>(time.tv_sec) +
         static_cast<uint64_t>(time.tv_nsec);
}

// Time stamps lie between what the clock of the program says before and after, and a message
// arrives before its sender hears of it. The NIC's own clock counts nanoseconds.
void timed(const Place&, Wire& wire, bool sender, const std::string& device) {
  e2e::Options mine = options(device);
  mine.timestamps = true;
  Acquainted me(mine, wire);
  ibv_device_attr_ex attr{};
  expect_error(ibv_query_device_ex(me.context(), nullptr, &attr), 0, "query the device");
  expect_equal(attr.hca_core_clock, 1'000'000, "the NIC's clock in kHz");
  uint64_t last = 0;
  for (uint32_t round = 0; round < 20; ++round) {
    uint64_t before = now();
    if (!sender) expect_error(me.post_recv(1, 100), 0, "post a receive");
    sync(wire);
    if (sender) {
      Request request{};
      request.operation = Operation::send;
      request.bytes = 100;
      expect_error(me.post(request), 0, "post");
    }
    Completion completion = me.wait();
    expect_status(completion, IBV_WC_SUCCESS, "a message");
    expect_equal(completion.qp_num, me.qp()->qp_num, "the queue pair of the completion");
    expect(before <= completion.wall_ns && completion.wall_ns <= now(),
           "a completion happened before its request or after it was seen");
    expect(completion.wall_ns > last, "time stamps go back");
    last = completion.wall_ns;
    wire.put(completion.wall_ns);
    wire.put(completion.raw_time);
    auto wall = wire.take<uint64_t>(), raw = wire.take<uint64_t>();
    if (sender) std::swap(wall, completion.wall_ns);
    expect(completion.wall_ns <= wall, "a sender heard of an arrival before it was");
    if (sender) std::swap(raw, completion.raw_time);
    expect_equal(raw - completion.raw_time, wall - completion.wall_ns, "the time between the two");
  }
}
void timed_here(const Place& place, Wire& wire) {
  timed(place, wire, true, place.here_dev);
}
void timed_there(const Place& place, Wire& wire) {
  timed(place, wire, false, place.there_dev);
}

// More arrivals than the target's queue holds: the rest waits at the sender, and none is lost.
constexpr uint32_t flood = 400;

void overrun_here(const Place& place, Wire& wire) {
  e2e::Options mine = options(place.here_dev);
  mine.depth = flood;
  Acquainted me(mine, wire);
  for (uint32_t i = 0; i < flood; ++i) {
    Request request{};
    request.operation = Operation::write_imm;
    request.bytes = 8;
    request.imm = i;
    expect_error(me.post(request), 0, "post");
  }
  sync(wire);
  for (uint32_t i = 0; i < flood; ++i)
    expect_status(me.wait(), IBV_WC_SUCCESS, "a write to a full queue");
  sync(wire);
}

void overrun_there(const Place& place, Wire& wire) {
  e2e::Options mine = options(place.there_dev);
  mine.depth = 4;
  Acquainted me(mine, wire);
  expect(static_cast<uint32_t>(me.cq()->cqe) < flood / 2, "the queue is too long for this");
  sync(wire);
  std::vector<unsigned> seen(flood);
  for (uint32_t i = 0; i < flood; ++i) {
    Completion completion = me.wait();
    expect_status(completion, IBV_WC_SUCCESS, "an arrival");
    expect(completion.imm32 < flood && seen[completion.imm32]++ == 0,
           "an arrival came twice, or none");
  }
  sync(wire);
  Completion completion;
  expect(!me.poll(completion), "an arrival too many");
}

}  // namespace

std::span<const Promise> of_completions() {
  static const Promise list[] = {
      {"counters-count", counters_here, counters_there},
      {"solicited-completions-wake", solicited_here, solicited_there},
      {"time-stamps", timed_here, timed_there},
      {"full-queue-loses-nothing", overrun_here, overrun_there},
      {"threads-share-a-completion-queue", shared_queue},
  };
  return list;
}

}  // namespace promises
