// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "loop.hpp"

#include <endian.h>

#include <cerrno>
#include <chrono>

#include "../common/completions.hpp"
#include "../common/text.hpp"
#include "report.hpp"

namespace ru_pingpong {

namespace {

using examples::complain;

/// What is known of one completion.
struct Completion {
  std::uint64_t id;
  enum ibv_wc_status status;
  std::uint32_t vendor_err;
};

class Exchange {
 public:
  Exchange(Endpoint& endpoint, const Options& options, examples::PeerWatch& watch)
      : endpoint_(endpoint),
        options_(options),
        watch_(watch),
        wait_(ibv_cq_ex_to_cq(endpoint.cq()), options.yield.value_or(examples::few_processors())) {}

  bool run() {
    if (!wait_.arm()) return false;
    if (options_.is_server()) {
      pending_ = recv_id;
    } else {
      if (!endpoint_.post_send()) return false;
      pending_ = recv_id | send_id;
    }
    while (sent_ < options_.iters || received_ < options_.iters)
      if (!step()) return false;
    return true;
  }

 private:
  /// Handles what has completed; where nothing has, sleeps or gives way.
  bool step() {
    const int found = options_.imm ? poll_extended() : poll_plain();
    if (found != 0) {
      wait_.found(watch_);
      return found > 0;
    }
    return wait_.nothing(watch_);
  }

  /// The number of completions handled, or -1 after a complaint.
  int poll_plain() {
    ibv_wc wc[2];
    const int count = ibv_poll_cq(ibv_cq_ex_to_cq(endpoint_.cq()), 2, wc);
    if (count < 0) {
      complain("the completion queue could not be polled");
      return -1;
    }
    for (int i = 0; i < count; i++)
      if (!handle({wc[i].wr_id, wc[i].status, wc[i].vendor_err})) return -1;
    return count;
  }

  int poll_extended() {
    ibv_cq_ex* cq = endpoint_.cq();
    ibv_poll_cq_attr attr{};
    const int error = ibv_start_poll(cq, &attr);
    if (error == ENOENT) return 0;
    if (error) {
      complain("the completion queue could not be polled: errno %d", error);
      return -1;
    }
    int count = 0;
    int next = 0;
    bool good = true;
    for (; good && next == 0; count++) {
      good = (cq->status != IBV_WC_SUCCESS || immediate_is_right(cq)) &&
             handle({cq->wr_id, cq->status, vendor_err(cq)});
      if (good) next = ibv_next_poll(cq);
    }
    ibv_end_poll(cq);
    if (good && next != ENOENT) {
      complain("the completion queue could not be polled: errno %d", next);
      good = false;
    }
    return good ? count : -1;
  }

  static std::uint32_t vendor_err(ibv_cq_ex* cq) {
    return cq->status == IBV_WC_SUCCESS ? 0 : ibv_wc_read_vendor_err(cq);
  }

  bool immediate_is_right(ibv_cq_ex* cq) {
    if (ibv_wc_read_opcode(cq) != IBV_WC_RECV) return true;
    if (options_.imm == 64) {
      const std::uint64_t imm = be64toh(ibv_wc_read_imm64_data(cq));
      if (imm == imm64) return true;
      complain("bad imm64 0x%llx (expected 0x%llx)", static_cast<unsigned long long>(imm),
               static_cast<unsigned long long>(imm64));
      return false;
    }
    const std::uint32_t imm = be32toh(ibv_wc_read_imm_data(cq));
    if (imm == imm32) return true;
    complain("bad imm 0x%x (expected 0x%x)", imm, imm32);
    return false;
  }

  bool handle(const Completion& completion) {
    if (completion.status != IBV_WC_SUCCESS) {
      const std::string why =
          examples::why_failed(completion.id == send_id ? "a send" : "a receive", completion.status,
                               completion.vendor_err);
      complain("%s", why.c_str());
      return false;
    }
    if (completion.id == send_id) {
      sent_++;
    } else if (completion.id == recv_id) {
      received_++;
      endpoint_.received();
      if (!endpoint_.refill()) return false;
    } else {
      complain("completion of an unknown request %llu",
               static_cast<unsigned long long>(completion.id));
      return false;
    }
    pending_ &= ~static_cast<unsigned>(completion.id);
    if (pending_ == 0 && sent_ < options_.iters) {
      if (!endpoint_.post_send()) return false;
      pending_ = recv_id | send_id;
    }
    return true;
  }

  Endpoint& endpoint_;
  const Options& options_;
  examples::PeerWatch& watch_;
  examples::CompletionWait wait_;
  unsigned sent_ = 0;
  unsigned received_ = 0;
  unsigned pending_ = 0;
};

}  // namespace

std::optional<double> exchange(Endpoint& endpoint, const Options& options,
                               examples::PeerWatch watch) {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  if (!Exchange(endpoint, options, watch).run()) return std::nullopt;
  return std::chrono::duration<double, std::micro>(clock::now() - start).count();
}

}  // namespace ru_pingpong
