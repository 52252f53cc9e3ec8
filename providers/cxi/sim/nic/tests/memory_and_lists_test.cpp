// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Address contexts, addresses, match ids, list matching and the portal table by themselves.
#include <cerrno>

#include "nic/address_context.hpp"
#include "nic/addressing.hpp"
#include "nic/portal_table.hpp"
#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

class Memory : public ::testing::Test {
 protected:
  Made<Mapping> map(unsigned rgid, uint64_t offset, uint64_t len, bool r = true, bool w = true) {
    MemoryRegion region;
    region.va = process->va() + offset;
    region.len = len;
    region.memory = process;
    region.readable = r;
    region.writable = w;
    return unit.map(rgid, std::move(region));
  }
  int read(const Mapping& m, uint64_t at, size_t len, unsigned rgid = 1) {
    std::vector<std::byte> out(len);
    return unit.read(rgid, m.lac, m.iova + at, out);
  }
  int write(const Mapping& m, uint64_t at, size_t len, unsigned rgid = 1) {
    std::vector<std::byte> in(len);
    return unit.write(rgid, m.lac, m.iova + at, in);
  }
  std::shared_ptr<ProcessMemory> process = std::make_shared<ProcessMemory>(0x10000, 1 << 20);
  AddressUnit unit{42};
};

TEST_F(Memory, IoAddressesAreNoVirtualOnesAndNameTheirContext) {
  const auto a = map(1, 0x123, 100), b = map(1, 0x123, 100);
  ASSERT_TRUE(a);
  EXPECT_NE(a.value.iova, process->va() + 0x123);
  EXPECT_NE(a.value.iova, b.value.iova);
  EXPECT_EQ(a.value.iova % 4096, 0x123u);
  EXPECT_EQ(a.value.iova >> 53, a.value.lac);
  EXPECT_LT(a.value.iova, uint64_t{1} << 56);
  const auto pages = make_pages(4096);
  MemoryRegion region;
  region.len = 4096;
  region.pages = pages;
  region.readable = region.writable = true;
  const auto p = unit.map(1, std::move(region));
  EXPECT_NE(p.value.lac, a.value.lac);
}

TEST_F(Memory, BoundsAreThoseOfTheRegion) {
  const auto m = map(1, 0, 100).value;
  EXPECT_EQ(read(m, 0, 100), C_RC_OK);
  EXPECT_EQ(read(m, 99, 1), C_RC_OK);
  EXPECT_EQ(read(m, 99, 2), C_RC_NO_TRANSLATION);
  EXPECT_EQ(read(m, 100, 1), C_RC_NO_TRANSLATION);
  EXPECT_EQ(read(m, uint64_t(-1), 1), C_RC_ADDR_OUT_OF_RANGE) << "before the window";
  EXPECT_EQ(read({0, m.lac, 0x5000}, 0, 1), C_RC_ADDR_OUT_OF_RANGE);
  EXPECT_EQ(read({0, 7, m.iova}, 0, 1), C_RC_INVALID_AC);
  EXPECT_EQ(read({0, 7, 0}, 0, 0), C_RC_OK) << "no bytes, no context";
}

TEST_F(Memory, RightsAreThoseOfTheRegion) {
  const auto ro = map(1, 0, 100, true, false).value, wo = map(1, 0, 100, false, true).value;
  EXPECT_EQ(read(ro, 0, 1), C_RC_OK);
  EXPECT_EQ(write(ro, 0, 1), C_RC_PAGE_PERM_ERROR);
  EXPECT_EQ(read(wo, 0, 1), C_RC_PAGE_PERM_ERROR);
  EXPECT_EQ(write(wo, 0, 1), C_RC_OK);
}

TEST_F(Memory, GroupsDoNotSeeEachOther) {
  const auto m = map(1, 0, 100).value;
  EXPECT_EQ(read(m, 0, 1, 2), C_RC_INVALID_AC);
  ASSERT_TRUE(map(2, 0, 100));
  EXPECT_NE(read(m, 0, 1, 2), C_RC_OK);
}

TEST_F(Memory, UnmappedMemoryIsGone) {
  const auto m = map(1, 0, 100).value, other = map(1, 0, 100).value;
  unit.unmap(1, m.id);
  EXPECT_EQ(read(m, 0, 1), C_RC_NO_TRANSLATION);
  EXPECT_EQ(read(other, 0, 1), C_RC_OK);
}

TEST_F(Memory, MemoryOfAProcessThatIsGoneHasNoTranslation) {
  const auto m = map(1, 0, 100).value;
  process->gone = true;
  EXPECT_EQ(read(m, 0, 1), C_RC_NO_TRANSLATION);
  EXPECT_EQ(write(m, 0, 1), C_RC_NO_TRANSLATION);
}

