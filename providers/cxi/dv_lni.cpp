// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs: logical NIs, communication profiles and domains.
#include "dv.hpp"

namespace cxi::dv {
namespace {

constexpr std::uint32_t max_u16 = 0xffff;

static_assert(same(CXIDV_CP_TRIGGERED, CXI_ABI_CP_TRIGGERED));
static_assert(same(CXIDV_TC_DEDICATED_ACCESS, CXI_ABI_TC_DEDICATED_ACCESS) &&
              same(CXIDV_TC_LOW_LATENCY, CXI_ABI_TC_LOW_LATENCY) &&
              same(CXIDV_TC_BULK_DATA, CXI_ABI_TC_BULK_DATA) &&
              same(CXIDV_TC_BEST_EFFORT, CXI_ABI_TC_BEST_EFFORT));
static_assert(same(CXIDV_TC_TYPE_DEFAULT, CXI_ABI_TC_TYPE_DEFAULT) &&
              same(CXIDV_TC_TYPE_HRP, CXI_ABI_TC_TYPE_HRP) &&
              same(CXIDV_TC_TYPE_RESTRICTED, CXI_ABI_TC_TYPE_RESTRICTED) &&
              same(CXIDV_TC_TYPE_COLL_LEAF, CXI_ABI_TC_TYPE_COLL_LEAF));

int query(Context& context, std::uint32_t handle, cxi_abi_lni_resp& answer) noexcept {
  Command<2> command(CXI_OBJECT_LNI, CXI_METHOD_LNI_QUERY);
  if (handle != CXI_ABI_HANDLE_NONE) command.object_in(CXI_ATTR_HANDLE, handle);
  command.out(CXI_ATTR_RESP, answer);
  return run(context, command);
}

int make_lni(Context& context, const cxidv_lni_attr* attr, cxidv_lni*& made) noexcept {
  if (attr && (attr->comp_mask || attr->flags)) return EINVAL;
  auto lni = allocate<Lni>();
  if (!lni) return ENOMEM;
  const cxi_abi_lni_req request = {attr && attr->svc_id ? attr->svc_id : context.svc_id, 0};
  cxi_abi_lni_resp answer = {};
  Command<3> command(CXI_OBJECT_LNI, CXI_METHOD_LNI_CREATE);
  const unsigned handle = command.object_out(CXI_ATTR_HANDLE);
  command.in(CXI_ATTR_REQ, request);
  command.out(CXI_ATTR_RESP, answer);
  if (const int err = run(context, command)) return err;
  lni->handle = command.handle(handle);
  lni->pub = {&context.ibv.context, answer.svc_id, answer.rgid};
  enlist(context, lni->link, forget_memory<Lni>);
  made = &lni.release()->pub;
  return 0;
}

int find_own_lni(Context& context, cxidv_lni*& found) noexcept {
  {
    MutexGuard guard(context.native.mutex);
    found = context.native.own_lni;
  }
  if (found) return 0;
  auto lni = allocate<Lni>();
  if (!lni) return ENOMEM;
  cxi_abi_lni_resp answer = {};
  if (const int err = query(context, CXI_ABI_HANDLE_NONE, answer)) return err;
  lni->handle = CXI_ABI_HANDLE_NONE;
  lni->pub = {&context.ibv.context, answer.svc_id, answer.rgid};
  {
    MutexGuard guard(context.native.mutex);
    found = context.native.own_lni;
    if (found) return 0;  // another thread was faster
    found = context.native.own_lni = &lni->pub;
  }
  enlist(context, lni->link, forget_memory<Lni>);
  lni.release();
  return 0;
}

int make_cp(cxidv_lni* lni, const cxidv_cp_attr& attr, cxidv_cp*& made) noexcept {
  if (attr.comp_mask || (attr.flags & ~std::uint32_t{CXIDV_CP_TRIGGERED})) return EINVAL;
  if (attr.vni > max_u16 || attr.traffic_class > max_u16 || attr.traffic_class_type > max_u16)
    return EINVAL;
  auto cp = allocate<Cp>();
  if (!cp) return ENOMEM;
  const cxi_abi_cp_req request = {static_cast<std::uint16_t>(attr.vni),
                                  static_cast<std::uint16_t>(attr.flags),
                                  static_cast<std::uint16_t>(attr.traffic_class),
                                  static_cast<std::uint16_t>(attr.traffic_class_type)};
  cxi_abi_cp_resp answer = {};
  Context& context = context_of(lni);
  if (const int err = ask_for(lni, CXI_OBJECT_CP, CXI_METHOD_CP_ALLOC, request, answer, cp->handle))
    return err;
  cp->pub = {lni, attr.vni, attr.traffic_class, attr.traffic_class_type,
             static_cast<std::uint8_t>(answer.lcid)};
  enlist(context, cp->link, forget_memory<Cp>);
  made = &cp.release()->pub;
  return 0;
}

int make_domain(cxidv_lni* lni, std::uint32_t vni, std::uint32_t pid,
                cxidv_domain*& made) noexcept {
  auto domain = allocate<Domain>();
  if (!domain) return ENOMEM;
  const cxi_abi_domain_req request = {vni, pid, 0, 0};
  cxi_abi_domain_resp answer = {};
  Context& context = context_of(lni);
  if (const int err = ask_for(lni, CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_CREATE, request, answer,
                              domain->handle))
    return err;
  domain->pub = {lni, answer.vni, answer.pid};
  enlist(context, domain->link, forget_memory<Domain>);
  made = &domain.release()->pub;
  return 0;
}

}  // namespace
}  // namespace cxi::dv

