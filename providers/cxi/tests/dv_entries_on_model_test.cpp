// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs in front of the software NIC: portal entries and counting events.
#include <signal.h>

#include <atomic>
#include <thread>

#include "dv_on_model.hpp"

namespace on_model {
namespace {

class Entries : public Native {
 protected:
  Entries() : eq(make_eq(lni)), queue(make_target_queue(lni, eq.get())), domain(make_domain(lni)) {}
  cxidv_pte_status status(const PtePtr& pte) {
    cxidv_pte_status found = {};
    EXPECT_EQ(cxidv_query_pte(pte.get(), &found, sizeof found), 0);
    return found;
  }
  EqPtr eq;
  CmdqPtr queue;
  DomainPtr domain;
};

TEST_F(Entries, AreDisabledUntilACommandEnablesThem) {
  PtePtr pte = make_pte(lni, eq.get(), CXIDV_PTE_SW_HW_STATE_CHANGE);
  EXPECT_EQ(pte->eq, eq.get());
  EXPECT_EQ(status(pte).state, std::uint32_t{C_PTLTE_DISABLED});
  ASSERT_EQ(set_state(queue, pte, C_PTLTE_ENABLED), 0);
  EXPECT_EQ(next(eq)->tgt_short.ptlte_index, pte->ptn);
  EXPECT_EQ(status(pte).state, std::uint32_t{C_PTLTE_ENABLED});
}

TEST_F(Entries, AreRefusedWithWhatDoesNotFit) {
  cxidv_pte_attr attr = {};
  attr.flags = 1 << 15;
  EXPECT_EQ(error_of(cxidv_create_pte(lni.get(), &attr)), EINVAL);
  attr = {};
  attr.comp_mask = 1;
  EXPECT_EQ(error_of(cxidv_create_pte(lni.get(), &attr)), EINVAL);
  LniPtr other = second_lni();
  attr = {};
  attr.eq = eq.get();
  EXPECT_EQ(error_of(cxidv_create_pte(other.get(), &attr)), EINVAL);
  Context elsewhere(made(open_on("cxi0", 0), "open"));
  LniPtr there(made(cxidv_create_lni(elsewhere.get(), nullptr), "lni"));
  EXPECT_EQ(error_of(cxidv_create_pte(there.get(), &attr)), EINVAL);
  EXPECT_EQ(error_of(cxidv_create_pte(lni.get(), nullptr)), EINVAL);
  EXPECT_EQ(cxidv_destroy_pte(nullptr), EINVAL);
}

TEST_F(Entries, AreMappedAtIndicesThatAreFree) {
  PtePtr pte = make_pte(lni), other = make_pte(lni);
  ASSERT_EQ(cxidv_map_pte(pte.get(), domain.get(), 0, 0), 0);
  ASSERT_EQ(cxidv_map_pte(pte.get(), domain.get(), 255, 0), 0);
  EXPECT_EQ(cxidv_map_pte(other.get(), domain.get(), 255, 0), ENOSPC);
  EXPECT_EQ(cxidv_map_pte(other.get(), domain.get(), 256, 0), EINVAL);
  EXPECT_EQ(cxidv_map_pte(other.get(), domain.get(), 1, 2), EINVAL);
  EXPECT_EQ(cxidv_unmap_pte(other.get(), domain.get(), 255, 0), EINVAL);
  EXPECT_EQ(cxidv_unmap_pte(pte.get(), domain.get(), 1, 0), EINVAL);
  EXPECT_EQ(cxidv_unmap_pte(pte.get(), domain.get(), 255, 0), 0);
  EXPECT_EQ(cxidv_unmap_pte(pte.get(), domain.get(), 255, 0), EINVAL);
  ASSERT_EQ(cxidv_map_pte(other.get(), domain.get(), 255, 0), 0);
  EXPECT_EQ(cxidv_unmap_pte(other.get(), domain.get(), 255, 0), 0);
  EXPECT_EQ(cxidv_unmap_pte(pte.get(), domain.get(), 0, 0), 0);
  EXPECT_EQ(cxidv_map_pte(nullptr, domain.get(), 0, 0), EINVAL);
  EXPECT_EQ(cxidv_map_pte(pte.get(), nullptr, 0, 0), EINVAL);
}

TEST_F(Entries, HaveNoMorePlacesThanTheNicHas) {
  constexpr std::uint32_t places = 2560, in_a_domain = 256;
  PtePtr pte = make_pte(lni, eq.get()), other = make_pte(lni, eq.get());
  std::vector<DomainPtr> domains;
  for (std::uint32_t at = 0; at < places; at += in_a_domain) {
    domains.push_back(make_domain(lni));
    for (std::uint32_t index = 0; index < in_a_domain; index++)
      ASSERT_EQ(cxidv_map_pte(pte.get(), domains.back().get(), index, 0), 0);
  }
  EXPECT_EQ(cxidv_map_pte(other.get(), domain.get(), 7, 0), ENOSPC);
  EXPECT_EQ(cxidv_map_pte(other.get(), domain.get(), 7, CXIDV_MAP_MULTICAST), ENOSPC);
  EXPECT_EQ(cxidv_unmap_pte(other.get(), domain.get(), 7, 0), EINVAL);
  ASSERT_EQ(cxidv_unmap_pte(pte.get(), domains[3].get(), 9, 0), 0);
  EXPECT_EQ(cxidv_map_pte(other.get(), domain.get(), 7, 0), 0);
  EXPECT_EQ(cxidv_map_pte(pte.get(), domains[3].get(), 9, 0), ENOSPC);
  EXPECT_EQ(cxidv_unmap_pte(other.get(), domain.get(), 7, 0), 0);
  EXPECT_EQ(cxidv_map_pte(pte.get(), domains[3].get(), 9, 0), 0);
  for (const DomainPtr& each : domains)
    for (std::uint32_t index = 0; index < in_a_domain; index++)
      ASSERT_EQ(cxidv_unmap_pte(pte.get(), each.get(), index, 0), 0);
}

TEST_F(Entries, AreMappedForMulticastOnce) {
  PtePtr pte = make_pte(lni), other = make_pte(lni);
  ASSERT_EQ(cxidv_map_pte(pte.get(), domain.get(), 77 << 5 | 3, CXIDV_MAP_MULTICAST), 0);
  EXPECT_EQ(cxidv_map_pte(pte.get(), domain.get(), 78 << 5, CXIDV_MAP_MULTICAST), EINVAL);
  EXPECT_EQ(cxidv_map_pte(other.get(), domain.get(), 77 << 5 | 3, CXIDV_MAP_MULTICAST), ENOSPC);
  EXPECT_EQ(cxidv_map_pte(other.get(), domain.get(), 1 << 18, CXIDV_MAP_MULTICAST), EINVAL);
  EXPECT_EQ(cxidv_unmap_pte(pte.get(), domain.get(), 77 << 5 | 3, CXIDV_MAP_MULTICAST), 0);
}

TEST_F(Entries, AreMappedInDomainsOfTheirOwnLogicalNi) {
  LniPtr other = second_lni();
  PtePtr pte = make_pte(other);
  EXPECT_EQ(cxidv_map_pte(pte.get(), domain.get(), 1, 0), EINVAL);
  Context elsewhere(made(open_on("cxi0", 0), "open"));
  LniPtr there(made(cxidv_create_lni(elsewhere.get(), nullptr), "lni"));
  PtePtr far = make_pte(there);
  EXPECT_EQ(cxidv_map_pte(far.get(), domain.get(), 1, 0), EINVAL);
}

TEST_F(Entries, TellOfTheirListEntries) {
  cxidv_pte_attr attr = {};
  attr.le_charge = 7;
  PtePtr pte(made(cxidv_create_pte(lni.get(), &attr), "pte"));
  EXPECT_EQ(status(pte).les_reserved, 7u);
  EXPECT_EQ(status(pte).ule_count, 0u);
  std::uint64_t offsets[4] = {};
  cxidv_pte_status found = {};
  found.max_offsets = 4;
  found.ule_offsets = offsets;
  EXPECT_EQ(cxidv_query_pte(pte.get(), &found, sizeof found), 0);
  EXPECT_EQ(found.max_offsets, 4u);
  EXPECT_EQ(found.ule_offsets, offsets);
  found.max_offsets = UINT32_MAX;  // room without end is no request for memory
  EXPECT_EQ(cxidv_query_pte(pte.get(), &found, sizeof found), 0);
  found.ule_offsets = nullptr;
  EXPECT_EQ(cxidv_query_pte(pte.get(), &found, sizeof found), EINVAL);
  EXPECT_EQ(cxidv_query_pte(pte.get(), &found, sizeof found - 8), EINVAL);
  EXPECT_EQ(cxidv_query_pte(pte.get(), nullptr, sizeof found), EINVAL);
  EXPECT_EQ(cxidv_query_pte(nullptr, &found, sizeof found), EINVAL);
}

TEST_F(Entries, BecomeSoftwareManagedWhenTheyAreDisabled) {
  PtePtr pte = make_pte(lni, eq.get(), CXIDV_PTE_SW_HW_STATE_CHANGE);
  EXPECT_EQ(cxidv_transition_pte(pte.get(), 5), EAGAIN);
  EXPECT_EQ(status(pte).state, std::uint32_t{C_PTLTE_DISABLED});
  EXPECT_EQ(cxidv_transition_pte(pte.get(), 0), 0);
  EXPECT_EQ(status(pte).state, std::uint32_t{C_PTLTE_SOFTWARE_MANAGED});
  ASSERT_EQ(set_state(queue, pte, C_PTLTE_ENABLED), 0);
  while (status(pte).state != C_PTLTE_ENABLED)
    std::this_thread::yield();
  EXPECT_EQ(cxidv_transition_pte(pte.get(), 0), EINVAL);
  EXPECT_EQ(cxidv_transition_pte(nullptr, 0), EINVAL);
}

TEST_F(Entries, CutOffWhoUsesAnUnlinkedListEntry) {
  PtePtr pte = make_pte(lni, eq.get());
  EXPECT_EQ(cxidv_invalidate_le(pte.get(), C_PTL_LIST_PRIORITY, 9), 0);
  EXPECT_EQ(cxidv_invalidate_le(pte.get(), 3, 9), EINVAL);
  EXPECT_EQ(cxidv_invalidate_le(nullptr, 0, 9), EINVAL);
}

class Counting : public Native {
 protected:
  CtPtr make_ct(c_ct_writeback* writeback = nullptr) {
    return CtPtr(made(cxidv_create_ct(lni.get(), writeback), "ct"));
  }
  void expect_values(const CtPtr& ct, std::uint64_t success, std::uint64_t failure) {
    std::uint64_t s = ~0ull, f = ~0ull;
    EXPECT_EQ(cxidv_read_ct(ct.get(), &s, &f), 0);
    EXPECT_EQ(s, success);
    EXPECT_EQ(f, failure);
  }
};

TEST_F(Counting, IsSetAddedToAndRead) {
  CtPtr ct = make_ct();
  expect_values(ct, 0, 0);
  EXPECT_EQ(cxidv_set_ct(ct.get(), 40, 1), 0);
  EXPECT_EQ(cxidv_inc_ct(ct.get(), 2, 2), 0);
  expect_values(ct, 42, 3);
  EXPECT_EQ(cxidv_read_ct(ct.get(), nullptr, nullptr), 0);
  EXPECT_EQ(cxidv_set_ct(ct.get(), (1ull << 48) - 1, 127), 0);
  expect_values(ct, (1ull << 48) - 1, 127);
}

TEST_F(Counting, RefusesWhatDoesNotFit) {
  CtPtr ct = make_ct();
  EXPECT_EQ(cxidv_set_ct(ct.get(), 1ull << 48, 0), EINVAL);
  EXPECT_EQ(cxidv_set_ct(ct.get(), 0, 128), EINVAL);
  EXPECT_EQ(cxidv_inc_ct(ct.get(), 1ull << 48, 0), EINVAL);
  EXPECT_EQ(cxidv_inc_ct(ct.get(), 0, 128), EINVAL);
  EXPECT_EQ(cxidv_wait_ct(ct.get(), 1ull << 48, 0, nullptr, nullptr), EINVAL);
  expect_values(ct, 0, 0);
  alignas(8) char memory[16];
  EXPECT_EQ(error_of(cxidv_create_ct(lni.get(), reinterpret_cast<c_ct_writeback*>(memory + 4))),
            EINVAL);
  EXPECT_EQ(error_of(cxidv_create_ct(lni.get(), reinterpret_cast<c_ct_writeback*>(64))), EFAULT);
  auto* last_word = reinterpret_cast<c_ct_writeback*>(~std::uintptr_t{7});
  EXPECT_EQ(error_of(cxidv_create_ct(lni.get(), last_word)), EFAULT);
  EXPECT_EQ(error_of(cxidv_create_ct(nullptr, nullptr)), EINVAL);
  EXPECT_EQ(cxidv_set_ct(nullptr, 0, 0), EINVAL);
  EXPECT_EQ(cxidv_inc_ct(nullptr, 0, 0), EINVAL);
  EXPECT_EQ(cxidv_read_ct(nullptr, nullptr, nullptr), EINVAL);
  EXPECT_EQ(cxidv_wait_ct(nullptr, 0, 0, nullptr, nullptr), EINVAL);
  EXPECT_EQ(cxidv_destroy_ct(nullptr), EINVAL);
}

TEST_F(Counting, WritesItsValueWhenItIsTold) {
  alignas(8) c_ct_writeback writeback = {};
  CtPtr ct = make_ct(&writeback);
  EXPECT_EQ(ct->writeback, &writeback);
  cxidv_cp_attr attr = {};
  attr.vni = first_vni;
  attr.traffic_class = CXIDV_TC_BEST_EFFORT;
  attr.flags = CXIDV_CP_TRIGGERED;
  CpPtr cp(made(cxidv_alloc_cp(lni.get(), &attr), "cp"));
  CmdqPtr queue(made(try_transmit_queue(lni, cp.get(), CXIDV_CMDQ_TRIGGERED), "queue"));
  ASSERT_EQ(cxidv_set_ct(ct.get(), 77, 0), 0);
  ASSERT_EQ(cxidv_emit_ct_get(queue.get(), ct->ct), 0);
  cxidv_cmdq_ring(queue.get());
  std::uint64_t success = 0, failure = 0;
  ASSERT_TRUE(eventually([&] { return cxidv_ct_writeback(ct.get(), &success, &failure); }));
  EXPECT_EQ(success, 77u);
}

TEST_F(Counting, WaitsForAThreshold) {
  CtPtr ct = make_ct();
  std::uint64_t success = 0, failure = 9;
  EXPECT_EQ(cxidv_wait_ct(ct.get(), 0, 0, &success, &failure), 0);
  EXPECT_EQ(failure, 0u);
  EXPECT_EQ(cxidv_wait_ct(ct.get(), 1, 0, &success, &failure), ETIMEDOUT);
  EXPECT_EQ(errno, ETIMEDOUT);
  EXPECT_EQ(cxidv_wait_ct(ct.get(), 1, 3'000'000, &success, &failure), ETIMEDOUT);
  std::thread other([&] {
    for (unsigned i = 0; i < 5; i++)
      EXPECT_EQ(cxidv_inc_ct(ct.get(), 1, 0), 0);
  });
  EXPECT_EQ(cxidv_wait_ct(ct.get(), 5, UINT64_MAX, &success, &failure), 0);
  EXPECT_EQ(success, 5u);
  other.join();
}

TEST_F(Counting, WaitsNoLongerThanUntilAFailure) {
  CtPtr ct = make_ct();
  std::uint64_t success = 9, failure = 0;
  std::thread other([&] { EXPECT_EQ(cxidv_inc_ct(ct.get(), 0, 1), 0); });
  EXPECT_EQ(cxidv_wait_ct(ct.get(), 1000, UINT64_MAX, &success, &failure), 0);
  EXPECT_EQ(success, 0u);
  EXPECT_EQ(failure, 1u);
  other.join();
}

TEST_F(Counting, WaitsNoLongerThanUntilASignal) {
  struct sigaction action = {}, before;
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &before);
  CtPtr ct = make_ct();
  const pthread_t waiting = pthread_self();
  std::atomic<bool> over = false;
  // Whether a signal meets the sleep is chance; there are many.
  std::thread other([&] {
    while (!over) {
      pthread_kill(waiting, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_EQ(cxidv_wait_ct(ct.get(), 1, UINT64_MAX, nullptr, nullptr), EINTR);
  over = true;
  other.join();
  sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace on_model
