// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// GIDs by ioctl and, where the kernel has none for them, from sysfs.
#include "../gid.hpp"

#include <gtest/gtest.h>

#include "fake_kernel.hpp"
#include "temp_tree.hpp"

using namespace verbs;

namespace {

TEST(GidTypeTest, SysfsTextsAreKnown) {
  ibv_gid_type_sysfs type;
  const std::pair<const char*, ibv_gid_type_sysfs> texts[] = {
      {"IB/RoCE v1", IBV_GID_TYPE_SYSFS_IB_ROCE_V1}, {"RoCE v2", IBV_GID_TYPE_SYSFS_ROCE_V2},
      {"UET UDP", IBV_GID_TYPE_SYSFS_UET_UDP},       {"UET IP", IBV_GID_TYPE_SYSFS_UET_IP},
      {"UET UFH", IBV_GID_TYPE_SYSFS_UET_UFH},       {"Slingshot", IBV_GID_TYPE_SYSFS_SLINGSHOT},
  };
  for (const auto& [text, expected] : texts) {
    EXPECT_TRUE(parse_gid_type(text, type)) << text;
    EXPECT_EQ(type, expected) << text;
  }
  EXPECT_FALSE(parse_gid_type("", type));
  EXPECT_FALSE(parse_gid_type("Slingshot2", type));
}

class GidTest : public testing::Test {
 protected:
  GidTest() {
    kernel.on(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, [this](const fake::Call& call) {
      if (call.at(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX).value<uint64_t>() != 0) return ENODATA;
      call.at(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY).answer(entry);
      return 0;
    });
    entry.gid.raw[15] = 9;
    entry.gid_type = IBV_GID_TYPE_SLINGSHOT;
    entry.ndev_ifindex = 3;
  }

  fake::Kernel kernel;
  fake::Device device;
  ibv_gid_entry entry{};
};

TEST_F(GidTest, TheKernelTellsAnEntry) {
  ibv_gid_entry found{};
  ASSERT_EQ(ibv_query_gid_ex(&device.context(), 1, 0, &found, 0), 0);
  EXPECT_EQ(found.gid.raw[15], 9);
  EXPECT_EQ(found.gid_type, uint32_t{IBV_GID_TYPE_SLINGSHOT});
  EXPECT_EQ(ibv_query_gid_ex(&device.context(), 1, 1, &found, 0), ENODATA);
  ibv_gid_type_sysfs type;
  ASSERT_EQ(ibv_query_gid_type(&device.context(), 1, 0, &type), 0);
  EXPECT_EQ(type, IBV_GID_TYPE_SYSFS_SLINGSHOT);
}

TEST_F(GidTest, AnEmptySlotIsAllZero) {
  ibv_gid gid;
  memset(&gid, 0xee, sizeof(gid));
  ASSERT_EQ(ibv_query_gid(&device.context(), 1, 1, &gid), 0);
  EXPECT_EQ(gid.global.interface_id, 0u);
  ibv_gid_type_sysfs type;
  ASSERT_EQ(ibv_query_gid_type(&device.context(), 1, 1, &type), 0);
  EXPECT_EQ(type, IBV_GID_TYPE_SYSFS_IB_ROCE_V1);
}

TEST_F(GidTest, TheTableIsCounted) {
  kernel.on(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, [](const fake::Call& call) {
    EXPECT_EQ(call.at(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE).value<uint64_t>(), 32u);
    EXPECT_EQ(call.at(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES).length, 64);
    call.at(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES).answer(uint64_t{2});
    return 0;
  });
  ibv_gid_entry entries[2];
  EXPECT_EQ(ibv_query_gid_table(&device.context(), entries, 2, 0), 2);
  kernel.on(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE,
            [](const fake::Call&) { return EINVAL; });
  EXPECT_EQ(ibv_query_gid_table(&device.context(), entries, 2, 0), -EINVAL);
}

// Without the ioctls.
class SysfsGidTest : public GidTest {
 protected:
  SysfsGidTest() {
    kernel.on(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY,
              [](const fake::Call&) { return EPROTONOSUPPORT; });
    put("ports/1/gids/0", "fe80:0000:0000:0000:0000:0000:0012:3456\n");
    put("ports/1/gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n");
    put("ports/1/gids/2", "fe80:0000\n");
    put("ports/1/gids/3", "fe80:0000:0000:0000:0000:0000:0000:0001\n");
    put("ports/1/gid_attrs/types/0", "Slingshot\n");
    put("ports/1/gid_attrs/types/2", "RoCE v9\n");
    put("ports/1/gid_attrs/types/3", "IB/RoCE v1\n");
    snprintf(record.ibdev_path, sizeof(record.ibdev_path), "%s", tree.path().c_str());
    device.device().sysfs = &record;
    verbs_context_ops ops{};
    ops.query_port = [](ibv_context*, uint8_t, ibv_port_attr* attr) {
      attr->link_layer = IBV_LINK_LAYER_ETHERNET;
      attr->gid_tbl_len = 2;
      return 0;
    };
    ops.query_device_ex = [](ibv_context*, const ibv_query_device_ex_input*,
                             ibv_device_attr_ex* attr, size_t) {
      attr->orig_attr.phys_port_cnt = 1;
      return 0;
    };
    device.set(ops);
  }
  ~SysfsGidTest() override { device.device().sysfs = nullptr; }

