// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What a device says about itself, how many objects it has, and what it reports when its link or
// the device itself fails.
#include <ethernet/cassini_user_defs.h>
#include <poll.h>
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "promises.hpp"

namespace promises {
namespace {

void capabilities(const Place& place, Wire&) {
  Context context = open_device(place.here_dev);
  ibv_device_attr_ex attr{};
  expect_error(ibv_query_device_ex(context.get(), nullptr, &attr), 0, "query");
  expect(attr.orig_attr.max_pd > 0 && attr.orig_attr.max_mr > 0 && attr.orig_attr.max_qp > 0,
         "a limit is not above 0");
  expect(attr.max_job_ids > 0 && attr.max_job_keys > 0 && attr.max_addr_entries > 0,
         "a limit of jobs is not above 0");
  constexpr uint64_t all =
      IBV_DEVICE_RU | IBV_DEVICE_IMM64 | IBV_DEVICE_KEY64 | IBV_DEVICE_USER_RKEY;
  expect((attr.device_cap_flags_ex & all) == all, "a capability is missing");
  constexpr uint64_t restricted = (uint64_t{1} << 48) | (uint64_t{1} << 49);
  expect((attr.device_cap_flags_ex & restricted) == restricted, "an access class is missing");
}

void port(const Place& place, Wire&) {
  Context context = open_device(place.here_dev);
  ibv_port_attr attr{};
  expect_error(ibv_query_port(context.get(), 1, &attr), 0, "query");
  expect(attr.max_msg_sz > 128U << attr.active_mtu && attr.max_msg_sz > 0x1000,
         "messages are too short");
  expect_equal(attr.link_layer, IBV_LINK_LAYER_ETHERNET, "the link layer");
  expect(attr.gid_tbl_len > 0, "there is no GID");
  for (int index = 0; index < attr.gid_tbl_len; ++index) {
    ibv_gid_entry entry{};
    int err = ibv_query_gid_ex(context.get(), 1, static_cast<uint32_t>(index), &entry, 0);
    expect(index > 0 || err == 0, "the first GID cannot be read");
    if (err == ENODATA) continue;
    expect_error(err, 0, "query a GID");
    std::ifstream file("/sys/class/infiniband/" + place.here_dev + "/ports/1/gid_attrs/types/" +
                       std::to_string(index));
    std::string type;
    std::getline(file, type);
    expect(type == "Slingshot" || type.starts_with("UET"), "a GID of type \"" + type + '"');
  }
}

void protection_domains(const Place& place, Wire&) {
  Context context = open_device(place.here_dev);
  for (int round = 0; round < 2; ++round) {
    std::vector<Pd> all;
    for (int i = 0; i < 1024; ++i)
      all.emplace_back(made(ibv_alloc_pd(context.get()), "PD"));
    expect_refused(ibv_alloc_pd(context.get()), ENOSPC, "a PD too many");
  }
}

void regions(const Place& place, Wire&) {
  Bench bench(place.here_dev);
  constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  std::vector<uint8_t> memory(4 << 20);
  for (size_t bytes : {(16UL << 10) + 137, 4UL << 20}) {
    Mr mr(made(ibv_reg_mr(bench.pd.get(), memory.data(), bytes, access), "region"));
    expect(mr->lkey != 0 && mr->length == bytes, "a region without a key");
  }
  std::vector<Mr> all;
  std::set<uint64_t> keys, keys64;
  for (int i = 0; i < 16; ++i) {
    all.emplace_back(made(ibv_reg_mr(bench.pd.get(), memory.data(), 4096, access), "region"));
    keys.insert(all.back()->lkey);
    keys64.insert(all.back()->lkey64);
  }
  expect(keys.size() == 16 && keys64.size() == 16, "two regions have the same key");
}

// The builder that a flag of the 32-bit key asks for takes a 64-bit key too.
void wide_key_for_narrow_flag(const Place& place, Wire&) {
  e2e::Options with_cq;
  with_cq.device = place.here_dev;
  with_cq.rma = true;
  with_cq.imm64 = true;
  Endpoint target(with_cq);
  Bench bench(place.here_dev);
  Qp qp = bench.qp({.operations = IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM});
  e2e::Address address = target.address();
  ibv_ah_attr_ex way = way_to(address.gid, address.qpn);
  e2e::Owned<ibv_ah, ibv_destroy_ah> ah(
      made(ibv_create_ah_ex(bench.pd.get(), &way), "address handle"));
  uint8_t bytes[64] = {1, 2, 3};
  Mr mr(made(ibv_reg_mr(bench.pd.get(), bytes, sizeof bytes, IBV_ACCESS_LOCAL_WRITE), "region"));
  ibv_qp_ex* builders = ibv_qp_to_qp_ex(qp.get());
  ibv_wr_start(builders);
  builders->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_rdma_write64_imm(builders, address.rkey64, Endpoint::guard, 0x1234);
  ibv_wr_set_ru_addr(builders, ibv_ah_to_ah_ex(ah.get()), 0);
  ibv_wr_set_job_key(builders, bench.key->jkey);
  ibv_wr_set_sge64(builders, mr->lkey64, reinterpret_cast<uint64_t>(bytes), sizeof bytes);
  expect_error(ibv_wr_complete(builders), 0, "post");
  Completion arrival = target.wait();
  expect_status(arrival, IBV_WC_SUCCESS, "a write with immediate data");
  expect_equal(arrival.opcode, IBV_WC_RECV_RDMA_WITH_IMM, "the opcode");
  expect(memcmp(target.data(), bytes, sizeof bytes) == 0, "other bytes arrived");
}

// cxi_sim of this build, for the instance that this runs in.
void command(const std::string& words) {
  std::string program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "bin/cxi_sim";
  expect(system((program + " set " + words).c_str()) == 0, "cxi_sim set " + words + " failed");
}

void expect_event(ibv_context* context, ibv_event_type wanted) {
  ibv_async_event event;
  do {
    pollfd descriptor{context->async_fd, POLLIN, 0};
    expect(poll(&descriptor, 1, 20'000) == 1,
           std::string("no event ") + ibv_event_type_str(wanted));
    if (ibv_get_async_event(context, &event)) e2e::fail("read an event", errno);
    ibv_ack_async_event(&event);
  } while (event.event_type != wanted);
}

ibv_port_state port_state(ibv_context* context) {
  ibv_port_attr attr{};
  expect_error(ibv_query_port(context, 1, &attr), 0, "query the port");
  return attr.state;
}

e2e::Options options(const std::string& device) {
  e2e::Options options;
  options.device = device;
  options.buffer_bytes = 8192;
  return options;
}

// Messages wait while the link is down, whichever side's it is.
void link_here(const Place& place, Wire& wire) {
  Acquainted me(options(place.here_dev), wire);
  for (const std::string& device : {place.here_dev, place.there_dev}) {
    sync(wire);
    command("link " + device + " down");
    if (device == place.here_dev) {
      expect_event(me.context(), IBV_EVENT_PORT_ERR);
      expect_equal(port_state(me.context()), IBV_PORT_DOWN, "the state of the port");
    } else {
      wire.take<char>();  // the other side has seen it
    }
    me.fill(100, 5);
    expect_error(me.post_send(1, 100, Endpoint::Immediate::none, 0, true), 0, "post");
    Completion completion;
    for (int i = 0; i < 1000; ++i)
      expect(!me.poll(completion), "a message passed a link that is down");
    command("link " + device + " up");
    if (device == place.here_dev) {
      expect_event(me.context(), IBV_EVENT_PORT_ACTIVE);
      expect_equal(port_state(me.context()), IBV_PORT_ACTIVE, "the state of the port");
    }
    expect_status(me.wait(), IBV_WC_SUCCESS, "a message that waited for the link");
    exchange_messages(me, wire, true);
  }
}

void link_there(const Place& place, Wire& wire) {
  Acquainted me(options(place.there_dev), wire);
  for (bool own : {false, true}) {
    me.clear();
    expect_error(me.post_recv(1, 100), 0, "post a receive");
    sync(wire);
    if (own) {
      expect_event(me.context(), IBV_EVENT_PORT_ERR);
      expect_equal(port_state(me.context()), IBV_PORT_DOWN, "the state of the port");
      wire.put('s');
      expect_event(me.context(), IBV_EVENT_PORT_ACTIVE);
    }
    expect_status(me.wait(), IBV_WC_SUCCESS, "a message that waited for the link");
    me.check(100, 5);
    exchange_messages(me, wire, false);
  }
}

// One device fails: its requests are flushed, its objects go, and the other device works on.
void fatal_here(const Place& place, Wire& wire) {
  {
    Acquainted me(options(place.here_dev), wire);
    expect_error(me.post_recv(1, 100), 0, "post a receive");
    expect_error(me.post_send(2, 100, Endpoint::Immediate::none, 0, true), 0, "post");
    command("device " + place.here_dev + " failed");
    expect_event(me.context(), IBV_EVENT_DEVICE_FATAL);
    for (int i = 0; i < 2; ++i)
      expect_status(me.wait(), IBV_WC_WR_FLUSH_ERR, "a request of a device that failed");
    expect_error(me.post_send(3, 100, Endpoint::Immediate::none, 0, true), 0, "post afterwards");
    expect_status(me.wait(), IBV_WC_WR_FLUSH_ERR, "a request after the failure");
    expect_refused(ibv_alloc_pd(me.context()), EIO, "a PD of a device that failed");
    expect_error(ibv_destroy_qp(me.release_qp()), 0, "destroying a queue pair");
  }
  sync(wire);
}

void fatal_there(const Place& place, Wire& wire) {
  Acquainted me(options(place.there_dev), wire);
  sync(wire);
  me.connect(me.address());  // the second peer
  expect_error(me.post_recv(1, 100), 0, "post a receive");
  Request request{};
  request.operation = Operation::send;
  request.peer = 1;
  request.bytes = 100;
  expect_error(me.post(request), 0, "post");
  for (int i = 0; i < 2; ++i)
    expect_status(me.wait(), IBV_WC_SUCCESS, "a message of a device that works");
}

// The memory shared with the device in which these bytes are found.
std::span<volatile uint8_t> shared_memory_with(std::span<const uint8_t> bytes) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long start = 0, end = 0;
    if (sscanf(line.c_str(), "%lx-%lx rw-s", &start, &end) != 2 ||
        line.find(" rw-s ") == std::string::npos)
      continue;
    if (memmem(reinterpret_cast<void*>(start), end - start, bytes.data(), bytes.size()))
      return {reinterpret_cast<volatile uint8_t*>(start), end - start};
  }
  e2e::fail("the command ring was not found");
}

// A program that writes garbage over the command ring of a queue pair breaks that one only. The
// NIC reads commands as soon as they are posted, so posting goes on until it has read garbage.
void garbled_ring(const Place& place, Wire&) {
  Endpoint me(options(place.here_dev)), other(options(place.there_dev));
  me.connect(other.address());
  other.connect(me.address());
  constexpr size_t bytes = 100;  // inline: they travel in the command
  auto post = [&] { return me.post_send(1, bytes, Endpoint::Immediate::none, 0, true, true); };
  auto pass = [&](Endpoint& from, Endpoint& to, const char* what) {
    expect_error(to.post_recv(2, bytes), 0, "post a receive");
    from.fill(bytes, 77);
    expect_error(from.post_send(1, bytes, Endpoint::Immediate::none, 0, true, true), 0, "post");
    expect_status(from.wait(), IBV_WC_SUCCESS, what);
    expect_status(to.wait(), IBV_WC_SUCCESS, what);
  };
  pass(me, other, "a message before");
  // The NIC says in the first slots how far it has read.
  auto ring =
      shared_memory_with({me.data(), bytes}).subspan(size_t{C_CQ_FIRST_WR_PTR} * C_CQ_CMD_SIZE);
  std::atomic<bool> enough = false;
  std::thread scribbler([&] {
    while (!enough)
      for (volatile uint8_t& byte : ring)
        byte = 0xff;
  });
  unsigned posted = 0, completed = 0;
  pollfd event{me.context()->async_fd, POLLIN, 0};
  Completion completion;
  while (poll(&event, 1, 0) == 0) {
    bool idle = post() != 0;
    posted += !idle;
    if (me.poll(completion))
      ++completed;
    else if (idle)
      sched_yield();
  }
  enough = true;
  scribbler.join();
  expect_event(me.context(), IBV_EVENT_QP_FATAL);
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  expect_error(ibv_query_qp(me.qp(), &attr, IBV_QP_STATE, &init), 0, "query");
  expect_equal(attr.qp_state, IBV_QPS_ERR, "the state");
  for (; completed < posted; ++completed)
    completion = me.wait();
  expect_status(completion, IBV_WC_WR_FLUSH_ERR, "the last request");
  me.set_state(IBV_QPS_RESET);
  me.set_state(IBV_QPS_RTS);
  pass(me, other, "a message after the reset");
  pass(other, me, "a message of the other queue pair");
}

}  // namespace

std::span<const Promise> of_devices() {
  static const Promise list[] = {
      {"device-capabilities", capabilities},
      {"port-and-gids", port},
      {"as-many-pds-as-the-device-says", protection_domains},
      {"regions-have-keys-of-their-own", regions},
      {"wide-key-for-narrow-flag", wide_key_for_narrow_flag},
      {"messages-wait-for-the-link", link_here, link_there},
      {"garbled-ring-is-fatal", garbled_ring},
      {"device-fails", fatal_here, fatal_there},
  };
  return list;
}

}  // namespace promises
