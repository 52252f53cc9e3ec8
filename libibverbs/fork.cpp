// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Fork protection: pages that a device reads and writes stay with the parent. A child that had them
// too would make the parent's next store go to a copy that the device does not know.
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "discovery/netlink.hpp"
#include "environment.hpp"
#include "error.hpp"
#include "export.hpp"
#include "fork_ranges.hpp"
#include "scoped.hpp"

namespace verbs {
namespace {

int advise(uintptr_t start, size_t length, int advice) {
  return madvise(reinterpret_cast<void*>(start), length, advice) == 0 ? 0 : errno;
}

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
// Guarded by the mutex:
constinit ForkRanges ranges(advise);
bool tracking;
bool too_late;  // something was registered without protection
bool huge_pages;
size_t base_page_size;

// The page size of the mapping that holds an address.
size_t page_size_at(uintptr_t address) {
  if (!huge_pages) return base_page_size;
  FILE* file = fopen("/proc/self/smaps", "re");
  if (!file) return base_page_size;
  char* line = nullptr;
  size_t room = 0, size = base_page_size;
  bool inside = false;
  while (getline(&line, &room, file) != -1) {
    uintptr_t start, end;
    size_t kilobytes;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &start, &end) == 2) {
      if (inside) break;
      inside = address >= start && address < end;
    } else if (inside && sscanf(line, "KernelPageSize: %zu", &kilobytes) == 1) {
      size = kilobytes * 1024;
      break;
    }
  }
  free(line);
  fclose(file);
  return size;
}

// Whether the kernel knows the advice at all.
int try_advice() {
  void* page;
  if (posix_memalign(&page, base_page_size, base_page_size)) return ENOMEM;
  bool works = madvise(page, base_page_size, MADV_DONTFORK) == 0 &&
               madvise(page, base_page_size, MADV_DOFORK) == 0;
  free(page);
  return works ? 0 : ENOSYS;
}

struct Pages {
  uintptr_t start;
  size_t length;
  size_t size;
};

Pages whole_pages(const void* base, size_t length) {
  auto address = reinterpret_cast<uintptr_t>(base);
  size_t size = page_size_at(address);
  uintptr_t start = address & ~(size - 1);
  uintptr_t end = (address + length + size - 1) & ~(size - 1);
  return {start, end - start, size};
}

}  // namespace
}  // namespace verbs

using namespace verbs;

// Switches protection on, before the first registration. 0 or a positive errno value.
VERBS_EXPORT int ibv_fork_init(void) {
  Locked lock(mutex);
  if (variable_exists("RDMAV_HUGEPAGES_SAFE")) huge_pages = true;
  if (tracking) return 0;
  if (netlink::kernel_copies_on_fork()) return 0;
  if (too_late) return EINVAL;
  long size = sysconf(_SC_PAGESIZE);
  if (size < 0) return errno;
  base_page_size = static_cast<size_t>(size);
  if (int error = try_advice()) return error;
  tracking = true;
  return 0;
}

VERBS_EXPORT ibv_fork_status ibv_is_fork_initialized(void) {
  if (netlink::kernel_copies_on_fork()) return IBV_FORK_UNNEEDED;
  Locked lock(mutex);
  return tracking ? IBV_FORK_ENABLED : IBV_FORK_DISABLED;
}

// Keeps the pages of a range out of children. 0, or -1 with errno and nothing changed.
VERBS_EXPORT int ibv_dontfork_range(void* base, size_t length) {
  Locked lock(mutex);
  if (!tracking) {
    too_late = true;
    return 0;
  }
  if (!base || !length) return 0;
  Pages pages = whole_pages(base, length);
  int error = ranges.add(pages.start, pages.length);
  return error ? minus_one(error) : 0;
}

// Takes that back.
VERBS_EXPORT int ibv_dofork_range(void* base, size_t length) {
  Locked lock(mutex);
  if (!tracking) {
    too_late = true;
    return 0;
  }
  if (!base || !length) return 0;
  Pages pages = whole_pages(base, length);
  int error = ranges.remove(pages.start, pages.length, pages.size);
  return error ? minus_one(error) : 0;
}
