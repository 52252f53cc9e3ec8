// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The commands of the old write() interface, which come through INVOKE_WRITE: without a header,
// with the response in an attribute. A command that this driver has no operation for is EOPNOTSUPP.
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "uverbs/handlers.hpp"

namespace sim::uverbs {
namespace {

constexpr uint64_t base_capabilities =
    IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT | IB_UVERBS_DEVICE_SYS_IMAGE_GUID;
constexpr uint64_t all_capabilities =
    base_capabilities | IB_UVERBS_DEVICE_RU | IB_UVERBS_DEVICE_IMM64 | IB_UVERBS_DEVICE_KEY64 |
    IB_UVERBS_DEVICE_USER_RKEY | IB_UVERBS_DEVICE_MR_QP_RESTRICTED |
    IB_UVERBS_DEVICE_MR_QP_JOB_RESTRICTED;
// The model has no firmware: it shows its own version instead.
constexpr uint64_t firmware_version = uint64_t{CXI_SIM_VERSION_MAJOR} << 32;
constexpr uint32_t atomic_hca = 1;  // atomic among this device's own
constexpr uint64_t max_mr_size = (1ull << 56) - 1;
constexpr uint32_t legacy_qp_attr_mask = (1u << 21) - 1;  // up to the destination number
constexpr uint32_t last_qp_attr_mask = (1u << 26) - 1;    // up to the rate limit

template <class T>
void respond(Call& call, const T& resp) {
  call.put(UVERBS_ATTR_CORE_OUT, resp);
}

// The core part of an extended command: shorter is zero filled, longer must be zero.
template <class T>
int extended_request(Call& call, T& cmd) {
  auto bytes = call.bytes(UVERBS_ATTR_CORE_IN);
  if (bytes.size() > sizeof cmd) {
    auto surplus = bytes.subspan(sizeof cmd);
    if (std::ranges::any_of(surplus, [](std::byte b) { return b != std::byte{0}; })) {
      return EOPNOTSUPP;
    }
  }
  cmd = call.in<T>(UVERBS_ATTR_CORE_IN);
  return 0;
}

// A handle inside a command structure.
template <class T>
int named(Call& call, uint32_t handle, uint16_t type, T** out) {
  Object* object = call.file.objects.find(handle);
  if (!object) return ENOENT;
  if (object->type != type) return EINVAL;
  *out = static_cast<T*>(object);
  return 0;
}

ib_uverbs_query_device_resp device_attributes(const NicState& nic) {
  ib_uverbs_query_device_resp attr{};
  attr.fw_ver = firmware_version;
  attr.node_guid = __builtin_bswap64(nic.node_guid());
  attr.sys_image_guid = attr.node_guid;
  attr.max_mr_size = max_mr_size;
  attr.page_size_cap = 0xfffff000;
  attr.vendor_id = pci_vendor_id;
  attr.vendor_part_id = pci_device_id;
  attr.hw_ver = nic.device->config().cassini_version;
  attr.max_qp = max_qps;
  attr.max_qp_wr = max_qp_wr;
  attr.device_cap_flags = static_cast<uint32_t>(base_capabilities);
  attr.max_sge = max_sge;
  attr.max_sge_rd = max_sge;
  attr.max_cq = device_totals[CXI_ABI_RSRC_EQ];
  attr.max_cqe = max_cqe;
  attr.max_mr = max_mr;
  attr.max_pd = max_pd;
  attr.atomic_cap = atomic_hca;
  attr.max_ah = max_ah;
  attr.max_pkeys = 1;
  attr.phys_port_cnt = 1;
  return attr;
}

int query_device(Call& call) {
  respond(call, device_attributes(call.file.nic));
  return 0;
}

int ex_query_device(Call& call) {
  ib_uverbs_ex_query_device cmd;
  if (int error = extended_request(call, cmd)) return error;
  if (cmd.comp_mask || cmd.reserved) return EINVAL;
  ib_uverbs_ex_query_device_resp resp{};
  resp.base = device_attributes(call.file.nic);
  resp.response_length =
      static_cast<uint32_t>(std::min(sizeof resp, call.out_size(UVERBS_ATTR_CORE_OUT)));
  resp.timestamp_mask = ~0ull;
  resp.hca_core_clock = 1'000'000;  // kHz
  resp.device_cap_flags_ex = all_capabilities;
  resp.cq_moderation_caps.max_cq_moderation_count = UINT16_MAX;
  resp.cq_moderation_caps.max_cq_moderation_period = UINT16_MAX;
  resp.max_job_ids = max_job_ids;
  resp.max_job_keys = max_job_keys;
  resp.max_addr_entries = max_addr_entries;
  respond(call, resp);
  return 0;
}

int write_query_port(Call& call) {
  if (call.in<ib_uverbs_query_port>(UVERBS_ATTR_CORE_IN).port_num != port) return EINVAL;
  respond(call, port_attributes(call.file.nic));
  return 0;
}

int write_alloc_pd(Call& call) {
  Pd* pd = nullptr;
  if (int error = alloc_pd(call, &pd)) return error;
  respond(call, ib_uverbs_alloc_pd_resp{pd->id});
  return 0;
}

template <class Cmd, uint32_t Cmd::*Handle, uint16_t Type>
int write_destroy(Call& call) {
  Object* object = nullptr;
  auto cmd = call.in<Cmd>(UVERBS_ATTR_CORE_IN);
  if (int error = named(call, cmd.*Handle, Type, &object)) return error;
  if (int error = object->may_go()) return error;
  call.file.objects.destroy(object->id);
  return 0;
}

int write_reg_mr(Call& call) {
  auto cmd = call.in<ib_uverbs_reg_mr>(UVERBS_ATTR_CORE_IN);
  Registration wanted;
  if (int error = named(call, cmd.pd_handle, UVERBS_OBJECT_PD, &wanted.pd)) return error;
  wanted.addr = cmd.start;
  wanted.length = cmd.length;
  wanted.iova = cmd.hca_va;
  wanted.access = cmd.access_flags;
  Mr* mr = nullptr;
  if (int error = register_memory(call, wanted, &mr)) return error;
  respond(call, ib_uverbs_reg_mr_resp{mr->id, mr->lkey, mr->rkey});
  answer_registration(call, *mr);
  return 0;
}

int create_comp_channel(Call& call) {
  int read_end = -1;
  auto pipe = EventPipe::make(sizeof(ib_uverbs_comp_event_desc), &read_end);
  if (!pipe) return pipe.error;
  call.file.prune_channels();
  call.file.channels.push_back(std::move(pipe.value));
  call.undo([&file = call.file] { file.channels.pop_back(); });
  respond(call, ib_uverbs_create_comp_channel_resp{});
  call.install_into(UVERBS_ATTR_CORE_OUT, read_end);
  return 0;
}

int write_resize_cq(Call& call) {
  auto cmd = call.in<ib_uverbs_resize_cq>(UVERBS_ATTR_CORE_IN);
  Cq* cq = nullptr;
  if (int error = named(call, cmd.cq_handle, UVERBS_OBJECT_CQ, &cq)) return error;
  respond(call, ib_uverbs_resize_cq_resp{cmd.cqe, 0, {}});
  return resize_cq(call, *cq, cmd.cqe);
}

int ex_modify_cq(Call& call) {
  ib_uverbs_ex_modify_cq cmd;
  Cq* cq = nullptr;
  if (int error = extended_request(call, cmd)) return error;
  if (int error = named(call, cmd.cq_handle, UVERBS_OBJECT_CQ, &cq)) return error;
  return modify_cq(call, *cq, cmd);
}

int write_rereg_mr(Call& call) {
  auto cmd = call.in<ib_uverbs_rereg_mr>(UVERBS_ATTR_CORE_IN);
  Mr* mr = nullptr;
  Pd* pd = nullptr;
  if (int error = named(call, cmd.mr_handle, UVERBS_OBJECT_MR, &mr)) return error;
  if (cmd.flags & rereg_pd) {
    if (int error = named(call, cmd.pd_handle, UVERBS_OBJECT_PD, &pd)) return error;
  }
  if (int error = rereg_memory(call, cmd, *mr, pd)) return error;
  respond(call, ib_uverbs_rereg_mr_resp{mr->lkey, mr->rkey, {}});
  cxi_abi_rereg_mr_resp resp{};
  resp.mr = registration(*mr);
  resp.rkey64 = mr->rkey64;
  call.driver_out(resp);
  return 0;
}

int query_qp(Call& call) {
  Qp* qp = nullptr;
  auto cmd = call.in<ib_uverbs_query_qp>(UVERBS_ATTR_CORE_IN);
  if (int error = named(call, cmd.qp_handle, UVERBS_OBJECT_QP, &qp)) return error;
  ib_uverbs_query_qp_resp resp{};
  resp.max_send_wr = qp->cap.max_send_wr;
  resp.max_recv_wr = qp->cap.max_recv_wr;
  resp.max_send_sge = qp->cap.max_send_sge;
  resp.max_recv_sge = qp->cap.max_recv_sge;
  resp.max_inline_data = qp->cap.max_inline_data;
  resp.qp_access_flags = qp->attributes.access_flags;
  resp.qp_state = static_cast<uint8_t>(qp->state);
  resp.cur_qp_state = resp.qp_state;
  resp.path_mtu = qp->attributes.path_mtu;
  resp.min_rnr_timer = qp->attributes.min_rnr_timer;
  resp.port_num = port;
  resp.retry_cnt = qp->attributes.retry_cnt;
  resp.rnr_retry = qp->attributes.rnr_retry;
  resp.sq_sig_all = qp->sq_sig_all;
  respond(call, resp);
  return 0;
}

int modify(Call& call, const ib_uverbs_modify_qp& cmd, uint32_t allowed) {
  Qp* qp = nullptr;
  if (cmd.attr_mask & ~allowed) return EOPNOTSUPP;
  if (int error = named(call, cmd.qp_handle, UVERBS_OBJECT_QP, &qp)) return error;
  return qp->modify(cmd.attr_mask, cmd);
}

int modify_qp(Call& call) {
  return modify(call, call.in<ib_uverbs_modify_qp>(UVERBS_ATTR_CORE_IN), legacy_qp_attr_mask);
}

int ex_modify_qp(Call& call) {
  ib_uverbs_ex_modify_qp cmd;
  if (int error = extended_request(call, cmd)) return error;
  if (int error = modify(call, cmd.base, last_qp_attr_mask)) return error;
  ib_uverbs_ex_modify_qp_resp resp{};
  resp.response_length =
      static_cast<uint32_t>(std::min(sizeof resp, call.out_size(UVERBS_ATTR_CORE_OUT)));
  respond(call, resp);
  return 0;
}

struct WriteCommand {
  uint32_t command;  // with IB_USER_VERBS_CMD_FLAG_EXTENDED
  size_t min_in, min_out;
  int (*run)(Call&);
  bool driver_in = false;
};

constexpr uint32_t ex(uint32_t command) {
  return command | IB_USER_VERBS_CMD_FLAG_EXTENDED;
}

constexpr WriteCommand write_commands[] = {
    {IB_USER_VERBS_CMD_QUERY_DEVICE, sizeof(ib_uverbs_query_device),
     sizeof(ib_uverbs_query_device_resp), query_device},
    {IB_USER_VERBS_CMD_QUERY_PORT, sizeof(ib_uverbs_query_port), sizeof(ib_uverbs_query_port_resp),
     write_query_port},
    {IB_USER_VERBS_CMD_ALLOC_PD, sizeof(ib_uverbs_alloc_pd), sizeof(ib_uverbs_alloc_pd_resp),
     write_alloc_pd, true},
    {IB_USER_VERBS_CMD_DEALLOC_PD, sizeof(ib_uverbs_dealloc_pd), 0,
     write_destroy<ib_uverbs_dealloc_pd, &ib_uverbs_dealloc_pd::pd_handle, UVERBS_OBJECT_PD>},
    {IB_USER_VERBS_CMD_DESTROY_AH, sizeof(ib_uverbs_destroy_ah), 0,
     write_destroy<ib_uverbs_destroy_ah, &ib_uverbs_destroy_ah::ah_handle, UVERBS_OBJECT_AH>},
    {IB_USER_VERBS_CMD_REG_MR, sizeof(ib_uverbs_reg_mr), sizeof(ib_uverbs_reg_mr_resp),
     write_reg_mr},
    {IB_USER_VERBS_CMD_REREG_MR, sizeof(ib_uverbs_rereg_mr), sizeof(ib_uverbs_rereg_mr_resp),
     write_rereg_mr},
    {IB_USER_VERBS_CMD_DEREG_MR, sizeof(ib_uverbs_dereg_mr), 0,
     write_destroy<ib_uverbs_dereg_mr, &ib_uverbs_dereg_mr::mr_handle, UVERBS_OBJECT_MR>},
    {IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, sizeof(ib_uverbs_create_comp_channel),
     sizeof(ib_uverbs_create_comp_channel_resp), create_comp_channel},
    {IB_USER_VERBS_CMD_RESIZE_CQ, sizeof(ib_uverbs_resize_cq), sizeof(ib_uverbs_resize_cq_resp),
     write_resize_cq, true},
    {IB_USER_VERBS_CMD_QUERY_QP, sizeof(ib_uverbs_query_qp), sizeof(ib_uverbs_query_qp_resp),
     query_qp},
    {IB_USER_VERBS_CMD_MODIFY_QP, sizeof(ib_uverbs_modify_qp), 0, modify_qp},
    {ex(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), sizeof(ib_uverbs_ex_query_device),
     offsetof(ib_uverbs_ex_query_device_resp, odp_caps), ex_query_device},
    {ex(IB_USER_VERBS_EX_CMD_MODIFY_CQ), sizeof(ib_uverbs_ex_modify_cq), 0, ex_modify_cq},
    {ex(IB_USER_VERBS_EX_CMD_MODIFY_QP), sizeof(ib_uverbs_modify_qp),
     sizeof(ib_uverbs_ex_modify_qp_resp), ex_modify_qp},
};

}  // namespace

int invoke_write(Call& call) {
  auto command = call.in<uint64_t>(UVERBS_ATTR_WRITE_CMD);
  constexpr uint32_t known = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_COMMAND_MASK;
  if (command & ~uint64_t{known}) return EINVAL;
  auto it = std::ranges::find(write_commands, command, &WriteCommand::command);
  if (it == std::end(write_commands)) return EOPNOTSUPP;
  // Sizes first: that is how a library finds out that commands can be sent this way.
  if (call.bytes(UVERBS_ATTR_CORE_IN).size() < it->min_in ||
      call.out_size(UVERBS_ATTR_CORE_OUT) < it->min_out) {
    return ENOSPC;
  }
  if (!call.file.has_context) return EINVAL;
  if (!it->driver_in) {
    if (int error = call.no_driver_in()) return error;
  }
  return it->run(call);
}

}  // namespace sim::uverbs
