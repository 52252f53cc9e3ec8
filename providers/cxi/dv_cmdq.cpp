// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs: command queues.
#include "dv.hpp"
#include "mapping.hpp"

namespace cxi::dv {
namespace {

static_assert(same(CXIDV_CMDQ_TRANSMIT, CXI_ABI_CMDQ_TRANSMIT) &&
              same(CXIDV_CMDQ_TRIGGERED, CXI_ABI_CMDQ_TRIGGERED));
static_assert(same(CXIDV_WINDOW_DOORBELL, CXI_ABI_WINDOW_DOORBELL) &&
              same(CXIDV_WINDOW_LOW_LATENCY, CXI_ABI_WINDOW_LOW_LATENCY) &&
              same(CXIDV_WINDOW_CT, CXI_ABI_WINDOW_CT) &&
              same(CXIDV_WINDOW_CSR, CXI_ABI_WINDOW_CSR));

constexpr std::uint32_t slot_bytes = 64;
constexpr std::uint32_t slots_between_low_freq = 256;  // status write-backs of that policy

void unmap(Cmdq& queue) noexcept {
  unmap_cookie(reinterpret_cast<std::byte*>(queue.pub.ring), queue.pub.size32 * slot_bytes / 2);
  unmap_cookie(queue.launch_page, page_bytes());
}

void forget(NativeLink& link) noexcept {
  Cmdq& queue = object_of_link<Cmdq>(link);
  unmap(queue);
  std::free(&queue);
}

int map(Cmdq& queue, const cxi_abi_cmdq_info& info) noexcept {
  const ibv_context& context = *queue.pub.lni->context;
  std::byte* ring = nullptr;
  const std::size_t bytes = std::size_t{info.slots} * slot_bytes;
  if (const int err = map_cookie(context, info.ring_cookie, bytes, ring)) return err;
  if (const int err = map_cookie(context, info.launch_cookie, page_bytes(), queue.launch_page)) {
    unmap_cookie(ring, bytes);
    return err;
  }
  queue.pub.ring = reinterpret_cast<std::uint8_t*>(ring);
  queue.pub.launch = reinterpret_cast<volatile c_cmdq*>(queue.launch_page + info.launch_offset);
  return 0;
}

int make_cmdq(cxidv_lni* lni, const cxidv_cmdq_attr& attr, cxidv_cmdq*& made) noexcept {
  if (attr.comp_mask) return EINVAL;
  // What such a queue has read would never be told: it would stay full.
  if (attr.policy == CXIDV_CMDQ_POLICY_LOW_FREQ && attr.slots <= 2 * slots_between_low_freq)
    return EINVAL;
  // Handles of another context would name something else here.
  Context& context = context_of(lni);
  if (attr.cp && &context_of(object_of<Cp>(attr.cp)) != &context) return EINVAL;
  if (attr.eq && &context_of(object_of<Eq>(attr.eq)) != &context) return EINVAL;
  auto queue = allocate<Cmdq>();
  if (!queue) return ENOMEM;
  const cxi_abi_cmdq_req request = {attr.flags, attr.slots, attr.policy, attr.stat_pool};
  cxi_abi_cmdq_info info = {};
  const auto add = [&](auto& command) {
    if (attr.cp) command.object_in(CXI_ATTR_CP_HANDLE, object_of<Cp>(attr.cp).handle);
    if (attr.eq) command.object_in(CXI_ATTR_EQ_HANDLE, object_of<Eq>(attr.eq).handle);
  };
  if (const int err =
          ask_for(lni, CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_CREATE, request, info, queue->handle, add))
    return err;
  queue->pub.lni = lni;
  if (const int err = map(*queue, info)) {
    destroy(context, CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_DESTROY, queue->handle);
    return err;
  }
  queue->pub.index = info.index;
  queue->pub.flags = attr.flags;
  queue->pub.window_flags = info.window_flags;
  queue->pub.size32 = 2 * info.slots;
  queue->pub.wp32 = queue->pub.hw_wp32 = queue->pub.rp32 = C_CQ_FIRST_WR_PTR_32;
  enlist(context, queue->link, forget);
  made = &queue.release()->pub;
  return 0;
}

}  // namespace
}  // namespace cxi::dv

using namespace cxi;

CXIDV_EXPORT cxidv_cmdq* cxidv_create_cmdq(cxidv_lni* lni, const cxidv_cmdq_attr* attr) {
  if (!lni || !attr) return null_with_errno(EINVAL);
  cxidv_cmdq* made = nullptr;
  if (const int err = dv::make_cmdq(lni, *attr, made)) return null_with_errno(err);
  return made;
}

CXIDV_EXPORT int cxidv_destroy_cmdq(cxidv_cmdq* pub) {
  if (!pub) return with_errno(EINVAL);
  return with_errno(
      dv::destroy(dv::object_of<dv::Cmdq>(pub), CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_DESTROY));
}