using namespace cxi;

CXIDV_EXPORT cxidv_lni* cxidv_create_lni(ibv_context* ibv, const cxidv_lni_attr* attr) {
  Context* context = nullptr;
  if (const int err = dv::find_context(ibv, context)) return null_with_errno(err);
  cxidv_lni* made = nullptr;
  if (const int err = dv::make_lni(*context, attr, made)) return null_with_errno(err);
  return made;
}

CXIDV_EXPORT int cxidv_destroy_lni(cxidv_lni* pub) {
  if (!pub) return with_errno(EINVAL);
  dv::Lni& lni = dv::lni_of(pub);
  if (lni.handle == CXI_ABI_HANDLE_NONE) return with_errno(EINVAL);
  return with_errno(dv::destroy(lni, CXI_OBJECT_LNI, CXI_METHOD_LNI_DESTROY));
}

CXIDV_EXPORT cxidv_lni* cxidv_context_lni(ibv_context* ibv) {
  Context* context = nullptr;
  if (const int err = dv::find_context(ibv, context)) return null_with_errno(err);
  cxidv_lni* found = nullptr;
  if (const int err = dv::find_own_lni(*context, found)) return null_with_errno(err);
  return found;
}

CXIDV_EXPORT int cxidv_query_lni(cxidv_lni* pub, cxidv_lni_info* info, size_t inlen) {
  if (!pub) return with_errno(EINVAL);
  if (const int err = dv::check_room(info, inlen)) return with_errno(err);
  cxi_abi_lni_resp answer = {};
  if (const int err = dv::query(dv::context_of(pub), dv::lni_of(pub).handle, answer))
    return with_errno(err);
  return dv::fill(info, inlen, {0, answer.svc_id, answer.rgid, answer.num_cps, answer.num_acs});
}

CXIDV_EXPORT cxidv_cp* cxidv_alloc_cp(cxidv_lni* lni, const cxidv_cp_attr* attr) {
  if (!lni || !attr) return null_with_errno(EINVAL);
  cxidv_cp* made = nullptr;
  if (const int err = dv::make_cp(lni, *attr, made)) return null_with_errno(err);
  return made;
}

CXIDV_EXPORT int cxidv_free_cp(cxidv_cp* pub) {
  if (!pub) return with_errno(EINVAL);
  return with_errno(dv::destroy(dv::object_of<dv::Cp>(pub), CXI_OBJECT_CP, CXI_METHOD_CP_FREE));
}

CXIDV_EXPORT int cxidv_reserve_pids(cxidv_lni* lni, uint32_t vni, uint32_t pid, uint32_t count,
                                    uint32_t* first_pid) {
  if (!lni || !first_pid) return with_errno(EINVAL);
  const cxi_abi_domain_req request = {vni, pid, count, 0};
  cxi_abi_domain_resp answer = {};
  Command<3> command(CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_RESERVE);
  dv::on_lni(command, lni);
  command.in(CXI_ATTR_REQ, request);
  command.out(CXI_ATTR_RESP, answer);
  if (const int err = dv::run(dv::context_of(lni), command)) return with_errno(err);
  *first_pid = answer.pid;
  return 0;
}

CXIDV_EXPORT cxidv_domain* cxidv_create_domain(cxidv_lni* lni, uint32_t vni, uint32_t pid) {
  if (!lni) return null_with_errno(EINVAL);
  cxidv_domain* made = nullptr;
  if (const int err = dv::make_domain(lni, vni, pid, made)) return null_with_errno(err);
  return made;
}

CXIDV_EXPORT int cxidv_destroy_domain(cxidv_domain* pub) {
  if (!pub) return with_errno(EINVAL);
  return with_errno(
      dv::destroy(dv::object_of<dv::Domain>(pub), CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_DESTROY));
}
