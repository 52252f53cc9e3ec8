// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What the library does around a provider's registration.
#include <gtest/gtest.h>

#include "fake_kernel.hpp"

#undef ibv_reg_mr

namespace {

ibv_mr_init_attr asked;  // of the provider, at last
int asked_access;
verbs_mr region;

class MrTest : public testing::Test {
 protected:
  MrTest() {
    asked = {};
    region = {};
    pd.context = &device.context();
    verbs_context_ops ops{};
    ops.reg_mr = [](ibv_pd*, void*, size_t, uint64_t, int access) -> ibv_mr* {
      asked_access = access;
      return &region.ibv_mr;
    };
    ops.reg_mr_ex = [](ibv_pd*, ibv_mr_init_attr* attr) -> ibv_mr* {
      asked = *attr;
      return &region.ibv_mr;
    };
    ops.dereg_mr = [](verbs_mr*) { return 0; };
    device.set(ops);
  }

  fake::Device device;
  ibv_pd pd{};
  char memory[256];
};

TEST_F(MrTest, OptionalRightsAreDroppedWhereTheyAreNotKnown) {
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING;
  ASSERT_NE(ibv_reg_mr(&pd, memory, 10, access), nullptr);
  EXPECT_EQ(asked_access, IBV_ACCESS_LOCAL_WRITE);
  device.device().core_support = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
  ibv_reg_mr(&pd, memory, 10, access);
  EXPECT_EQ(asked_access, access);
}

TEST_F(MrTest, ARegionKnowsWhatWasRegistered) {
  ibv_mr* mr = ibv_reg_mr(&pd, memory, 10, 0);
  EXPECT_EQ(mr->context, &device.context());
  EXPECT_EQ(mr->pd, &pd);
  EXPECT_EQ(mr->addr, memory);
  EXPECT_EQ(mr->length, 10u);
}

TEST_F(MrTest, OnlyNamedMembersReachTheProvider) {
  ibv_mr_init_attr attr;
  memset(&attr, 0xee, sizeof(attr));  // an old caller's structure ends early
  attr.length = 10;
  attr.access = 0;
  attr.addr = memory;
  attr.comp_mask = IBV_REG_MR_MASK_ADDR;
  ASSERT_NE(ibv_reg_mr_ex(&pd, &attr), nullptr);
  EXPECT_EQ(asked.addr, memory);
  EXPECT_EQ(asked.iova, 0u);
  EXPECT_EQ(asked.job_key, nullptr);
  EXPECT_EQ(asked.rkey, 0u);
  EXPECT_EQ(asked.derive_cnt, 0u);
  attr.comp_mask |= IBV_REG_MR_MASK_RKEY | IBV_REG_MR_MASK_DERIVE_CNT;
  attr.rkey = 5;
  attr.derive_cnt = 6;
  ASSERT_NE(ibv_reg_mr_ex(&pd, &attr), nullptr);
  EXPECT_EQ(asked.rkey, 5u);
  EXPECT_EQ(asked.derive_cnt, 6u);
}

TEST_F(MrTest, APartOfABufferIsAnAddressRange) {
  ibv_buf buffer{memory, sizeof(memory), &pd, -1};
  ASSERT_NE(ibv_reg_buf_mr(&pd, &buffer, memory + 16, 240, 0), nullptr);
  EXPECT_EQ(asked.comp_mask, uint64_t{IBV_REG_MR_MASK_ADDR});
  EXPECT_EQ(asked.addr, memory + 16);
  errno = 0;
  EXPECT_EQ(ibv_reg_buf_mr(&pd, &buffer, memory + 16, 241, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_pd other{};
  other.context = pd.context;
  EXPECT_EQ(ibv_reg_buf_mr(&other, &buffer, memory, 1, 0), nullptr);
}

TEST_F(MrTest, APartOfADmabufIsARangeOfIt) {
  ibv_buf buffer{memory, sizeof(memory), &pd, 9};
  ibv_mr* mr = ibv_reg_buf_mr(&pd, &buffer, memory + 16, 32, 0);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(asked.comp_mask,
            uint64_t{IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA});
  EXPECT_EQ(asked.fd, 9);
  EXPECT_EQ(asked.fd_offset, 16u);
  EXPECT_EQ(asked.iova, reinterpret_cast<uintptr_t>(memory + 16));
  EXPECT_EQ(mr->addr, reinterpret_cast<void*>(16));
}

TEST_F(MrTest, ReregistrationChecksWhatItIsAsked) {
  ibv_mr* mr = ibv_reg_mr(&pd, memory, 10, 0);
  auto rereg = [&](int flags, void* addr, size_t length, int access) {
    errno = 0;
    return ibv_rereg_mr(mr, flags, &pd, addr, length, access);
  };
  EXPECT_EQ(rereg(8, nullptr, 0, 0), IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(rereg(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, 5, 0), IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(rereg(IBV_REREG_MR_CHANGE_PD, nullptr, 0, IBV_ACCESS_LOCAL_WRITE),
            IBV_REREG_MR_ERR_INPUT);
  verbs_context_ops ops{};
  static int result;
  ops.rereg_mr = [](verbs_mr*, int, ibv_pd*, void*, size_t, int) { return result; };
  device.set(ops);
  result = ENOMEM;
  EXPECT_EQ(rereg(IBV_REREG_MR_CHANGE_TRANSLATION, memory + 1, 5, 0), IBV_REREG_MR_ERR_CMD);
  EXPECT_EQ(mr->length, 10u);
  result = 0;
  EXPECT_EQ(rereg(IBV_REREG_MR_CHANGE_TRANSLATION, memory + 1, 5, 0), 0);
  EXPECT_EQ(mr->addr, memory + 1);
  EXPECT_EQ(mr->length, 5u);
  region.mr_type = IBV_MR_TYPE_DMABUF_MR;
  EXPECT_EQ(rereg(IBV_REREG_MR_CHANGE_PD, nullptr, 0, 0), IBV_REREG_MR_ERR_INPUT);
}

// Providers without the general verb.
class DefaultRegMrExTest : public MrTest {
 protected:
  DefaultRegMrExTest() {
    verbs_context_ops ops{};
    ops.reg_mr_ex = nullptr;
    fresh = std::make_unique<fake::Device>();
    ops.reg_mr = [](ibv_pd*, void*, size_t, uint64_t iova, int) -> ibv_mr* {
      asked.iova = iova;
      return &region.ibv_mr;
    };
    ops.reg_dmabuf_mr = [](ibv_pd*, uint64_t offset, size_t, uint64_t iova, int fd,
                           int) -> ibv_mr* {
      asked.fd_offset = offset;
      asked.iova = iova;
      asked.fd = fd;
      return &region.ibv_mr;
    };
    fresh->set(ops);
    pd.context = &fresh->context();
    attr.length = 10;
    attr.addr = memory;
  }

  std::unique_ptr<fake::Device> fresh;
  ibv_mr_init_attr attr{};
};

TEST_F(DefaultRegMrExTest, AddressesAndDmabufsAreRegistered) {
  attr.comp_mask = IBV_REG_MR_MASK_ADDR;
  ASSERT_NE(ibv_reg_mr_ex(&pd, &attr), nullptr);
  EXPECT_EQ(asked.iova, reinterpret_cast<uintptr_t>(memory));
  attr.comp_mask |= IBV_REG_MR_MASK_IOVA;
  attr.iova = 7;
  ASSERT_NE(ibv_reg_mr_ex(&pd, &attr), nullptr);
  EXPECT_EQ(asked.iova, 7u);
  attr.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA;
  attr.fd = 3;
  attr.fd_offset = 4;
  ASSERT_NE(ibv_reg_mr_ex(&pd, &attr), nullptr);
  EXPECT_EQ(asked.fd, 3);
  EXPECT_EQ(asked.fd_offset, 4u);
}

TEST_F(DefaultRegMrExTest, JobKeysAndChosenKeysAreRefused) {
  for (uint64_t bit : {IBV_REG_MR_MASK_JKEY, IBV_REG_MR_MASK_RKEY, IBV_REG_MR_MASK_CUR_MR,
                       IBV_REG_MR_MASK_DERIVE_CNT, IBV_REG_MR_MASK_DMAH}) {
    attr.comp_mask = IBV_REG_MR_MASK_ADDR | bit;
    errno = 0;
    EXPECT_EQ(ibv_reg_mr_ex(&pd, &attr), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
  }
  attr.comp_mask = IBV_REG_MR_MASK_IOVA;
  errno = 0;
  EXPECT_EQ(ibv_reg_mr_ex(&pd, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
