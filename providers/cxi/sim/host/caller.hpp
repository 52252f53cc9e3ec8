// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A task that is inside a trapped call: its memory, its descriptors, where it stands.
#pragma once

#include <climits>
#include <memory>
#include <optional>
#include <string>

#include "host/listener.hpp"
#include "host/process.hpp"
#include "uverbs/kernel.hpp"

namespace sim::host {

class TrappedCaller final : public uverbs::Caller {
 public:
  TrappedCaller(const Listener& listener, const Notification& call, ProcessTable& processes)
      : listener_(listener), call_(call), processes_(processes) {}

  // The kernel's side. If the caller has vanished, reads and writes fail and memory() is null.
  pid_t process() const override;
  const uverbs::Credentials& credentials() override;
  bool read(uint64_t va, std::span<std::byte> out) override;
  bool write(uint64_t va, std::span<const std::byte> in) override;
  int check_range(uint64_t va, uint64_t length, bool writable) override;
  std::shared_ptr<nic::GuestMemory> memory() override;
  int install_fd(int fd) override;
  std::optional<uverbs::FileId> identify(int fd) override;
  int take_fd(int fd) override;

  // The host's side.
  std::shared_ptr<Process> owner();  // remembered for later calls
  // A path argument, at most PATH_MAX long; nothing if it cannot be read.
  std::optional<std::string> path(uint64_t va);
  std::optional<std::string> working_directory() const;
  std::optional<std::string> descriptor_name(int fd) const;

 private:
  const Listener& listener_;
  const Notification& call_;
  ProcessTable& processes_;
  std::shared_ptr<Process> owner_;
  std::optional<uverbs::Credentials> credentials_;
};

}  // namespace sim::host
