// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Verbs 1.0: how programs of that time see objects. Each stands for an object of today.
#pragma once

#include <infiniband/driver.h>
#include <pthread.h>

#include <cstddef>

namespace verbs::v1_0 {

struct Device {
  void* obsolete_sysfs_device;
  void* obsolete_sysfs_ibdev;
  ibv_device* real;
  _ibv_device_ops ops;
};
static_assert(sizeof(Device) == 40 || sizeof(void*) != 8);

struct Context;

struct Pd {
  Context* context;
  uint32_t handle;
  ibv_pd* real;
};

struct Mr {
  Context* context;
  Pd* pd;
  uint32_t handle;
  uint32_t lkey;
  uint32_t rkey;
  ibv_mr* real;
};

struct Ah {
  Context* context;
  Pd* pd;
  uint32_t handle;
  ibv_ah* real;
};

struct Cq {
  Context* context;
  void* cq_context;
  uint32_t handle;
  int cqe;
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  uint32_t comp_events_completed;
  uint32_t async_events_completed;
  ibv_cq* real;
};
static_assert(offsetof(Cq, real) == 120 || sizeof(void*) != 8);

struct Srq {
  Context* context;
  void* srq_context;
  Pd* pd;
  uint32_t handle;
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  uint32_t events_completed;
  ibv_srq* real;
};
static_assert(offsetof(Srq, real) == 128 || sizeof(void*) != 8);

struct Qp {
  Context* context;
  void* qp_context;
  Pd* pd;
  Cq* send_cq;
  Cq* recv_cq;
  Srq* srq;
  uint32_t handle;
  uint32_t qp_num;
  ibv_qp_state state;
  ibv_qp_type qp_type;
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  uint32_t events_completed;
  ibv_qp* real;
};
static_assert(offsetof(Qp, real) == 160 || sizeof(void*) != 8);

struct QpInitAttr {
  void* qp_context;
  Cq* send_cq;
  Cq* recv_cq;
  Srq* srq;
  ibv_qp_cap cap;
  ibv_qp_type qp_type;
  int sq_sig_all;
};

struct SendWr {
  SendWr* next;
  uint64_t wr_id;
  ibv_sge* sg_list;
  int num_sge;
  ibv_wr_opcode opcode;
  int send_flags;
  __be32 imm_data;
  union {
    struct {
      uint64_t remote_addr;
      uint32_t rkey;
    } rdma;
    struct {
      uint64_t remote_addr;
      uint64_t compare_add;
      uint64_t swap;
      uint32_t rkey;
    } atomic;
    struct {
      Ah* ah;
      uint32_t remote_qpn;
      uint32_t remote_qkey;
    } ud;
  } wr;
};
static_assert(sizeof(SendWr) == 72 || sizeof(void*) != 8);

struct RecvWr {
  RecvWr* next;
  uint64_t wr_id;
  ibv_sge* sg_list;
  int num_sge;
};
static_assert(sizeof(RecvWr) == 32 || sizeof(void*) != 8);

// Programs call the data path through this table, inline. Everything else they call by name, so the
// other members stay empty.
struct ContextOps {
  using Unused = void (*)();
  Unused before_poll[7];
  int (*poll_cq)(Cq* cq, int count, ibv_wc* wc);
  int (*req_notify_cq)(Cq* cq, int solicited_only);
  Unused before_post_srq[7];
  int (*post_srq_recv)(Srq* srq, RecvWr* wr, RecvWr** bad_wr);
  Unused before_post[4];
  int (*post_send)(Qp* qp, SendWr* wr, SendWr** bad_wr);
  int (*post_recv)(Qp* qp, RecvWr* wr, RecvWr** bad_wr);
  Unused after_post[4];
};
static_assert(offsetof(ContextOps, poll_cq) == 7 * sizeof(void*));
static_assert(offsetof(ContextOps, post_srq_recv) == 16 * sizeof(void*));
static_assert(offsetof(ContextOps, post_send) == 21 * sizeof(void*));
static_assert(sizeof(ContextOps) == 27 * sizeof(void*));

struct Context {
  Device* device;
  ContextOps ops;
  int cmd_fd;
  int async_fd;
  int num_comp_vectors;
  ibv_context* real;
};
static_assert(offsetof(Context, real) == 240 || sizeof(void*) != 8);

// The data path, for that table.
int poll_cq(Cq* cq, int count, ibv_wc* wc) noexcept;
int req_notify_cq(Cq* cq, int solicited_only) noexcept;
int post_send(Qp* qp, SendWr* wr, SendWr** bad_wr) noexcept;
int post_recv(Qp* qp, RecvWr* wr, RecvWr** bad_wr) noexcept;
int post_srq_recv(Srq* srq, RecvWr* wr, RecvWr** bad_wr) noexcept;

}  // namespace verbs::v1_0
