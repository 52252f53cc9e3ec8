// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Memory regions. Local keys are the provider's own: they find an entry of its table. Remote keys
// are the kernel's.
#include "command.hpp"
#include "internal.hpp"
#include "rdma/cxiverbs-abi.h"

namespace cxi {
namespace {

constexpr std::uint64_t iova_mask = (std::uint64_t{1} << 57) - 1;

struct Request {
  std::size_t length = 0;
  int access = 0;
  std::uint64_t address = 0;  // as in work requests
  void* memory = nullptr;     // of this process, or null for a dma-buf
  int fd = -1;
  std::uint64_t fd_offset = 0;
  const ibv_job_key* job_key = nullptr;
  const std::uint64_t* remote_key = nullptr;
  const ibv_mr* parent = nullptr;
  const std::uint32_t* derive_count = nullptr;
};

int command_register(ibv_pd& pd, const Request& request, Mr& mr,
                     cxi_abi_reg_mr_resp& answer) noexcept {
  ibv_mr& ibv = mr.ibv.ibv_mr;
  std::uint32_t kernel_lkey = 0;
  std::uint64_t kernel_lkey64 = 0;
  Command<18> command(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR);
  const unsigned handle = command.object_out(UVERBS_ATTR_REG_MR_HANDLE);
  command.object_in(UVERBS_ATTR_REG_MR_PD_HANDLE, pd.handle);
  command.in(UVERBS_ATTR_REG_MR_IOVA, request.address);
  command.in(UVERBS_ATTR_REG_MR_LENGTH, std::uint64_t{request.length});
  command.in(UVERBS_ATTR_REG_MR_ACCESS_FLAGS, static_cast<std::uint32_t>(request.access));
  if (request.fd >= 0) {
    command.fd_in(UVERBS_ATTR_REG_MR_FD, request.fd);
    command.in(UVERBS_ATTR_REG_MR_FD_OFFSET, request.fd_offset);
  } else {
    command.in(UVERBS_ATTR_REG_MR_ADDR,
               std::uint64_t{reinterpret_cast<std::uintptr_t>(request.memory)});
  }
  if (request.remote_key) {
    command.in(UVERBS_ATTR_REG_MR_FLAGS, std::uint32_t{IB_UVERBS_REG_MR_FLAG_USER_RKEY});
    command.in(UVERBS_ATTR_REG_MR_REQ_RKEY64, *request.remote_key);
  }
  if (request.job_key) command.object_in(UVERBS_ATTR_REG_MR_JKEY_HANDLE, request.job_key->handle);
  if (request.parent)
    command.object_in(UVERBS_ATTR_REG_MR_PARENT_MR_HANDLE, request.parent->handle);
  if (request.derive_count) command.in(UVERBS_ATTR_REG_MR_DERIVE_CNT, *request.derive_count);
  command.out(UVERBS_ATTR_REG_MR_RESP_LKEY, kernel_lkey);
  command.out(UVERBS_ATTR_REG_MR_RESP_RKEY, ibv.rkey);
  command.optional(command.out(UVERBS_ATTR_REG_MR_RESP_LKEY64, kernel_lkey64));
  command.optional(command.out(UVERBS_ATTR_REG_MR_RESP_RKEY64, ibv.rkey64));
  command.out(UVERBS_ATTR_UHW_OUT, answer);
  if (const int err = command.execute(*pd.context)) return err;
  ibv.handle = command.handle(handle);
  return 0;
}

void fill_key(LocalKey& key, const Pd& domain, const Request& request,
              const cxi_abi_reg_mr_resp& answer) noexcept {
  key.pd = &domain;
  key.lac = static_cast<std::uint8_t>(answer.lac);
  key.local_write = request.access & IBV_ACCESS_LOCAL_WRITE;
  key.base = request.address;
  key.length = request.length;
  key.iova_delta = answer.iova_delta;
  key.has_cpu = request.fd < 0;
  key.cpu_delta = reinterpret_cast<std::uintptr_t>(request.memory) - request.address;
}

ibv_mr* make(ibv_pd* pd, const Request& request) noexcept {
  Context& context = context_of(pd->context);
  Owned<Mr> mr = allocate<Mr>();
  if (!mr) return null_with_errno(ENOMEM);
  std::uint32_t number = 0;
  LocalKey* key = nullptr;
  {
    MutexGuard guard(context.keys_mutex);
    key = context.local_keys.reserve(number);
  }
  if (!key) return null_with_errno(ENOMEM);
  cxi_abi_reg_mr_resp answer = {};
  if (const int err = command_register(*pd, request, *mr, answer)) {
    MutexGuard guard(context.keys_mutex);
    context.local_keys.release(number);
    return null_with_errno(err);
  }
  fill_key(*key, *pd_of(pd).base, request, answer);
  LocalKeys::publish(*key, number);
  mr->key = number;
  mr->lac = key->lac;
  mr->iova = (request.address + answer.iova_delta) & iova_mask;
  mr->length = request.length;
  if (request.parent) {
    mr->parent = reinterpret_cast<Mr*>(verbs_get_mr(const_cast<ibv_mr*>(request.parent)));
    mr->parent->derived++;
  }
  mr->ibv.mr_type = request.fd < 0 ? IBV_MR_TYPE_MR : IBV_MR_TYPE_DMABUF_MR;
  mr->ibv.access = request.access;
  ibv_mr& ibv = mr->ibv.ibv_mr;
  ibv.context = pd->context;
  ibv.pd = pd;
  pd_of(pd).references++;
  ibv.lkey = number;
  ibv.lkey64 = number;
  return &mr.release()->ibv.ibv_mr;
}

struct ReregResponse {
  ib_uverbs_rereg_mr_resp core;
  cxi_abi_rereg_mr_resp driver;
};
static_assert(offsetof(ReregResponse, driver) == sizeof(ib_uverbs_rereg_mr_resp));

/// The kernel's part, and what the region says of itself.
int command_rereg(Mr& mr, int flags, ibv_pd* pd, void* addr, std::size_t length, int access,
                  cxi_abi_reg_mr_resp& answer) noexcept {
  struct ibv_rereg_mr command = {};
  ReregResponse response = {};
  const int err = ibv_cmd_rereg_mr(&mr.ibv, static_cast<std::uint32_t>(flags), addr, length,
                                   reinterpret_cast<std::uintptr_t>(addr), access, pd, &command,
                                   sizeof(command), &response.core, sizeof(response));
  if (err) return err;
  mr.ibv.ibv_mr.lkey = mr.key;  // local keys are the provider's own
  mr.ibv.ibv_mr.rkey64 = response.driver.rkey64;
  answer = response.driver.mr;
  return 0;
}

}  // namespace

ibv_mr* reg_mr(ibv_pd* pd, void* addr, std::size_t length, std::uint64_t hca_va,
               int access) noexcept {
  return make(pd, {.length = length, .access = access, .address = hca_va, .memory = addr});
}

ibv_mr* reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova,
                      int fd, int access) noexcept {
  if (fd < 0) return null_with_errno(EBADF);
  return make(pd,
              {.length = length, .access = access, .address = iova, .fd = fd, .fd_offset = offset});
}

