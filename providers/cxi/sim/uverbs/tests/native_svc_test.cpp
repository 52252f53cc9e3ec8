// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Services.
#include "native_fixture.hpp"

namespace sim::uverbs::test {
namespace {

class ServiceCalls : public NativeTest {
 protected:
  ServiceCalls() { caller.who.cap_sys_admin = true; }
  OpenFile* target() override { return on ? on : file.get(); }

  static cxi_abi_svc_desc right() {
    cxi_abi_svc_desc desc{};
    desc.flags = CXI_ABI_SVC_ENABLED;
    desc.num_vnis = 2;
    desc.vnis[0] = 100;
    desc.vnis[1] = 200;
    desc.tc_mask = 1 << CXI_ABI_TC_BEST_EFFORT;
    desc.members[0] = {CXI_ABI_MEMBER_UID, 1000};
    return desc;
  }
  Answer alloc(const cxi_abi_svc_desc& desc) {
    return native(CXI_OBJECT_SVC, CXI_METHOD_SVC_ALLOC, desc, sizeof desc);
  }
  int alloc_with(std::function<void(cxi_abi_svc_desc&)> change) {
    auto desc = right();
    change(desc);
    return alloc(desc).error;
  }
  Answer modify(const cxi_abi_svc_desc& desc) {
    return native(CXI_OBJECT_SVC, CXI_METHOD_SVC_MODIFY, desc, sizeof desc, {});
  }
  Answer query(uint32_t id) {
    return native(CXI_OBJECT_SVC, CXI_METHOD_SVC_QUERY, cxi_abi_lni_req{id, 0},
                  sizeof(cxi_abi_svc_desc), {});
  }
  int destroy_service(uint32_t id) {
    return native(CXI_OBJECT_SVC, CXI_METHOD_SVC_DESTROY, cxi_abi_lni_req{id, 0}, 0, {}).error;
  }
  std::vector<uint32_t> list() {
    auto ioctl = call(CXI_OBJECT_SVC, CXI_METHOD_SVC_LIST);
    ioctl.out(CXI_ATTR_RESP, 32);
    EXPECT_EQ(issue(ioctl), 0);
    std::vector<uint32_t> ids;
    for (uint32_t id : ioctl.result<std::array<uint32_t, 8>>(CXI_ATTR_RESP)) {
      if (id) ids.push_back(id);
    }
    return ids;
  }

