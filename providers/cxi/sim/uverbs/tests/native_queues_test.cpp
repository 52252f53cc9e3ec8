// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Memory descriptors, event queues, command queues.
#include "native_fixture.hpp"

namespace sim::uverbs::test {
namespace {

class Descriptors : public NativeTest {
 protected:
  Answer map(cxi_abi_md_req req) {
    return native(CXI_OBJECT_MD, CXI_METHOD_MD_MAP, req, sizeof(cxi_abi_md_resp));
  }
};

TEST_F(Descriptors, NeedNoWatchingWithoutQueues) {
  EXPECT_TRUE(kernel->quiet());
  auto md = map({buffer_va, 100, CXI_ABI_MD_READ, -1});
  EXPECT_TRUE(kernel->quiet());
  const uint32_t events = eq().handle();
  EXPECT_FALSE(kernel->quiet());
  EXPECT_EQ(destroy_native(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, events), 0);
  EXPECT_TRUE(kernel->quiet());
  const uint32_t commands = cmdq({0, 64, 0, 0}).handle();
  EXPECT_FALSE(kernel->quiet());
  EXPECT_EQ(destroy_native(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_DESTROY, commands), 0);
  EXPECT_TRUE(kernel->quiet());
  device().due = 5;
  EXPECT_FALSE(kernel->quiet());
}

TEST_F(Descriptors, MakeMemoryReachable) {
  auto md = map({buffer_va, 100, CXI_ABI_MD_READ | CXI_ABI_MD_WRITE, -1});
  ASSERT_EQ(md.error, 0);
  EXPECT_EQ(md.resp<cxi_abi_md_resp>().lac, 1u);
  EXPECT_TRUE(device().last_map_writes);
  EXPECT_EQ(destroy_native(CXI_OBJECT_MD, CXI_METHOD_MD_UNMAP, md.handle()), 0);
  EXPECT_TRUE(device().maps.empty());
}

TEST_F(Descriptors, RefuseWhatCannotBeMapped) {
  EXPECT_EQ(map({buffer_va, 0, 1, -1}).error, EINVAL);
  EXPECT_EQ(map({buffer_va, 8, 0, -1}).error, EINVAL);
  EXPECT_EQ(map({buffer_va, 8, 4, -1}).error, EINVAL);
  EXPECT_EQ(map({~0ull, 8, 1, -1}).error, EINVAL);
  EXPECT_EQ(map({0, 8, 1, 9999}).error, EBADF);
  EXPECT_EQ(map({0xdead0000, 8, 1, -1}).error, EFAULT);
  EXPECT_EQ(map({FakeCaller::read_only, 8, CXI_ABI_MD_WRITE, -1}).error, EFAULT);
}

TEST_F(Descriptors, OfRegionsAreBusy) {
  auto mr = mr_call(alloc_pd());
  ASSERT_EQ(issue(mr), 0);
  auto handle = mr.result<cxi_abi_reg_mr_resp>(UVERBS_ATTR_UHW_OUT).md_handle;
  EXPECT_EQ(destroy_native(CXI_OBJECT_MD, CXI_METHOD_MD_UNMAP, handle), EBUSY);
}

class NativeEventQueues : public NativeTest {};

TEST_F(NativeEventQueues, AreAsAsked) {
  auto made = eq();
  ASSERT_EQ(made.error, 0);
  auto info = made.resp<cxi_abi_eq_info>();
  EXPECT_EQ(info.handle, made.handle());
  EXPECT_EQ(info.ring_bytes, 8192u);
  EXPECT_EQ(info.reserve, 10u);
  EXPECT_EQ(destroy_native(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, made.handle()), 0);
}

TEST_F(NativeEventQueues, RefuseBadRequests) {
  auto with = [&](auto change) {
    auto req = eq_request();
    change(req);
    return eq(req).error;
  };
  EXPECT_EQ(with([](auto& r) { r.slots = 3; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.slots = (1u << 26) + 1; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.reserve = 128; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.flags = 2; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.status_count = 5; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.status_base = 101; }), EINVAL);
  EXPECT_EQ(with([](auto& r) {
              r.status_count = 3;
              r.status_base = 50;
              r.status_delta = 26;
            }),
            EINVAL);
  EXPECT_EQ(with([](auto& r) { r.reserved_60 = 1; }), EINVAL);
  EXPECT_EQ(with([](auto& r) { r.reserved_b0 = 1; }), EINVAL);
  EXPECT_EQ(with([](auto& r) {
              r.status_count = 3;
              r.status_base = 50;
              r.status_delta = 25;
            }),
            0);
}

TEST_F(NativeEventQueues, NotifyAChannel) {
  int channel = comp_channel();
  auto req = eq_request();
  req.user_handle = 0x77;
  auto made = native(CXI_OBJECT_EQ, CXI_METHOD_EQ_CREATE, req, sizeof(cxi_abi_eq_info),
                     {{CXI_ATTR_HANDLE, 0}, {CXI_ATTR_CHANNEL_FD, static_cast<uint64_t>(channel)}});
  ASSERT_EQ(made.error, 0);
  auto info = made.resp<cxi_abi_eq_info>();
  arm(info, 1);
  event(info);
  auto told = records<ib_uverbs_comp_event_desc>(channel);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].cq_handle, 0x77u);
}

