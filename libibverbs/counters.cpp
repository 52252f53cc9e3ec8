// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Counters that are read with time stamps.
#include "error.hpp"
#include "export.hpp"
#include "private_context.hpp"

// Reads the items that the caller names. 0 or an errno value.
VERBS_EXPORT int ibv_read_counters_ex(ibv_counters* counters, ibv_read_counters_attr* attr) {
  if (attr->comp_mask || attr->result_size < sizeof(*attr->results))
    return verbs::with_errno(EINVAL);
  return verbs::with_errno(verbs::ops_of(counters->context).read_counters_ex(counters, attr));
}
