// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "kernel_fixture.hpp"

namespace sim::uverbs::test {
namespace {

class Cqs : public ContextTest {
 protected:
  int create(uint32_t cqe, cxi_abi_create_cq_req req) {
    auto ioctl = cq_call(cqe);
    std::erase_if(ioctl.attrs, [](auto& a) { return a.attr_id == UVERBS_ATTR_UHW_IN; });
    ioctl.in(UVERBS_ATTR_UHW_IN, req);
    return issue(ioctl);
  }
};

TEST_F(Cqs, AreEventQueues) {
  auto cq = create_cq(16);
  const nic::EqConfig& eq = device().eq_configs.at(cq.eq.eqn);
  EXPECT_EQ(cq.eq.reserve, 96u);
  EXPECT_EQ(eq.reserved_slots, 96u);
  EXPECT_EQ(eq.ring.bytes.size(), cq.eq.ring_bytes);
  EXPECT_NE(cq.eq.ring_cookie, cq.eq.sw_state_cookie);
  EXPECT_EQ(cq.eq.ring_cookie % 4096, 0u);
  EXPECT_EQ(cq.eq.sw_state_cookie % 4096, 0u);
}

TEST_F(Cqs, HaveRoomForTwiceTheirReserve) {
  EXPECT_GE(create_cq(16).eq.ring_bytes / 64, 2u + 2 * 96 + 16);
  auto largest = create_cq(65536);
  EXPECT_EQ(largest.eq.reserve, 16383u);
  EXPECT_GE(largest.eq.ring_bytes / 64, 2u + 16383 + 65536);
}

TEST_F(Cqs, ReturnTheSizeAsAsked) {
  auto ioctl = cq_call(17);
  ASSERT_EQ(issue(ioctl), 0);
  EXPECT_EQ(ioctl.result<uint32_t>(UVERBS_ATTR_CREATE_CQ_RESP_CQE), 17u);
}

TEST_F(Cqs, PassTheirFlagsOn) {
  ASSERT_EQ(create(8, cq_driver_request(CXI_ABI_EQ_INIT_LONG | CXI_ABI_EQ_TGT_LONG)), 0);
  const nic::EqConfig& eq = device().eq_configs.begin()->second;
  EXPECT_TRUE(eq.initiator_long);
  EXPECT_TRUE(eq.target_long);
  EXPECT_FALSE(eq.combining_disable);
}

TEST_F(Cqs, RefuseBadSizesAndFlags) {
  EXPECT_EQ(create(0, cq_driver_request(0)), EINVAL);
  EXPECT_EQ(create(65537, cq_driver_request(0)), EINVAL);
  EXPECT_EQ(create(16, cq_driver_request(1)), EINVAL);
  EXPECT_EQ(create(16, cq_driver_request(1 << 7)), EINVAL);
  EXPECT_TRUE(device().eqs.empty());
}

TEST_F(Cqs, NeedTheirDriverData) {
  auto ioctl = cq_call();
  std::erase_if(ioctl.attrs, [](auto& a) { return a.attr_id == UVERBS_ATTR_UHW_IN; });
  EXPECT_EQ(issue(ioctl), EINVAL);
}

TEST_F(Cqs, RefuseOtherVectorsFlagsAndMemory) {
  auto vector = cq_call();
  for (auto& a : vector.attrs) {
    if (a.attr_id == UVERBS_ATTR_CREATE_CQ_COMP_VECTOR) a.data = 1;
  }
  EXPECT_EQ(issue(vector), EINVAL);
  auto flags = cq_call().u32(UVERBS_ATTR_CREATE_CQ_FLAGS, 4);
  EXPECT_EQ(issue(flags), EINVAL);
  auto memory = cq_call().in(UVERBS_ATTR_CREATE_CQ_BUFFER_VA, uint64_t{0});
  EXPECT_EQ(issue(memory), EOPNOTSUPP);
}

TEST_F(Cqs, CannotBeBuiltOnWhatIsNoEventQueue) {
  const uint32_t pd = alloc_pd();
  EXPECT_EQ(create(16, cq_driver_request(0, 77)), ENOENT);
  EXPECT_EQ(create(16, cq_driver_request(0, pd)), ENOENT);
  auto cq = create_cq();
  EXPECT_EQ(create(16, cq_driver_request(0, cq.eq.handle)), EBUSY);  // it belongs to another CQ
}

TEST_F(Cqs, RunOutOfEventQueues) {
  for (int i = 0; i < 2047; ++i) {
    auto ioctl = cq_call(1);
    ASSERT_EQ(issue(ioctl), 0) << i;
  }
  auto ioctl = cq_call(1);
  EXPECT_EQ(issue(ioctl), ENOSPC);
}

TEST_F(Cqs, GiveEverythingBack) {
  auto cq = create_cq();
  EXPECT_EQ(destroy_cq(cq.handle), 0);
  EXPECT_TRUE(device().eqs.empty());
  EXPECT_EQ(destroy_cq(cq.handle), ENOENT);
}

class Resizing : public Cqs {
 protected:
  Ioctl resize_call(uint32_t handle, uint32_t cqe) {
    return write_command(IB_USER_VERBS_CMD_RESIZE_CQ, ib_uverbs_resize_cq{0, handle, cqe, {}},
                         sizeof(ib_uverbs_resize_cq_resp))
        .out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_resize_cq_resp));
  }
  int resize(uint32_t handle, uint32_t cqe, uint32_t reserve = 0) {
    auto ioctl = resize_call(handle, cqe).in(UVERBS_ATTR_UHW_IN, cxi_abi_resize_cq_req{reserve, 0});
    int error = issue(ioctl);
    if (!error) {
      EXPECT_EQ(ioctl.result<ib_uverbs_resize_cq_resp>(UVERBS_ATTR_CORE_OUT).cqe, cqe);
      now = ioctl.result<cxi_abi_resize_cq_resp>(UVERBS_ATTR_UHW_OUT).eq;
    }
    return error;
  }
  int complete(uint32_t eq) {
    auto ioctl = call(CXI_OBJECT_EQ, CXI_METHOD_EQ_RESIZE);
    ioctl.handle(CXI_ATTR_HANDLE, eq)
        .in(CXI_ATTR_REQ, cxi_abi_eq_req{})
        .out(CXI_ATTR_RESP, sizeof(cxi_abi_eq_info));
    return issue(ioctl);
  }
  size_t slots(const MadeCq& cq) {
    return device().eq_configs.at(cq.eq.eqn).ring.bytes.size() / 64;
  }

