// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The kernel on the real NIC engine: what it sets up carries messages, and what it takes back
// stops.
#include <sys/mman.h>

#include "kernel_fixture.hpp"
#include "nic/tests/driver.hpp"

namespace sim::uverbs::test {
namespace {

using nic::testing::CommandWriter;
using nic::testing::EventReader;

constexpr uint64_t receive_va = buffer_va + 0x10000;

// A mapping as the program has it.
nic::SharedPages map_cookie(OpenFile& file, uint64_t cookie, uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(),
                      static_cast<off_t>(cookie));
  EXPECT_NE(memory, MAP_FAILED);
  std::shared_ptr<void> owner(memory, [bytes](void* p) { munmap(p, bytes); });
  return {owner, {static_cast<std::byte*>(memory), bytes}};
}

class Program {  // one context with one queue pair
 public:
  std::shared_ptr<OpenFile> file;
  uint32_t pd = 0, job = 0, jkey = 0;
  EventReader send{4}, recv{4};
  CommandWriter tx{64, false}, target{64, false};
  uint32_t qp = 0;
  cxi_abi_create_qp_resp resp{};
  cxi_abi_eq_info recv_eq{};
};

class OnTheEngine : public KernelTest {
 protected:
  explicit OnTheEngine(KernelConfig config = two_nics()) : KernelTest(config, &Kernel::make) {
    kernel->release(*file);
  }
  static KernelConfig two_nics() {
    KernelConfig config;
    config.nics = 2;
    return config;
  }
  EventReader map_queue(Program& p, const cxi_abi_eq_info& eq) {
    EventReader reader(4);
    reader.ring = map_cookie(*p.file, eq.ring_cookie, eq.ring_bytes);
    reader.sw_state = map_cookie(*p.file, eq.sw_state_cookie, 4096);
    reader.eqn = eq.eqn;
    return reader;
  }
  CommandWriter map_commands(Program& p, const cxi_abi_cmdq_info& info) {
    CommandWriter writer(64, false);
    writer.ring = map_cookie(*p.file, info.ring_cookie, uint64_t{info.slots} * 64);
    writer.launch = map_cookie(*p.file, info.launch_cookie, 4096);
    writer.index = info.index;
    return writer;
  }
  Program start(unsigned nic, int channel_of_recv = 0) {
    Program p;
    p.file = open(nic);
    file = p.file;
    EXPECT_EQ(get_context(*file), 0);
    async = async_fd();
    if (channel_of_recv) channel = comp_channel();
    p.pd = alloc_pd();
    p.job = alloc_job(1);
    p.jkey = create_jkey(p.pd, p.job);
    auto send_cq = create_cq(), recv_cq = create_cq(16, channel_of_recv ? channel : -1, 0x5e17);
    auto made = finish_qp(qp_call(p.pd, send_cq.handle, recv_cq.handle, p.jkey));
    p.qp = made.handle;
    p.resp = made.resp;
    p.recv_eq = recv_cq.eq;
    p.send = map_queue(p, send_cq.eq);
    p.recv = map_queue(p, recv_cq.eq);
    p.tx = map_commands(p, made.resp.txq);
    p.target = map_commands(p, made.resp.tgq);
    return p;
  }
  void run() {
    for (int i = 0; i < 1000 && kernel->step(); ++i)
      clock.now += 1000;
  }
  void post_receive(Program& p, unsigned buffer_id) {
    file = p.file;
    auto mr = mr_call(p.pd, receive_va, 4096);
    ASSERT_EQ(issue(mr), 0);
    auto region = mr.result<cxi_abi_reg_mr_resp>(UVERBS_ATTR_UHW_OUT);
    auto append = nic::testing::append_cmd(p.resp.recv_pte, C_PTL_LIST_PRIORITY, buffer_id);
    append.lac = region.lac & 7;
    append.start = (receive_va + region.iova_delta) & ((uint64_t{1} << 57) - 1);
    append.length = 4096;
    append.use_once = 1;
    p.target.push(append);
    p.target.ring_doorbell();
    run();
  }
  void send(Program& p, const Program& to, uint32_t nid, std::string_view text) {
    const unsigned index = CXI_ABI_INDEX_RECV + to.resp.ri;
    p.tx.push(nic::testing::cstate(p.send.eqn, index));
    auto message =
        nic::testing::small_message(nic::testing::dfa(nid, to.resp.pid, index), text, 1, 2, 3);
    p.tx.push_bytes(message.command, message.bytes);
    p.tx.ring_doorbell();
    run();
  }
  uint8_t state_of(Program& p) {
    file = p.file;
    ib_uverbs_query_qp cmd{};
    cmd.qp_handle = p.qp;
    auto ioctl = write_command(IB_USER_VERBS_CMD_QUERY_QP, cmd, sizeof(ib_uverbs_query_qp_resp));
    EXPECT_EQ(issue(ioctl), 0);
    return ioctl.result<ib_uverbs_query_qp_resp>(UVERBS_ATTR_CORE_OUT).qp_state;
  }
  int move_to(Program& p, uint8_t state) {
    file = p.file;
    ib_uverbs_modify_qp cmd{};
    cmd.qp_handle = p.qp;
    cmd.attr_mask = 1;
    cmd.qp_state = state;
    return write_status(write_command(IB_USER_VERBS_CMD_MODIFY_QP, cmd, 0));
  }

