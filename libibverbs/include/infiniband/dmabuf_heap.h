/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory that devices can reach on hosts that encrypt the memory of programs.
 */
#ifndef INFINIBAND_DMABUF_HEAP_H
#define INFINIBAND_DMABUF_HEAP_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ibv_dmabuf_heap;

/* Opens the heap of shared memory. NULL on failure, errno set. */
struct ibv_dmabuf_heap *ibv_dmabuf_heap_cc_shared_init(void);

/* Allocates and maps a buffer. Returns its address and descriptor; NULL on failure, errno set. */
void *ibv_dmabuf_heap_alloc(struct ibv_dmabuf_heap *heap, size_t size, int *dmabuf_fd);

/* Unmaps a buffer and closes its descriptor. */
void ibv_dmabuf_heap_free(void *buf, size_t size, int dmabuf_fd);

/* Closes the heap; buffers stay. */
void ibv_dmabuf_heap_destroy(struct ibv_dmabuf_heap *heap);

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_DMABUF_HEAP_H */
