// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "faults.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>

// Where libc has its own allocator when a program brings another one.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);
}

namespace faults {
namespace {

struct Plan {
  bool active;
  Source source;
  unsigned left;  // calls until the first that fails; 0: it has failed
  int error;
  bool all_after;
  bool struck;
};
thread_local Plan plan;

thread_local bool questions_count;

thread_local MoreKernel* more_kernel;

std::atomic<long> allocations;
std::atomic<long> mapped_bytes;

/// Whether this call fails; then errno is set.
bool strikes(Source source) noexcept {
  if (!plan.active || plan.source != source) return false;
  if (plan.left ? --plan.left != 0 : !plan.all_after) return false;
  plan.struck = true;
  errno = plan.error;
  return true;
}

bool counts(const ib_uverbs_ioctl_hdr& header) noexcept {
  return questions_count || header.object_id != UVERBS_OBJECT_DEVICE ||
         header.method_id != UVERBS_METHOD_QUERY_PORT;
}

void* counted(void* block) noexcept {
  if (block) allocations.fetch_add(1, std::memory_order_relaxed);
  return block;
}

long whole_pages(size_t bytes) noexcept {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return static_cast<long>((bytes + page - 1) / page * page);
}

}  // namespace

Fault::Fault(Source source, unsigned nth, int error, bool all_after) noexcept {
  plan = {true, source, nth, error, all_after, false};
}

Fault::~Fault() {
  plan.active = false;
}

bool Fault::has_struck() const noexcept {
  return plan.struck;
}

void Fault::bring_forward() noexcept {
  plan.left = 1;
}

void Fault::stop() noexcept {
  plan.active = false;
}

bool Fault::end() noexcept {
  stop();
  return plan.struck;
}

void count_questions(bool counted) noexcept {
  questions_count = counted;
}

MoreKernel::MoreKernel() noexcept {
  more_kernel = this;
}

MoreKernel::~MoreKernel() {
  more_kernel = nullptr;
}

Pause::Pause() noexcept : was_active_(plan.active) {
  plan.active = false;
}

Pause::~Pause() {
  plan.active = was_active_;
}

Holdings holdings() noexcept {
  int descriptors = 0;
  for (int fd = 0; fd < 256; fd++)
    descriptors += fcntl(fd, F_GETFD) != -1;
  return {allocations, mapped_bytes, descriptors};
}

}  // namespace faults

using namespace faults;

extern "C" {

void* malloc(size_t size) {
  return strikes(Source::memory) ? nullptr : counted(__libc_malloc(size));
}

void* calloc(size_t count, size_t size) {
  return strikes(Source::memory) ? nullptr : counted(__libc_calloc(count, size));
}

void* realloc(void* block, size_t size) {
  if (strikes(Source::memory)) return nullptr;
  void* moved = __libc_realloc(block, size);
  if (!block) return counted(moved);
  if (!moved && !size) allocations.fetch_sub(1, std::memory_order_relaxed);
  return moved;
}

void* reallocarray(void* block, size_t count, size_t size) {
  size_t bytes = 0;
  if (!__builtin_mul_overflow(count, size, &bytes)) return realloc(block, bytes);
  errno = ENOMEM;
  return nullptr;
}

void* memalign(size_t alignment, size_t size) {
  return strikes(Source::memory) ? nullptr : counted(__libc_memalign(alignment, size));
}

void* aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void** block, size_t alignment, size_t size) {
  const int before = errno;
  void* made = memalign(alignment, size);
  errno = before;
  if (!made) return ENOMEM;
  *block = made;
  return 0;
}

void free(void* block) {
  if (!block) return;
  allocations.fetch_sub(1, std::memory_order_relaxed);
  __libc_free(block);
}

int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (request == RDMA_VERBS_IOCTL && counts(*static_cast<ib_uverbs_ioctl_hdr*>(argument)) &&
      strikes(Source::kernel))
    return -1;
  const int result = static_cast<int>(syscall(SYS_ioctl, fd, request, argument));
  if (request != RDMA_VERBS_IOCTL || !more_kernel) return result;
  const int error =
      more_kernel->command(*static_cast<ib_uverbs_ioctl_hdr*>(argument), result ? errno : 0);
  if (error) errno = error;
  return error ? -1 : 0;
}

void* mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  if (strikes(fd < 0 ? Source::memory : Source::kernel)) return MAP_FAILED;
  if (more_kernel && fd >= 0) {
    if (const int memory = more_kernel->memory_of(offset); memory >= 0) {
      fd = memory;
      offset = 0;
    }
  }
  const long result = syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
  if (result == -1) return MAP_FAILED;
  // What takes the place of another mapping adds nothing.
  if (!(flags & MAP_FIXED)) mapped_bytes.fetch_add(whole_pages(bytes), std::memory_order_relaxed);
  return reinterpret_cast<void*>(result);
}

int munmap(void* address, size_t bytes) noexcept {
  const int result = static_cast<int>(syscall(SYS_munmap, address, bytes));
  if (result == 0) mapped_bytes.fetch_sub(whole_pages(bytes), std::memory_order_relaxed);
  return result;
}

}  // extern "C"
