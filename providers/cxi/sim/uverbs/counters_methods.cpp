// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The standard counters object. There are no flows whose points could be counted; what it reads are
// the device's telemetry items, each with its time.
#include <rdma/ib_user_ioctl_verbs.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "uverbs/native.hpp"

namespace sim::uverbs {

int create_counters(Call& call) {
  call.made(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, std::make_unique<Counters>(call.file));
  return 0;
}

int read_counters(Call& call) {
  uint64_t flags;
  if (int error = call.flags(UVERBS_ATTR_READ_COUNTERS_FLAGS, IB_UVERBS_READ_COUNTERS_PREFER_CACHED,
                             flags)) {
    return error;
  }
  const bool items_given = call.has(UVERBS_ATTR_READ_COUNTERS_ITEMS);
  if (items_given != call.has(UVERBS_ATTR_READ_COUNTERS_RESULTS)) return EINVAL;
  if (!items_given) return EOPNOTSUPP;
  const auto bytes = call.bytes(UVERBS_ATTR_READ_COUNTERS_ITEMS);
  std::vector<uint32_t> items(bytes.size() / sizeof(uint32_t));
  if (items.empty() || bytes.size() % sizeof(uint32_t) != 0 ||
      call.out_size(UVERBS_ATTR_READ_COUNTERS_RESULTS) !=
          items.size() * sizeof(ib_uverbs_counter_result)) {
    return EINVAL;
  }
  std::memcpy(items.data(), bytes.data(), bytes.size());
  std::vector<ib_uverbs_counter_result> results;
  std::vector<uint64_t> values;
  for (const uint32_t item : items) {
    const auto read = read_telemetry(call.file.nic, item);
    ib_uverbs_counter_result result{};
    result.value = read.value;
    result.timestamp = read.timestamp_ns;
    result.item = read.item;
    result.status = read.status;
    results.push_back(result);
    values.push_back(read.value);
  }
  call.put_bytes(UVERBS_ATTR_READ_COUNTERS_BUFF, std::as_bytes(std::span(values)));
  call.put_bytes(UVERBS_ATTR_READ_COUNTERS_RESULTS, std::as_bytes(std::span(results)));
  return 0;
}

}  // namespace sim::uverbs
