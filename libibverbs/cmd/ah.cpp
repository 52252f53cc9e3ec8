// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands of address handles.
#include "../export.hpp"
#include "cmd.hpp"

namespace verbs {

void fill_ah_attr(ib_uverbs_ah_attr& to, const ibv_ah_attr& from) noexcept {
  memcpy(to.grh.dgid, from.grh.dgid.raw, sizeof(to.grh.dgid));
  to.grh.flow_label = from.grh.flow_label;
  to.grh.sgid_index = from.grh.sgid_index;
  to.grh.hop_limit = from.grh.hop_limit;
  to.grh.traffic_class = from.grh.traffic_class;
  to.dlid = from.dlid;
  to.sl = from.sl;
  to.src_path_bits = from.src_path_bits;
  to.static_rate = from.static_rate;
  to.is_global = from.is_global;
  to.port_num = from.port_num;
}

}  // namespace verbs

using namespace verbs;

VERBS_EXPORT int ibv_cmd_create_ah(ibv_pd* pd, ibv_ah* ah, ibv_ah_attr* attr,
                                   ib_uverbs_create_ah_resp* resp, size_t resp_size) {
  ib_uverbs_create_ah request{};
  request.user_handle = address_of(ah);
  request.pd_handle = pd->handle;
  fill_ah_attr(request.attr, *attr);
  UserData data = data_behind<struct ibv_create_ah>(nullptr, 0, resp, resp_size);
  if (int error = invoke_write(*pd->context, IB_USER_VERBS_CMD_CREATE_AH, request, *resp, data))
    return error;
  ah->handle = resp->ah_handle;
  ah->context = pd->context;
  ah->pd = pd;
  return 0;
}

VERBS_EXPORT int ibv_cmd_destroy_ah(ibv_ah* ah) {
  Command<UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, 1> command;
  command.object(UVERBS_ATTR_DESTROY_AH_HANDLE, ah->handle);
  int error = command.execute(*ah->context);
  destroyed(error);
  return error;
}
