// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "device_list.hpp"

#include <pthread.h>

#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "../environment.hpp"
#include "../error.hpp"
#include "../export.hpp"
#include "../init.hpp"
#include "../scoped.hpp"
#include "../sysfs.hpp"
#include "providers.hpp"

namespace verbs {
namespace {

constinit DeviceList devices;
pthread_mutex_t devices_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t guid_mutex = PTHREAD_MUTEX_INITIALIZER;
bool initialized;       // guarded by devices_mutex
bool providers_loaded;  // likewise

ibv_transport_type transport_of(ibv_node_type type) {
  switch (type) {
    case IBV_NODE_CA:
    case IBV_NODE_SWITCH:
    case IBV_NODE_ROUTER:
      return IBV_TRANSPORT_IB;
    case IBV_NODE_RNIC:
      return IBV_TRANSPORT_IWARP;
    case IBV_NODE_USNIC:
      return IBV_TRANSPORT_USNIC;
    case IBV_NODE_USNIC_UDP:
      return IBV_TRANSPORT_USNIC_UDP;
    case IBV_NODE_UNSPECIFIED:
      return IBV_TRANSPORT_UNSPECIFIED;
    default:
      return IBV_TRANSPORT_UNKNOWN;
  }
}

bool same_device(const verbs_sysfs_dev& known, const verbs_sysfs_dev& fresh) {
  if (strcmp(known.sysfs_name, fresh.sysfs_name) != 0 || known.ibdev_idx != fresh.ibdev_idx)
    return false;
  // Without a kernel index, only the time of creation tells a device from a successor of its name.
  return known.ibdev_idx != -1 || (known.time_created.tv_sec == fresh.time_created.tv_sec &&
                                   known.time_created.tv_nsec == fresh.time_created.tv_nsec);
}

void copy_name(std::span<char> to, const char* from) {
  snprintf(to.data(), to.size(), "%s", from);
}

// 0 and the device, or no device when the provider refuses; an errno value when it has no memory.
int make_device(const verbs_device_ops& provider, verbs_sysfs_dev& record, const Places& places,
                verbs_device*& made) {
  errno = 0;
  made = provider.alloc_device(&record);
  if (!made) {
    if (is_shortage(errno)) return errno;
    fprintf(stderr, "libibverbs: Fatal: couldn't allocate device for %s\n", record.ibdev_path);
    return 0;
  }
  ibv_device& device = made->device;
  assert(!device._ops._dummy1 && !device._ops._dummy2);
  made->ops = &provider;
  made->refcount = 1;
  made->sysfs = &record;
  device.node_type = record.node_type;
  // The device came zeroed, and zero is the transport of InfiniBand, which no provider needs to
  // set.
  if (device.transport_type == 0) device.transport_type = transport_of(record.node_type);
  copy_name(device.name, record.ibdev_name);
  copy_name(device.dev_name, record.sysfs_name);
  snprintf(device.dev_path, sizeof(device.dev_path), "%s/class/infiniband_verbs/%s", places.sysfs,
           record.sysfs_name);
  copy_name(device.ibdev_path, record.ibdev_path);
  return 0;
}

bool speaks_its_abi(const verbs_device_ops& provider, const verbs_sysfs_dev& record) {
  if (record.abi_ver >= provider.match_min_abi_version &&
      record.abi_ver <= provider.match_max_abi_version)
    return true;
  fprintf(stderr,
          "libibverbs: Warning: Driver %s does not support the kernel ABI of %u (supports %u to "
          "%u) for device %s\n",
          provider.name, record.abi_ver, provider.match_min_abi_version,
          provider.match_max_abi_version, record.ibdev_path);
  return false;
}

int try_provider(const verbs_device_ops& provider, verbs_sysfs_dev& record, const Places& places,
                 verbs_device*& made) {
  if (!provider_matches(provider, record) || !speaks_its_abi(provider, record)) return 0;
  return make_device(provider, record, places, made);
}

bool serves_driver(const verbs_device_ops& provider, uint32_t driver_id) {
  const verbs_match_ent* entry = provider.match_table;
  for (; entry && entry->kind != VERBS_MATCH_SENTINEL; entry++)
    if (entry->kind == VERBS_MATCH_DRIVER_ID && entry->u.driver_id == driver_id) return true;
  return false;
}

// 0 and a device, or none when no provider has one for the record; or an errno value.
int find_provider(verbs_sysfs_dev& record, const Places& places, verbs_device*& made) {
  Providers& providers = registered_providers();
  int error = 0;
  made = nullptr;
  if (record.driver_id != RDMA_DRIVER_UNKNOWN)
    for (const verbs_device_ops* provider : providers)
      if (!error && !made && serves_driver(*provider, record.driver_id))
        error = try_provider(*provider, record, places, made);
  for (const verbs_device_ops* provider : providers)
    if (!error && !made) error = try_provider(*provider, record, places, made);
  return error;
}

void warn_unserved(Records& records) {
  if (!variable_exists("IBV_SHOW_WARNINGS")) return;
  for (const verbs_sysfs_dev* record : records)
    fprintf(stderr, "libibverbs: Warning: no userspace device-specific driver found for %s\n",
            record->sysfs_name);
}

}  // namespace

void hold_device(ibv_device& device) noexcept {
  verbs_get_device(&device)->refcount++;
}

void release_device(ibv_device& device) noexcept {
  verbs_device* held = verbs_get_device(&device);
  if (--held->refcount != 0) return;
  free(held->sysfs);
  if (held->ops->uninit_device) held->ops->uninit_device(held);
}

void DeviceList::clear() noexcept {
  for (verbs_device* device : devices_)
    release_device(device->device);
  devices_.clear();
}

// Forgets devices that the scan did not find, and scan records of those that are known.
void DeviceList::drop_missing(Records& records) noexcept {
  for (size_t i = devices_.size(); i-- > 0;) {
    bool found = false;
    for (size_t r = records.size(); r-- > 0 && !found;) {
      if (!same_device(*devices_[i]->sysfs, *records[r])) continue;
      found = true;
      free(records[r]);
      records.remove(r);
    }
    if (found) continue;
    release_device(devices_[i]->device);
    devices_.remove(i);
  }
}

// Asks the registered providers about each record, and takes out those that found one.
int DeviceList::match_all(Records& records, const Places& places) noexcept {
  for (size_t r = records.size(); r-- > 0;) {
    verbs_device* made;
    if (int error = find_provider(*records[r], places, made)) return error;
    if (!made) continue;
    records.remove(r);
    if (devices_.push(made)) continue;
    release_device(made->device);  // and the record with it
    return ENOMEM;
  }
  return 0;
}

int DeviceList::reconcile(Records& records, const Places& places) noexcept {
  int error = records.empty() ? 0 : check_interface_version(places);
  if (!error) {
    drop_missing(records);
    error = match_all(records, places);
  }
  if (!error && !records.empty() && !providers_loaded) {
    error = load_providers();
    providers_loaded = !error;
    if (!error) error = match_all(records, places);
  }
  if (!error) warn_unserved(records);
  free_records(records);
  return error;
}

int list_devices(ibv_device**& list) noexcept {
  Locked lock(devices_mutex);
  if (!initialized) {
    if (int error = initialize_library()) return -error;
    initialized = true;
  }
  const Places places{sysfs_root(), CXV_DEVICE_DIR};
  Records records;
  if (int error = scan_devices(places, records)) return -error;
  if (int error = devices.reconcile(records, places)) return -error;

  size_t count = devices.size();
  list = static_cast<ibv_device**>(calloc(count + 1, sizeof(ibv_device*)));
  if (!list) return -ENOMEM;
  for (size_t i = 0; i < count; i++) {
    list[i] = &devices[count - 1 - i].device;
    hold_device(*list[i]);
  }
  return static_cast<int>(count);
}

}  // namespace verbs

