// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Protection domains, thread domains, and the domains that combine them.
#include <sys/mman.h>

#include "internal.hpp"

namespace cxi {

namespace {

struct AllocPdCommand {
  struct ibv_alloc_pd core;
  cxi_abi_alloc_pd_req driver;
};
static_assert(offsetof(AllocPdCommand, driver) == sizeof(struct ibv_alloc_pd));

}  // namespace

int make_pd(Context& context, cxidv_lni* lni, std::uint32_t lni_handle, Pd*& made) noexcept {
  Owned<Pd> pd = allocate<Pd>();
  if (!pd) return ENOMEM;
  AllocPdCommand command = {};
  command.driver.lni_handle = lni_handle;
  ib_uverbs_alloc_pd_resp response = {};
  if (const int err = ibv_cmd_alloc_pd(&context.ibv.context, &pd->ibv, &command.core,
                                       sizeof(command), &response, sizeof(response)))
    return err;
  pd->base = pd.get();
  pd->lni = lni;
  pd->pid = C_PID_ANY;
  made = pd.release();
  return 0;
}

ibv_pd* alloc_pd(ibv_context* context) noexcept {
  Pd* pd = nullptr;
  if (const int err = make_pd(context_of(context), nullptr, CXI_ABI_HANDLE_NONE, pd))
    return null_with_errno(err);
  return &pd->ibv;
}

namespace {

/// On an error it is there as before, since the NIC may still use it.
int drop_staging(Pd& pd) noexcept {
  if (!pd.staging) return 0;
  if (const int err = release_region(*reinterpret_cast<Mr*>(verbs_get_mr(pd.staging_mr))))
    return err;
  munmap(pd.staging[0].memory, 2 * Staging::bytes);
  std::free(pd.staging);
  pd.staging = nullptr;
  return 0;
}

}  // namespace

int dealloc_pd(ibv_pd* ibv) noexcept {
  Pd& pd = pd_of(ibv);
  const unsigned own = pd.staging ? 1 : 0;  // a region that nobody else knows of
  if (pd.references > own) return EBUSY;
  if (pd.base != &pd) {  // a parent domain: nothing of it is in the kernel
    pd.base->references--;
    if (pd.td) pd.td->references--;
    std::free(&pd);
    return 0;
  }
  // The kernel counts the staging area as a user of the domain, so it has to go first. Should the
  // domain stay all the same, the next queue pair that needs an area makes a new one.
  {
    MutexGuard topology(context_of(ibv->context).topology);
    if (const int err = drop_staging(pd)) return err;
  }
  const int err = ibv_cmd_dealloc_pd(ibv);
  if (err && err != EIO) return err;
  std::free(&pd);
  return 0;
}

int need_staging(Pd& domain) noexcept {
  MutexGuard topology(context_of(domain.ibv.context).topology);
  if (domain.staging) return 0;
  Owned<Staging> staging = allocate_array<Staging>(2);
  if (!staging) return ENOMEM;
  void* memory =
      mmap(nullptr, 2 * Staging::bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return ENOMEM;
  madvise(memory, 2 * Staging::bytes, MADV_DONTFORK);  // the NIC's pages must stay ours
  const int saved = errno;
  ibv_mr* mr = reg_mr(&domain.ibv, memory, 2 * Staging::bytes,
                      reinterpret_cast<std::uintptr_t>(memory), IBV_ACCESS_LOCAL_WRITE);
  if (!mr) {
    const int err = errno;
    errno = saved;
    munmap(memory, 2 * Staging::bytes);
    return err;
  }
  for (unsigned direction = 0; direction < 2; direction++) {
    Staging& area = staging.get()[direction];
    area.memory = static_cast<std::byte*>(memory) + direction * Staging::bytes;
    Piece piece;
    find_piece(context_of(domain.ibv.context).local_keys, &domain, mr->lkey64,
               reinterpret_cast<std::uintptr_t>(area.memory), Staging::bytes, true, piece);
    area.iova = piece.iova;
    area.lac = piece.lac;
  }
  domain.staging_mr = mr;
  domain.staging = staging.release();
  return 0;
}

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attr) noexcept {
  if (attr->comp_mask) return null_with_errno(EOPNOTSUPP);
  Owned<Td> td = allocate<Td>();
  if (!td) return null_with_errno(ENOMEM);
  td->ibv.context = context;
  return &td.release()->ibv;
}

int dealloc_td(ibv_td* ibv) noexcept {
  Td& td = *reinterpret_cast<Td*>(ibv);
  if (td.references) return EBUSY;
  std::free(&td);
  return 0;
}

ibv_pd* alloc_parent_domain(ibv_context*, ibv_parent_domain_init_attr* attr) noexcept {
  if (ibv_check_alloc_parent_domain(attr)) return nullptr;
  if (attr->comp_mask) return null_with_errno(EOPNOTSUPP);
  Owned<Pd> parent = allocate<Pd>();
  if (!parent) return null_with_errno(ENOMEM);
  parent->base = pd_of(attr->pd).base;
  parent->td = reinterpret_cast<Td*>(attr->td);
  parent->base->references++;
  if (parent->td) parent->td->references++;
  ibv_initialize_parent_domain(&parent->ibv, &parent->base->ibv);
  return &parent.release()->ibv;
}

}  // namespace cxi
