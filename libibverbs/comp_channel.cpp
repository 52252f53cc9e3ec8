// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "comp_channel.hpp"

#include <unistd.h>

#include <cerrno>

#include "cmd/cmd.hpp"
#include "error.hpp"
#include "export.hpp"
#include "memory.hpp"
#include "private_context.hpp"
#include "scoped.hpp"

namespace verbs {

ibv_comp_channel* create_comp_channel(ibv_context* context) noexcept {
  auto channel = allocate<ibv_comp_channel>();
  if (!channel) return null_with_errno(ENOMEM);
  if (int error = ibv_cmd_create_comp_channel(context, channel.get()))
    return null_with_errno(error);
  return channel.release();
}

int destroy_comp_channel(ibv_comp_channel* channel) noexcept {
  close(channel->fd);
  free(channel);
  return 0;
}

}  // namespace verbs

VERBS_EXPORT ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  ibv_comp_channel* channel = verbs::ops_of(context).create_comp_channel(context);
  if (channel) {
    channel->context = context;
    channel->refcnt = 0;
  }
  return channel;
}

// EBUSY while CQs report to the channel.
VERBS_EXPORT int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  ibv_context* context = channel->context;
  {
    verbs::Locked lock(context->mutex);
    if (channel->refcnt) return EBUSY;
  }
  return verbs::ops_of(context).destroy_comp_channel(channel);
}

// Reads one completion event, waiting for it unless the channel is non-blocking. -1 with errno.
VERBS_EXPORT int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  ib_uverbs_comp_event_desc event;
  ssize_t length = read(channel->fd, &event, sizeof(event));
  if (length < 0) return -1;
  if (length != sizeof(event)) return verbs::minus_one(EIO);
  *cq = reinterpret_cast<ibv_cq*>(static_cast<uintptr_t>(event.cq_handle));
  *cq_context = (*cq)->cq_context;
  verbs::ops_of((*cq)->context).cq_event(*cq);
  return 0;
}

// Says that so many events of the CQ have been dealt with. Its destruction waits for that.
VERBS_EXPORT void ibv_ack_cq_events(ibv_cq* cq, unsigned int count) {
  verbs::Locked lock(cq->mutex);
  cq->comp_events_completed += count;
  pthread_cond_signal(&cq->cond);
}
