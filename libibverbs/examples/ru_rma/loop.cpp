// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "loop.hpp"

#include <endian.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "../common/completions.hpp"
#include "../common/text.hpp"

namespace ru_rma {

namespace {

using examples::complain;

/// What completions can be of: arrived is a write with immediate data of the peer.
enum Kind : unsigned { arrived = 0, read = read_id, written = write_id, imm_written = imm_id };
constexpr unsigned kinds = 4;
constexpr const char* names[kinds] = {"the peer's write", "a read", "a write",
                                      "a write with immediate data"};

class Exchange {
 public:
  Exchange(Endpoint& endpoint, const Options& options, examples::PeerWatch& watch)
      : endpoint_(endpoint),
        options_(options),
        watch_(watch),
        wait_(endpoint.cq(), examples::few_processors()) {}

  bool run() {
    if (!wait_.arm()) return false;
    for (unsigned i = 0; i < options_.iters; i++)
      if (!(options_.is_server() ? serve() : ask())) return false;
    return true;
  }

 private:
  bool ask() {
    if (!endpoint_.post_read() || !wait_for(read)) return false;
    if (options_.builders() && !(endpoint_.post_write() && wait_for(written))) return false;
    return endpoint_.post_write_with_imm() && wait_for(imm_written) && wait_for(arrived) && check();
  }

  bool serve() {
    return wait_for(arrived) && check() && endpoint_.post_write_with_imm() && wait_for(imm_written);
  }

  /// After the first read both sides have what the server started with.
  bool check() {
    if (!options_.check) return true;
    const auto bytes = endpoint_.buffer();
    const auto wrong =
        std::ranges::find_if(bytes, [](unsigned char byte) { return byte != server_fill; });
    if (wrong == bytes.end()) return true;
    complain("invalid data: byte %td is 0x%02x (expected 0x%02x)", wrong - bytes.begin(), *wrong,
             server_fill);
    return false;
  }

  /// A completion may come before the one that is waited for: they are counted.
  bool wait_for(Kind kind) {
    while (seen_[kind] == 0) {
      const int found = endpoint_.cq_ex() ? poll_extended(endpoint_.cq_ex()) : poll_plain();
      if (found < 0) return false;
      if (found > 0)
        wait_.found(watch_);
      else if (!wait_.nothing(watch_))
        return false;
    }
    seen_[kind]--;
    return true;
  }

  /// The number of completions handled, or -1 after a complaint.
  int poll_plain() {
    ibv_wc wc;
    const int count = ibv_poll_cq(endpoint_.cq(), 1, &wc);
    if (count < 0) complain("the completion queue could not be polled");
    if (count <= 0) return count;
    const bool arrival = wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM;
    if (arrival && !immediate_is_right(be32toh(wc.imm_data), imm32)) return -1;
    return handle(arrival, wc.wr_id, wc.status, wc.vendor_err) ? 1 : -1;
  }

  int poll_extended(ibv_cq_ex* cq) {
    ibv_poll_cq_attr attr{};
    const int error = ibv_start_poll(cq, &attr);
    if (error == ENOENT) return 0;
    if (error) {
      complain("the completion queue could not be polled: errno %d", error);
      return -1;
    }
    const bool good = cq->status == IBV_WC_SUCCESS;
    const bool arrival = good && ibv_wc_read_opcode(cq) == IBV_WC_RECV_RDMA_WITH_IMM;
    const bool right = !arrival || arrival_is_right(cq);
    const bool handled =
        right && handle(arrival, cq->wr_id, cq->status, good ? 0 : ibv_wc_read_vendor_err(cq));
    ibv_end_poll(cq);
    return handled ? 1 : -1;
  }

  bool arrival_is_right(ibv_cq_ex* cq) {
    // All messages travel in the job of the client: it is the one that its queue pair is reached
    // in.
    const std::uint32_t job =
        options_.is_server() ? endpoint_.peer().job_id : endpoint_.local().job_id;
    const std::uint32_t src_id = endpoint_.peer().src_id();
    if (ibv_wc_read_job_id(cq) != job) {
      complain("a message of job %u (expected %u)", ibv_wc_read_job_id(cq), job);
      return false;
    }
    if (ibv_wc_read_src_id(cq) != src_id) {
      complain("a message from source 0x%x (expected 0x%x)", ibv_wc_read_src_id(cq), src_id);
      return false;
    }
    return options_.test == Test::rma_ex64
               ? immediate_is_right(be64toh(ibv_wc_read_imm64_data(cq)), imm64)
               : immediate_is_right(be32toh(ibv_wc_read_imm_data(cq)), imm32);
  }

  static bool immediate_is_right(std::uint64_t imm, std::uint64_t expected) {
    if (imm != expected)
      complain("bad imm 0x%llx (expected 0x%llx)", static_cast<unsigned long long>(imm),
               static_cast<unsigned long long>(expected));
    return imm == expected;
  }

  bool handle(bool arrival, std::uint64_t id, enum ibv_wc_status status, std::uint32_t vendor_err) {
    const std::uint64_t kind = arrival ? std::uint64_t{arrived} : id;
    if (kind >= kinds || (!arrival && kind == arrived)) {
      complain("completion of an unknown request %llu", static_cast<unsigned long long>(id));
      return false;
    }
    if (status != IBV_WC_SUCCESS) {
      complain("%s", examples::why_failed(names[kind], status, vendor_err).c_str());
      return false;
    }
    seen_[kind]++;
    return true;
  }

  Endpoint& endpoint_;
  const Options& options_;
  examples::PeerWatch& watch_;
  examples::CompletionWait wait_;
  std::array<unsigned, kinds> seen_{};
};

}  // namespace

bool exchange(Endpoint& endpoint, const Options& options, examples::PeerWatch watch) {
  return Exchange(endpoint, options, watch).run();
}

}  // namespace ru_rma
