// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <cerrno>

#include "uverbs/handlers.hpp"

namespace sim::uverbs {

int alloc_pd(Call& call, Pd** out) {
  auto lni = call.file.lni(call.caller);
  if (!lni) return lni.error;
  if (call.file.nic.pds >= max_pd) return ENOSPC;
  *out = &call.add(std::make_unique<Pd>(call.file, std::move(lni.value)));
  return 0;
}

int destroy_object(Call& call) {
  for (const AttrRule& rule : call.method.attrs) {
    if (rule.kind != Kind::destroyed) continue;
    auto* object = call.object<Object>(rule.id);
    if (int error = object->may_go()) return error;
    call.file.objects.destroy(object->id);
  }
  return 0;
}

}  // namespace sim::uverbs
