// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Asynchronous events, and the waiting of destroy calls for their acknowledgement.
#include <unistd.h>

#include <cerrno>

#include "cmd/cmd.hpp"
#include "error.hpp"
#include "events.hpp"
#include "export.hpp"
#include "private_context.hpp"
#include "scoped.hpp"

namespace verbs {
namespace {

template <class T>
T* object_at(uint64_t element) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(element));
}

void set_element(ibv_async_event& event, uint64_t element) {
  switch (subject_of(event.event_type)) {
    case Subject::cq:
      event.element.cq = object_at<ibv_cq>(element);
      break;
    case Subject::qp:
      event.element.qp = object_at<ibv_qp>(element);
      break;
    case Subject::srq:
      event.element.srq = object_at<ibv_srq>(element);
      break;
    case Subject::wq:
      event.element.wq = object_at<ibv_wq>(element);
      break;
    case Subject::port_or_device:
      event.element.port_num = static_cast<int>(element);
      break;
  }
}

template <class T>
void acknowledge(T& object, uint32_t& counter) {
  Locked lock(object.mutex);
  counter++;
  pthread_cond_signal(&object.cond);
}

}  // namespace

Subject subject_of(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_CQ_ERR:
      return Subject::cq;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return Subject::qp;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return Subject::srq;
    case IBV_EVENT_WQ_FATAL:
      return Subject::wq;
    default:
      return Subject::port_or_device;
  }
}

}  // namespace verbs

// Reads one event of the device, waiting for it unless async_fd is non-blocking. -1 with errno.
VERBS_EXPORT int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  ib_uverbs_async_event_desc record;
  ssize_t length = read(context->async_fd, &record, sizeof(record));
  if (length < 0) return -1;
  if (length != sizeof(record)) return verbs::minus_one(EIO);
  event->event_type = static_cast<ibv_event_type>(record.event_type);
  verbs::set_element(*event, record.element);
  verbs::ops_of(context).async_event(context, event);
  return 0;
}

// Says that an event has been dealt with. The destruction of its object waits for that.
VERBS_EXPORT void ibv_ack_async_event(ibv_async_event* event) {
  switch (verbs::subject_of(event->event_type)) {
    case verbs::Subject::cq:
      verbs::acknowledge(*event->element.cq, event->element.cq->async_events_completed);
      break;
    case verbs::Subject::qp:
      verbs::acknowledge(*event->element.qp, event->element.qp->events_completed);
      break;
    case verbs::Subject::srq:
      verbs::acknowledge(*event->element.srq, event->element.srq->events_completed);
      break;
    case verbs::Subject::wq:
      verbs::acknowledge(*event->element.wq, event->element.wq->events_completed);
      break;
    case verbs::Subject::port_or_device:  // these are not destroyed
      break;
  }
}
