// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Logical NIs, communication profiles and domains.
#include <ethernet/cassini_user_defs.h>

#include <cerrno>

#include "uverbs/native.hpp"

namespace sim::uverbs {
namespace {

// What the fabric's quality-of-service profile offers (behaviour 3.3).
bool fabric_has(unsigned traffic_class, unsigned type) {
  switch (type) {
    case CXI_ABI_TC_TYPE_DEFAULT:
      return traffic_class >= CXI_ABI_TC_LOW_LATENCY && traffic_class <= CXI_ABI_TC_BEST_EFFORT;
    case CXI_ABI_TC_TYPE_HRP:
    case CXI_ABI_TC_TYPE_RESTRICTED:
      return traffic_class == CXI_ABI_TC_BEST_EFFORT;
    case CXI_ABI_TC_TYPE_COLL_LEAF:
      return traffic_class == CXI_ABI_TC_LOW_LATENCY;
    default:
      return false;
  }
}

}  // namespace

nic::Made<std::shared_ptr<Lni>> named_lni(Call& call) {
  if (auto* named = call.object<LniObject>(CXI_ATTR_LNI_HANDLE)) return {named->lni, 0};
  return call.file.lni(call.caller);
}

nic::Made<std::shared_ptr<Lni>> named_lni(Call& call, uint32_t handle) {
  if (handle == CXI_ABI_HANDLE_NONE) return call.file.lni(call.caller);
  auto* named = find_object<LniObject>(call.file, handle, CXI_OBJECT_LNI);
  if (!named) return {nullptr, ENOENT};
  return {named->lni, 0};
}

int check_vni(Call& call, Lni& lni, uint32_t vni) {
  if (vni == 0 || vni > 0xffff) return EINVAL;
  if (!lni.service().has_vni(static_cast<uint16_t>(vni))) return ENOENT;
  return lni.service().admits(call.caller.credentials()) ? 0 : EPERM;
}

int lni_create(Call& call) {
  cxi_abi_lni_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  if (req.reserved_20) return EINVAL;
  auto lni = Lni::make(call.file.nic, req.svc_id ? req.svc_id : CXI_ABI_DEFAULT_SVC_ID,
                       call.caller.credentials());
  if (!lni) return lni.error;
  cxi_abi_lni_resp resp{};
  resp.svc_id = lni.value->service().id;
  resp.rgid = lni.value->rgid();
  call.made(CXI_ATTR_HANDLE, std::make_unique<LniObject>(call.file, std::move(lni.value)));
  call.put(CXI_ATTR_RESP, resp);
  return 0;
}

int lni_query(Call& call) {
  std::shared_ptr<Lni> lni;
  if (auto* named = call.object<LniObject>(CXI_ATTR_HANDLE)) {
    lni = named->lni;
  } else {
    auto own = call.file.lni(call.caller);
    if (!own) return own.error;
    lni = own.value;
  }
  call.put(CXI_ATTR_RESP,
           cxi_abi_lni_resp{lni->service().id, lni->rgid(), lni->profiles(), lni->acs()});
  return 0;
}

int cp_alloc(Call& call) {
  cxi_abi_cp_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  if (req.flags & ~CXI_ABI_CP_TRIGGERED) return EINVAL;
  auto lni = named_lni(call);
  if (!lni) return lni.error;
  if (int error = check_vni(call, *lni.value, req.vni)) return error;
  if (!fabric_has(req.traffic_class, req.traffic_class_type)) return EINVAL;
  if (!(lni.value->service().tc_mask >> req.traffic_class & 1)) return EINVAL;
  auto lcid =
      req.flags & CXI_ABI_CP_TRIGGERED
          ? lni.value->take_trigger_profile(req.vni, req.traffic_class, req.traffic_class_type)
          : lni.value->take_profile(req.vni, req.traffic_class, req.traffic_class_type, false);
  if (!lcid) return lcid.error;
  call.made(CXI_ATTR_HANDLE,
            std::make_unique<CpObject>(call.file, std::move(lni.value), req.vni, lcid.value));
  call.put(CXI_ATTR_RESP, cxi_abi_cp_resp{lcid.value, 0});
  return 0;
}

DomainObject::DomainObject(File& f, std::shared_ptr<Lni> l, uint16_t v, unsigned p)
    : Object(f, CXI_OBJECT_DOMAIN), lni(std::move(l)), vni(v), pid(p) {
  file.nic.pids.take(vni, pid, this);
}

DomainObject::~DomainObject() {
  file.nic.pids.release(vni, pid);
  // A reserved PID stays its logical NI's.
  if (lni->reserved.contains({vni, pid})) file.nic.pids.take(vni, pid, lni.get());
}

int domain_create(Call& call) {
  cxi_abi_domain_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  PidTable& pids = call.file.nic.pids;
  const bool any = req.pid == C_PID_ANY;
  if (req.count || req.reserved_60 || (!any && req.pid >= pids.count())) return EINVAL;
  auto lni = named_lni(call);
  if (!lni) return lni.error;
  if (int error = check_vni(call, *lni.value, req.vni)) return error;
  const auto vni = static_cast<uint16_t>(req.vni);
  unsigned pid = req.pid;
  if (any) {
    auto lowest = pids.lowest_free({vni});
    if (!lowest) return ENOSPC;
    pid = *lowest;
  } else if (const void* owner = pids.owner(vni, pid); owner && owner != lni.value.get()) {
    return EEXIST;
  }
  call.made(CXI_ATTR_HANDLE,
            std::make_unique<DomainObject>(call.file, std::move(lni.value), vni, pid));
  call.put(CXI_ATTR_RESP, cxi_abi_domain_resp{req.vni, pid});
  return 0;
}

int domain_reserve(Call& call) {
  cxi_abi_domain_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  PidTable& pids = call.file.nic.pids;
  const bool any = req.pid == C_PID_ANY;
  if (req.reserved_60 || (!any && req.pid >= pids.count())) return EINVAL;
  if (req.count == 0 || req.count > pids.count()) return EINVAL;
  auto lni = named_lni(call);
  if (!lni) return lni.error;
  if (int error = check_vni(call, *lni.value, req.vni)) return error;
  const auto vni = static_cast<uint16_t>(req.vni);
  unsigned first = req.pid;
  if (any) {
    auto run = pids.lowest_free({vni}, req.count);
    if (!run) return ENOSPC;
    first = *run;
  } else {
    for (unsigned pid = first; pid < first + req.count; ++pid) {
      if (pid >= pids.count() || !pids.free(vni, pid)) return EEXIST;
    }
  }
  for (unsigned pid = first; pid < first + req.count; ++pid) {
    pids.take(vni, pid, lni.value.get());
    lni.value->reserved.insert({vni, pid});
  }
  call.undo([&pids, lni = lni.value, vni, first, count = req.count] {
    for (unsigned pid = first; pid < first + count; ++pid) {
      lni->reserved.erase({vni, pid});
      pids.release(vni, pid);
    }
  });
  call.put(CXI_ATTR_RESP, cxi_abi_domain_resp{req.vni, first});
  return 0;
}

}  // namespace sim::uverbs
