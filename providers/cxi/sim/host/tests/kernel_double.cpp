// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Stands in for the kernel's side: keeps files, answers a private ioctl language, and copies a word
// in shared memory when it is stepped.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>

#include "host/fd.hpp"
#include "host/tests/double_abi.hpp"
#include "uverbs/kernel.hpp"

namespace sim::host::tests {
namespace {

using uverbs::Caller;

class File final : public uverbs::OpenFile {
 public:
  explicit File(unsigned nic) : fd_(memfd_create("double", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    if (!fd_ || ftruncate(fd_.get(), double_bytes) != 0) return;
    fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    void* at = mmap(nullptr, double_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    if (at == MAP_FAILED) return;
    pages = static_cast<DoublePages*>(at);
    pages->nic = nic;
  }
  ~File() override {
    if (pages != nullptr) munmap(pages, double_bytes);
  }
  int fd() const override { return fd_.get(); }
  uverbs::FileId id() const override {
    struct stat found {};
    fstat(fd_.get(), &found);
    return {found.st_dev, found.st_ino};
  }

  DoublePages* pages = nullptr;
  uint64_t count = 0;

 private:
  Fd fd_;
};

class KernelDouble final : public uverbs::Kernel {
 public:
  explicit KernelDouble(const uverbs::KernelConfig& config, nic::Trace& trace)
      : config_(config), trace_(trace), link_(config.nics, true) {}

  std::vector<uverbs::NicDescription> nics() const override {
    std::vector<uverbs::NicDescription> all;
    for (unsigned i = 0; i < config_.nics; i++) {
      auto n = std::to_string(i);
      all.push_back({"cxi" + n, "uverbs" + n, "hsn" + n, config_.first_nid + i, 192 + i});
    }
    return all;
  }

  std::vector<std::pair<std::string, std::string>> sysfs() const override {
    std::lock_guard guard(lock_);
    std::vector<std::pair<std::string, std::string>> all = {
        {"class/infiniband_verbs/abi_version", "6\n"}};
    for (unsigned i = 0; i < config_.nics; i++) {
      auto n = std::to_string(i);
      auto device = "devices/double/" + n;
      all.push_back({"class/infiniband/cxi" + n, "-> ../../" + device + "/infiniband/cxi" + n});
      all.push_back({"class/infiniband_verbs/uverbs" + n,
                     "-> ../../" + device + "/infiniband_verbs/uverbs" + n});
      all.push_back({device + "/vendor", "0x17db\n"});
      all.push_back({device + "/infiniband/cxi" + n + "/node_type", "1: CA\n"});
      all.push_back({device + "/infiniband/cxi" + n + "/device", "-> ../.."});
      all.push_back({device + "/infiniband/cxi" + n + "/ports/1/state",
                     link_[i] ? "4: ACTIVE\n" : "1: DOWN\n"});
      all.push_back({device + "/infiniband_verbs/uverbs" + n + "/ibdev", "cxi" + n + "\n"});
      all.push_back({device + "/infiniband_verbs/uverbs" + n + "/dev",
                     "231:" + std::to_string(192 + i) + "\n"});
    }
    return all;
  }

  std::shared_ptr<uverbs::OpenFile> open(unsigned nic, Caller&, int* error) override {
    std::lock_guard guard(lock_);
    auto file = std::make_shared<File>(nic);
    if (file->pages == nullptr) {
      *error = ENOMEM;
      return nullptr;
    }
    files_.push_back(file);
    trace_.line("open of cxi" + std::to_string(nic));
    return file;
  }

  int ioctl(uverbs::OpenFile& open, Caller& caller, uint64_t arg) override {
    auto& file = static_cast<File&>(open);
    DoubleCall call;
    if (!caller.read(arg, std::as_writable_bytes(std::span(&call, 1)))) return EFAULT;
    if (call.op == Op::slow_count) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::lock_guard guard(lock_);
    if (int error = act(file, caller, call)) return error;
    return caller.write(arg, std::as_bytes(std::span(&call, 1))) ? 0 : EFAULT;
  }

  void release(uverbs::OpenFile& open) override {
    std::lock_guard guard(lock_);
    released_++;
    trace_.line("release");
    std::erase_if(files_, [&](auto& file) { return file.get() == &open; });
  }

  bool step() override {
    std::lock_guard guard(lock_);
    steps_++;
    bool any = false;
    for (auto& file : files_) {
      std::atomic_ref<uint64_t> bell(file->pages->bell), echo(file->pages->echo);
      uint64_t rung = bell.load(std::memory_order_acquire);
      if (rung == echo.load(std::memory_order_relaxed)) continue;
      echo.store(rung, std::memory_order_release);
      any = true;
    }
    return any;
  }
  std::optional<uint64_t> next_due_ns() override { return std::nullopt; }
  bool quiet() override { return false; }
  void wake() override {}

  int set_link(unsigned nic, bool up) override {
    std::lock_guard guard(lock_);
    link_.at(nic) = up;
    return 0;
  }
  int fail_device(unsigned) override { return EOPNOTSUPP; }

 private:
  int act(File& file, Caller& caller, DoubleCall& call) {
    switch (call.op) {
      case Op::count:
      case Op::slow_count:
        call.result = ++file.count;
        return 0;
      case Op::fail:
        return static_cast<int>(call.length);
      case Op::who:
        call.result = static_cast<uint64_t>(caller.process()) << 32 | caller.credentials().euid;
        return 0;
      case Op::reverse: {
        std::vector<std::byte> bytes(call.length);
        if (!caller.read(call.va, bytes)) return EFAULT;
        std::ranges::reverse(bytes);
        return caller.write(call.va, bytes) ? 0 : EFAULT;
      }
      case Op::opens:
        call.result = static_cast<uint64_t>(files_.size()) << 32 | released_;
        return 0;
      case Op::install: {
        Fd fd(memfd_create("installed", MFD_CLOEXEC));
        if (!fd || ftruncate(fd.get(), static_cast<off_t>(call.length)) != 0) return ENOMEM;
        int number = caller.install_fd(fd.get());
        if (number < 0) return -number;
        call.result = static_cast<uint64_t>(number);
        return 0;
      }
      case Op::same_file:
        call.result = caller.identify(call.fd) == std::optional(file.id()) ? 1 : 0;
        return 0;
      case Op::check:
        call.result = static_cast<uint64_t>(caller.check_range(call.va, call.length, call.fd != 0));
        return 0;
      case Op::keep_memory:
        kept_ = caller.memory();
        return kept_ ? 0 : EFAULT;
      case Op::fill: {
        if (!kept_) return EINVAL;
        std::vector<std::byte> bytes(call.length, static_cast<std::byte>(call.fd));
        call.result = kept_->write(call.va, bytes) && kept_->read(call.va, bytes) ? 1 : 0;
        return 0;
      }
      case Op::wait_for_step:
        call.result = steps_;
        return 0;
    }
    return EINVAL;
  }

  const uverbs::KernelConfig config_;
  nic::Trace& trace_;
  mutable std::mutex lock_;
  std::vector<bool> link_;
  std::list<std::shared_ptr<File>> files_;
  std::shared_ptr<nic::GuestMemory> kept_;
  uint64_t released_ = 0, steps_ = 0;
};

}  // namespace
}  // namespace sim::host::tests

namespace sim::uverbs {

std::unique_ptr<Kernel> Kernel::make(const KernelConfig& config, nic::Clock&, nic::Trace& trace) {
  return std::make_unique<host::tests::KernelDouble>(config, trace);
}

}  // namespace sim::uverbs
