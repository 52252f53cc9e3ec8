// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// One ioctl: its attributes are copied in once and checked against the table; the method then works
// on values; answers are collected and copied out when it has succeeded. Whatever the method made
// is undone if any later step fails.
#pragma once

#include <rdma/rdma_user_ioctl_cmds.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "uverbs/file.hpp"
#include "uverbs/kernel.hpp"
#include "uverbs/schema.hpp"

namespace sim::uverbs {

class Call {
 public:
  // `attrs_va` is where the attributes stand in the caller.
  Call(File& file, Caller& caller, const Method& method, std::vector<ib_uverbs_attr> attrs,
       uint64_t attrs_va);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Reads and checks every attribute. The method may run only after 0.
  int parse();
  // Copies the answers out. Anything but 0 undoes what the method made.
  int finish();

  bool has(uint16_t id) const { return find(id) != nullptr; }
  std::span<const std::byte> bytes(uint16_t id) const;
  size_t out_size(uint16_t id) const;
  // The value of an input, zero filled if the caller's structure is shorter; zero when it is
  // absent.
  template <class T>
  T in(uint16_t id) const {
    T value{};
    auto from = bytes(id);
    std::ranges::copy(from.first(std::min(sizeof value, from.size())),
                      std::as_writable_bytes(std::span(&value, 1)).begin());
    return value;
  }
  // A flags word of 4 or 8 bytes. EINVAL: bits that are not allowed.
  int flags(uint16_t id, uint64_t allowed, uint64_t& out) const;
  // The object a handle attribute names (its type is checked already), or null when it is absent.
  template <class T>
  T* object(uint16_t id) const {
    const Slot* slot = find(id);
    return slot ? static_cast<T*>(slot->object) : nullptr;
  }
  FileId identity(uint16_t id) const { return find(id)->identity; }
  int descriptor(uint16_t id) const { return find(id)->descriptor; }

  // Driver data. EINVAL: shorter than `first_size`; E2BIG: longer than known and not zero.
  template <class T>
  int driver_in(T& out, size_t first_size = sizeof(T)) const {
    return grown_in(UVERBS_ATTR_UHW_IN, &out, sizeof out, first_size);
  }
  // For calls that take none. E2BIG: there is some, and it is not zero.
  int no_driver_in() const;
  template <class T>
  int request(uint16_t id, T& out, size_t first_size = sizeof(T)) const {
    return grown_in(id, &out, sizeof out, first_size);
  }
  template <class T>
  void driver_out(const T& value) {
    put(UVERBS_ATTR_UHW_OUT, value);
  }

  // Answers an output attribute; as much as there is room for, the surplus room is cleared. Nothing
  // happens when the caller did not ask for it.
  template <class T>
  void put(uint16_t id, const T& value) {
    put_bytes(id, std::as_bytes(std::span(&value, 1)));
  }
  void put_bytes(uint16_t id, std::span<const std::byte> value);

  // Gives an object its handle and answers it in a handle attribute. It goes if the call fails.
  template <class T>
  T& made(uint16_t id, std::unique_ptr<T> object) {
    T& reference = add(std::move(object));
    answer_handle(id, reference);
    return reference;
  }
  void answer_handle(uint16_t id, const Object& object) { handles_[id] = object.id; }
  // The same for a part that is answered otherwise.
  template <class T>
  T& add(std::unique_ptr<T> object) {
    T& reference = *object;
    file.objects.insert(std::move(object));
    undo([f = &file, id = reference.id] { f->objects.destroy(id); });
    return reference;
  }
  // The answers given so far are copied out although the method is going to refuse.
  void answer_even_if_refused() { answer_refusal_ = true; }
  bool answers_refusal() const { return answer_refusal_; }
  int copy_out();
  void undo(std::function<void()> action) { undo_.push_back(std::move(action)); }
  // Installs a descriptor, which the call owns from now on, after everything else. Its number goes
  // to the attribute's data, or into an output's buffer.
  void install(uint16_t id, int fd) { installs_.push_back({id, fd, false}); }
  void install_into(uint16_t id, int fd) { installs_.push_back({id, fd, true}); }

  File& file;
  Caller& caller;
  const Method& method;

 private:
  struct Slot {  // an attribute that the method knows and the caller has sent
    const AttrRule* rule;
    size_t index;
    std::vector<std::byte> data;
    Object* object = nullptr;
    FileId identity;
    int descriptor = -1;
  };
  struct Install {
    uint16_t id;
    int fd;
    bool into_buffer;
  };

  const Slot* find(uint16_t id) const;
  int parse_one(size_t index, const AttrRule& rule);
  int parse_in(const ib_uverbs_attr& attr, const AttrRule& rule, Slot& slot);
  int parse_handle(const ib_uverbs_attr& attr, const AttrRule& rule, Slot& slot);
  int parse_fd(const ib_uverbs_attr& attr, const AttrRule& rule, Slot& slot);
  int parse_raw_fd(const ib_uverbs_attr& attr, Slot& slot);
  int grown_in(uint16_t id, void* out, size_t size, size_t first_size) const;
  int install_all();
  uint64_t attr_va(size_t index) const { return attrs_va_ + index * sizeof(ib_uverbs_attr); }

  const std::vector<ib_uverbs_attr> attrs_;
  const uint64_t attrs_va_;
  std::map<uint16_t, Slot> slots_;
  std::map<uint16_t, std::vector<std::byte>> outputs_;
  std::map<uint16_t, uint32_t> handles_;
  std::vector<Install> installs_;
  std::vector<std::function<void()>> undo_;
  bool answer_refusal_ = false;
};

}  // namespace sim::uverbs
