// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The list of devices, freed at the end of a block.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

namespace stress {

class DeviceList {
 public:
  DeviceList() : list_(ibv_get_device_list(&count_)), error_(list_ ? 0 : errno) {}
  ~DeviceList() {
    if (list_) ibv_free_device_list(list_);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  int error() const { return error_; }
  int count() const { return count_; }
  ibv_device* operator[](int i) const { return list_[i]; }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (int i = 0; list_ && list_[i]; i++)
      names.emplace_back(ibv_get_device_name(list_[i]));
    std::ranges::sort(names);
    return names;
  }
  ibv_device* find(const std::string& name) const {
    for (int i = 0; list_ && list_[i]; i++)
      if (name == ibv_get_device_name(list_[i])) return list_[i];
    return nullptr;
  }

 private:
  int count_ = -1;
  ibv_device** list_;
  int error_;
};

struct CloseDevice {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
};
using Context = std::unique_ptr<ibv_context, CloseDevice>;

// Opens a device by name; empty, with errno, if it is not there or does not open.
inline Context open_device(const std::string& name) {
  const DeviceList list;
  ibv_device* device = list.find(name);
  if (device) return Context(ibv_open_device(device));
  errno = ENODEV;
  return {};
}

}  // namespace stress