ibv_mr* reg_mr_ex(ibv_pd* pd, ibv_mr_init_attr* attr) noexcept {
  constexpr std::uint64_t known = IBV_REG_MR_MASK_IOVA | IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD |
                                  IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_JKEY |
                                  IBV_REG_MR_MASK_RKEY | IBV_REG_MR_MASK_CUR_MR |
                                  IBV_REG_MR_MASK_DERIVE_CNT;
  const auto has = [attr](std::uint64_t mask) { return (attr->comp_mask & mask) != 0; };
  if (attr->comp_mask & ~known) return null_with_errno(EOPNOTSUPP);
  Request request{.length = attr->length, .access = attr->access};
  if (has(IBV_REG_MR_MASK_FD)) {
    if (has(IBV_REG_MR_MASK_ADDR) || !has(IBV_REG_MR_MASK_FD_OFFSET) || !has(IBV_REG_MR_MASK_IOVA))
      return null_with_errno(EINVAL);
    if (attr->fd < 0) return null_with_errno(EBADF);
    request.fd = attr->fd;
    request.fd_offset = attr->fd_offset;
    request.address = attr->iova;
  } else {
    if (!has(IBV_REG_MR_MASK_ADDR) || has(IBV_REG_MR_MASK_FD_OFFSET))
      return null_with_errno(EINVAL);
    request.memory = attr->addr;
    request.address =
        has(IBV_REG_MR_MASK_IOVA) ? attr->iova : reinterpret_cast<std::uintptr_t>(attr->addr);
  }
  if (has(IBV_REG_MR_MASK_JKEY)) {
    if (!attr->job_key || pd_of(attr->job_key->pd).base != pd_of(pd).base)
      return null_with_errno(EINVAL);
    request.job_key = attr->job_key;
  }
  if (has(IBV_REG_MR_MASK_RKEY)) request.remote_key = &attr->rkey;
  if (has(IBV_REG_MR_MASK_CUR_MR)) {
    if (!attr->cur_mr || pd_of(attr->cur_mr->pd).base != pd_of(pd).base)
      return null_with_errno(EINVAL);
    request.parent = attr->cur_mr;
  }
  if (has(IBV_REG_MR_MASK_DERIVE_CNT)) request.derive_count = &attr->derive_cnt;
  return make(pd, request);
}

