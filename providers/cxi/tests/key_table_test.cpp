// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "key_table.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace cxi {
namespace {

class Keys : public testing::Test {
 protected:
  Keys() : keys_(std::make_unique<LocalKeys>()) {}
  ~Keys() override { keys_->destroy(); }

  std::uint32_t add(std::uint64_t base, std::uint64_t length, bool write = true) {
    std::uint32_t key = 0;
    LocalKey* entry = keys_->reserve(key);
    if (!entry) return 0;
    entry->pd = &domain_;
    entry->lac = 3;
    entry->base = base;
    entry->length = length;
    entry->iova_delta = (std::uint64_t{1} << 57) - 0x1000;
    entry->local_write = write;
    entry->has_cpu = true;
    entry->cpu_delta = 0x100;
    LocalKeys::publish(*entry, key);
    return key;
  }
  bool find(std::uint64_t key, std::uint64_t address, std::uint64_t length, bool write = false) {
    return find_piece(*keys_, &domain_, key, address, length, write, piece_);
  }

  std::unique_ptr<LocalKeys> keys_;
  int domain_ = 0;
  Piece piece_{};
};

TEST_F(Keys, FindWhatTheyStandFor) {
  const std::uint32_t key = add(0x10000, 0x2000);
  ASSERT_TRUE(find(key, 0x10800, 0x1800, true));
  EXPECT_EQ(piece_.iova, 0xf800u);  // the delta wraps within 57 bits
  EXPECT_EQ(piece_.lac, 3);
  EXPECT_EQ(piece_.length, 0x1800u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece_.cpu), 0x10900u);
}

TEST_F(Keys, RefuseWhatIsOutOfBounds) {
  const std::uint32_t key = add(0x10000, 0x2000);
  EXPECT_TRUE(find(key, 0x10000, 0x2000));
  EXPECT_FALSE(find(key, 0x10000, 0x2001));
  EXPECT_FALSE(find(key, 0xffff, 1));
  EXPECT_FALSE(find(key, 0x12000, 1));
  EXPECT_FALSE(find(key, 0x11fff, ~std::uint64_t{0}));
}

TEST_F(Keys, RefuseOtherDomainsAndForbiddenWrites) {
  const std::uint32_t key = add(0x10000, 0x2000, false);
  int other = 0;
  EXPECT_FALSE(find_piece(*keys_, &other, key, 0x10000, 1, false, piece_));
  EXPECT_FALSE(find(key, 0x10000, 1, true));
  EXPECT_TRUE(find(key, 0x10000, 1, false));
}

TEST_F(Keys, AreNeverZeroAndNeverWide) {
  const std::uint32_t key = add(0, 16);
  EXPECT_NE(key, 0u);
  EXPECT_EQ(keys_->find(0), nullptr);
  EXPECT_EQ(keys_->find(key | std::uint64_t{1} << 32), nullptr);
  EXPECT_EQ(keys_->find(0xffffffff), nullptr);
}

TEST_F(Keys, AStaleKeyFindsNothing) {
  const std::uint32_t old_key = add(0x10000, 16);
  keys_->release(old_key);
  EXPECT_EQ(keys_->find(old_key), nullptr);
  const std::uint32_t key = add(0x20000, 16);
  EXPECT_EQ(key & LocalKeys::slot_mask, old_key & LocalKeys::slot_mask);
  EXPECT_EQ(keys_->find(old_key), nullptr);
  EXPECT_NE(keys_->find(key), nullptr);
}

TEST_F(Keys, AHiddenKeyComesBack) {
  const std::uint32_t key = add(0x10000, 16);
  keys_->hide(key);
  EXPECT_EQ(keys_->find(key), nullptr);
  LocalKeys::publish(*keys_->hidden(key), key);
  EXPECT_NE(keys_->find(key), nullptr);
}

TEST_F(Keys, TheTableGrowsAndIsFullInTheEnd) {
  std::set<std::uint32_t> keys;
  for (unsigned i = 1; i < LocalKeys::chunk_entries * LocalKeys::max_chunks; i++)
    ASSERT_TRUE(keys.insert(add(i * 16, 16)).second);
  EXPECT_EQ(add(0, 16), 0u);
  keys_->release(*keys.begin());
  EXPECT_NE(add(0, 16), 0u);
}

TEST(JobKeyTable, KnowsOnlyLiveKeysOfTheDomain) {
  auto keys = std::make_unique<JobKeys>();
  int domain = 0;
  int other = 0;
  keys->insert(0x000001'07, &domain, nullptr, 10, 2);
  const JobKeyEntry* entry = keys->find(0x000001'07, &domain);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->vni, 10);
  EXPECT_EQ(entry->lcid, 2);
  EXPECT_EQ(keys->find(0x000002'07, &domain), nullptr);
  EXPECT_EQ(keys->find(0x000001'07, &other), nullptr);
  EXPECT_EQ(keys->find(0, &domain), nullptr);
  keys->remove(0x000001'07);
  EXPECT_EQ(keys->find(0x000001'07, &domain), nullptr);
}

}  // namespace
}  // namespace cxi
