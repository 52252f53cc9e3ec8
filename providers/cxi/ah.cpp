// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Address handles: the kernel finds the NID, the rest is in the queue pair number.
#include <cstring>

#include "command.hpp"
#include "internal.hpp"
#include "rdma/cxiverbs-abi.h"

namespace cxi {

void to_kernel(const ibv_ah_attr_ex& from, ib_uverbs_ah_attr_ex& to) noexcept {
  const ibv_ah_attr& attr = from.ah_attr;
  to = {};
  std::memcpy(to.ah_attr.grh.dgid, attr.grh.dgid.raw, sizeof(to.ah_attr.grh.dgid));
  to.ah_attr.grh.flow_label = attr.grh.flow_label;
  to.ah_attr.grh.sgid_index = attr.grh.sgid_index;
  to.ah_attr.grh.hop_limit = attr.grh.hop_limit;
  to.ah_attr.grh.traffic_class = attr.grh.traffic_class;
  to.ah_attr.dlid = attr.dlid;
  to.ah_attr.sl = attr.sl;
  to.ah_attr.src_path_bits = attr.src_path_bits;
  to.ah_attr.static_rate = attr.static_rate;
  to.ah_attr.is_global = attr.is_global;
  to.ah_attr.port_num = attr.port_num;
  to.remote_qpn = from.remote_qpn;
}

void from_kernel(const ib_uverbs_ah_attr_ex& from, ibv_ah_attr_ex& to) noexcept {
  ibv_ah_attr& attr = to.ah_attr;
  std::memcpy(attr.grh.dgid.raw, from.ah_attr.grh.dgid, sizeof(attr.grh.dgid.raw));
  attr.grh.flow_label = from.ah_attr.grh.flow_label;
  attr.grh.sgid_index = from.ah_attr.grh.sgid_index;
  attr.grh.hop_limit = from.ah_attr.grh.hop_limit;
  attr.grh.traffic_class = from.ah_attr.grh.traffic_class;
  attr.dlid = from.ah_attr.dlid;
  attr.sl = from.ah_attr.sl;
  attr.src_path_bits = from.ah_attr.src_path_bits;
  attr.static_rate = from.ah_attr.static_rate;
  attr.is_global = from.ah_attr.is_global;
  attr.port_num = from.ah_attr.port_num;
  to.remote_qpn = from.remote_qpn;
}

ibv_ah* create_ah_ex(ibv_pd* pd, ibv_ah_attr_ex* attr) noexcept {
  const Context& context = context_of(pd->context);
  if (!qpn::valid(attr->remote_qpn, context.geometry)) return null_with_errno(EINVAL);
  Owned<Ah> ah = allocate<Ah>();
  if (!ah) return null_with_errno(ENOMEM);
  ib_uverbs_ah_attr_ex kernel_attr;
  to_kernel(*attr, kernel_attr);
  cxi_abi_create_ah_resp answer = {};
  Command<4> command(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_EX_CREATE);
  const unsigned handle = command.object_out(UVERBS_ATTR_CREATE_AH_EX_HANDLE);
  command.object_in(UVERBS_ATTR_CREATE_AH_EX_PD_HANDLE, pd->handle);
  command.in(UVERBS_ATTR_CREATE_AH_EX_AH_ATTR_EX, kernel_attr);
  command.out(UVERBS_ATTR_UHW_OUT, answer);
  if (const int err = command.execute(*pd->context)) return null_with_errno(err);
  ah->ibv.ah_base.handle = command.handle(handle);
  ah->ibv.remote_qpn = attr->remote_qpn;
  ah->peer = {.nid = answer.nid,
              .pid = static_cast<std::uint32_t>(qpn::pid::decode(attr->remote_qpn)),
              .ri = static_cast<std::uint32_t>(qpn::ri::decode(attr->remote_qpn))};
  pd_of(pd).references++;
  return &ah.release()->ibv.ah_base;
}

int destroy_ah(ibv_ah* ibv) noexcept {
  const int err = ibv_cmd_destroy_ah(ibv);
  if (err && err != EIO) return err;
  pd_of(ibv->pd).references--;
  std::free(reinterpret_cast<Ah*>(ibv));
  return 0;
}

}  // namespace cxi
