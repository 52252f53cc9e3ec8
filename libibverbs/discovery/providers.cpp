// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "providers.hpp"

#include <dlfcn.h>
#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "../environment.hpp"
#include "../error.hpp"
#include "../export.hpp"
#include "../sysfs.hpp"
#include "config.hpp"

namespace verbs {
namespace {

constinit Providers providers;

constexpr size_t path_max = 4096;

// Providers stay loaded: their code runs until the process ends. When there is no memory to load
// one, shortage is set.
bool load(const char* folder, const char* prefix, const char* name, int& shortage) {
  char path[path_max];
  int length = snprintf(path, sizeof(path), "%s%s%s%s", folder, prefix, name, CXV_PROVIDER_SUFFIX);
  if (length < 0 || static_cast<size_t>(length) >= sizeof(path)) return false;
  errno = 0;
  if (dlopen(path, RTLD_NOW)) return true;
  if (is_shortage(errno)) shortage = errno;
  return false;
}

// 0, or an errno value: then it is worth another try.
int load_provider(const char* name) {
  int shortage = 0;
  bool loaded = name[0] == '/' ? load("", "", name, shortage)
                               : load(CXV_PROVIDER_DIR "/", "lib", name, shortage) ||
                                     load("", "lib", name, shortage);
  if (loaded) return 0;
  if (!shortage)
    fprintf(stderr, "libibverbs: Warning: couldn't load driver '%s': %s\n", name, dlerror());
  return shortage;
}

int load_all(Names& names) {
  int error = 0;
  for (size_t i = 0; i < names.size() && !error; i++)
    error = load_provider(names[i]);
  return error;
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
  append(*entry);
  return true;
}

void Providers::append(Entry& entry) noexcept {
  std::atomic<Entry*>* end = &first_;
  // Release: readers find the entry whole. Whoever loses the race goes on behind the winner.
  for (Entry* other = nullptr; !end->compare_exchange_strong(
           other, &entry, std::memory_order_release, std::memory_order_acquire);
       other = nullptr)
    end = &other->next;
}

Providers& registered_providers() noexcept {
  return providers;
}

int load_providers() noexcept {
  Names from_environment, from_config;
  const char* list = trusted_variable("RDMAV_DRIVERS");
  if (!list) list = trusted_variable("IBV_DRIVERS");
  int error = list ? split_names(list, from_environment) : 0;
  if (!error) error = read_config_folder(CXV_CONFIG_DIR, from_config);
  if (!error) error = load_all(from_environment);
  std::reverse(from_config.begin(), from_config.end());
  if (!error) error = load_all(from_config);
  free_names(from_environment);
  free_names(from_config);
  return error;
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
  if (verbs::registered_providers().push(ops)) return;
  // Constructors do not run again: what is not registered now will never be.
  static verbs::Providers::Entry spare[8];
  static std::atomic<size_t> taken;
  size_t place = taken.fetch_add(1, std::memory_order_relaxed);
  if (place < std::size(spare)) {
    spare[place].ops = ops;
    verbs::registered_providers().append(spare[place]);
  } else {
    fprintf(stderr, "libibverbs: Warning: couldn't allocate driver for %s\n", ops->name);
  }
}
