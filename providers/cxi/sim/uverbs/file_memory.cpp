// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/file_memory.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "uverbs/limits.hpp"

namespace sim::uverbs {
namespace {

std::string link_to(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

bool is_dma_buf(int fd) {
  constexpr std::string_view prefix = "/dmabuf:";
  char name[64];
  const ssize_t length = readlink(link_to(fd).c_str(), name, sizeof name);
  return length >= 0 && std::string_view(name, static_cast<size_t>(length)).starts_with(prefix);
}

// Files of huge pages can be sealed too, but nobody can write them by calls.
bool is_memory_file(int fd, int seals) {
  struct statfs st {};
  return seals >= 0 && fstatfs(fd, &st) == 0 && st.f_type != HUGETLBFS_MAGIC;
}

}  // namespace

nic::Made<std::shared_ptr<FileMemory>> FileMemory::make(int fd, uint64_t first, uint64_t length,
                                                        bool writes) {
  std::shared_ptr<FileMemory> memory(new FileMemory(fd));
  const int seals = fcntl(fd, F_GET_SEALS);
  const bool dma_buf = is_dma_buf(fd);
  if (!dma_buf && !is_memory_file(fd, seals)) return {nullptr, EINVAL};
  const off_t size = lseek(fd, 0, SEEK_END);
  if (size < 0 || length > static_cast<uint64_t>(size) ||
      first > static_cast<uint64_t>(size) - length) {
    return {nullptr, EINVAL};
  }
  if (dma_buf) {
    if (int error = memory->map(first, length, writes)) return {nullptr, error};
    return {std::move(memory), 0};
  }
  const int mode = fcntl(fd, F_GETFL) & O_ACCMODE;
  if (mode == O_WRONLY) return {nullptr, EACCES};
  if (writes && (mode != O_RDWR || (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)))) {
    return {nullptr, EACCES};
  }
  if (int error = memory->open_again(mode)) return {nullptr, error};
  return {std::move(memory), 0};
}

FileMemory::~FileMemory() {
  if (!mapped_.empty()) munmap(mapped_.data(), mapped_.size());
  close(fd_);
}

// The program shares its descriptor's flags with its copies; with O_APPEND among them every write
// would go to the end of the file. A lease that the program holds on the file is not waited for.
int FileMemory::open_again(int mode) {
  const int own = open(link_to(fd_).c_str(), mode | O_CLOEXEC | O_NONBLOCK);
  if (own < 0) return errno;
  close(std::exchange(fd_, own));
  return 0;
}

int FileMemory::map(uint64_t first, uint64_t length, bool writes) {
  mapped_at_ = first / page_size * page_size;
  const uint64_t bytes = first + length - mapped_at_;
  void* at = mmap(nullptr, bytes, writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd_,
                  static_cast<off_t>(mapped_at_));
  if (at == MAP_FAILED) return errno == EPERM ? EACCES : errno;
  mapped_ = {static_cast<std::byte*>(at), bytes};
  return 0;
}

bool FileMemory::holds(uint64_t offset, size_t length) const {
  return offset >= mapped_at_ && length <= mapped_.size() &&
         offset - mapped_at_ <= mapped_.size() - length;
}

bool FileMemory::read(uint64_t offset, std::span<std::byte> out) {
  if (!mapped_.empty()) {
    if (!holds(offset, out.size())) return false;
    std::memcpy(out.data(), mapped_.data() + (offset - mapped_at_), out.size());
    return true;
  }
  while (!out.empty()) {
    const ssize_t moved = pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    if (moved <= 0) return false;
    out = out.subspan(static_cast<size_t>(moved));
    offset += static_cast<uint64_t>(moved);
  }
  return true;
}

bool FileMemory::write(uint64_t offset, std::span<const std::byte> in) {
  if (!mapped_.empty()) {
    if (!holds(offset, in.size())) return false;
    std::memcpy(mapped_.data() + (offset - mapped_at_), in.data(), in.size());
    return true;
  }
  struct stat st {};
  // A file that has been cut short is not to grow again.
  if (fstat(fd_, &st) != 0 || offset + in.size() > static_cast<uint64_t>(st.st_size)) return false;
  while (!in.empty()) {
    const ssize_t moved = pwrite(fd_, in.data(), in.size(), static_cast<off_t>(offset));
    if (moved <= 0) return false;
    in = in.subspan(static_cast<size_t>(moved));
    offset += static_cast<uint64_t>(moved);
  }
  return true;
}

}  // namespace sim::uverbs
