// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// cmd_ioctl.h: how each kind of attribute is put into a command buffer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/cmd_ioctl.h>
#include <infiniband/driver.h>

#include <array>
#include <cstring>
#include <vector>

// What the provider in abi_provider.c reaches of the library.
namespace {
const verbs_device_ops* registered;
std::vector<ib_uverbs_attr> sent;
size_t sent_room;
ibv_command_buffer* sent_link;
}  // namespace

extern "C" {
void verbs_register_driver(const verbs_device_ops* ops) {
  registered = ops;
}
void* _verbs_init_and_alloc_context(ibv_device*, int, size_t, verbs_context*, uint32_t) {
  return nullptr;
}
void verbs_set_ops(verbs_context*, const verbs_context_ops*) {}
void __verbs_log(verbs_context*, uint32_t, const char*, ...) {}
unsigned int __ioctl_final_num_attrs(unsigned int num_attrs, ibv_command_buffer* link) {
  for (; link; link = link->next)
    num_attrs += link->next_attr - link->hdr.attrs;
  return num_attrs;
}
int execute_ioctl(ibv_context*, ibv_command_buffer* cmd) {
  sent.assign(cmd->hdr.attrs, cmd->next_attr);
  sent_room = cmd->last_attr - cmd->hdr.attrs;
  sent_link = cmd->next;
  return EPROTO;
}
int abi_send_linked(ibv_context* context, ibv_command_buffer* link);
}

namespace {

class CommandBuffer : public testing::Test {
 protected:
  CommandBuffer() { _ioctl_init_cmdb(cmd, 3, 5, room, nullptr); }

