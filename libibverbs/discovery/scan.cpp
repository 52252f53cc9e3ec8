// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "scan.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <infiniband/kern-abi.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "../error.hpp"
#include "../scoped.hpp"
#include "../sysfs.hpp"
#include "netlink.hpp"

namespace verbs {
namespace {

std::atomic<int> interface_version{-1};  // of uverbs, one that is spoken; -1: not known yet

// False when it does not fit.
[[nodiscard]] __attribute__((format(printf, 2, 3))) bool print_to(std::span<char> to,
                                                                  const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(to.data(), to.size(), format, arguments);
  va_end(arguments);
  return length >= 0 && static_cast<size_t>(length) < to.size();
}

bool set_device_path(const Places& places, verbs_sysfs_dev& record) {
  return print_to(record.ibdev_path, "%s/class/infiniband/%s", places.sysfs, record.ibdev_name);
}

// Containers hide a device by leaving out its node.
bool node_exists(const Places& places, const verbs_sysfs_dev& record) {
  char path[2 * sysfs_path_max];
  struct stat status;
  return print_to(path, "%s/%s", places.devices, record.sysfs_name) && stat(path, &status) == 0;
}

// Device number and provider ABI, from the folder of the uverbs device.
bool read_character_device(int folder, verbs_sysfs_dev& record) {
  char text[32];
  if (read_sysfs_at(folder, "dev", text) <= 0) return false;
  auto number = parse_device_number(text);
  if (!number) return false;
  record.sysfs_cdev = *number;
  if (read_sysfs_at(folder, "abi_version", text) > 0) {
    auto abi = parse_number(text);
    if (!abi) return false;
    record.abi_ver = *abi;
  }
  return true;
}

class Folder {
 public:
  explicit Folder(const char* path) noexcept : stream_(opendir(path)) {}
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    if (stream_) closedir(stream_);
  }

  explicit operator bool() const noexcept { return stream_ != nullptr; }
  int fd() const noexcept { return dirfd(stream_); }
  const char* next() noexcept {  // names that do not start with a dot
    while (dirent* entry = readdir(stream_))
      if (entry->d_name[0] != '.') return entry->d_name;
    return nullptr;
  }

