// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs: verbs objects on native resources, and the native resources of verbs objects.
#include "dv.hpp"
#include "internal.hpp"

namespace cxi::dv {
namespace {

constexpr std::uint32_t not_indexed = UINT32_MAX;

std::uint32_t lni_handle_of(const cxidv_lni* lni) noexcept {
  return lni ? lni_of(lni).handle : CXI_ABI_HANDLE_NONE;
}

/// What a CQ is built on. EINVAL: something of another context.
int find_base(const Context& context, const cxidv_cq_attr& attr, CqBase& base) noexcept {
  if (attr.comp_mask) return EINVAL;
  if (context.dead) return EIO;
  base.lni = attr.lni ? attr.lni : attr.eq ? attr.eq->lni : nullptr;
  if (base.lni && base.lni->context != &context.ibv.context) return EINVAL;
  if (attr.eq) {
    if (base.lni != attr.eq->lni) return EINVAL;
    base.eq = &object_of<Eq>(attr.eq);
  }
  base.lni_handle = lni_handle_of(base.lni);
  return 0;
}

int create_cq(ibv_context* ibv, ibv_cq_init_attr_ex* attr, const cxidv_cq_attr* cxi_attr,
              ibv_cq_ex*& result) noexcept {
  Context* context = nullptr;
  if (const int err = find_context(ibv, context)) return err;
  if (!attr || attr->cqe < 1) return EINVAL;
  CqBase base;
  if (cxi_attr)
    if (const int err = find_base(*context, *cxi_attr, base)) return err;
  Cq* cq = nullptr;
  if (const int err = make_cq(*context, *attr, base, cq)) return err;
  verbs_init_cq(&cq->ibv.cq, ibv, attr->channel, attr->cq_context);
  result = &cq->ibv.cq_ex;
  return 0;
}

int create_qp(ibv_context* ibv, ibv_qp_init_attr_ex* attr, const cxidv_qp_attr* cxi_attr,
              Qp*& made) noexcept {
  Context* context = nullptr;
  if (const int err = find_context(ibv, context)) return err;
  if (!attr || (cxi_attr && cxi_attr->comp_mask)) return EINVAL;
  std::uint32_t profile = CXI_ABI_HANDLE_NONE;
  if (cxi_attr && cxi_attr->cp) {
    const Cp& cp = object_of<Cp>(cxi_attr->cp);
    if (&context_of(cp) != context) return EINVAL;
    profile = cp.handle;
  }
  return make_qp(*context, *attr, profile, made);
}

/// Whether a verbs object is there, and one of ours: before that nothing of it may be looked at.
template <class Object>
int check_object(const Object* object) noexcept {
  Context* context = nullptr;
  return object ? find_context(object->context, context) : EINVAL;
}

/// What is said of a verbs object begins alike: where it lives.
template <class Info>
int begin_query(ibv_context* ibv, cxidv_lni* lni, Info* out, std::size_t inlen,
                Info& info) noexcept {
  if (const int err = check_room(out, inlen)) return err;
  info.lni = lni ? lni : cxidv_context_lni(ibv);
  return info.lni ? 0 : errno;
}

int query_pd(ibv_pd* ibv, cxidv_pd_info* out, std::size_t inlen) noexcept {
  if (const int err = check_object(ibv)) return err;
  const Pd& pd = *pd_of(ibv).base;
  cxidv_pd_info info = {};
  if (const int err = begin_query(ibv->context, pd.lni, out, inlen, info)) return err;
  info.pid = pd.pid;
  return fill(out, inlen, info);
}

int query_cq(ibv_cq* ibv, cxidv_cq_info* out, std::size_t inlen) noexcept {
  if (const int err = check_object(ibv)) return err;
  Cq& cq = cq_of(ibv);
  cxidv_cq_info info = {};
  if (const int err = begin_query(ibv->context, cq.lni, out, inlen, info)) return err;
  if (cq.borrowed) info.eq = &cq.borrowed->pub;
  info.eqn = cq.eqn;
  info.flags = cq.borrowed ? cq.borrowed->flags : cq.eq_flags;
  MutexGuard topology(cq.context->topology);
  info.slots = cq.ring.bytes() / EventRing::slot_bytes;
  info.reserve = cq.reserve;
  return fill(out, inlen, info);
}

int query_qp(ibv_qp* ibv, cxidv_qp_info* out, std::size_t inlen) noexcept {
  if (const int err = check_object(ibv)) return err;
  const Qp& qp = qp_of(ibv);
  cxidv_qp_info info = {};
  if (const int err = begin_query(ibv->context, qp.domain->lni, out, inlen, info)) return err;
  info.vni = qp.vni;
  info.pid = qp.domain->pid;
  info.ri = qp.ri;
  info.lcid = qp.first_lcid;
  info.txq = qp.send.commands.index();
  info.tgq = qp.recv.commands.index();
  info.recv_ptn = qp.recv_pte;
  info.memory_ptn = qp.mem_pte;
  info.send_eqn = qp.send_cq->eqn;
  info.recv_eqn = qp.recv_cq->eqn;
  return fill(out, inlen, info);
}

int query_mr(ibv_mr* ibv, cxidv_mr_info* out, std::size_t inlen) noexcept {
  if (const int err = check_object(ibv)) return err;
  const Mr& mr = *reinterpret_cast<const Mr*>(verbs_get_mr(ibv));
  cxidv_mr_info info = {};
  if (const int err = begin_query(ibv->context, pd_of(ibv->pd).base->lni, out, inlen, info))
    return err;
  info.iova = mr.iova;
  info.length = mr.length;
  info.lac = mr.lac;
  constexpr std::uint64_t kind = CXI_ABI_RKEY_DRIVER | CXI_ABI_RKEY_INDEXED;
  constexpr std::uint64_t index_mask = (1 << CXI_ABI_RKEY_INDEX_BITS) - 1;
  info.index = (ibv->rkey64 & kind) == kind
                   ? CXI_ABI_INDEX_INDEXED + static_cast<std::uint32_t>(ibv->rkey64 & index_mask)
                   : not_indexed;
  return fill(out, inlen, info);
}

}  // namespace
}  // namespace cxi::dv

