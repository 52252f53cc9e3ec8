// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "gid.hpp"

#include <net/if.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "cmd/cmd.hpp"
#include "error.hpp"
#include "export.hpp"
#include "port.hpp"
#include "private_context.hpp"
#include "sysfs.hpp"

namespace verbs {
namespace {

constexpr uint32_t all_parts =
    VERBS_QUERY_GID_ATTR_GID | VERBS_QUERY_GID_ATTR_TYPE | VERBS_QUERY_GID_ATTR_NDEV_IFINDEX;

struct TypeName {
  std::string_view text;
  ibv_gid_type_sysfs type;
  uint32_t public_type;  // IB and RoCE v1 are told apart by the link layer
};
constexpr std::array type_names{
    TypeName{"IB/RoCE v1", IBV_GID_TYPE_SYSFS_IB_ROCE_V1, IBV_GID_TYPE_ROCE_V1},
    TypeName{"RoCE v2", IBV_GID_TYPE_SYSFS_ROCE_V2, IBV_GID_TYPE_ROCE_V2},
    TypeName{"UET UDP", IBV_GID_TYPE_SYSFS_UET_UDP, IBV_GID_TYPE_UET_UDP},
    TypeName{"UET IP", IBV_GID_TYPE_SYSFS_UET_IP, IBV_GID_TYPE_UET_IP},
    TypeName{"UET UFH", IBV_GID_TYPE_SYSFS_UET_UFH, IBV_GID_TYPE_UET_UFH},
    TypeName{"Slingshot", IBV_GID_TYPE_SYSFS_SLINGSHOT, IBV_GID_TYPE_SLINGSHOT},
};

const verbs_sysfs_dev* record_of(const ibv_context& context) {
  return verbs_get_device(context.device)->sysfs;
}

bool is_zero(const ibv_gid& gid) {
  return std::ranges::all_of(gid.raw, [](uint8_t byte) { return byte == 0; });
}

int read_gid(const verbs_sysfs_dev& record, uint32_t port, uint32_t index, ibv_gid& gid) {
  char text[48];
  if (read_device_file(text, record, "ports/%u/gids/%u", port, index) <= 0 || !parse_gid(text, gid))
    return EINVAL;
  return 0;
}

bool has_gid_attributes(const verbs_sysfs_dev& record, uint32_t port) {
  char path[2 * sysfs_path_max];
  int length = snprintf(path, sizeof(path), "%s/ports/%u/gid_attrs", record.ibdev_path, port);
  struct stat status;
  return length > 0 && static_cast<size_t>(length) < sizeof(path) && stat(path, &status) == 0;
}

int read_gid_type(const verbs_sysfs_dev& record, uint32_t port, uint32_t index,
                  ibv_gid_type_sysfs& type) {
  char text[32];
  int length = read_device_file(text, record, "ports/%u/gid_attrs/types/%u", port, index);
  if (length <= 0) {
    // The kernel refuses to name the type of an InfiniBand GID, and once had no types at all.
    if ((length < 0 && errno == EINVAL) || !has_gid_attributes(record, port)) {
      type = IBV_GID_TYPE_SYSFS_IB_ROCE_V1;
      return 0;
    }
    return EFAULT;
  }
  return parse_gid_type(std::string_view(text, static_cast<size_t>(length)), type) ? 0 : ENOTSUP;
}

// The network interface behind a GID, 0 if there is none.
int read_interface(const verbs_sysfs_dev& record, uint32_t port, uint32_t index,
                   uint32_t& interface) {
  char name[IF_NAMESIZE + 1];
  interface = 0;
  if (read_device_file(name, record, "ports/%u/gid_attrs/ndevs/%u", port, index) <= 0) return 0;
  interface = if_nametoindex(name);
  return interface ? 0 : errno;
}

int link_layer_of(ibv_context& context, uint32_t port, uint8_t& link_layer) {
  ibv_port_attr attr;
  int error = query_port(&context, static_cast<uint8_t>(port), &attr, sizeof(attr));
  link_layer = attr.link_layer;
  return error;
}

uint32_t public_type(ibv_gid_type_sysfs type, uint8_t link_layer) {
  if (type == IBV_GID_TYPE_SYSFS_IB_ROCE_V1)
    return link_layer == IBV_LINK_LAYER_ETHERNET ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_IB;
  for (const TypeName& name : type_names)
    if (name.type == type) return name.public_type;
  return IBV_GID_TYPE_IB;
}

// The entry without help of the kernel's newer queries. The link layer is looked up if not known.
int entry_from_sysfs(ibv_context& context, uint32_t port, uint32_t index, ibv_gid_entry& entry,
                     uint32_t which, std::optional<uint8_t> link_layer) {
  const verbs_sysfs_dev* record = record_of(context);
  if (!record) return EOPNOTSUPP;
  entry = {};
  entry.gid_index = index;
  entry.port_num = port;
  if (which & VERBS_QUERY_GID_ATTR_GID) {
    if (int error = read_gid(*record, port, index, entry.gid)) return error;
    if (is_zero(entry.gid)) return ENODATA;
  }
  if (which & VERBS_QUERY_GID_ATTR_TYPE) {
    ibv_gid_type_sysfs type;
    if (int error = read_gid_type(*record, port, index, type)) return error;
    uint8_t layer = link_layer.value_or(IBV_LINK_LAYER_UNSPECIFIED);
    if (type == IBV_GID_TYPE_SYSFS_IB_ROCE_V1 && !link_layer)
      if (int error = link_layer_of(context, port, layer)) return error;
    entry.gid_type = public_type(type, layer);
  }
  if (which & VERBS_QUERY_GID_ATTR_NDEV_IFINDEX)
    return read_interface(*record, port, index, entry.ndev_ifindex);
  return 0;
}

// The filled slots of one port, behind those that there are already.
int append_port(ibv_context& context, uint32_t port, std::span<ibv_gid_entry> entries,
                size_t& count) {
  ibv_port_attr attr;
  if (int error = query_port(&context, static_cast<uint8_t>(port), &attr, sizeof(attr)))
    return error;
  for (int index = 0; index < attr.gid_tbl_len; index++) {
    ibv_gid_entry entry;
    int error = entry_from_sysfs(context, port, static_cast<uint32_t>(index), entry, all_parts,
                                 attr.link_layer);
    if (error == ENODATA) continue;
    if (error) return error;
    if (count == entries.size()) return EINVAL;
    entries[count++] = entry;
  }
  return 0;
}

int table_from_sysfs(ibv_context& context, std::span<ibv_gid_entry> entries, size_t& count) {
  ibv_device_attr attr;
  if (int error = ibv_query_device(&context, &attr)) return error;
  count = 0;
  for (uint32_t port = 1; port <= attr.phys_port_cnt; port++)
    if (int error = append_port(context, port, entries, count)) return error;
  return 0;
}

}  // namespace

bool parse_gid_type(std::string_view text, ibv_gid_type_sysfs& type) noexcept {
  for (const TypeName& name : type_names) {
    if (name.text != text) continue;
    type = name.type;
    return true;
  }
  return false;
}

int query_gid_entry(ibv_context& context, uint32_t port, uint32_t index, ibv_gid_entry& entry,
                    uint32_t flags, size_t entry_size, uint32_t which) noexcept {
  int error = cmd_query_gid_entry(context, port, index, flags, &entry, entry_size);
  if (!is_unknown_command(error)) return error;
  if (flags || entry_size < sizeof(entry)) return EOPNOTSUPP;
  return entry_from_sysfs(context, port, index, entry, which, {});
}

}  // namespace verbs