TEST_F(Memory, ImpossibleRangesAreRefused) {
  EXPECT_EQ(map(1, 0, 0).error, EINVAL);
  EXPECT_EQ(map(1, 0, uint64_t{1} << 52).error, ENOSPC);
  EXPECT_EQ(map(1, uint64_t(-1) - process->va(), 10).error, EOVERFLOW);
}

TEST_F(Memory, AddressesAreUsedAgainWhenAllHaveBeen) {
  constexpr uint64_t quarter = uint64_t{1} << 49;
  const auto kept = map(1, 0, 100).value;
  std::vector<uint64_t> used;
  for (int i = 0; i < 20; i++) {
    const auto m = map(1, 0, quarter);
    ASSERT_TRUE(m) << i;
    EXPECT_EQ(read(m.value, 0, 8), C_RC_OK);
    if (i > 0) {
      EXPECT_NE(m.value.iova, used.back()) << "not at once";
    }
    used.push_back(m.value.iova);
    unit.unmap(1, m.value.id);
    EXPECT_EQ(read(m.value, 0, 8), C_RC_NO_TRANSLATION);
  }
  EXPECT_EQ(read(kept, 0, 100), C_RC_OK);
  // Those that live do not overlap, and the window is finite.
  std::vector<Mapping> live;
  for (auto m = map(1, 0, quarter); m; m = map(1, 0, quarter))
    live.push_back(m.value);
  EXPECT_EQ(live.size(), 3u);
  const auto small = map(1, 0, 4096);
  ASSERT_TRUE(small);
  for (const auto& m : live) {
    EXPECT_EQ(read(m, 0, 8), C_RC_OK);
    EXPECT_TRUE(small.value.iova + 4096 <= m.iova || small.value.iova >= m.iova + quarter);
  }
  EXPECT_EQ(read(small.value, 4090, 8), C_RC_NO_TRANSLATION) << "nothing is right behind it";
  EXPECT_EQ(map(1, 0, uint64_t{1} << 52).error, ENOSPC);
}

TEST(Addressing, FollowsTheFormula) {
  EXPECT_EQ(make_dfa(0x12345, 0x1aa, 0xe5, 9), 0x12345u << 12 | 7u << 9 | 0x1aa);
  EXPECT_EQ(endpoint_of_dfa(make_dfa(1, 0x1aa, 0xe5, 9), 0xe5 & 31), endpoint_of(0x1aa, 0xe5, 9));
  EXPECT_EQ(index_of_dfa(make_dfa(1, 5, 0xe5, 9), 5, 9), 0xe5u);
  EXPECT_EQ(index_of_dfa(make_dfa(1, 5, 0x1e5, 8), 5, 8), 0x1e5u);
  EXPECT_EQ(pid_of_dfa(make_dfa(1, 300, 255, 9), 9), 300u);
  EXPECT_EQ(dfa_kind(0x7fffffff), DfaKind::unicast);
  EXPECT_EQ(dfa_kind(0xff800007), DfaKind::multicast);
  EXPECT_EQ(dfa_kind(0xff800006), DfaKind::invalid);
}

TEST(MatchId, WildcardsArePerField) {
  const uint32_t sender = 5u << 23 | 0x123;
  EXPECT_TRUE(match_id_accepts(0xffffffff, sender, 9, false));
  EXPECT_TRUE(match_id_accepts(sender, sender, 9, false));
  EXPECT_FALSE(match_id_accepts(5u << 23 | 0x124, sender, 9, false));
  EXPECT_FALSE(match_id_accepts(6u << 23 | 0x123, sender, 9, false));
  EXPECT_TRUE(match_id_accepts(511u << 23 | 0x123, sender, 9, false)) << "any PID";
  EXPECT_TRUE(match_id_accepts(5u << 23 | 0xfffff, sender, 9, false)) << "any NID: 20 bits";
  EXPECT_FALSE(match_id_accepts(5u << 23 | 0xfffff, sender, 9, true)) << "a rank has 23";
  EXPECT_TRUE(match_id_accepts(5u << 23 | 0x7fffff, sender, 9, true));
  EXPECT_FALSE(match_id_accepts(5u << 23 | 0x100123, sender, 9, true));
  EXPECT_TRUE(match_id_accepts(5u << 23 | 0x100123, sender, 9, false)) << "above the NID";
}

class Lists : public ::testing::Test {
 protected:
  uint32_t add(uint64_t match, uint64_t ignore, unsigned id, uint64_t length = 1000) {
    const uint32_t n = pool.take(account);
    pool[n].match_bits = match;
    pool[n].ignore_bits = ignore;
    pool[n].match_id = 0xffffffff;
    pool[n].buffer_id = static_cast<uint16_t>(id);
    pool[n].length = length;
    pool.push_back(list, n);
    return n;
  }
  EntryPool pool{8};
  EntryAccount account;
  EntryList list;
};

