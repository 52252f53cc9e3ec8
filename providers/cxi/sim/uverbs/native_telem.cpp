// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Telemetry: counters by the number of their item, each with the time at which it was read.
#include <cerrno>
#include <iterator>
#include <vector>

#include "ethernet/cassini_telemetry.hpp"
#include "uverbs/native.hpp"

namespace sim::uverbs {

cxi_abi_telem_result read_telemetry(NicState& nic, uint32_t number) {
  cxi_abi_telem_result result{};
  result.item = number;
  result.timestamp_ns = nic.clock().realtime_ns();
  if (number == 0 || number >= std::size(cassini::telemetry_items)) {
    result.status = EINVAL;
    return result;
  }
  const auto& item = cassini::telemetry_items[number];
  const bool second = nic.device->config().cassini_version & 0x20;  // behaviour 12
  const auto& place = second ? item.cassini2 : item.cassini1;
  if (!place.exists()) {
    result.status = ENOENT;
    return result;
  }
  auto word = nic.device->read_csr(place.offset);
  if (!word) {
    result.status = EIO;
    return result;
  }
  const uint64_t mask = place.width == 64 ? ~uint64_t{0} : (uint64_t{1} << place.width) - 1;
  result.value = word.value >> place.lsb & mask;
  return result;
}

int telem_read(Call& call) {
  cxi_abi_telem_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  if (req.reserved_a0 || req.count == 0 || req.count > CXI_ABI_TELEM_MAX_ITEMS) return EINVAL;
  std::vector<uint32_t> items(req.count);
  if (!call.caller.read(req.items_ptr, std::as_writable_bytes(std::span(items)))) return EFAULT;
  std::vector<cxi_abi_telem_result> results;
  results.reserve(items.size());
  for (const uint32_t item : items)
    results.push_back(read_telemetry(call.file.nic, item));
  return call.caller.write(req.results_ptr, std::as_bytes(std::span(results))) ? 0 : EFAULT;
}

}  // namespace sim::uverbs
