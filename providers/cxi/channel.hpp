// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion channels. A record is only the address of what it is about, so a channel carries
// either the events of completion queues or those of native event queues.
#pragma once

#include <infiniband/driver.h>

namespace cxi {

ibv_comp_channel* create_comp_channel(ibv_context* context) noexcept;
int destroy_comp_channel(ibv_comp_channel* channel) noexcept;

enum class Carries { completions, native_events };

/// Has the channel carry the events of one more queue. Returns 0, or EINVAL where it is another
/// context's or carries the other kind. A null channel is none, and fine.
int join_channel(ibv_comp_channel* channel, const ibv_context& context, Carries what) noexcept;
void leave_channel(ibv_comp_channel* channel, Carries what) noexcept;
/// Has the channel of one native event queue carry completions alone, and ends that. Returns 0, or
/// EINVAL where the channel serves other queues too. A null channel is none, and fine.
int lend_channel(ibv_comp_channel* channel) noexcept;
void take_channel_back(ibv_comp_channel* channel) noexcept;
/// Whether the channel may be read for such events.
bool channel_carries(ibv_comp_channel* channel, Carries what) noexcept;

}  // namespace cxi
