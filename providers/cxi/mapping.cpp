// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "mapping.hpp"

#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace cxi {
namespace {

/// `where` is null, or where to map.
int map(const ibv_context& context, std::uint64_t cookie, std::size_t bytes, int protection,
        void*& where) noexcept {
  where = mmap(where, bytes, protection, MAP_SHARED | (where ? MAP_FIXED : 0), context.cmd_fd,
               static_cast<off_t>(cookie));
  if (where == MAP_FAILED) {
    where = nullptr;
    return errno;
  }
  // A child of fork() must not share rings and doorbells with its parent.
  madvise(where, bytes, MADV_DONTFORK);
  return 0;
}

}  // namespace

int map_cookie(const ibv_context& context, std::uint64_t cookie, std::size_t bytes,
               std::byte*& where) noexcept {
  void* mapped = nullptr;
  const int err = map(context, cookie, bytes, PROT_READ | PROT_WRITE, mapped);
  where = static_cast<std::byte*>(mapped);
  return err;
}

int map_cookie_readable(const ibv_context& context, std::uint64_t cookie, std::size_t bytes,
                        const std::byte*& where) noexcept {
  void* mapped = nullptr;
  const int err = map(context, cookie, bytes, PROT_READ, mapped);
  where = static_cast<const std::byte*>(mapped);
  return err;
}

std::byte* reserve_addresses(std::size_t bytes) noexcept {
  void* where = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return where == MAP_FAILED ? nullptr : static_cast<std::byte*>(where);
}

int map_cookie_at(const ibv_context& context, std::uint64_t cookie, std::size_t bytes,
                  std::byte* where) noexcept {
  void* mapped = where;
  return map(context, cookie, bytes, PROT_READ | PROT_WRITE, mapped);
}

void unmap_cookie(const std::byte* where, std::size_t bytes) noexcept {
  if (where) munmap(const_cast<std::byte*>(where), bytes);
}

std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace cxi
