// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "endpoint.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "../common/text.hpp"

namespace ru_rma {

namespace {

using examples::complain;

constexpr std::uint32_t other_job_id = 46;  // on devices where job ids are free to choose
constexpr std::uint32_t table_entries = 4;
constexpr std::uint32_t max_send_wr = 500;

bool refused(const char* what, int error, const char* hint = "") {
  complain("%s: %s%s", what, std::strerror(error), hint);
  return false;
}

enum ibv_mtu mtu_of(const Options& options) {
  return static_cast<enum ibv_mtu>(std::bit_width(options.mtu) - 8);  // 256 is 1, 512 is 2
}

}  // namespace

void Endpoint::FreePages::operator()(unsigned char* pages) const {
  std::free(pages);
}

bool Endpoint::open() {
  examples::RuWishes wishes(options_);
  wishes.other_gid_index = 1;
  wishes.needs.push_back({IBV_DEVICE_KEY64, "no 64-bit keys: choose another device with --ib-dev"});
  if (options_.test == Test::rma_ex64)
    wishes.needs.push_back({IBV_DEVICE_IMM64, "no 64-bit immediate data: use --test rma_ex"});
  if (options_.user_rkey)
    wishes.needs.push_back(
        {IBV_DEVICE_USER_RKEY, "no remote keys that users choose: leave out --user-rkey"});
  const std::uint32_t entries = options_.addr_table ? table_entries : 0;
  if (!device_.open(wishes) || !device_.make_job(options_.job_id, other_job_id, entries))
    return false;
  const auto mtu = mtu_of(options_);
  if (mtu > device_.port().active_mtu) {
    complain("the port has an MTU of %u: use a smaller --mtu", 128U << device_.port().active_mtu);
    return false;
  }
  local_.gid = device_.gid();
  local_.job_id = device_.job_id();
  if (!register_buffer() || !make_cq() || !make_qp() || !try_states() || !attach()) return false;
  local_.qpn = qp_->qp_num;
  local_.rkey = mr_->rkey64;
  return true;
}

bool Endpoint::register_buffer() {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (std::size_t{options_.size} + page - 1) / page * page;
  buffer_.reset(static_cast<unsigned char*>(std::aligned_alloc(page, bytes)));
  if (!buffer_) {
    complain("no memory for %u bytes: use a smaller --size", options_.size);
    return false;
  }
  std::memset(buffer_.get(), options_.is_server() ? server_fill : client_fill, bytes);
  constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                         IBV_ACCESS_ZERO_BASED;
  mr_ = register_used_region(access);
  if (!mr_) {
    const char* hint = errno == ENOMEM || errno == EAGAIN
                           ? "; use a smaller --size or raise the limit (ulimit -l)"
                       : options_.user_rkey && (errno == EINVAL || errno == EEXIST)
                           ? "; is the key of --user-rkey taken, or too large for the device?"
                           : "";
    return refused("the memory could not be registered", errno, hint);
  }
  const std::uint32_t piece = options_.size / options_.sges;
  for (unsigned i = 0; i < options_.sges; i++) {
    const auto start = reinterpret_cast<std::uintptr_t>(buffer_.get()) + std::size_t{piece} * i;
    const std::uint32_t length = i + 1 == options_.sges ? options_.size - piece * i : piece;
    sges_[i] = {start, length, mr_->lkey};
    sges64_[i] = {start, length, mr_->lkey64};
  }
  return true;
}

ibv_mr* Endpoint::register_used_region(int access) {
  ibv_mr_init_attr attr{};
  attr.length = options_.size;
  attr.access = access;
  attr.comp_mask = IBV_REG_MR_MASK_ADDR;
  attr.addr = buffer_.get();
  if (options_.derive) {
    parent_ = ibv_reg_mr(device_.pd(), buffer_.get(), options_.size, access);
    if (!parent_) return nullptr;
    attr.comp_mask |= IBV_REG_MR_MASK_CUR_MR;
    attr.cur_mr = parent_;
  }
  if (options_.job_mr) {
    attr.comp_mask |= IBV_REG_MR_MASK_JKEY;
    attr.job_key = device_.key();
  }
  if (options_.user_rkey) {
    attr.comp_mask |= IBV_REG_MR_MASK_RKEY;
    attr.rkey = *options_.user_rkey;
  }
  if (attr.comp_mask == IBV_REG_MR_MASK_ADDR)
    return ibv_reg_mr(device_.pd(), buffer_.get(), options_.size, access);
  return ibv_reg_mr_ex(device_.pd(), &attr);
}

bool Endpoint::make_cq() {
  const std::uint32_t entries = options_.rx_depth + 1;
  if (options_.builders()) {
    ibv_cq_init_attr_ex attr{};
    attr.cqe = entries;
    attr.channel = device_.channel();
    attr.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_IMM |
                    IBV_WC_EX_WITH_JOB_ID | IBV_WC_EX_WITH_SRC_ID;
    if (options_.test == Test::rma_ex64) attr.wc_flags |= IBV_WC_EX_WITH_IMM64;
    cq_ex_ = ibv_create_cq_ex(device_.context(), &attr);
    if (cq_ex_) cq_ = ibv_cq_ex_to_cq(cq_ex_);
  } else {
    cq_ =
        ibv_create_cq(device_.context(), static_cast<int>(entries), nullptr, device_.channel(), 0);
  }
  if (cq_) return true;
  complain("no completion queue of %u entries: %s; a smaller --rx-depth may help", entries,
           std::strerror(errno));
  return false;
}

bool Endpoint::make_qp() {
  ibv_qp_semantics semantics{};
  ibv_qp_attr qp_attr{};
  qp_attr.path_mtu = mtu_of(options_);

  ibv_qp_init_attr_ex attr{};
  attr.qp_type = IBV_QPT_RU;
  attr.send_cq = attr.recv_cq = cq_;
  attr.cap.max_send_wr = max_send_wr;
  attr.cap.max_recv_wr = options_.rx_depth;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = options_.sges;
  attr.sq_sig_all = 1;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SRC_ID | IBV_QP_INIT_ATTR_QP_SEMANTICS |
                   IBV_QP_INIT_ATTR_QP_ATTR | IBV_QP_INIT_ATTR_JKEY;
  attr.pd = device_.pd();
  attr.src_id = local_.src_id();
  attr.qp_semantics = &semantics;
  attr.qp_attr = &qp_attr;
  attr.qp_attr_mask = IBV_QP_PATH_MTU;
  attr.job_key = device_.key();
  const auto qpn = options_.qpn(device_.slingshot());
  if (qpn) {
    attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
    attr.create_flags = IBV_QP_CREATE_SOURCE_QPN;
    attr.source_qpn = *qpn;
  }
  if (options_.builders()) {
    attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ;
    if (options_.test == Test::rma_ex64) {
      attr.send_ops_flags |= IBV_QP_EX_WITH_RDMA_WRITE64_WITH_IMM64;
      semantics.comp_mask = IBV_QP_SEMANTICS_MASK_IMM;
      semantics.imm_data_size = IBV_IMM_DATA_SIZE_64;
    } else {
      attr.send_ops_flags |= IBV_QP_EX_WITH_RDMA_WRITE64_WITH_IMM;
    }
  }
  qp_ = ibv_create_qp_ex(device_.context(), &attr);
  if (!qp_) {
    const char* hint = errno == EOPNOTSUPP ? "; try another --test"
                       : qpn               ? "; is that --pidonfep or --ri taken or out of range?"
                       : errno == ENOSPC   ? "; the device or its service has none left"
                       : errno == ENOMEM   ? "; a smaller --rx-depth may help"
                                           : "";
    return refused("no queue pair", errno, hint);
  }
  if (options_.builders()) builders_ = ibv_qp_to_qp_ex(qp_);
  return true;
}

/// A queue pair of this service is born ready; it can be stopped and made ready again.
bool Endpoint::try_states() {
  for (const auto state : {IBV_QPS_ERR, IBV_QPS_RESET, IBV_QPS_RTS}) {
    ibv_qp_attr attr{};
    attr.qp_state = state;
    if (int error = ibv_modify_qp(qp_, &attr, IBV_QP_STATE))
      return refused("the queue pair could not be stopped and started again", error);
  }
  return true;
}

/// Attaches the region, and tries that it can be taken away and attached again.
bool Endpoint::attach() {
  const auto attach_once = [this] {
    const int error = ibv_attach_mr(qp_, mr_);
    attached_ = error == 0;
    return attached_ || refused("the memory could not be attached to the queue pair", error,
                                error == EOPNOTSUPP && options_.absolute_server() && options_.job_mr
                                    ? "; --job-mr and --absolute exclude each other on this device"
                                    : "");
  };
  if (!attach_once()) return false;
  if (int error = ibv_detach_mr(qp_, mr_))
    return refused("the memory could not be detached from the queue pair", error);
  attached_ = false;
  return attach_once();
}

bool Endpoint::release() {
  bool all = true;
  const auto done = [&all](const char* what, int error) {
    all = examples::destroyed(what, error) && all;
  };
  if (attached_)
    done("the memory region stays attached",
         std::exchange(attached_, false) ? ibv_detach_mr(qp_, mr_) : 0);
  if (qp_) done("the queue pair stays", ibv_destroy_qp(std::exchange(qp_, nullptr)));
  if (cq_) done("the completion queue stays", ibv_destroy_cq(std::exchange(cq_, nullptr)));
  if (mr_) done("the memory region stays", ibv_dereg_mr(std::exchange(mr_, nullptr)));
  if (parent_) done("the parent region stays", ibv_dereg_mr(std::exchange(parent_, nullptr)));
  if (ah_) done("the address handle stays", ibv_destroy_ah(std::exchange(ah_, nullptr)));
  if (std::exchange(entered_, false))
    done("the peer stays in the address table", ibv_remove_addr(sending_job(), table_index, 0));
  if (peer_key_) done("a job key stays", ibv_destroy_jkey(std::exchange(peer_key_, nullptr)));
  if (peer_job_) done("a job stays", ibv_dealloc_job(std::exchange(peer_job_, nullptr)));
  return device_.close() && all;
}

}  // namespace ru_rma
