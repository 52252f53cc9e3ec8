// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Event queues of the program in the hands of completion queues. Both read the same mapping; what
// goes from one to the other is the place in the ring and the value that arms.
#include "dv.hpp"
#include "ethernet/cassini_csrs.hpp"
#include "internal.hpp"

namespace cxi {
namespace {

using State = cassini::csr::c_ee_cfg_eq_sw_state;

/// Whether the program has read everything. A time stamp may come at any moment, and nobody misses
/// it.
bool is_drained(cxidv_eq& eq) noexcept {
  while (const c_event* event = cxidv_eq_peek(&eq)) {
    if (cxidv_event_type(event) != C_EVENT_TIMESTAMP) return false;
    cxidv_eq_next(&eq);
  }
  return true;
}

}  // namespace

int begin_lending(dv::Eq& eq, Cq& cq, ibv_comp_channel* channel) noexcept {
  if (eq.pub.channel != channel) return EINVAL;
  Cq* nobody = nullptr;
  if (!eq.reader.compare_exchange_strong(nobody, &cq)) return EBUSY;
  int err = eq.next_bytes || !is_drained(eq.pub) ? EBUSY : 0;
  if (!err) err = lend_channel(channel);
  if (err) {
    eq.reader = nullptr;
    return err;
  }
  cxidv_eq_ack(&eq.pub);
  return 0;
}

void end_lending(dv::Eq& eq) noexcept {
  take_channel_back(eq.pub.channel);
  eq.reader = nullptr;
}

void take_queue(Cq& cq, dv::Eq& eq) noexcept {
  cxidv_eq& pub = eq.pub;
  cq.borrowed = &eq;
  cq.ring.init(reinterpret_cast<std::byte*>(pub.ring), pub.byte_size, pub.rd_offset);
  cq.sw_state = pub.sw_state;
  // The NIC may have used the value behind those that the program has taken.
  cq.armed_value = (pub.notified + 1) & 0xf;
  cq.next_value = (pub.notified + 2) & 0xf;
  cq.ring_b = State::reading_buffer_b::decode(pub.sw_value) != 0;
}

void give_queue_back(Cq& cq) noexcept {
  dv::Eq& eq = *cq.borrowed;
  cxidv_eq& pub = eq.pub;
  // What is left is about queue pairs that are gone.
  while (const EventView event = cq.ring.peek())
    cq.ring.consume(event);
  pub.rd_offset = pub.cleared_offset = cq.ring.position();
  pub.notified = cq.next_value;
  pub.sw_value |= State::event_int_disable::encode(1);
  cxidv_priv_eq_store_state(&pub);
}

std::uint32_t handle_of(const dv::Eq& eq) noexcept {
  return eq.handle;
}

}  // namespace cxi
