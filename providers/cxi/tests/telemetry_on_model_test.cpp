// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Telemetry through the standard counters object, in front of the software NIC.
#include <ethernet/cassini_cntr_defs.h>

#include <vector>

#include "rma_on_model.hpp"

namespace on_model {
namespace {

using CountersPtr = Owned<ibv_counters, ibv_destroy_counters>;

class Telemetry : public Rma {
 protected:
  CountersPtr create() {
    ibv_counters_init_attr attr = {};
    return CountersPtr(made(ibv_create_counters(context.get(), &attr), "counters"));
  }
  static int read(const CountersPtr& counters, const std::vector<std::uint32_t>& items,
                  std::vector<ibv_counter_result>& results) {
    results.assign(items.size(), {});
    ibv_read_counters_attr attr = {};
    attr.num_items = static_cast<std::uint32_t>(items.size());
    attr.result_size = sizeof(ibv_counter_result);
    attr.items = items.data();
    attr.results = results.data();
    return ibv_read_counters_ex(counters.get(), &attr);
  }
};

TEST_F(Telemetry, CountsWhatAProgramDoes) {
  const CountersPtr counters = create();
  const std::vector<std::uint32_t> items = {C_TELEM_CQ_NUM_TGT_CMDS_0, C_TELEM_LPE_APPEND_CMDS_0};
  std::vector<ibv_counter_result> before, after;
  ASSERT_EQ(read(counters, items, before), 0);
  // A receive is an append command of the target queue.
  ASSERT_EQ(receive(target, 1, 0, 64), 0);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  do {
    ASSERT_EQ(read(counters, items, after), 0);
  } while (after[1].value == before[1].value && std::chrono::steady_clock::now() < give_up);
  for (std::size_t i = 0; i < items.size(); i++) {
    EXPECT_EQ(after[i].status, 0u);
    EXPECT_EQ(after[i].item, items[i]);
    EXPECT_GT(after[i].value, before[i].value);
    EXPECT_GE(after[i].timestamp_ns, before[i].timestamp_ns);
  }
}

TEST_F(Telemetry, HasAStatusForEachItem) {
  const CountersPtr counters = create();
  std::vector<ibv_counter_result> results;
  ASSERT_EQ(read(counters, {0, C_TELEM_HNI_TX_OK_OPT, 1u << 20}, results), 0);
  EXPECT_EQ(results[0].status, std::uint32_t{EINVAL});
  EXPECT_EQ(results[1].status, 0u);
  EXPECT_EQ(results[2].status, std::uint32_t{EINVAL});
}

TEST_F(Telemetry, HasNoCountersOfFlows) {
  const CountersPtr counters = create();
  std::uint64_t value = 0;
  EXPECT_EQ(ibv_read_counters(counters.get(), &value, 1, 0), EOPNOTSUPP);
}

}  // namespace
}  // namespace on_model
