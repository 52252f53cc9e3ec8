// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs: portal entries.
#include "dv.hpp"

namespace cxi::dv {
namespace {

static_assert(same(CXIDV_PTE_MATCHING, CXI_ABI_PTE_MATCHING) &&
              same(CXIDV_PTE_FLOW_CONTROL, CXI_ABI_PTE_FLOW_CONTROL) &&
              same(CXIDV_PTE_LONG_EVENTS, CXI_ABI_PTE_LONG_EVENTS) &&
              same(CXIDV_PTE_EVENT_MATCH, CXI_ABI_PTE_EVENT_MATCH) &&
              same(CXIDV_PTE_LOGICAL, CXI_ABI_PTE_LOGICAL) &&
              same(CXIDV_PTE_SPACE_CHECK, CXI_ABI_PTE_SPACE_CHECK) &&
              same(CXIDV_PTE_LOSSLESS, CXI_ABI_PTE_LOSSLESS) &&
              same(CXIDV_PTE_CLEAR_REMOTE_OFFSET, CXI_ABI_PTE_CLEAR_REMOTE_OFFSET) &&
              same(CXIDV_PTE_RESTRICTED_LM, CXI_ABI_PTE_RESTRICTED_LM) &&
              same(CXIDV_PTE_ALIGN_LM, CXI_ABI_PTE_ALIGN_LM) &&
              same(CXIDV_PTE_SW_HW_STATE_CHANGE, CXI_ABI_PTE_SW_HW_STATE_CHANGE) &&
              same(CXIDV_PTE_SIGNAL_INVALID, CXI_ABI_PTE_SIGNAL_INVALID) &&
              same(CXIDV_PTE_SIGNAL_UNDERFLOW, CXI_ABI_PTE_SIGNAL_UNDERFLOW) &&
              same(CXIDV_PTE_SIGNAL_OVERFLOW, CXI_ABI_PTE_SIGNAL_OVERFLOW) &&
              same(CXIDV_PTE_SIGNAL_INEXACT, CXI_ABI_PTE_SIGNAL_INEXACT));

int make_pte(cxidv_lni* lni, const cxidv_pte_attr& attr, cxidv_pte*& made) noexcept {
  if (attr.comp_mask) return EINVAL;
  Context& context = context_of(lni);
  if (attr.eq && &context_of(object_of<Eq>(attr.eq)) != &context) return EINVAL;
  auto pte = allocate<Pte>();
  if (!pte) return ENOMEM;
  cxi_abi_pte_req request = {};
  request.flags = attr.flags;
  request.le_charge = attr.le_charge;
  cxi_abi_pte_resp answer = {};
  const auto add = [&](auto& command) {
    if (attr.eq) command.object_in(CXI_ATTR_EQ_HANDLE, object_of<Eq>(attr.eq).handle);
  };
  if (const int err =
          ask_for(lni, CXI_OBJECT_PTE, CXI_METHOD_PTE_CREATE, request, answer, pte->handle, add))
    return err;
  pte->pub = {lni, attr.eq, answer.pte, attr.flags};
  enlist(context, pte->link, forget_memory<Pte>);
  made = &pte.release()->pub;
  return 0;
}

/// The place of a mapping as the kernel takes it: it has the multicast id in the low bits.
int set_place(std::uint32_t index, std::uint32_t flags, cxi_abi_pte_req& request) noexcept {
  request.index = index;
  request.multicast = (flags & CXIDV_MAP_MULTICAST) != 0;
  if (!request.multicast) return 0;
  std::uint32_t id = 0;
  std::uint32_t index_ext = 0;
  const int err = cxidv_decode_multicast_index(index, &id, &index_ext);
  request.index = index_ext << C_DFA_MULTICAST_ID_BITS | id;
  return err;
}

/// Maps or unmaps.
int place(std::uint16_t method, const cxidv_pte* pub, const cxidv_domain* where,
          std::uint32_t index, std::uint32_t flags) noexcept {
  if (!pub || !where || (flags & ~std::uint32_t{CXIDV_MAP_MULTICAST})) return EINVAL;
  const Pte& pte = object_of<Pte>(pub);
  const Domain& domain = object_of<Domain>(where);
  if (&context_of(domain) != &context_of(pte)) return EINVAL;
  cxi_abi_pte_req request = {};
  if (const int err = set_place(index, flags, request)) return err;
  Command<3> command(CXI_OBJECT_PTE, method);
  command.object_in(CXI_ATTR_HANDLE, pte.handle);
  command.object_in(CXI_ATTR_DOMAIN_HANDLE, domain.handle);
  command.in(CXI_ATTR_REQ, request);
  return run(context_of(pte), command);
}

int work(std::uint16_t method, const Pte& pte, const cxi_abi_pte_req& request) noexcept {
  Command<2> command(CXI_OBJECT_PTE, method);
  command.object_in(CXI_ATTR_HANDLE, pte.handle);
  command.in(CXI_ATTR_REQ, request);
  return run(context_of(pte), command);
}

int query(const Pte& pte, cxidv_pte_status& status, std::size_t bytes) noexcept {
  if (status.max_offsets && !status.ule_offsets) return EINVAL;
  cxi_abi_pte_req request = {};
  request.max_offsets = status.max_offsets;
  request.offsets_ptr = reinterpret_cast<std::uintptr_t>(status.ule_offsets);
  cxi_abi_pte_resp answer = {};
  Command<3> command(CXI_OBJECT_PTE, CXI_METHOD_PTE_QUERY);
  command.object_in(CXI_ATTR_HANDLE, pte.handle);
  command.in(CXI_ATTR_REQ, request);
  command.out(CXI_ATTR_RESP, answer);
  if (const int err = run(context_of(pte), command)) return err;
  cxidv_pte_status found = {};
  found.state = answer.state;
  found.drop_count = answer.drop_count;
  found.les_reserved = answer.les_reserved;
  found.les_allocated = answer.les_allocated;
  found.les_max = answer.les_max;
  found.ule_count = answer.ule_count;
  found.max_offsets = status.max_offsets;
  found.ule_offsets = status.ule_offsets;
  return fill(&status, bytes, found);
}

}  // namespace
}  // namespace cxi::dv

