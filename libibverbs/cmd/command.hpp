// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// One command to the kernel: an object, a method and typed attributes, built on the stack.
//
// The bytes are those of the providers' own command buffers (struct ibv_command_buffer and its
// attributes), so a provider's buffer can be linked to a command of the library, and both leave
// through execute_ioctl().
#pragma once

#include <infiniband/cmd_ioctl.h>
#include <infiniband/driver.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace verbs {

inline uint64_t address_of(const void* pointer) noexcept {
  return reinterpret_cast<uintptr_t>(pointer);
}

// An attribute that the kernel may leave out of account if it does not know it.
inline ib_uverbs_attr* optional(ib_uverbs_attr* attribute) noexcept {
  if (attribute) attribute->flags &= static_cast<uint16_t>(~UVERBS_ATTR_F_MANDATORY);
  return attribute;
}

// Adds attributes to a command buffer. Each function returns the attribute, or nullptr when it was
// left out or did not fit; a buffer that something did not fit into is refused when it is executed.
class AttributeWriter {
 public:
  explicit AttributeWriter(ibv_command_buffer& buffer) noexcept : buffer_(buffer) {}

  // A value of up to eight bytes travels inside the attribute.
  template <class T>
  ib_uverbs_attr* in(uint16_t id, T value) noexcept {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    static_assert(sizeof(T) <= sizeof(uint64_t), "larger values are passed by name: in_struct()");
    return in_bytes(id, &value, sizeof(value));
  }

  // A structure that stays where it is until the command has been executed.
  template <class T>
  ib_uverbs_attr* in_struct(uint16_t id, const T& value) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return in_bytes(id, &value, sizeof(value));
  }
  template <class T>
  void in_struct(uint16_t id, const T&& value) = delete;

  template <class T>
  ib_uverbs_attr* in_array(uint16_t id, std::span<const T> values) noexcept {
    return in_bytes(id, values.data(), values.size_bytes());
  }

  ib_uverbs_attr* in_bytes(uint16_t id, const void* bytes, size_t length) noexcept;

  // A selector of eight bytes, whatever the type of the value.
  ib_uverbs_attr* constant(uint16_t id, uint64_t value) noexcept { return in(id, value); }

  // One of several alternatives, with what belongs to it.
  ib_uverbs_attr* alternative(uint16_t id, uint8_t which, const void* bytes,
                              size_t length) noexcept;

  // A user pointer that the kernel hands back in events.
  ib_uverbs_attr* user_handle(uint16_t id, const void* pointer) noexcept {
    return in(id, address_of(pointer));
  }

  ib_uverbs_attr* object(uint16_t id, uint32_t handle) noexcept;
  ib_uverbs_attr* new_object(uint16_t id) noexcept;  // read it with handle_of()
  ib_uverbs_attr* fd(uint16_t id, int fd) noexcept;  // left out when fd is -1
  ib_uverbs_attr* new_fd(uint16_t id) noexcept;      // read it with fd_of()

  template <class T>
  ib_uverbs_attr* out(uint16_t id, T& value) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return out_bytes(id, &value, sizeof(value));
  }
  ib_uverbs_attr* out_bytes(uint16_t id, void* bytes, size_t length) noexcept;

 private:
  ib_uverbs_attr* next(uint16_t id) noexcept;
  ib_uverbs_attr* next_sized(uint16_t id, size_t length) noexcept;

  ibv_command_buffer& buffer_;
};

inline uint32_t handle_of(const ib_uverbs_attr* attribute) noexcept {
  return static_cast<uint32_t>(attribute->data);
}

inline int fd_of(const ib_uverbs_attr* attribute) noexcept {
  return static_cast<int>(attribute->data_s64);
}

// A command with room for so many attributes of its own. A linked provider buffer adds to them, and
// finds its outputs in its own attributes afterwards.
template <uint16_t Object, uint16_t Method, size_t MaxAttributes>
class [[nodiscard]] Command : public AttributeWriter {
 public:
  explicit Command(ibv_command_buffer* link = nullptr) noexcept : AttributeWriter(buffer()) {
    memset(storage_, 0, sizeof(storage_));
    ibv_command_buffer& head = buffer();
    head.next = link;
    head.next_attr = head.hdr.attrs;
    head.last_attr = head.hdr.attrs + MaxAttributes;
    head.uhw_in_idx = _UHW_NO_INDEX;
    head.uhw_out_idx = _UHW_NO_INDEX;
    head.hdr.object_id = Object;
    head.hdr.method_id = Method;
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // 0 or an errno value.
  int execute(ibv_context& context) noexcept { return execute_ioctl(&context, &buffer()); }

  ibv_command_buffer& buffer() noexcept { return *reinterpret_cast<ibv_command_buffer*>(storage_); }

 private:
  static constexpr size_t size =
      sizeof(ibv_command_buffer) + MaxAttributes * sizeof(ib_uverbs_attr);
  alignas(ibv_command_buffer) std::byte storage_[size];
};

// Opaque data of the provider, on the way in and out. Providers put it behind the structures that
// this library fills in.
struct UserData {
  const void* in = nullptr;
  size_t in_length = 0;
  void* out = nullptr;
  size_t out_length = 0;
  bool valid = true;  // a structure was shorter than what it begins with

  void add_to(AttributeWriter& writer) const noexcept {
    if (in_length) writer.in_bytes(UVERBS_ATTR_UHW_IN, in, in_length);
    if (out_length) writer.out_bytes(UVERBS_ATTR_UHW_OUT, out, out_length);
  }
};

// What follows *command and *response, either of which may be absent.
template <class Request>
UserData data_behind(const Request* command, size_t command_size) noexcept {
  if (!command) return {};
  if (command_size < sizeof(*command)) return {.valid = false};
  return {.in = reinterpret_cast<const std::byte*>(command) + sizeof(*command),
          .in_length = command_size - sizeof(*command)};
}

template <class Request, class Response>
UserData data_behind(const Request* command, size_t command_size, Response* response,
                     size_t response_size) noexcept {
  UserData data = data_behind(command, command_size);
  if (!response) return data;
  if (response_size < sizeof(*response)) {
    data.valid = false;
    return data;
  }
  data.out = reinterpret_cast<std::byte*>(response) + sizeof(*response);
  data.out_length = response_size - sizeof(*response);
  return data;
}

// Commands that have no method of their own travel inside INVOKE_WRITE. Command is a number of the
// write interface; extended ones carry IB_USER_VERBS_CMD_FLAG_EXTENDED.
int invoke_write(ibv_context& context, uint32_t command, std::span<const std::byte> request,
                 std::span<std::byte> response, const UserData& data) noexcept;

template <class T>
std::span<const std::byte> bytes_of(const T& object) noexcept {
  return std::as_bytes(std::span(&object, 1));
}
template <class T>
std::span<std::byte> writable_bytes_of(T& object) noexcept {
  return std::as_writable_bytes(std::span(&object, 1));
}

template <class Request, class Response>
int invoke_write(ibv_context& context, uint32_t command, Request& request, Response& response,
                 const UserData& data = {}) noexcept {
  if constexpr (requires { request.response; }) request.response = address_of(&response);
  return invoke_write(context, command, bytes_of(request), writable_bytes_of(response), data);
}

template <class Request>
int invoke_write(ibv_context& context, uint32_t command, const Request& request,
                 const UserData& data = {}) noexcept {
  return invoke_write(context, command, bytes_of(request), std::span<std::byte>{}, data);
}

constexpr uint32_t extended(uint32_t command) noexcept {
  return command | IB_USER_VERBS_CMD_FLAG_EXTENDED;
}

}  // namespace verbs
