// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Two processes exchange messages over reliable-unconnected queue pairs, and one thing is looked at
// per scenario. Exits 0 when everything was as it must be; says in one line what was not.
//
//   ru_exchange SCENARIO [--receiver-dev cxi0] [--sender-dev cxi0] [--events] [--imm none|32|64]
//   ...
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "wire.hpp"

namespace {

using e2e::Address;
using e2e::Completion;
using e2e::Endpoint;
using e2e::fail;
using e2e::Wire;
using Immediate = Endpoint::Immediate;

struct Settings {
  std::string scenario, receiver_dev = "cxi0", sender_dev = "cxi0", imm = "none";
  std::vector<size_t> sizes = {1, 63, 64, 192, 193, 4096, 4097, 65536, 1 << 20};
  e2e::Options options;
  Immediate immediate = Immediate::none;
};

constexpr uint64_t imm_value = 0xcacadeadbeef0123;

void expect_success(const Completion& completion, const char* where) {
  if (completion.status != IBV_WC_SUCCESS)
    fail(std::string(where) + ": " + ibv_wc_status_str(completion.status));
}

uint64_t expected_imm(const Settings& settings) {
  return settings.immediate == Immediate::imm64 ? imm_value : static_cast<uint32_t>(imm_value);
}

void expect_message(const Settings& settings, const Completion& completion, size_t bytes,
                    uint64_t wr_id, const Address& sender) {
  expect_success(completion, "receive");
  if (completion.wr_id != wr_id) fail("another receive completed");
  if (completion.opcode != IBV_WC_RECV) fail("the opcode is not RECV");
  if (completion.byte_len != bytes) fail("byte_len is " + std::to_string(completion.byte_len));
  if (completion.job_id != settings.options.job_id) fail("job id is another");
  if (completion.src_id != settings.options.src_id) fail("source id is another");
  if (completion.src_qp != sender.qpn) fail("source QP is " + std::to_string(completion.src_qp));
  bool with_imm = completion.wc_flags & IBV_WC_WITH_IMM;
  if (with_imm != (settings.immediate != Immediate::none)) fail("the immediate flag is wrong");
  if (with_imm && completion.imm != expected_imm(settings)) fail("the immediate data are wrong");
}

// The ways a message can be posted with these settings: builders, ibv_post_send, each also inline.
struct Way {
  bool builders, use_inline;
};
std::vector<Way> ways(const Settings& settings, size_t bytes) {
  std::vector<Way> list = {{true, false}};
  if (settings.immediate != Immediate::imm64) list.push_back({false, false});
  if (bytes <= 192) list.push_back({true, true});
  return list;
}

using Role = void (*)(const Settings&, Endpoint&, Wire&, const Address&);

void traffic_receiver(const Settings& settings, Endpoint& me, Wire& wire, const Address& peer) {
  uint32_t seed = 0;
  for (size_t bytes : settings.sizes) {
    for ([[maybe_unused]] Way way : ways(settings, bytes)) {
      me.clear();
      uint64_t wr_id = 1000 + ++seed;
      if (int err = me.post_recv(wr_id, bytes)) fail("post receive", err);
      wire.put(seed);
      expect_message(settings, me.wait(), bytes, wr_id, peer);
      me.check(bytes, seed, Endpoint::Layout::pieces);
    }
  }
  wire.put(uint32_t{0});
}

void traffic_sender(const Settings& settings, Endpoint& me, Wire& wire, const Address&) {
  for (size_t bytes : settings.sizes) {
    for (Way way : ways(settings, bytes)) {
      auto seed = wire.take<uint32_t>();
      using Layout = Endpoint::Layout;
      me.fill(bytes, seed, way.use_inline ? Layout::straight : Layout::pieces);
      if (int err = me.post_send(seed, bytes, settings.immediate, imm_value, way.builders,
                                 way.use_inline))
        fail("post send of " + std::to_string(bytes), err);
      Completion completion = me.wait();
      expect_success(completion, "send");
      if (completion.wr_id != seed) fail("another send completed");
      if (completion.opcode != IBV_WC_SEND) fail("the opcode is not SEND");
    }
  }
  wire.take<uint32_t>();
}

// The receive is posted only after the message has been on its way for a while: it is refused and
// repeated until then.
void late_receiver(const Settings& settings, Endpoint& me, Wire& wire, const Address& peer) {
  for (size_t bytes : settings.sizes) {
    me.clear();
    auto seed = wire.take<uint32_t>();
    usleep(20000);
    if (int err = me.post_recv(seed, bytes)) fail("post receive", err);
    expect_message(settings, me.wait(), bytes, seed, peer);
    me.check(bytes, seed);
    wire.put(seed);
  }
}

void late_sender(const Settings& settings, Endpoint& me, Wire& wire, const Address&) {
  uint32_t seed = 0;
  for (size_t bytes : settings.sizes) {
    me.fill(bytes, ++seed);
    if (int err = me.post_send(seed, bytes, settings.immediate, imm_value, true))
      fail("post send", err);
    wire.put(seed);
    expect_success(me.wait(), "late send");
    wire.take<uint32_t>();
  }
}

// No receive is ever posted and the sender has few tries: the send fails, the queue pair stays
// usable.
void never_receiver(const Settings& settings, Endpoint& me, Wire& wire, const Address& peer) {
  wire.take<uint32_t>();
  me.clear();
  if (int err = me.post_recv(5, 64)) fail("post receive", err);
  wire.put(uint32_t{1});
  expect_message(settings, me.wait(), 64, 5, peer);
  me.check(64, 2);
}

void never_sender(const Settings& settings, Endpoint& me, Wire& wire, const Address&) {
  me.fill(64, 1);
  if (int err = me.post_send(1, 64, settings.immediate, imm_value, true)) fail("post send", err);
  Completion refused = me.wait();
  if (refused.status != IBV_WC_RNR_RETRY_EXC_ERR)
    fail(std::string("a send without a receive: ") + ibv_wc_status_str(refused.status));
  wire.put(uint32_t{1});
  wire.take<uint32_t>();
  me.fill(64, 2);
  if (int err = me.post_send(2, 64, settings.immediate, imm_value, true)) fail("post again", err);
  expect_success(me.wait(), "the send after a failed one");
}

// A message that is longer than the receive is reported on both sides.
void truncate_receiver(const Settings&, Endpoint& me, Wire& wire, const Address&) {
  if (int err = me.post_recv(1, 100)) fail("post receive", err);
  wire.put(uint32_t{1});
  Completion completion = me.wait();
  if (completion.status != IBV_WC_LOC_LEN_ERR)
    fail(std::string("a truncated receive: ") + ibv_wc_status_str(completion.status));
}

void truncate_sender(const Settings& settings, Endpoint& me, Wire& wire, const Address&) {
  wire.take<uint32_t>();
  if (int err = me.post_send(1, 200, settings.immediate, imm_value, true)) fail("post send", err);
  Completion completion = me.wait();
  if (completion.status != IBV_WC_REM_INV_REQ_ERR)
    fail(std::string("a truncated send: ") + ibv_wc_status_str(completion.status));
}

// The receiver is killed in the middle: sends fail with a retry error, nothing hangs.
void die_receiver(const Settings&, Endpoint& me, Wire& wire, const Address&) {
  for (uint32_t i = 0; i < 4; ++i)
    if (int err = me.post_recv(i, 64)) fail("post receive", err);
  wire.put(uint32_t{1});
  for (int i = 0; i < 3; ++i)
    expect_success(me.wait(), "receive");
  raise(SIGKILL);
}

void die_sender(const Settings& settings, Endpoint& me, Wire& wire, const Address&) {
  wire.take<uint32_t>();
  for (uint32_t i = 1; i <= 3; ++i) {
    if (int err = me.post_send(i, 64, settings.immediate, imm_value, true)) fail("post send", err);
    expect_success(me.wait(), "send to a living peer");
  }
  while (wire.alive())
    usleep(1000);
  Completion completion{};
  for (uint64_t i = 10; i < 10 + 4; ++i) {  // one message may still find the posted receive
    if (int err = me.post_send(i, 64, settings.immediate, imm_value, true)) fail("post send", err);
    completion = me.wait();
    if (completion.status != IBV_WC_SUCCESS) break;
  }
  if (completion.status != IBV_WC_RETRY_EXC_ERR)
    fail(std::string("a send to a dead peer: ") + ibv_wc_status_str(completion.status));
}

// More work requests than the queue has: the surplus is refused with ENOMEM, the rest arrives.
void full_receiver(const Settings& settings, Endpoint& me, Wire& wire, const Address&) {
  uint32_t posted = 0;
  for (; posted < settings.options.depth; ++posted)
    if (int err = me.post_recv(posted, 64)) fail("post receive " + std::to_string(posted), err);
  if (int err = me.post_recv(posted, 64); err != ENOMEM) fail("a receive too many", err);
  wire.put(posted);
  for (uint32_t i = 0; i < settings.options.depth; ++i)
    expect_success(me.wait(), "receive");
  wire.put(posted);
}

void full_sender(const Settings& settings, Endpoint& me, Wire& wire, const Address&) {
  wire.take<uint32_t>();
  for (uint32_t i = 0; i < settings.options.depth; ++i)
    if (int err = me.post_send(i, 64, settings.immediate, imm_value, true))
      fail("post send " + std::to_string(i), err);
  int err = me.post_send(99, 64, settings.immediate, imm_value, true);
  if (err != ENOMEM) fail("a send too many", err);
  for (uint32_t i = 0; i < settings.options.depth; ++i) {
    Completion completion = me.wait();
    expect_success(completion, "send");
    if (completion.wr_id != i) fail("sends completed out of order");
  }
  wire.take<uint32_t>();
}

const std::map<std::string, std::pair<Role, Role>> scenarios = {
    {"traffic", {traffic_receiver, traffic_sender}},
    {"late", {late_receiver, late_sender}},
    {"never", {never_receiver, never_sender}},
    {"truncate", {truncate_receiver, truncate_sender}},
    {"die", {die_receiver, die_sender}},
    {"full", {full_receiver, full_sender}},
};

int run(const Settings& settings, bool receiver, int fd) {
  try {
    Wire wire(fd);
    e2e::Options options = settings.options;
    options.device = receiver ? settings.receiver_dev : settings.sender_dev;
    Endpoint me(options);
    wire.put(me.address());
    auto peer = wire.take<Address>();
    me.connect(peer);
    auto [receive, send] = scenarios.at(settings.scenario);
    (receiver ? receive : send)(settings, me, wire, peer);
    return 0;
  } catch (const std::exception& error) {
    fprintf(stderr, "%s %s: %s\n", settings.scenario.c_str(), receiver ? "receiver" : "sender",
            error.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Two processes exchange messages over reliable-unconnected queue pairs");
  app.add_option("scenario", settings.scenario)->required();
  app.add_option("--receiver-dev", settings.receiver_dev);
  app.add_option("--sender-dev", settings.sender_dev);
  app.add_option("--imm", settings.imm)->check(CLI::IsMember({"none", "32", "64"}));
  app.add_option("--size", settings.sizes);
  app.add_option("--sge", settings.options.sges);
  app.add_option("--job", settings.options.job_id);
  app.add_option("--rnr-retry", settings.options.rnr_retry);
  app.add_flag("--events", settings.options.events);
  CLI11_PARSE(app, argc, argv);
  if (!scenarios.contains(settings.scenario)) {
    fprintf(stderr, "there is no scenario %s\n", settings.scenario.c_str());
    return 2;
  }
  if (settings.imm != "none")
    settings.immediate = settings.imm == "64" ? Immediate::imm64 : Immediate::imm32;
  settings.options.imm64 = settings.immediate == Immediate::imm64;

  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 2;
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(pair[1]);
    _exit(run(settings, true, pair[0]));
  }
  close(pair[0]);
  int result = run(settings, false, pair[1]);
  if (result) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  bool died_as_meant =
      settings.scenario == "die" && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (!died_as_meant && status != 0) result = 1;
  return result;
}
