// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Discovery when netlink answers well, badly, or about devices that are gone the next moment.
#include <endian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/rdma_netlink.h>

#include <cstring>

#include "device_list.hpp"
#include "fake_sysfs.hpp"
#include "scripted_netlink.hpp"

namespace stress {
namespace {

using scripted::Bytes;
using scripted::Datagram;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint16_t get_device = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET);
constexpr uint16_t get_chardev = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV);
constexpr uint64_t null_device = 1 << 8 | 3;  // the kernel's packing of 1:3

// The answer about a device: netlink0, netlink1 and so on by index. Without one attribute if
// wanted.
Datagram device_answer(uint32_t index, uint16_t without = 0) {
  Datagram datagram;
  datagram.message(get_device, NLM_F_MULTI);
  auto put = [&](uint16_t type, auto write) {
    if (type != without) write(type);
  };
  put(RDMA_NLDEV_ATTR_DEV_INDEX, [&](uint16_t type) { datagram.u32(type, index); });
  put(RDMA_NLDEV_ATTR_DEV_NAME,
      [&](uint16_t type) { datagram.string(type, "fakenetlink" + std::to_string(index)); });
  put(RDMA_NLDEV_ATTR_PORT_INDEX, [&](uint16_t type) { datagram.u32(type, 1); });
  put(RDMA_NLDEV_ATTR_NODE_GUID, [&](uint16_t type) { datagram.u64(type, 0x42); });
  put(RDMA_NLDEV_ATTR_DEV_NODE_TYPE, [&](uint16_t type) { datagram.u8(type, RDMA_NODE_IB_CA); });
  return datagram;
}

Datagram chardev_answer(std::string_view name = "uverbs0", uint16_t without = 0) {
  Datagram datagram;
  datagram.message(get_chardev, 0);
  if (without != RDMA_NLDEV_ATTR_CHARDEV) datagram.u64(RDMA_NLDEV_ATTR_CHARDEV, null_device);
  if (without != RDMA_NLDEV_ATTR_CHARDEV_ABI) datagram.u64(RDMA_NLDEV_ATTR_CHARDEV_ABI, 1);
  if (without != RDMA_NLDEV_ATTR_CHARDEV_NAME) datagram.string(RDMA_NLDEV_ATTR_CHARDEV_NAME, name);
  return datagram;
}

// A kernel with these answers to the two questions of discovery.
void answer_with(std::vector<Bytes> devices, std::vector<Bytes> chardev) {
  scripted::set_kernel([=](const nlmsghdr& request) {
    if (request.nlmsg_type == get_device) return devices;
    if (request.nlmsg_type == get_chardev) return chardev;
    return std::vector<Bytes>{};
  });
}

// sysfs has fake0, netlink has devices of other names, so that it shows who was listened to.
class Netlink : public testing::Test {
 protected:
  void SetUp() override {
    FakeSysfs::instance().clear();
    FakeSysfs::instance().add(0, "fake0");
  }
  void TearDown() override { scripted::set_kernel({}); }

  // These are the devices according to netlink; it does not work out and sysfs is asked.
  void expect_fallback(const Bytes& datagram, const std::string& why) {
    answer_with({datagram, scripted::done()}, {chardev_answer().bytes()});
    EXPECT_THAT(DeviceList().names(), ElementsAre("fake0")) << why;
  }
};

TEST_F(Netlink, WholeAnswersAreListed) {
  answer_with({device_answer(3).bytes(), device_answer(4).bytes(), scripted::done()},
              {chardev_answer().bytes()});
  const DeviceList list;
  EXPECT_THAT(list.names(), ElementsAre("fakenetlink3", "fakenetlink4"));
  ibv_device* device = list.find("fakenetlink3");
  EXPECT_EQ(ibv_get_device_index(device), 3);
  EXPECT_EQ(be64toh(ibv_get_device_guid(device)), 0x42u);
  EXPECT_STREQ(device->dev_name, "uverbs0");
  EXPECT_TRUE(Context(ibv_open_device(device)));
}