using namespace verbs;

// One entry of the GID table, as much of it as the caller knows. 0 or an errno value.
VERBS_EXPORT int _ibv_query_gid_ex(ibv_context* context, uint32_t port, uint32_t index,
                                   ibv_gid_entry* entry, uint32_t flags, size_t entry_size) {
  return with_errno(query_gid_entry(*context, port, index, *entry, flags, entry_size, all_parts));
}

// All filled entries of all ports. How many, or a negative errno value.
VERBS_EXPORT ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries,
                                          size_t max_entries, uint32_t flags, size_t entry_size) {
  uint64_t filled = 0;
  int error = cmd_query_gid_table(*context, flags, entries, max_entries, entry_size, filled);
  if (!error) return static_cast<ssize_t>(filled);
  if (!is_unknown_command(error)) return -error;
  if (flags || entry_size < sizeof(*entries)) return -EOPNOTSUPP;
  size_t count;
  error = table_from_sysfs(*context, {entries, max_entries}, count);
  return error ? -error : static_cast<ssize_t>(count);
}

// The GID of one slot, all zero for an empty one. -1 on failure.
VERBS_EXPORT int ibv_query_gid(ibv_context* context, uint8_t port, int index, ibv_gid* gid) {
  ibv_gid_entry entry{};
  int error = query_gid_entry(*context, port, static_cast<uint32_t>(index), entry, 0, sizeof(entry),
                              VERBS_QUERY_GID_ATTR_GID);
  if (error && error != ENODATA) return minus_one(error);
  if (error)
    memset(gid, 0, sizeof(*gid));
  else
    *gid = entry.gid;
  return 0;
}

// The type of one slot by its name in sysfs; an empty one has the first type. -1 on failure.
VERBS_EXPORT int ibv_query_gid_type(ibv_context* context, uint8_t port, unsigned int index,
                                    ibv_gid_type_sysfs* type) {
  ibv_gid_entry entry{};
  int error =
      query_gid_entry(*context, port, index, entry, 0, sizeof(entry), VERBS_QUERY_GID_ATTR_TYPE);
  if (error && error != ENODATA) return minus_one(error);
  if (error || entry.gid_type == IBV_GID_TYPE_IB) {
    *type = IBV_GID_TYPE_SYSFS_IB_ROCE_V1;
    return 0;
  }
  for (const TypeName& name : type_names) {
    if (name.public_type != entry.gid_type) continue;
    *type = name.type;
    return 0;
  }
  return minus_one(ENOTSUP);
}
