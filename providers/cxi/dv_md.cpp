// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs: memory descriptors.
#include "dv.hpp"

namespace cxi::dv {
namespace {

static_assert(same(CXIDV_MD_READ, CXI_ABI_MD_READ) && same(CXIDV_MD_WRITE, CXI_ABI_MD_WRITE));

void forget(NativeLink& link) noexcept {
  Md& md = object_of_link<Md>(link);
  if (md.kept_from_children) ibv_dofork_range(md.pub.addr, md.pub.length);
  std::free(&md);
}

int map_md(cxidv_lni* lni, const cxidv_md_attr& attr, cxidv_md*& made) noexcept {
  if (attr.comp_mask & ~std::uint64_t{CXIDV_MD_MASK_DMABUF}) return EINVAL;
  const bool dmabuf = attr.comp_mask & CXIDV_MD_MASK_DMABUF;
  if (dmabuf && (attr.addr || attr.dmabuf_fd < 0)) return EINVAL;
  const std::uint64_t start = dmabuf ? attr.offset : reinterpret_cast<std::uintptr_t>(attr.addr);
  if (attr.length == 0 || start + attr.length < start) return EINVAL;
  auto md = allocate<Md>();
  if (!md) return ENOMEM;

  // The NIC keeps the pages it was given: a child of fork() must not make this process use copies.
  if (!dmabuf && ibv_dontfork_range(attr.addr, attr.length)) return errno;
  Undo unprotect([&] {
    if (!dmabuf) ibv_dofork_range(attr.addr, attr.length);
  });
  const cxi_abi_md_req request = {start, attr.length, attr.flags, dmabuf ? attr.dmabuf_fd : -1};
  cxi_abi_md_resp answer = {};
  Context& context = context_of(lni);
  if (const int err = ask_for(lni, CXI_OBJECT_MD, CXI_METHOD_MD_MAP, request, answer, md->handle))
    return err;
  unprotect.dismiss();
  md->kept_from_children = !dmabuf;
  md->pub = {lni, attr.addr, attr.length, answer.iova, static_cast<std::uint8_t>(answer.lac)};
  enlist(context, md->link, forget);
  made = &md.release()->pub;
  return 0;
}

}  // namespace
}  // namespace cxi::dv

using namespace cxi;

CXIDV_EXPORT cxidv_md* cxidv_map_md(cxidv_lni* lni, const cxidv_md_attr* attr) {
  if (!lni || !attr) return null_with_errno(EINVAL);
  cxidv_md* made = nullptr;
  if (const int err = dv::map_md(lni, *attr, made)) return null_with_errno(err);
  return made;
}

CXIDV_EXPORT int cxidv_unmap_md(cxidv_md* pub) {
  if (!pub) return with_errno(EINVAL);
  return with_errno(dv::destroy(dv::object_of<dv::Md>(pub), CXI_OBJECT_MD, CXI_METHOD_MD_UNMAP));
}
