// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "endpoint.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "../common/slingshot.hpp"
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
  const examples::DeviceList list;
  ibv_device* device =
      choose_device(list, options_.device.empty() ? nullptr : options_.device.c_str());
  if (!device) return false;
  device_name_ = ibv_get_device_name(device);
  slingshot_ = examples::is_slingshot(*device);
  context_ = examples::open_device(device);
  if (!context_ || !check_device() || !find_gid()) return false;
  if (options_.events) {
    channel_ = ibv_create_comp_channel(context_);
    if (!channel_) return refused("no completion channel", errno);
  }
  if (!make_job() || !register_buffer() || !make_cq() || !make_qp()) return false;
  lay_out_entries();
  if (!learn_inline_limit()) return false;
  local_.lid = port_.lid;
  local_.qpn = qp_->qp_num;
  local_.psn = random_psn();
  return refill();
}

bool Endpoint::check_device() {
  const char* name = device_name_.c_str();
  if (int error = ibv_query_device_ex(context_, nullptr, &device_))
    return refused("the device could not be queried", error);
  const std::uint64_t caps = device_.device_cap_flags_ex;
  if (!(caps & IBV_DEVICE_RU)) {
    complain("%s has no reliable-unconnected service: choose another device with --ib-dev", name);
    return false;
  }
  if (!(caps & IBV_DEVICE_KEY64) && !options_.lkey32) {
    complain("%s has no 64-bit keys: use --lkey32", name);
    return false;
  }
  if (!(caps & IBV_DEVICE_IMM64) && options_.imm == 64) {
    complain("%s has no 64-bit immediate data: use --imm 32", name);
    return false;
  }
  if (options_.sges > static_cast<unsigned>(device_.orig_attr.max_sge)) {
    complain("%s takes %d scatter-gather entries: use a smaller --sge", name,
             device_.orig_attr.max_sge);
    return false;
  }
  const unsigned ports = device_.orig_attr.phys_port_cnt;
  if (options_.ib_port > ports) {
    complain("%s has no port %u: use --ib-port 1%s", name, options_.ib_port,
             ports > 1 ? " or another one that ibv_devinfo lists" : "");
    return false;
  }
  const int max_wr = device_.orig_attr.max_qp_wr;
  if (options_.rx_depth > static_cast<unsigned>(max_wr)) {
    complain("%s takes %d receives: use a smaller --rx-depth", name, max_wr);
    return false;
  }
  return true;
}

bool Endpoint::find_gid() {
  const char* name = device_name_.c_str();
  const std::uint8_t port = static_cast<std::uint8_t>(options_.ib_port);
  if (int error = ibv_query_port(context_, port, &port_))
    return refused("the port could not be queried", error);
  if (options_.size > port_.max_msg_sz) {
    complain("%s sends messages of up to %u bytes: use a smaller --size", name, port_.max_msg_sz);
    return false;
  }
  if (!options_.gid_index && !slingshot_) {
    complain("invalid gid index: choose one with --gid-idx (ibv_devinfo -v lists them)");
    return false;
  }
  gid_index_ = options_.gid_index.value_or(0);
  if (gid_index_ >= static_cast<unsigned>(port_.gid_tbl_len)) {
    complain("invalid gid index %u: port %u of %s has indices 0 to %d", gid_index_, port, name,
             port_.gid_tbl_len - 1);
    return false;
  }
  ibv_gid_entry entry{};
  const int error = ibv_query_gid_ex(context_, port, gid_index_, &entry, 0);
  if (error == ENODATA) {
    complain("invalid gid index %u: it is empty; ibv_devinfo -v lists those in use", gid_index_);
    return false;
  }
  if (error) return refused("the GID could not be queried", error);
  local_.gid = entry.gid;
  ifindex_ = entry.ndev_ifindex;
  return true;
}

