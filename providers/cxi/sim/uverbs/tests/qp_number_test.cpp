// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "qp_fixture.hpp"
#include "uverbs/qp.hpp"

namespace sim::uverbs::test {
namespace {

constexpr uint32_t absolute = IB_UVERBS_QPN_UET_ABSOLUTE_ADDR_BIT;

class Numbers : public QueuePairs {};

TEST_F(Numbers, AreTheLowestFreeResourceIndex) {
  auto a = make(), b = make();
  EXPECT_EQ(b.qpn, 1u << 12);
  EXPECT_EQ(destroy_qp(a.handle), 0);
  EXPECT_EQ(make().qpn, 0u);
}

TEST_F(Numbers, MayBeChosen) {
  auto qp = make(5u << 12 | 17);
  EXPECT_EQ(qp.qpn, 5u << 12 | 17);
  EXPECT_EQ(qp.resp.pid, 17u);
  EXPECT_EQ(qp.resp.ri, 5u);
  EXPECT_EQ(make().qpn, 17u);  // the PD has latched its PID
}

TEST_F(Numbers, RefuseWhatDoesNotExist) {
  EXPECT_EQ(status_with(1u << 24), EINVAL);
  EXPECT_EQ(status_with(1u << 30), EINVAL);
  EXPECT_EQ(status_with(511), EINVAL);
  EXPECT_EQ(status_with(48u << 12), EINVAL);
  EXPECT_EQ(status_with(510 | 47u << 12), 0);
}

TEST_F(Numbers, KeepThePidOfThePd) {
  auto qp = make(17);
  EXPECT_EQ(status_with(18), EINVAL);
  destroy_qp(qp.handle);
  EXPECT_EQ(status_with(18), EINVAL);  // it is given up with the PD, not with the queue pair
}

TEST_F(Numbers, KeepTheResourceIndexOfTheQueuePair) {
  make(17);
  EXPECT_EQ(status_with(17), ENOSPC);
}

TEST_F(Numbers, RunOutOfResourceIndices) {
  send = recv = create_cq(2000);  // with room for the reserves of so many
  for (int i = 0; i < CXI_ABI_NUM_RI; ++i)
    make();
  EXPECT_EQ(status(right()), ENOSPC);
}

TEST_F(Numbers, AreNotSharedBetweenPds) {
  make(17);
  const uint32_t other = alloc_pd(), other_key = create_jkey(other, job);
  auto taken = qp_call(other, send.handle, recv.handle, other_key)
                   .u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 17 | 1u << 12);
  EXPECT_EQ(status(taken), ENOSPC);
  EXPECT_EQ(finish_qp(qp_call(other, send.handle, recv.handle, other_key)).qpn, 0u);
}

TEST_F(Numbers, AreFreeAgainWhenThePdIsGone) {
  const uint32_t other = alloc_pd(), other_key = create_jkey(other, job);
  auto qp = finish_qp(qp_call(other, send.handle, recv.handle, other_key)
                          .u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 17));
  EXPECT_EQ(dealloc_pd(other), EBUSY);
  destroy_qp(qp.handle);
  destroy_jkey(other_key);
  EXPECT_EQ(dealloc_pd(other), 0);
  EXPECT_EQ(status_with(17), 0);
}

TEST_F(Numbers, AreSeparateInEachVni) {
  make(17);
  const uint32_t other = alloc_pd(), other_key = create_jkey(other, alloc_job(10));
  auto qp = finish_qp(qp_call(other, send.handle, recv.handle, other_key)
                          .u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 17));
  EXPECT_EQ(qp.resp.vni, 10u);
  EXPECT_EQ(qp.qpn, 17u);
}

TEST_F(Numbers, ThatAreAbsoluteCoverTheServicesVnis) {
  auto ioctl = right();
  drop(ioctl, UVERBS_ATTR_CREATE_QP_JOB_KEY);
  auto qp = finish_qp(ioctl.u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, absolute | 9));
  EXPECT_EQ(qp.qpn, absolute | 9);
  EXPECT_EQ(qp.resp.vni, 1u);
  EXPECT_EQ(device().portals.size(), 6u);
  EXPECT_TRUE(device().portals.contains({10, 9, 0}));
  destroy_qp(qp.handle);
  EXPECT_TRUE(device().portals.empty());
}

TEST_F(Numbers, ThatAreAbsoluteWithAKeySendInItsVniAndAreReachedInAll) {
  const uint32_t other = alloc_pd(), key = create_jkey(other, alloc_job(10));
  auto qp = finish_qp(qp_call(other, send.handle, recv.handle, key)
                          .u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, absolute | 9));
  EXPECT_EQ(qp.qpn, absolute | 9);
  EXPECT_EQ(qp.resp.vni, 10u);
  EXPECT_EQ(device().portals.size(), 6u);
  EXPECT_TRUE(device().portals.contains({1, 9, 0}));
}

TEST_F(Numbers, NeedTheGrantOfTheirVni) {
  auto& service = *impl().nic.services.find(1);
  service.vnis = {10};
  auto before = census();
  EXPECT_EQ(status(right()), EPERM);
  EXPECT_EQ(census(), before);
}

}  // namespace
}  // namespace sim::uverbs::test