  cxi_abi_eq_info now{};
};

TEST_F(Resizing, GivesANewRing) {
  auto cq = create_cq(16);
  ASSERT_EQ(resize(cq.handle, 1000), 0);
  EXPECT_EQ(now.handle, cq.eq.handle);
  EXPECT_EQ(now.eqn, cq.eq.eqn);
  EXPECT_EQ(now.reserve, 96u);
  EXPECT_EQ(now.sw_state_cookie, cq.eq.sw_state_cookie);
  EXPECT_NE(now.ring_cookie, cq.eq.ring_cookie);
  EXPECT_EQ(now.ring_bytes, (2u + 96 + 1000 + 63) / 64 * 4096);
  EXPECT_EQ(slots(cq), now.ring_bytes / 64);
}

TEST_F(Resizing, DoesNotBeginWhenItCannotBeAnswered) {
  auto cq = create_cq(16);
  for (const uint16_t answer : {uint16_t{UVERBS_ATTR_CORE_OUT}, uint16_t{UVERBS_ATTR_UHW_OUT}}) {
    auto ioctl = resize_call(cq.handle, 1000);
    ioctl.place();
    caller.unwritable = ioctl.answered(answer).data;
    EXPECT_EQ(issue(ioctl), EFAULT);
    caller.unwritable = 0;
  }
  EXPECT_EQ(resize(cq.handle, 1000), 0);  // no switch is under way
}

TEST_F(Resizing, MakesRoomForAReserve) {
  auto cq = create_cq(16);
  ASSERT_EQ(resize(cq.handle, 16, 16383), 0);
  EXPECT_GE(slots(cq), 2u + 16383 + 16);
  EXPECT_EQ(now.reserve, 96u);
}