TEST_F(Netlink, SeveralMessagesMayShareADatagram) {
  Bytes both = device_answer(3).bytes();
  both.resize(NLMSG_ALIGN(both.size()));
  const Bytes second = device_answer(4).bytes();
  both.insert(both.end(), second.begin(), second.end());
  answer_with({both, scripted::done()}, {chardev_answer().bytes()});
  EXPECT_THAT(DeviceList().names(), ElementsAre("fakenetlink3", "fakenetlink4"));
}

TEST_F(Netlink, NoDeviceIsTheLastWord) {
  answer_with({scripted::done()}, {});
  const DeviceList list;
  EXPECT_EQ(list.error(), 0);
  EXPECT_THAT(list.names(), IsEmpty());
}

TEST_F(Netlink, WithoutSocketsSysfsIsAsked) {
  EXPECT_THAT(DeviceList().names(), ElementsAre("fake0"));
}

TEST_F(Netlink, ARefusalLeadsToSysfs) {
  answer_with({scripted::refusal(EPERM)}, {});
  EXPECT_THAT(DeviceList().names(), ElementsAre("fake0"));
}

TEST_F(Netlink, AnAnswerThatStopsHalfwayLeadsToSysfs) {
  answer_with({device_answer(3).bytes()}, {chardev_answer().bytes()});
  EXPECT_THAT(DeviceList().names(), ElementsAre("fake0"));
}

TEST_F(Netlink, AListThatChangedMeanwhileLeadsToSysfs) {
  Datagram torn;
  torn.message(NLMSG_DONE, NLM_F_MULTI | NLM_F_DUMP_INTR).raw(Bytes(4));
  answer_with({device_answer(3).bytes(), torn.bytes()}, {chardev_answer().bytes()});
  EXPECT_THAT(DeviceList().names(), ElementsAre("fake0"));
}

TEST_F(Netlink, AMissingAttributeLeadsToSysfs) {
  for (uint16_t type :
       {RDMA_NLDEV_ATTR_DEV_INDEX, RDMA_NLDEV_ATTR_DEV_NAME, RDMA_NLDEV_ATTR_PORT_INDEX,
        RDMA_NLDEV_ATTR_NODE_GUID, RDMA_NLDEV_ATTR_DEV_NODE_TYPE})
    expect_fallback(device_answer(3, type).bytes(), "without " + std::to_string(type));
}

TEST_F(Netlink, ABadNameLeadsToSysfs) {
  auto named = [](std::span<const uint8_t> name) {
    return device_answer(3, RDMA_NLDEV_ATTR_DEV_NAME).attribute(RDMA_NLDEV_ATTR_DEV_NAME, name);
  };
  const Bytes endless(20, 'x');
  Bytes too_long(100, 'x');
  too_long.back() = 0;
  const Bytes path{'.', '.', '/', 'x', 0};
  expect_fallback(named(endless).bytes(), "no end");
  expect_fallback(named(too_long).bytes(), "too long");
  expect_fallback(named({}).bytes(), "nothing");
  expect_fallback(named(path).bytes(), "a path");
}

TEST_F(Netlink, AValueOfTheWrongSizeLeadsToSysfs) {
  for (uint16_t type : {RDMA_NLDEV_ATTR_DEV_INDEX, RDMA_NLDEV_ATTR_PORT_INDEX,
                        RDMA_NLDEV_ATTR_NODE_GUID, RDMA_NLDEV_ATTR_DEV_NODE_TYPE})
    expect_fallback(device_answer(3, type).attribute(type, {}).bytes(),
                    "empty " + std::to_string(type));
  const Bytes short_guid(4);
  expect_fallback(device_answer(3, RDMA_NLDEV_ATTR_NODE_GUID)
                      .attribute(RDMA_NLDEV_ATTR_NODE_GUID, short_guid)
                      .bytes(),
                  "half a GUID");
}

