// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/file.hpp"

#include <algorithm>

#include "uverbs/nic_state.hpp"

namespace sim::uverbs {

File::File(NicState& n, std::shared_ptr<Arena> a) : nic(n), arena(std::move(a)) {
  nic.files.insert(this);
}

File::~File() {
  destroy_all();
  nic.files.erase(this);
}

void File::destroy_all() {
  objects.clear();
  lni_.reset();
  channels.clear();
  for (auto& async : async_channels)
    async->shut();
  async_channels.clear();
}

nic::Made<std::shared_ptr<Lni>> File::lni(Caller& caller) {
  if (!lni_) {
    auto made = Lni::make(nic, service_id, caller.credentials());
    if (!made) return made;
    lni_ = std::move(made.value);
  }
  return {lni_, 0};
}

std::shared_ptr<EventPipe> File::channel(FileId id) const {
  auto it = std::ranges::find_if(channels, [&](const auto& c) { return c->id() == id; });
  return it == channels.end() ? nullptr : *it;
}

std::shared_ptr<AsyncChannel> File::async(FileId id) const {
  auto it =
      std::ranges::find_if(async_channels, [&](const auto& c) { return c->pipe().id() == id; });
  return it == async_channels.end() ? nullptr : *it;
}

std::shared_ptr<AsyncChannel> File::default_async() const {
  return async_channels.empty() ? nullptr : async_channels.front();
}

void File::prune_channels() {
  std::erase_if(channels, [](const auto& c) { return c.use_count() == 1 && c->abandoned(); });
  std::erase_if(async_channels,
                [](const auto& c) { return c.use_count() == 1 && c->pipe().abandoned(); });
}

}  // namespace sim::uverbs
