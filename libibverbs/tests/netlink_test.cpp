// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Answers of the kernel, well-formed and otherwise.
#include "../discovery/netlink.hpp"

#include <gtest/gtest.h>
#include <rdma/rdma_netlink.h>
#include <sys/sysmacros.h>

#include <cstring>
#include <string>
#include <vector>

using namespace verbs::netlink;

namespace {

// A netlink message, byte by byte.
class MessageBytes {
 public:
  MessageBytes() : bytes_(sizeof(nlmsghdr)) { finish(); }

  template <class T>
  MessageBytes& add(uint16_t type, const T& value) {
    return add_bytes(type, &value, sizeof(value));
  }
  MessageBytes& add(uint16_t type, const char* text) {
    return add_bytes(type, text, strlen(text) + 1);
  }
  MessageBytes& add_bytes(uint16_t type, const void* value, size_t length) {
    nlattr header{static_cast<uint16_t>(sizeof(nlattr) + length), type};
    auto* start = reinterpret_cast<const char*>(&header);
    bytes_.insert(bytes_.end(), start, start + sizeof(header));
    auto* from = static_cast<const char*>(value);
    bytes_.insert(bytes_.end(), from, from + length);
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
    finish();
    return *this;
  }
  MessageBytes& cut(size_t length) {
    bytes_.resize(bytes_.size() - length);
    finish();
    return *this;
  }

  nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(bytes_.data()); }

 private:
  void finish() {
    nlmsghdr header{};
    header.nlmsg_len = static_cast<uint32_t>(bytes_.size());
    memcpy(bytes_.data(), &header, sizeof(header));
  }

  std::vector<char> bytes_;
};

MessageBytes device_message(uint16_t without = 0) {
  MessageBytes message;
  auto add = [&](uint16_t type, auto value) {
    if (type != without) message.add(type, value);
  };
  add(RDMA_NLDEV_ATTR_DEV_INDEX, uint32_t{3});
  add(RDMA_NLDEV_ATTR_DEV_NAME, "cxi0");
  add(RDMA_NLDEV_ATTR_PORT_INDEX, uint32_t{1});
  add(RDMA_NLDEV_ATTR_NODE_GUID, uint64_t{0x1122334455667788});
  add(RDMA_NLDEV_ATTR_DEV_NODE_TYPE, uint8_t{7});
  return message;
}

TEST(DeviceAnswerTest, AllPartsAreRead) {
  DeviceAnswer answer{};
  ASSERT_TRUE(parse(device_message().header(), answer));
  EXPECT_EQ(answer.index, 3u);
  EXPECT_STREQ(answer.name, "cxi0");
  EXPECT_EQ(answer.ports, 1u);
  EXPECT_EQ(answer.node_guid, 0x1122334455667788u);
  EXPECT_EQ(answer.node_type, 7);
}

TEST(DeviceAnswerTest, EveryPartIsNeeded) {
  for (uint16_t part :
       {RDMA_NLDEV_ATTR_DEV_INDEX, RDMA_NLDEV_ATTR_DEV_NAME, RDMA_NLDEV_ATTR_PORT_INDEX,
        RDMA_NLDEV_ATTR_NODE_GUID, RDMA_NLDEV_ATTR_DEV_NODE_TYPE}) {
    DeviceAnswer answer{};
    EXPECT_FALSE(parse(device_message(part).header(), answer)) << part;
  }
}

TEST(DeviceAnswerTest, UnknownPartsDoNotMatter) {
  DeviceAnswer answer{};
  auto message = device_message();
  message.add(uint16_t{RDMA_NLDEV_ATTR_MAX + 5}, uint32_t{1});
  EXPECT_TRUE(parse(message.header(), answer));
}

TEST(DeviceAnswerTest, MalformedPartsAreRefused) {
  DeviceAnswer answer{};
  EXPECT_FALSE(parse(
      device_message(RDMA_NLDEV_ATTR_DEV_INDEX).add(RDMA_NLDEV_ATTR_DEV_INDEX, uint8_t{3}).header(),
      answer));
  EXPECT_FALSE(parse(device_message(RDMA_NLDEV_ATTR_DEV_NAME)
                         .add_bytes(RDMA_NLDEV_ATTR_DEV_NAME, "cxi0", 4)
                         .header(),
                     answer));
  EXPECT_FALSE(parse(device_message(RDMA_NLDEV_ATTR_DEV_NAME)
                         .add(RDMA_NLDEV_ATTR_DEV_NAME, std::string(64, 'n').c_str())
                         .header(),
                     answer));
  EXPECT_TRUE(parse(device_message(RDMA_NLDEV_ATTR_DEV_NAME)
                        .add(RDMA_NLDEV_ATTR_DEV_NAME, std::string(63, 'n').c_str())
                        .header(),
                    answer));
  EXPECT_FALSE(parse(device_message(RDMA_NLDEV_ATTR_NODE_GUID)
                         .add(RDMA_NLDEV_ATTR_NODE_GUID, uint64_t{1})
                         .cut(4)
                         .header(),
                     answer));
  EXPECT_FALSE(parse(MessageBytes().header(), answer));
}

MessageBytes character_device_message() {
  MessageBytes message;
  message.add(RDMA_NLDEV_ATTR_CHARDEV, uint64_t{231} << 8 | 0xc0)
      .add(RDMA_NLDEV_ATTR_CHARDEV_ABI, uint64_t{1})
      .add(RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs0");
  return message;
}

TEST(CharacterDeviceAnswerTest, TheDriverIdMayBeMissing) {
  CharacterDeviceAnswer answer{};
  ASSERT_TRUE(parse(character_device_message().header(), answer));
  EXPECT_STREQ(answer.name, "uverbs0");
  EXPECT_EQ(answer.number, makedev(231, 192));
  EXPECT_EQ(answer.abi, 1u);
  EXPECT_EQ(answer.driver_id, 0u);
  ASSERT_TRUE(
      parse(character_device_message().add(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, uint32_t{22}).header(),
            answer));
  EXPECT_EQ(answer.driver_id, 22u);
}

TEST(CharacterDeviceAnswerTest, TheRestIsNeeded) {
  CharacterDeviceAnswer answer{};
  MessageBytes message;
  message.add(RDMA_NLDEV_ATTR_CHARDEV, uint64_t{1}).add(RDMA_NLDEV_ATTR_CHARDEV_ABI, uint64_t{1});
  EXPECT_FALSE(parse(message.header(), answer));
}

TEST(DeviceNumberTest, LargeMinorNumbersAreSpread) {
  EXPECT_EQ(device_number(uint64_t{0x12300} | 0x45 | uint64_t{0x678} << 20),
            makedev(0x123, 0x67845));
}

TEST(CopyOnForkTest, IsReadWhereItIsThere) {
  bool copies = true;
  EXPECT_TRUE(parse_copy_on_fork(MessageBytes().header(), copies));
  EXPECT_FALSE(copies);
  MessageBytes message;
  message.add(RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, uint8_t{1});
  EXPECT_TRUE(parse_copy_on_fork(message.header(), copies));
  EXPECT_TRUE(copies);
}

}  // namespace
