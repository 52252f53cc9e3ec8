// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The devices that this process knows, kept between scans, and who holds them.
#pragma once

#include <infiniband/driver.h>

#include "../memory.hpp"
#include "scan.hpp"

namespace verbs {

void hold_device(ibv_device& device) noexcept;
void release_device(ibv_device& device) noexcept;  // the last one frees it

// Devices, newest last. Not locked: the library has one, behind a mutex; tests have their own.
class DeviceList {
 public:
  constexpr DeviceList() = default;
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  // Brings the list up to date with a scan. Takes the records over. 0 or an errno value.
  int reconcile(Records& records, const Places& places) noexcept;

  size_t size() const noexcept { return devices_.size(); }
  verbs_device& operator[](size_t i) noexcept { return *devices_[i]; }
  void clear() noexcept;

 private:
  void drop_missing(Records& records) noexcept;
  int match_all(Records& records, const Places& places) noexcept;

  GlobalArray<verbs_device*> devices_;
};

// A fresh list in the form of ibv_get_device_list(): NULL-terminated, one reference each. On
// success the count, else a negative errno value.
int list_devices(ibv_device**& list) noexcept;

}  // namespace verbs
