// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <cerrno>

#include "uverbs/native.hpp"

namespace sim::uverbs {

int alloc_pd(Call& call, Pd** out) {
  cxi_abi_alloc_pd_req req{CXI_ABI_HANDLE_NONE, 0};
  if (!call.bytes(UVERBS_ATTR_UHW_IN).empty()) {
    if (int error = call.driver_in(req)) return error;
  }
  if (req.reserved_20) return EINVAL;
  auto lni = named_lni(call, req.lni_handle);
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
