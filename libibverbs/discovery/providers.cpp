// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "providers.hpp"

#include <dlfcn.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "../environment.hpp"
#include "../export.hpp"
#include "../sysfs.hpp"
#include "config.hpp"

namespace verbs {
namespace {

constinit Providers providers;

constexpr size_t path_max = 4096;

// Providers stay loaded: their code runs until the process ends.
bool load(const char* folder, const char* prefix, const char* name) {
  char path[path_max];
  int length = snprintf(path, sizeof(path), "%s%s%s%s", folder, prefix, name, CXV_PROVIDER_SUFFIX);
  if (length < 0 || static_cast<size_t>(length) >= sizeof(path)) return false;
  return dlopen(path, RTLD_NOW) != nullptr;
}

void load_provider(const char* name) {
  bool loaded = name[0] == '/' ? load("", "", name)
                               : load(CXV_PROVIDER_DIR "/", "lib", name) || load("", "lib", name);
  if (!loaded)
    fprintf(stderr, "libibverbs: Warning: couldn't load driver '%s': %s\n", name, dlerror());
}

const verbs_match_ent* match_driver_id(const verbs_match_ent* table,
                                       const verbs_sysfs_dev& record) {
  if (record.driver_id == RDMA_DRIVER_UNKNOWN) return nullptr;
  for (auto* entry = table; entry->kind != VERBS_MATCH_SENTINEL; entry++)
    if (entry->kind == VERBS_MATCH_DRIVER_ID && entry->u.driver_id == record.driver_id)
      return entry;
  return nullptr;
}

bool matches_text(const verbs_match_ent& entry, const char* text) {
  if (entry.kind == VERBS_MATCH_MODALIAS) return fnmatch(entry.u.modalias, text, 0) == 0;
  if (entry.kind != VERBS_MATCH_PCI) return false;
  char pattern[32];
  snprintf(pattern, sizeof(pattern), "pci:v%08Xd%08Xsv*", entry.vendor, entry.device);
  return fnmatch(pattern, text, 0) == 0;
}

const verbs_match_ent* match_text(const verbs_match_ent* table, const char* text) {
  for (auto* entry = table; entry->kind != VERBS_MATCH_SENTINEL; entry++)
    if (matches_text(*entry, text)) return entry;
  return nullptr;
}

const verbs_match_ent* match_name(const verbs_match_ent* table, const verbs_sysfs_dev& record) {
  char text[sizeof("rdma_device:N") + IBV_SYSFS_NAME_MAX];
  snprintf(text, sizeof(text), "rdma_device:N%s", record.ibdev_name);
  return match_text(table, text);
}

const verbs_match_ent* match_modalias(const verbs_match_ent* table, verbs_sysfs_dev& record) {
  if (!(record.flags & VSYSFS_READ_MODALIAS)) {
    record.flags |= VSYSFS_READ_MODALIAS;
    if (read_device_file(record.modalias, record, "device/modalias") <= 0)
      record.modalias[0] = '\0';
  }
  return record.modalias[0] ? match_text(table, record.modalias) : nullptr;
}

}  // namespace

bool Providers::push(const verbs_device_ops* ops) noexcept {
  auto* entry = static_cast<Entry*>(calloc(1, sizeof(Entry)));
  if (!entry) return false;
  entry->ops = ops;
  std::atomic<Entry*>* end = &first_;
  // Release: readers find the entry whole. Whoever loses the race goes on behind the winner.
  for (Entry* other = nullptr; !end->compare_exchange_strong(
           other, entry, std::memory_order_release, std::memory_order_acquire);
       other = nullptr)
    end = &other->next;
  return true;
}

Providers& registered_providers() noexcept {
  return providers;
}

void load_providers() noexcept {
  Names from_environment, from_config;
  const char* list = trusted_variable("RDMAV_DRIVERS");
  if (!list) list = trusted_variable("IBV_DRIVERS");
  int error = list ? split_names(list, from_environment) : 0;
  if (!error) error = read_config_folder(CXV_CONFIG_DIR, from_config);
  if (error) fprintf(stderr, "libibverbs: Warning: no memory for the list of drivers\n");
  for (const char* name : from_environment)
    load_provider(name);
  for (size_t i = from_config.size(); i-- > 0;)
    load_provider(from_config[i]);
  free_names(from_environment);
  free_names(from_config);
}

bool provider_matches(const verbs_device_ops& provider, verbs_sysfs_dev& record) noexcept {
  record.match = nullptr;
  if (const verbs_match_ent* table = provider.match_table) {
    record.match = match_driver_id(table, record);
    if (!record.match) record.match = match_name(table, record);
    if (!record.match) record.match = match_modalias(table, record);
  }
  return provider.match_device ? provider.match_device(&record) : record.match != nullptr;
}

}  // namespace verbs

// Called by a provider's constructor, before or while the device list is first made.
VERBS_EXPORT void verbs_register_driver_66(const verbs_device_ops* ops) {
  if (!verbs::registered_providers().push(ops))
    fprintf(stderr, "libibverbs: Warning: couldn't allocate driver for %s\n", ops->name);
}
