// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Four processes with two queue pairs each, on two NICs, do random operations on each other. Each
// queue pair has a slice of its own in the memory of every other, so that it knows what must be
// there: it keeps a model of its slices, compares what it reads and fetches with it, and in the end
// all memory is compared with the models. The same seed gives the same operations.
//
//   ru_matrix_random [--seed N] [--operations N]
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <new>
#include <random>

#include "endpoint.hpp"

namespace {

using e2e::Address;
using e2e::Completion;
using e2e::Endpoint;
using e2e::fail;
using e2e::Operation;
using e2e::Request;

constexpr unsigned processes = 4, per_process = 2, queue_pairs = processes * per_process;
constexpr size_t slice = 4096;       // of one initiator at one target
constexpr unsigned window = 8;       // requests under way
constexpr size_t most_bytes = 1024;  // of a request
constexpr unsigned receives = 16;
constexpr size_t most_sent = 400;
constexpr size_t receive_bytes = 512;
constexpr size_t scratch_at = queue_pairs * slice;  // behind the slices: data of requests
constexpr size_t receives_at = scratch_at + window * most_bytes;
constexpr size_t buffer_bytes = receives_at + receives * receive_bytes;
constexpr uint64_t receive_ids = 1000;
constexpr uint8_t untouched = 0xee;

// Memory of all processes.
struct Shared {
  Address addresses[queue_pairs];
  uint8_t model[queue_pairs][queue_pairs][slice];  // of target, initiator
  std::atomic<uint32_t> announced[queue_pairs];    // messages to this one
  std::atomic<unsigned> finished;                  // queue pairs that have done all they had to
  std::atomic<unsigned> reached[4];                // processes at each meeting point
  std::atomic<bool> failed;
};

void meet(Shared& shared, unsigned point) {
  ++shared.reached[point];
  while (shared.reached[point] < processes) {
    if (shared.failed) fail("another process has failed");
    usleep(100);
  }
}

uint32_t send_seed(uint32_t src_id, size_t bytes) {
  return static_cast<uint32_t>(src_id * 100003 + bytes);
}

class Player {
 public:
  Player(Shared& shared, unsigned number, const char* device, uint32_t seed, unsigned operations)
      : shared_(shared),
        number_(number),
        left_(operations),
        random_(seed * 1000 + number),
        endpoint_(std::make_unique<Endpoint>(options(device, number))) {
    std::fill_n(endpoint_->data(), buffer_bytes, untouched);
    shared.addresses[number] = endpoint_->address();
    for (auto& target : shared.model)
      std::fill_n(target[number], slice, untouched);
    for (unsigned slot = 0; slot < receives; ++slot)
      post_receive(slot);
  }

  void connect() {
    for (const Address& address : shared_.addresses)
      endpoint_->connect(address);
  }

  // Whether there was something to do.
  bool step() {
    bool busy = false;
    if (under_way_ == 0 && left_ > 0) {
      post_some();
      busy = true;
      if (under_way_ == 0) fail("no request could be found");
    }
    Completion completion{};
    while (endpoint_->poll(completion)) {
      busy = true;
      if (completion.status != IBV_WC_SUCCESS)
        fail(std::string(ibv_wc_status_str(completion.status)) + " of request " +
             std::to_string(completion.wr_id));
      completion.opcode& IBV_WC_RECV ? arrived(completion) : completed(completion);
    }
    return busy;
  }

  bool done() const {
    return left_ == 0 && under_way_ == 0 && shared_.finished == queue_pairs &&
           arrived_ == shared_.announced[number_];
  }

  void compare() const {
    for (unsigned initiator = 0; initiator < queue_pairs; ++initiator) {
      const uint8_t* here = endpoint_->data() + initiator * slice;
      const uint8_t* model = shared_.model[number_][initiator];
      auto [wrong, right] = std::mismatch(here, here + slice, model);
      if (wrong != here + slice)
        fail("byte " + std::to_string(wrong - here) + " of the slice of " +
             std::to_string(initiator) + " is wrong in the end");
    }
    auto whole = endpoint_->guarded();
    auto is_untouched = [](uint8_t byte) { return byte == untouched; };
    if (!std::ranges::all_of(whole.first(Endpoint::guard), is_untouched) ||
        !std::ranges::all_of(whole.last(Endpoint::guard), is_untouched))
      fail("a guard has been written to");
  }

