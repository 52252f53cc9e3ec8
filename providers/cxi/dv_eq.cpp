// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs: event queues.
#include <unistd.h>

#include "channel.hpp"
#include "dv.hpp"
#include "ethernet/cassini_csrs.hpp"
#include "mapping.hpp"
#include "mmio_raw.hpp"

namespace cxi::dv {
namespace {

static_assert(same(CXIDV_EQ_INIT_LONG, CXI_ABI_EQ_INIT_LONG) &&
              same(CXIDV_EQ_TGT_LONG, CXI_ABI_EQ_TGT_LONG) &&
              same(CXIDV_EQ_DROP_STATUS_DISABLE, CXI_ABI_EQ_DROP_STATUS_DISABLE) &&
              same(CXIDV_EQ_TIMESTAMP_EVENTS, CXI_ABI_EQ_TIMESTAMP_EVENTS) &&
              same(CXIDV_EQ_EC_DISABLE, CXI_ABI_EQ_EC_DISABLE));

using State = cassini::csr::c_ee_cfg_eq_sw_state;

constexpr std::uint32_t slot_bytes = 64;  // the status has the first one

/// What a ring has at most, so that byte_size can tell: rings are whole pages.
std::uint32_t max_slots() noexcept {
  return (std::uint32_t{1} << 26) - static_cast<std::uint32_t>(page_bytes() / slot_bytes);
}

void unmap(Eq& eq) noexcept {
  unmap_cookie(reinterpret_cast<std::byte*>(eq.pub.ring), eq.pub.byte_size);
  unmap_cookie(eq.next_ring, eq.next_bytes);
  unmap_cookie(eq.state_page, page_bytes());
}

void forget(NativeLink& link) noexcept {
  Eq& eq = object_of_link<Eq>(link);
  unmap(eq);
  pthread_cond_destroy(&eq.acknowledged);
  pthread_mutex_destroy(&eq.mutex);
  std::free(&eq);
}

int map(Eq& eq, const cxi_abi_eq_info& info) noexcept {
  const ibv_context& context = *eq.pub.lni->context;
  std::byte* ring = nullptr;
  if (const int err = map_cookie(context, info.ring_cookie, info.ring_bytes, ring)) return err;
  if (const int err = map_cookie(context, info.sw_state_cookie, page_bytes(), eq.state_page)) {
    unmap_cookie(ring, info.ring_bytes);
    return err;
  }
  eq.pub.ring = reinterpret_cast<std::uint8_t*>(ring);
  eq.pub.byte_size = static_cast<std::uint32_t>(info.ring_bytes);
  eq.pub.sw_state = reinterpret_cast<volatile std::uint64_t*>(eq.state_page + info.sw_state_offset);
  return 0;
}

int ask_for_eq(cxidv_lni* lni, const cxidv_eq_attr& attr, Eq& eq, cxi_abi_eq_info& info) noexcept {
  cxi_abi_eq_req request = {};
  request.flags = attr.flags;
  request.slots = attr.slots;
  request.reserve = attr.reserve;
  request.status_base = attr.status_base;
  request.status_delta = attr.status_delta;
  request.status_count = attr.status_count;
  request.user_handle = reinterpret_cast<std::uintptr_t>(&eq);
  return ask_for(lni, CXI_OBJECT_EQ, CXI_METHOD_EQ_CREATE, request, info, eq.handle,
                 [&](auto& command) {
                   if (attr.channel) command.fd_in(CXI_ATTR_CHANNEL_FD, attr.channel->fd);
                 });
}

int make_eq(cxidv_lni* lni, const cxidv_eq_attr& attr, cxidv_eq*& made) noexcept {
  if (attr.comp_mask || attr.reserved[0] || attr.reserved[1] || attr.reserved[2] ||
      attr.slots > max_slots())
    return EINVAL;
  auto eq = allocate<Eq>();
  if (!eq) return ENOMEM;
  if (const int err = join_channel(attr.channel, *lni->context, Carries::native_events)) return err;
  Undo leave([&] { leave_channel(attr.channel, Carries::native_events); });
  cxi_abi_eq_info info = {};
  if (const int err = ask_for_eq(lni, attr, *eq, info)) return err;
  Context& context = context_of(lni);
  eq->pub.lni = lni;
  if (const int err = map(*eq, info)) {
    destroy(context, CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, eq->handle);
    return err;
  }
  leave.dismiss();
  eq->pub.eq_context = attr.eq_context;
  eq->pub.channel = attr.channel;
  eq->pub.eqn = info.eqn;
  eq->flags = attr.flags;
  eq->pub.rd_offset = eq->pub.cleared_offset = slot_bytes;
  // As the driver has left it: not armed, nothing told of the status.
  eq->pub.sw_value = State::event_int_disable::encode(1) | State::eq_sts_int_disable::encode(1);
  pthread_mutex_init(&eq->mutex, nullptr);
  pthread_cond_init(&eq->acknowledged, nullptr);
  enlist(context, eq->link, forget);
  made = &eq.release()->pub;
  return 0;
}

int destroy_eq(Eq& eq) noexcept {
  // The kernel lets a queue go before its CQ has done so here.
  if (eq.reader) return EBUSY;
  Context& context = context_of(eq);
  cxi_abi_eq_destroy_resp answer = {};
  Command<2> command(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY);
  command.object_in(CXI_ATTR_HANDLE, eq.handle);
  command.out(CXI_ATTR_RESP, answer);
  const int err = run(context, command);
  if (err && err != EIO) return err;
  {
    // What the program has been told of is still in its hands. A device that is gone reports
    // nothing.
    MutexGuard guard(eq.mutex);
    while (eq.acks != answer.events_reported && !err)
      pthread_cond_wait(&eq.acknowledged, &eq.mutex);
  }
  delist(eq.link);
  leave_channel(eq.pub.channel, Carries::native_events);
  forget(eq.link);
  return 0;
}

int ask_for_ring(const Eq& eq, std::uint32_t slots, cxi_abi_eq_info& info) noexcept {
  cxi_abi_eq_req request = {};
  request.slots = slots;
  Command<3> command(CXI_OBJECT_EQ, CXI_METHOD_EQ_RESIZE);
  command.object_in(CXI_ATTR_HANDLE, eq.handle);
  command.in(CXI_ATTR_REQ, request);
  command.out(CXI_ATTR_RESP, info);
  return run(context_of(eq), command);
}

int map_next_ring(Eq& eq) noexcept {
  if (eq.next_ring) return 0;
  return map_cookie(context_of(eq).ibv.context, eq.next_cookie, eq.next_bytes, eq.next_ring);
}

int resize_eq(Eq& eq, std::uint32_t slots) noexcept {
  // No slots would say that the switch has been followed.
  if (slots == 0 || slots > max_slots() || eq.next_bytes) return EINVAL;
  if (eq.reader) return EBUSY;
  cxi_abi_eq_info info = {};
  if (const int err = ask_for_ring(eq, slots, info)) return err;
  eq.next_cookie = info.ring_cookie;
  eq.next_bytes = info.ring_bytes;
  // The NIC has been told: should there be no room for the mapping, crossing over tries again.
  static_cast<void>(map_next_ring(eq));
  return 0;
}

int follow_switch(Eq& eq) noexcept {
  if (!eq.next_bytes) return EINVAL;
  if (const int err = map_next_ring(eq)) return err;
  cxi_abi_eq_info info = {};
  if (const int err = ask_for_ring(eq, 0, info)) return err;
  cxidv_eq& pub = eq.pub;
  unmap_cookie(reinterpret_cast<std::byte*>(pub.ring), pub.byte_size);
  pub.ring = reinterpret_cast<std::uint8_t*>(eq.next_ring);
  pub.byte_size = static_cast<std::uint32_t>(eq.next_bytes);
  pub.rd_offset = pub.cleared_offset = slot_bytes;
  pub.sw_value ^= State::reading_buffer_b::encode(1);
  eq.next_ring = nullptr;
  eq.next_bytes = 0;
  to_device_barrier();
  store_doorbell(pub.sw_state, pub.sw_value | State::rd_ptr::encode(1));
  flush_writes();
  return 0;
}

}  // namespace
}  // namespace cxi::dv

