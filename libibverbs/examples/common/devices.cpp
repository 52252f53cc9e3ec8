// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "devices.hpp"

#include <rdma/cxiverbs-abi.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

#include "text.hpp"

namespace fs = std::filesystem;

namespace examples {

namespace {

constexpr unsigned lowest_uverbs_abi = 3;  // what libibverbs accepts
constexpr unsigned highest_uverbs_abi = 6;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<std::uint64_t> number_in(const fs::path& file) {
  return number(first_line(file).c_str(), 0, UINT32_MAX);
}

/// uverbs0, uverbs1, ... in the order of their names.
std::vector<fs::path> uverbs_entries(const fs::path& sysfs) {
  std::vector<fs::path> entries;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(sysfs / "class/infiniband_verbs", none))
    if (entry.path().filename().string().starts_with("uverbs")) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

/// Why libibverbs does not use this device.
std::string why_not_used(const fs::path& entry, const fs::path& dev) {
  const std::string uverbs = entry.filename().string();
  const std::string device = first_line(entry / "ibdev");
  const fs::path node = dev / "infiniband" / uverbs;
  std::error_code none;
  if (!fs::exists(node, none))
    return format("%s has no device node %s: let udev make it, or pass it into the container",
                  device.c_str(), node.c_str());
  const bool is_cxi = device.starts_with("cxi");
  const auto abi = number_in(entry / "abi_version");
  if (is_cxi && abi && *abi != CXI_ABI_VERSION)
    return format(
        "the kernel driver of %s has interface version %u, libcxiverbs has %u: "
        "update the older of the two",
        device.c_str(), static_cast<unsigned>(*abi), unsigned{CXI_ABI_VERSION});
  return format(
      "there is no provider library for %s: install %s, which puts a .driver file into "
      "libibverbs.d",
      device.c_str(), is_cxi ? "libcxiverbs" : "the one of its vendor");
}

}  // namespace

DeviceList::DeviceList() {
  errno = 0;
  list_ = ibv_get_device_list(&count_);
  if (!list_) error_ = errno ? errno : ENOSYS;
}

DeviceList::~DeviceList() {
  if (list_) ibv_free_device_list(list_);
}

ibv_device* DeviceList::find(const char* name) const {
  for (ibv_device* device : devices())
    if (std::strcmp(ibv_get_device_name(device), name) == 0) return device;
  return nullptr;
}

std::string DeviceList::names() const {
  std::string text;
  for (ibv_device* device : devices())
    append(text, "%s%s", text.empty() ? "" : ", ", ibv_get_device_name(device));
  return text;
}

std::string why_no_device(const fs::path& sysfs, const fs::path& dev) {
  const std::vector<fs::path> entries = uverbs_entries(sysfs);
  if (entries.empty())
    return "there is no RDMA device: load the driver of the NIC, or use the software Cassini "
           "(cxi_sim run -- PROGRAM)";
  const auto abi = number_in(sysfs / "class/infiniband_verbs/abi_version");
  if (abi && (*abi < lowest_uverbs_abi || *abi > highest_uverbs_abi))
    return format(
        "the kernel has uverbs interface %u, libibverbs knows %u to %u: update libibverbs",
        static_cast<unsigned>(*abi), lowest_uverbs_abi, highest_uverbs_abi);
  return why_not_used(entries.front(), dev);
}

std::string why_no_device() {
  const char* sysfs = geteuid() == getuid() ? std::getenv("SYSFS_PATH") : nullptr;
  return why_no_device(sysfs ? sysfs : "/sys", "/dev");
}

std::string why_no_list(int error) {
  return format("Failed to get IB devices list: %s: %s", std::strerror(error),
                why_no_device().c_str());
}

ibv_device* choose_device(const DeviceList& list, const char* name) {
  if (list.devices().empty()) {
    complain("%s", why_no_device().c_str());
    return nullptr;
  }
  if (!name) return list.devices().front();
  ibv_device* device = list.find(name);
  if (!device) complain("there is no device %s: choose one of %s", name, list.names().c_str());
  return device;
}

std::string why_not_opened(const char* name, const char* node, int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return format(
          "no permission for %s (/dev/infiniband/%s): ask for read and write access to it", name,
          node);
    case ENODEV:
    case ENOENT:
    case ENXIO:
    case EIO:
      return format("%s is gone or its driver has stopped: see the kernel log", name);
    case EMFILE:
    case ENFILE:
      return format("too many open files to open %s: raise the limit (ulimit -n)", name);
    default:
      return format("%s could not be opened: %s", name, std::strerror(error));
  }
}

ibv_context* open_device(ibv_device* device) {
  errno = 0;
  ibv_context* context = ibv_open_device(device);
  if (!context) {
    const std::string why = why_not_opened(ibv_get_device_name(device), device->dev_name, errno);
    complain("%s", why.c_str());
  }
  return context;
}

}  // namespace examples
