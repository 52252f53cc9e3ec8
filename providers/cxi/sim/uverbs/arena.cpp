// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

#include "uverbs/limits.hpp"

namespace sim::uverbs {

std::shared_ptr<Arena> Arena::make(int* error) {
  int fd = memfd_create("cassini", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) {
    *error = errno;
    return nullptr;
  }
  struct stat st {};
  // Whoever has the descriptor may neither take pages away from under the NIC nor add seals that
  // would stop the file from growing.
  if (fstat(fd, &st) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    *error = errno;
    close(fd);
    return nullptr;
  }
  return std::shared_ptr<Arena>(new Arena(fd, {st.st_dev, st.st_ino}));
}

Arena::~Arena() {
  close(fd_);
}

int Arena::grow_to(uint64_t size) {
  struct stat st {};
  if (fstat(fd_, &st) != 0) return errno;
  // The program can grow the file too; shrinking is sealed.
  if (static_cast<uint64_t>(st.st_size) >= size) return 0;
  return ftruncate(fd_, static_cast<off_t>(size)) == 0 ? 0 : errno;
}

uint64_t Arena::take(uint64_t length) {
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    auto [offset, available] = *it;
    if (available < length) continue;
    free_.erase(it);
    if (available > length) free_.emplace(offset + length, available - length);
    return offset;
  }
  uint64_t offset = end_;
  end_ += length;
  return offset;
}

void Arena::give_back(uint64_t offset, uint64_t length) {
  std::lock_guard lock(mutex_);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + length == next->first) {
    length += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += length;
      return;
    }
  }
  free_.emplace(offset, length);
}

nic::Made<PageRange> Arena::allocate(uint64_t bytes) {
  if (bytes == 0) return {{}, EINVAL};
  uint64_t length = (bytes + page_size - 1) / page_size * page_size;
  uint64_t offset;
  int error;
  {
    std::lock_guard lock(mutex_);
    offset = take(length);
    error = grow_to(offset + length);
  }
  // What an earlier owner left, or a program wrote ahead of time, is not for the next one.
  if (error == 0 && fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                              static_cast<off_t>(offset), static_cast<off_t>(length)) != 0) {
    error = errno;
  }
  void* memory = MAP_FAILED;
  if (error == 0) {
    memory =
        mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(offset));
    if (memory == MAP_FAILED) error = ENOMEM;
  }
  if (error != 0) {
    give_back(offset, length);
    return {{}, error};
  }
  std::shared_ptr<void> owner(memory, [arena = shared_from_this(), offset, length](void* mapped) {
    munmap(mapped, length);
    arena->give_back(offset, length);
  });
  std::span<std::byte> span(static_cast<std::byte*>(memory), length);
  return {PageRange{offset, length, nic::SharedPages{std::move(owner), span}}, 0};
}

}  // namespace sim::uverbs
