// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion counters, device memory, DMA handles and buffers: verbs that only hand on.
#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "error.hpp"
#include "export.hpp"
#include "private_context.hpp"

// --- completion counters
// ---------------------------------------------------------------------------

VERBS_EXPORT int _ibv_query_comp_cntr_caps(ibv_context* context, ibv_comp_cntr_caps* caps,
                                           size_t size) {
  memset(caps, 0, size);
  return verbs::ops_of(context).query_comp_cntr_caps(context, caps, size);
}

VERBS_EXPORT ibv_comp_cntr* ibv_create_comp_cntr(ibv_context* context,
                                                 ibv_comp_cntr_init_attr* attr) {
  return verbs::ops_of(context).create_comp_cntr(context, attr);
}

VERBS_EXPORT int ibv_destroy_comp_cntr(ibv_comp_cntr* counter) {
  return verbs::ops_of(counter->context).destroy_comp_cntr(counter);
}

VERBS_EXPORT int ibv_set_comp_cntr(ibv_comp_cntr* counter, uint64_t value) {
  return verbs::ops_of(counter->context).set_comp_cntr(counter, value);
}

VERBS_EXPORT int ibv_set_err_comp_cntr(ibv_comp_cntr* counter, uint64_t value) {
  return verbs::ops_of(counter->context).set_err_comp_cntr(counter, value);
}

VERBS_EXPORT int ibv_inc_comp_cntr(ibv_comp_cntr* counter, uint64_t amount) {
  return verbs::ops_of(counter->context).inc_comp_cntr(counter, amount);
}

VERBS_EXPORT int ibv_inc_err_comp_cntr(ibv_comp_cntr* counter, uint64_t amount) {
  return verbs::ops_of(counter->context).inc_err_comp_cntr(counter, amount);
}

VERBS_EXPORT int ibv_read_comp_cntr(ibv_comp_cntr* counter, uint64_t* value) {
  return verbs::ops_of(counter->context).read_comp_cntr(counter, value);
}

VERBS_EXPORT int ibv_read_err_comp_cntr(ibv_comp_cntr* counter, uint64_t* value) {
  return verbs::ops_of(counter->context).read_err_comp_cntr(counter, value);
}

VERBS_EXPORT int ibv_qp_attach_comp_cntr(ibv_qp* qp, ibv_comp_cntr* counter,
                                         ibv_qp_attach_comp_cntr_attr* attr) {
  return verbs::ops_of(qp->context).qp_attach_comp_cntr(qp, counter, attr);
}

// --- device memory
// ---------------------------------------------------------------------------------

VERBS_EXPORT ibv_dm* ibv_import_dm(ibv_context* context, uint32_t handle) {
  return verbs::ops_of(context).import_dm(context, handle);
}

VERBS_EXPORT void ibv_unimport_dm(ibv_dm* dm) {
  verbs::ops_of(dm->context).unimport_dm(dm);
}

// A dma-buf of the memory. The descriptor, or -1 with errno.
VERBS_EXPORT int ibv_dm_export_dmabuf_fd(ibv_dm* dm) {
  return verbs::ops_of(dm->context).dm_export_dmabuf_fd(dm);
}

// --- DMA handles
// -----------------------------------------------------------------------------------

VERBS_EXPORT ibv_dmah* ibv_alloc_dmah(ibv_context* context, ibv_dmah_init_attr* attr) {
  ibv_dmah* handle = verbs::ops_of(context).alloc_dmah(context, attr);
  if (handle) handle->context = context;
  return handle;
}

VERBS_EXPORT int ibv_dealloc_dmah(ibv_dmah* handle) {
  return verbs::ops_of(handle->context).dealloc_dmah(handle);
}

// --- buffers
// ---------------------------------------------------------------------------------------

VERBS_EXPORT void* ibv_alloc_buf(ibv_pd* pd, size_t size, ibv_buf** buffer) {
  return verbs::ops_of(pd->context).alloc_buf(pd, size, buffer);
}

VERBS_EXPORT void ibv_free_buf(ibv_buf* buffer) {
  verbs::ops_of(buffer->pd->context).free_buf(buffer);
}

// A descriptor of the dma-buf behind the buffer, for the caller to close. -1 with errno.
VERBS_EXPORT int ibv_export_buf_dmabuf_fd(ibv_buf* buffer) {
  if (buffer->dmabuf_fd < 0) return verbs::minus_one(ENODATA);
  return fcntl(buffer->dmabuf_fd, F_DUPFD_CLOEXEC, 0);
}
