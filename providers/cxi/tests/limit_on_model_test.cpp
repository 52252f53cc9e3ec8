// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// How much there is of everything, and that it is given back.
#include <cstdio>

#include "on_model.hpp"

namespace on_model {
namespace {

class Limits : public OnModel {};

TEST_F(Limits, AsManyQueuePairsAsOneDomainHas) {
  std::vector<QpPtr> qps;
  for (unsigned i = 0; i < 48; i++)
    qps.push_back(create_qp({.send_wr = 1, .recv_wr = 1}));
  EXPECT_EQ(try_create_qp(pd.get(), cq.get(), cq.get(), key.get(), {.send_wr = 1, .recv_wr = 1}),
            nullptr);
  EXPECT_EQ(errno, ENOSPC);
  qps.pop_back();
  qps.push_back(create_qp());
}

TEST_F(Limits, QueuesRefuseWhatTheyDoNotHold) {
  QpPtr a = create_qp({.send_wr = 2, .recv_wr = 2});
  QpPtr b = create_qp();
  Ah to_b = address_of(b);
  EXPECT_EQ(receive(a, 1, 0, 8), 0);
  EXPECT_EQ(receive(a, 1, 0, 8), 0);
  EXPECT_EQ(receive(a, 1, 0, 8), ENOMEM);
  EXPECT_EQ(send(a, to_b, 1, 0, 8), 0);
  EXPECT_EQ(send(a, to_b, 1, 0, 8), 0);
  EXPECT_EQ(send(a, to_b, 1, 0, 8), ENOMEM);
  EXPECT_EQ(ibv_destroy_cq(cq.get()), EBUSY);
}

TEST_F(Limits, AQueueWithNextToNoSpareRoomTakesOneMessageAfterAnother) {
  // The reserve for sends fills the pages of the ring nearly to the end.
  CqPtr small = create_cq(1);
  QpOptions many_sends;
  many_sends.send_wr = 53;
  QpPtr a = create_qp();
  QpPtr b = create_qp(many_sends, small.get(), small.get());
  Ah to_b = address_of(b);
  for (std::uint64_t id = 0; id < 50; id++) {
    ASSERT_EQ(receive(b, id, 4096, 64), 0);
    ASSERT_EQ(send(a, to_b, id, 0, 64), 0);
    EXPECT_EQ(wait(small.get(), 1)[0].wr_id, id);
    EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
  }
}

TEST_F(Limits, MakingAndUnmakingLeavesNothing) {
  // Of the device, which are shared: the memory of the program itself may grow.
  const auto mappings = [] {
    std::FILE* file = std::fopen("/proc/self/maps", "r");
    unsigned shared = 0;
    char line[512];
    while (std::fgets(line, sizeof(line), file))
      shared += std::strstr(line, "s ") == std::strchr(line, ' ') + 4;
    std::fclose(file);
    return shared;
  };
  { QpPtr warm = create_qp(); }
  const unsigned before = mappings();
  EXPECT_GT(before, 0u);
  for (unsigned i = 0; i < 50; i++) {
    CqPtr other = create_cq();
    QpPtr a = create_qp({}, other.get(), other.get());
  }
  EXPECT_EQ(mappings(), before);
}

}  // namespace
}  // namespace on_model
