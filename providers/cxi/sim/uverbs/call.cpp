// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/call.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace sim::uverbs {
namespace {

constexpr size_t inline_bytes = sizeof(ib_uverbs_attr::data);

constexpr AttrRule driver_data_in = blob_in(UVERBS_ATTR_UHW_IN, 0, optional);
constexpr AttrRule driver_data_out = blob_out(UVERBS_ATTR_UHW_OUT, 0, optional);

bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

const AttrRule* find_attr(const Method& method, uint16_t id) {
  if (method.driver_data != DriverData::none) {
    if (id == UVERBS_ATTR_UHW_IN) return &driver_data_in;
    if (id == UVERBS_ATTR_UHW_OUT) return &driver_data_out;
  }
  auto it = std::ranges::find(method.attrs, id, &AttrRule::id);
  return it == method.attrs.end() ? nullptr : &*it;
}

Call::Call(File& f, Caller& c, const Method& m, std::vector<ib_uverbs_attr> attrs, uint64_t va)
    : file(f), caller(c), method(m), attrs_(std::move(attrs)), attrs_va_(va) {}

Call::~Call() {
  for (auto it = undo_.rbegin(); it != undo_.rend(); ++it)
    (*it)();
  for (const Install& install : installs_)
    close(install.fd);
}

const Call::Slot* Call::find(uint16_t id) const {
  auto it = slots_.find(id);
  return it == slots_.end() ? nullptr : &it->second;
}

int Call::parse() {
  for (size_t i = 0; i < attrs_.size(); ++i) {
    const ib_uverbs_attr& attr = attrs_[i];
    const AttrRule* rule = find_attr(method, attr.attr_id);
    if (!rule) {
      if (attr.flags & UVERBS_ATTR_F_MANDATORY) return EPROTONOSUPPORT;
      continue;
    }
    if (has(attr.attr_id)) return EINVAL;
    if (int error = parse_one(i, *rule)) return error;
  }
  for (const AttrRule& rule : method.attrs) {
    if (rule.required && !has(rule.id)) return EINVAL;
  }
  return method.driver_data == DriverData::answer ? no_driver_in() : 0;
}

int Call::no_driver_in() const {
  // In methods without driver data the number means something else.
  if (method.driver_data == DriverData::none) return 0;
  return all_zero(bytes(UVERBS_ATTR_UHW_IN)) ? 0 : E2BIG;
}

int Call::parse_one(size_t index, const AttrRule& rule) {
  const ib_uverbs_attr& attr = attrs_[index];
  if (attr.attr_data.reserved != 0) return EINVAL;
  Slot slot{&rule, index, {}, nullptr, {}, -1};
  int error = 0;
  switch (rule.kind) {
    case Kind::in:
      error = parse_in(attr, rule, slot);
      break;
    case Kind::out:
      if (attr.len < rule.min || (attr.len > rule.max && !rule.grows)) error = EINVAL;
      break;
    case Kind::object:
    case Kind::destroyed:
      error = parse_handle(attr, rule, slot);
      break;
    case Kind::fd:
      error = parse_fd(attr, rule, slot);
      break;
    case Kind::raw_fd:
      error = parse_raw_fd(attr, slot);
      break;
    case Kind::new_object:
    case Kind::new_fd:
      if (attr.len != 0) error = EINVAL;
      break;
  }
  if (error == 0) slots_.emplace(rule.id, std::move(slot));
  return error;
}

int Call::parse_in(const ib_uverbs_attr& attr, const AttrRule& rule, Slot& slot) {
  if (attr.len < rule.min || (attr.len > rule.max && !rule.grows)) return EINVAL;
  slot.data.resize(attr.len);
  if (attr.len <= inline_bytes) {
    auto inline_data = std::as_bytes(std::span(&attr.data, 1));
    std::ranges::copy(inline_data.first(attr.len), slot.data.begin());
  } else if (!caller.read(attr.data, slot.data)) {
    return EFAULT;
  }
  if (attr.len > rule.max) {
    // A caller that knows a longer structure may use it as long as it does not need the surplus.
    if (!all_zero(std::span(slot.data).subspan(rule.max))) return EOPNOTSUPP;
    slot.data.resize(rule.max);
  }
  return 0;
}

int Call::parse_handle(const ib_uverbs_attr& attr, const AttrRule& rule, Slot& slot) {
  if (attr.len != 0 || attr.data_s64 < 0) return EINVAL;
  if (attr.data > std::numeric_limits<uint32_t>::max()) return ENOENT;
  slot.object = file.objects.find(static_cast<uint32_t>(attr.data));
  if (!slot.object) return ENOENT;
  return slot.object->type == rule.object ? 0 : EINVAL;
}

int Call::parse_fd(const ib_uverbs_attr& attr, const AttrRule& rule, Slot& slot) {
  if (attr.len != 0 || attr.data_s64 != static_cast<int>(attr.data_s64)) return EINVAL;
  auto identity = caller.identify(static_cast<int>(attr.data_s64));
  if (!identity) return EBADF;
  slot.identity = *identity;
  bool ours = rule.object == UVERBS_OBJECT_COMP_CHANNEL ? file.channel(*identity) != nullptr
                                                        : file.async(*identity) != nullptr;
  return ours ? 0 : EBADF;
}

int Call::parse_raw_fd(const ib_uverbs_attr& attr, Slot& slot) {
  if (attr.len != 0 || attr.data_s64 != static_cast<int>(attr.data_s64)) return EINVAL;
  slot.descriptor = static_cast<int>(attr.data_s64);
  return 0;
}

std::span<const std::byte> Call::bytes(uint16_t id) const {
  const Slot* slot = find(id);
  if (!slot) return {};
  return slot->data;
}

size_t Call::out_size(uint16_t id) const {
  const Slot* slot = find(id);
  return slot ? attrs_[slot->index].len : 0;
}

int Call::flags(uint16_t id, uint64_t allowed, uint64_t& out) const {
  out = 0;
  auto from = bytes(id);
  if (has(id) && from.size() != 4 && from.size() != 8) return EINVAL;
  std::ranges::copy(from, std::as_writable_bytes(std::span(&out, 1)).begin());
  return (out & ~allowed) ? EINVAL : 0;
}

int Call::grown_in(uint16_t id, void* out, size_t size, size_t first_size) const {
  auto from = bytes(id);
  if (from.size() < first_size) return EINVAL;
  if (from.size() > size && !all_zero(from.subspan(size))) return E2BIG;
  std::memset(out, 0, size);
  std::memcpy(out, from.data(), std::min(size, from.size()));
  return 0;
}

void Call::put_bytes(uint16_t id, std::span<const std::byte> value) {
  if (!has(id)) return;
  size_t room = out_size(id);
  std::vector<std::byte> answer(value.begin(), value.begin() + std::min(room, value.size()));
  answer.resize(room);
  outputs_[id] = std::move(answer);
}

int Call::copy_out() {
  constexpr size_t flags_at = offsetof(ib_uverbs_attr, flags);
  constexpr size_t data_at = offsetof(ib_uverbs_attr, data);
  // In methods without driver data the number means something else.
  if (method.driver_data != DriverData::none && has(UVERBS_ATTR_UHW_OUT) &&
      !outputs_.contains(UVERBS_ATTR_UHW_OUT)) {
    put_bytes(UVERBS_ATTR_UHW_OUT, {});
  }
  for (const auto& [id, value] : outputs_) {
    size_t index = find(id)->index;
    if (!value.empty() && !caller.write(attrs_[index].data, value)) return EFAULT;
    uint16_t flags = attrs_[index].flags | UVERBS_ATTR_F_VALID_OUTPUT;
    if (!caller.write(attr_va(index) + flags_at, std::as_bytes(std::span(&flags, 1))))
      return EFAULT;
  }
  for (const auto& [id, handle] : handles_) {
    uint64_t data = handle;
    if (!caller.write(attr_va(find(id)->index) + data_at, std::as_bytes(std::span(&data, 1)))) {
      return EFAULT;
    }
  }
  return 0;
}

int Call::install_all() {
  for (const Install& install : installs_) {
    const size_t index = find(install.id)->index;
    int number = caller.install_fd(install.fd);
    if (number < 0) return -number;
    int64_t wide = number;
    bool written = install.into_buffer
                       ? caller.write(attrs_[index].data, std::as_bytes(std::span(&number, 1)))
                       : caller.write(attr_va(index) + offsetof(ib_uverbs_attr, data),
                                      std::as_bytes(std::span(&wide, 1)));
    if (!written) return EFAULT;
  }
  return 0;
}

int Call::finish() {
  int error = copy_out();
  if (error == 0) error = install_all();
  if (error == 0) undo_.clear();
  return error;
}

}  // namespace sim::uverbs
