// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A kernel for tests: takes the place of ioctl(), keeps what it was given and answers as it is
// told.
#pragma once

#include <infiniband/cmd_write.h>
#include <infiniband/driver.h>

#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace fake {

// One attribute as the kernel sees it, with the bytes that an input names.
struct Attribute {
  uint16_t id;
  uint16_t length;
  uint16_t flags;
  uint8_t element;
  uint64_t data;
  ib_uverbs_attr* raw;

  bool mandatory() const { return flags & UVERBS_ATTR_F_MANDATORY; }

  // The value of an input, wherever it travels.
  template <class T>
  T value() const {
    T result{};
    const void* from = length <= sizeof(data) ? static_cast<const void*>(&data) : address();
    memcpy(&result, from, std::min<size_t>(length, sizeof(result)));
    return result;
  }
  void* address() const { return reinterpret_cast<void*>(static_cast<uintptr_t>(data)); }

  // Writes an output.
  template <class T>
  void answer(const T& value) const {
    memcpy(address(), &value, std::min<size_t>(length, sizeof(value)));
  }
  void answer_handle(uint64_t handle) const { raw->data = handle; }
};

struct Header {
  uint16_t length, object_id, method_id, num_attrs;
  uint64_t reserved1;
  uint32_t driver_id, reserved2;
};
static_assert(sizeof(Header) == sizeof(ib_uverbs_ioctl_hdr));

struct Call {
  int fd;
  unsigned long request;
  Header header;
  std::vector<Attribute> attributes;

  bool has(uint16_t id) const { return find(id) != nullptr; }
  const Attribute* find(uint16_t id) const;
  const Attribute& at(uint16_t id) const;  // the test fails when it is not there
};

// Returns 0 or an errno value.
using Handler = std::function<int(const Call& call)>;

class Kernel {
 public:
  Kernel();
  ~Kernel();

  void on(uint16_t object, uint16_t method, Handler handler);
  // A command of the write interface, inside INVOKE_WRITE.
  void on_write(uint64_t command, Handler handler);

  int answer(int fd, unsigned long request, ib_uverbs_ioctl_hdr& header);
  const std::vector<Call>& calls() const { return calls_; }
  const Call& last() const { return calls_.back(); }

 private:
  std::map<std::pair<uint16_t, uint16_t>, Handler> handlers_;
  std::map<uint64_t, Handler> write_handlers_;
  std::vector<Call> calls_;
};

// A device and an open context without anything behind them.
class Device {
 public:
  explicit Device(uint32_t driver_id = 77);
  ~Device();

  ibv_context& context() { return context_->context; }
  verbs_context& extended() { return *context_; }
  verbs_device& device() { return device_; }
  void set(const verbs_context_ops& ops) { verbs_set_ops(context_, &ops); }

 private:
  verbs_device_ops device_ops_{};
  verbs_device device_{};
  verbs_context* context_;
};

}  // namespace fake
