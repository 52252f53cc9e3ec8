// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sysfs.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "environment.hpp"
#include "error.hpp"
#include "export.hpp"
#include "scoped.hpp"

namespace verbs {

void normalize_root(std::span<char> to, const char* from) noexcept {
  size_t length = strnlen(from, to.size() - 1);
  while (length > 0 && from[length - 1] == '/')
    length--;
  memcpy(to.data(), from, length);
  to[length] = '\0';
}

namespace {

char root[sysfs_path_max];
pthread_once_t root_once = PTHREAD_ONCE_INIT;

void find_root() {
  const char* given = trusted_variable("SYSFS_PATH");
  normalize_root(root, given ? given : "/sys");
}

// A number of exactly so many hexadecimal digits.
bool hex_digits(const char*& text, int digits, uint64_t& value) {
  value = 0;
  for (int i = 0; i < digits; i++, text++) {
    char c = *text;
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) return false;
    value = value << 4 | static_cast<unsigned>(digit);
  }
  return true;
}

// Groups of four digits with colons between them and nothing behind.
template <size_t Groups>
bool hex_groups(const char* text, std::array<uint16_t, Groups>& groups) {
  for (size_t i = 0; i < Groups; i++) {
    uint64_t value;
    if (!hex_digits(text, 4, value)) return false;
    groups[i] = static_cast<uint16_t>(value);
    if (i + 1 < Groups && *text++ != ':') return false;
  }
  return *text == '\0';
}

}  // namespace

const char* sysfs_root() noexcept {
  pthread_once(&root_once, find_root);
  return root;
}

int read_sysfs_at(int directory, const char* path, std::span<char> to) noexcept {
  Fd fd(openat(directory, path, O_RDONLY | O_CLOEXEC));
  if (!fd) return -1;
  ssize_t length = read(fd.get(), to.data(), to.size());
  if (length <= 0) return static_cast<int>(length);
  if (to[length - 1] == '\n') {
    to[--length] = '\0';
    return static_cast<int>(length);
  }
  if (static_cast<size_t>(length) == to.size()) {
    errno = EMSGSIZE;
    return -1;
  }
  to[length] = '\0';
  return static_cast<int>(length);
}

int read_sysfs_v(std::span<char> to, const char* format, va_list arguments) noexcept {
  char path[2 * sysfs_path_max];
  int length = vsnprintf(path, sizeof(path), format, arguments);
  if (length < 0 || static_cast<size_t>(length) >= sizeof(path)) return minus_one(ENAMETOOLONG);
  return read_sysfs_at(AT_FDCWD, path, to);
}

int read_sysfs(std::span<char> to, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  int length = read_sysfs_v(to, format, arguments);
  va_end(arguments);
  return length;
}

__attribute__((format(printf, 3, 0))) static int read_device_file_v(std::span<char> to,
                                                                    const verbs_sysfs_dev& device,
                                                                    const char* format,
                                                                    va_list arguments) noexcept {
  char below[sysfs_path_max];
  int length = vsnprintf(below, sizeof(below), format, arguments);
  if (length < 0 || static_cast<size_t>(length) >= sizeof(below)) return minus_one(ENAMETOOLONG);
  return read_sysfs(to, "%s/%s", device.ibdev_path, below);
}

int read_device_file(std::span<char> to, const verbs_sysfs_dev& device, const char* format,
                     ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  int length = read_device_file_v(to, device, format, arguments);
  va_end(arguments);
  return length;
}

std::optional<uint32_t> parse_number(const char* text) noexcept {
  if (*text < '0' || *text > '9') return {};
  char* end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  if (*end || errno || value > UINT32_MAX) return {};
  return static_cast<uint32_t>(value);
}

std::optional<dev_t> parse_device_number(const char* text) noexcept {
  unsigned major_number, minor_number;
  char more;
  if (sscanf(text, "%u:%u%c", &major_number, &minor_number, &more) != 2) return {};
  return makedev(major_number, minor_number);
}

std::optional<uint64_t> parse_guid(const char* text) noexcept {
  std::array<uint16_t, 4> groups;
  if (!hex_groups(text, groups)) return {};
  uint64_t guid = 0;
  for (uint16_t group : groups)
    guid = guid << 16 | group;
  return guid;
}

bool parse_gid(const char* text, ibv_gid& gid) noexcept {
  std::array<uint16_t, 8> groups;
  if (!hex_groups(text, groups)) return false;
  for (size_t i = 0; i < groups.size(); i++) {
    gid.raw[2 * i] = static_cast<uint8_t>(groups[i] >> 8);
    gid.raw[2 * i + 1] = static_cast<uint8_t>(groups[i]);
  }
  return true;
}

ibv_node_type node_type_of_kernel(uint32_t type) noexcept {
  bool known = type >= IBV_NODE_CA && type <= IBV_NODE_UNSPECIFIED;
  return known ? static_cast<ibv_node_type>(type) : IBV_NODE_UNKNOWN;
}

ibv_node_type parse_node_type(const char* text) noexcept {
  char* end;
  unsigned long type = strtoul(text, &end, 10);
  if (end == text || (*end && *end != ':')) return IBV_NODE_UNKNOWN;
  return node_type_of_kernel(type > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(type));
}

}  // namespace verbs

// The root of sysfs, for programs and providers that read further files.
VERBS_EXPORT const char* ibv_get_sysfs_path(void) {
  return verbs::sysfs_root();
}

// Reads a file of an absolute directory: its length, or -1.
VERBS_EXPORT int ibv_read_sysfs_file(const char* directory, const char* file, char* buffer,
                                     size_t size) {
  return verbs::read_sysfs({buffer, size}, "%s/%s", directory, file);
}

// Reads a file below a device's sysfs directory: its length, or -1.
VERBS_EXPORT int ibv_read_ibdev_sysfs_file(char* buffer, size_t size, verbs_sysfs_dev* device,
                                           const char* format, ...) {
  if (!device) return verbs::minus_one(EINVAL);
  va_list arguments;
  va_start(arguments, format);
  int length = verbs::read_device_file_v({buffer, size}, *device, format, arguments);
  va_end(arguments);
  return length;
}
