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

std::string check_pages(std::span<const char> buffer, std::size_t page_size) {
  std::string text;
  for (std::size_t at = 0; at < buffer.size(); at += page_size)
    if (buffer[at] != 0) append(text, "invalid data in page %zu\n", at / page_size);
  return text;
}

}  // namespace ru_pingpong
