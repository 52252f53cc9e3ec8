// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// From records to devices: providers, references, and lists that follow the kernel's.
#include "../discovery/device_list.hpp"

#include <gtest/gtest.h>

#include "../discovery/providers.hpp"
#include "temp_tree.hpp"

using namespace verbs;

namespace {

int living;  // devices that the provider has given out
int asked;   // to match
bool match_result;

verbs_device* alloc_device(verbs_sysfs_dev* record) {
  if (strcmp(record->ibdev_name, "refused") == 0) return nullptr;
  auto* device = static_cast<verbs_device*>(calloc(1, sizeof(verbs_device)));
  if (strcmp(record->ibdev_name, "cxi9") == 0)
    device->device.transport_type = IBV_TRANSPORT_SLINGSHOT;
  living++;
  return device;
}

void uninit_device(verbs_device* device) {
  living--;
  free(device);
}

const verbs_match_ent table[] = {
    {.driver_data = nullptr, .u = {.driver_id = 1234}, .kind = VERBS_MATCH_DRIVER_ID},
    {.u = {.modalias = "rdma_device:*Ncxi*"}, .kind = VERBS_MATCH_MODALIAS},
    {.vendor = 0x17db, .device = 0x0501, .kind = VERBS_MATCH_PCI},
    {},
};

verbs_device_ops make_provider() {
  verbs_device_ops ops{};
  ops.name = "test";
  ops.match_min_abi_version = 1;
  ops.match_max_abi_version = 2;
  ops.match_table = table;
  ops.alloc_device = alloc_device;
  ops.uninit_device = uninit_device;
  return ops;
}
const verbs_device_ops provider = make_provider();

class DeviceListTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { verbs_register_driver_66(&provider); }

  DeviceListTest() {
    tree.put("class/infiniband_verbs/abi_version", "6\n");
    root = tree.path();
  }
  ~DeviceListTest() override {
    list.clear();
    EXPECT_EQ(living, 0);
  }

  verbs_sysfs_dev& add(const char* uverbs, const char* name, int index = -1) {
    auto* record = static_cast<verbs_sysfs_dev*>(calloc(1, sizeof(verbs_sysfs_dev)));
    strcpy(record->sysfs_name, uverbs);
    strcpy(record->ibdev_name, name);
    snprintf(record->ibdev_path, sizeof(record->ibdev_path), "%s/class/infiniband/%s", root.c_str(),
             name);
    record->abi_ver = 1;
    record->ibdev_idx = index;
    record->node_type = IBV_NODE_UNSPECIFIED;
    EXPECT_TRUE(records.push(record));
    return *record;
  }

  int reconcile() {
    testing::internal::CaptureStderr();
    int error = list.reconcile(records, {root.c_str(), "/dev"});
    output = testing::internal::GetCapturedStderr();
    return error;
  }

  TempTree tree;
  std::string root, output;
  Records records;
  DeviceList list;
};

TEST_F(DeviceListTest, ADeviceIsDescribed) {
  add("uverbs0", "cxi0");
  ASSERT_EQ(reconcile(), 0);
  ASSERT_EQ(list.size(), 1u);
  ibv_device& device = list[0].device;
  EXPECT_STREQ(ibv_get_device_name(&device), "cxi0");
  EXPECT_STREQ(device.dev_name, "uverbs0");
  EXPECT_EQ(device.dev_path, root + "/class/infiniband_verbs/uverbs0");
  EXPECT_EQ(device.ibdev_path, root + "/class/infiniband/cxi0");
  EXPECT_EQ(device.transport_type, IBV_TRANSPORT_UNSPECIFIED);
  EXPECT_EQ(ibv_get_device_index(&device), -1);
}

TEST_F(DeviceListTest, ATransportOfTheProviderIsKept) {
  add("uverbs0", "cxi9");
  ASSERT_EQ(reconcile(), 0);
  EXPECT_EQ(list[0].device.transport_type, IBV_TRANSPORT_SLINGSHOT);
}

TEST_F(DeviceListTest, TheGuidIsReadOnce) {
  tree.put("class/infiniband/cxi0/node_guid", "0002:c903:0000:0001\n");
  add("uverbs0", "cxi0");
  ASSERT_EQ(reconcile(), 0);
  EXPECT_EQ(ibv_get_device_guid(&list[0].device), htobe64(0x0002c90300000001));
  tree.remove("class/infiniband/cxi0");
  EXPECT_EQ(ibv_get_device_guid(&list[0].device), htobe64(0x0002c90300000001));
}

TEST_F(DeviceListTest, AnUnreadableGuidIsZeroUntilItCanBeRead) {
  add("uverbs0", "cxi0");
  ASSERT_EQ(reconcile(), 0);
  EXPECT_EQ(ibv_get_device_guid(&list[0].device), 0u);
  tree.put("class/infiniband/cxi0/node_guid", "garbage\n");
  EXPECT_EQ(ibv_get_device_guid(&list[0].device), 0u);
  tree.put("class/infiniband/cxi0/node_guid", "0000:0000:0000:0005\n");
  EXPECT_EQ(ibv_get_device_guid(&list[0].device), htobe64(5));
}

