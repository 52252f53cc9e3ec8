// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "command.hpp"

#include <rdma/rdma_user_ioctl.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <limits>

#include "../export.hpp"
#include "../memory.hpp"
#include "../private_context.hpp"

namespace verbs {
namespace {

constexpr size_t max_attributes =
    (std::numeric_limits<uint16_t>::max() - sizeof(ib_uverbs_ioctl_hdr)) / sizeof(ib_uverbs_attr);
constexpr size_t attributes_on_stack = 48;

std::span<ib_uverbs_attr> attributes_of(ibv_command_buffer& buffer) {
  return {buffer.hdr.attrs, static_cast<size_t>(buffer.next_attr - buffer.hdr.attrs)};
}

// What makes a chain impossible, found before the kernel is asked.
bool chain_is_sound(const ibv_command_buffer& first) {
  bool user_data_seen = false;
  for (auto* buffer = &first; buffer; buffer = buffer->next) {
    if (buffer->buffer_error || buffer->hdr.object_id != first.hdr.object_id ||
        buffer->hdr.method_id != first.hdr.method_id)
      return false;
    for (auto* attribute = buffer->hdr.attrs; attribute < buffer->next_attr; attribute++) {
      if (attribute->attr_id != UVERBS_ATTR_UHW_IN) continue;
      if (user_data_seen) return false;
      user_data_seen = true;
    }
  }
  return true;
}

size_t count_attributes(ibv_command_buffer& first) {
  size_t count = 0;
  for (auto* buffer = &first; buffer; buffer = buffer->next)
    count += attributes_of(*buffer).size();
  return count;
}

int issue(ibv_context& context, const ibv_command_buffer& first, ib_uverbs_ioctl_hdr& header,
          size_t count) {
  uint16_t object = first.hdr.object_id;  // the header may be that of the first buffer itself
  uint16_t method = first.hdr.method_id;
  header = {};
  header.length = static_cast<uint16_t>(sizeof(header) + count * sizeof(ib_uverbs_attr));
  header.object_id = object;
  header.method_id = method;
  header.num_attrs = static_cast<uint16_t>(count);
  header.driver_id = private_context(context).driver_id;
  return ioctl(context.cmd_fd, RDMA_VERBS_IOCTL, &header) == 0 ? 0 : errno;
}

// Lines the attributes of a chain up behind one header, and brings them back to where they came
// from.
int issue_chain(ibv_context& context, ibv_command_buffer& first, size_t count) {
  struct OnStack {
    alignas(ib_uverbs_ioctl_hdr)
        std::byte bytes[sizeof(ib_uverbs_ioctl_hdr) + attributes_on_stack * sizeof(ib_uverbs_attr)];
  } on_stack;
  Owned<std::byte> on_heap;
  std::byte* room = on_stack.bytes;
  if (count > attributes_on_stack) {
    on_heap = Owned(static_cast<std::byte*>(
        malloc(sizeof(ib_uverbs_ioctl_hdr) + count * sizeof(ib_uverbs_attr))));
    room = on_heap.get();
    if (!room) return ENOMEM;
  }
  auto* header = reinterpret_cast<ib_uverbs_ioctl_hdr*>(room);
  auto* line = reinterpret_cast<ib_uverbs_attr*>(room + sizeof(*header));

  auto* to = line;
  for (auto* buffer = &first; buffer; buffer = buffer->next)
    for (const ib_uverbs_attr& attribute : attributes_of(*buffer))
      *to++ = attribute;
  if (int error = issue(context, first, *header, count)) return error;

  const auto* from = line;
  for (auto* buffer = &first; buffer; buffer = buffer->next)
    for (ib_uverbs_attr& attribute : attributes_of(*buffer))
      attribute = *from++;
  return 0;
}

}  // namespace

ib_uverbs_attr* AttributeWriter::next(uint16_t id) noexcept {
  if (buffer_.next_attr == buffer_.last_attr) {
    buffer_.buffer_error = 1;
    return nullptr;
  }
  ib_uverbs_attr* attribute = buffer_.next_attr++;
  *attribute = {};
  attribute->attr_id = id;
  attribute->flags = UVERBS_ATTR_F_MANDATORY;
  return attribute;
}

ib_uverbs_attr* AttributeWriter::next_sized(uint16_t id, size_t length) noexcept {
  if (length > std::numeric_limits<uint16_t>::max()) {
    buffer_.buffer_error = 1;
    return nullptr;
  }
  ib_uverbs_attr* attribute = next(id);
  if (attribute) attribute->len = static_cast<uint16_t>(length);
  return attribute;
}

ib_uverbs_attr* AttributeWriter::in_bytes(uint16_t id, const void* bytes, size_t length) noexcept {
  ib_uverbs_attr* attribute = next_sized(id, length);
  if (!attribute) return nullptr;
  if (length > sizeof(attribute->data))
    attribute->data = address_of(bytes);
  else if (bytes)
    memcpy(&attribute->data, bytes, length);
  return attribute;
}

ib_uverbs_attr* AttributeWriter::alternative(uint16_t id, uint8_t which, const void* bytes,
                                             size_t length) noexcept {
  ib_uverbs_attr* attribute = in_bytes(id, bytes, length);
  if (attribute) attribute->attr_data.enum_data.elem_id = which;
  return attribute;
}

ib_uverbs_attr* AttributeWriter::object(uint16_t id, uint32_t handle) noexcept {
  ib_uverbs_attr* attribute = next(id);
  if (attribute) attribute->data = handle;
  return attribute;
}

ib_uverbs_attr* AttributeWriter::new_object(uint16_t id) noexcept {
  return next(id);
}

ib_uverbs_attr* AttributeWriter::fd(uint16_t id, int fd) noexcept {
  if (fd == -1) return nullptr;
  ib_uverbs_attr* attribute = next(id);
  if (attribute) attribute->data_s64 = fd;
  return attribute;
}

ib_uverbs_attr* AttributeWriter::new_fd(uint16_t id) noexcept {
  return next(id);
}

ib_uverbs_attr* AttributeWriter::out_bytes(uint16_t id, void* bytes, size_t length) noexcept {
  ib_uverbs_attr* attribute = next_sized(id, length);
  if (attribute) attribute->data = address_of(bytes);
  return attribute;
}

int invoke_write(ibv_context& context, uint32_t command, std::span<const std::byte> request,
                 std::span<std::byte> response, const UserData& data) noexcept {
  if (!data.valid) return EINVAL;
  Command<UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, 5> cmd;
  cmd.constant(UVERBS_ATTR_WRITE_CMD, command);
  if (!request.empty()) cmd.in_bytes(UVERBS_ATTR_CORE_IN, request.data(), request.size());
  if (!response.empty()) cmd.out_bytes(UVERBS_ATTR_CORE_OUT, response.data(), response.size());
  data.add_to(cmd);
  return cmd.execute(context);
}

}  // namespace verbs

// Issues a chain of command buffers. 0 or an errno value; after success, each buffer holds what the
// kernel wrote into its attributes.
VERBS_EXPORT int execute_ioctl(ibv_context* context, ibv_command_buffer* command) {
  if (!verbs::chain_is_sound(*command)) return EINVAL;
  size_t count = verbs::count_attributes(*command);
  if (count > verbs::max_attributes) return EINVAL;
  if (!command->next) return verbs::issue(*context, *command, command->hdr, count);
  return verbs::issue_chain(*context, *command, count);
}

// How many attributes a buffer needs room for when another chain is linked to it.
VERBS_EXPORT unsigned int __ioctl_final_num_attrs(unsigned int own, ibv_command_buffer* link) {
  for (; link; link = link->next)
    own += static_cast<unsigned int>(link->next_attr - link->hdr.attrs);
  return own;
}