using namespace cxi;

CXIDV_EXPORT cxidv_pte* cxidv_create_pte(cxidv_lni* lni, const cxidv_pte_attr* attr) {
  if (!lni || !attr) return null_with_errno(EINVAL);
  cxidv_pte* made = nullptr;
  if (const int err = dv::make_pte(lni, *attr, made)) return null_with_errno(err);
  return made;
}

CXIDV_EXPORT int cxidv_destroy_pte(cxidv_pte* pub) {
  if (!pub) return with_errno(EINVAL);
  return with_errno(
      dv::destroy(dv::object_of<dv::Pte>(pub), CXI_OBJECT_PTE, CXI_METHOD_PTE_DESTROY));
}

CXIDV_EXPORT int cxidv_map_pte(cxidv_pte* pte, cxidv_domain* domain, uint32_t index,
                               uint32_t flags) {
  return with_errno(dv::place(CXI_METHOD_PTE_MAP, pte, domain, index, flags));
}

CXIDV_EXPORT int cxidv_unmap_pte(cxidv_pte* pte, cxidv_domain* domain, uint32_t index,
                                 uint32_t flags) {
  return with_errno(dv::place(CXI_METHOD_PTE_UNMAP, pte, domain, index, flags));
}

CXIDV_EXPORT int cxidv_query_pte(cxidv_pte* pte, cxidv_pte_status* status, size_t inlen) {
  if (!pte || !status || inlen < sizeof(*status)) return with_errno(EINVAL);
  return with_errno(dv::query(dv::object_of<dv::Pte>(pte), *status, inlen));
}

CXIDV_EXPORT int cxidv_invalidate_le(cxidv_pte* pte, uint32_t list, uint16_t buffer_id) {
  if (!pte) return with_errno(EINVAL);
  cxi_abi_pte_req request = {};
  request.list = list;
  request.buffer_id = buffer_id;
  return with_errno(dv::work(CXI_METHOD_PTE_INVALIDATE_LE, dv::object_of<dv::Pte>(pte), request));
}

CXIDV_EXPORT int cxidv_transition_pte(cxidv_pte* pte, uint32_t drop_count) {
  if (!pte) return with_errno(EINVAL);
  cxi_abi_pte_req request = {};
  request.drop_count = drop_count;
  return with_errno(dv::work(CXI_METHOD_PTE_TRANSITION, dv::object_of<dv::Pte>(pte), request));
}
