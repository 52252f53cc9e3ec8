// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A process made of one block of bytes, whose descriptors are this process's.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "uverbs/kernel.hpp"

namespace sim::uverbs::test {

class FakeCaller final : public Caller, public std::enable_shared_from_this<FakeCaller> {
 public:
  static constexpr uint64_t base = 0x10000000;
  static constexpr size_t size = 1 << 20;
  static constexpr uint64_t read_only = base + size / 2;  // memory from here on

  class Memory final : public nic::GuestMemory {
   public:
    bool read(uint64_t va, std::span<std::byte> out) override {
      if (va < base || va - base > size || out.size() > size - (va - base)) return false;
      std::memcpy(out.data(), bytes.data() + (va - base), out.size());
      return true;
    }
    bool write(uint64_t va, std::span<const std::byte> in) override {
      if (va < base || va - base > size || in.size() > size - (va - base)) return false;
      std::memcpy(bytes.data() + (va - base), in.data(), in.size());
      return true;
    }
    std::vector<std::byte> bytes = std::vector<std::byte>(size);
  };

  ~FakeCaller() override {
    for (int fd : installed)
      close(fd);
  }
  pid_t process() const override { return 4711; }
  const Credentials& credentials() override { return who; }
  bool read(uint64_t va, std::span<std::byte> out) override { return memory_->read(va, out); }
  bool write(uint64_t va, std::span<const std::byte> in) override {
    return va != unwritable && memory_->write(va, in);
  }
  int check_range(uint64_t va, uint64_t len, bool writable) override {
    if (va < base || va - base > size || len > size - (va - base)) return EFAULT;
    return writable && va + len > read_only ? EFAULT : 0;
  }
  std::shared_ptr<nic::GuestMemory> memory() override { return memory_; }
  int install_fd(int fd) override {
    if (install_error) return -install_error;
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    installed.push_back(copy);
    return copy;
  }
  std::optional<FileId> identify(int fd) override {
    struct stat st {};
    if (fstat(fd, &st) != 0) return std::nullopt;
    return FileId{st.st_dev, st.st_ino};
  }

  int take_fd(int fd) override {
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return copy < 0 ? -errno : copy;
  }

  template <class T>
  T load(uint64_t va) {
    T value{};
    memory_->read(va, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  template <class T>
  void store(uint64_t va, const T& value) {
    memory_->write(va, std::as_bytes(std::span(&value, 1)));
  }
  void close_fd(int fd) {
    std::erase(installed, fd);
    close(fd);
  }

  Credentials who{1000, 1000, 100, 100, {}, false, false, false};
  uint64_t unwritable = 0;
  int install_error = 0;
  std::vector<int> installed;

 private:
  std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
};

}  // namespace sim::uverbs::test
