// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs: services.
#include "dv.hpp"

namespace cxi::dv {
namespace {

static_assert(same(CXIDV_RSRC_PTE, CXI_ABI_RSRC_PTE) && same(CXIDV_RSRC_TXQ, CXI_ABI_RSRC_TXQ) &&
              same(CXIDV_RSRC_TGQ, CXI_ABI_RSRC_TGQ) && same(CXIDV_RSRC_EQ, CXI_ABI_RSRC_EQ) &&
              same(CXIDV_RSRC_CT, CXI_ABI_RSRC_CT) && same(CXIDV_RSRC_LE, CXI_ABI_RSRC_LE) &&
              same(CXIDV_RSRC_TLE, CXI_ABI_RSRC_TLE) && same(CXIDV_RSRC_AC, CXI_ABI_RSRC_AC) &&
              same(CXIDV_RSRC_COUNT, CXI_ABI_RSRC_COUNT));
static_assert(same(CXIDV_MEMBER_NONE, CXI_ABI_MEMBER_NONE) &&
              same(CXIDV_MEMBER_UID, CXI_ABI_MEMBER_UID) &&
              same(CXIDV_MEMBER_GID, CXI_ABI_MEMBER_GID) &&
              same(CXIDV_MEMBER_ANY, CXI_ABI_MEMBER_ANY));
static_assert(same(CXIDV_SVC_ENABLED, CXI_ABI_SVC_ENABLED) &&
              same(CXIDV_SVC_LIMITED, CXI_ABI_SVC_LIMITED) &&
              same(CXIDV_SVC_VNI_RANGE, CXI_ABI_SVC_VNI_RANGE) &&
              same(CXIDV_SVC_DYING, CXI_ABI_SVC_DYING));
static_assert(CXIDV_MAX_SVC_MEMBERS == CXI_ABI_MAX_SVC_MEMBERS &&
              CXIDV_MAX_SVC_VNIS == CXI_ABI_MAX_SVC_VNIS);

cxi_abi_svc_desc to_kernel(const cxidv_svc_attr& attr, std::uint32_t svc_id) noexcept {
  cxi_abi_svc_desc desc = {};
  desc.svc_id = svc_id;
  desc.flags = attr.flags;
  desc.num_vnis = attr.num_vnis;
  desc.tc_mask = attr.tc_mask;
  std::copy_n(attr.vnis, CXIDV_MAX_SVC_VNIS, desc.vnis);
  for (unsigned i = 0; i < CXIDV_MAX_SVC_MEMBERS; i++)
    desc.members[i] = {attr.members[i].type, attr.members[i].id};
  for (unsigned i = 0; i < CXIDV_RSRC_COUNT; i++)
    desc.limits[i] = {attr.limits[i].max, attr.limits[i].reserved, 0, 0};
  return desc;
}

cxidv_svc_attr from_kernel(const cxi_abi_svc_desc& desc) noexcept {
  cxidv_svc_attr attr = {};
  attr.svc_id = desc.svc_id;
  attr.flags = desc.flags;
  attr.num_vnis = desc.num_vnis;
  attr.tc_mask = desc.tc_mask;
  std::copy_n(desc.vnis, CXIDV_MAX_SVC_VNIS, attr.vnis);
  for (unsigned i = 0; i < CXIDV_MAX_SVC_MEMBERS; i++)
    attr.members[i] = {desc.members[i].type, desc.members[i].id};
  for (unsigned i = 0; i < CXIDV_RSRC_COUNT; i++) {
    const cxi_abi_svc_limit& limit = desc.limits[i];
    attr.limits[i] = {limit.max, limit.reserved, limit.in_use, limit.free};
  }
  return attr;
}

int alloc_svc(Context& context, cxidv_svc_attr& attr, cxidv_svc*& made) noexcept {
  if (attr.comp_mask) return EINVAL;
  auto svc = allocate<Svc>();
  if (!svc) return ENOMEM;
  const cxi_abi_svc_desc request = to_kernel(attr, 0);
  cxi_abi_svc_desc answer = {};
  Command<3> command(CXI_OBJECT_SVC, CXI_METHOD_SVC_ALLOC);
  const unsigned handle = command.object_out(CXI_ATTR_HANDLE);
  command.in(CXI_ATTR_REQ, request);
  command.out(CXI_ATTR_RESP, answer);
  const int err = run(context, command);
  if (err == ENOSPC) {
    for (unsigned i = 0; i < CXIDV_RSRC_COUNT; i++)
      attr.limits[i].free = answer.limits[i].free;
  }
  if (err) return err;
  attr = from_kernel(answer);
  svc->handle = command.handle(handle);
  svc->pub = {&context.ibv.context, answer.svc_id};
  enlist(context, svc->link, forget_memory<Svc>);
  made = &svc.release()->pub;
  return 0;
}

int query_svc(Context& context, std::uint32_t svc_id, cxi_abi_svc_desc& answer) noexcept {
  const cxi_abi_lni_req request = {svc_id, 0};
  Command<2> command(CXI_OBJECT_SVC, CXI_METHOD_SVC_QUERY);
  command.in(CXI_ATTR_REQ, request);
  command.out(CXI_ATTR_RESP, answer);
  return run(context, command);
}

/// The ids above one, ascending, the rest zero.
template <std::size_t Room>
int list_after(Context& context, std::uint32_t last, std::uint32_t (&ids)[Room]) noexcept {
  const cxi_abi_lni_req request = {last, 0};
  Command<2> command(CXI_OBJECT_SVC, CXI_METHOD_SVC_LIST);
  command.in(CXI_ATTR_REQ, request);
  command.out(CXI_ATTR_RESP, ids);
  return run(context, command);
}

int list_svcs(Context& context, std::uint32_t* svc_ids, std::size_t& count) noexcept {
  const std::size_t room = count;
  std::size_t found = 0;
  for (std::uint32_t last = 0;;) {
    std::uint32_t ids[64] = {};
    if (const int err = list_after(context, last, ids)) return err;
    for (const std::uint32_t id : ids) {
      if (id == 0) {
        count = found;
        return found > room ? ENOSPC : 0;
      }
      if (found < room) svc_ids[found] = id;
      found++;
      last = id;
    }
  }
}

}  // namespace
}  // namespace cxi::dv

