// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "qp_fixture.hpp"
#include "uverbs/qp.hpp"

namespace sim::uverbs::test {
namespace {

class States : public QueuePairs {
 protected:
  MadeQp qp = make();
  int modify(uint8_t state, uint32_t mask = qp_attr_state,
             std::function<void(ib_uverbs_modify_qp&)> change = nullptr) {
    ib_uverbs_modify_qp cmd{};
    cmd.qp_handle = qp.handle;
    cmd.attr_mask = mask;
    cmd.qp_state = state;
    if (change) change(cmd);
    return write_status(write_command(IB_USER_VERBS_CMD_MODIFY_QP, cmd, 0));
  }
  ib_uverbs_query_qp_resp query() {
    ib_uverbs_query_qp cmd{};
    cmd.qp_handle = qp.handle;
    auto ioctl = write_command(IB_USER_VERBS_CMD_QUERY_QP, cmd, sizeof(ib_uverbs_query_qp_resp));
    EXPECT_EQ(issue(ioctl), 0);
    return ioctl.result<ib_uverbs_query_qp_resp>(UVERBS_ATTR_CORE_OUT);
  }
  static constexpr uint8_t reset = 0, init = 1, rtr = 2, rts = 3, sqd = 4, error = 6;
};

TEST_F(States, BeginInReadyToSend) {
  auto attr = query();
  EXPECT_EQ(attr.qp_state, rts);
  EXPECT_EQ(attr.cur_qp_state, rts);
  EXPECT_EQ(attr.max_send_wr, 16u);
  EXPECT_EQ(attr.max_inline_data, 64u);
  EXPECT_EQ(attr.path_mtu, 4);
  EXPECT_EQ(attr.rnr_retry, 7);
  EXPECT_EQ(attr.min_rnr_timer, 12);
  EXPECT_EQ(attr.retry_cnt, 7);
  EXPECT_EQ(attr.port_num, 1);
}

TEST_F(States, FollowTheTable) {
  const std::vector<std::tuple<uint8_t, uint8_t, int>> transitions = {
      {rts, init, EOPNOTSUPP},
      {rts, rtr, EOPNOTSUPP},
      {rts, sqd, EOPNOTSUPP},
      {rts, reset, EOPNOTSUPP},
      {rts, rts, 0},
      {rts, error, 0},
      {error, rts, EOPNOTSUPP},
      {error, init, EOPNOTSUPP},
      {error, error, 0},
      {error, reset, 0},
      {reset, init, EOPNOTSUPP},
      {reset, rtr, EOPNOTSUPP},
      {reset, reset, 0},
      {reset, error, 0},
      {error, reset, 0},
      {reset, rts, 0},
  };
  for (auto [from, to, expected] : transitions) {
    ASSERT_EQ(query().qp_state, from);
    EXPECT_EQ(modify(to), expected) << int{from} << " to " << int{to};
    EXPECT_EQ(query().qp_state, expected ? from : to);
  }
}

TEST_F(States, InErrorStopTheQueuePair) {
  device().log.clear();
  ASSERT_EQ(modify(error), 0);
  EXPECT_EQ(device().log, (std::vector<std::string>{"stop " + std::to_string(qp.resp.txq.index),
                                                    "reset " + std::to_string(qp.resp.recv_pte)}));
  EXPECT_EQ(device().states.at(qp.resp.recv_pte), nic::PteState::disabled);
  EXPECT_EQ(device().states.at(qp.resp.mem_pte), nic::PteState::disabled);
  EXPECT_EQ(device().pokes[send.eq.eqn], 1u);
  EXPECT_EQ(device().pokes[recv.eq.eqn], 1u);
}

TEST_F(States, AfterAResetBeginAnew) {
  modify(error);
  modify(reset);
  device().log.clear();
  ASSERT_EQ(modify(rts), 0);
  const std::string tx = std::to_string(qp.resp.txq.index), tg = std::to_string(qp.resp.tgq.index);
  EXPECT_EQ(device().log,
            (std::vector<std::string>{"stop " + tg, "restart " + tx, "restart " + tg}));
  EXPECT_EQ(device().states.at(qp.resp.recv_pte), nic::PteState::enabled);
  EXPECT_EQ(device().states.at(qp.resp.mem_pte), nic::PteState::enabled);
  EXPECT_EQ(device().drop_counts.at(qp.resp.recv_pte), 0xffffffu);
}

TEST_F(States, ChangeWithAttributes) {
  auto with = [&](uint32_t bits, std::function<void(ib_uverbs_modify_qp&)> change) {
    return modify(rts, qp_attr_state | bits, change);
  };
  EXPECT_EQ(with(qp_attr_rnr_retry | qp_attr_min_rnr_timer | qp_attr_retry_cnt,
                 [](auto& a) {
                   a.rnr_retry = 3;
                   a.min_rnr_timer = 20;
                   a.retry_cnt = 2;
                 }),
            0);
  EXPECT_EQ(with(qp_attr_access_flags, [](auto& a) { a.qp_access_flags = 6; }), 0);
  auto attr = query();
  EXPECT_EQ(attr.rnr_retry, 3);
  EXPECT_EQ(attr.min_rnr_timer, 20);
  EXPECT_EQ(attr.retry_cnt, 2);
  EXPECT_EQ(attr.qp_access_flags, 6u);
}

TEST_F(States, RefuseAttributesWithoutAnyChange) {
  EXPECT_EQ(modify(rts, 0), EINVAL);
  EXPECT_EQ(modify(7), EINVAL);
  EXPECT_EQ(modify(rts, qp_attr_state | 1 << 6), EOPNOTSUPP);  // a queue key
  EXPECT_EQ(modify(rts, qp_attr_state | 1 << 25), EOPNOTSUPP);
  EXPECT_EQ(
      modify(error, qp_attr_state | qp_attr_cur_state, [](auto& a) { a.cur_qp_state = error; }),
      EINVAL);
  EXPECT_EQ(modify(error, qp_attr_state | qp_attr_path_mtu, [](auto& a) { a.path_mtu = 3; }),
            EINVAL);
  EXPECT_EQ(modify(error, qp_attr_state | qp_attr_port, [](auto& a) { a.port_num = 2; }), EINVAL);
  EXPECT_EQ(modify(error, qp_attr_state | qp_attr_retry_cnt | qp_attr_rnr_retry,
                   [](auto& a) {
                     a.retry_cnt = 1;
                     a.rnr_retry = 9;
                   }),
            EINVAL);
  EXPECT_EQ(query().qp_state, rts);
  EXPECT_EQ(query().retry_cnt, 7);
}

TEST_F(States, ChangeByTheExtendedCommand) {
  ib_uverbs_ex_modify_qp cmd{};
  cmd.base.qp_handle = qp.handle;
  cmd.base.attr_mask = qp_attr_state;
  cmd.base.qp_state = error;
  constexpr uint64_t command =
      IB_USER_VERBS_CMD_FLAG_EXTENDED | uint64_t{IB_USER_VERBS_EX_CMD_MODIFY_QP};
  auto ioctl = write_command(command, cmd, sizeof(ib_uverbs_ex_modify_qp_resp));
  ASSERT_EQ(issue(ioctl), 0);
  EXPECT_EQ(ioctl.result<ib_uverbs_ex_modify_qp_resp>(UVERBS_ATTR_CORE_OUT).response_length, 8u);
  EXPECT_EQ(query().qp_state, error);
  cmd.base.attr_mask |= 1 << 25;  // a rate limit
  EXPECT_EQ(write_status(write_command(command, cmd, 8)), EOPNOTSUPP);
  cmd.base.attr_mask = 1 << 26;
  EXPECT_EQ(write_status(write_command(command, cmd, 8)), EOPNOTSUPP);
}

TEST_F(States, OfUnknownQueuePairs) {
  qp.handle = 1234;
  EXPECT_EQ(modify(error), ENOENT);
  qp.handle = pd;
  EXPECT_EQ(modify(error), EINVAL);
}

class CommandFailure : public QueuePairs {};

TEST_F(CommandFailure, PutsTheQueuePairIntoErrorAndTells) {
  int fd = async_fd();
  auto qp = make();
  device().interrupts.command_failed(qp.resp.tgq.index, true);
  EXPECT_TRUE(kernel->step());
  EXPECT_EQ(device().states.at(qp.resp.mem_pte), nic::PteState::disabled);
  auto events = records<ib_uverbs_async_event_desc>(fd);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].element, 0xbeefu);
  EXPECT_EQ(events[0].event_type, 1u);
  // A second failure of the same queue pair is no news.
  device().interrupts.command_failed(qp.resp.txq.index, false);
  kernel->step();
  EXPECT_TRUE(records<ib_uverbs_async_event_desc>(fd).empty());
  uint32_t reported = 0;
  ASSERT_EQ(destroy_qp(qp.handle, &reported), 0);
  EXPECT_EQ(reported, 1u);
}

