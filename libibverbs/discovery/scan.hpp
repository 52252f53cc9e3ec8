// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Finding the RDMA devices that the kernel has, before any provider is asked.
#pragma once

#include <infiniband/driver.h>

#include <cstdint>
#include <optional>

#include "../memory.hpp"

namespace verbs {

// Where things are; the tests have their own.
struct Places {
  const char* sysfs;    // root of sysfs
  const char* devices;  // folder of the uverbs nodes
};

// Devices in the order in which they were found. Each one came from calloc().
using Records = Array<verbs_sysfs_dev*>;

void free_records(Records& records) noexcept;

// Two ways to the same list; 0 or an errno value. A device without a usable node is left out.
int scan_netlink(const Places& places, Records& records) noexcept;
int scan_sysfs(const Places& places, Records& records) noexcept;

// Netlink, or sysfs where netlink does not answer.
int scan_devices(const Places& places, Records& records) noexcept;

// The version of the uverbs interface that sysfs tells, if it does, and whether this library speaks
// it.
std::optional<uint32_t> read_interface_version(const Places& places) noexcept;
bool is_spoken(uint32_t interface_version) noexcept;

// The same once for all: 0 or ENOSYS. Known without a look when netlink answered.
int check_interface_version(const Places& places) noexcept;

}  // namespace verbs
