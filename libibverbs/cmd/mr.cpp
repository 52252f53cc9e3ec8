// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands of memory regions.
#include "../export.hpp"
#include "cmd.hpp"

namespace verbs {
namespace {

// All memory of the process, page by page as it is touched: no address, all-ones length.
bool wants_everything(size_t length, int access) {
  return access & IBV_ACCESS_ON_DEMAND && length == SIZE_MAX;
}

int fill_length(uint64_t& to, const void* address, size_t length, int access) {
  if (wants_everything(length, access)) {
    if (address) return EINVAL;
    to = UINT64_MAX;
  } else {
    to = length;
  }
  return 0;
}

struct Keys {
  uint32_t lkey = 0, rkey = 0;
  uint64_t lkey64 = 0, rkey64 = 0;
};

void finish(verbs_mr& region, ibv_context* context, uint32_t handle, const Keys& keys,
            ibv_mr_type type, int access) {
  region.ibv_mr.handle = handle;
  region.ibv_mr.lkey = keys.lkey;
  region.ibv_mr.rkey = keys.rkey;
  region.ibv_mr.lkey64 = keys.lkey64;
  region.ibv_mr.rkey64 = keys.rkey64;
  region.ibv_mr.context = context;
  region.mr_type = type;
  region.access = access;
}

// By address only, and without any of the newer members: what the old command can do as well.
bool fits_old_command(const ibv_mr_init_attr& attr) {
  return !(attr.comp_mask & ~static_cast<uint64_t>(IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA));
}

int reg_mr_old(ibv_pd& pd, verbs_mr& region, const ibv_mr_init_attr& attr, uint64_t iova) {
  ib_uverbs_reg_mr_resp response{};
  struct ibv_reg_mr command {};
  return ibv_cmd_reg_mr(&pd, attr.addr, attr.length, iova, attr.access, &region, &command,
                        sizeof(command), &response, sizeof(response));
}

}  // namespace

bool mr_attr_is_sound(const ibv_mr_init_attr& attr) noexcept {
  auto has = [&](uint64_t bit) { return (attr.comp_mask & bit) != 0; };
  if (has(IBV_REG_MR_MASK_FD))
    return has(IBV_REG_MR_MASK_FD_OFFSET) && has(IBV_REG_MR_MASK_IOVA) &&
           !has(IBV_REG_MR_MASK_ADDR);
  return has(IBV_REG_MR_MASK_ADDR) && !has(IBV_REG_MR_MASK_FD_OFFSET);
}

}  // namespace verbs

using namespace verbs;

VERBS_EXPORT int ibv_cmd_reg_mr(ibv_pd* pd, void* addr, size_t length, uint64_t hca_va, int access,
                                verbs_mr* vmr, struct ibv_reg_mr* cmd, size_t cmd_size,
                                ib_uverbs_reg_mr_resp* resp, size_t resp_size) {
  uint64_t whole_length;
  if (int error = fill_length(whole_length, addr, length, access)) return error;
  ib_uverbs_reg_mr request{};
  request.length = whole_length;
  request.start = address_of(addr);
  request.hca_va = hca_va;
  request.pd_handle = pd->handle;
  request.access_flags = static_cast<uint32_t>(access);
  UserData data = data_behind(cmd, cmd_size, resp, resp_size);
  if (int error = invoke_write(*pd->context, IB_USER_VERBS_CMD_REG_MR, request, *resp, data))
    return error;
  finish(*vmr, pd->context, resp->mr_handle, {.lkey = resp->lkey, .rkey = resp->rkey},
         IBV_MR_TYPE_MR, access);
  return 0;
}

VERBS_EXPORT int ibv_cmd_rereg_mr(verbs_mr* vmr, uint32_t flags, void* addr, size_t length,
                                  uint64_t hca_va, int access, ibv_pd* pd, struct ibv_rereg_mr* cmd,
                                  size_t cmd_size, ib_uverbs_rereg_mr_resp* resp,
                                  size_t resp_size) {
  ib_uverbs_rereg_mr request{};
  request.mr_handle = vmr->ibv_mr.handle;
  request.flags = flags;
  request.start = address_of(addr);
  request.length = length;
  request.hca_va = hca_va;
  request.pd_handle = flags & IBV_REREG_MR_CHANGE_PD ? pd->handle : 0;
  request.access_flags = static_cast<uint32_t>(access);
  UserData data = data_behind(cmd, cmd_size, resp, resp_size);
  if (int error =
          invoke_write(*vmr->ibv_mr.context, IB_USER_VERBS_CMD_REREG_MR, request, *resp, data))
    return error;
  vmr->ibv_mr.lkey = resp->lkey;
  vmr->ibv_mr.rkey = resp->rkey;
  if (flags & IBV_REREG_MR_CHANGE_ACCESS) vmr->access = access;
  return 0;
}

