// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A process with a device, and queue pairs on it, for tests that run in front of the software NIC.
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace on_model {

template <class T, int (*destroy)(T*)>
struct Destroy {
  void operator()(T* object) const { EXPECT_EQ(destroy(object), 0); }
};
template <class T, int (*destroy)(T*)>
using Owned = std::unique_ptr<T, Destroy<T, destroy>>;

using Context = Owned<ibv_context, ibv_close_device>;
using Pd = Owned<ibv_pd, ibv_dealloc_pd>;
using Job = Owned<ibv_job, ibv_dealloc_job>;
using Key = Owned<ibv_job_key, ibv_destroy_jkey>;
using Channel = Owned<ibv_comp_channel, ibv_destroy_comp_channel>;
using CqPtr = Owned<ibv_cq, ibv_destroy_cq>;
using QpPtr = Owned<ibv_qp, ibv_destroy_qp>;
using Mr = Owned<ibv_mr, ibv_dereg_mr>;
using Ah = Owned<ibv_ah, ibv_destroy_ah>;

template <class Pointer>
Pointer made(Pointer pointer, const char* what) {
  if (!pointer) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
  return pointer;
}

inline Context open_device(const std::string& name) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  ibv_context* context = nullptr;
  for (int i = 0; i < count; i++)
    if (name == ibv_get_device_name(list[i])) context = ibv_open_device(list[i]);
  ibv_free_device_list(list);
  return Context(made(context, "open device"));
}

struct QpOptions {
  std::uint32_t send_wr = 16;
  std::uint32_t recv_wr = 16;
  std::uint32_t sges = 4;
  std::uint32_t src_id = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t retry_cnt = 7;
  bool signal_all = false;
  bool absolute = false;
  std::uint32_t source_qpn = 0;  // with explicit_qpn
  bool explicit_qpn = false;
  std::uint64_t operations = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM64;
};

inline ibv_qp* try_create_qp(ibv_pd* pd, ibv_cq* send_cq, ibv_cq* recv_cq, ibv_job_key* key,
                             const QpOptions& options) {
  ibv_qp_attr modify = {};
  modify.rnr_retry = options.rnr_retry;
  modify.retry_cnt = options.retry_cnt;
  ibv_qp_init_attr_ex attr = {};
  attr.send_cq = send_cq;
  attr.recv_cq = recv_cq;
  attr.cap = {options.send_wr, options.recv_wr, options.sges, options.sges, 64};
  attr.qp_type = IBV_QPT_RU;
  attr.sq_sig_all = options.signal_all;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SRC_ID | IBV_QP_INIT_ATTR_QP_ATTR |
                   IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attr.pd = pd;
  attr.src_id = options.src_id;
  attr.qp_attr = &modify;
  attr.qp_attr_mask = IBV_QP_RNR_RETRY | IBV_QP_RETRY_CNT;
  attr.send_ops_flags = options.operations;
  if (key) {
    attr.comp_mask |= IBV_QP_INIT_ATTR_JKEY;
    attr.job_key = key;
  }
  if (options.explicit_qpn) {
    attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
    attr.create_flags = IBV_QP_CREATE_SOURCE_QPN;
    attr.source_qpn = options.source_qpn;
  }
  return ibv_create_qp_ex(pd->context, &attr);
}

class OnModel : public testing::Test {
 protected:
  OnModel()
      : context(open_device("cxi0")),
        pd(made(ibv_alloc_pd(context.get()), "alloc pd")),
        job(alloc_job(1)),
        key(made(ibv_create_jkey(pd.get(), job.get(), 0), "create jkey")),
        channel(made(ibv_create_comp_channel(context.get()), "channel")),
        cq(made(ibv_create_cq(context.get(), 256, nullptr, channel.get(), 0), "cq")),
        buffer(1 << 20),
        mr(made(ibv_reg_mr(pd.get(), buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE), "mr")) {
  }

