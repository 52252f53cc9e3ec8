// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Mappings that the driver names by cookies.
#pragma once

#include <cstddef>
#include <cstdint>

struct ibv_context;

namespace cxi {

/// Maps bytes at a cookie, readable and writable. Returns 0 or an errno value.
int map_cookie(const ibv_context& context, std::uint64_t cookie, std::size_t bytes,
               std::byte*& where) noexcept;
/// The same, only readable.
int map_cookie_readable(const ibv_context& context, std::uint64_t cookie, std::size_t bytes,
                        const std::byte*& where) noexcept;
/// Address space for a mapping that must not fail for the lack of it. Null: there is none.
std::byte* reserve_addresses(std::size_t bytes) noexcept;
/// Maps at addresses that were reserved, as many bytes.
int map_cookie_at(const ibv_context& context, std::uint64_t cookie, std::size_t bytes,
                  std::byte* where) noexcept;
void unmap_cookie(const std::byte* where, std::size_t bytes) noexcept;

std::size_t page_bytes() noexcept;
inline std::uint64_t whole_pages(std::uint64_t bytes) noexcept {
  const std::uint64_t page = page_bytes();
  return (bytes + page - 1) / page * page;
}

}  // namespace cxi
