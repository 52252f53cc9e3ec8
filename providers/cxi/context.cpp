// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Opening a device, and what can be asked of it.
#include "context.hpp"

#include <algorithm>
#include <cstdio>

#include "environment.hpp"
#include "internal.hpp"
#include "rdma/cxiverbs-abi.h"

namespace cxi {
namespace {

struct GetContextCommand {
  ibv_get_context core;
  cxi_abi_get_context_req driver;
};
struct GetContextResponse {
  ib_uverbs_get_context_resp core;
  cxi_abi_get_context_resp driver;
};
static_assert(offsetof(GetContextCommand, driver) == sizeof(ibv_get_context));
static_assert(offsetof(GetContextResponse, driver) == sizeof(ib_uverbs_get_context_resp));

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* attr, std::size_t attr_size) noexcept {
  ib_uverbs_ex_query_device_resp response = {};
  std::size_t response_size = sizeof(response);
  if (const int err =
          ibv_cmd_query_device_any(context, input, attr, attr_size, &response, &response_size))
    return err;
  const std::uint64_t version = response.base.fw_ver;
  ibv_device_attr& base = attr->orig_attr;
  std::snprintf(
      base.fw_ver, sizeof(base.fw_ver), "%u.%u.%u", static_cast<unsigned>(version >> 32) & 0xffff,
      static_cast<unsigned>(version >> 16) & 0xffff, static_cast<unsigned>(version) & 0xffff);
  base.max_sge = std::min(base.max_sge, static_cast<int>(max_sges));
  return 0;
}

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attr) noexcept {
  struct ibv_query_port command = {};
  return ibv_cmd_query_port(context, port, attr, &command, sizeof(command));
}

int query_port_speed(ibv_context* context, std::uint32_t port, std::uint64_t* speed) noexcept {
  return ibv_cmd_query_port_speed(context, port, speed);
}

/// The NIC's clock is the wall clock.
int query_rt_values(ibv_context*, ibv_values_ex* values) noexcept {
  const std::uint32_t wanted = values->comp_mask;
  values->comp_mask = 0;
  if (wanted & ~std::uint32_t{IBV_VALUES_MASK_RAW_CLOCK}) return EINVAL;
  if (wanted & IBV_VALUES_MASK_RAW_CLOCK) {
    const std::uint64_t now = realtime_ns();
    values->raw_clock.tv_sec = static_cast<time_t>(now / 1'000'000'000);
    values->raw_clock.tv_nsec = static_cast<long>(now % 1'000'000'000);
    values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
  }
  return 0;
}

void free_context(ibv_context* ibv) noexcept {
  Context& context = context_of(ibv);
  forget_native(context);
  context.local_keys.destroy();
  pthread_mutex_destroy(&context.topology);
  pthread_mutex_destroy(&context.keys_mutex);
  verbs_uninit_context(&context.ibv);
  std::free(&context);
}

const verbs_context_ops context_ops = {
    .alloc_job = alloc_job,
    .alloc_parent_domain = alloc_parent_domain,
    .alloc_pd = alloc_pd,
    .alloc_td = alloc_td,
    .async_event = async_event,
    .attach_mr = attach_mr,
    .cq_event = cq_event,
    .create_ah_ex = create_ah_ex,
    .create_comp_channel = create_comp_channel,
    .create_comp_cntr = create_comp_cntr,
    .create_counters = create_counters,
    .create_cq = create_cq,
    .create_cq_ex = create_cq_ex,
    .create_jkey = create_jkey,
    .create_qp = create_qp,
    .create_qp_ex = create_qp_ex,
    .dealloc_job = dealloc_job,
    .dealloc_pd = dealloc_pd,
    .dealloc_td = dealloc_td,
    .dereg_mr = dereg_mr,
    .destroy_ah = destroy_ah,
    .destroy_comp_channel = destroy_comp_channel,
    .destroy_comp_cntr = destroy_comp_cntr,
    .destroy_counters = destroy_counters,
    .destroy_cq = destroy_cq,
    .destroy_jkey = destroy_jkey,
    .destroy_qp = destroy_qp,
    .detach_mr = detach_mr,
    .export_job = export_job,
    .free_context = free_context,
    .import_job = import_job,
    .inc_comp_cntr = inc_comp_cntr,
    .inc_err_comp_cntr = inc_err_comp_cntr,
    .insert_addr = insert_addr,
    .modify_cq = modify_cq,
    .modify_qp = modify_qp,
    .poll_cq = poll_cq,
    .post_recv = post_recv,
    .post_recv64 = post_recv64,
    .post_send = post_send,
    .qp_attach_comp_cntr = qp_attach_comp_cntr,
    .query_addr = query_addr,
    .query_comp_cntr_caps = query_comp_cntr_caps,
    .query_device_ex = query_device_ex,
    .query_job = query_job,
    .query_port = query_port,
    .query_port_speed = query_port_speed,
    .query_qp = query_qp,
    .query_qp_semantics = query_qp_semantics,
    .query_rt_values = query_rt_values,
    .read_comp_cntr = read_comp_cntr,
    .read_counters_ex = read_counters_ex,
    .read_err_comp_cntr = read_err_comp_cntr,
    .reg_dmabuf_mr = reg_dmabuf_mr,
    .reg_mr = reg_mr,
    .reg_mr_ex = reg_mr_ex,
    .remove_addr = remove_addr,
    .req_notify_cq = req_notify_cq,
    .rereg_mr = rereg_mr,
    .resize_cq = resize_cq,
    .set_comp_cntr = set_comp_cntr,
    .set_err_comp_cntr = set_err_comp_cntr,
};

/// Asks the kernel for a context on a service: the one asked for, or that the environment names.
int open(Context& context, const char* device, std::uint32_t svc_id) noexcept {
  GetContextCommand command = {};
  GetContextResponse response = {};
  command.driver.svc_id = svc_id;
  if (!svc_id) {
    if (const int err = service_from_environment(device, command.driver.svc_id)) return err;
  }
  if (const int err = ibv_cmd_get_context(&context.ibv, &command.core, sizeof(command), nullptr,
                                          &response.core, sizeof(response)))
    return err;
  const cxi_abi_get_context_resp& answer = response.driver;
  context.geometry.pid_bits = answer.pid_bits;
  context.nid = answer.nid;
  context.svc_id = answer.svc_id;
  context.max_inline = answer.max_inline;
  context.max_eq_reserve = answer.max_eq_reserve;
  return 0;
}

}  // namespace

verbs_context* alloc_context(ibv_device* device, int cmd_fd, void* private_data) noexcept {
  const auto* options = static_cast<const OpenOptions*>(private_data);
  auto* context = static_cast<Context*>(
      _verbs_init_and_alloc_context(device, cmd_fd, sizeof(Context), nullptr, RDMA_DRIVER_CXI));
  if (!context) return nullptr;  // errno is set
  pthread_mutex_init(&context->topology, nullptr);
  pthread_mutex_init(&context->keys_mutex, nullptr);
  init_native(*context);
  if (const int err = open(*context, device->name, options ? options->svc_id : 0)) {
    verbs_uninit_context(&context->ibv);
    std::free(context);
    return null_with_errno(err);
  }
  verbs_set_ops(&context->ibv, &context_ops);
  return &context->ibv;
}

}  // namespace cxi
