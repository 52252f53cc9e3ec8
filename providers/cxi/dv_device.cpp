// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs: devices.
#include "context.hpp"
#include "dv.hpp"
#include "internal.hpp"

namespace cxi::dv {
namespace {

int query_device(Context& context, cxidv_device_attr& attr) noexcept {
  // The answer of GET_CONTEXT once more, since a NIC may get its address and its link later.
  cxi_abi_get_context_resp info = {};
  Command<1> command(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT);
  command.out(UVERBS_ATTR_UHW_OUT, info);
  if (const int err = run(context, command)) return err;
  ibv_port_attr port = {};
  if (const int err = ibv_query_port(&context.ibv.context, 1, &port)) return err;
  attr = {};
  attr.nid = info.nid;
  attr.svc_id = info.svc_id;
  attr.pid_bits = info.pid_bits;
  attr.pid_granule = info.pid_granule;
  attr.rdzv_get_index = info.pid_granule - 1;
  attr.cassini_version = info.cassini_version;
  attr.window_flags = info.window_flags;
  attr.max_inline = info.max_inline;
  attr.max_eq_reserve = info.max_eq_reserve;
  attr.num_ptes = info.num_ptes;
  attr.num_txqs = info.num_txqs;
  attr.num_tgqs = info.num_tgqs;
  attr.num_eqs = info.num_eqs;
  attr.num_cts = info.num_cts;
  attr.num_acs = info.num_acs;
  attr.num_les = info.num_les;
  attr.num_tles = info.num_tles;
  attr.min_free_shift = info.min_free_shift;
  attr.pci_vendor_id = info.pci_vendor_id;
  attr.pci_device_id = info.pci_device_id;
  attr.link_mbps = info.link_mbps;
  attr.link_state = port.state;
  attr.clock_hz = info.clock_hz;
  return 0;
}

}  // namespace
}  // namespace cxi::dv

using namespace cxi;

CXIDV_EXPORT bool cxidv_is_supported(ibv_device* device) {
  return device && drives(*device);
}

CXIDV_EXPORT ibv_context* cxidv_open_device(ibv_device* device, const cxidv_open_attr* attr) {
  if (!device || !attr || attr->comp_mask || attr->flags) return null_with_errno(EINVAL);
  if (!drives(*device)) return null_with_errno(EOPNOTSUPP);
  OpenOptions options = {attr->svc_id};
  return verbs_open_device(device, &options);
}

CXIDV_EXPORT int cxidv_query_device(ibv_context* ibv, cxidv_device_attr* attr, size_t inlen) {
  Context* context = nullptr;
  if (const int err = dv::find_context(ibv, context)) return with_errno(err);
  if (const int err = dv::check_room(attr, inlen)) return with_errno(err);
  cxidv_device_attr found;
  if (const int err = dv::query_device(*context, found)) return with_errno(err);
  return dv::fill(attr, inlen, found);
}