TEST_F(Resizing, EndsWhenTheProgramLetsGoOfTheOldRing) {
  auto cq = create_cq(16);
  EXPECT_EQ(complete(cq.eq.handle), EINVAL);
  ASSERT_EQ(resize(cq.handle, 32), 0);
  EXPECT_EQ(resize(cq.handle, 64), EINVAL);
  EXPECT_EQ(complete(cq.eq.handle), 0);
  EXPECT_EQ(complete(cq.eq.handle), EINVAL);
  EXPECT_EQ(resize(cq.handle, 8), 0);
  EXPECT_EQ(destroy_cq(cq.handle), 0);
  EXPECT_TRUE(device().eqs.empty());
}

TEST_F(Resizing, NeedsNoDriverData) {
  auto cq = create_cq(16);
  auto ioctl = resize_call(cq.handle, 32);
  EXPECT_EQ(issue(ioctl), 0);
}

TEST_F(Resizing, RefusesWhatCannotBe) {
  auto cq = create_cq(16);
  const size_t before = slots(cq);
  EXPECT_EQ(resize(cq.handle, 0), EINVAL);
  EXPECT_EQ(resize(cq.handle, 65537), EINVAL);
  EXPECT_EQ(resize(cq.handle, 16, 16384), EINVAL);
  EXPECT_EQ(resize(77, 16), ENOENT);
  EXPECT_EQ(resize(alloc_pd(), 16), EINVAL);
  device().refuse = "begin_eq_resize";
  EXPECT_EQ(resize(cq.handle, 32), EINVAL);
  device().refuse.clear();
  EXPECT_EQ(slots(cq), before);
  EXPECT_EQ(resize(cq.handle, 32), 0);
}

class Notification : public Cqs {
 protected:
  int channel = comp_channel();
  MadeCq cq = create_cq(16, channel, 0xabc);
  std::vector<uint64_t> read_records(int fd) {
    std::vector<uint64_t> handles;
    for (auto& r : records<ib_uverbs_comp_event_desc>(fd))
      handles.push_back(r.cq_handle);
    return handles;
  }
  std::vector<uint64_t> told() { return read_records(channel); }
  int notify_at(uint32_t handle, uint64_t ns) {
    auto ioctl = call(CXI_OBJECT_EQ, CXI_METHOD_EQ_NOTIFY_AT);
    ioctl.handle(CXI_ATTR_EQ_NOTIFY_AT_HANDLE, handle).in(CXI_ATTR_EQ_NOTIFY_AT_NS, ns);
    return issue(ioctl);
  }
};

TEST_F(Notification, CarriesTheUserHandle) {
  arm(cq.eq, 1);
  event(cq.eq);
  EXPECT_EQ(told(), std::vector<uint64_t>{0xabc});
}

TEST_F(Notification, IsSilentUntilTheProgramArms) {
  event(cq.eq);
  EXPECT_TRUE(told().empty());
}

TEST_F(Notification, ComesOncePerArmedValue) {
  arm(cq.eq, 1);
  event(cq.eq);
  event(cq.eq);
  EXPECT_EQ(told().size(), 1u);
  event(cq.eq);
  EXPECT_TRUE(told().empty());
  arm(cq.eq, 2);
  event(cq.eq);
  EXPECT_EQ(told().size(), 1u);
}

TEST_F(Notification, ComesForTheFirstValueWhateverItIs) {
  arm(cq.eq, 0);
  event(cq.eq);
  EXPECT_EQ(told().size(), 1u);
}

class Moderation : public Notification {
 protected:
  int modify(uint16_t count, uint16_t period_us, uint32_t mask = 1) {
    ib_uverbs_ex_modify_cq cmd{};
    cmd.cq_handle = cq.handle;
    cmd.attr_mask = mask;
    cmd.attr = {count, period_us};
    return write_status(write_command(
        uint64_t{IB_USER_VERBS_CMD_FLAG_EXTENDED} | IB_USER_VERBS_EX_CMD_MODIFY_CQ, cmd, 0));
  }
  // An event that the NIC writes, as against one that the driver has it raise.
  void written(unsigned value) {
    device().interrupts.event_written(cq.eq.eqn, static_cast<uint8_t>(value));
    kernel->step();
  }
};

