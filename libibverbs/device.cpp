// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Queries of devices and ports.
#include <cerrno>
#include <cstring>

#include "error.hpp"
#include "export.hpp"
#include "port.hpp"
#include "private_context.hpp"
#include "sysfs.hpp"

#undef ibv_query_port

namespace verbs {

int query_port(ibv_context* context, uint8_t port, ibv_port_attr* attr, size_t size) noexcept {
  if (size < sizeof(*attr)) {  // a program that was built when the structure was shorter
    ibv_port_attr whole{};
    int error = ops_of(context).query_port(context, port, &whole);
    if (!error) memcpy(attr, &whole, size);
    return error;
  }
  memset(attr, 0, size);
  return ops_of(context).query_port(context, port, attr);
}

}  // namespace verbs

// The attributes of the time before the structure grew. Current programs use the inline verb.
VERBS_EXPORT int ibv_query_port(ibv_context* context, uint8_t port, _compat_ibv_port_attr* attr) {
  constexpr size_t legacy_size = offsetof(ibv_port_attr, port_cap_flags2);
  return verbs::query_port(context, port, reinterpret_cast<ibv_port_attr*>(attr), legacy_size);
}

// The speed of a port in units of 100 Mb/s.
VERBS_EXPORT int ibv_query_port_speed(ibv_context* context, uint32_t port, uint64_t* speed) {
  return verbs::ops_of(context).query_port_speed(context, port, speed);
}

VERBS_EXPORT int ibv_query_device(ibv_context* context, ibv_device_attr* attr) {
  // The provider writes no further than the size says, so the start of the structure is enough.
  return verbs::ops_of(context).query_device_ex(
      context, nullptr, reinterpret_cast<ibv_device_attr_ex*>(attr), sizeof(*attr));
}

// One entry of the partition key table, in network order. -1 on failure.
VERBS_EXPORT int ibv_query_pkey(ibv_context* context, uint8_t port, int index, __be16* pkey) {
  const verbs_sysfs_dev* record = verbs_get_device(context->device)->sysfs;
  if (!record) return verbs::minus_one(EINVAL);
  char text[8];
  const int length = verbs::read_device_file(text, *record, "ports/%d/pkeys/%d", port, index);
  if (length < 0) return -1;
  unsigned value;
  if (length == 0 || sscanf(text, "%x", &value) != 1 || value > UINT16_MAX)
    return verbs::minus_one(EINVAL);
  *pkey = htobe16(static_cast<uint16_t>(value));
  return 0;
}

// The first entry of the table that holds a key, membership bit and all. -1 if none does.
VERBS_EXPORT int ibv_get_pkey_index(ibv_context* context, uint8_t port, __be16 pkey) {
  __be16 entry;
  for (int index = 0; ibv_query_pkey(context, port, index, &entry) == 0; index++)
    if (entry == pkey) return index;
  return -1;
}