  Job alloc_job(std::uint32_t id, std::uint32_t entries = 0) {
    ibv_job_attr attr = {};
    attr.comp_mask = IBV_JOB_ATTR_ID | IBV_JOB_ATTR_PORT_NUM | IBV_JOB_ATTR_SGID_INDEX;
    attr.id = id;
    attr.port_num = 1;
    if (entries) {
      attr.comp_mask |= IBV_JOB_ATTR_MAX_ADDR_ENTRIES;
      attr.max_addr_entries = entries;
    }
    return Job(made(ibv_alloc_job(context.get(), &attr, nullptr), "alloc job"));
  }
  QpPtr create_qp(const QpOptions& options = {}, ibv_cq* send_cq = nullptr,
                  ibv_cq* recv_cq = nullptr) {
    return QpPtr(made(try_create_qp(pd.get(), send_cq ? send_cq : cq.get(),
                                    recv_cq ? recv_cq : cq.get(), key.get(), options),
                      "create qp"));
  }
  CqPtr create_cq(int cqe = 64, ibv_comp_channel* of = nullptr) {
    return CqPtr(made(ibv_create_cq(context.get(), cqe, nullptr, of, 0), "create cq"));
  }
  ibv_ah_attr_ex address(std::uint32_t qpn) {
    ibv_ah_attr_ex attr = {};
    ibv_query_gid(context.get(), 1, 0, &attr.ah_attr.grh.dgid);
    attr.ah_attr.is_global = 1;
    attr.ah_attr.grh.hop_limit = 1;
    attr.ah_attr.port_num = 1;
    attr.remote_qpn = qpn;
    return attr;
  }
  Ah address_of(const QpPtr& qp) { return address_of(qp->qp_num); }
  Ah address_of(std::uint32_t qpn) {
    ibv_ah_attr_ex attr = address(qpn);
    return Ah(made(ibv_create_ah_ex(pd.get(), &attr), "create ah"));
  }

  int send(const QpPtr& from, const Ah& to, std::uint64_t id, std::size_t offset,
           std::uint32_t length, unsigned flags = IBV_SEND_SIGNALED, std::uint32_t jkey = 0) {
    ibv_sge sge = {reinterpret_cast<std::uintptr_t>(buffer.data()) + offset, length, mr->lkey};
    return send_list(from, to.get(), id, &sge, 1, flags, jkey);
  }
  int send_list(const QpPtr& from, ibv_ah* to, std::uint64_t id, ibv_sge* sges, int count,
                unsigned flags = IBV_SEND_SIGNALED, std::uint32_t jkey = 0, unsigned index = 0) {
    ibv_send_wr wr = {};
    wr.wr_id = id;
    wr.sg_list = sges;
    wr.num_sge = count;
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = flags;
    wr.wr.ru.ah = to ? ibv_ah_to_ah_ex(to) : nullptr;
    wr.wr.ru.addr_idx = index;
    wr.wr.ru.jkey = jkey;
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(from.get(), &wr, &bad);
  }
  int receive(const QpPtr& at, std::uint64_t id, std::size_t offset, std::uint32_t length) {
    ibv_sge sge = {reinterpret_cast<std::uintptr_t>(buffer.data()) + offset, length, mr->lkey};
    return receive_list(at, id, &sge, 1);
  }
  int receive_list(const QpPtr& at, std::uint64_t id, ibv_sge* sges, int count) {
    ibv_recv_wr wr = {};
    wr.wr_id = id;
    wr.sg_list = sges;
    wr.num_sge = count;
    ibv_recv_wr* bad = nullptr;
    return ibv_post_recv(at.get(), &wr, &bad);
  }

  /// Waits until the NIC has the receives that were posted there: it executes the commands of a
  /// queue in order, and attaching waits for its own. What is sent earlier may be refused; it is
  /// repeated while somebody polls the sender's queue, behind what was sent later.
  void wait_until_posted(const QpPtr& at) {
    ASSERT_EQ(ibv_attach_mr(at.get(), mr.get()), 0);
    ASSERT_EQ(ibv_detach_mr(at.get(), mr.get()), 0);
  }

  /// So many completions, in the order in which they come.
  std::vector<ibv_wc> wait(unsigned count) { return wait(cq.get(), count); }
  static std::vector<ibv_wc> wait(ibv_cq* from, unsigned count) {
    std::vector<ibv_wc> found;
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (found.size() < count) {
      ibv_wc wc[8];
      const int n =
          ibv_poll_cq(from, static_cast<int>(std::min<std::size_t>(8, count - found.size())), wc);
      if (n < 0) throw std::runtime_error("poll");
      found.insert(found.end(), wc, wc + n);
      if (n == 0) std::this_thread::yield();
      if (std::chrono::steady_clock::now() > give_up) throw std::runtime_error("no completion");
    }
    return found;
  }
  static int set_state(const QpPtr& qp, ibv_qp_state state) {
    ibv_qp_attr attr = {};
    attr.qp_state = state;
    return ibv_modify_qp(qp.get(), &attr, IBV_QP_STATE);
  }

  Context context;
  Pd pd;
  Job job;
  Key key;
  Channel channel;
  CqPtr cq;
  std::vector<std::uint8_t> buffer;
  Mr mr;
};

}  // namespace on_model
