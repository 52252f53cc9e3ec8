// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Every operation with every size and way of posting, between two queue pairs of one process, with
// the memory of both sides compared byte by byte afterwards. Says in one line which combination
// went wrong and how.
//
//   ru_matrix [--operation send send_imm ...]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "endpoint.hpp"

namespace {

using e2e::Completion;
using e2e::Endpoint;
using e2e::fail;
using e2e::Operation;
using e2e::Request;

constexpr size_t largest = 1 << 20;
constexpr size_t sizes[] = {1, 63, 64, 192, 193, 4096, 4097, largest};
constexpr size_t inline_limit = 192;
constexpr uint64_t immediate = 0xcacadeadbeef0123;
constexpr uint32_t target_src_id = 3, initiator_src_id = 0x80000007;

// What the queue pairs are like; the operations are tried on each.
struct Setup {
  const char* target_dev;
  const char* initiator_dev;
  bool events, indexed;
  uint32_t sges;

  e2e::Options options(bool target) const {
    e2e::Options options;
    options.device = target ? target_dev : initiator_dev;
    options.sges = sges;
    options.events = events;
    options.imm64 = true;
    options.rma = true;
    options.indexed = indexed;
    options.src_id = target ? target_src_id : initiator_src_id;
    options.buffer_bytes = largest;
    return options;
  }

  std::string text() const {
    return std::string(target_dev == initiator_dev ? "same NIC, " : "two NICs, ") +
           (events ? "events, " : "poll, ") + (indexed ? "indexed, " : "default, ") +
           std::to_string(sges) + " SGE";
  }
};

class Pair {
 public:
  explicit Pair(const Setup& setup)
      : setup_(setup), target_(setup.options(true)), initiator_(setup.options(false)) {
    target_.connect(initiator_.address());
    initiator_.connect(target_.address());
  }

  void run(Operation operation) {
    for (size_t bytes : sizes) {
      for (bool use_inline : {false, true}) {
        if (!makes_sense(operation, bytes, use_inline)) continue;
        try {
          one(operation, bytes, use_inline);
        } catch (const std::exception& error) {
          fail(setup_.text() + (use_inline ? ", inline" : "") + ": " + name(operation) + " of " +
               std::to_string(bytes) + ": " + error.what());
        }
        ++count_;
      }
    }
  }

  unsigned count() const { return count_; }

 private:
  bool makes_sense(Operation operation, size_t bytes, bool use_inline) const {
    if (setup_.indexed && is_send(operation)) return false;
    if (setup_.sges > 1 && (use_inline || bytes < setup_.sges || is_atomic(operation)))
      return false;
    if (is_atomic(operation)) return bytes >= 8 && !use_inline;
    return !use_inline || (bytes <= inline_limit && operation != Operation::read);
  }

  void one(Operation operation, size_t bytes, bool use_inline) {
    ++seed_;
    target_.clear();
    initiator_.clear();
    if (is_atomic(operation)) return atomic(operation, (bytes - 8) & ~size_t{7});
    Request request{};
    request.operation = operation;
    request.wr_id = seed_;
    request.bytes = bytes;
    request.use_inline = use_inline;
    request.imm = immediate + seed_;
    using Layout = Endpoint::Layout;
    if (operation == Operation::read)
      target_.fill(bytes, seed_);
    else
      initiator_.fill(bytes, seed_, Layout::pieces);
    if (is_send(operation))
      if (int err = target_.post_recv(wr_id_of_receive, bytes)) fail("post receive", err);
    complete(request);
    if (is_send(operation) || imm_bits(operation)) expect_arrival(request);
    target_.check(bytes, seed_, is_send(operation) ? Layout::pieces : Layout::straight);
    initiator_.check(bytes, seed_, Layout::pieces);
  }

  void complete(const Request& request) {
    if (int err = initiator_.post(request)) fail("post", err);
    Completion done = initiator_.wait();
    if (done.status != IBV_WC_SUCCESS) fail(ibv_wc_status_str(done.status));
    if (done.wr_id != request.wr_id) fail("another request completed");
    if (done.opcode != opcode_of(request.operation)) fail("the opcode is another");
  }