TEST_F(CommandFailure, IsNotReportedWhenItWasNeverRead) {
  int fd = async_fd();
  auto qp = make();
  device().interrupts.command_failed(qp.resp.txq.index, false);
  kernel->step();
  uint32_t reported = 1;
  ASSERT_EQ(destroy_qp(qp.handle, &reported), 0);
  EXPECT_EQ(reported, 0u);
  EXPECT_TRUE(records<ib_uverbs_async_event_desc>(fd).empty());
}

TEST_F(CommandFailure, GoesToTheChannelThatWasChosen) {
  int first = async_fd(), second = async_fd();
  auto qp = finish_qp(right().fd(UVERBS_ATTR_CREATE_QP_EVENT_FD, second));
  device().interrupts.command_failed(qp.resp.txq.index, false);
  kernel->step();
  EXPECT_TRUE(records<ib_uverbs_async_event_desc>(first).empty());
  EXPECT_EQ(records<ib_uverbs_async_event_desc>(second).size(), 1u);
}

TEST_F(CommandFailure, OfAQueueThatIsGoneIsIgnored) {
  auto qp = make();
  destroy_qp(qp.handle);
  device().interrupts.command_failed(qp.resp.txq.index, false);
  EXPECT_TRUE(kernel->step());
  EXPECT_FALSE(kernel->step());
}

}  // namespace
}  // namespace sim::uverbs::test