  int async = -1, channel = -1;
};

TEST_F(OnTheEngine, MessagesArriveAndAreNotified) {
  Program b = start(1, 1), a = start(0);
  post_receive(b, 77);
  b.recv.arm(1);
  send(a, b, 2, "hello, cassini");
  auto event = b.recv.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->hdr.event_type, unsigned{C_EVENT_PUT});
  EXPECT_EQ(event->tgt_long.buffer_id, 77u);
  EXPECT_EQ(b.recv.last_code, unsigned{C_RC_OK});
  std::string text(14, '\0');
  caller.memory()->read(receive_va, std::as_writable_bytes(std::span(text)));
  EXPECT_EQ(text, "hello, cassini");
  auto acknowledged = a.send.next();
  ASSERT_TRUE(acknowledged);
  EXPECT_EQ(a.send.last_code, unsigned{C_RC_OK});
  auto told = records<ib_uverbs_comp_event_desc>(channel);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].cq_handle, 0x5e17u);
}

TEST_F(OnTheEngine, NothingArrivesWithoutAReceive) {
  Program b = start(1), a = start(0);
  send(a, b, 2, "too early");
  ASSERT_TRUE(a.send.next());
  EXPECT_EQ(a.send.last_code, unsigned{C_RC_ENTRY_NOT_FOUND});
  EXPECT_FALSE(b.recv.next());
}

TEST_F(OnTheEngine, AReleasedReceiverIsNotThere) {
  Program b = start(1), a = start(0);
  kernel->release(*b.file);
  send(a, b, 2, "anybody?");
  ASSERT_TRUE(a.send.next());
  EXPECT_NE(a.send.last_code, unsigned{C_RC_OK});
  kernel->release(*a.file);
  EXPECT_FALSE(kernel->step());
}

TEST_F(OnTheEngine, AMalformedCommandIsFatalForItsQueuePair) {
  Program b = start(1), a = start(0);
  const int fd = async;
  uint64_t words[4] = {~0ull, ~0ull, ~0ull, ~0ull};
  a.tx.push_bytes(words, sizeof words);
  a.tx.ring_doorbell();
  run();
  auto events = records<ib_uverbs_async_event_desc>(fd);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event_type, 1u);
  EXPECT_EQ(state_of(a), 6);
  auto failure = a.send.next();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->hdr.event_type, unsigned{C_EVENT_COMMAND_FAILURE});
}

TEST_F(OnTheEngine, AQueuePairThatWasResetWorksAgain) {
  Program b = start(1), a = start(0);
  post_receive(b, 5);
  ASSERT_EQ(move_to(b, 6), 0);
  send(a, b, 2, "to a queue pair in error");
  ASSERT_TRUE(a.send.next());
  EXPECT_EQ(a.send.last_code, unsigned{C_RC_PT_DISABLED});
  ASSERT_EQ(move_to(b, 0), 0);
  ASSERT_EQ(move_to(b, 3), 0);
  b.target.wp32 = C_CQ_FIRST_WR_PTR_32;
  send(a, b, 2, "the old receive has gone");
  ASSERT_TRUE(a.send.next());
  EXPECT_EQ(a.send.last_code, unsigned{C_RC_ENTRY_NOT_FOUND});
  post_receive(b, 6);
  send(a, b, 2, "and the new one is there");
  ASSERT_TRUE(a.send.next());
  EXPECT_EQ(a.send.last_code, unsigned{C_RC_OK});
  auto event = b.recv.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->tgt_long.buffer_id, 6u);
}

TEST_F(OnTheEngine, ASecondRunFindsEverythingFree) {
  for (int i = 0; i < 5; ++i) {
    Program a = start(0);
    EXPECT_EQ(a.resp.pid, 0u);
    EXPECT_EQ(a.resp.ri, 0u);
    kernel->release(*a.file);
  }
}

TEST_F(OnTheEngine, EveryQueuePairOfTheDeviceCanBeMade) {
  file = open(0);
  get_context();
  unsigned made = 0;
  const uint32_t job = alloc_job(1);
  auto send_cq = create_cq(256), recv_cq = create_cq(256);
  for (int error = 0; error == 0;) {
    const uint32_t pd = alloc_pd(), jkey = create_jkey(pd, job);
    for (unsigned ri = 0; ri < CXI_ABI_NUM_RI && error == 0; ++ri) {
      auto req = qp_driver_request();
      req.send_eq_reserve = req.recv_eq_reserve = 1;
      auto ioctl = qp_call(pd, send_cq.handle, recv_cq.handle, jkey, req);
      error = issue(ioctl);
      if (error == 0) ++made;
      EXPECT_TRUE(error == 0 || error == ENOSPC) << error;
    }
  }
  EXPECT_EQ(made, 511u);
}

}  // namespace
}  // namespace sim::uverbs::test
