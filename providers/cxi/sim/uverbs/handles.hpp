// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The objects of one open device and their handles: one id space for all types, the lowest free
// number is given out, as Linux does.
#pragma once

#include <rdma/cxiverbs-abi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace sim::uverbs {

class File;

// Something that a handle names. The destructor takes it back from the device; it never fails,
// because refusals are decided before.
class Object {
 public:
  Object(File& f, uint16_t t) : file(f), type(t) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  // 0, or the errno with which a destroy call is refused.
  virtual int may_go() const;

  File& file;
  const uint16_t type;  // UVERBS_OBJECT_* or CXI_OBJECT_*
  uint32_t id = CXI_ABI_HANDLE_NONE;
  uint64_t serial = 0;  // grows with every object made
  unsigned uses = 0;    // by objects that need this one
};

// Counts a use of an object for as long as it lives.
template <class T>
class Use {
 public:
  Use() = default;
  explicit Use(T* object) : object_(object) {
    if (object_) ++object_->uses;
  }
  Use(Use&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Use& operator=(Use&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Use() {
    if (object_) --object_->uses;
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

class HandleTable {
 public:
  ~HandleTable() { clear(); }

  Object& insert(std::unique_ptr<Object> object);
  Object* find(uint32_t id) const;
  // Removes the object and destroys it. Objects that it owns go with it.
  void destroy(uint32_t id);
  // Destroys everything, newest first, what others use after them.
  void clear();
  size_t size() const { return by_id_.size(); }
  const std::map<uint32_t, std::unique_ptr<Object>>& all() const { return by_id_; }

 private:
  std::map<uint32_t, std::unique_ptr<Object>> by_id_;
  std::map<uint64_t, uint32_t> by_age_;
  std::set<uint32_t> freed_;
  uint32_t fresh_ = 0;
  uint64_t serial_ = 0;
};

}  // namespace sim::uverbs
