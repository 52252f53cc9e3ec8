// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Services: privileged to make and to change, visible to their members.
#include <algorithm>
#include <bit>
#include <cerrno>

#include "uverbs/native.hpp"

namespace sim::uverbs {
namespace {

constexpr uint32_t settable_flags =
    CXI_ABI_SVC_ENABLED | CXI_ABI_SVC_LIMITED | CXI_ABI_SVC_VNI_RANGE;
constexpr uint32_t known_classes = (1u << (CXI_ABI_TC_BEST_EFFORT + 1)) - 1;
constexpr uint32_t min_triggered = 8;

int check_vnis(const cxi_abi_svc_desc& desc) {
  if (desc.num_vnis > CXI_ABI_MAX_SVC_VNIS) return EINVAL;
  for (uint32_t i = 0; i < CXI_ABI_MAX_SVC_VNIS; ++i) {
    if ((desc.vnis[i] == 0) != (i >= desc.num_vnis)) return EINVAL;
  }
  if (!(desc.flags & CXI_ABI_SVC_VNI_RANGE)) return desc.num_vnis == 0 ? EINVAL : 0;
  if (desc.num_vnis != 2 || desc.vnis[1] < desc.vnis[0]) return EINVAL;
  const uint32_t size = desc.vnis[1] - desc.vnis[0] + 1u;
  return std::has_single_bit(size) && desc.vnis[0] % size == 0 ? 0 : EINVAL;
}

int check(const cxi_abi_svc_desc& desc) {
  if (desc.flags & ~settable_flags) return EINVAL;
  if (int error = check_vnis(desc)) return error;
  if (desc.tc_mask == 0 || (desc.tc_mask & ~known_classes)) return EINVAL;
  for (const cxi_abi_svc_member& member : desc.members) {
    if (member.type > CXI_ABI_MEMBER_ANY) return EINVAL;
  }
  for (unsigned type = 0; type < CXI_ABI_RSRC_COUNT; ++type) {
    const cxi_abi_svc_limit& limit = desc.limits[type];
    if (limit.max < limit.reserved || limit.max > device_totals[type]) return EINVAL;
  }
  return 0;
}

bool overlaps(const Service& service, const cxi_abi_svc_desc& desc) {
  if (!service.vni_range || !(desc.flags & CXI_ABI_SVC_VNI_RANGE)) return false;
  return service.vnis.front() <= desc.vnis[1] && desc.vnis[0] <= service.vnis.back();
}

int check_overlap(Services& services, const cxi_abi_svc_desc& desc, uint32_t self) {
  for (const auto& [id, other] : services.all()) {
    if (id != self && overlaps(other, desc)) return EEXIST;
  }
  return 0;
}

void take_over(Service& service, const cxi_abi_svc_desc& desc) {
  service.enabled = desc.flags & CXI_ABI_SVC_ENABLED;
  service.vni_range = desc.flags & CXI_ABI_SVC_VNI_RANGE;
  service.tc_mask = desc.tc_mask;
  service.vnis.assign(desc.vnis, desc.vnis + desc.num_vnis);
  std::ranges::copy(desc.members, service.members.begin());
}

cxi_abi_svc_desc describe(const Services& services, const Service& service) {
  cxi_abi_svc_desc desc{};
  desc.svc_id = service.id;
  desc.flags =
      (service.enabled ? CXI_ABI_SVC_ENABLED : 0) | (service.limited ? CXI_ABI_SVC_LIMITED : 0) |
      (service.vni_range ? CXI_ABI_SVC_VNI_RANGE : 0) | (service.dying ? CXI_ABI_SVC_DYING : 0);
  desc.num_vnis = static_cast<uint32_t>(service.vnis.size());
  desc.tc_mask = service.tc_mask;
  std::ranges::copy(service.vnis, desc.vnis);
  std::ranges::copy(service.members, desc.members);
  for (unsigned i = 0; i < CXI_ABI_RSRC_COUNT; ++i) {
    const auto type = static_cast<cxi_abi_resource>(i);
    desc.limits[i] = {service.max(type), service.limited ? service.limits[i].reserved : 0,
                      service.used(type), services.free(type)};
  }
  return desc;
}

bool may_see(Call& call, const Service& service) {
  return call.caller.credentials().cap_sys_admin || service.admits(call.caller.credentials());
}

int named_service(Call& call, Service** out) {
  cxi_abi_lni_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  if (req.reserved_20) return EINVAL;
  *out = call.file.nic.services.find(req.svc_id);
  return *out ? 0 : EINVAL;
}

}  // namespace

int SvcObject::may_go() const {
  const Service* service = file.nic.services.find(service_id);
  return service && service->lnis != 0 ? EBUSY : Object::may_go();
}

SvcObject::~SvcObject() {
  Service* service = file.nic.services.find(service_id);
  if (!service) return;
  service->dying = true;
  if (service->lnis == 0) file.nic.services.remove(service_id);
}

int svc_alloc(Call& call) {
  cxi_abi_svc_desc desc;
  if (int error = call.request(CXI_ATTR_REQ, desc)) return error;
  if (!call.caller.credentials().cap_sys_admin) return EPERM;
  if (desc.svc_id) return EINVAL;
  if (int error = check(desc)) return error;
  Services& services = call.file.nic.services;
  if (int error = check_overlap(services, desc, 0)) return error;

  Service service;
  take_over(service, desc);
  service.limited = desc.flags & CXI_ABI_SVC_LIMITED;
  for (unsigned i = 0; service.limited && i < CXI_ABI_RSRC_COUNT; ++i) {
    service.limits[i] = {desc.limits[i].max, desc.limits[i].reserved};
  }
  if (service.limited) {
    // Triggered entries are not shared: a service owns exactly what it reserves (behaviour 3.5).
    Service::Limit& triggered = service.limits[CXI_ABI_RSRC_TLE];
    triggered.reserved = std::max(triggered.reserved, min_triggered);
    triggered.max = triggered.reserved;
  }
  for (unsigned i = 0; i < CXI_ABI_RSRC_COUNT; ++i) {
    const uint32_t free = services.free(static_cast<cxi_abi_resource>(i));
    if (service.limits[i].reserved <= free) continue;
    for (unsigned j = 0; j < CXI_ABI_RSRC_COUNT; ++j) {
      desc.limits[j].free = services.free(static_cast<cxi_abi_resource>(j));
    }
    call.put(CXI_ATTR_RESP, desc);
    call.answer_even_if_refused();
    return ENOSPC;
  }
  Service& made = services.add(std::move(service));
  call.made(CXI_ATTR_HANDLE, std::make_unique<SvcObject>(call.file, made.id));
  call.put(CXI_ATTR_RESP, describe(services, made));
  return 0;
}

int svc_destroy(Call& call) {
  auto* object = call.object<SvcObject>(CXI_ATTR_HANDLE);
  Service* service = nullptr;
  if (!object) {
    if (int error = named_service(call, &service)) return error;
  }
  if (!call.caller.credentials().cap_sys_admin) return EPERM;
  if (object) {
    if (int error = object->may_go()) return error;
    call.file.objects.destroy(object->id);
    return 0;
  }
  if (service->id == CXI_ABI_DEFAULT_SVC_ID) return EINVAL;
  if (service->lnis != 0) return EBUSY;
  // A handle that its owner has stays, so that the number names nothing else meanwhile.
  call.file.nic.services.remove(service->id);
  return 0;
}

int svc_modify(Call& call) {
  cxi_abi_svc_desc desc;
  if (int error = call.request(CXI_ATTR_REQ, desc)) return error;
  if (!call.caller.credentials().cap_sys_admin) return EPERM;
  Services& services = call.file.nic.services;
  Service* service = services.find(desc.svc_id);
  if (!service || service->dying) return EINVAL;
  if (int error = check(desc)) return error;
  // Limits are fixed when a service is made.
  if (service->limited != ((desc.flags & CXI_ABI_SVC_LIMITED) != 0)) return EINVAL;
  for (unsigned i = 0; service->limited && i < CXI_ABI_RSRC_COUNT; ++i) {
    if (desc.limits[i].max != service->limits[i].max ||
        desc.limits[i].reserved != service->limits[i].reserved) {
      return EINVAL;
    }
  }
  if (int error = check_overlap(services, desc, service->id)) return error;
  Service changed = *service;
  take_over(changed, desc);
  const bool only_enabled =
      changed.vnis == service->vnis && changed.vni_range == service->vni_range &&
      changed.tc_mask == service->tc_mask &&
      std::ranges::equal(changed.members, service->members, [](const auto& a, const auto& b) {
        return a.type == b.type && a.id == b.id;
      });
  if (!only_enabled && service->lnis != 0) return EBUSY;
  call.undo([service, before = *service] { *service = before; });
  take_over(*service, desc);
  call.put(CXI_ATTR_RESP, describe(services, *service));
  return 0;
}

int svc_query(Call& call) {
  Service* service = nullptr;
  if (int error = named_service(call, &service)) return error;
  if (!may_see(call, *service)) return EPERM;
  call.put(CXI_ATTR_RESP, describe(call.file.nic.services, *service));
  return 0;
}

int svc_list(Call& call) {
  cxi_abi_lni_req after{};
  if (call.has(CXI_ATTR_REQ)) {
    if (int error = call.request(CXI_ATTR_REQ, after)) return error;
    if (after.reserved_20) return EINVAL;
  }
  std::vector<uint32_t> ids;
  for (const auto& [id, service] : call.file.nic.services.all()) {
    if (id <= after.svc_id) continue;
    if (may_see(call, service)) ids.push_back(id);
  }
  call.put_bytes(CXI_ATTR_RESP, std::as_bytes(std::span(ids)));
  return 0;
}

}  // namespace sim::uverbs