 private:
  struct Pending {
    Request request;
    uint64_t fetched;  // the expected value
    bool open;
  };

  static e2e::Options options(const char* device, unsigned number) {
    e2e::Options options;
    options.device = device;
    options.depth = 16;
    options.sges = number % 2 ? 8 : 1;
    options.imm64 = true;
    options.rma = true;
    options.indexed = number % 4 >= 2;
    options.src_id = number;
    options.buffer_bytes = buffer_bytes;
    return options;
  }

  size_t below(size_t limit) { return random_() % limit; }

  uint8_t* model_of(const Request& request) {
    return &shared_.model[request.peer][number_][request.remote_at - number_ * slice];
  }
  uint8_t* local(const Request& request) { return endpoint_->data() + request.at; }

  // The data of a request, as the NIC is going to find them.
  void put(const Request& request, std::span<const uint8_t> message) {
    if (request.use_inline)
      std::ranges::copy(message, local(request));
    else
      endpoint_->scatter(request.at, message);
  }

  void post_receive(unsigned slot) {
    size_t at = receives_at + slot * receive_bytes;
    std::fill_n(endpoint_->data() + at, receive_bytes, untouched);
    if (int err = endpoint_->post_recv(receive_ids + slot, receive_bytes, at))
      fail("post receive", err);
  }

  // Nothing orders requests, so those under way at a time touch different bytes.
  void post_some() {
    size_t wanted = std::min<size_t>(1 + below(window), left_);
    for (size_t slot = 0; slot < wanted; ++slot) {
      Request request = draw(slot);
      if (overlaps(request)) continue;
      post(slot, request);
    }
  }

  Request draw(size_t slot) {
    Request request{};
    request.operation = static_cast<Operation>(below(9));
    request.wr_id = slot;
    request.peer = below(queue_pairs);
    request.at = scratch_at + slot * most_bytes;
    request.imm = uint64_t{number_} << 24 | below(1 << 24);
    if (imm_bits(request.operation) == 64) request.imm |= uint64_t{random_()} << 32;
    if (is_atomic(request.operation)) {
      request.bytes = 8;
      request.remote_at = number_ * slice + below(slice / 8) * 8;
      request.operand = uint64_t{random_()} << 32 | random_();
      request.swap = uint64_t{random_()} << 32 | random_();
      if (below(2)) memcpy(&request.operand, model_of(request), 8);
      return request;
    }
    request.bytes = 1 + below(is_send(request.operation) ? most_sent : most_bytes);
    if (!is_send(request.operation))
      request.remote_at = number_ * slice + below(slice - request.bytes + 1);
    request.use_inline =
        request.operation != Operation::read && request.bytes <= 192 && below(2) == 0;
    return request;
  }

  bool overlaps(const Request& request) const {
    if (is_send(request.operation)) return false;
    return std::ranges::any_of(pending_, [&](const Pending& other) {
      const Request& its = other.request;
      return other.open && !is_send(its.operation) && its.peer == request.peer &&
             its.remote_at < request.remote_at + request.bytes &&
             request.remote_at < its.remote_at + its.bytes;
    });
  }

  void post(size_t slot, const Request& request) {
    uint64_t fetched = 0;
    if (is_send(request.operation)) {
      uint32_t seed = send_seed(number_, request.bytes);
      std::vector<uint8_t> message(request.bytes);
      for (size_t i = 0; i < request.bytes; ++i)
        message[i] = Endpoint::pattern(i, seed);
      put(request, message);
    } else if (is_atomic(request.operation)) {
      memcpy(&fetched, model_of(request), 8);
      uint64_t result = request.operation == Operation::fetch_add ? fetched + request.operand
                        : fetched == request.operand              ? request.swap
                                                                  : fetched;
      memcpy(model_of(request), &result, 8);
    } else if (request.operation != Operation::read) {
      std::vector<uint8_t> message(request.bytes);
      std::ranges::generate(message, std::ref(random_));
      std::ranges::copy(message, model_of(request));
      put(request, message);
    }
    if (is_send(request.operation) || imm_bits(request.operation))
      ++shared_.announced[request.peer];
    if (int err = endpoint_->post(request))
      fail(std::string("post ") + name(request.operation), err);
    pending_[slot] = {request, fetched, true};
    ++under_way_;
    --left_;
  }

