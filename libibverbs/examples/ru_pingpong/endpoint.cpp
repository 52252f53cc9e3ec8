// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "endpoint.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "../common/text.hpp"

namespace ru_pingpong {

namespace {

using examples::complain;

constexpr std::uint32_t other_job_id = 42;  // on devices where job ids are free to choose

bool refused(const char* what, int error) {
  complain("%s: %s", what, std::strerror(error));
  return false;
}

std::uint32_t random_psn() {
  std::random_device source;
  return source() & 0xffffff;
}

}  // namespace

void Endpoint::FreePages::operator()(char* pages) const {
  std::free(pages);
}

bool Endpoint::open() {
  examples::RuWishes wishes(options_);
  if (!options_.lkey32) wishes.needs.push_back({IBV_DEVICE_KEY64, "no 64-bit keys: use --lkey32"});
  if (options_.imm == 64)
    wishes.needs.push_back({IBV_DEVICE_IMM64, "no 64-bit immediate data: use --imm 32"});
  if (!device_.open(wishes) || !device_.make_job(std::nullopt, other_job_id)) return false;
  if (!register_buffer() || !make_cq() || !make_qp()) return false;
  lay_out_entries();
  if (!learn_inline_limit()) return false;
  local_.lid = device_.port().lid;
  local_.qpn = qp_->qp_num;
  local_.psn = random_psn();
  return refill();
}

bool Endpoint::register_buffer() {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (std::size_t{options_.size} + page - 1) / page * page;
  buffer_.reset(static_cast<char*>(std::aligned_alloc(page, bytes)));
  if (!buffer_) {
    complain("no memory for a message of %u bytes: use a smaller --size", options_.size);
    return false;
  }
  std::memset(buffer_.get(), options_.is_server() ? 0x7c : 0x7b, bytes);
  if (!options_.is_server())
    for (std::size_t at = 0; at < options_.size; at += page)
      buffer_.get()[at] = 0;
  mr_ = ibv_reg_mr(device_.pd(), buffer_.get(), options_.size, IBV_ACCESS_LOCAL_WRITE);
  if (!mr_) {
    const bool limit = errno == ENOMEM || errno == EAGAIN;
    complain("the memory could not be registered: %s%s", std::strerror(errno),
             limit ? "; use a smaller --size or raise the limit (ulimit -l)" : "");
    return false;
  }
  return true;
}

bool Endpoint::make_cq() {
  ibv_cq_init_attr_ex attr{};
  attr.cqe = options_.rx_depth + 1;
  attr.channel = device_.channel();
  if (options_.imm) attr.wc_flags |= IBV_WC_EX_WITH_IMM;
  if (options_.imm == 64) attr.wc_flags |= IBV_WC_EX_WITH_IMM64;
  cq_ = ibv_create_cq_ex(device_.context(), &attr);
  if (!cq_) {
    complain("no completion queue of %u entries: %s; a smaller --rx-depth may help", attr.cqe,
             std::strerror(errno));
    return false;
  }
  return true;
}

bool Endpoint::make_qp() {
  ibv_qp_semantics semantics{};
  if (options_.imm == 64) {
    semantics.comp_mask = IBV_QP_SEMANTICS_MASK_IMM;
    semantics.imm_data_size = IBV_IMM_DATA_SIZE_64;
  }
  ibv_qp_attr qp_attr{};
  qp_attr.port_num = device_.port_number();

  ibv_qp_init_attr_ex attr{};
  attr.qp_type = IBV_QPT_RU;
  attr.send_cq = attr.recv_cq = ibv_cq_ex_to_cq(cq_);
  attr.cap.max_send_wr = 1;
  attr.cap.max_recv_wr = options_.rx_depth;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = options_.sges;
  attr.sq_sig_all = 1;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_QP_SEMANTICS | IBV_QP_INIT_ATTR_SRC_ID |
                   IBV_QP_INIT_ATTR_JKEY | IBV_QP_INIT_ATTR_QP_ATTR;
  attr.pd = device_.pd();
  attr.qp_semantics = &semantics;
  local_.gid = device_.gid();
  std::memcpy(&attr.src_id, local_.gid.raw + 12, sizeof(attr.src_id));
  attr.job_key = device_.key();
  attr.qp_attr = &qp_attr;
  attr.qp_attr_mask = IBV_QP_PORT;
  const auto qpn = options_.qpn(device_.slingshot());
  if (qpn) {
    attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
    attr.create_flags = IBV_QP_CREATE_SOURCE_QPN;
    attr.source_qpn = *qpn;
  }
  if (options_.builders) {
    attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    attr.send_ops_flags = options_.imm == 64   ? IBV_QP_EX_WITH_SEND_WITH_IMM64
                          : options_.imm == 32 ? IBV_QP_EX_WITH_SEND_WITH_IMM
                                               : IBV_QP_EX_WITH_SEND;
  }
  qp_ = ibv_create_qp_ex(device_.context(), &attr);
  if (!qp_) {
    const char* hint = qpn               ? "; is that --pidonfep or --ri taken or out of range?"
                       : errno == ENOSPC ? "; the device or its service has none left"
                       : errno == ENOMEM ? "; a smaller --rx-depth may help"
                                         : "";
    complain("no queue pair: %s%s", std::strerror(errno), hint);
    return false;
  }
  if (options_.builders) builders_ = ibv_qp_to_qp_ex(qp_);
  return true;
}

bool Endpoint::learn_inline_limit() {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  if (int error = ibv_query_qp(qp_, &attr, IBV_QP_CAP, &init))
    return refused("the queue pair could not be queried", error);
  inline_ = init.cap.max_inline_data >= options_.size;
  return true;
}

bool Endpoint::connect(const Address& peer) {
  peer_ = peer;
  ibv_ah_attr_ex way = device_.way_to(peer.gid, peer.qpn);
  ah_ = ibv_create_ah_ex(device_.pd(), &way);
  if (!ah_) {
    complain("no way to the peer's GID: %s; use GIDs of one kind on both sides (--gid-idx)",
             std::strerror(errno));
    return false;
  }
  return true;
}

bool Endpoint::close() {
  return release();
}

bool Endpoint::release() {
  bool all = true;
  const auto done = [&all](const char* what, int error) {
    all = examples::destroyed(what, error) && all;
  };
  if (qp_) done("the queue pair stays", ibv_destroy_qp(std::exchange(qp_, nullptr)));
  if (cq_)
    done("the completion queue stays",
         ibv_destroy_cq(ibv_cq_ex_to_cq(std::exchange(cq_, nullptr))));
  if (mr_) done("the memory region stays", ibv_dereg_mr(std::exchange(mr_, nullptr)));
  if (ah_) done("the address handle stays", ibv_destroy_ah(std::exchange(ah_, nullptr)));
  return device_.close() && all;
}

}  // namespace ru_pingpong