  OpenFile* on = nullptr;
};

TEST_F(ServiceCalls, MakeAGrant) {
  auto made = alloc(right());
  ASSERT_EQ(made.error, 0);
  auto desc = made.resp<cxi_abi_svc_desc>();
  EXPECT_EQ(desc.svc_id, 2u);
  EXPECT_EQ(desc.num_vnis, 2u);
  EXPECT_EQ(desc.vnis[1], 200);
  EXPECT_EQ(desc.limits[CXI_ABI_RSRC_EQ].max, 2047u);
  caller.who.cap_sys_admin = false;
  auto elsewhere = open();
  get_context(*elsewhere, desc.svc_id);
  on = elsewhere.get();
  EXPECT_EQ(cp({100, 0, CXI_ABI_TC_BEST_EFFORT, 0}).error, 0);
  EXPECT_EQ(cp({1, 0, CXI_ABI_TC_BEST_EFFORT, 0}).error, ENOENT);
  EXPECT_EQ(cp({100, 0, CXI_ABI_TC_BULK_DATA, 0}).error, EINVAL);
}

TEST_F(ServiceCalls, NeedPrivilege) {
  auto made = alloc(right());
  auto desc = made.resp<cxi_abi_svc_desc>();
  caller.who.cap_sys_admin = false;
  caller.who.euid = 0;
  EXPECT_EQ(alloc(right()).error, EPERM);
  EXPECT_EQ(modify(desc).error, EPERM);
  EXPECT_EQ(destroy_service(desc.svc_id), EPERM);
}

TEST_F(ServiceCalls, CheckTheDescription) {
  EXPECT_EQ(alloc_with([](auto& d) { d.svc_id = 7; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.num_vnis = 5; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.num_vnis = 3; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.num_vnis = 1; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.vnis[0] = 0; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.flags |= CXI_ABI_SVC_DYING; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.flags |= CXI_ABI_SVC_VNI_RANGE; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.tc_mask = 0; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.tc_mask = 16; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.members[1].type = 4; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.limits[0] = {1, 2, 0, 0}; }), EINVAL);
  EXPECT_EQ(alloc_with([](auto& d) { d.limits[0] = {2048, 0, 0, 0}; }), EINVAL);
  EXPECT_EQ(list(), std::vector<uint32_t>{1});
}

TEST_F(ServiceCalls, HaveRangesThatDoNotOverlap) {
  auto range = [](uint16_t first, uint16_t last) {
    return [first, last](cxi_abi_svc_desc& d) {
      d.flags |= CXI_ABI_SVC_VNI_RANGE;
      d.vnis[0] = first;
      d.vnis[1] = last;
    };
  };
  EXPECT_EQ(alloc_with(range(1024, 1031)), 0);
  EXPECT_EQ(alloc_with(range(1028, 1031)), EEXIST);
  EXPECT_EQ(alloc_with(range(1032, 1039)), 0);
  EXPECT_EQ(alloc_with(range(2000, 2002)), EINVAL);
  EXPECT_EQ(alloc_with(range(2001, 2002)), EINVAL);
  EXPECT_EQ(alloc_with(range(2010, 2009)), EINVAL);
}

TEST_F(ServiceCalls, SayWhatIsFreeWhenAReservationFails) {
  auto desc = right();
  desc.flags |= CXI_ABI_SVC_LIMITED;
  desc.limits[CXI_ABI_RSRC_TXQ] = {1000, 1000, 0, 0};
  ASSERT_EQ(alloc(desc).error, 0);
  desc.limits[CXI_ABI_RSRC_TXQ] = {25, 25, 0, 0};
  auto refused = alloc(desc);
  EXPECT_EQ(refused.error, ENOSPC);
  EXPECT_EQ(refused.resp<cxi_abi_svc_desc>().limits[CXI_ABI_RSRC_TXQ].free, 24u);
  EXPECT_EQ(list().size(), 2u);
}

TEST_F(ServiceCalls, ShowMembersTheirOwn) {
  auto made = alloc(right()).resp<cxi_abi_svc_desc>();
  caller.who.cap_sys_admin = false;
  EXPECT_EQ(list(), (std::vector<uint32_t>{1, made.svc_id}));
  EXPECT_EQ(query(made.svc_id).error, 0);
  caller.who.euid = 7;
  EXPECT_EQ(list(), std::vector<uint32_t>{1});
  EXPECT_EQ(query(made.svc_id).error, EPERM);
  EXPECT_EQ(query(99).error, EINVAL);
}

TEST_F(ServiceCalls, AreModifiedWhileUnused) {
  auto desc = alloc(right()).resp<cxi_abi_svc_desc>();
  desc.vnis[0] = 101;
  EXPECT_EQ(modify(desc).error, 0);
  auto elsewhere = open();
  get_context(*elsewhere, desc.svc_id);
  alloc_pd(*elsewhere);
  desc.vnis[0] = 102;
  EXPECT_EQ(modify(desc).error, EBUSY);
  desc.vnis[0] = 101;
  desc.flags = 0;
  EXPECT_EQ(modify(desc).error, 0);  // disabling is always possible
  EXPECT_EQ(lni(desc.svc_id).error, EKEYREVOKED);
  desc.svc_id = 99;
  EXPECT_EQ(modify(desc).error, EINVAL);
}

TEST_F(ServiceCalls, KeepTheirLimits) {
  auto desc = right();
  desc.flags |= CXI_ABI_SVC_LIMITED;
  desc.limits[CXI_ABI_RSRC_EQ].max = 5;
  desc = alloc(desc).resp<cxi_abi_svc_desc>();
  desc.limits[CXI_ABI_RSRC_EQ].max = 6;
  EXPECT_EQ(modify(desc).error, EINVAL);
}

TEST_F(ServiceCalls, AreDestroyedWhileUnused) {
  auto made = alloc(right());
  const uint32_t id = made.resp<cxi_abi_svc_desc>().svc_id;
  auto on_it = lni(id);
  EXPECT_EQ(destroy_service(id), EBUSY);
  EXPECT_EQ(destroy_native(CXI_OBJECT_SVC, CXI_METHOD_SVC_DESTROY, made.handle()), EBUSY);
  destroy_native(CXI_OBJECT_LNI, CXI_METHOD_LNI_DESTROY, on_it.handle());
  EXPECT_EQ(destroy_service(id), 0);
  EXPECT_EQ(destroy_service(id), EINVAL);
  EXPECT_EQ(destroy_service(1), EINVAL);
  EXPECT_EQ(destroy_native(CXI_OBJECT_SVC, CXI_METHOD_SVC_DESTROY, made.handle()), 0);
  EXPECT_EQ(destroy_native(CXI_OBJECT_SVC, CXI_METHOD_SVC_DESTROY, made.handle()), ENOENT);
}

TEST_F(ServiceCalls, AreAsTheyWereWhenAChangeCannotBeAnswered) {
  auto desc = alloc(right()).resp<cxi_abi_svc_desc>();
  auto wanted = desc;
  wanted.tc_mask = 1 << CXI_ABI_TC_LOW_LATENCY;
  wanted.flags = 0;
  auto ioctl = call(CXI_OBJECT_SVC, CXI_METHOD_SVC_MODIFY);
  ioctl.in(CXI_ATTR_REQ, wanted).out(CXI_ATTR_RESP, sizeof wanted);
  ioctl.place();
  caller.unwritable = ioctl.answered(CXI_ATTR_RESP).data;
  EXPECT_EQ(issue(ioctl), EFAULT);
  caller.unwritable = 0;
  auto found = query(desc.svc_id).resp<cxi_abi_svc_desc>();
  EXPECT_EQ(found.tc_mask, desc.tc_mask);
  EXPECT_EQ(found.flags, desc.flags);
}

TEST_F(ServiceCalls, RemovedByAnotherLeaveTheHandleOfTheirMaker) {
  auto removed = alloc(right());
  EXPECT_EQ(destroy_service(removed.resp<cxi_abi_svc_desc>().svc_id), 0);
  auto next = alloc(right());
  ASSERT_EQ(next.error, 0);
  EXPECT_NE(next.handle(), removed.handle());
  EXPECT_EQ(destroy_native(CXI_OBJECT_SVC, CXI_METHOD_SVC_DESTROY, removed.handle()), 0);
  EXPECT_EQ(query(next.resp<cxi_abi_svc_desc>().svc_id).error, 0);
}

TEST_F(ServiceCalls, GoWithTheLastLogicalNiWhenTheOwnerDied) {
  auto owner = open();
  get_context(*owner);
  on = owner.get();
  const uint32_t id = alloc(right()).resp<cxi_abi_svc_desc>().svc_id;
  on = nullptr;
  auto user = lni(id);
  ASSERT_EQ(user.error, 0);
  kernel->release(*owner);
  EXPECT_EQ(query(id).resp<cxi_abi_svc_desc>().flags & CXI_ABI_SVC_DYING,
            uint32_t{CXI_ABI_SVC_DYING});
  EXPECT_EQ(lni(id).error, EKEYREVOKED);
  destroy_native(CXI_OBJECT_LNI, CXI_METHOD_LNI_DESTROY, user.handle());
  EXPECT_EQ(query(id).error, EINVAL);
}

TEST_F(ServiceCalls, EndWithTheirOwner) {
  auto owner = open();
  get_context(*owner);
  on = owner.get();
  const uint32_t id = alloc(right()).resp<cxi_abi_svc_desc>().svc_id;
  on = nullptr;
  kernel->release(*owner);
  EXPECT_EQ(query(id).error, EINVAL);
}

}  // namespace
}  // namespace sim::uverbs::test
