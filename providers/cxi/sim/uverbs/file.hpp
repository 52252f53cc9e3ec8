// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// One open of a device: its context, its objects and the channels that it has handed out.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "uverbs/arena.hpp"
#include "uverbs/handles.hpp"
#include "uverbs/limits.hpp"
#include "uverbs/lni.hpp"
#include "uverbs/notifier.hpp"

namespace sim::uverbs {

class Jkey;

class File final : public OpenFile {
 public:
  File(NicState& nic, std::shared_ptr<Arena> arena);
  ~File() override;

  int fd() const override { return arena->fd(); }
  FileId id() const override { return arena->id(); }

  // The context's own logical NI, made when it is first needed.
  nic::Made<std::shared_ptr<Lni>> lni(Caller& caller);
  bool has_lni() const { return lni_ != nullptr; }
  std::shared_ptr<EventPipe> channel(FileId id) const;  // a completion channel of this context
  std::shared_ptr<AsyncChannel> async(FileId id) const;
  // The channel for events that name none: the first one.
  std::shared_ptr<AsyncChannel> default_async() const;
  // Forgets channels that nobody can read and nothing uses.
  void prune_channels();
  // Destroys every object, newest first, and ends all channels.
  void destroy_all();

  NicState& nic;
  const std::shared_ptr<Arena> arena;
  bool has_context = false;
  uint32_t service_id = CXI_ABI_DEFAULT_SVC_ID;
  std::vector<std::shared_ptr<EventPipe>> channels;
  std::vector<std::shared_ptr<AsyncChannel>> async_channels;
  std::array<Jkey*, max_job_keys> job_keys{};
  uint32_t job_key_serial = 0;
  HandleTable objects;

 private:
  std::shared_ptr<Lni> lni_;
};

}  // namespace sim::uverbs
