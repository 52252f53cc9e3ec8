// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Finding a device by name, and saying what to do when there is none.
#pragma once

#include <infiniband/verbs.h>

#include <filesystem>
#include <span>
#include <string>

namespace examples {

/// The devices that libibverbs can use.
class DeviceList {
 public:
  DeviceList();
  ~DeviceList();
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  /// 0, or the errno value with which there is no list at all.
  int error() const { return error_; }
  std::span<ibv_device* const> devices() const { return {list_, static_cast<std::size_t>(count_)}; }

  /// The device of that name, or null.
  ibv_device* find(const char* name) const;

  /// "cxi0, cxi1", for messages.
  std::string names() const;

 private:
  ibv_device** list_ = nullptr;
  int count_ = 0;
  int error_ = 0;
};

/// Why libibverbs found no device, and what to do about it: no driver, no device node, another
/// interface version, or no provider library. The folders are /sys and /dev.
std::string why_no_device(const std::filesystem::path& sysfs, const std::filesystem::path& dev);

/// The same for this machine; SYSFS_PATH is honoured as libibverbs does.
std::string why_no_device();

/// The line for a list that could not be had, with that errno value.
std::string why_no_list(int error);

/// The device called name, or the first one where name is null. Null after a complaint.
ibv_device* choose_device(const DeviceList& list, const char* name);

/// Opens the device. Null after a complaint.
ibv_context* open_device(ibv_device* device);

/// Why a device could not be opened with that errno value, and what to do about it.
std::string why_not_opened(const char* name, const char* node, int error);

}  // namespace examples