  void put(const char* name, const char* text) { tree.put(name, text); }

  TempTree tree;
  verbs_sysfs_dev record{};
};

TEST_F(SysfsGidTest, AnEntryIsPutTogether) {
  ibv_gid_entry found{};
  ASSERT_EQ(ibv_query_gid_ex(&device.context(), 1, 0, &found, 0), 0);
  EXPECT_EQ(found.gid.raw[0], 0xfe);
  EXPECT_EQ(found.gid.raw[13], 0x12);
  EXPECT_EQ(found.gid.raw[15], 0x56);
  EXPECT_EQ(found.gid_type, uint32_t{IBV_GID_TYPE_SLINGSHOT});
  EXPECT_EQ(found.port_num, 1u);
  EXPECT_EQ(found.ndev_ifindex, 0u);
}

TEST_F(SysfsGidTest, TheLinkLayerTellsTheFirstTwoTypesApart) {
  ibv_gid_entry found{};
  ASSERT_EQ(ibv_query_gid_ex(&device.context(), 1, 3, &found, 0), 0);
  EXPECT_EQ(found.gid_type, uint32_t{IBV_GID_TYPE_ROCE_V1});
}

TEST_F(SysfsGidTest, BadFilesAreErrors) {
  ibv_gid_entry found{};
  EXPECT_EQ(ibv_query_gid_ex(&device.context(), 1, 1, &found, 0), ENODATA);
  EXPECT_EQ(ibv_query_gid_ex(&device.context(), 1, 2, &found, 0), EINVAL);
  EXPECT_EQ(ibv_query_gid_ex(&device.context(), 1, 9, &found, 0), EINVAL);
  EXPECT_EQ(ibv_query_gid_ex(&device.context(), 1, 0, &found, 1), EOPNOTSUPP);
  ibv_gid_type_sysfs type;
  EXPECT_EQ(ibv_query_gid_type(&device.context(), 1, 2, &type), -1);
  EXPECT_EQ(errno, ENOTSUP);
  EXPECT_EQ(ibv_query_gid_type(&device.context(), 1, 1, &type), -1);  // there are types, not this
  EXPECT_EQ(ibv_query_gid_type(&device.context(), 2, 0, &type), 0);   // no types: an old kernel
  EXPECT_EQ(type, IBV_GID_TYPE_SYSFS_IB_ROCE_V1);
}

TEST_F(SysfsGidTest, TheTableHoldsTheFilledSlots) {
  ibv_gid_entry entries[1];
  EXPECT_EQ(ibv_query_gid_table(&device.context(), entries, 1, 0), 1);
  EXPECT_EQ(entries[0].gid.raw[0], 0xfe);
  EXPECT_EQ(ibv_query_gid_table(&device.context(), entries, 0, 0), -EINVAL);
}

}  // namespace
