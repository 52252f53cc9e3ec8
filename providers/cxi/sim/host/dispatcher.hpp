// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Decides each trapped call: the model's, or the kernel's after all.
#pragma once

#include <fcntl.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "host/caller.hpp"
#include "host/engine.hpp"
#include "host/listener.hpp"
#include "host/mirror.hpp"
#include "host/open_files.hpp"
#include "host/process.hpp"
#include "uverbs/kernel.hpp"

namespace sim::host {

// The answer to one call. Whatever happens, the call gets one: ENOSYS if nobody gave another.
class Answer {
 public:
  Answer(const Listener& listener, uint64_t id) : listener_(listener), id_(id) {}
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer();

  void value(int64_t result);
  void refuse(int error);
  void proceed();
  // Gives the caller a descriptor as the result of the call; its number, or a negative errno, with
  // which the call then fails.
  int descriptor(int fd, bool close_on_exec);

 private:
  const Listener& listener_;
  const uint64_t id_;
  bool given_ = false;
};

class Dispatcher {
 public:
  Dispatcher(uverbs::Kernel& kernel, Engine& engine, Mirror& mirror, OpenFiles& files)
      : kernel_(kernel), engine_(engine), mirror_(mirror), files_(files) {}

  void handle(const Listener& listener, const Notification& call);
  // Describes the NICs anew, for example after a change of the link.
  void refresh();

  uint64_t calls() const { return calls_; }
  uint64_t ioctls() const { return ioctls_; }

 private:
  struct Call {  // one call while it is decided
    const Listener& listener;
    const Notification& request;
    TrappedCaller caller;
    Answer answer;
  };
  struct PathArgument {
    int folder = AT_FDCWD;
    uint64_t text = 0;
    bool follow_last = true;
    bool empty_means_folder = false;  // AT_EMPTY_PATH
    uint64_t resolve = 0;             // of openat2
  };
  struct Located {
    // host: as the program wrote it; elsewhere: the host's, at place.path; descriptor: `folder`
    // itself.
    enum class Where { host, refused, node, elsewhere, descriptor } where = Where::host;
    int error = 0;
    std::shared_ptr<const Tree> tree;  // keeps the node
    Place place;
  };
  using Handler = void (Dispatcher::*)(Call&);
  struct Row {
    int call;
    Handler handler;
  };
  static const Row rows[];

  Located locate(Call& call, const PathArgument& argument);
  // The path to use for a node or elsewhere.
  std::string real_path(const Located& located) const;

  void on_open(Call& call);
  void on_openat(Call& call);
  void on_openat2(Call& call);
  void on_stat(Call& call);
  void on_lstat(Call& call);
  void on_fstat(Call& call);
  void on_newfstatat(Call& call);
  void on_statx(Call& call);
  void on_access(Call& call);
  void on_faccessat(Call& call);
  void on_faccessat2(Call& call);
  void on_readlink(Call& call);
  void on_readlinkat(Call& call);
  void on_get_attribute(Call& call);
  void on_lget_attribute(Call& call);
  void on_list_attributes(Call& call);
  void on_llist_attributes(Call& call);
  void on_exec(Call& call);
  void on_ioctl(Call& call);

  void open_at(Call& call, PathArgument argument, uint64_t flags, unsigned mode);
  void open_node(Call& call, const Node& node, uint64_t flags);
  void open_device(Call& call, const Node& node, uint64_t flags);
  void stat_at(Call& call, const PathArgument& argument, uint64_t buffer);
  void stat_descriptor(Call& call, int fd, uint64_t buffer);
  void access_at(Call& call, const PathArgument& argument, int mode);
  void readlink_at(Call& call, const PathArgument& argument, uint64_t buffer, int64_t size);
  void attribute_at(Call& call, const PathArgument& argument, bool list);

  // The node of the device that a descriptor is an open of.
  const Node* device_behind(Call& call, int fd, const Tree& tree);
  void refresh_if_old();

  uverbs::Kernel& kernel_;
  Engine& engine_;
  Mirror& mirror_;
  OpenFiles& files_;
  ProcessTable processes_;
  std::atomic<bool> devices_seen_{false};
  std::atomic<uint64_t> refreshed_ns_{0};
  std::atomic<uint64_t> calls_{0}, ioctls_{0};
};

}  // namespace sim::host
