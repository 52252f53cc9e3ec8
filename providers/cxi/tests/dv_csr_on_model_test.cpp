// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs in front of the software NIC: registers by name, by offset, and their contents.
#include <set>

#include "dv_on_model.hpp"

namespace on_model {
namespace {

class Registers : public Native {
 protected:
  static const cxidv_csr_info& named(const char* name) {
    return *made(cxidv_csr_by_name(name), name);
  }
  int read(std::uint32_t offset, std::size_t length = 8) {
    return cxidv_read_csr(context.get(), offset, words, length);
  }
  int write(std::uint32_t offset, std::size_t length = 8) {
    return cxidv_write_csr(context.get(), offset, words, length);
  }
  std::uint64_t words[16] = {};
};

TEST_F(Registers, AreFoundByEveryFormOfTheirName) {
  const cxidv_csr_info& revision = named("c_mb_sts_rev");
  EXPECT_STREQ(revision.name, "c_mb_sts_rev");
  EXPECT_EQ(revision.offset, std::uint32_t{C_MB_STS_REV_OFFSET});
  EXPECT_EQ(revision.size, 8u);
  EXPECT_EQ(revision.entries, 1u);
  EXPECT_EQ(revision.generations, 3u);
  EXPECT_NE(revision.public_read, 0u);
  EXPECT_EQ(&named("mb_sts_rev"), &revision);
  EXPECT_EQ(&named("C_MB_STS_REV"), &revision);
  EXPECT_EQ(&named("Mb_Sts_Rev"), &revision);
  const cxidv_csr_info& many = named("rmu_cfg_vni_list_invalidate");
  EXPECT_EQ(many.offset, 0x2002000u);
  EXPECT_EQ(many.entries, 256u);
  EXPECT_EQ(many.public_read, 0u);
  for (const char* name : {"", "c", "c_", "c1_", "c_mb_sts_re", "c_mb_sts_rev_", "no_such"})
    EXPECT_EQ(error_of(cxidv_csr_by_name(name)), ENOENT) << name;
  EXPECT_EQ(error_of(cxidv_csr_by_name(nullptr)), EINVAL);
}

TEST_F(Registers, OfOneGenerationAreChosenByTheirPrefix) {
  const cxidv_csr_info& first = named("c1_hni_mac_cntrs");
  const cxidv_csr_info& second = named("c2_hni_mac_cntrs");
  EXPECT_EQ(first.generations, 1u);
  EXPECT_EQ(second.generations, 2u);
  const cxidv_csr_info& either = named("hni_mac_cntrs");
  EXPECT_TRUE(&either == &first || &either == &second);
}

TEST_F(Registers, AreFoundByEveryOffsetInThem) {
  const cxidv_csr_info& many = named("rmu_cfg_vni_list_invalidate");
  const std::uint32_t end = many.offset + many.size * many.entries;
  EXPECT_EQ(cxidv_csr_by_offset(many.offset), &many);
  EXPECT_EQ(cxidv_csr_by_offset(many.offset + 1), &many);
  EXPECT_EQ(cxidv_csr_by_offset(end - 1), &many);
  EXPECT_NE(cxidv_csr_by_offset(end), &many);
  EXPECT_EQ(error_of(cxidv_csr_by_offset(0xfffffff8)), ENOENT);
  // A counter rather than the block that it stands in.
  const cxidv_csr_info* counter = cxidv_csr_by_offset(named("c_pi_ipd_cntrs").offset + 16);
  ASSERT_NE(counter, nullptr);
  EXPECT_EQ(counter->size, 8u);
}

TEST_F(Registers, AreWhatTheirNamesSayAtTheirOffsets) {
  // Every name leads to a place, and every place to a name for it.
  std::set<std::string> names;
  for (std::uint32_t offset = 0; offset < 0x20000000; offset += 0x40) {
    const cxidv_csr_info* info = cxidv_csr_by_offset(offset);
    if (!info || !names.insert(info->name).second) continue;
    EXPECT_EQ(&named(info->name), info);
    EXPECT_EQ(info->size % 8, 0u);
    EXPECT_GT(info->entries, 0u);
    EXPECT_LE(info->offset, offset);
    EXPECT_GT(std::uint64_t{info->offset} + std::uint64_t{info->size} * info->entries, offset);
    if (names.size() == 200) break;
  }
  EXPECT_GT(names.size(), 100u);
}

TEST_F(Registers, AreReadAndWrittenByAdministrators) {
  NEEDS_PRIVILEGE();
  ASSERT_EQ(read(named("mb_sts_rev").offset), 0);
  EXPECT_NE(words[0], 0u);
  const cxidv_csr_info& scratch = named("rmu_cfg_vni_list_chk");
  ASSERT_EQ(read(scratch.offset), 0);
  const std::uint64_t before = words[0];
  words[0] = before ^ 1;
  ASSERT_EQ(write(scratch.offset), 0);
  words[0] = 0;
  ASSERT_EQ(read(scratch.offset), 0);
  EXPECT_EQ(words[0], before ^ 1);
  words[0] = before;
  ASSERT_EQ(write(scratch.offset), 0);
}

TEST_F(Registers, RefuseWhatIsNoRegister) {
  NEEDS_PRIVILEGE();
  const std::uint32_t revision = named("mb_sts_rev").offset;
  EXPECT_EQ(read(revision + 4), EINVAL);
  EXPECT_EQ(read(revision, 4), EINVAL);
  EXPECT_EQ(read(revision, 0), EINVAL);
  EXPECT_EQ(read(0xfffffff8), EINVAL);
  EXPECT_EQ(read(revision, std::size_t{1} << 32), EINVAL);
  EXPECT_EQ(read(revision, 65'544), EINVAL);
  EXPECT_EQ(write(revision + 4), EINVAL);
  EXPECT_EQ(write(0xfffffff8), EINVAL);
  EXPECT_EQ(write(revision), EACCES);
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(cxidv_read_csr(context.get(), revision, reinterpret_cast<void*>(8), 8), EFAULT);
  EXPECT_EQ(cxidv_read_csr(context.get(), revision, nullptr, 8), EINVAL);
  EXPECT_EQ(cxidv_write_csr(context.get(), revision, nullptr, 8), EINVAL);
  EXPECT_EQ(cxidv_read_csr(nullptr, revision, words, 8), EINVAL);
  EXPECT_EQ(cxidv_write_csr(nullptr, revision, words, 8), EINVAL);
}

TEST_F(Registers, AreForEverybodyOnlyWhereTheyArePublic) {
  NEEDS_PRIVILEGE();
  EXPECT_EQ(as_user(1000,
                    [&] {
                      ibv_context* mine = open_on("cxi0", 0);
                      if (!mine) return 1;
                      if (cxidv_read_csr(mine, named("mb_sts_rev").offset, words, 8)) return 2;
                      if (cxidv_read_csr(mine, named("c_cq_cntrs").offset, words, 64)) return 3;
                      const std::uint32_t closed = named("rmu_cfg_vni_list_chk").offset;
                      if (cxidv_read_csr(mine, closed, words, 8) != EPERM) return 4;
                      if (cxidv_write_csr(mine, closed, words, 8) != EPERM) return 5;
                      if (cxidv_write_csr(mine, named("mb_sts_rev").offset, words, 8) != EPERM)
                        return 6;
                      return 0;
                    }),
            0);
}

TEST_F(Registers, HaveNoWindowHere) {
  volatile void* base = nullptr;
  std::size_t length = 0;
  cxidv_device_attr device = {};
  ASSERT_EQ(cxidv_query_device(context.get(), &device, sizeof device), 0);
  ASSERT_EQ(device.window_flags & CXIDV_WINDOW_CSR, 0u);
  EXPECT_EQ(cxidv_map_csr(context.get(), &base, &length), EOPNOTSUPP);
  EXPECT_EQ(base, nullptr);
  EXPECT_EQ(cxidv_unmap_csr(context.get()), EINVAL);
  EXPECT_EQ(cxidv_map_csr(context.get(), nullptr, &length), EINVAL);
  EXPECT_EQ(cxidv_map_csr(context.get(), &base, nullptr), EINVAL);
  EXPECT_EQ(cxidv_map_csr(nullptr, &base, &length), EINVAL);
  EXPECT_EQ(cxidv_unmap_csr(nullptr), EINVAL);
}

}  // namespace
}  // namespace on_model
