// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What the kernel's RDMA netlink family tells: devices, their character devices, copy-on-fork.
#pragma once

#include <infiniband/driver.h>
#include <linux/netlink.h>
#include <sys/types.h>

#include <cstdint>

namespace verbs::netlink {

// One answer of RDMA_NLDEV_CMD_GET.
struct DeviceAnswer {
  char name[IBV_SYSFS_NAME_MAX];
  uint32_t index;
  uint32_t ports;
  uint8_t node_type;
  uint64_t node_guid;  // host order
};

// The answer of RDMA_NLDEV_CMD_GET_CHARDEV.
struct CharacterDeviceAnswer {
  char name[IBV_SYSFS_NAME_MAX];
  dev_t number;
  uint32_t abi;
  uint32_t driver_id;
};

// Decoders. False when something that must be there is missing, is too long or has the wrong type.
bool parse(nlmsghdr& message, DeviceAnswer& answer) noexcept;
bool parse(nlmsghdr& message, CharacterDeviceAnswer& answer) noexcept;
bool parse_copy_on_fork(nlmsghdr& message, bool& copies) noexcept;

// The kernel's packing of a device number into 64 bits.
dev_t device_number(uint64_t packed) noexcept;

// Asks for all devices and hands each one to visit(context, answer), which returns 0 or an errno
// value that ends the query. 0, or why it did not work out.
int query_devices(int (*visit)(void* context, const DeviceAnswer& answer), void* context) noexcept;

// Asks for the uverbs device of one RDMA device.
int query_character_device(uint32_t index, CharacterDeviceAnswer& answer) noexcept;

// Whether the kernel copies pinned pages on fork(); false if it does not say.
bool kernel_copies_on_fork() noexcept;

}  // namespace verbs::netlink