bool Endpoint::make_job() {
  ibv_job_attr attr{};
  attr.comp_mask = IBV_JOB_ATTR_ID | IBV_JOB_ATTR_PORT_NUM | IBV_JOB_ATTR_SGID_INDEX;
  attr.id = other_job_id;
  attr.port_num = static_cast<std::uint8_t>(options_.ib_port);
  attr.sgid_index = static_cast<std::uint8_t>(gid_index_);
  if (slingshot_) {
    vni_ = examples::first_vni(std::getenv("SLINGSHOT_VNIS"));
    attr.id = vni_;
    if (vni_ == 0) {
      complain("SLINGSHOT_VNIS is %s: it must start with a VNI, 1 to 65535",
               std::getenv("SLINGSHOT_VNIS"));
      return false;
    }
  }
  // The first object of a context takes what the caller was granted, so the protection domain may
  // meet the same refusals as the job.
  pd_ = ibv_alloc_pd(context_);
  if (pd_) job_ = ibv_alloc_job(context_, &attr, nullptr);
  if (!job_) {
    complain("%s", examples::why_no_grant(device_name_.c_str(), vni_, errno).c_str());
    return false;
  }
  key_ = ibv_create_jkey(pd_, job_, 0);
  if (!key_) return refused("no job key", errno);
  return true;
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
  mr_ = ibv_reg_mr(pd_, buffer_.get(), options_.size, IBV_ACCESS_LOCAL_WRITE);
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
  attr.channel = channel_;
  if (options_.imm) attr.wc_flags |= IBV_WC_EX_WITH_IMM;
  if (options_.imm == 64) attr.wc_flags |= IBV_WC_EX_WITH_IMM64;
  cq_ = ibv_create_cq_ex(context_, &attr);
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
  qp_attr.port_num = static_cast<std::uint8_t>(options_.ib_port);

  ibv_qp_init_attr_ex attr{};
  attr.qp_type = IBV_QPT_RU;
  attr.send_cq = attr.recv_cq = ibv_cq_ex_to_cq(cq_);
  attr.cap.max_send_wr = 1;
  attr.cap.max_recv_wr = options_.rx_depth;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = options_.sges;
  attr.sq_sig_all = 1;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_QP_SEMANTICS | IBV_QP_INIT_ATTR_SRC_ID |
                   IBV_QP_INIT_ATTR_JKEY | IBV_QP_INIT_ATTR_QP_ATTR;
  attr.pd = pd_;
  attr.qp_semantics = &semantics;
  std::memcpy(&attr.src_id, local_.gid.raw + 12, sizeof(attr.src_id));
  attr.job_key = key_;
  attr.qp_attr = &qp_attr;
  attr.qp_attr_mask = IBV_QP_PORT;
  const auto qpn = options_.qpn(slingshot_);
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
  qp_ = ibv_create_qp_ex(context_, &attr);
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
  ibv_ah_attr_ex attr{};
  attr.ah_attr.is_global = 1;
  attr.ah_attr.grh.hop_limit = 1;
  attr.ah_attr.grh.dgid = peer.gid;
  attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gid_index_);
  attr.ah_attr.port_num = static_cast<std::uint8_t>(options_.ib_port);
  attr.remote_qpn = peer.qpn;
  ah_ = ibv_create_ah_ex(pd_, &attr);
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
    if (error) all = refused(what, error);
  };
  if (events_) ibv_ack_cq_events(ibv_cq_ex_to_cq(cq_), std::exchange(events_, 0));
  if (qp_) done("the queue pair stays", ibv_destroy_qp(std::exchange(qp_, nullptr)));
  if (cq_)
    done("the completion queue stays",
         ibv_destroy_cq(ibv_cq_ex_to_cq(std::exchange(cq_, nullptr))));
  if (mr_) done("the memory region stays", ibv_dereg_mr(std::exchange(mr_, nullptr)));
  if (ah_) done("the address handle stays", ibv_destroy_ah(std::exchange(ah_, nullptr)));
  if (key_) done("the job key stays", ibv_destroy_jkey(std::exchange(key_, nullptr)));
  if (job_) done("the job stays", ibv_dealloc_job(std::exchange(job_, nullptr)));
  if (pd_) done("the protection domain stays", ibv_dealloc_pd(std::exchange(pd_, nullptr)));
  if (channel_)
    done("the completion channel stays",
         ibv_destroy_comp_channel(std::exchange(channel_, nullptr)));
  if (context_) done("the device stays open", ibv_close_device(std::exchange(context_, nullptr)));
  return all;
}

}  // namespace ru_pingpong
