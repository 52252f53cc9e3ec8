// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Memory descriptors, event queues and command queues.
#include <cerrno>

#include "uverbs/native.hpp"

namespace sim::uverbs {
namespace {

constexpr uint32_t known_eq_flags = CXI_ABI_EQ_INIT_LONG | CXI_ABI_EQ_TGT_LONG |
                                    CXI_ABI_EQ_DROP_STATUS_DISABLE | CXI_ABI_EQ_TIMESTAMP_EVENTS |
                                    CXI_ABI_EQ_EC_DISABLE;
constexpr uint32_t max_eq_slots = 1u << 26;  // 4 GiB
constexpr uint32_t min_eq_slots = 4;         // status, guard, and room for something

int check_eq(const cxi_abi_eq_req& req) {
  if (req.reserved_60 || req.reserved_b0 || (req.flags & ~known_eq_flags)) return EINVAL;
  if (req.slots < min_eq_slots || req.slots > max_eq_slots) return EINVAL;
  if (req.reserve > max_eq_reserve || req.reserve > req.slots - 1) return EINVAL;
  if (req.status_count > 4 || req.status_base > 100 || req.status_delta > 100) return EINVAL;
  if (req.status_count > 0) {
    const int last = (req.status_count - 1) * req.status_delta + (100 - req.status_base);
    if (last > 100) return EINVAL;
  }
  return 0;
}

}  // namespace

int md_map(Call& call) {
  cxi_abi_md_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  constexpr uint32_t known = CXI_ABI_MD_READ | CXI_ABI_MD_WRITE;
  if (req.len == 0 || req.va + req.len < req.va) return EINVAL;
  if ((req.flags & ~known) || !(req.flags & known)) return EINVAL;
  const bool writes = req.flags & CXI_ABI_MD_WRITE;
  std::shared_ptr<nic::GuestMemory> memory;
  if (req.dmabuf_fd != -1) {
    auto file = file_memory(call, req.dmabuf_fd, req.va, req.len, writes);
    if (!file) return file.error;
    memory = std::move(file.value);
  }
  auto lni = named_lni(call);
  if (!lni) return lni.error;
  if (!memory) {
    if (int error = call.caller.check_range(req.va, req.len, writes)) return error;
    memory = call.caller.memory();
  }
  auto map = MemoryMap::of_memory(lni.value, std::move(memory), req.va, req.len,
                                  req.flags & CXI_ABI_MD_READ, writes);
  if (!map) return map.error;
  call.put(CXI_ATTR_RESP, cxi_abi_md_resp{map.value->iova(), map.value->lac(), 0});
  call.made(CXI_ATTR_HANDLE, std::make_unique<MdObject>(call.file, std::move(map.value)));
  return 0;
}

int eq_create(Call& call) {
  cxi_abi_eq_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  if (int error = check_eq(req)) return error;
  auto lni = named_lni(call);
  if (!lni) return lni.error;
  EventQueue::Spec spec;
  spec.flags = req.flags;
  spec.slots = req.slots;
  spec.reserve = req.reserve;
  spec.status_count = req.status_count;
  spec.status_base = req.status_base;
  spec.status_delta = req.status_delta;
  auto queue = EventQueue::make(lni.value, *call.file.arena, spec);
  if (!queue) return queue.error;
  if (call.has(CXI_ATTR_CHANNEL_FD)) {
    queue.value->notifier.attach(call.file.channel(call.identity(CXI_ATTR_CHANNEL_FD)),
                                 req.user_handle);
  }
  auto& made =
      call.made(CXI_ATTR_HANDLE, std::make_unique<EqObject>(call.file, std::move(queue.value)));
  call.put(CXI_ATTR_RESP, made->info(made.id));
  return 0;
}

int eq_destroy(Call& call) {
  auto& eq = *call.object<EqObject>(CXI_ATTR_HANDLE);
  if (int error = eq.may_go()) return error;
  call.put(CXI_ATTR_RESP, cxi_abi_eq_destroy_resp{});
  if (int error = call.copy_out()) return error;  // while there is something to try again with
  call.put(CXI_ATTR_RESP, cxi_abi_eq_destroy_resp{eq->notifier.finish(), 0});
  call.file.objects.destroy(eq.id);
  return 0;
}

int eq_resize(Call& call) {
  cxi_abi_eq_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  auto& eq = *call.object<EqObject>(CXI_ATTR_HANDLE);
  if (req.flags || req.reserve || req.reserved_60 || req.status_base || req.status_delta ||
      req.status_count || req.reserved_b0 || req.user_handle) {
    return EINVAL;
  }
  // The NIC cannot be told to go back: whether the answer can be read is seen first.
  call.put(CXI_ATTR_RESP, eq->info(eq.id));
  if (int error = call.copy_out()) return error;
  if (req.slots == 0) {
    if (int error = eq->complete_resize()) return error;
    call.put(CXI_ATTR_RESP, eq->info(eq.id));
    return 0;
  }
  if (eq->serves_cq) return EBUSY;
  if (req.slots < min_eq_slots || req.slots > max_eq_slots || eq->reserve() > req.slots - 1) {
    return EINVAL;
  }
  cxi_abi_eq_info info = eq->info(eq.id);
  if (int error = eq->begin_resize(*call.file.arena, req.slots, &info)) return error;
  call.put(CXI_ATTR_RESP, info);
  return 0;
}

int cmdq_create(Call& call) {
  cxi_abi_cmdq_req req;
  if (int error = call.request(CXI_ATTR_REQ, req)) return error;
  constexpr uint32_t known = CXI_ABI_CMDQ_TRANSMIT | CXI_ABI_CMDQ_TRIGGERED;
  if ((req.flags & ~known) || req.policy > 3 || req.stat_pool > 3) return EINVAL;
  if (req.slots > max_cmdq_slots) return E2BIG;
  auto lni = named_lni(call);
  if (!lni) return lni.error;
  CommandQueue::Spec spec;
  spec.transmit = req.flags & CXI_ABI_CMDQ_TRANSMIT;
  spec.triggered = req.flags & CXI_ABI_CMDQ_TRIGGERED;
  spec.slots = req.slots;
  spec.policy = static_cast<nic::StatusPolicy>(req.policy);
  spec.stat_pool = req.stat_pool;
  auto* cp = call.object<CpObject>(CXI_ATTR_CP_HANDLE);
  auto* eq = call.object<EqObject>(CXI_ATTR_EQ_HANDLE);
  if (spec.transmit != (cp != nullptr) || (spec.triggered && !spec.transmit)) return EINVAL;
  if (cp && cp->lni != lni.value) return EINVAL;
  if (cp && spec.triggered && cp->lcid != 0) return EINVAL;
  if (eq && &(*eq)->lni() != lni.value.get()) return EINVAL;
  if (eq && (*eq)->serves_cq) return EBUSY;
  spec.lcid = cp ? cp->lcid : 0;
  spec.eqn = eq ? (*eq)->eqn() : 0;
  auto queue = CommandQueue::make(lni.value, *call.file.arena, spec);
  if (!queue) return queue.error;
  auto object = std::make_unique<NativeCmdq>(call.file, std::move(queue.value));
  object->cp = Use(cp);
  object->eq = Use(eq);
  NativeCmdq& made = call.made(CXI_ATTR_HANDLE, std::move(object));
  call.put(CXI_ATTR_RESP, made->info(made.id));
  return 0;
}

}  // namespace sim::uverbs