int rereg_mr(verbs_mr* ibv, int flags, ibv_pd* pd, void* addr, std::size_t length,
             int access) noexcept {
  Mr& mr = *reinterpret_cast<Mr*>(ibv);
  Context& context = context_of(ibv->ibv_mr.context);
  const bool other_pd = flags & IBV_REREG_MR_CHANGE_PD;
  if (other_pd && (!pd || pd->context != ibv->ibv_mr.context)) return with_errno(EINVAL);
  MutexGuard topology(context.topology);
  if (mr.derived || mr.attachments) return with_errno(EBUSY);
  // The key goes out of sight while what it stands for changes.
  context.local_keys.hide(mr.key);
  LocalKey& key = *context.local_keys.hidden(mr.key);
  cxi_abi_reg_mr_resp answer = {};
  if (const int err = command_rereg(mr, flags, pd, addr, length, access, answer)) {
    if (err == EIO) context.dead = true;
    LocalKeys::publish(key, mr.key);
    return with_errno(err);
  }
  if (other_pd) {
    key.pd = pd_of(pd).base;
    pd_of(pd).references++;
    pd_of(ibv->ibv_mr.pd).references--;
  }
  key.lac = static_cast<std::uint8_t>(answer.lac);
  key.local_write = mr.ibv.access & IBV_ACCESS_LOCAL_WRITE;
  if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
    key.base = reinterpret_cast<std::uintptr_t>(addr);
    key.length = length;
    key.cpu_delta = 0;
  }
  key.iova_delta = answer.iova_delta;
  mr.lac = key.lac;
  mr.length = key.length;
  mr.iova = (key.base + answer.iova_delta) & iova_mask;
  LocalKeys::publish(key, mr.key);
  return 0;
}

int release_region(Mr& mr) noexcept {
  Context& context = context_of(mr.ibv.ibv_mr.context);
  // No request may find the region any more once the kernel lets go of its pages.
  context.local_keys.hide(mr.key);
  const int err = ibv_cmd_dereg_mr(&mr.ibv);
  if (err == EIO) context.dead = true;
  MutexGuard guard(context.keys_mutex);
  if (err && err != EIO) {
    LocalKeys::publish(*context.local_keys.hidden(mr.key), mr.key);
    return err;
  }
  context.local_keys.release(mr.key);
  if (mr.parent) mr.parent->derived--;
  pd_of(mr.ibv.ibv_mr.pd).references--;
  std::free(&mr);
  return 0;
}

int dereg_mr(verbs_mr* ibv) noexcept {
  Mr& mr = *reinterpret_cast<Mr*>(ibv);
  // What the kernel would refuse at the end must not begin with taking access away.
  if (mr.derived) return EBUSY;
  {
    MutexGuard topology(context_of(ibv->ibv_mr.context).topology);
    if (const int err = detach_everywhere(mr)) return err;
  }
  return release_region(mr);
}

}  // namespace cxi
