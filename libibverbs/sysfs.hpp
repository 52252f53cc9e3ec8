// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Reading attributes from sysfs.
#pragma once

#include <infiniband/driver.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace verbs {

constexpr size_t sysfs_path_max = 256;  // longest root and longest device path

// Copies a root without its trailing slashes, cut to what fits.
void normalize_root(std::span<char> to, const char* from) noexcept;

// Where sysfs is: /sys, or what SYSFS_PATH said when it was first asked for.
const char* sysfs_root() noexcept;

// Reads a file once, relative to a directory (AT_FDCWD for an absolute path). Returns the length
// without the final newline, with a NUL behind it; 0 for an empty file, which leaves the buffer
// alone; -1 when it cannot be read or does not fit.
int read_sysfs_at(int directory, const char* path, std::span<char> to) noexcept;

// The same for a path made of parts; -1 with ENAMETOOLONG when they are too long.
__attribute__((format(printf, 2, 3))) int read_sysfs(std::span<char> to, const char* format,
                                                     ...) noexcept;
__attribute__((format(printf, 2, 0))) int read_sysfs_v(std::span<char> to, const char* format,
                                                       va_list arguments) noexcept;

// Reads a file below the directory of an RDMA device.
__attribute__((format(printf, 3, 4))) int read_device_file(std::span<char> to,
                                                           const verbs_sysfs_dev& device,
                                                           const char* format, ...) noexcept;

// Text to value, all of it or nothing.
std::optional<uint32_t> parse_number(const char* text) noexcept;      // decimal
std::optional<dev_t> parse_device_number(const char* text) noexcept;  // major:minor
std::optional<uint64_t> parse_guid(const char* text) noexcept;        // xxxx:xxxx:xxxx:xxxx
bool parse_gid(const char* text, ibv_gid& gid) noexcept;              // eight such groups
ibv_node_type parse_node_type(const char* text) noexcept;             // "1: CA"
ibv_node_type node_type_of_kernel(uint32_t type) noexcept;

}  // namespace verbs
