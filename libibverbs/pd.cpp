// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Protection domains.
#include "export.hpp"
#include "private_context.hpp"

VERBS_EXPORT ibv_pd* ibv_alloc_pd(ibv_context* context) {
  ibv_pd* pd = verbs::ops_of(context).alloc_pd(context);
  if (pd) pd->context = context;
  return pd;
}

VERBS_EXPORT int ibv_dealloc_pd(ibv_pd* pd) {
  return verbs::ops_of(pd->context).dealloc_pd(pd);
}

// A PD of another process, for a context that was imported from it.
VERBS_EXPORT ibv_pd* ibv_import_pd(ibv_context* context, uint32_t handle) {
  return verbs::ops_of(context).import_pd(context, handle);
}

VERBS_EXPORT void ibv_unimport_pd(ibv_pd* pd) {
  verbs::ops_of(pd->context).unimport_pd(pd);
}
