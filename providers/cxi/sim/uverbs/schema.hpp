// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The uverbs interface as a table: every object and method that this kernel has, and for each
// method the kind, the length and the need of every attribute. What is not in the table is refused
// before any code of a method runs.
#pragma once

#include <rdma/ib_user_ioctl_cmds.h>

#include <cstdint>
#include <span>

namespace sim::uverbs {

class Call;

enum class Kind : uint8_t {
  in,          // bytes, inline up to eight of them
  out,         // the address of a buffer
  object,      // a handle
  new_object,  // the handle of what the method makes
  destroyed,   // the handle of what the method destroys
  fd,          // a descriptor of an event channel
  raw_fd,      // a descriptor of something else, for the method to look at
  new_fd,      // the descriptor that the method installs
};

struct AttrRule {
  uint16_t id;
  Kind kind;
  bool required;
  uint16_t min = 0, max = 0;  // bytes
  bool grows = false;         // longer is fine when the surplus is zero (in) or cleared (out)
  uint16_t object = 0;        // of handles: the type they must name
};

enum class DriverData : uint8_t {
  none,    // no UHW attributes
  answer,  // UHW_OUT; UHW_IN only if it is zero, for there is no structure that it could be
  both,
};

struct Method {
  uint16_t object, id;
  const char* name;
  std::span<const AttrRule> attrs;
  int (*run)(Call&);  // returns 0 or a positive errno
  DriverData driver_data = DriverData::none;
  bool needs_context = true;
};

// All methods, in the order of object and method.
std::span<const Method> methods();
const Method* find_method(uint16_t object, uint16_t id);
const AttrRule* find_attr(const Method& method, uint16_t id);

constexpr bool required = true, optional = false;

constexpr AttrRule bytes_in(uint16_t id, uint16_t length, bool need) {
  return {id, Kind::in, need, length, length};
}
constexpr AttrRule blob_in(uint16_t id, uint16_t min, bool need) {
  return {id, Kind::in, need, min, 0xffff};
}
// A structure that may grow; `min` is its first published size.
constexpr AttrRule struct_in(uint16_t id, uint16_t min, uint16_t size, bool need) {
  return {id, Kind::in, need, min, size, true};
}
constexpr AttrRule constant_in(uint16_t id, bool need) {
  return {id, Kind::in, need, 8, 8};
}
constexpr AttrRule flags_in(uint16_t id, bool need) {
  return {id, Kind::in, need, 4, 8};
}
constexpr AttrRule bytes_out(uint16_t id, uint16_t length, bool need) {
  return {id, Kind::out, need, length, length};
}
constexpr AttrRule blob_out(uint16_t id, uint16_t min, bool need) {
  return {id, Kind::out, need, min, 0xffff};
}
constexpr AttrRule struct_out(uint16_t id, uint16_t min, uint16_t size, bool need) {
  return {id, Kind::out, need, min, size, true};
}
constexpr AttrRule handle_in(uint16_t id, uint16_t object, bool need) {
  return {id, Kind::object, need, 0, 0, false, object};
}
constexpr AttrRule handle_new(uint16_t id, uint16_t object) {
  return {id, Kind::new_object, required, 0, 0, false, object};
}
constexpr AttrRule handle_destroyed(uint16_t id, uint16_t object) {
  return {id, Kind::destroyed, required, 0, 0, false, object};
}
constexpr AttrRule fd_in(uint16_t id, uint16_t object, bool need) {
  return {id, Kind::fd, need, 0, 0, false, object};
}
constexpr AttrRule raw_fd_in(uint16_t id, bool need) {
  return {id, Kind::raw_fd, need};
}
constexpr AttrRule fd_new(uint16_t id, uint16_t object) {
  return {id, Kind::new_fd, required, 0, 0, false, object};
}

}  // namespace sim::uverbs
