// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A device that fails while it is in use. Each suite breaks its own: they come last.
#include <cstdlib>

#include "on_model.hpp"

namespace on_model {
namespace {

// Nobody is told of it.
class Vanished : public OnModel {};

TEST_F(Vanished, DevicesLetAttachedRegionsGoAndKeepWhatIsInUse) {
  ibv_comp_cntr_init_attr counter_attr = {};
  Owned<ibv_comp_cntr, ibv_destroy_comp_cntr> counter(
      made(ibv_create_comp_cntr(context.get(), &counter_attr), "counter"));
  QpPtr qp = create_qp();
  ibv_qp_attach_comp_cntr_attr counted = {};
  counted.op_mask = IBV_QP_ATTACH_COMP_CNTR_OP_SEND | IBV_QP_ATTACH_COMP_CNTR_OP_RECV;
  ASSERT_EQ(ibv_qp_attach_comp_cntr(qp.get(), counter.get(), &counted), 0);
  Mr exposed(made(
      ibv_reg_mr(pd.get(), buffer.data(), 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
      "mr"));
  ASSERT_EQ(ibv_attach_mr(qp.get(), exposed.get()), 0);
  ASSERT_EQ(std::system(CXI_SIM " set device cxi0 failed"), 0);
  exposed.reset();
  EXPECT_EQ(ibv_destroy_comp_cntr(counter.get()), EBUSY);
  qp.reset();
  EXPECT_EQ(ibv_dealloc_job(job.get()), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(pd.get()), EBUSY);
}

class Unheard : public OnModel {};

TEST_F(Unheard, WhoOnlyPollsLearnsThatTheDeviceIsGone) {
  QpPtr a = create_qp();
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  ASSERT_EQ(receive(a, 1, 4096, 64), 0);
  ASSERT_EQ(send(a, to_b, 2, 0, 64), 0);  // waits for a receive
  ASSERT_EQ(std::system(CXI_SIM " set device cxi0 failed"), 0);
  for (const ibv_wc& wc : wait(2))
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
}

class Asleep : public OnModel {};

TEST_F(Asleep, WhoSleepsOnAChannelIsWokenWhenTheDeviceGoes) {
  QpPtr a = create_qp();
  ASSERT_EQ(receive(a, 1, 4096, 64), 0);
  ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
  ASSERT_EQ(std::system(CXI_SIM " set device cxi0 failed"), 0);
  ibv_cq* which = nullptr;
  void* its = nullptr;
  EXPECT_EQ(ibv_get_cq_event(channel.get(), &which, &its), -1);
  EXPECT_EQ(errno, EIO);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_WR_FLUSH_ERR);
}

class Gone : public OnModel {};

TEST_F(Gone, OutstandingRequestsAreFlushedAndEverythingCanBeDestroyed) {
  QpPtr a = create_qp();
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  ASSERT_EQ(receive(a, 1, 4096, 64), 0);
  ASSERT_EQ(send(a, to_b, 2, 0, 64), 0);  // waits for a receive
  Mr attached(made(ibv_reg_mr(pd.get(), buffer.data(), 4096, IBV_ACCESS_LOCAL_WRITE), "mr"));
  ASSERT_EQ(ibv_attach_mr(b.get(), attached.get()), 0);
  ASSERT_EQ(std::system(CXI_SIM " set device cxi0 failed"), 0);
  // Before the program has been told.
  EXPECT_EQ(ibv_detach_mr(b.get(), attached.get()), EIO);
  attached.reset();
  ibv_async_event event;
  do {
    ASSERT_EQ(ibv_get_async_event(context.get(), &event), 0);
    ibv_ack_async_event(&event);
  } while (event.event_type != IBV_EVENT_DEVICE_FATAL);
  for (const ibv_wc& wc : wait(2))
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
  ASSERT_EQ(send(a, to_b, 3, 0, 64), 0);
  EXPECT_EQ(wait(1)[0].status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(set_state(a, IBV_QPS_ERR), EIO);
  EXPECT_EQ(ibv_alloc_pd(context.get()), nullptr);
  EXPECT_EQ(errno, EIO);
  // Nothing is reported any more: nobody waits for ever.
  EXPECT_EQ(ibv_get_async_event(context.get(), &event), -1);
  EXPECT_EQ(errno, EIO);
  ibv_cq* told = nullptr;
  void* of = nullptr;
  while (ibv_get_cq_event(channel.get(), &told, &of) == 0)
    ibv_ack_cq_events(told, 1);
  EXPECT_EQ(errno, EIO);
  // The fixture and the owners here expect 0 of every destroy call.
}

}  // namespace
}  // namespace on_model
