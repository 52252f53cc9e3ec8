// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The bytes of a command, by hand.
#include "../cmd/command.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "fake_kernel.hpp"

using namespace verbs;

namespace {

constexpr uint16_t object = 30, method = 5;

class CommandTest : public testing::Test {
 protected:
  CommandTest() {
    kernel.on(object, method, [](const fake::Call&) { return 0; });
  }

  fake::Kernel kernel;
  fake::Device device;
};

TEST_F(CommandTest, HeaderNamesObjectMethodDriverAndLength) {
  Command<object, method, 2> command;
  command.in(1, uint32_t{7});
  ASSERT_EQ(command.execute(device.context()), 0);
  const fake::Header& header = kernel.last().header;
  EXPECT_EQ(header.length, 24 + 16);
  EXPECT_EQ(header.object_id, object);
  EXPECT_EQ(header.method_id, method);
  EXPECT_EQ(header.num_attrs, 1);
  EXPECT_EQ(header.driver_id, 77u);
  EXPECT_EQ(header.reserved1, 0u);
  EXPECT_EQ(header.reserved2, 0u);
  EXPECT_EQ(kernel.last().request, 0xc0181b01u);
}

TEST_F(CommandTest, InputsOfUpToEightBytesTravelInline) {
  const std::array<uint8_t, 8> eight{1, 2, 3, 4, 5, 6, 7, 8};
  const std::array<uint8_t, 9> nine{};
  Command<object, method, 3> command;
  command.in_bytes(1, eight.data(), 3);
  command.in_bytes(2, eight.data(), 8);
  command.in_bytes(3, nine.data(), 9);
  ASSERT_EQ(command.execute(device.context()), 0);
  std::array<uint8_t, 8> bytes;
  memcpy(bytes.data(), &kernel.last().at(1).data, 8);
  EXPECT_EQ(bytes, (std::array<uint8_t, 8>{1, 2, 3}));
  memcpy(bytes.data(), &kernel.last().at(2).data, 8);
  EXPECT_EQ(bytes, eight);
  EXPECT_EQ(kernel.last().at(3).address(), nine.data());
  EXPECT_EQ(kernel.last().at(3).length, 9);
}

TEST_F(CommandTest, ValuesHaveTheSizeOfTheirType) {
  Command<object, method, 4> command;
  command.in(1, uint8_t{0xab});
  command.in(2, uint32_t{0x01020304});
  command.constant(3, 9);
  command.in(4, uint64_t{1} << 63);
  ASSERT_EQ(command.execute(device.context()), 0);
  EXPECT_EQ(kernel.last().at(1).length, 1);
  EXPECT_EQ(kernel.last().at(2).length, 4);
  EXPECT_EQ(kernel.last().at(2).value<uint32_t>(), 0x01020304u);
  EXPECT_EQ(kernel.last().at(3).length, 8);
  EXPECT_EQ(kernel.last().at(3).data, 9u);
  EXPECT_EQ(kernel.last().at(4).data, uint64_t{1} << 63);
}

TEST_F(CommandTest, OutputsAreNamedByAddressHoweverShort) {
  uint8_t short_one = 0;
  Command<object, method, 1> command;
  command.out(1, short_one);
  ASSERT_EQ(command.execute(device.context()), 0);
  EXPECT_EQ(kernel.last().at(1).address(), &short_one);
  EXPECT_EQ(kernel.last().at(1).length, 1);
}

TEST_F(CommandTest, EverythingIsMandatoryUnlessMadeOptional) {
  Command<object, method, 2> command;
  command.in(1, 1);
  optional(command.in(2, 2));
  optional(nullptr);
  ASSERT_EQ(command.execute(device.context()), 0);
  EXPECT_TRUE(kernel.last().at(1).mandatory());
  EXPECT_FALSE(kernel.last().at(2).mandatory());
}

TEST_F(CommandTest, ObjectsAndDescriptorsHaveNoLength) {
  Command<object, method, 3> command;
  command.object(1, 0xffffffff);
  command.fd(2, 5);
  const auto* made = command.new_object(3);
  kernel.on(object, method, [](const fake::Call& call) {
    call.at(3).answer_handle(42);
    return 0;
  });
  ASSERT_EQ(command.execute(device.context()), 0);
  EXPECT_EQ(kernel.last().at(1).length, 0);
  EXPECT_EQ(kernel.last().at(1).data, 0xffffffffu);
  EXPECT_EQ(kernel.last().at(2).data, 5u);
  EXPECT_EQ(handle_of(made), 42u);
}

TEST_F(CommandTest, NoDescriptorMeansNoAttribute) {
  Command<object, method, 1> command;
  EXPECT_EQ(command.fd(1, -1), nullptr);
  ASSERT_EQ(command.execute(device.context()), 0);
  EXPECT_TRUE(kernel.last().attributes.empty());
}

TEST_F(CommandTest, AlternativesCarryTheirSelector) {
  Command<object, method, 1> command;
  command.alternative(1, 3, "ab", 2);
  ASSERT_EQ(command.execute(device.context()), 0);
  EXPECT_EQ(kernel.last().at(1).element, 3);
  EXPECT_EQ(kernel.last().at(1).length, 2);
}

TEST_F(CommandTest, TooLongAnAttributeIsRefusedBeforeTheKernelIsAsked) {
  std::vector<std::byte> long_one(65536);
  Command<object, method, 2> longest;
  longest.in_bytes(1, long_one.data(), 65535);
  EXPECT_EQ(longest.execute(device.context()), 0);
  Command<object, method, 2> in;
  EXPECT_EQ(in.in_bytes(1, long_one.data(), 65536), nullptr);
  EXPECT_EQ(in.execute(device.context()), EINVAL);
  Command<object, method, 2> out;
  EXPECT_EQ(out.out_bytes(1, long_one.data(), 65536), nullptr);
  EXPECT_EQ(out.execute(device.context()), EINVAL);
  EXPECT_EQ(kernel.calls().size(), 1u);
}

TEST_F(CommandTest, MoreAttributesThanRoomAreRefused) {
  Command<object, method, 1> command;
  command.in(1, 1);
  EXPECT_EQ(command.in(2, 2), nullptr);
  EXPECT_EQ(command.execute(device.context()), EINVAL);
  EXPECT_TRUE(kernel.calls().empty());
}

TEST_F(CommandTest, ErrorsOfTheKernelComeBack) {
  kernel.on(object, method, [](const fake::Call&) { return EBUSY; });
  Command<object, method, 1> command;
  EXPECT_EQ(command.execute(device.context()), EBUSY);
}

// A provider's buffer, filled with the C functions.
class LinkTest : public CommandTest {};

TEST_F(LinkTest, AttributesOfAChainFollowInItsOrder) {
  DECLARE_COMMAND_BUFFER(last, object, method, 1);
  fill_attr_in_uint32(last, 30, 3);
  DECLARE_COMMAND_BUFFER(middle, object, method, 2);
  middle->next = last;
  fill_attr_in_uint32(middle, 20, 2);
  fill_attr_in_obj(middle, 21, 9);
  Command<object, method, 1> command(middle);
  command.in(10, uint32_t{1});
  ASSERT_EQ(command.execute(device.context()), 0);
  std::vector<uint16_t> ids;
  for (const auto& attribute : kernel.last().attributes)
    ids.push_back(attribute.id);
  EXPECT_EQ(ids, (std::vector<uint16_t>{10, 20, 21, 30}));
  EXPECT_EQ(__ioctl_final_num_attrs(1, middle), 4u);
}

TEST_F(LinkTest, OutputsComeBackToTheBufferTheyBelongTo) {
  DECLARE_COMMAND_BUFFER(link, object, method, 1);
  ib_uverbs_attr* provider_handle = fill_attr_out_obj(link, 20);
  Command<object, method, 1> command(link);
  const auto* handle = command.new_object(10);
  kernel.on(object, method, [](const fake::Call& call) {
    call.at(10).answer_handle(1);
    call.at(20).answer_handle(2);
    return 0;
  });
  ASSERT_EQ(command.execute(device.context()), 0);
  EXPECT_EQ(handle_of(handle), 1u);
  EXPECT_EQ(read_attr_obj(20, provider_handle), 2u);
}

TEST_F(LinkTest, ARefusedChainIsLeftAsItWas) {
  DECLARE_COMMAND_BUFFER(link, object, method, 1);
  ib_uverbs_attr* provider_handle = fill_attr_out_obj(link, 20);
  Command<object, method, 1> command(link);
  kernel.on(object, method, [](const fake::Call& call) {
    call.at(20).answer_handle(2);
    return ENOSPC;
  });
  EXPECT_EQ(command.execute(device.context()), ENOSPC);
  EXPECT_EQ(read_attr_obj(20, provider_handle), 0u);
}

TEST_F(LinkTest, ALongChainIsSentWhole) {
  DECLARE_COMMAND_BUFFER(link, object, method, 100);
  for (uint16_t i = 0; i < 100; i++)
    fill_attr_in_uint32(link, static_cast<uint16_t>(100 + i), i);
  Command<object, method, 1> command(link);
  command.in(1, 1);
  ASSERT_EQ(command.execute(device.context()), 0);
  ASSERT_EQ(kernel.last().attributes.size(), 101u);
  EXPECT_EQ(kernel.last().at(199).value<uint32_t>(), 99u);
}

TEST_F(LinkTest, ABrokenLinkBreaksTheCommand) {
  DECLARE_COMMAND_BUFFER(link, object, method, 1);
  fill_attr_in(link, 20, nullptr, 65536);
  Command<object, method, 1> command(link);
  EXPECT_EQ(command.execute(device.context()), EINVAL);
  EXPECT_TRUE(kernel.calls().empty());
}

TEST_F(LinkTest, ALinkForAnotherMethodIsRefused) {
  DECLARE_COMMAND_BUFFER(link, object, method + 1, 1);
  Command<object, method, 1> command(link);
  EXPECT_EQ(command.execute(device.context()), EINVAL);
}

TEST_F(LinkTest, ProviderDataCanTravelOnlyOnce) {
  DECLARE_COMMAND_BUFFER(link, object, method, 1);
  fill_attr_in_uint32(link, UVERBS_ATTR_UHW_IN, 1);
  Command<object, method, 1> alone(link);
  EXPECT_EQ(alone.execute(device.context()), 0);
  Command<object, method, 1> twice(link);
  twice.in(UVERBS_ATTR_UHW_IN, 1);
  EXPECT_EQ(twice.execute(device.context()), EINVAL);
}

TEST_F(LinkTest, ABufferOfAProviderAloneIsSentInPlace) {
  DECLARE_COMMAND_BUFFER(command, object, method, 1);
  ib_uverbs_attr* handle = fill_attr_out_obj(command, 1);
  kernel.on(object, method, [](const fake::Call& call) {
    call.at(1).answer_handle(8);
    return 0;
  });
  ASSERT_EQ(execute_ioctl(&device.context(), command), 0);
  EXPECT_EQ(read_attr_obj(1, handle), 8u);
}

// Data behind the structures of a command.
struct Request {
  uint64_t core[2];
};
struct ProviderRequest {
  Request core;
  uint64_t more;
};

TEST(UserDataTest, IsWhatFollowsTheStructures) {
  ProviderRequest request{}, response{};
  UserData data = data_behind(&request.core, sizeof(request), &response.core, sizeof(response));
  EXPECT_TRUE(data.valid);
  EXPECT_EQ(data.in, &request.more);
  EXPECT_EQ(data.in_length, 8u);
  EXPECT_EQ(data.out, &response.more);
  EXPECT_EQ(data.out_length, 8u);
}

TEST(UserDataTest, IsNothingBehindPlainStructures) {
  Request request{};
  UserData data = data_behind(&request, sizeof(request));
  EXPECT_TRUE(data.valid);
  EXPECT_EQ(data.in_length, 0u);
  EXPECT_TRUE(data_behind<Request>(nullptr, 0).valid);
}

TEST(UserDataTest, IsInvalidBehindShortStructures) {
  Request request{};
  EXPECT_FALSE(data_behind(&request, sizeof(request) - 1).valid);
  EXPECT_FALSE(data_behind(&request, sizeof(request), &request, 4).valid);
}

TEST_F(CommandTest, WriteCommandsTravelInsideInvokeWrite) {
  struct {
    uint64_t response;
    uint32_t value;
    uint32_t unused;
  } request{0, 7, 0};
  uint32_t response = 0;
  uint64_t provider = 5;
  kernel.on_write(extended(50), [](const fake::Call& call) {
    call.at(UVERBS_ATTR_CORE_OUT).answer(uint32_t{99});
    return 0;
  });
  const UserData data{.in = &provider, .in_length = sizeof(provider)};
  ASSERT_EQ(invoke_write(device.context(), extended(50), request, response, data), 0);
  EXPECT_EQ(response, 99u);
  const fake::Call& call = kernel.last();
  EXPECT_EQ(call.at(UVERBS_ATTR_WRITE_CMD).value<uint64_t>(), 0x80000032u);
  EXPECT_EQ(call.at(UVERBS_ATTR_CORE_IN).length, 16);
  EXPECT_EQ(call.at(UVERBS_ATTR_CORE_IN).address(), &request);
  EXPECT_EQ(call.at(UVERBS_ATTR_UHW_IN).value<uint64_t>(), 5u);
  EXPECT_FALSE(call.has(UVERBS_ATTR_UHW_OUT));
}

}  // namespace