using namespace cxi;

CXIDV_EXPORT cxidv_eq* cxidv_create_eq(cxidv_lni* lni, const cxidv_eq_attr* attr) {
  if (!lni || !attr) return null_with_errno(EINVAL);
  cxidv_eq* made = nullptr;
  if (const int err = dv::make_eq(lni, *attr, made)) return null_with_errno(err);
  return made;
}

CXIDV_EXPORT int cxidv_destroy_eq(cxidv_eq* pub) {
  if (!pub) return with_errno(EINVAL);
  return with_errno(dv::destroy_eq(dv::object_of<dv::Eq>(pub)));
}

CXIDV_EXPORT int cxidv_resize_eq(cxidv_eq* pub, uint32_t slots) {
  if (!pub) return with_errno(EINVAL);
  return with_errno(dv::resize_eq(dv::object_of<dv::Eq>(pub), slots));
}

CXIDV_EXPORT int cxidv_follow_eq_switch(cxidv_eq* pub) {
  if (!pub) return with_errno(EINVAL);
  return with_errno(dv::follow_switch(dv::object_of<dv::Eq>(pub)));
}

CXIDV_EXPORT int cxidv_get_eq_event(ibv_comp_channel* channel, cxidv_eq** eq) {
  Context* context = nullptr;
  if (!channel || !eq || dv::find_context(channel->context, context)) return with_errno(EINVAL);
  if (!channel_carries(channel, Carries::native_events)) return with_errno(EINVAL);
  ib_uverbs_comp_event_desc record;
  const ssize_t length = read(channel->fd, &record, sizeof(record));
  if (length < 0) return errno;
  if (length != sizeof(record)) return with_errno(EIO);
  *eq = reinterpret_cast<cxidv_eq*>(static_cast<std::uintptr_t>(record.cq_handle));
  // Whoever arms the queue next names the notification after this one.
  __atomic_fetch_add(&(*eq)->notified, 1, __ATOMIC_RELEASE);
  return 0;
}

CXIDV_EXPORT void cxidv_ack_eq_events(cxidv_eq* pub, unsigned int count) {
  if (!pub) return;
  dv::Eq& eq = dv::object_of<dv::Eq>(pub);
  MutexGuard guard(eq.mutex);
  eq.acks += count;
  pthread_cond_signal(&eq.acknowledged);
}