  void expect_arrival(const Request& request) {
    Completion arrival = target_.wait();
    if (arrival.status != IBV_WC_SUCCESS)
      fail(std::string("at the target: ") + ibv_wc_status_str(arrival.status));
    if (is_send(request.operation)) {
      if (arrival.opcode != IBV_WC_RECV) fail("the target's opcode is not RECV");
      if (arrival.wr_id != wr_id_of_receive) fail("another receive completed");
      if (arrival.src_qp != initiator_.address().qpn) fail("the source QP is another");
    } else if (arrival.opcode != IBV_WC_RECV_RDMA_WITH_IMM) {
      fail("the target's opcode is not RECV_RDMA_WITH_IMM");
    }
    if (arrival.byte_len != request.bytes) fail("byte_len is " + std::to_string(arrival.byte_len));
    if (arrival.src_id != initiator_src_id) fail("the source id is another");
    unsigned bits = imm_bits(request.operation);
    if (!!(arrival.wc_flags & IBV_WC_WITH_IMM) != (bits != 0)) fail("the immediate flag is wrong");
    if (bits == 64 && arrival.imm != request.imm) fail("the immediate data are wrong");
    if (bits == 32 && arrival.imm32 != static_cast<uint32_t>(request.imm))
      fail("the immediate data are wrong");
  }

  // On the last aligned eight bytes; a comparison that holds and one that does not.
  void atomic(Operation operation, size_t at) {
    constexpr uint64_t start = 0xfffffffffffffff0, operand = 0x123456789, swap = 0x1122334455667788;
    bool adds = operation == Operation::fetch_add;
    for (uint64_t compared : {start, operand}) {
      std::vector<uint8_t> here(initiator_.guarded().begin(), initiator_.guarded().end());
      std::vector<uint8_t> there(target_.guarded().begin(), target_.guarded().end());
      uint64_t result = adds ? start + operand : compared == start ? swap : start;
      memcpy(target_.data() + at, &start, sizeof start);
      memcpy(here.data() + Endpoint::guard, &start, sizeof start);
      memcpy(there.data() + Endpoint::guard + at, &result, sizeof result);
      Request request{};
      request.operation = operation;
      request.wr_id = seed_;
      request.bytes = sizeof start;
      request.remote_at = at;
      request.operand = adds ? operand : compared;
      request.swap = swap;
      complete(request);
      if (!std::ranges::equal(target_.guarded(), there)) fail("the target's memory is wrong");
      if (!std::ranges::equal(initiator_.guarded(), here)) fail("the fetched value is wrong");
    }
  }

  static constexpr uint64_t wr_id_of_receive = 0xabcdef0123456789;

  Setup setup_;
  Endpoint target_, initiator_;
  uint32_t seed_ = 0;
  unsigned count_ = 0;
};

constexpr Operation operations[] = {Operation::send,  Operation::send_imm,  Operation::send_imm64,
                                    Operation::write, Operation::write_imm, Operation::write_imm64,
                                    Operation::read,  Operation::fetch_add, Operation::cmp_swap};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> chosen;
  CLI::App app("Every operation with every size and way of posting");
  app.add_option("--operation", chosen, "only these");
  CLI11_PARSE(app, argc, argv);
  unsigned count = 0;
  try {
    for (const char* initiator_dev : {"cxi0", "cxi1"})
      for (bool events : {false, true})
        for (bool indexed : {false, true})
          for (uint32_t sges : {1, 8}) {
            Pair pair({"cxi0", initiator_dev, events, indexed, sges});
            for (Operation operation : operations)
              if (chosen.empty() || std::ranges::count(chosen, name(operation)))
                pair.run(operation);
            count += pair.count();
          }
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  printf("%u combinations\n", count);
  return count ? 0 : 1;
}
