// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Verbs 1.0 by name, for programs that were linked before 2007. Each function unwraps its objects
// and calls the verb of today; the user contexts of today's objects lead back to the wrappers.
#include "verbs_1_0.hpp"

#include <cerrno>

#include "error.hpp"
#include "events.hpp"
#include "export.hpp"
#include "memory.hpp"
#include "private_context.hpp"

#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

using namespace verbs;
using namespace verbs::v1_0;

#define VERBS_1_0(type, name, ...)                     \
  extern "C" type name##_1_0 __VA_ARGS__;              \
  VERBS_OLD_VERSION(name##_1_0, #name "@IBVERBS_1.0"); \
  VERBS_EXPORT type name##_1_0 __VA_ARGS__

// Devices -----------------------------------------------------------------------------------------

// In front of the list that the program sees, there is the one of today.
VERBS_1_0(Device**, ibv_get_device_list, (int* count)) {
  int found;
  ibv_device** real = ibv_get_device_list(&found);
  if (!real) return nullptr;
  auto size = static_cast<size_t>(found);
  auto** slots = static_cast<void**>(calloc(size + 2, sizeof(void*)));
  auto* devices = static_cast<Device*>(calloc(size ? size : 1, sizeof(Device)));
  if (!slots || !devices) {
    free(slots);
    free(devices);
    ibv_free_device_list(real);
    return null_with_errno(ENOMEM);
  }
  slots[0] = real;
  auto** list = reinterpret_cast<Device**>(slots + 1);
  for (size_t i = 0; i < size; i++) {
    devices[i].real = real[i];
    list[i] = &devices[i];
  }
  if (size == 0) free(devices);  // nothing in the list leads to it
  if (count) *count = found;
  return list;
}

VERBS_1_0(void, ibv_free_device_list, (Device * *list)) {
  auto** slots = reinterpret_cast<void**>(list) - 1;
  ibv_free_device_list(static_cast<ibv_device**>(slots[0]));
  free(list[0]);  // all devices are one piece of memory
  free(slots);
}

VERBS_1_0(const char*, ibv_get_device_name, (Device * device)) {
  return ibv_get_device_name(device->real);
}

VERBS_1_0(__be64, ibv_get_device_guid, (Device * device)) {
  return ibv_get_device_guid(device->real);
}

VERBS_1_0(Context*, ibv_open_device, (Device * device)) {
  auto context = allocate<Context>();
  if (!context) return null_with_errno(ENOMEM);
  context->real = ibv_open_device(device->real);
  if (!context->real) return nullptr;
  context->device = device;
  context->cmd_fd = context->real->cmd_fd;
  context->async_fd = context->real->async_fd;
  context->num_comp_vectors = context->real->num_comp_vectors;
  context->ops.poll_cq = poll_cq;
  context->ops.req_notify_cq = req_notify_cq;
  context->ops.post_send = post_send;
  context->ops.post_recv = post_recv;
  context->ops.post_srq_recv = post_srq_recv;
  return context.release();
}

VERBS_1_0(int, ibv_close_device, (Context * context)) {
  int error = ibv_close_device(context->real);
  if (!error) free(context);
  return error;
}

VERBS_1_0(int, ibv_query_device, (Context * context, ibv_device_attr* attr)) {
  return ibv_query_device(context->real, attr);
}

VERBS_1_0(int, ibv_query_port, (Context * context, uint8_t port, _compat_ibv_port_attr* attr)) {
  return ibv_query_port(context->real, port, attr);
}

VERBS_1_0(int, ibv_query_gid, (Context * context, uint8_t port, int index, ibv_gid* gid)) {
  return ibv_query_gid(context->real, port, index, gid);
}

VERBS_1_0(int, ibv_query_pkey, (Context * context, uint8_t port, int index, __be16* pkey)) {
  return ibv_query_pkey(context->real, port, index, pkey);
}

// Events ------------------------------------------------------------------------------------------

VERBS_1_0(int, ibv_get_async_event, (Context * context, ibv_async_event* event)) {
  int error = ibv_get_async_event(context->real, event);
  if (error) return error;
  switch (subject_of(event->event_type)) {
    case Subject::cq:
      event->element.cq = static_cast<ibv_cq*>(event->element.cq->cq_context);
      break;
    case Subject::qp:
      event->element.qp = static_cast<ibv_qp*>(event->element.qp->qp_context);
      break;
    case Subject::srq:
      event->element.srq = static_cast<ibv_srq*>(event->element.srq->srq_context);
      break;
    case Subject::wq:  // younger than these programs
    case Subject::port_or_device:
      break;
  }
  return 0;
}

VERBS_1_0(void, ibv_ack_async_event, (ibv_async_event * event)) {
  ibv_async_event real = *event;
  switch (subject_of(event->event_type)) {
    case Subject::cq:
      real.element.cq = reinterpret_cast<Cq*>(event->element.cq)->real;
      break;
    case Subject::qp:
      real.element.qp = reinterpret_cast<Qp*>(event->element.qp)->real;
      break;
    case Subject::srq:
      real.element.srq = reinterpret_cast<Srq*>(event->element.srq)->real;
      break;
    case Subject::wq:  // younger than these programs
    case Subject::port_or_device:
      return;
  }
  ibv_ack_async_event(&real);
}

VERBS_1_0(int, ibv_get_cq_event, (ibv_comp_channel * channel, Cq** cq, void** cq_context)) {
  ibv_cq* real;
  void* wrapper;
  int error = ibv_get_cq_event(channel, &real, &wrapper);
  if (error) return error;
  *cq = static_cast<Cq*>(wrapper);
  *cq_context = (*cq)->cq_context;
  return 0;
}

VERBS_1_0(void, ibv_ack_cq_events, (Cq * cq, unsigned int count)) {
  ibv_ack_cq_events(cq->real, count);
}

// Protection domains, regions and address handles -------------------------------------------------

VERBS_1_0(Pd*, ibv_alloc_pd, (Context * context)) {
  auto pd = allocate<Pd>();
  if (!pd) return null_with_errno(ENOMEM);
  pd->real = ibv_alloc_pd(context->real);
  if (!pd->real) return nullptr;
  pd->context = context;
  pd->handle = pd->real->handle;
  return pd.release();
}

VERBS_1_0(int, ibv_dealloc_pd, (Pd * pd)) {
  int error = ibv_dealloc_pd(pd->real);
  if (!error) free(pd);
  return error;
}

VERBS_1_0(Mr*, ibv_reg_mr, (Pd * pd, void* addr, size_t length, int access)) {
  auto mr = allocate<Mr>();
  if (!mr) return null_with_errno(ENOMEM);
  mr->real = ibv_reg_mr(pd->real, addr, length, access);
  if (!mr->real) return nullptr;
  mr->context = pd->context;
  mr->pd = pd;
  mr->handle = mr->real->handle;
  mr->lkey = mr->real->lkey;
  mr->rkey = mr->real->rkey;
  return mr.release();
}

VERBS_1_0(int, ibv_dereg_mr, (Mr * mr)) {
  int error = ibv_dereg_mr(mr->real);
  if (!error) free(mr);
  return error;
}

VERBS_1_0(Ah*, ibv_create_ah, (Pd * pd, ibv_ah_attr* attr)) {
  auto ah = allocate<Ah>();
  if (!ah) return null_with_errno(ENOMEM);
  ah->real = ibv_create_ah(pd->real, attr);
  if (!ah->real) return nullptr;
  ah->context = pd->context;
  ah->pd = pd;
  ah->handle = ah->real->handle;
  return ah.release();
}

VERBS_1_0(int, ibv_destroy_ah, (Ah * ah)) {
  int error = ibv_destroy_ah(ah->real);
  if (!error) free(ah);
  return error;
}

// Queues ------------------------------------------------------------------------------------------

VERBS_1_0(Cq*, ibv_create_cq,
          (Context * context, int cqe, void* cq_context, ibv_comp_channel* channel,
           int comp_vector)) {
  auto cq = allocate<Cq>();
  if (!cq) return null_with_errno(ENOMEM);
  cq->context = context;
  cq->cq_context = cq_context;
  cq->real = ibv_create_cq(context->real, cqe, cq.get(), channel, comp_vector);
  if (!cq->real) return nullptr;
  cq->handle = cq->real->handle;
  cq->cqe = cq->real->cqe;
  return cq.release();
}

VERBS_1_0(int, ibv_resize_cq, (Cq * cq, int cqe)) {
  int error = ibv_resize_cq(cq->real, cqe);
  if (!error) cq->cqe = cq->real->cqe;
  return error;
}

VERBS_1_0(int, ibv_destroy_cq, (Cq * cq)) {
  int error = ibv_destroy_cq(cq->real);
  if (!error) free(cq);
  return error;
}

VERBS_1_0(Srq*, ibv_create_srq, (Pd * pd, ibv_srq_init_attr* attr)) {
  auto srq = allocate<Srq>();
  if (!srq) return null_with_errno(ENOMEM);
  ibv_srq_init_attr real = *attr;
  real.srq_context = srq.get();
  srq->real = ibv_create_srq(pd->real, &real);
  if (!srq->real) return nullptr;
  attr->attr = real.attr;
  srq->context = pd->context;
  srq->srq_context = attr->srq_context;
  srq->pd = pd;
  srq->handle = srq->real->handle;
  return srq.release();
}

VERBS_1_0(int, ibv_modify_srq, (Srq * srq, ibv_srq_attr* attr, int mask)) {
  return ibv_modify_srq(srq->real, attr, mask);
}

VERBS_1_0(int, ibv_query_srq, (Srq * srq, ibv_srq_attr* attr)) {
  return ibv_query_srq(srq->real, attr);
}

VERBS_1_0(int, ibv_destroy_srq, (Srq * srq)) {
  int error = ibv_destroy_srq(srq->real);
  if (!error) free(srq);
  return error;
}

VERBS_1_0(Qp*, ibv_create_qp, (Pd * pd, QpInitAttr* attr)) {
  auto qp = allocate<Qp>();
  if (!qp) return null_with_errno(ENOMEM);
  ibv_qp_init_attr real{};
  real.qp_context = qp.get();
  real.send_cq = attr->send_cq->real;
  real.recv_cq = attr->recv_cq->real;
  real.srq = attr->srq ? attr->srq->real : nullptr;
  real.cap = attr->cap;
  real.qp_type = attr->qp_type;
  real.sq_sig_all = attr->sq_sig_all;
  qp->real = ibv_create_qp(pd->real, &real);
  if (!qp->real) return nullptr;
  attr->cap = real.cap;
  qp->context = pd->context;
  qp->qp_context = attr->qp_context;
  qp->pd = pd;
  qp->send_cq = attr->send_cq;
  qp->recv_cq = attr->recv_cq;
  qp->srq = attr->srq;
  qp->qp_type = attr->qp_type;
  qp->qp_num = qp->real->qp_num;
  qp->handle = qp->real->handle;
  return qp.release();
}

// Attributes grew at their end since; only what was there then is given back.
VERBS_1_0(int, ibv_query_qp, (Qp * qp, ibv_qp_attr* attr, int mask, QpInitAttr* init_attr)) {
  ibv_qp_attr whole{};
  ibv_qp_init_attr real{};
  int error = ibv_query_qp(qp->real, &whole, mask, &real);
  if (error) return error;
  memcpy(attr, &whole, offsetof(ibv_qp_attr, rate_limit));
  qp->state = qp->real->state;
  init_attr->qp_context = qp->qp_context;
  init_attr->send_cq = qp->send_cq;
  init_attr->recv_cq = qp->recv_cq;
  init_attr->srq = qp->srq;
  init_attr->qp_type = qp->qp_type;
  init_attr->cap = real.cap;
  init_attr->sq_sig_all = real.sq_sig_all;
  return 0;
}

VERBS_1_0(int, ibv_modify_qp, (Qp * qp, ibv_qp_attr* attr, int mask)) {
  int error = ibv_modify_qp(qp->real, attr, mask);
  if (!error) qp->state = qp->real->state;
  return error;
}

VERBS_1_0(int, ibv_destroy_qp, (Qp * qp)) {
  int error = ibv_destroy_qp(qp->real);
  if (!error) free(qp);
  return error;
}

VERBS_1_0(int, ibv_attach_mcast, (Qp * qp, ibv_gid* gid, uint16_t lid)) {
  return ibv_attach_mcast(qp->real, gid, lid);
}

VERBS_1_0(int, ibv_detach_mcast, (Qp * qp, ibv_gid* gid, uint16_t lid)) {
  return ibv_detach_mcast(qp->real, gid, lid);
}

// Providers of that time registered with this. They load, and stay unused.
extern "C" void ibv_register_driver_1_1(const char* name, void* init);
VERBS_OLD_VERSION(ibv_register_driver_1_1, "ibv_register_driver@IBVERBS_1.1");
VERBS_EXPORT void ibv_register_driver_1_1(const char*, void*) {}