VERBS_EXPORT int ibv_cmd_dereg_mr(verbs_mr* vmr) {
  Command<UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, 1> command;
  command.object(UVERBS_ATTR_DESTROY_MR_HANDLE, vmr->ibv_mr.handle);
  int error = command.execute(*vmr->ibv_mr.context);
  destroyed(error);
  return error;
}

// Registers memory of any kind.
VERBS_EXPORT int ibv_cmd_reg_mr_ex(ibv_pd* pd, verbs_mr* vmr, ibv_mr_init_attr* attr) {
  auto has = [&](uint64_t bit) { return (attr->comp_mask & bit) != 0; };
  if (!mr_attr_is_sound(*attr)) return EINVAL;
  uint64_t length;
  const void* address = has(IBV_REG_MR_MASK_ADDR) ? attr->addr : nullptr;
  if (int error = fill_length(length, address, attr->length, attr->access)) return error;
  uint64_t iova = has(IBV_REG_MR_MASK_IOVA) ? attr->iova : address_of(address);

  Keys keys;
  Command<UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR, 18> command;
  if (has(IBV_REG_MR_MASK_FD)) {
    command.in(UVERBS_ATTR_REG_MR_FD_OFFSET, uint64_t{attr->fd_offset});
    command.fd(UVERBS_ATTR_REG_MR_FD, attr->fd);
  } else {
    command.in(UVERBS_ATTR_REG_MR_ADDR, address_of(address));
  }
  command.in(UVERBS_ATTR_REG_MR_IOVA, iova);
  const auto* handle = command.new_object(UVERBS_ATTR_REG_MR_HANDLE);
  command.out(UVERBS_ATTR_REG_MR_RESP_LKEY, keys.lkey);
  command.out(UVERBS_ATTR_REG_MR_RESP_RKEY, keys.rkey);
  command.object(UVERBS_ATTR_REG_MR_PD_HANDLE, pd->handle);
  command.in(UVERBS_ATTR_REG_MR_LENGTH, length);
  command.in(UVERBS_ATTR_REG_MR_ACCESS_FLAGS, static_cast<uint32_t>(attr->access));
  if (has(IBV_REG_MR_MASK_DMAH))
    command.object(UVERBS_ATTR_REG_MR_DMA_HANDLE, verbs_get_dmah(attr->dmah)->handle);
  if (has(IBV_REG_MR_MASK_JKEY))
    command.object(UVERBS_ATTR_REG_MR_JKEY_HANDLE, attr->job_key->handle);
  if (has(IBV_REG_MR_MASK_RKEY)) {
    command.in(UVERBS_ATTR_REG_MR_FLAGS, uint32_t{IB_UVERBS_REG_MR_FLAG_USER_RKEY});
    command.in(UVERBS_ATTR_REG_MR_REQ_RKEY64, uint64_t{attr->rkey});
  }
  if (has(IBV_REG_MR_MASK_CUR_MR))
    command.object(UVERBS_ATTR_REG_MR_PARENT_MR_HANDLE, attr->cur_mr->handle);
  if (has(IBV_REG_MR_MASK_DERIVE_CNT))
    command.in(UVERBS_ATTR_REG_MR_DERIVE_CNT, uint32_t{attr->derive_cnt});
  optional(command.out(UVERBS_ATTR_REG_MR_RESP_LKEY64, keys.lkey64));
  optional(command.out(UVERBS_ATTR_REG_MR_RESP_RKEY64, keys.rkey64));

  int error = command.execute(*pd->context);
  if (is_unknown_command(error))
    return fits_old_command(*attr) ? reg_mr_old(*pd, *vmr, *attr, iova) : EOPNOTSUPP;
  if (error) return error;
  finish(*vmr, pd->context, handle_of(handle), keys,
         has(IBV_REG_MR_MASK_FD) ? IBV_MR_TYPE_DMABUF_MR : IBV_MR_TYPE_MR, attr->access);
  return 0;
}