using namespace cxi;

CXIDV_EXPORT cxidv_svc* cxidv_alloc_svc(ibv_context* ibv, cxidv_svc_attr* attr) {
  Context* context = nullptr;
  if (const int err = dv::find_context(ibv, context)) return null_with_errno(err);
  if (!attr) return null_with_errno(EINVAL);
  cxidv_svc* made = nullptr;
  if (const int err = dv::alloc_svc(*context, *attr, made)) return null_with_errno(err);
  return made;
}

CXIDV_EXPORT int cxidv_destroy_svc(cxidv_svc* pub) {
  if (!pub) return with_errno(EINVAL);
  return with_errno(
      dv::destroy(dv::object_of<dv::Svc>(pub), CXI_OBJECT_SVC, CXI_METHOD_SVC_DESTROY));
}

CXIDV_EXPORT int cxidv_remove_svc(ibv_context* ibv, uint32_t svc_id) {
  Context* context = nullptr;
  if (const int err = dv::find_context(ibv, context)) return with_errno(err);
  const cxi_abi_lni_req request = {svc_id, 0};
  Command<1> command(CXI_OBJECT_SVC, CXI_METHOD_SVC_DESTROY);
  command.in(CXI_ATTR_REQ, request);
  return with_errno(dv::run(*context, command));
}

CXIDV_EXPORT int cxidv_modify_svc(ibv_context* ibv, uint32_t svc_id, const cxidv_svc_attr* attr) {
  Context* context = nullptr;
  if (const int err = dv::find_context(ibv, context)) return with_errno(err);
  if (!attr || attr->comp_mask) return with_errno(EINVAL);
  const cxi_abi_svc_desc request = dv::to_kernel(*attr, svc_id);
  cxi_abi_svc_desc answer = {};
  Command<2> command(CXI_OBJECT_SVC, CXI_METHOD_SVC_MODIFY);
  command.in(CXI_ATTR_REQ, request);
  command.out(CXI_ATTR_RESP, answer);
  return with_errno(dv::run(*context, command));
}

CXIDV_EXPORT int cxidv_query_svc(ibv_context* ibv, uint32_t svc_id, cxidv_svc_attr* attr,
                                 size_t inlen) {
  Context* context = nullptr;
  if (const int err = dv::find_context(ibv, context)) return with_errno(err);
  if (const int err = dv::check_room(attr, inlen)) return with_errno(err);
  cxi_abi_svc_desc answer = {};
  if (const int err = dv::query_svc(*context, svc_id, answer)) return with_errno(err);
  return dv::fill(attr, inlen, dv::from_kernel(answer));
}

CXIDV_EXPORT int cxidv_list_svcs(ibv_context* ibv, uint32_t* svc_ids, size_t* count) {
  Context* context = nullptr;
  if (const int err = dv::find_context(ibv, context)) return with_errno(err);
  if (!count || (*count && !svc_ids)) return with_errno(EINVAL);
  return with_errno(dv::list_svcs(*context, svc_ids, *count));
}
