// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "report.hpp"

#include "../common/text.hpp"

namespace ru_pingpong {

using examples::append;
using examples::format;

std::string figures(std::uint32_t size, unsigned iters, double usec) {
  const unsigned long long bytes = 2ULL * size * iters;
  const double half_round_trip = usec / iters / 2;
  std::string text;
  append(text, "%llu bytes in %.2f seconds = %.2f Mbit/sec\n", bytes, usec / 1e6,
         static_cast<double>(bytes) * 8 / usec);
  append(text, "%u iters in %.2f seconds = %.2f usec/iter\n", iters, usec / 1e6, usec / iters);
  append(text,
         "%u-byte messages, %u iterations: half round trip %.2f usec, bandwidth %.2f MB/sec\n",
         size, iters, half_round_trip, size / half_round_trip);
  return text;
}

std::string why_failed(const char* what, enum ibv_wc_status status, std::uint32_t vendor_err) {
  const char* hint;
  switch (status) {
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
      hint = "the message is larger than the receiver's region: give both sides the same --size";
      break;
    case IBV_WC_RETRY_EXC_ERR:
      hint =
          "the peer is gone or cannot be reached: see whether it still runs, and in the same VNI";
      break;
    case IBV_WC_RNR_RETRY_EXC_ERR:
      hint = "the peer posts no receives: give both sides the same --rx-depth and --iters";
      break;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_LOC_PROT_ERR:
      hint = "the network interface refused access to the memory";
      break;
    case IBV_WC_WR_FLUSH_ERR:
      hint = "the queue pair was stopped after an earlier error";
      break;
    default:
      hint = "see the manual of the device for the vendor error";
      break;
  }
  return format("a %s failed: %s (status %d, vendor error 0x%x): %s", what,
                ibv_wc_status_str(status), static_cast<int>(status), vendor_err, hint);
}

std::string check_pages(std::span<const char> buffer, std::size_t page_size) {
  std::string text;
  for (std::size_t at = 0; at < buffer.size(); at += page_size)
    if (buffer[at] != 0) append(text, "invalid data in page %zu\n", at / page_size);
  return text;
}

}  // namespace ru_pingpong