TEST_F(Lists, TheFirstEntryWhoseBitsAgreeWins) {
  add(0x10, 0, 1);
  const auto second = add(0x20, 0xf, 2);
  add(0x20, 0xf, 3);
  EXPECT_EQ(find_match(pool, list, {.match_bits = 0x2a}), second);
  EXPECT_EQ(find_match(pool, list, {.match_bits = 0x11}), no_entry);
}

TEST_F(Lists, NoTruncateMustFit) {
  const auto n = add(0, ~uint64_t{0}, 1, 100);
  EXPECT_EQ(find_match(pool, list, {.length = 101}), n) << "truncated";
  pool[n].no_truncate = true;
  EXPECT_EQ(find_match(pool, list, {.length = 101}), no_entry);
  EXPECT_EQ(find_match(pool, list, {.length = 100}), n);
  EXPECT_EQ(find_match(pool, list, {.remote_offset = 1, .length = 100}), no_entry);
  EXPECT_EQ(find_match(pool, list, {.remote_offset = 100, .length = 0}), n);
  EXPECT_EQ(find_match(pool, list, {.remote_offset = 101, .length = 0}), no_entry);
  pool[n].manage_local = true;
  pool[n].local_offset = 40;
  EXPECT_EQ(find_match(pool, list, {.remote_offset = 500, .length = 60}), n);
  EXPECT_EQ(find_match(pool, list, {.length = 61}), no_entry);
}

TEST_F(Lists, ANonMatchingEntryTakesItsHead) {
  const auto n = add(0x55, 0, 1);
  add(0, 0, 2);
  EXPECT_EQ(find_match(pool, list, {.match_bits = 0xaa, .matching = false}), n);
}

TEST_F(Lists, UnlinkingKeepsTheOrderOfTheRest) {
  const auto a = add(0, 0, 1), b = add(0, 0, 2), c = add(0, 0, 3);
  pool.unlink(list, b);
  pool.give(b, account);
  EXPECT_EQ(list.head, a);
  EXPECT_EQ(pool[a].next, c);
  EXPECT_EQ(find_buffer(pool, list, 2), no_entry);
  pool.unlink(list, a);
  pool.unlink(list, c);
  EXPECT_TRUE(list.empty());
}

TEST_F(Lists, ThePoolIsBounded) {
  for (unsigned i = 0; i < 8; i++)
    add(0, 0, i);
  EXPECT_EQ(pool.take(account), no_entry);
  EXPECT_EQ(pool.in_use(), 8u);
  pool.clear(list, account);
  EXPECT_EQ(pool.in_use(), 0u);
  EXPECT_NE(pool.take(account), no_entry);
}

TEST_F(Lists, EntriesThatAreKeptCannotBeTakenByOthers) {
  EntryAccount paid;
  pool.keep(paid, 3);
  for (unsigned i = 0; i < 5; i++)
    EXPECT_NE(pool.take(account), no_entry);
  EXPECT_EQ(pool.take(account), no_entry);
  std::vector<uint32_t> own;
  for (unsigned i = 0; i < 3; i++)
    own.push_back(pool.take(paid));
  EXPECT_THAT(own, ::testing::Each(::testing::Ne(no_entry)));
  EXPECT_EQ(pool.take(paid), no_entry) << "and no more than are kept, when the rest is taken";
  pool.give(own.back(), paid);
  EXPECT_EQ(pool.take(account), no_entry) << "what is kept stays kept";
  pool.keep(paid, -1);
  EXPECT_NE(pool.take(account), no_entry);
}

TEST(PortalTable, TellsUnknownVniFromUnknownPlace) {
  PortalTable table;
  EXPECT_EQ(table.find(10, 5).return_code, C_RC_VNI_NOT_FOUND);
  EXPECT_EQ(table.map(10, 5, 77), 0);
  EXPECT_EQ(table.map(10, 5, 78), EEXIST);
  EXPECT_EQ(table.find(10, 5).pte, 77u);
  EXPECT_EQ(table.find(10, 6).return_code, C_RC_PTLTE_NOT_FOUND);
  EXPECT_EQ(table.find(11, 5).return_code, C_RC_VNI_NOT_FOUND);
  EXPECT_EQ(table.map_multicast(10, 5, 79), 0) << "a space of its own";
  EXPECT_EQ(table.map_multicast(10, 5, 80), ENOSPC);
  EXPECT_EQ(table.unmap(10, 5), 77u);
  EXPECT_EQ(table.find(10, 5).return_code, C_RC_PTLTE_NOT_FOUND);
  table.unmap_all(79);
  EXPECT_EQ(table.find(10, 5).return_code, C_RC_VNI_NOT_FOUND);
}

}  // namespace
}  // namespace sim::nic::testing
