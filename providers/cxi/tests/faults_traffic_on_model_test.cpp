// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Traffic needs no memory but what was made for it.
#include "faults.hpp"
#include "rma_on_model.hpp"

namespace on_model {
namespace {

using faults::Fault;
using faults::Holdings;
using faults::holdings;
using faults::Source;

class Traffic : public Rma {
 protected:
  /// Polls one completion; memory that was asked for is no memory.
  static ibv_wc_status next(ibv_cq* from) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    ibv_wc wc = {};
    int count = 0;
    while ((count = ibv_poll_cq(from, 1, &wc)) == 0)
      if (std::chrono::steady_clock::now() > give_up) return IBV_WC_GENERAL_ERR;
    return count < 0 ? IBV_WC_FATAL_ERR : wc.status;
  }
};

TEST_F(Traffic, NeedsNoMemory) {
  Window window(pd.get(), 1 << 16, all_rights);
  ASSERT_EQ(attach(window), 0);
  const std::uint64_t key_ = window.mr()->rkey64;
  ibv_sge pieces[3] = {
      {local(0), 100, mr->lkey}, {local(500), 7, mr->lkey}, {local(9), 3, mr->lkey}};
  std::vector<int> errors;
  std::vector<ibv_wc_status> ends;
  errors.reserve(1000);
  ends.reserve(1000);
  const Holdings before = holdings();
  Fault fault(Source::memory, 1, ENOMEM, true);
  for (unsigned round = 0; round < 20; round++) {
    errors.push_back(ibv_req_notify_cq(cq.get(), 0));
    errors.push_back(receive(target, round, 4096, 4096));
    errors.push_back(send(source, to_target, round, 0, 2000));
    ends.push_back(next(cq.get()));  // first: the message may have to be repeated
    ends.push_back(next(target_cq.get()));
    errors.push_back(rma(IBV_WR_RDMA_WRITE, 0, 5000, key_, 64));
    ends.push_back(next(cq.get()));
    errors.push_back(rma(IBV_WR_RDMA_READ, 8192, 5000, key_, 64));
    ends.push_back(next(cq.get()));
    errors.push_back(rma_list(IBV_WR_RDMA_WRITE, 3, pieces, 3, key_, 0));
    ends.push_back(next(cq.get()));
    errors.push_back(rma_list(IBV_WR_RDMA_READ, 3, pieces, 3, key_, 0));
    ends.push_back(next(cq.get()));
    errors.push_back(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 16384, key_, 8, 1, 0));
    ends.push_back(next(cq.get()));
    ibv_cq* told = nullptr;
    void* of = nullptr;
    errors.push_back(ibv_get_cq_event(channel.get(), &told, &of));
    ibv_ack_cq_events(cq.get(), 1);
  }
  EXPECT_FALSE(fault.end());
  EXPECT_EQ(holdings(), before);
  for (const int err : errors)
    EXPECT_EQ(err, 0);
  for (const ibv_wc_status status : ends)
    EXPECT_EQ(status, IBV_WC_SUCCESS);
}

}  // namespace
}  // namespace on_model
