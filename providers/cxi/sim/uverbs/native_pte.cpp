// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Portal entries and counting events.
#include <algorithm>
#include <cerrno>

#include "uverbs/native.hpp"

namespace sim::uverbs {
namespace {

constexpr uint32_t known_pte_flags = (CXI_ABI_PTE_SIGNAL_INEXACT << 1) - 1;
constexpr uint32_t multicast_limit = 1u << 18;
constexpr uint32_t max_query_offsets = 1u << 16;  // more than there are list entries
constexpr uint64_t max_success = (1ull << 48) - 1;
constexpr uint64_t max_failure = 127;

nic::PteConfig pte_config(uint32_t flags, unsigned eqn) {
  nic::PteConfig c;
  c.eqn = eqn;
  c.matching = flags & CXI_ABI_PTE_MATCHING;
  c.flow_control = flags & CXI_ABI_PTE_FLOW_CONTROL;
  c.long_events = flags & CXI_ABI_PTE_LONG_EVENTS;
  c.event_match = flags & CXI_ABI_PTE_EVENT_MATCH;
  c.logical = flags & CXI_ABI_PTE_LOGICAL;
  c.space_check = flags & CXI_ABI_PTE_SPACE_CHECK;
  c.lossless = flags & CXI_ABI_PTE_LOSSLESS;
  c.clear_remote_offset = flags & CXI_ABI_PTE_CLEAR_REMOTE_OFFSET;
  c.restricted_unicast_lm = flags & CXI_ABI_PTE_RESTRICTED_LM;
  c.align_lm = flags & CXI_ABI_PTE_ALIGN_LM;
  c.sw_hw_state_change = flags & CXI_ABI_PTE_SW_HW_STATE_CHANGE;
  c.signal_invalid = flags & CXI_ABI_PTE_SIGNAL_INVALID;
  c.signal_underflow = flags & CXI_ABI_PTE_SIGNAL_UNDERFLOW;
  c.signal_overflow = flags & CXI_ABI_PTE_SIGNAL_OVERFLOW;
  c.signal_inexact = flags & CXI_ABI_PTE_SIGNAL_INEXACT;
  return c;
}

// What a counting event may hold.
int check_ct(const cxi_abi_ct_req& req) {
  return req.success <= max_success && req.failure <= max_failure ? 0 : EINVAL;
}

int answer_ct(Call& call, CtObject& ct) {
  auto value = ct->device().read_ct(ct->number());
  if (!value) return value.error;
  cxi_abi_ct_resp resp{};
  resp.ct = ct->number();
  resp.success = value.value.success;
  resp.failure = value.value.failure;
  call.put(CXI_ATTR_RESP, resp);
  return 0;
}

}  // namespace

int pte_create(Call& call) {
  cxi_abi_pte_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  if (req.flags & ~known_pte_flags) return EINVAL;
  if (req.le_charge > device_totals[CXI_ABI_RSRC_LE]) return EINVAL;
  auto lni = named_lni(call);
  if (!lni) return lni.error;
  auto* eq = call.object<EqObject>(CXI_ATTR_EQ_HANDLE);
  if (eq && &(*eq)->lni() != lni.value.get()) return EINVAL;
  if (eq && (*eq)->serves_cq) return EBUSY;
  auto entry =
      PortalEntry::make(lni.value, pte_config(req.flags, eq ? (*eq)->eqn() : 0), req.le_charge);
  if (!entry) return entry.error;
  auto object = std::make_unique<PteObject>(call.file, std::move(entry.value));
  object->lni = std::move(lni.value);
  object->eq = Use(eq);
  cxi_abi_pte_resp resp{};
  resp.pte = (*object)->number();
  resp.state = static_cast<uint32_t>(nic::PteState::disabled);
  resp.les_reserved = req.le_charge;
  call.made(CXI_ATTR_HANDLE, std::move(object));
  call.put(CXI_ATTR_RESP, resp);
  return 0;
}

int pte_map(Call& call) {
  cxi_abi_pte_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  auto& pte = *call.object<PteObject>(CXI_ATTR_HANDLE);
  auto* domain = call.object<DomainObject>(CXI_ATTR_DOMAIN_HANDLE);
  if (domain->lni != pte.lni || req.multicast > 1) return EINVAL;
  const unsigned granule = 1u << (17 - call.file.nic.device->config().pid_bits);
  if (req.index >= (req.multicast ? multicast_limit : granule)) return EINVAL;
  if (int error = req.multicast ? pte->map_multicast(domain->vni, req.index)
                                : pte->map(domain->vni, domain->pid, req.index)) {
    return error == EEXIST ? ENOSPC : error;  // a place that is taken, and no place left
  }
  pte.portals.push_back({Use(domain), req.index, req.multicast != 0});
  return 0;
}

int pte_unmap(Call& call) {
  cxi_abi_pte_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  auto& pte = *call.object<PteObject>(CXI_ATTR_HANDLE);
  auto* domain = call.object<DomainObject>(CXI_ATTR_DOMAIN_HANDLE);
  auto it = std::ranges::find_if(pte.portals, [&](const PteObject::Portal& p) {
    return p.domain.get() == domain && p.index == req.index &&
           uint32_t{p.multicast} == req.multicast;
  });
  if (it == pte.portals.end()) return EINVAL;
  pte.portals.erase(it);
  return req.multicast ? pte->unmap_multicast() : pte->unmap(domain->vni, domain->pid, req.index);
}

int pte_query(Call& call) {
  cxi_abi_pte_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  auto& pte = *call.object<PteObject>(CXI_ATTR_HANDLE);
  nic::Device& device = pte.lni->device();
  auto status = device.query_pte(pte->number());
  if (!status) return status.error;
  std::vector<uint64_t> offsets(std::min(req.max_offsets, max_query_offsets));
  const unsigned count = device.unexpected_offsets(pte->number(), offsets);
  offsets.resize(std::min<size_t>(count, offsets.size()));
  if (!offsets.empty() && !call.caller.write(req.offsets_ptr, std::as_bytes(std::span(offsets)))) {
    return EFAULT;
  }
  cxi_abi_pte_resp resp{};
  resp.pte = pte->number();
  resp.state = static_cast<uint32_t>(status.value.state);
  resp.drop_count = status.value.drop_count;
  resp.les_reserved = pte->list_entries();
  resp.les_allocated = status.value.les_allocated;
  resp.les_max = status.value.les_max;
  resp.ule_count = count;
  call.put(CXI_ATTR_RESP, resp);
  return 0;
}

int pte_invalidate_le(Call& call) {
  cxi_abi_pte_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  auto& pte = *call.object<PteObject>(CXI_ATTR_HANDLE);
  if (req.buffer_id > 0xffff || req.list > 2) return EINVAL;
  return pte.lni->device().invalidate_le(pte->number(), req.list, req.buffer_id);
}

int pte_transition(Call& call) {
  cxi_abi_pte_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  auto& pte = *call.object<PteObject>(CXI_ATTR_HANDLE);
  nic::Device& device = pte.lni->device();
  auto status = device.query_pte(pte->number());
  if (!status) return status.error;
  if (status.value.state == nic::PteState::software_managed) return 0;
  if (status.value.state != nic::PteState::disabled) return EINVAL;
  if (status.value.drop_count != req.drop_count) return EAGAIN;
  return device.set_pte_state(pte->number(), nic::PteState::software_managed, req.drop_count);
}

int ct_create(Call& call) {
  cxi_abi_ct_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  if (req.success || req.failure || req.timeout_ns || req.writeback_va % 8) return EINVAL;
  auto lni = named_lni(call);
  if (!lni) return lni.error;
  std::shared_ptr<nic::GuestMemory> memory;
  if (req.writeback_va) {
    if (call.caller.check_range(req.writeback_va, 8, true)) return EFAULT;
    memory = call.caller.memory();
  }
  auto event = CountingEvent::make(lni.value, std::move(memory), req.writeback_va);
  if (!event) return event.error;
  auto& made =
      call.made(CXI_ATTR_HANDLE, std::make_unique<CtObject>(call.file, std::move(event.value)));
  return answer_ct(call, made);
}

int ct_set(Call& call) {
  cxi_abi_ct_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  if (int error = check_ct(req)) return error;
  auto& ct = *call.object<CtObject>(CXI_ATTR_HANDLE);
  return ct->device().set_ct(ct->number(), req.success, static_cast<unsigned>(req.failure));
}

int ct_inc(Call& call) {
  cxi_abi_ct_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  if (int error = check_ct(req)) return error;
  auto& ct = *call.object<CtObject>(CXI_ATTR_HANDLE);
  return ct->device().add_ct(ct->number(), req.success, static_cast<unsigned>(req.failure));
}

int ct_read(Call& call) {
  return answer_ct(call, *call.object<CtObject>(CXI_ATTR_HANDLE));
}

int ct_wait(Call& call) {
  cxi_abi_ct_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  if (req.success > max_success) return EINVAL;
  auto& ct = *call.object<CtObject>(CXI_ATTR_HANDLE);
  auto value = ct->device().read_ct(ct->number());
  if (!value) return value.error;
  // A call that slept here would keep everybody else from the NIC; the library comes back.
  if (value.value.success < req.success && value.value.failure == 0) return EAGAIN;
  return answer_ct(call, ct);
}

}  // namespace sim::uverbs