TEST_F(Moderation, WaitsForSoManyEvents) {
  ASSERT_EQ(modify(3, 1000), 0);
  EXPECT_TRUE(device().every_event[cq.eq.eqn]);
  written(1);
  written(1);
  EXPECT_TRUE(told().empty());
  written(1);
  EXPECT_EQ(told(), std::vector<uint64_t>{0xabc});
  written(1);  // told already
  EXPECT_TRUE(told().empty());
  written(2);
  written(2);
  EXPECT_TRUE(told().empty());
  written(2);
  EXPECT_EQ(told().size(), 1u);
}

TEST_F(Moderation, WaitsNoLongerThanItsPeriod) {
  ASSERT_EQ(modify(100, 50), 0);
  written(1);
  EXPECT_EQ(kernel->next_due_ns(), clock.now + 50'000);
  clock.now += 30'000;
  written(1);
  clock.now += 19'999;
  kernel->step();
  EXPECT_TRUE(told().empty());
  clock.now += 1;
  kernel->step();
  EXPECT_EQ(told().size(), 1u);
  EXPECT_FALSE(kernel->next_due_ns());
}

TEST_F(Moderation, HoldsNothingBackThatTheDriverRaises) {
  ASSERT_EQ(modify(100, 1000), 0);
  arm(cq.eq, 1);
  ASSERT_EQ(notify_at(cq.eq.handle, clock.now), 0);
  kernel->step();
  EXPECT_EQ(told().size(), 1u);
}

TEST_F(Moderation, EndsAndReleasesWhatIsHeld) {
  ASSERT_EQ(modify(100, 1000), 0);
  written(1);
  EXPECT_TRUE(told().empty());
  ASSERT_EQ(modify(0, 0), 0);
  EXPECT_EQ(told().size(), 1u);
  EXPECT_FALSE(device().every_event[cq.eq.eqn]);
  for (auto [count, period] : {std::pair<uint16_t, uint16_t>{0, 100}, {1, 100}, {100, 0}}) {
    ASSERT_EQ(modify(count, period), 0);
    static unsigned value = 2;
    written(value++);
    EXPECT_EQ(told().size(), 1u) << count << ' ' << period;
  }
}

TEST_F(Moderation, ChecksWhatItIsAskedFor) {
  EXPECT_EQ(modify(1, 1, 0), EINVAL);
  EXPECT_EQ(modify(1, 1, 2), EOPNOTSUPP);
  cq.handle = 77;
  EXPECT_EQ(modify(1, 1), ENOENT);
}

TEST_F(Moderation, GoesWithTheQueue) {
  ASSERT_EQ(modify(100, 50), 0);
  written(1);
  EXPECT_EQ(destroy_cq(cq.handle), 0);
  clock.now += 100'000;
  kernel->step();
  EXPECT_TRUE(told().empty());
}

TEST_F(Notification, OfAnotherQueueOnTheSameChannel) {
  auto other = create_cq(16, channel, 0xdef);
  arm(other.eq, 1);
  event(other.eq);
  EXPECT_EQ(told(), std::vector<uint64_t>{0xdef});
}

TEST_F(Notification, LosesNothingWhenTheChannelIsFull) {
  unsigned value = 0;
  auto ring = [&] {
    arm(cq.eq, ++value & 15);
    event(cq.eq);
  };
  const unsigned capacity = 65536 / 8;
  for (unsigned i = 0; i < capacity + 5; ++i)
    ring();
  EXPECT_TRUE(kernel->next_due_ns().has_value());
  size_t count = told().size();
  kernel->step();
  count += told().size();
  EXPECT_EQ(count, capacity + 5);
  EXPECT_FALSE(kernel->next_due_ns().has_value());
}

TEST_F(Notification, SurvivesAReaderThatCloses) {
  caller.close_fd(channel);
  arm(cq.eq, 1);
  event(cq.eq);
  ib_uverbs_destroy_cq_resp resp;
  EXPECT_EQ(destroy_cq(cq.handle, &resp), 0);
  EXPECT_EQ(resp.comp_events_reported, 0u);
}

TEST_F(Notification, IsCountedUntilTheProgramHasRead) {
  arm(cq.eq, 1);
  event(cq.eq);
  EXPECT_EQ(told().size(), 1u);
  arm(cq.eq, 2);
  event(cq.eq);  // stays in the channel, and goes with the CQ
  auto other = create_cq(16, channel, 0xdef);
  arm(other.eq, 1);
  event(other.eq);
  ib_uverbs_destroy_cq_resp resp;
  ASSERT_EQ(destroy_cq(cq.handle, &resp), 0);
  EXPECT_EQ(resp.comp_events_reported, 1u);
  EXPECT_EQ(resp.async_events_reported, 0u);
  EXPECT_EQ(told(), std::vector<uint64_t>{0xdef});
}

TEST_F(Notification, CanBeAskedForAtATime) {
  ASSERT_EQ(notify_at(cq.eq.handle, 5000), 0);
  EXPECT_EQ(kernel->next_due_ns(), 5000u);
  arm(cq.eq, 1);
  clock.now = 4999;
  kernel->step();
  EXPECT_TRUE(told().empty());
  clock.now = 5000;
  EXPECT_TRUE(kernel->step());
  EXPECT_EQ(told().size(), 1u);
  EXPECT_EQ(kernel->next_due_ns(), std::nullopt);
}

TEST_F(Notification, AtATimeCanBeMovedAndCancelled) {
  notify_at(cq.eq.handle, 5000);
  notify_at(cq.eq.handle, 7000);
  EXPECT_EQ(kernel->next_due_ns(), 7000u);
  notify_at(cq.eq.handle, 0);
  EXPECT_EQ(kernel->next_due_ns(), std::nullopt);
}

TEST_F(Notification, AtATimeGoesWithItsQueue) {
  notify_at(cq.eq.handle, 5000);
  destroy_cq(cq.handle);
  EXPECT_EQ(kernel->next_due_ns(), std::nullopt);
}

TEST_F(Notification, AtATimeNeedsAChannelAndAQueue) {
  EXPECT_EQ(notify_at(1234, 5000), ENOENT);
  EXPECT_EQ(notify_at(create_cq().eq.handle, 5000), EINVAL);
}

TEST_F(Notification, NeedsAChannelOfThisContext) {
  auto elsewhere = open();
  get_context(*elsewhere);
  auto ioctl = cq_call(16, channel);
  EXPECT_EQ(issue(*elsewhere, ioctl), EBADF);
}

class Channels : public Cqs {};

TEST_F(Channels, AreClosedOnExecAndBlocking) {
  int fd = comp_channel();
  EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(Channels, ThatCannotBeInstalledAreNotKept) {
  caller.install_error = EMFILE;
  auto ioctl = write_command(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, uint64_t{0}, 4);
  EXPECT_EQ(issue(ioctl), EMFILE);
  EXPECT_TRUE(impl().channels.empty());
  auto async = call(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
  async.fresh(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
  EXPECT_EQ(issue(async), EMFILE);
  EXPECT_TRUE(impl().async_channels.empty());
}

TEST_F(Channels, ThatAreClosedAreForgotten) {
  for (int i = 0; i < 100; ++i)
    caller.close_fd(comp_channel());
  EXPECT_LE(impl().channels.size(), 1u);
}

class AsyncEvents : public Cqs {
 protected:
  int async = async_fd();
};

TEST_F(AsyncEvents, TellOfThePort) {
  kernel->set_link(0, false);
  kernel->set_link(0, false);
  kernel->set_link(0, true);
  auto events = records<ib_uverbs_async_event_desc>(async);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].element, 1u);
  EXPECT_EQ(events[0].event_type, 10u);
  EXPECT_EQ(events[1].event_type, 9u);
}

TEST_F(AsyncEvents, GoToTheNicThatTheyConcern) {
  EXPECT_EQ(kernel->set_link(3, false), ENXIO);
  EXPECT_TRUE(records<ib_uverbs_async_event_desc>(async).empty());
}

TEST_F(AsyncEvents, TellOfAFailedDeviceAndEnd) {
  auto cq = create_cq();
  kernel->fail_device(0);
  auto events = records<ib_uverbs_async_event_desc>(async);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event_type, 8u);
  char byte;
  EXPECT_EQ(read(async, &byte, 1), 0);
  EXPECT_EQ(destroy_cq(cq.handle), EIO);
  EXPECT_TRUE(device().empty());
  int error = 0;
  EXPECT_EQ(kernel->open(0, caller, &error), nullptr);
  EXPECT_EQ(error, EIO);
  EXPECT_EQ(kernel->set_link(0, false), EIO);
  EXPECT_FALSE(kernel->step());
}

}  // namespace
}  // namespace sim::uverbs::test
