// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What comes late, or for a message that is over: entries of the packet tracker are used again, and
// nothing may be taken for something else.
#include "nic/packets.hpp"
#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

// A NIC that answers when it is told to.
class SlowNic : public fabric::Endpoint {
 public:
  SlowNic(fabric::Fabric& fabric, uint32_t nid) : fabric_(fabric), nid_(nid) {
    EXPECT_EQ(fabric.attach(nid, *this), 0);
  }
  ~SlowNic() override { fabric_.detach(nid_); }
  void deliver(fabric::Packet&& packet) override { packets.push_back(std::move(packet)); }
  void answer(const fabric::Packet& packet) {
    const auto request = decode_request(packet.header);
    ASSERT_TRUE(request);
    Response response;
    response.opcode = request->opcode;
    response.return_code = C_RC_OK;
    response.vni = request->vni;
    response.spt = request->spt;
    response.seq = packet.use;
    response.source_nid = nid_;
    response.destination_nid = packet.source_nid;
    fabric::Packet out;
    encode(response, out.header);
    out.source_nid = nid_;
    out.destination_nid = packet.source_nid;
    EXPECT_TRUE(fabric_.send(std::move(out)));
  }
  std::vector<fabric::Packet> packets;

 private:
  fabric::Fabric& fabric_;
  uint32_t nid_;
};

class LateAnswers : public TwoNics {
 protected:
  static constexpr unsigned index = 3;
  static constexpr uint64_t give_up = 1'000'000'000;
  void SetUp() override {
    for (int i = 0; i < 8; i++) {
      queues.emplace_back(256, false);
      a.add_cmdq(queues.back(), true);
    }
  }
  c_full_dma_cmd restricted_put(uint32_t length) {
    auto put = a.put(dfa(9, 5, index), index, 0, length);
    put.restricted = 1;
    return put;
  }
  // As many messages as the group may have trackers.
  std::vector<fabric::Packet> use_all_trackers(unsigned but = 0) {
    const auto put = restricted_put(0);
    for (unsigned i = 0; i < 1024 - but; i++)
      queues[i % 8].push(put);
    for (auto& queue : queues)
      go(queue);
    run();
    return std::exchange(slow.packets, {});
  }
  void give_everything_up() {
    clock.mono += give_up + 2'000'000;
    run();
  }
  unsigned events(unsigned code) {
    unsigned found = 0;
    while (a.init_eq.next())
      found += a.init_eq.last_code == code;
    a.init_eq.ack();
    return found;
  }
  SlowNic slow{*fabric, 9};
  std::vector<CommandWriter> queues;
};

TEST_F(LateAnswers, OfRestrictedMessagesAreNotTakenForThoseOfLaterOnes) {
  const auto first = use_all_trackers();
  ASSERT_EQ(first.size(), 1024u);
  give_everything_up();
  EXPECT_EQ(events(C_RC_UNDELIVERABLE), 1024u);
  use_all_trackers();
  give_everything_up();
  EXPECT_EQ(events(C_RC_UNDELIVERABLE), 1024u);
  // By now the first entries are used again.
  const auto third = use_all_trackers();
  ASSERT_EQ(third.size(), 1024u);
  EXPECT_EQ(decode_request(third[0].header)->spt, decode_request(first[0].header)->spt);
  for (const auto& packet : first)
    slow.answer(packet);
  run();
  EXPECT_FALSE(a.init_eq.next());
  for (const auto& packet : third)
    slow.answer(packet);
  run();
  EXPECT_EQ(events(C_RC_OK), 1024u);
}

TEST_F(LateAnswers, ATransferThatIsGivenUpSendsNoFurtherParts) {
  use_all_trackers(1);
  a.tx.push(restricted_put(8192));  // takes the last tracker, none is left for its parts
  go(a.tx);
  run();
  EXPECT_TRUE(slow.packets.empty());
  give_everything_up();
  EXPECT_EQ(events(C_RC_UNDELIVERABLE), 1024u);
  run();
  EXPECT_TRUE(slow.packets.empty());
  // Its tracker serves others, undisturbed.
  const auto next = use_all_trackers();
  for (const auto& packet : next)
    slow.answer(packet);
  run();
  EXPECT_EQ(events(C_RC_OK), 1024u);
}

TEST_F(LateAnswers, AMessageWhosePeerWasAwayIsMarkedAsRetried) {
  fabric->set_link(9, false);
  a.tx.push(restricted_put(8));
  go(a.tx);
  run();
  fabric->set_link(9, true);
  clock.mono += 2'000'000;
  run();
  ASSERT_EQ(slow.packets.size(), 1u);
  slow.answer(slow.packets[0]);
  run();
  const auto event = a.init_eq.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->init_short.return_code, C_RC_OK);
  EXPECT_TRUE(event->init_short.retry);
  a.tx.push(restricted_put(8));
  go(a.tx);
  run();
  slow.answer(slow.packets[1]);
  run();
  EXPECT_FALSE(a.init_eq.next()->init_short.retry);
}

}  // namespace
}  // namespace sim::nic::testing
