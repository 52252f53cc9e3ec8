// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Memory that a host with encrypted guests shares with devices, from a heap of the kernel.
#include <fcntl.h>
#include <infiniband/dmabuf_heap.h>
#include <linux/dma-heap.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "error.hpp"
#include "export.hpp"
#include "memory.hpp"
#include "scoped.hpp"

struct ibv_dmabuf_heap {
  int fd;
};

// Opens the heap. NULL with errno on hosts that have none.
VERBS_EXPORT ibv_dmabuf_heap* ibv_dmabuf_heap_cc_shared_init(void) {
  verbs::Fd fd(open("/dev/dma_heap/system_cc_shared", O_RDWR | O_CLOEXEC));
  if (!fd) return nullptr;
  auto heap = verbs::allocate<ibv_dmabuf_heap>();
  if (!heap) return verbs::null_with_errno(ENOMEM);
  heap->fd = fd.release();
  return heap.release();
}

VERBS_EXPORT void ibv_dmabuf_heap_destroy(ibv_dmabuf_heap* heap) {
  close(heap->fd);
  free(heap);
}

// Allocates and maps. The address, and the descriptor that devices know the memory by; NULL with
// errno.
VERBS_EXPORT void* ibv_dmabuf_heap_alloc(ibv_dmabuf_heap* heap, size_t size, int* dmabuf_fd) {
  dma_heap_allocation_data request{};
  request.len = size;
  request.fd_flags = O_RDWR | O_CLOEXEC;
  if (ioctl(heap->fd, DMA_HEAP_IOCTL_ALLOC, &request) != 0) return nullptr;
  verbs::Fd fd(static_cast<int>(request.fd));
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return nullptr;
  *dmabuf_fd = fd.release();
  return memory;
}

VERBS_EXPORT void ibv_dmabuf_heap_free(void* buffer, size_t size, int dmabuf_fd) {
  munmap(buffer, size);
  close(dmabuf_fd);
}