#undef ibv_get_device_list
// All RDMA devices that have a provider, ended by NULL. NULL with errno when there is no RDMA
// support.
VERBS_EXPORT ibv_device** ibv_get_device_list(int* count) {
  if (count) *count = 0;
  ibv_device** list = nullptr;
  int found = verbs::list_devices(list);
  if (found < 0) return verbs::null_with_errno(-found);
  if (count) *count = found;
  return list;
}

VERBS_EXPORT void ibv_free_device_list(ibv_device** list) {
  for (size_t i = 0; list[i]; i++)
    verbs::release_device(*list[i]);
  free(list);
}

VERBS_EXPORT const char* ibv_get_device_name(ibv_device* device) {
  return device->name;
}

// The kernel's index of the device, -1 if it is not known.
VERBS_EXPORT int ibv_get_device_index(ibv_device* device) {
  const verbs_sysfs_dev* record = verbs_get_device(device)->sysfs;
  return record ? record->ibdev_idx : -1;
}

// The GUID of the device in network order, 0 if it cannot be read.
VERBS_EXPORT __be64 ibv_get_device_guid(ibv_device* device) {
  verbs_sysfs_dev* record = verbs_get_device(device)->sysfs;
  if (!record) return 0;
  verbs::Locked lock(verbs::guid_mutex);
  if (!(record->flags & VSYSFS_READ_NODE_GUID)) {
    char text[32];
    if (verbs::read_device_file(text, *record, "node_guid") <= 0) return 0;
    auto guid = verbs::parse_guid(text);
    if (!guid) return 0;
    record->node_guid = htobe64(*guid);
    record->flags |= VSYSFS_READ_NODE_GUID;
  }
  return record->node_guid;
}