TEST_F(Netlink, LengthsThatLieLeadToSysfs) {
  expect_fallback(device_answer(3).claim_message_length(4).bytes(), "shorter than its header");
  expect_fallback(device_answer(3).claim_message_length(60'000).bytes(), "longer than received");
  expect_fallback(device_answer(3).claim_attribute_length(60'000).bytes(), "beyond the message");
  expect_fallback(device_answer(3).claim_attribute_length(1).bytes(), "shorter than its header");
}

TEST_F(Netlink, UnknownAttributesAreOfNoConcern) {
  const Bytes value(7, 0xff);
  answer_with({device_answer(3).attribute(9'999, value).bytes(), scripted::done()},
              {chardev_answer().bytes()});
  EXPECT_THAT(DeviceList().names(), ElementsAre("fakenetlink3"));
}

// The device was there a moment ago, and its character device is gone by the time it is asked for.
TEST_F(Netlink, ADeviceThatVanishesMeanwhileIsLeftOut) {
  scripted::set_kernel([](const nlmsghdr& request) -> std::vector<Bytes> {
    if (request.nlmsg_type == get_device)
      return {device_answer(3).bytes(), device_answer(4).bytes(), scripted::done()};
    // The index is the first attribute of the question.
    uint32_t index;
    memcpy(&index, reinterpret_cast<const uint8_t*>(&request) + NLMSG_HDRLEN + NLA_HDRLEN, 4);
    if (index == 3) return {scripted::refusal(ENODEV)};
    return {chardev_answer().bytes()};
  });
  EXPECT_THAT(DeviceList().names(), ElementsAre("fakenetlink4"));
}

TEST_F(Netlink, ABadAnswerAboutTheCharacterDeviceLeavesItsDeviceOut) {
  auto expect_left_out = [](const std::vector<Bytes>& answer, const char* why) {
    answer_with({device_answer(3).bytes(), scripted::done()}, answer);
    const DeviceList list;
    EXPECT_EQ(list.error(), 0) << why;
    EXPECT_THAT(list.names(), IsEmpty()) << why;
  };
  expect_left_out({}, "silence");
  expect_left_out({Bytes(3)}, "three bytes");
  expect_left_out({chardev_answer("uverbs0", RDMA_NLDEV_ATTR_CHARDEV).bytes()}, "no number");
  expect_left_out({chardev_answer("uverbs0", RDMA_NLDEV_ATTR_CHARDEV_ABI).bytes()}, "no ABI");
  expect_left_out({chardev_answer("uverbs0", RDMA_NLDEV_ATTR_CHARDEV_NAME).bytes()}, "no name");
  expect_left_out({chardev_answer("").bytes()}, "an empty name");
  expect_left_out({chardev_answer(std::string(100, 'x')).bytes()}, "a name too long");
  expect_left_out({chardev_answer("uverbs99").bytes()}, "a name without a node");
  expect_left_out({chardev_answer("../dev/uverbs0").bytes()}, "a path");
}

TEST_F(Netlink, ADeviceIsTheSameAsLongAsItsIndexIs) {
  answer_with({device_answer(3).bytes(), scripted::done()}, {chardev_answer().bytes()});
  const DeviceList first, second;
  EXPECT_EQ(first[0], second[0]);
  answer_with({scripted::done()}, {});
  EXPECT_EQ(DeviceList().count(), 0);
  answer_with({device_answer(3).bytes(), scripted::done()}, {chardev_answer().bytes()});
  const DeviceList third;
  ASSERT_EQ(third.count(), 1);
  EXPECT_NE(third[0], first[0]);
}

TEST_F(Netlink, ItAloneKnowsWhetherForkNeedsProtection) {
  constexpr uint16_t get_system = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET);
  auto say = [](std::vector<Bytes> answer) {
    scripted::set_kernel([=](const nlmsghdr& request) {
      return request.nlmsg_type == get_system ? answer : std::vector<Bytes>{};
    });
  };
  auto copies = [](std::span<const uint8_t> value) {
    return Datagram()
        .message(get_system, 0)
        .attribute(RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, value)
        .bytes();
  };
  const Bytes yes{1}, no{0};
  say({copies(yes)});
  EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
  say({copies(no)});
  EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_DISABLED);
  say({copies({})});
  EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_DISABLED);
  say({scripted::refusal(EOPNOTSUPP)});
  EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_DISABLED);
  say({});
  EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_DISABLED);
}

}  // namespace
}  // namespace stress
