// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "channel.hpp"

#include <unistd.h>

#include "internal.hpp"

namespace cxi {
namespace {

struct Channel {
  ibv_comp_channel ibv;
  // Guarded by the mutex of the public context, as the public count of users is.
  unsigned completion_queues;
  unsigned event_queues;
  bool lent;  // its one event queue serves a completion queue
};
static_assert(offsetof(Channel, ibv) == 0);

Channel& channel_of(ibv_comp_channel* channel) noexcept {
  return *reinterpret_cast<Channel*>(channel);
}

}  // namespace

ibv_comp_channel* create_comp_channel(ibv_context* context) noexcept {
  Owned<Channel> channel = allocate<Channel>();
  if (!channel) return null_with_errno(ENOMEM);
  if (const int err = ibv_cmd_create_comp_channel(context, &channel->ibv))
    return null_with_errno(err);
  return &channel.release()->ibv;
}

int destroy_comp_channel(ibv_comp_channel* channel) noexcept {
  close(channel->fd);
  std::free(&channel_of(channel));
  return 0;
}

int join_channel(ibv_comp_channel* ibv, const ibv_context& context, Carries what) noexcept {
  if (!ibv) return 0;
  if (ibv->context != &context) return EINVAL;
  Channel& channel = channel_of(ibv);
  MutexGuard guard(ibv->context->mutex);
  if (channel.lent) return EINVAL;
  if (what == Carries::completions) {
    if (channel.event_queues) return EINVAL;
    channel.completion_queues++;
  } else {
    if (channel.completion_queues) return EINVAL;
    channel.event_queues++;
    ibv->refcnt++;  // the library itself counts completion queues
  }
  return 0;
}

void leave_channel(ibv_comp_channel* ibv, Carries what) noexcept {
  if (!ibv) return;
  Channel& channel = channel_of(ibv);
  MutexGuard guard(ibv->context->mutex);
  if (what == Carries::completions) {
    channel.completion_queues--;
  } else {
    channel.event_queues--;
    ibv->refcnt--;
  }
}

int lend_channel(ibv_comp_channel* ibv) noexcept {
  if (!ibv) return 0;
  Channel& channel = channel_of(ibv);
  MutexGuard guard(ibv->context->mutex);
  if (channel.lent || channel.event_queues != 1) return EINVAL;
  channel.lent = true;
  return 0;
}

void take_channel_back(ibv_comp_channel* ibv) noexcept {
  if (!ibv) return;
  MutexGuard guard(ibv->context->mutex);
  channel_of(ibv).lent = false;
}

bool channel_carries(ibv_comp_channel* ibv, Carries what) noexcept {
  Channel& channel = channel_of(ibv);
  MutexGuard guard(ibv->context->mutex);
  if (channel.lent) return what == Carries::completions;
  return what == Carries::completions ? !channel.event_queues : !channel.completion_queues;
}

}  // namespace cxi