 private:
  DIR* stream_;
};

bool copy_name(std::span<char> to, const char* name) {
  return print_to(to, "%s", name);
}

// The uverbs device of an RDMA device, by way of their common parent in sysfs.
bool character_device_of_parent(verbs_sysfs_dev& record) {
  char path[2 * sysfs_path_max];
  if (!print_to(path, "%s/device/infiniband_verbs", record.ibdev_path)) return false;
  Folder folder(path);
  if (!folder) return false;
  const char* name = folder.next();
  if (!name || !copy_name(record.sysfs_name, name)) return false;
  Fd uverbs(openat(folder.fd(), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return uverbs && read_character_device(uverbs.get(), record);
}

// One entry of class/infiniband_verbs.
bool read_sysfs_record(const Places& places, int uverbs, const char* name,
                       verbs_sysfs_dev& record) {
  char text[sysfs_path_max];
  if (!copy_name(record.sysfs_name, name)) return false;
  if (read_sysfs_at(uverbs, "ibdev", text) <= 0 || strchr(text, '/')) return false;
  if (!copy_name(record.ibdev_name, text) || !set_device_path(places, record)) return false;
  struct stat status;
  if (stat(record.ibdev_path, &status) != 0) return false;
  record.time_created = status.st_mtim;
  if (!read_character_device(uverbs, record)) return false;
  record.node_type =
      read_device_file(text, record, "node_type") > 0 ? parse_node_type(text) : IBV_NODE_UNKNOWN;
  record.ibdev_idx = -1;
  return node_exists(places, record);
}

// 0, also when the entry is no device; or an errno value when there is no memory or descriptor.
int add_sysfs_record(const Places& places, int folder, const char* name, Records& records) {
  errno = 0;
  Fd uverbs(openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!uverbs) return is_shortage(errno) ? errno : 0;
  auto record = allocate<verbs_sysfs_dev>();
  if (!record) return ENOMEM;
  bool is_device = read_sysfs_record(places, uverbs.get(), name, *record);
  if (is_shortage(errno)) return errno;
  if (!is_device) return 0;
  if (!records.push(record.get())) return ENOMEM;
  record.release();
  return 0;
}

struct NetlinkScan {
  const Places& places;
  Records& records;

  static int visit(void* context, const netlink::DeviceAnswer& answer) {
    auto& scan = *static_cast<NetlinkScan*>(context);
    auto record = allocate<verbs_sysfs_dev>();
    if (!record) return ENOMEM;
    record->ibdev_idx = static_cast<int>(answer.index);
    record->num_ports = answer.ports;
    record->node_guid = htobe64(answer.node_guid);
    record->flags |= VSYSFS_READ_NODE_GUID;
    record->node_type = node_type_of_kernel(answer.node_type);
    if (!copy_name(record->ibdev_name, answer.name) || strchr(answer.name, '/') ||
        !set_device_path(scan.places, *record))
      return EPROTO;
    if (!scan.records.push(record.get())) return ENOMEM;
    record.release();
    return 0;
  }
};

// False when there is none; then errno says ENOMEM or the like if that is only for now.
bool add_character_device(const Places& places, verbs_sysfs_dev& record) {
  netlink::CharacterDeviceAnswer answer;
  errno = 0;
  const int error =
      netlink::query_character_device(static_cast<uint32_t>(record.ibdev_idx), answer);
  if (is_shortage(error)) {
    errno = error;
    return false;
  }
  if (error == 0) {
    if (!copy_name(record.sysfs_name, answer.name)) return false;
    record.sysfs_cdev = answer.number;
    record.abi_ver = answer.abi;
    record.driver_id = answer.driver_id;
    interface_version = IB_USER_VERBS_ABI_VERSION;  // only this version has the query
  } else if (!character_device_of_parent(record)) {
    return false;
  }
  return node_exists(places, record);
}

}  // namespace

void free_records(Records& records) noexcept {
  for (verbs_sysfs_dev* record : records)
    free(record);
  records.clear();
}

int scan_netlink(const Places& places, Records& records) noexcept {
  NetlinkScan scan{places, records};
  if (int error = netlink::query_devices(NetlinkScan::visit, &scan)) {
    free_records(records);
    return error;
  }
  for (size_t i = records.size(); i-- > 0;) {
    if (add_character_device(places, *records[i])) continue;
    if (int error = errno; is_shortage(error)) {
      free_records(records);
      return error;
    }
    free(records[i]);
    records.remove(i);
  }
  return 0;
}

int scan_sysfs(const Places& places, Records& records) noexcept {
  char path[2 * sysfs_path_max];
  if (!print_to(path, "%s/class/infiniband_verbs", places.sysfs)) return ENOSYS;
  Folder folder(path);
  if (!folder) return is_shortage(errno) ? errno : ENOSYS;
  int error = 0;
  while (const char* name = error ? nullptr : folder.next())
    error = add_sysfs_record(places, folder.fd(), name, records);
  if (error) free_records(records);
  return error;
}

int scan_devices(const Places& places, Records& records) noexcept {
  if (scan_netlink(places, records) == 0) return 0;
  return scan_sysfs(places, records);
}

std::optional<uint32_t> read_interface_version(const Places& places) noexcept {
  char text[16];
  if (read_sysfs(text, "%s/class/infiniband_verbs/abi_version", places.sysfs) <= 0) return {};
  return parse_number(text);
}

bool is_spoken(uint32_t version) noexcept {
  return version >= IB_USER_VERBS_MIN_ABI_VERSION && version <= IB_USER_VERBS_MAX_ABI_VERSION;
}

int check_interface_version(const Places& places) noexcept {
  if (interface_version >= 0) return 0;
  auto version = read_interface_version(places);
  if (!version) return ENOSYS;
  if (!is_spoken(*version)) {
    fprintf(stderr,
            "libibverbs: Fatal: kernel ABI version %u is not one of those this library speaks "
            "(%d to %d).\n",
            *version, IB_USER_VERBS_MIN_ABI_VERSION, IB_USER_VERBS_MAX_ABI_VERSION);
    return ENOSYS;
  }
  interface_version = static_cast<int>(*version);
  return 0;
}

}  // namespace verbs