TEST_F(NativeEventQueues, AreNotResizedWhenThatCannotBeAnswered) {
  const uint32_t queue = eq().handle();
  cxi_abi_eq_req req{};
  req.slots = 256;
  auto resize = [&](bool answered) {
    auto ioctl = call(CXI_OBJECT_EQ, CXI_METHOD_EQ_RESIZE);
    ioctl.handle(CXI_ATTR_HANDLE, queue)
        .in(CXI_ATTR_REQ, req)
        .out(CXI_ATTR_RESP, sizeof(cxi_abi_eq_info));
    ioctl.place();
    caller.unwritable = answered ? 0 : ioctl.answered(CXI_ATTR_RESP).data;
    return issue(ioctl);
  };
  EXPECT_EQ(resize(false), EFAULT);
  EXPECT_EQ(resize(true), 0);  // no switch is under way
  EXPECT_EQ(resize(true), EINVAL);
}

TEST_F(NativeEventQueues, StayWhenTheirEndCannotBeAnswered) {
  const uint32_t queue = eq().handle();
  auto ioctl = call(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY);
  ioctl.handle(CXI_ATTR_HANDLE, queue).out(CXI_ATTR_RESP, sizeof(cxi_abi_eq_destroy_resp));
  ioctl.place();
  caller.unwritable = ioctl.answered(CXI_ATTR_RESP).data;
  EXPECT_EQ(issue(ioctl), EFAULT);
  caller.unwritable = 0;
  EXPECT_EQ(destroy_native(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, queue), 0);
}

TEST_F(NativeEventQueues, OfACqAreBusy) {
  auto cq = create_cq();
  EXPECT_EQ(destroy_native(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, cq.eq.handle), EBUSY);
}

class NativeCommandQueues : public NativeTest {
 protected:
  uint32_t profile = cp({1, 0, CXI_ABI_TC_BEST_EFFORT, 0}).handle();
};

TEST_F(NativeCommandQueues, AreAsAsked) {
  auto queue = eq();
  auto made = cmdq({CXI_ABI_CMDQ_TRANSMIT, 100, 2, 1},
                   {{CXI_ATTR_CP_HANDLE, profile}, {CXI_ATTR_EQ_HANDLE, queue.handle()}});
  ASSERT_EQ(made.error, 0);
  auto info = made.resp<cxi_abi_cmdq_info>();
  EXPECT_EQ(info.slots, 128u);
  const nic::CmdqConfig& config = device().cmdq_configs.at(info.index);
  EXPECT_EQ(config.eqn, queue.resp<cxi_abi_eq_info>().eqn);
  EXPECT_EQ(config.policy, nic::StatusPolicy::low_freq_empty);
  EXPECT_EQ(config.stat_pool, 1u);
  EXPECT_EQ(destroy_native(CXI_OBJECT_CP, CXI_METHOD_CP_FREE, profile), EBUSY);
  EXPECT_EQ(destroy_native(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, queue.handle()), EBUSY);
  EXPECT_EQ(destroy_native(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_DESTROY, made.handle()), 0);
  EXPECT_EQ(destroy_native(CXI_OBJECT_CP, CXI_METHOD_CP_FREE, profile), 0);
}

TEST_F(NativeCommandQueues, RefuseBadRequests) {
  EXPECT_EQ(cmdq({CXI_ABI_CMDQ_TRANSMIT, 64, 0, 0}).error, EINVAL);  // no profile
  EXPECT_EQ(cmdq({0, 64, 0, 0}, {{CXI_ATTR_CP_HANDLE, profile}}).error, EINVAL);
  EXPECT_EQ(cmdq({4, 64, 0, 0}).error, EINVAL);
  EXPECT_EQ(cmdq({0, 64, 4, 0}).error, EINVAL);
  EXPECT_EQ(cmdq({0, 64, 0, 4}).error, EINVAL);
  EXPECT_EQ(cmdq({0, 65537, 0, 0}).error, E2BIG);
  EXPECT_EQ(cmdq({CXI_ABI_CMDQ_TRIGGERED, 64, 0, 0}).error, EINVAL);
  const uint32_t second = cp({10, 0, 3, 0}).handle();
  constexpr uint32_t triggered = CXI_ABI_CMDQ_TRANSMIT | CXI_ABI_CMDQ_TRIGGERED;
  EXPECT_EQ(cmdq({triggered, 64, 0, 0}, {{CXI_ATTR_CP_HANDLE, second}}).error, EINVAL);
  EXPECT_EQ(cmdq({triggered, 64, 0, 0}, {{CXI_ATTR_CP_HANDLE, profile}}).error, 0);
  const uint32_t other = lni().handle();
  EXPECT_EQ(cmdq({CXI_ABI_CMDQ_TRANSMIT, 64, 0, 0},
                 {{CXI_ATTR_CP_HANDLE, profile}, {CXI_ATTR_LNI_HANDLE, other}})
                .error,
            EINVAL);
  EXPECT_EQ(cmdq({0, 64, 0, 0}, {{CXI_ATTR_EQ_HANDLE, eq().handle()}, {CXI_ATTR_LNI_HANDLE, other}})
                .error,
            EINVAL);
}

}  // namespace
}  // namespace sim::uverbs::test
