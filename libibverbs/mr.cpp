// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Memory regions: registration in all its forms, with fork protection around it.
#include <cerrno>
#include <cstddef>

#include "cmd/cmd.hpp"
#include "error.hpp"
#include "export.hpp"
#include "private_context.hpp"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace verbs {
namespace {

bool pins_pages(int access) {
  return !(access & IBV_ACCESS_ON_DEMAND);
}

// Optional rights are dropped where the kernel would not know that they are optional.
int known_access(const ibv_pd& pd, int access) {
  // Another thread may be opening the same device just now.
  uint64_t support =
      __atomic_load_n(&verbs_get_device(pd.context->device)->core_support, __ATOMIC_RELAXED);
  if (support & IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS) return access;
  return access & ~IBV_ACCESS_OPTIONAL_RANGE;
}

bool inside(const ibv_buf& buffer, const void* address, size_t length) {
  auto base = reinterpret_cast<uintptr_t>(buffer.addr);
  auto start = reinterpret_cast<uintptr_t>(address);
  return start >= base && start - base <= buffer.size && length <= buffer.size - (start - base);
}

// Members whose bit is clear may hold anything: the caller may be older than they are.
ibv_mr_init_attr copy_named(const ibv_mr_init_attr& from) {
  ibv_mr_init_attr to{};
  to.length = from.length;
  to.access = from.access;
  to.comp_mask = from.comp_mask;
  if (from.comp_mask & IBV_REG_MR_MASK_IOVA) to.iova = from.iova;
  if (from.comp_mask & IBV_REG_MR_MASK_ADDR) to.addr = from.addr;
  if (from.comp_mask & IBV_REG_MR_MASK_FD) to.fd = from.fd;
  if (from.comp_mask & IBV_REG_MR_MASK_FD_OFFSET) to.fd_offset = from.fd_offset;
  if (from.comp_mask & IBV_REG_MR_MASK_DMAH) to.dmah = from.dmah;
  if (from.comp_mask & IBV_REG_MR_MASK_BUF) to.buf = from.buf;
  if (from.comp_mask & IBV_REG_MR_MASK_JKEY) to.job_key = from.job_key;
  if (from.comp_mask & IBV_REG_MR_MASK_RKEY) to.rkey = from.rkey;
  if (from.comp_mask & IBV_REG_MR_MASK_CUR_MR) to.cur_mr = from.cur_mr;
  if (from.comp_mask & IBV_REG_MR_MASK_DERIVE_CNT) to.derive_cnt = from.derive_cnt;
  return to;
}

// A range of an allocated buffer becomes a plain address range, or a range of the buffer's dma-buf.
bool resolve_buffer(const ibv_pd& pd, ibv_mr_init_attr& attr) {
  if (!(attr.comp_mask & IBV_REG_MR_MASK_BUF)) return true;
  const ibv_buf& buffer = *attr.buf;
  if (buffer.pd != &pd || !(attr.comp_mask & IBV_REG_MR_MASK_ADDR) ||
      attr.comp_mask & (IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET) ||
      !inside(buffer, attr.addr, attr.length))
    return false;
  attr.comp_mask &= ~static_cast<uint64_t>(IBV_REG_MR_MASK_BUF);
  attr.buf = nullptr;
  if (buffer.dmabuf_fd < 0) return true;
  if (attr.comp_mask & IBV_REG_MR_MASK_IOVA) return false;
  attr.fd = buffer.dmabuf_fd;
  attr.fd_offset = address_of(attr.addr) - address_of(buffer.addr);
  attr.iova = address_of(attr.addr);
  attr.addr = nullptr;
  attr.comp_mask &= ~static_cast<uint64_t>(IBV_REG_MR_MASK_ADDR);
  attr.comp_mask |= IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA;
  return true;
}

void describe(ibv_mr& mr, ibv_pd* pd, void* address, size_t length) {
  mr.context = pd->context;
  mr.pd = pd;
  mr.addr = address;
  mr.length = length;
}

// Undoes fork protection after a failure, without hiding why that failed.
void unprotect(void* address, size_t length) {
  int kept = errno;
  ibv_dofork_range(address, length);
  errno = kept;
}

}  // namespace
}  // namespace verbs

// Registers memory. Optional access rights are left out where they are not known.
VERBS_EXPORT ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* addr, size_t length, uint64_t iova,
                                      unsigned int access) {
  int rights = verbs::known_access(*pd, static_cast<int>(access));
  bool protects = verbs::pins_pages(rights);
  if (protects && ibv_dontfork_range(addr, length)) return nullptr;
  ibv_mr* mr = verbs::ops_of(pd->context).reg_mr(pd, addr, length, iova, rights);
  if (mr)
    verbs::describe(*mr, pd, addr, length);
  else if (protects)
    verbs::unprotect(addr, length);
  return mr;
}

