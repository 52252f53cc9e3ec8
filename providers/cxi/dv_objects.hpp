// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The native objects of a context that its program has not destroyed.
#pragma once

#include <pthread.h>

struct cxidv_lni;

namespace cxi {

struct Context;

/// The part of a native object that hangs in its context's list.
struct NativeLink {
  Context* context;
  NativeLink* older;
  NativeLink** here;  // what points to this one
  /// Frees the library's side of the object, and leaves the kernel's alone.
  void (*forget)(NativeLink& link);
};

struct NativeObjects {
  pthread_mutex_t mutex;
  NativeLink* newest;
  cxidv_lni* own_lni;  // of the context, once somebody asked for it
  void* csr_base;      // of the register space; null: not mapped
  // The kernel gives its place once; it stays good as long as the context. 0 bytes: not yet.
  unsigned long long csr_cookie;
  unsigned long csr_bytes;
};

}  // namespace cxi