  static constexpr size_t room = 4;
  std::array<ibv_command_buffer, _IOCTL_NUM_CMDB(room)> storage;
  ibv_command_buffer* cmd = storage.data();
};

TEST_F(CommandBuffer, StartsEmptyWithoutOpaqueData) {
  EXPECT_EQ(cmd->hdr.object_id, 3);
  EXPECT_EQ(cmd->hdr.method_id, 5);
  EXPECT_EQ(cmd->next_attr, cmd->hdr.attrs);
  EXPECT_EQ(cmd->last_attr, cmd->hdr.attrs + room);
  EXPECT_EQ(cmd->uhw_in_idx, _UHW_NO_INDEX);
  EXPECT_EQ(cmd->uhw_out_idx, _UHW_NO_INDEX);
  EXPECT_FALSE(cmd->buffer_error);
}

TEST_F(CommandBuffer, HasRoomForTheAttributesItWasDeclaredFor) {
  const char* end = reinterpret_cast<const char*>(storage.data() + storage.size());
  EXPECT_LE(reinterpret_cast<const char*>(cmd->last_attr), end);
}

TEST_F(CommandBuffer, AttributesAreMandatoryUnlessMadeOptional) {
  EXPECT_EQ(fill_attr_in_obj(cmd, 1, 9)->flags, UVERBS_ATTR_F_MANDATORY);
  EXPECT_EQ(attr_optional(fill_attr_in_obj(cmd, 2, 9))->flags, 0);
  EXPECT_EQ(attr_optional(nullptr), nullptr);
}

TEST_F(CommandBuffer, ObjectsTravelAsHandleWithoutLength) {
  ib_uverbs_attr* attr = fill_attr_in_obj(cmd, 7, 0x8000'0001u);
  EXPECT_EQ(attr->attr_id, 7);
  EXPECT_EQ(attr->len, 0);
  EXPECT_EQ(attr->data, 0x8000'0001u);
}

TEST_F(CommandBuffer, NewObjectsAreReadFromTheAttribute) {
  ib_uverbs_attr* attr = fill_attr_out_obj(cmd, 7);
  EXPECT_EQ(attr->data, 0u);
  attr->data = 42;
  EXPECT_EQ(read_attr_obj(7, attr), 42u);
}

TEST_F(CommandBuffer, InputsOfUpToEightBytesAreCopied) {
  uint64_t value = 0x0102'0304'0506'0708;
  ib_uverbs_attr* attr = fill_attr_in(cmd, 1, &value, sizeof value);
  value = 0;
  EXPECT_EQ(attr->len, 8);
  EXPECT_EQ(attr->data, 0x0102'0304'0506'0708u);

  const std::array<uint8_t, 3> bytes = {1, 2, 3};
  attr = fill_attr_in(cmd, 2, bytes.data(), bytes.size());
  EXPECT_EQ(attr->len, 3);
  EXPECT_EQ(std::memcmp(&attr->data, "\1\2\3\0\0\0\0\0", 8), 0);
}

TEST_F(CommandBuffer, LongerInputsAreNamedByAddress) {
  const std::array<uint8_t, 9> bytes = {};
  ib_uverbs_attr* attr = fill_attr_in_ptr(cmd, 1, &bytes);
  EXPECT_EQ(attr->len, 9);
  EXPECT_EQ(attr->data, reinterpret_cast<uintptr_t>(bytes.data()));
}

TEST_F(CommandBuffer, IntegersTakeTheirOwnLengthAndConstantsEightBytes) {
  EXPECT_EQ(fill_attr_in_uint32(cmd, 1, 5)->len, 4);
  EXPECT_EQ(fill_attr_in_uint64(cmd, 2, 5)->len, 8);
  EXPECT_EQ(fill_attr_const_in(cmd, 3, 5)->len, 8);
}

TEST_F(CommandBuffer, EnumerationsSayWhatTheirDataIs) {
  const uint32_t data = 6;
  ib_uverbs_attr* attr = fill_attr_in_enum(cmd, 1, 3, &data, sizeof data);
  EXPECT_EQ(attr->attr_data.enum_data.elem_id, 3);
  EXPECT_EQ(attr->len, 4);
  EXPECT_EQ(attr->data, 6u);
}

TEST_F(CommandBuffer, OutputsAreNamedByAddressHoweverShort) {
  uint8_t out = 0;
  ib_uverbs_attr* attr = fill_attr_out_ptr(cmd, 1, &out);
  EXPECT_EQ(attr->len, 1);
  EXPECT_EQ(attr->data, reinterpret_cast<uintptr_t>(&out));
}

TEST_F(CommandBuffer, AbsentDescriptorsAreLeftOut) {
  EXPECT_EQ(fill_attr_in_fd(cmd, 1, -1), nullptr);
  EXPECT_EQ(cmd->next_attr, cmd->hdr.attrs);
  EXPECT_EQ(fill_attr_in_fd(cmd, 1, 4)->data, 4u);
}

TEST_F(CommandBuffer, NewDescriptorsAreReadFromTheAttribute) {
  ib_uverbs_attr* attr = fill_attr_out_fd(cmd, 2, 0);
  attr->data = 17;
  EXPECT_EQ(read_attr_fd(2, attr), 17);
}

TEST_F(CommandBuffer, WhatIsTooLongForAnAttributeSpoilsTheBuffer) {
  std::vector<uint8_t> bytes(65536);
  fill_attr_in(cmd, 1, bytes.data(), 65535);
  EXPECT_FALSE(cmd->buffer_error);
  fill_attr_in(cmd, 2, bytes.data(), 65536);
  EXPECT_TRUE(cmd->buffer_error);
}

TEST_F(CommandBuffer, ArraysWhoseLengthOverflowsSpoilTheBuffer) {
  uint64_t element = 0;
  fill_attr_out_ptr_array(cmd, 1, &element, SIZE_MAX / 4);
  EXPECT_TRUE(cmd->buffer_error);
}

TEST_F(CommandBuffer, HandlesTravelAsArray) {
  const std::array<uint32_t, 3> handles = {1, 2, 3};
  ib_uverbs_attr* attr = fill_attr_in_objs_arr(cmd, 1, handles.data(), handles.size());
  EXPECT_EQ(attr->len, 12);
  EXPECT_EQ(attr->data, reinterpret_cast<uintptr_t>(handles.data()));
}

TEST_F(CommandBuffer, BuffersWithDmabufAllowOnlyTheIoctl) {
  ib_uverbs_buffer_desc desc;
  std::array<char, 64> memory;
  ibv_buf buf;

  ibv_buf_init(&buf, nullptr, memory.data(), memory.size());
  fill_attr_in_buf_umem(cmd, 1, &desc, &buf, memory.data(), 8);
  EXPECT_EQ(cmd->next_attr, cmd->hdr.attrs);
  EXPECT_FALSE(cmd->fallback_ioctl_only);

  ibv_buf_init_dmabuf(&buf, nullptr, memory.data(), memory.size(), 5);
  fill_attr_in_buf_umem(cmd, 1, &desc, &buf, memory.data() + 16, 8);
  EXPECT_TRUE(cmd->fallback_ioctl_only);
  EXPECT_EQ(desc.fd, 5);
  EXPECT_EQ(desc.addr, 16u);
  EXPECT_EQ(desc.length, 8u);

  fill_attr_in_buf_umem(cmd, 2, &desc, &buf, nullptr, 0);
  EXPECT_EQ(desc.addr, 0u);
  EXPECT_EQ(desc.length, 64u);
}

TEST_F(CommandBuffer, LinkedBuffersGetRoomInTheFirst) {
  fill_attr_in_uint32(cmd, UVERBS_ID_DRIVER_NS_WITH_UHW, 1);
  EXPECT_EQ(abi_send_linked(nullptr, cmd), EPROTO);
  EXPECT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent_room, 3u);
  EXPECT_EQ(sent_link, cmd);
}

TEST(Provider, RegistersWhenItIsLoaded) {
  ASSERT_NE(registered, nullptr);
  EXPECT_STREQ(registered->name, "abi");
  EXPECT_EQ(registered->match_table[0].u.driver_id, RDMA_DRIVER_CXI);
  EXPECT_EQ(registered->match_table[1].vendor, 0x17db);
  EXPECT_STREQ(registered->match_table[3].u.modalias, "rdma_device:*Ncxi*");
  EXPECT_EQ(registered->match_table[4].kind, VERBS_MATCH_SENTINEL);
  EXPECT_EQ(registered->alloc_context(nullptr, -1, nullptr), nullptr);
}

}  // namespace
