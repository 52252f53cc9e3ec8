// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Numbers, addressing, semantics and states of queue pairs.
#include "promises.hpp"

namespace promises {
namespace {

constexpr uint32_t number(uint32_t pid, uint32_t ri) {
  return pid << IBV_QPN_PID_ON_FEP_SHIFT | ri << IBV_QPN_RI_SHIFT;
}
uint32_t pid_of(const ibv_qp& qp) {
  return qp.qp_num & IBV_QPN_PID_ON_FEP_MASK;
}

ibv_qp_attr query(ibv_qp* qp, int mask) {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  expect_error(ibv_query_qp(qp, &attr, mask, &init), 0, "query");
  return attr;
}

void born_ready(const Place& place, Wire&) {
  Bench bench(place.here_dev);
  Qp qp = bench.qp({.qpn = number(20, 40)});
  expect_equal(qp->qp_num, number(20, 40), "the number");
  for (int bit = 0; bit < 25; ++bit) {  // every single mask is answered
    ibv_qp_attr attr = query(qp.get(), 1 << bit);
    if (bit == 0) expect_equal(attr.qp_state, IBV_QPS_RTS, "the state");
  }
  ibv_port_attr port{};
  expect_error(ibv_query_port(bench.context.get(), 1, &port), 0, "query the port");
  ibv_qp_attr attr = query(qp.get(), (1 << 25) - 1);
  expect_equal(attr.qp_state, IBV_QPS_RTS, "the state");
  expect_equal(attr.port_num, 1, "the port");
  expect_equal(attr.path_mtu, port.active_mtu, "the MTU");
  expect(attr.cap.max_send_wr >= 16 && attr.cap.max_recv_wr >= 16, "the queues are too short");
}

void without_key(const Place& place, Wire&) {
  Bench bench(place.here_dev);
  expect_refused(bench.try_qp({.without_key = true}), EINVAL, "a relative QP without a key");
}

void chosen_numbers(const Place& place, Wire&) {
  Bench bench(place.here_dev);
  Qp zero = bench.qp({.qpn = 0});
  expect_equal(zero->qp_num, 0, "the number 0");
  expect_refused(bench.try_qp({.qpn = 0}), ENOSPC, "a resource index twice");
  expect_refused(bench.try_qp({.qpn = number(1, 1)}), EINVAL, "another PID in the PD");
  Qp last = bench.qp({.qpn = number(0, 47)});
  Qp assigned = bench.qp();
  expect_equal(assigned->qp_num, number(0, 1), "the lowest free number");
  zero.reset();
  zero = bench.qp();
  expect_equal(zero->qp_num, 0, "the number that is free again");
  for (uint32_t impossible : {number(0, 48), number(511, 0), 1U << 24, 1U << 30})
    expect_refused(bench.try_qp({.qpn = impossible}), EINVAL, "an impossible number");
}

// A PID belongs to one PD of the NIC, and to it as long as it lives.
void pids_here(const Place& place, Wire& wire) {
  Bench bench(place.there_dev);
  Qp chosen = bench.qp({.qpn = number(40, 3)});
  {
    Pd other(made(ibv_alloc_pd(bench.context.get()), "PD"));
    JobKey key(made(ibv_create_jkey(other.get(), bench.job.get(), 0), "job key"));
    Qp assigned = bench.qp({.pd = other.get(), .key = key.get()});
    expect(pid_of(*assigned) != 40, "two PDs of a process have the same PID");
    wire.put(assigned->qp_num);
    sync(wire);
  }
  chosen.reset();
  sync(wire);  // the queue pair is gone, the PD is not
  sync(wire);
  expect_error(ibv_destroy_jkey(bench.key.release()), 0, "destroy the key");
  expect_error(ibv_dealloc_pd(bench.pd.release()), 0, "deallocate the PD");
  sync(wire);
  sync(wire);
}

void pids_there(const Place& place, Wire& wire) {
  Bench bench(place.there_dev);
  auto others = wire.take<uint32_t>();
  {
    Pd pd(made(ibv_alloc_pd(bench.context.get()), "PD"));
    JobKey key(made(ibv_create_jkey(pd.get(), bench.job.get(), 0), "job key"));
    Qp assigned = bench.qp({.pd = pd.get(), .key = key.get()});
    expect(pid_of(*assigned) != 40 && assigned->qp_num != others,
           "two processes were given the same PID");
  }
  {
    Bench second_vni(place.there_dev, 10);
    Qp same = second_vni.qp({.qpn = number(40, 3)});
    expect_equal(same->qp_num, number(40, 3), "the same number in another VNI");
  }
  auto taken = [&] { return bench.try_qp({.qpn = number(40, 4)}); };
  expect_refused(taken(), ENOSPC, "a PID of another process");
  sync(wire);
  sync(wire);
  expect_refused(taken(), ENOSPC, "a PID whose PD lives");
  sync(wire);
  sync(wire);
  Qp free(made(taken(), "a QP with a PID that is free again"));
  expect_equal(free->qp_num, number(40, 4), "its number");
  sync(wire);
}

// Two queue pairs, one absolute: a sender of another job reaches that one only.
void addressing_there(const Place& place, Wire& wire) {
  e2e::Options relative, absolute;
  relative.device = absolute.device = place.there_dev;
  absolute.qpn = IBV_QPN_ABSOLUTE_ADDR_BIT | number(60, 2);
  Endpoint one(relative), other(absolute);
  expect_equal(other.qp()->qp_num, *absolute.qpn, "the number");
  for (Endpoint* each : {&one, &other}) {
    expect_error(each->post_recv(1, 100), 0, "post a receive");
    wire.put(each->address());
  }
  Completion completion = other.wait();
  expect_status(completion, IBV_WC_SUCCESS, "a message to an absolute QP");
  expect_equal(completion.job_id, 10, "the sender's job");
  other.check(100, 4);
  sync(wire);
  expect(!one.poll(completion), "a message of another job reached a relative QP");
}

void addressing_here(const Place& place, Wire& wire) {
  e2e::Options mine;
  mine.device = place.here_dev;
  mine.job_id = 10;
  mine.retry_cnt = 1;
  Endpoint me(mine);
  me.connect(wire.take<e2e::Address>());
  me.connect(wire.take<e2e::Address>());
  me.fill(100, 4);
  for (size_t peer : {0, 1}) {
    Request request{};
    request.operation = Operation::send;
    request.peer = peer;
    request.bytes = 100;
    expect_error(me.post(request), 0, "post");
    expect_status(me.wait(), peer ? IBV_WC_SUCCESS : IBV_WC_RETRY_EXC_ERR,
                  "a message of another job");
  }
  sync(wire);
}

void semantics(const Place& place, Wire&) {
  Bench bench(place.here_dev);
  ibv_context* context = bench.context.get();
  ibv_qp_semantics offered{};
  auto ask = [&](ibv_qp_type type, ibv_qp_semantics* into, size_t length) {
    return ibv_query_qp_semantics(context, type, 1, 0, into, length);
  };
  expect_error(ask(IBV_QPT_RC, &offered, sizeof offered), EOPNOTSUPP, "semantics of RC");
  expect_error(ask(IBV_QPT_RU, nullptr, sizeof offered), EINVAL, "no room for semantics");
  expect_error(ask(IBV_QPT_RU, &offered, 0), EINVAL, "no room for semantics");
  expect_error(ask(IBV_QPT_RU, &offered, sizeof offered), 0, "semantics of RU");
  ibv_port_attr port{};
  expect_error(ibv_query_port(context, 1, &port), 0, "query the port");
  expect_equal(offered.max_pdu, 128U << port.active_mtu, "max_pdu");
  expect_equal(offered.imm_data_size, 64, "imm_data_size");
  expect_equal(offered.msg_order, 0, "msg_order");
  expect(offered.usage_flags & IBV_QP_USAGE_ATTACH_MR, "regions cannot be attached");
  { Qp all = bench.qp({.semantics = &offered}); }
  struct More {
    uint32_t mask;
    void (*ask)(ibv_qp_semantics&);
  };
  constexpr More too_much[] = {
      {IBV_QP_SEMANTICS_MASK_MSG_ORDER, [](auto& s) { s.msg_order = IBV_ORDER_SAS; }},
      {IBV_QP_SEMANTICS_MASK_RAW, [](auto& s) { s.max_rdma_raw_size = 1; }},
      {IBV_QP_SEMANTICS_MASK_WAR, [](auto& s) { s.max_rdma_war_size = 1; }},
      {IBV_QP_SEMANTICS_MASK_WAW, [](auto& s) { s.max_rdma_waw_size = 1; }},
      {IBV_QP_SEMANTICS_MASK_PDU, [](auto& s) { s.max_pdu = 1 << 20; }},
      {IBV_QP_SEMANTICS_MASK_IMM, [](auto& s) { s.imm_data_size = 16; }},
      {IBV_QP_SEMANTICS_MASK_USAGE, [](auto& s) { s.usage_flags = IBV_QP_USAGE_IMM_DATA_RQ; }},
  };
  for (const More& more : too_much) {
    ibv_qp_semantics wanted{};
    wanted.comp_mask = more.mask;
    more.ask(wanted);
    expect_refused(bench.try_qp({.semantics = &wanted}), EINVAL,
                   "semantics of bit " + std::to_string(more.mask));
    wanted.comp_mask = 0;  // what is not asked for does not matter
    Qp qp = bench.qp({.semantics = &wanted});
  }
}

void states(const Place& place, Wire&) {
  Bench bench(place.here_dev);
  Qp qp = bench.qp();
  struct Step {
    ibv_qp_state to;
    int result;
  };
  constexpr Step steps[] = {
      {IBV_QPS_INIT, EOPNOTSUPP}, {IBV_QPS_RTR, EOPNOTSUPP}, {IBV_QPS_RTS, 0},
      {IBV_QPS_ERR, 0},           {IBV_QPS_RTS, EOPNOTSUPP}, {IBV_QPS_RESET, 0},
      {IBV_QPS_ERR, 0},           {IBV_QPS_RESET, 0},        {IBV_QPS_RTS, 0},
  };
  ibv_qp_state state = IBV_QPS_RTS;
  for (const Step& step : steps) {
    ibv_qp_attr attr{};
    attr.qp_state = step.to;
    expect_error(ibv_modify_qp(qp.get(), &attr, IBV_QP_STATE), step.result, "a change of state");
    if (step.result == 0) state = step.to;
    expect_equal(query(qp.get(), IBV_QP_STATE).qp_state, state, "the state");
  }
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  expect_error(ibv_modify_qp(qp.get(), &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS), 0, "modify");
  expect_equal(query(qp.get(), IBV_QP_ACCESS_FLAGS).qp_access_flags,
               IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ, "the access flags");
  attr.port_num = 1;
  expect_error(ibv_modify_qp(qp.get(), &attr, IBV_QP_PORT), EINVAL, "a port without a state");
}

// A region of another PD cannot be attached, an own one again and again.
void attaching(const Place& place, Wire&) {
  Bench bench(place.here_dev);
  Qp qp = bench.qp();
  Pd other(made(ibv_alloc_pd(bench.context.get()), "PD"));
  std::vector<uint8_t> memory(4096);
  constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  Mr own(made(ibv_reg_mr(bench.pd.get(), memory.data(), memory.size(), access), "region"));
  Mr foreign(made(ibv_reg_mr(other.get(), memory.data(), memory.size(), access), "region"));
  for (int i = 0; i < 3; ++i) {
    expect_error(ibv_attach_mr(qp.get(), own.get()), 0, "attach");
    expect_error(ibv_attach_mr(qp.get(), own.get()), EEXIST, "attach twice");
    expect_error(ibv_detach_mr(qp.get(), own.get()), 0, "detach");
    expect_error(ibv_detach_mr(qp.get(), own.get()), EINVAL, "detach twice");
  }
  expect_error(ibv_attach_mr(qp.get(), foreign.get()), EINVAL, "a region of another PD");
}

// Traffic and state changes. The initiator is here.
constexpr size_t piece = 64 << 10;
constexpr unsigned depth = 16;
constexpr uint8_t pattern = 0x3d;

e2e::Options options(const std::string& device) {
  e2e::Options options;
  options.device = device;
  options.rma = true;
  options.depth = depth;
  options.retry_cnt = 1;
  return options;
}

void post_pieces(Endpoint& me, Operation operation, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    Request request{};
    request.operation = operation;
    request.wr_id = i;
    request.at = request.remote_at = i * piece;
    request.bytes = piece;
    expect_error(me.post(request), 0, "post");
  }
}

bool filled(Endpoint& me, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    if (me.data()[i] != pattern) return false;
  return true;
}

// What had finished is reported so, the rest is flushed, all in order of posting.
void flush_here(const Place& place, Wire& wire) {
  Acquainted me(options(place.here_dev), wire);
  sync(wire);
  for (Operation operation : {Operation::write, Operation::read, Operation::send}) {
    for (unsigned finished : {0U, 3U}) {
      size_t receives = 2;
      for (size_t i = 0; i < receives; ++i)
        expect_error(me.post_recv(100 + i, 64), 0, "post a receive");
      sync(wire);  // a send that came before its receive would be repeated behind later ones
      post_pieces(me, operation, depth);
      std::vector<Completion> all;
      for (unsigned i = 0; i < finished; ++i)
        all.push_back(me.wait());
      me.set_state(IBV_QPS_ERR);
      memset(me.data(), pattern, depth * piece);
      while (all.size() < depth + receives)
        all.push_back(me.wait());
      uint64_t send = 0, receive = 100;
      bool flushed = false;
      for (const Completion& completion : all) {
        bool of_receive = completion.wr_id >= 100;
        expect_equal(completion.wr_id, of_receive ? receive++ : send++, "the next completion");
        if (of_receive) {
          expect_status(completion, IBV_WC_WR_FLUSH_ERR, "a receive");
          continue;
        }
        flushed = flushed || completion.status == IBV_WC_WR_FLUSH_ERR;
        expect_status(completion, flushed ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS, "a request");
      }
      expect(operation != Operation::send || flushed, "sends without a receive succeeded");
      me.set_state(IBV_QPS_RESET);
      me.set_state(IBV_QPS_RTS);
      sync(wire);
      expect(filled(me, depth * piece), "memory changed after the queue pair had stopped");
      exchange_messages(me, wire, true);
    }
  }
}

void flush_there(const Place& place, Wire& wire) {
  Acquainted me(options(place.there_dev), wire);
  sync(wire);
  for (int round = 0; round < 6; ++round) {
    bool sends = round >= 4;
    unsigned receives = round == 5 ? 3 : 0;
    for (unsigned i = 0; sends && i < receives; ++i)
      expect_error(me.post_recv(1, piece), 0, "post a receive");
    me.wait_until_posted();
    sync(wire);   // the sender begins
    sync(wire);   // and has stopped
    if (sends) {  // a message may have come whose sender had stopped to listen
      Completion completion;
      for (unsigned i = 0; i < receives; ++i)
        expect_status(me.wait(), IBV_WC_SUCCESS, "a message");
      expect(!me.poll(completion), "a completion without a receive");
    }
    exchange_messages(me, wire, false);
  }
}

// The target stops in the middle of traffic: once it has, nothing reaches its memory.
void stopped_target_here(const Place& place, Wire& wire) {
  Acquainted me(options(place.here_dev), wire);
  for (int round = 0; round < 2; ++round) {  // while it is in error, then in reset
    me.fill(depth * piece, 9);
    for (int repeat = 0; repeat < 2; ++repeat) {
      post_pieces(me, Operation::write, depth / 2);
      for (unsigned i = 0; i < depth / 2; ++i) {
        Request request{};
        request.operation = Operation::send;
        request.wr_id = 100;
        request.bytes = 64;
        expect_error(me.post(request), 0, "post");
      }
      bool refused = false;
      for (unsigned i = 0; i < depth; ++i)
        refused = me.wait().status == IBV_WC_RETRY_EXC_ERR || refused;
      if (repeat == 0) {
        wire.put('t');  // there has been traffic
      } else {
        expect(refused, "a stopped queue pair took everything");
        sync(wire);
      }
      if (repeat == 0) wire.take<char>();
    }
    exchange_messages(me, wire, true);
  }
}

void stopped_target_there(const Place& place, Wire& wire) {
  Acquainted me(options(place.there_dev), wire);
  for (int round = 0; round < 2; ++round) {
    for (unsigned i = 0; i < depth; ++i)
      expect_error(me.post_recv(i, 64, depth * piece - 64), 0, "post a receive");
    volatile uint8_t* first = me.data();
    while (*first != Endpoint::pattern(0, 9))
      sched_yield();  // the first write is under way
    me.set_state(IBV_QPS_ERR);
    memset(me.data(), pattern, depth * piece);
    wire.take<char>();
    if (round == 1) me.set_state(IBV_QPS_RESET);
    wire.put('g');
    sync(wire);
    expect(filled(me, depth * piece), "a stopped queue pair let something through");
    if (round == 0) me.set_state(IBV_QPS_RESET);
    me.set_state(IBV_QPS_RTS);
    Completion completion;
    expect(!me.poll(completion), "a completion outlived the reset");
    exchange_messages(me, wire, false);
  }
}

void destroyed_here(const Place& place, Wire& wire) {
  Acquainted other(options(place.here_dev), wire);
  for (Operation operation : {Operation::write, Operation::read, Operation::send}) {
    Acquainted me(options(place.here_dev), wire);
    for (int i = 0; i < 4; ++i)
      expect_error(me.post_recv(100, 64), 0, "post a receive");
    post_pieces(me, operation, depth);
    ibv_qp* qp = me.release_qp();
    expect_error(ibv_destroy_qp(qp), 0, "destroying a queue pair with work");
    memset(me.data(), pattern, depth * piece);
    Completion completion;
    expect(!me.poll(completion), "a completion of a queue pair that is gone");
    exchange_messages(other, wire, true);
    expect(filled(me, depth * piece), "a queue pair that is gone wrote to memory");
    expect(!me.poll(completion), "a completion of a queue pair that is gone");
  }
}

void destroyed_there(const Place& place, Wire& wire) {
  Acquainted other(options(place.there_dev), wire);
  for (int i = 0; i < 3; ++i) {
    Acquainted me(options(place.there_dev), wire);
    exchange_messages(other, wire, false);
  }
}

}  // namespace

std::span<const Promise> of_queue_pairs() {
  static const Promise list[] = {
      {"qp-is-born-ready", born_ready},
      {"relative-qp-needs-a-key", without_key},
      {"qp-numbers-are-chosen", chosen_numbers},
      {"pid-belongs-to-one-pd", pids_here, pids_there},
      {"absolute-qp-is-reached-from-another-job", addressing_here, addressing_there},
      {"semantics-are-negotiated", semantics},
      {"qp-states", states},
      {"attaching", attaching},
      {"error-flushes-in-order", flush_here, flush_there},
      {"stopped-target", stopped_target_here, stopped_target_there},
      {"destroyed-with-work", destroyed_here, destroyed_there},
  };
  return list;
}

}  // namespace promises