using namespace cxi;

CXIDV_EXPORT ibv_pd* cxidv_create_pd(cxidv_lni* lni, const cxidv_pd_attr* attr) {
  if (!lni || (attr && attr->comp_mask)) return null_with_errno(EINVAL);
  Pd* pd = nullptr;
  if (const int err = make_pd(dv::context_of(lni), lni, dv::lni_handle_of(lni), pd))
    return null_with_errno(err);
  pd->ibv.context = lni->context;
  return &pd->ibv;
}

CXIDV_EXPORT ibv_cq_ex* cxidv_create_cq(ibv_context* context, ibv_cq_init_attr_ex* attr,
                                        const cxidv_cq_attr* cxi_attr) {
  ibv_cq_ex* cq = nullptr;
  if (const int err = dv::create_cq(context, attr, cxi_attr, cq)) return null_with_errno(err);
  return cq;
}

CXIDV_EXPORT ibv_qp* cxidv_create_qp(ibv_context* context, ibv_qp_init_attr_ex* attr,
                                     const cxidv_qp_attr* cxi_attr) {
  Qp* qp = nullptr;
  if (const int err = dv::create_qp(context, attr, cxi_attr, qp)) return null_with_errno(err);
  return &qp->ibv.qp;
}

CXIDV_EXPORT int cxidv_query_pd(ibv_pd* pd, cxidv_pd_info* info, size_t inlen) {
  return with_errno(dv::query_pd(pd, info, inlen));
}

CXIDV_EXPORT int cxidv_query_cq(ibv_cq* cq, cxidv_cq_info* info, size_t inlen) {
  return with_errno(dv::query_cq(cq, info, inlen));
}

CXIDV_EXPORT int cxidv_query_qp(ibv_qp* qp, cxidv_qp_info* info, size_t inlen) {
  return with_errno(dv::query_qp(qp, info, inlen));
}

CXIDV_EXPORT int cxidv_query_mr(ibv_mr* mr, cxidv_mr_info* info, size_t inlen) {
  return with_errno(dv::query_mr(mr, info, inlen));
}