TEST_F(DeviceListTest, AKnownDeviceStaysAndAGoneOneGoes) {
  add("uverbs0", "cxi0", 1);
  add("uverbs1", "cxi1", 2);
  ASSERT_EQ(reconcile(), 0);
  ASSERT_EQ(list.size(), 2u);
  verbs_device* kept = strcmp(list[0].device.name, "cxi1") == 0 ? &list[0] : &list[1];
  add("uverbs1", "cxi1", 2);
  ASSERT_EQ(reconcile(), 0);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(&list[0], kept);
  EXPECT_EQ(living, 1);
}

TEST_F(DeviceListTest, ANewDeviceOfAnOldNameIsNew) {
  add("uverbs0", "cxi0").time_created.tv_sec = 1;
  ASSERT_EQ(reconcile(), 0);
  hold_device(list[0].device);
  ibv_device* old = &list[0].device;
  add("uverbs0", "cxi0").time_created.tv_sec = 2;
  ASSERT_EQ(reconcile(), 0);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_NE(&list[0].device, old);
  EXPECT_EQ(living, 2);
  release_device(*old);
  EXPECT_EQ(living, 1);
}

TEST_F(DeviceListTest, TheFirstScanKeepsItsOrder) {
  add("uverbs0", "cxi0");
  add("uverbs1", "cxi1");
  ASSERT_EQ(reconcile(), 0);
  ASSERT_EQ(list.size(), 2u);  // newest last; programs get it from the end
  EXPECT_STREQ(list[1].device.name, "cxi0");
  EXPECT_STREQ(list[0].device.name, "cxi1");
}

TEST_F(DeviceListTest, DevicesWithoutAProviderAreLeftOut) {
  add("uverbs0", "mlx5_0");
  EXPECT_EQ(reconcile(), 0);
  EXPECT_EQ(list.size(), 0u);
  setenv("IBV_SHOW_WARNINGS", "1", 1);
  add("uverbs0", "mlx5_0");
  EXPECT_EQ(reconcile(), 0);
  unsetenv("IBV_SHOW_WARNINGS");
  EXPECT_NE(output.find("uverbs0"), std::string::npos);
}

TEST_F(DeviceListTest, AProviderMustSpeakTheKernelsAbi) {
  add("uverbs0", "cxi0").abi_ver = 3;
  ASSERT_EQ(reconcile(), 0);
  EXPECT_EQ(list.size(), 0u);
  EXPECT_NE(output.find("kernel ABI of 3"), std::string::npos);
}

TEST_F(DeviceListTest, AProviderMayRefuseADevice) {
  add("uverbs0", "refused").driver_id = 1234;
  ASSERT_EQ(reconcile(), 0);
  EXPECT_EQ(list.size(), 0u);
  EXPECT_NE(output.find("couldn't allocate device"), std::string::npos);
}

class MatchTest : public DeviceListTest {
 protected:
  const verbs_match_ent* match(verbs_device_ops ops = make_provider()) {
    verbs_sysfs_dev& record = *records[records.size() - 1];
    record.match = table;  // of an earlier try
    bool matched = provider_matches(ops, record);
    EXPECT_EQ(matched, record.match != nullptr);
    return record.match;
  }
  ~MatchTest() override { free_records(records); }
};

TEST_F(MatchTest, TheDriverIdCountsFirst) {
  add("uverbs0", "cxi0").driver_id = 1234;
  EXPECT_EQ(match(), &table[0]);
}

TEST_F(MatchTest, ThenTheName) {
  add("uverbs0", "cxi0");
  EXPECT_EQ(match(), &table[1]);
}

TEST_F(MatchTest, ThenThePciDevice) {
  tree.put("class/infiniband/x0/device/modalias",
           "pci:v000017DBd00000501sv000017DBsd00000000bc02sc00i00\n");
  add("uverbs0", "x0");
  EXPECT_EQ(match(), &table[2]);
  tree.put("class/infiniband/x1/device/modalias", "pci:v000017DBd00000502sv0\n");
  add("uverbs1", "x1");
  EXPECT_EQ(match(), nullptr);
  add("uverbs2", "x2");  // without a modalias
  EXPECT_EQ(match(), nullptr);
}

TEST_F(MatchTest, TheProvidersOwnWordIsFinal) {
  verbs_device_ops ops = make_provider();
  ops.match_device = [](verbs_sysfs_dev*) {
    asked++;
    return match_result;
  };
  asked = 0;
  verbs_sysfs_dev& record = add("uverbs0", "cxi0");
  match_result = false;
  EXPECT_FALSE(provider_matches(ops, record));
  match_result = true;
  EXPECT_TRUE(provider_matches(ops, record));
  ops.match_table = nullptr;
  EXPECT_TRUE(provider_matches(ops, record));
  EXPECT_EQ(asked, 3);
}

}  // namespace
