// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What a device does for verbs that its provider does not have: mostly, to say so.
#include <infiniband/driver.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <type_traits>

#include "cmd/cmd.hpp"
#include "comp_channel.hpp"
#include "error.hpp"
#include "memory.hpp"
#include "ops.hpp"
#include "private_context.hpp"

namespace verbs {
namespace {

// Fits every slot: functions that return a pointer give NULL with errno, the others the errno
// value.
struct Unsupported {
  template <class R, class... A>
  using Function = R (*)(A...);

  template <class R, class... A>
  constexpr operator Function<R, A...>() const noexcept {
    static_assert(!std::is_void_v<R>, "a function without a result cannot refuse");
    return [](A...) -> R {
      if constexpr (std::is_pointer_v<R>)
        return null_with_errno(EOPNOTSUPP);
      else
        return EOPNOTSUPP;
    };
  }
};
constexpr Unsupported unsupported;

// For hooks that a provider may do without.
struct Nothing {
  template <class... A>
  constexpr operator Unsupported::Function<void, A...>() const noexcept {
    return [](A...) {};
  }
};
constexpr Nothing nothing;

void* alloc_buf(ibv_pd* pd, size_t size, ibv_buf** made) {
  auto buffer = allocate<ibv_buf>();
  if (!buffer) return null_with_errno(ENOMEM);
  void* memory;
  if (int error = posix_memalign(&memory, static_cast<size_t>(sysconf(_SC_PAGESIZE)), size))
    return null_with_errno(error);
  ibv_buf_init(buffer.get(), pd, memory, size);
  *made = buffer.release();
  return memory;
}

void free_buf(ibv_buf* buffer) {
  free(buffer->addr);
  free(buffer);
}

int dm_export_dmabuf_fd(ibv_dm*) {
  return minus_one(EOPNOTSUPP);
}

int query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, uint32_t) {
  return 0;
}

int rereg_mr(verbs_mr*, int, ibv_pd*, void*, size_t, int) {
  errno = EOPNOTSUPP;
  return IBV_REREG_MR_ERR_INPUT;
}

// A provider that registers only addresses and dma-bufs still serves the general verb for them.
ibv_mr* reg_mr_ex(ibv_pd* pd, ibv_mr_init_attr* attr) {
  constexpr uint64_t known =
      IBV_REG_MR_MASK_IOVA | IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET;
  if (attr->comp_mask & ~known) return null_with_errno(EOPNOTSUPP);
  if (!mr_attr_is_sound(*attr)) return null_with_errno(EINVAL);
  const verbs_context_ops& ops = ops_of(pd->context);
  if (attr->comp_mask & IBV_REG_MR_MASK_FD)
    return ops.reg_dmabuf_mr(pd, attr->fd_offset, attr->length, attr->iova, attr->fd, attr->access);
  uint64_t iova = attr->comp_mask & IBV_REG_MR_MASK_IOVA ? attr->iova : address_of(attr->addr);
  return ops.reg_mr(pd, attr->addr, attr->length, iova, attr->access);
}

}  // namespace

const verbs_context_ops default_ops = {
    .advise_mr = unsupported,
    .alloc_buf = alloc_buf,
    .alloc_dm = unsupported,
    .alloc_dmah = unsupported,
    .alloc_job = unsupported,
    .alloc_mw = unsupported,
    .alloc_null_mr = unsupported,
    .alloc_parent_domain = unsupported,
    .alloc_pd = unsupported,
    .alloc_td = unsupported,
    .async_event = nothing,
    .attach_counters_point_flow = unsupported,
    .attach_mcast = unsupported,
    .attach_mr = unsupported,
    .bind_mw = unsupported,
    .close_xrcd = unsupported,
    .cq_event = nothing,
    .create_ah = unsupported,
    .create_ah_ex = unsupported,
    .create_comp_channel = create_comp_channel,
    .create_comp_cntr = unsupported,
    .create_counters = unsupported,
    .create_cq = unsupported,
    .create_cq_ex = unsupported,
    .create_flow = unsupported,
    .create_flow_action_esp = unsupported,
    .create_jkey = unsupported,
    .create_qp = unsupported,
    .create_qp_ex = unsupported,
    .create_rwq_ind_table = unsupported,
    .create_srq = unsupported,
    .create_srq_ex = unsupported,
    .create_wq = unsupported,
    .dealloc_dmah = unsupported,
    .dealloc_job = unsupported,
    .dealloc_mw = unsupported,
    .dealloc_pd = unsupported,
    .dealloc_td = unsupported,
    .dereg_mr = unsupported,
    .destroy_ah = unsupported,
    .destroy_comp_channel = destroy_comp_channel,
    .destroy_comp_cntr = unsupported,
    .destroy_counters = unsupported,
    .destroy_cq = unsupported,
    .destroy_flow = unsupported,
    .destroy_flow_action = unsupported,
    .destroy_jkey = unsupported,
    .destroy_qp = unsupported,
    .destroy_rwq_ind_table = unsupported,
    .destroy_srq = unsupported,
    .destroy_wq = unsupported,
    .detach_mcast = unsupported,
    .detach_mr = unsupported,
    .dm_export_dmabuf_fd = dm_export_dmabuf_fd,
    .export_job = unsupported,
    .free_buf = free_buf,
    .free_context = nothing,
    .free_dm = unsupported,
    .get_srq_num = unsupported,
    .import_dm = unsupported,
    .import_job = unsupported,
    .import_mr = unsupported,
    .import_pd = unsupported,
    .inc_comp_cntr = unsupported,
    .inc_err_comp_cntr = unsupported,
    .insert_addr = unsupported,
    .modify_cq = unsupported,
    .modify_flow_action_esp = unsupported,
    .modify_qp = unsupported,
    .modify_qp_rate_limit = unsupported,
    .modify_srq = unsupported,
    .modify_wq = unsupported,
    .open_qp = unsupported,
    .open_xrcd = unsupported,
    .poll_cq = unsupported,
    .post_recv = unsupported,
    .post_recv64 = unsupported,
    .post_send = unsupported,
    .post_srq_ops = unsupported,
    .post_srq_recv = unsupported,
    .qp_attach_comp_cntr = unsupported,
    .query_addr = unsupported,
    .query_comp_cntr_caps = unsupported,
    .query_device_ex = unsupported,
    .query_ece = unsupported,
    .query_job = unsupported,
    .query_port = unsupported,
    .query_port_speed = unsupported,
    .query_qp = unsupported,
    .query_qp_data_in_order = query_qp_data_in_order,
    .query_qp_semantics = unsupported,
    .query_rt_values = unsupported,
    .query_srq = unsupported,
    .read_comp_cntr = unsupported,
    .read_counters = unsupported,
    .read_counters_ex = unsupported,
    .read_err_comp_cntr = unsupported,
    .reg_dm_mr = unsupported,
    .reg_dmabuf_mr = unsupported,
    .reg_mr = unsupported,
    .reg_mr_ex = reg_mr_ex,
    .remove_addr = unsupported,
    .req_notify_cq = unsupported,
    .rereg_mr = rereg_mr,
    .resize_cq = unsupported,
    .set_comp_cntr = unsupported,
    .set_ece = unsupported,
    .set_err_comp_cntr = unsupported,
    .unimport_dm = nothing,
    .unimport_mr = nothing,
    .unimport_pd = nothing,
};

}  // namespace verbs
