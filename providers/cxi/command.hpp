// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// One ioctl to the driver: an object, a method, and attributes on the stack.
#pragma once

#include <infiniband/driver.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace cxi {

template <unsigned Room>
class Command {
 public:
  Command(std::uint16_t object, std::uint16_t method) noexcept {
    std::memset(buffer_, 0, sizeof(ib_uverbs_ioctl_hdr));
    hdr().object_id = object;
    hdr().method_id = method;
    hdr().driver_id = RDMA_DRIVER_CXI;
  }

  /// An object that the method uses, or makes. Returns the attribute, for optional() and handle().
  unsigned object_in(std::uint16_t id, std::uint32_t handle) noexcept { return add(id, 0, handle); }
  unsigned object_out(std::uint16_t id) noexcept { return add(id, 0, 0); }
  std::uint32_t handle(unsigned attr) const noexcept {
    std::uint64_t data;
    std::memcpy(&data, attr_at(attr) + offsetof(ib_uverbs_attr, data), sizeof(data));
    return static_cast<std::uint32_t>(data);
  }

  /// A plain value; up to eight bytes travel in the attribute itself.
  template <class T>
  unsigned in(std::uint16_t id, const T& value) noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) < 65536);
    if constexpr (sizeof(T) <= 8) {
      std::uint64_t data = 0;
      std::memcpy(&data, &value, sizeof(T));
      return add(id, sizeof(T), data);
    } else {
      return add(id, sizeof(T), reinterpret_cast<std::uintptr_t>(&value));
    }
  }
  template <class T>
  unsigned out(std::uint16_t id, T& value) noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) < 65536);
    return add(id, sizeof(T), reinterpret_cast<std::uintptr_t>(&value));
  }
  unsigned fd_in(std::uint16_t id, int fd) noexcept {
    return add(id, 0, static_cast<std::uint64_t>(std::int64_t{fd}));
  }
  /// A kernel that does not know the attribute ignores it.
  void optional(unsigned attr) noexcept {
    reinterpret_cast<ib_uverbs_attr*>(attr_at(attr))->flags = 0;
  }

  /// Returns 0 or an errno value.
  [[nodiscard]] int execute(const ibv_context& context) noexcept {
    hdr().num_attrs = count_;
    hdr().length = static_cast<std::uint16_t>(attr_at(count_) - buffer_);
    const int saved = errno;
    const int err = ioctl(context.cmd_fd, RDMA_VERBS_IOCTL, buffer_) ? errno : 0;
    errno = saved;
    return err;
  }

 private:
  unsigned add(std::uint16_t id, std::uint16_t length, std::uint64_t data) noexcept {
    ib_uverbs_attr attr = {};
    attr.attr_id = id;
    attr.len = length;
    attr.flags = UVERBS_ATTR_F_MANDATORY;
    attr.data = data;
    std::memcpy(attr_at(count_), &attr, sizeof(attr));
    return count_++;
  }
  ib_uverbs_ioctl_hdr& hdr() noexcept { return *reinterpret_cast<ib_uverbs_ioctl_hdr*>(buffer_); }
  std::byte* attr_at(unsigned attr) noexcept {
    return buffer_ + sizeof(ib_uverbs_ioctl_hdr) + attr * sizeof(ib_uverbs_attr);
  }
  const std::byte* attr_at(unsigned attr) const noexcept {
    return buffer_ + sizeof(ib_uverbs_ioctl_hdr) + attr * sizeof(ib_uverbs_attr);
  }

  alignas(8) std::byte buffer_[sizeof(ib_uverbs_ioctl_hdr) + Room * sizeof(ib_uverbs_attr)];
  std::uint16_t count_ = 0;
};

}  // namespace cxi
