// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The list of native objects, and what all of them do alike.
#include "dv.hpp"
#include "internal.hpp"
#include "mapping.hpp"

namespace cxi {

void init_native(Context& context) noexcept {
  pthread_mutex_init(&context.native.mutex, nullptr);
}

void forget_native(Context& context) noexcept {
  NativeObjects& objects = context.native;
  while (NativeLink* link = objects.newest) {
    objects.newest = link->older;
    link->forget(*link);
  }
  unmap_cookie(static_cast<std::byte*>(objects.csr_base), objects.csr_bytes);
  pthread_mutex_destroy(&objects.mutex);
}

namespace dv {

int find_context(const ibv_context* ibv, Context*& context) noexcept {
  if (!ibv) return EINVAL;
  if (!drives(*ibv->device)) return EOPNOTSUPP;
  context = &cxi::context_of(const_cast<ibv_context*>(ibv));
  return 0;
}

void enlist(Context& context, NativeLink& link, void (*forget)(NativeLink&)) noexcept {
  NativeObjects& objects = context.native;
  MutexGuard guard(objects.mutex);
  link.context = &context;
  link.forget = forget;
  link.older = objects.newest;
  link.here = &objects.newest;
  if (link.older) link.older->here = &link.older;
  objects.newest = &link;
}

void delist(NativeLink& link) noexcept {
  MutexGuard guard(link.context->native.mutex);
  *link.here = link.older;
  if (link.older) link.older->here = link.here;
}

int destroy(Context& context, std::uint16_t type, std::uint16_t method,
            std::uint32_t handle) noexcept {
  Command<1> command(type, method);
  command.object_in(CXI_ATTR_HANDLE, handle);
  const int err = run(context, command);
  return err == EIO ? 0 : err;
}

}  // namespace dv
}  // namespace cxi
