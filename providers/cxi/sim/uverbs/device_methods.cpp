// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <rdma/ib_user_ioctl_verbs.h>
#include <unistd.h>

#include <cerrno>

#include "uverbs/handlers.hpp"

namespace sim::uverbs {
namespace {

constexpr uint8_t port_state_down = 1, port_state_active = 4;  // enum ib_port_state
constexpr uint8_t phys_state_disabled = 3, phys_state_link_up = 5;
constexpr uint8_t width_4x = 2, speed_ndr = 128;  // four lanes of 100 Gb/s
constexpr uint8_t link_layer_ethernet = 2;
constexpr uint32_t mbps_per_speed_unit = 100;

cxi_abi_get_context_resp context_response(File& file) {
  const nic::DeviceConfig& config = file.nic.device->config();
  cxi_abi_get_context_resp resp{};
  resp.nid = config.nid;
  resp.svc_id = file.service_id;
  resp.pid_bits = config.pid_bits;
  resp.pid_granule = 1u << (17 - config.pid_bits);
  resp.cassini_version = config.cassini_version;
  resp.window_flags = CXI_ABI_WINDOW_DOORBELL;
  resp.max_inline = max_inline;
  resp.max_eq_reserve = max_eq_reserve;
  resp.num_ptes = device_totals[CXI_ABI_RSRC_PTE];
  resp.num_txqs = device_totals[CXI_ABI_RSRC_TXQ];
  resp.num_tgqs = device_totals[CXI_ABI_RSRC_TGQ];
  resp.num_eqs = device_totals[CXI_ABI_RSRC_EQ];
  resp.num_cts = device_totals[CXI_ABI_RSRC_CT];
  resp.num_acs = device_totals[CXI_ABI_RSRC_AC];
  resp.num_les = device_totals[CXI_ABI_RSRC_LE];
  resp.num_tles = device_totals[CXI_ABI_RSRC_TLE];
  resp.link_mbps = file.nic.device->link_up() ? link_mbps : 0;
  resp.pci_vendor_id = pci_vendor_id;
  resp.pci_device_id = pci_device_id;
  resp.clock_hz = 1'000'000'000;
  return resp;
}

void answer_context(Call& call, uint16_t vectors, uint16_t core_support) {
  call.put(vectors, uint32_t{num_comp_vectors});
  call.put(core_support, uint64_t{IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS});
  call.driver_out(context_response(call.file));
}

ib_uverbs_gid_entry gid_entry(const NicState& nic, uint32_t index) {
  ib_uverbs_gid_entry entry{};
  uint8_t gid[16];
  nic.gid(index, gid);
  static_assert(sizeof entry.gid == sizeof gid);
  std::memcpy(entry.gid, gid, sizeof gid);
  entry.gid_index = index;
  entry.port_num = port;
  entry.gid_type = NicState::gid_type(index);
  return entry;
}

}  // namespace

int get_context(Call& call) {
  if (call.file.has_context) return EINVAL;
  cxi_abi_get_context_req req{};
  if (call.has(UVERBS_ATTR_UHW_IN)) {
    if (int error = call.driver_in(req)) return error;
  }
  if (req.reserved_20 != 0) return EINVAL;
  call.file.service_id = req.svc_id ? req.svc_id : CXI_ABI_DEFAULT_SVC_ID;
  call.file.has_context = true;
  call.undo([&file = call.file] { file.has_context = false; });
  answer_context(call, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
                 UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT);
  return 0;
}

int query_context(Call& call) {
  answer_context(call, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS,
                 UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT);
  return 0;
}

ib_uverbs_query_port_resp port_attributes(NicState& nic) {
  const bool up = nic.device->link_up();
  ib_uverbs_query_port_resp resp{};
  resp.port_cap_flags = IB_UVERBS_PCF_IP_BASED_GIDS;
  resp.max_msg_sz = 0xffffffff;
  resp.gid_tbl_len = gid_table_length;
  resp.pkey_tbl_len = 1;
  resp.state = up ? port_state_active : port_state_down;
  resp.max_mtu = path_mtu_2048;
  resp.active_mtu = path_mtu_2048;
  resp.max_vl_num = 1;
  resp.active_width = width_4x;
  resp.active_speed = speed_ndr;
  resp.phys_state = up ? phys_state_link_up : phys_state_disabled;
  resp.link_layer = link_layer_ethernet;
  resp.flags = IB_UVERBS_QPF_GRH_REQUIRED;
  return resp;
}

int query_port(Call& call) {
  if (call.in<uint64_t>(UVERBS_ATTR_QUERY_PORT_PORT_NUM) != port) return EINVAL;
  ib_uverbs_query_port_resp_ex resp{};
  resp.legacy_resp = port_attributes(call.file.nic);
  resp.active_speed_ex = speed_ndr;
  call.put(UVERBS_ATTR_QUERY_PORT_RESP, resp);
  return 0;
}

int query_port_speed(Call& call) {
  if (call.in<uint64_t>(UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM) != port) return EINVAL;
  call.put(UVERBS_ATTR_QUERY_PORT_SPEED_RESP, uint64_t{link_mbps / mbps_per_speed_unit});
  return 0;
}

int query_gid_table(Call& call) {
  uint64_t flags;
  if (int error = call.flags(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0, flags)) return error;
  auto entry_size = call.in<uint64_t>(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
  size_t room = call.out_size(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
  if (entry_size == 0 || room % entry_size != 0) return EINVAL;
  if (room / entry_size < gid_table_length) return EINVAL;
  std::vector<std::byte> entries(entry_size * gid_table_length);
  for (uint32_t i = 0; i < gid_table_length; ++i) {
    ib_uverbs_gid_entry entry = gid_entry(call.file.nic, i);
    std::memcpy(&entries[i * entry_size], &entry, std::min<size_t>(sizeof entry, entry_size));
  }
  call.put_bytes(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, entries);
  call.put(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, uint64_t{gid_table_length});
  return 0;
}

int query_gid_entry(Call& call) {
  uint64_t flags;
  if (int error = call.flags(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0, flags)) return error;
  auto index = call.in<uint64_t>(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
  if (call.in<uint64_t>(UVERBS_ATTR_QUERY_GID_ENTRY_PORT) != port) return EINVAL;
  if (index >= gid_table_length) return EINVAL;
  call.put(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY,
           gid_entry(call.file.nic, static_cast<uint32_t>(index)));
  return 0;
}

int query_qp_semantics(Call& call) {
  if (call.in<uint64_t>(UVERBS_ATTR_QUERY_QP_SEMANTICS_QP_TYPE) != IB_UVERBS_QPT_RU) {
    return EOPNOTSUPP;
  }
  call.put(UVERBS_ATTR_QUERY_QP_SEMANTICS_RESP, offered_semantics());
  return 0;
}

int alloc_async_event(Call& call) {
  int read_end = -1;
  auto pipe = EventPipe::make(sizeof(ib_uverbs_async_event_desc), &read_end);
  if (!pipe) return pipe.error;
  call.file.prune_channels();
  call.file.async_channels.push_back(std::make_shared<AsyncChannel>(std::move(pipe.value)));
  call.undo([&file = call.file] { file.async_channels.pop_back(); });
  call.install(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, read_end);
  return 0;
}

}  // namespace sim::uverbs