VERBS_EXPORT int ibv_cmd_reg_dmabuf_mr(ibv_pd* pd, uint64_t offset, size_t length, uint64_t iova,
                                       int fd, int access, verbs_mr* vmr,
                                       ibv_command_buffer* driver) {
  Keys keys;
  Command<UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, 9> command(driver);
  const auto* handle = command.new_object(UVERBS_ATTR_REG_DMABUF_MR_HANDLE);
  command.out(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, keys.lkey);
  command.out(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, keys.rkey);
  command.object(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pd->handle);
  command.in(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, offset);
  command.in(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, uint64_t{length});
  command.in(UVERBS_ATTR_REG_DMABUF_MR_IOVA, iova);
  command.in(UVERBS_ATTR_REG_DMABUF_MR_FD, static_cast<uint32_t>(fd));
  command.in(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, static_cast<uint32_t>(access));
  if (int error = command.execute(*pd->context)) return error;
  finish(*vmr, pd->context, handle_of(handle), keys, IBV_MR_TYPE_DMABUF_MR, access);
  vmr->ibv_mr.pd = pd;
  vmr->ibv_mr.addr = reinterpret_cast<void*>(static_cast<uintptr_t>(offset));
  vmr->ibv_mr.length = length;
  return 0;
}

VERBS_EXPORT int ibv_cmd_reg_dm_mr(ibv_pd* pd, verbs_dm* dm, uint64_t offset, size_t length,
                                   unsigned int access, verbs_mr* vmr, ibv_command_buffer* link) {
  if (!(access & IBV_ACCESS_ZERO_BASED)) return EINVAL;
  Keys keys;
  Command<UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG, 8> command(link);
  const auto* handle = command.new_object(UVERBS_ATTR_REG_DM_MR_HANDLE);
  command.out(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, keys.lkey);
  command.out(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, keys.rkey);
  command.object(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, pd->handle);
  command.object(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, dm->handle);
  command.in(UVERBS_ATTR_REG_DM_MR_OFFSET, offset);
  command.in(UVERBS_ATTR_REG_DM_MR_LENGTH, uint64_t{length});
  command.in(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, uint32_t{access});
  if (int error = command.execute(*pd->context)) return error;
  finish(*vmr, pd->context, handle_of(handle), keys, IBV_MR_TYPE_MR, static_cast<int>(access));
  vmr->ibv_mr.pd = pd;
  vmr->ibv_mr.addr = nullptr;
  vmr->ibv_mr.length = length;
  return 0;
}

// Fills in a region that another process registered.
VERBS_EXPORT int ibv_cmd_query_mr(ibv_pd* pd, verbs_mr* vmr, uint32_t mr_handle) {
  Keys keys;
  uint64_t length = 0;
  Command<UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, 4> command;
  command.object(UVERBS_ATTR_QUERY_MR_HANDLE, mr_handle);
  command.out(UVERBS_ATTR_QUERY_MR_RESP_LKEY, keys.lkey);
  command.out(UVERBS_ATTR_QUERY_MR_RESP_RKEY, keys.rkey);
  command.out(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, length);
  if (int error = command.execute(*pd->context)) return error;
  finish(*vmr, pd->context, mr_handle, keys, IBV_MR_TYPE_IMPORTED_MR, 0);
  vmr->ibv_mr.pd = pd;
  vmr->ibv_mr.addr = nullptr;
  vmr->ibv_mr.length = static_cast<size_t>(length);
  return 0;
}

VERBS_EXPORT int ibv_cmd_advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, uint32_t flags,
                                   ibv_sge* sg_list, uint32_t num_sge) {
  Command<UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, 4> command;
  command.object(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, pd->handle);
  command.constant(UVERBS_ATTR_ADVISE_MR_ADVICE, static_cast<uint64_t>(advice));
  command.in(UVERBS_ATTR_ADVISE_MR_FLAGS, flags);
  static_assert(sizeof(ibv_sge) == sizeof(ib_uverbs_sge), "the kernel reads the caller's list");
  command.in_array(UVERBS_ATTR_ADVISE_MR_SGE_LIST, std::span<const ibv_sge>(sg_list, num_sge));
  return command.execute(*pd->context);
}
