// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Thread domains and parent domains.
#include "on_model.hpp"

namespace on_model {
namespace {

class ParentDomains : public OnModel {
 protected:
  ParentDomains()
      : td(made(ibv_alloc_td(context.get(), &td_attr), "td")), parent(alloc_parent(td.get())) {}

  Pd alloc_parent(ibv_td* with) {
    ibv_parent_domain_init_attr attr = {};
    attr.pd = pd.get();
    attr.td = with;
    return Pd(made(ibv_alloc_parent_domain(context.get(), &attr), "parent"));
  }
  ibv_cq* try_create_cq(ibv_pd* with) {
    ibv_cq_init_attr_ex attr = {};
    attr.cqe = 4;
    attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
    attr.parent_domain = with;
    ibv_cq_ex* made = ibv_create_cq_ex(context.get(), &attr);
    return made ? ibv_cq_ex_to_cq(made) : nullptr;
  }
  // While this lives, the domain that it was made in does.
  template <class T>
  void expect_busy_until_gone(T object) {
    EXPECT_EQ(ibv_dealloc_pd(parent.get()), EBUSY);
    EXPECT_EQ(ibv_dealloc_pd(pd.get()), EBUSY);
    object.reset();
    EXPECT_EQ(ibv_dealloc_pd(parent.release()), 0);
    EXPECT_EQ(ibv_dealloc_pd(pd.get()), EBUSY);  // it has a region
    parent = alloc_parent(td.get());
  }

  ibv_td_init_attr td_attr = {};
  Owned<ibv_td, ibv_dealloc_td> td;
  Pd parent;
};

TEST_F(ParentDomains, CarryTraffic) {
  EXPECT_EQ(ibv_dealloc_td(td.get()), EBUSY);
  QpPtr a(made(try_create_qp(parent.get(), cq.get(), cq.get(), key.get(), {}), "qp"));
  Ah to_a = address_of(a);
  ASSERT_EQ(receive(a, 1, 4096, 64), 0);
  ASSERT_EQ(send(a, to_a, 2, 0, 64), 0);
  for (const ibv_wc& wc : wait(2))
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
}

TEST_F(ParentDomains, AreBusyWhileAnythingMadeInThemLives) {
  expect_busy_until_gone(
      QpPtr(made(try_create_qp(parent.get(), cq.get(), cq.get(), key.get(), {}), "qp")));
  expect_busy_until_gone(Mr(made(ibv_reg_mr(parent.get(), buffer.data(), 4096, 0), "mr")));
  expect_busy_until_gone(Key(made(ibv_create_jkey(parent.get(), job.get(), 0), "jkey")));
  expect_busy_until_gone(CqPtr(made(try_create_cq(parent.get()), "cq")));
  ibv_ah_attr_ex attr = address(0);
  expect_busy_until_gone(Ah(made(ibv_create_ah_ex(parent.get(), &attr), "ah")));
}

TEST_F(ParentDomains, AreBusyWithARegionThatMovedIn) {
  Mr moving(made(ibv_reg_mr(pd.get(), buffer.data(), 4096, 0), "mr"));
  ASSERT_EQ(ibv_rereg_mr(moving.get(), IBV_REREG_MR_CHANGE_PD, parent.get(), nullptr, 0, 0), 0);
  EXPECT_EQ(moving->pd, parent.get());
  EXPECT_EQ(ibv_dealloc_pd(parent.get()), EBUSY);
  ASSERT_EQ(ibv_rereg_mr(moving.get(), IBV_REREG_MR_CHANGE_PD, pd.get(), nullptr, 0, 0), 0);
  EXPECT_EQ(ibv_dealloc_pd(parent.release()), 0);
}

TEST_F(ParentDomains, AreNeededWhereACqIsMadeWithOne) {
  EXPECT_EQ(try_create_cq(pd.get()), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(try_create_cq(nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(ParentDomains, RefuseWhatTheyDoNotKnow) {
  ibv_parent_domain_init_attr attr = {};
  EXPECT_EQ(ibv_alloc_parent_domain(context.get(), &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  attr.pd = pd.get();
  for (const std::uint32_t mask : {1u, 2u, 4u, 8u, 1u << 31}) {
    attr.comp_mask = mask;
    EXPECT_EQ(ibv_alloc_parent_domain(context.get(), &attr), nullptr) << mask;
    EXPECT_EQ(errno, EOPNOTSUPP) << mask;
  }
  td_attr.comp_mask = 1;
  EXPECT_EQ(ibv_alloc_td(context.get(), &td_attr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

}  // namespace
}  // namespace on_model