  void completed(const Completion& completion) {
    if (completion.wr_id >= window || !pending_[completion.wr_id].open)
      fail("a request completed that was not posted");
    Pending& pending = pending_[completion.wr_id];
    const Request& request = pending.request;
    pending.open = false;
    --under_way_;
    if (completion.opcode != opcode_of(request.operation)) fail("the opcode is another");
    if (request.operation == Operation::read &&
        !std::ranges::equal(endpoint_->gather(request.at, request.bytes),
                            std::span(model_of(request), request.bytes)))
      fail("a read of " + std::to_string(request.bytes) + " gave something else than was written");
    if (is_atomic(request.operation) && memcmp(local(request), &pending.fetched, 8) != 0)
      fail(std::string(name(request.operation)) + " fetched something else than was there");
    if (left_ == 0 && under_way_ == 0) ++shared_.finished;
  }

  void arrived(const Completion& completion) {
    ++arrived_;
    if (completion.src_id >= queue_pairs) fail("a message of an unknown source");
    if (completion.wc_flags & IBV_WC_WITH_IMM && completion.imm32 >> 24 != completion.src_id &&
        (completion.imm & 0xffffffff) >> 24 != completion.src_id)
      fail("the immediate data are wrong");
    if (completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM) return;
    if (completion.opcode != IBV_WC_RECV) fail("an arrival that is no receive");
    auto slot = static_cast<unsigned>(completion.wr_id - receive_ids);
    if (slot >= receives) fail("an unknown receive completed");
    auto bytes = endpoint_->gather(receives_at + slot * receive_bytes, receive_bytes);
    uint32_t seed = send_seed(completion.src_id, completion.byte_len);
    for (size_t i = 0; i < receive_bytes; ++i) {
      uint8_t expected = i < completion.byte_len ? Endpoint::pattern(i, seed) : untouched;
      if (bytes[i] != expected) fail("byte " + std::to_string(i) + " of a message is wrong");
    }
    post_receive(slot);
  }

  Shared& shared_;
  unsigned number_;
  unsigned left_, under_way_ = 0;
  uint32_t arrived_ = 0;
  std::mt19937 random_;
  std::unique_ptr<Endpoint> endpoint_;
  Pending pending_[window] = {};
};

int play(Shared& shared, unsigned process, uint32_t seed, unsigned operations) {
  try {
    const char* device = process % 2 ? "cxi1" : "cxi0";
    std::vector<std::unique_ptr<Player>> players;
    for (unsigned i = 0; i < per_process; ++i)
      players.push_back(std::make_unique<Player>(shared, process * per_process + i, device, seed,
                                                 operations / queue_pairs));
    meet(shared, 0);
    for (auto& player : players)
      player->connect();
    meet(shared, 1);
    while (!std::ranges::all_of(players, [](auto& player) { return player->done(); })) {
      bool busy = false;
      for (auto& player : players)
        busy |= player->step();
      if (shared.failed) fail("another process has failed");
      if (!busy) sched_yield();
    }
    meet(shared, 2);
    for (auto& player : players)
      player->compare();
    meet(shared, 3);
    return 0;
  } catch (const std::exception& error) {
    shared.failed = true;
    fprintf(stderr, "process %u: %s\n", process, error.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  uint32_t seed = 1;
  unsigned operations = 10000;
  CLI::App app("Random operations of four processes on each other's memory");
  app.add_option("--seed", seed);
  app.add_option("--operations", operations);
  CLI11_PARSE(app, argc, argv);
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 2;
  auto* shared = new (memory) Shared{};
  for (unsigned process = 0; process < processes; ++process) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(play(*shared, process, seed, operations));
  }
  int result = 0, status = 0;
  while (wait(&status) > 0) {
    if (status == 0) continue;
    shared->failed = true;
    result = 1;
  }
  if (result == 0) printf("%u operations\n", operations / queue_pairs * queue_pairs);
  return result;
}
