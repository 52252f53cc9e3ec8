// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/handles.hpp"

#include <cerrno>
#include <vector>

namespace sim::uverbs {

int Object::may_go() const {
  return uses == 0 ? 0 : EBUSY;
}

Object& HandleTable::insert(std::unique_ptr<Object> object) {
  if (freed_.empty()) {
    object->id = fresh_++;
  } else {
    object->id = *freed_.begin();
    freed_.erase(freed_.begin());
  }
  object->serial = ++serial_;
  by_age_.emplace(object->serial, object->id);
  return *by_id_.emplace(object->id, std::move(object)).first->second;
}

Object* HandleTable::find(uint32_t id) const {
  auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second.get();
}

void HandleTable::destroy(uint32_t id) {
  // Out of the table first: the destructor may take further objects out.
  auto node = by_id_.extract(id);
  if (node.empty()) return;
  by_age_.erase(node.mapped()->serial);
  freed_.insert(id);
  node.mapped().reset();
}

void HandleTable::clear() {
  while (!by_age_.empty()) {
    const std::vector<std::pair<uint64_t, uint32_t>> newest_first(by_age_.rbegin(), by_age_.rend());
    const size_t before = by_age_.size();
    for (auto [serial, id] : newest_first) {
      // Attachments make older objects need newer ones; those come in the next round. Parts go with
      // the object that they belong to.
      const Object* object = find(id);
      if (object && object->serial == serial && object->uses == 0) destroy(id);
    }
    if (by_age_.size() == before) destroy(by_age_.rbegin()->second);
  }
}

}  // namespace sim::uverbs
