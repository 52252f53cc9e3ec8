// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands of protection domains, XRC domains and memory windows.
#include "../export.hpp"
#include "cmd.hpp"

using namespace verbs;

VERBS_EXPORT int ibv_cmd_alloc_pd(ibv_context* context, ibv_pd* pd, struct ibv_alloc_pd* cmd,
                                  size_t cmd_size, ib_uverbs_alloc_pd_resp* resp,
                                  size_t resp_size) {
  ib_uverbs_alloc_pd request{};
  UserData data = data_behind(cmd, cmd_size, resp, resp_size);
  if (int error = invoke_write(*context, IB_USER_VERBS_CMD_ALLOC_PD, request, *resp, data))
    return error;
  pd->handle = resp->pd_handle;
  pd->context = context;
  return 0;
}

VERBS_EXPORT int ibv_cmd_dealloc_pd(ibv_pd* pd) {
  Command<UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 1> command;
  command.object(UVERBS_ATTR_DESTROY_PD_HANDLE, pd->handle);
  int error = command.execute(*pd->context);
  destroyed(error);
  return error;
}

VERBS_EXPORT int ibv_cmd_open_xrcd(ibv_context* context, verbs_xrcd* xrcd, int xrcd_size,
                                   ibv_xrcd_init_attr* attr, struct ibv_open_xrcd* cmd,
                                   size_t cmd_size, ib_uverbs_open_xrcd_resp* resp,
                                   size_t resp_size) {
  if (attr->comp_mask >= IBV_XRCD_INIT_ATTR_RESERVED) return EOPNOTSUPP;
  if (!(attr->comp_mask & IBV_XRCD_INIT_ATTR_FD) || !(attr->comp_mask & IBV_XRCD_INIT_ATTR_OFLAGS))
    return EINVAL;
  ib_uverbs_open_xrcd request{};
  request.fd = static_cast<uint32_t>(attr->fd);
  request.oflags = static_cast<uint32_t>(attr->oflags);
  UserData data = data_behind(cmd, cmd_size, resp, resp_size);
  if (int error = invoke_write(*context, IB_USER_VERBS_CMD_OPEN_XRCD, request, *resp, data))
    return error;
  xrcd->xrcd.context = context;
  xrcd->comp_mask = 0;
  if (static_cast<size_t>(xrcd_size) >= offsetof(verbs_xrcd, handle) + sizeof(xrcd->handle)) {
    xrcd->comp_mask = VERBS_XRCD_HANDLE;
    xrcd->handle = resp->xrcd_handle;
  }
  return 0;
}

VERBS_EXPORT int ibv_cmd_close_xrcd(verbs_xrcd* xrcd) {
  Command<UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, 1> command;
  command.object(UVERBS_ATTR_DESTROY_XRCD_HANDLE, xrcd->handle);
  int error = command.execute(*xrcd->xrcd.context);
  destroyed(error);
  return error;
}

VERBS_EXPORT int ibv_cmd_alloc_mw(ibv_pd* pd, ibv_mw_type type, ibv_mw* mw,
                                  struct ibv_alloc_mw* cmd, size_t cmd_size,
                                  ib_uverbs_alloc_mw_resp* resp, size_t resp_size) {
  ib_uverbs_alloc_mw request{};
  request.pd_handle = pd->handle;
  request.mw_type = static_cast<uint8_t>(type);
  UserData data = data_behind(cmd, cmd_size, resp, resp_size);
  if (int error = invoke_write(*pd->context, IB_USER_VERBS_CMD_ALLOC_MW, request, *resp, data))
    return error;
  mw->context = pd->context;
  mw->pd = pd;
  mw->rkey = resp->rkey;
  mw->handle = resp->mw_handle;
  mw->type = type;
  return 0;
}

VERBS_EXPORT int ibv_cmd_dealloc_mw(ibv_mw* mw) {
  Command<UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, 1> command;
  command.object(UVERBS_ATTR_DESTROY_MW_HANDLE, mw->handle);
  int error = command.execute(*mw->context);
  destroyed(error);
  return error;
}