VERBS_EXPORT ibv_mr* ibv_reg_mr(ibv_pd* pd, void* addr, size_t length, int access) {
  return ibv_reg_mr_iova2(pd, addr, length, verbs::address_of(addr),
                          static_cast<unsigned int>(access));
}

VERBS_EXPORT ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* addr, size_t length, uint64_t iova,
                                     int access) {
  return ibv_reg_mr_iova2(pd, addr, length, iova, static_cast<unsigned int>(access));
}

// Registers a part of a dma-buf.
VERBS_EXPORT ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* pd, uint64_t offset, size_t length, uint64_t iova,
                                       int fd, int access) {
  ibv_mr* mr = verbs::ops_of(pd->context).reg_dmabuf_mr(pd, offset, length, iova, fd, access);
  if (mr) verbs::describe(*mr, pd, reinterpret_cast<void*>(static_cast<uintptr_t>(offset)), length);
  return mr;
}

// Registers memory of any kind. Only members that comp_mask names are looked at.
VERBS_EXPORT ibv_mr* ibv_reg_mr_ex(ibv_pd* pd, ibv_mr_init_attr* wanted) {
  ibv_mr_init_attr attr = verbs::copy_named(*wanted);
  if (!verbs::resolve_buffer(*pd, attr)) return verbs::null_with_errno(EINVAL);
  bool protects = verbs::pins_pages(attr.access) && !(attr.comp_mask & IBV_REG_MR_MASK_FD);
  if (protects && ibv_dontfork_range(attr.addr, attr.length)) return nullptr;
  attr.access = verbs::known_access(*pd, attr.access);
  ibv_mr* mr = verbs::ops_of(pd->context).reg_mr_ex(pd, &attr);
  if (mr) {
    bool has_address = attr.comp_mask & IBV_REG_MR_MASK_ADDR;
    auto* offset = reinterpret_cast<void*>(static_cast<uintptr_t>(attr.fd_offset));
    verbs::describe(*mr, pd, has_address ? attr.addr : offset, attr.length);
  } else if (protects) {
    verbs::unprotect(attr.addr, attr.length);
  }
  return mr;
}

// Registers a part of a buffer that ibv_alloc_buf() gave.
VERBS_EXPORT ibv_mr* ibv_reg_buf_mr(ibv_pd* pd, ibv_buf* buf, void* addr, size_t length,
                                    int access) {
  ibv_mr_init_attr attr{};
  attr.length = length;
  attr.access = access;
  attr.comp_mask = IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_ADDR;
  attr.addr = addr;
  attr.buf = buf;
  return ibv_reg_mr_ex(pd, &attr);
}

// Changes a region in place. 0, or one of enum ibv_rereg_mr_err_code.
VERBS_EXPORT int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* addr, size_t length,
                              int access) {
  bool moves = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
  if (verbs_get_mr(mr)->mr_type != IBV_MR_TYPE_MR || flags & ~IBV_REREG_MR_FLAGS_SUPPORTED ||
      (moves && (!length || !addr)) || (access && !(flags & IBV_REREG_MR_CHANGE_ACCESS))) {
    errno = EINVAL;
    return IBV_REREG_MR_ERR_INPUT;
  }
  if (moves && ibv_dontfork_range(addr, length)) return IBV_REREG_MR_ERR_DONT_FORK_NEW;
  if (verbs::ops_of(mr->context).rereg_mr(verbs_get_mr(mr), flags, pd, addr, length, access)) {
    if (moves && ibv_dofork_range(addr, length)) return IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW;
    return IBV_REREG_MR_ERR_CMD;
  }
  if (flags & IBV_REREG_MR_CHANGE_PD) mr->pd = pd;
  if (!moves) return 0;
  void* old_addr = mr->addr;
  size_t old_length = mr->length;
  mr->addr = addr;
  mr->length = length;
  return ibv_dofork_range(old_addr, old_length) ? IBV_REREG_MR_ERR_DO_FORK_OLD : 0;
}

VERBS_EXPORT int ibv_dereg_mr(ibv_mr* mr) {
  const verbs_mr* region = verbs_get_mr(mr);
  void* addr = mr->addr;  // the region is gone by the time its pages are given back
  size_t length = mr->length;
  bool protects = region->mr_type == IBV_MR_TYPE_MR && verbs::pins_pages(region->access);
  int error = verbs::ops_of(mr->context).dereg_mr(verbs_get_mr(mr));
  if (!error && protects) ibv_dofork_range(addr, length);
  return error;
}

// A region of another process, for a PD that was imported from it.
VERBS_EXPORT ibv_mr* ibv_import_mr(ibv_pd* pd, uint32_t handle) {
  return verbs::ops_of(pd->context).import_mr(pd, handle);
}

VERBS_EXPORT void ibv_unimport_mr(ibv_mr* mr) {
  verbs::ops_of(mr->context).unimport_mr(mr);
}
