// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The standard counters object: what it reads by number are the NIC's telemetry items.
#include "internal.hpp"

namespace cxi {
namespace {

verbs_counters& counters_of(ibv_counters* counters) noexcept {
  return *reinterpret_cast<verbs_counters*>(counters);
}
static_assert(offsetof(verbs_counters, counters) == 0);

}  // namespace

ibv_counters* create_counters(ibv_context* context, ibv_counters_init_attr* attr) noexcept {
  Owned<verbs_counters> counters = allocate<verbs_counters>();
  if (!counters) return null_with_errno(ENOMEM);
  if (const int err = ibv_cmd_create_counters(context, attr, counters.get(), nullptr))
    return null_with_errno(err);
  return &counters.release()->counters;
}

int destroy_counters(ibv_counters* counters) noexcept {
  const int err = ibv_cmd_destroy_counters(&counters_of(counters));
  if (err && err != EIO) return err;
  std::free(&counters_of(counters));
  return 0;
}

int read_counters_ex(ibv_counters* counters, ibv_read_counters_attr* attr) noexcept {
  return ibv_cmd_read_counters_ex(&counters_of(counters), attr, nullptr);
}

}  // namespace cxi
