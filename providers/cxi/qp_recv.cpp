// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Receives: each is a use-once entry on the receive entry's priority list, found again by its
// buffer id.
#include <algorithm>
#include <cstring>

#include "internal.hpp"

namespace cxi {

void push_slot(RecvQueue& recv, SlotList& list, std::uint16_t slot) noexcept {
  RecvSlot& entry = recv.slots[slot];
  entry.next = 0;
  entry.previous = list.last;
  (list.last ? recv.slots[list.last].next : list.first) = slot;
  list.last = slot;
}

void unlink_slot(RecvQueue& recv, SlotList& list, std::uint16_t slot) noexcept {
  const RecvSlot& entry = recv.slots[slot];
  (entry.previous ? recv.slots[entry.previous].next : list.first) = entry.next;
  (entry.next ? recv.slots[entry.next].previous : list.last) = entry.previous;
}

void free_slot(Qp& qp, std::uint16_t slot) noexcept {
  RecvQueue& recv = qp.recv;
  RecvSlot& entry = recv.slots[slot];
  if (entry.staged_at != UnitMap::none)
    recv_staging(*qp.domain).give_back(entry.staged_at, entry.capacity);
  entry.state = Posted::free;
  entry.next = recv.free;
  recv.free = slot;
  recv.used--;
}

namespace {

void fill_common(const Qp& qp, const RecvSlot& entry, Completion& out) noexcept {
  out = {};
  out.wr_id = entry.wr_id;
  out.qp_num = qp.ibv.qp.qp_num;
  out.opcode = IBV_WC_RECV;
}

/// A receive that ends without a message, in its turn.
void end_receive(Qp& qp, std::uint16_t slot, ibv_wc_status status) noexcept {
  RecvSlot& entry = qp.recv.slots[slot];
  entry.state = Posted::done;
  fill_common(qp, entry, entry.completion);
  entry.completion.status = status;
  entry.completion.job_id = qp.vni;
  if (entry.counter) entry.counter->add_error();
  push_slot(qp.recv, qp.recv.done, slot);
}

template <class Sge>
std::uint64_t key_of(const Sge& sge) noexcept {
  if constexpr (requires { sge.lkey64; })
    return sge.lkey64;
  else
    return sge.lkey;
}

struct Target {
  std::uint8_t lac = 0;
  std::uint64_t iova = 0;
  std::uint64_t length = 0;
};

/// Finds where a message goes. EFAULT: a key does not allow it.
template <class Wr>
int find_target(Qp& qp, const Wr& wr, RecvSlot& entry, Piece* kept, Target& target) noexcept {
  Piece pieces[max_sges];
  std::size_t count = 0;
  bool cpu = true;
  for (int i = 0; i < wr.num_sge; i++) {
    const auto& sge = wr.sg_list[i];
    if (sge.length == 0) continue;
    Piece& piece = pieces[count++];
    if (!find_piece(qp.context->local_keys, qp.domain, key_of(sge), sge.addr, sge.length, true,
                    piece))
      return EFAULT;
    cpu = cpu && piece.cpu;
    target.length += sge.length;
  }
  entry.num_pieces = 0;
  entry.staged_at = UnitMap::none;
  entry.capacity = target.length;
  count = count > 1 ? merge_pieces({pieces, count}) : count;
  if (count == 0) return 0;
  if (count == 1) {
    target.lac = pieces[0].lac;
    target.iova = pieces[0].iova;
    return 0;
  }
  if (!cpu || target.length > Staging::bytes) return EINVAL;
  Staging& staging = recv_staging(*qp.domain);
  entry.staged_at = staging.take(target.length);
  if (entry.staged_at == UnitMap::none) return ENOMEM;
  std::copy_n(pieces, count, kept);
  entry.num_pieces = static_cast<std::uint32_t>(count);
  target.lac = staging.lac;
  target.iova = staging.iova + entry.staged_at;
  return 0;
}

template <class Wr>
int append_receive(Qp& qp, const Wr& wr) noexcept {
  RecvQueue& recv = qp.recv;
  if (wr.num_sge < 0 || static_cast<unsigned>(wr.num_sge) > recv.max_sge) return EINVAL;
  const ibv_qp_state state = qp.state.load(std::memory_order_relaxed);
  if (state == IBV_QPS_RESET) return EINVAL;
  if (!recv.free) return ENOMEM;
  const std::uint16_t slot = recv.free;
  RecvSlot& entry = recv.slots[slot];
  entry.wr_id = wr.wr_id;
  entry.staged_at = UnitMap::none;
  entry.counter = recv.counter;

  ibv_wc_status ended = IBV_WC_SUCCESS;
  if (state != IBV_QPS_RTS || qp.context->dead.load(std::memory_order_relaxed)) {
    ended = IBV_WC_WR_FLUSH_ERR;
  } else {
    Target target;
    Piece* kept = recv.pieces + std::size_t{slot} * recv.max_sge;
    const int err = find_target(qp, wr, entry, kept, target);
    if (err == EFAULT) {
      entry.staged_at = UnitMap::none;
      ended = IBV_WC_LOC_PROT_ERR;
    } else if (err) {
      return err;
    } else {
      std::byte* place = recv.commands.reserve(2);
      if (!place) {
        if (entry.staged_at != UnitMap::none)
          recv_staging(*qp.domain).give_back(entry.staged_at, entry.capacity);
        return ENOMEM;
      }
      std::uint64_t words[8];
      encode_append_receive(words,
                            {.pte = qp.recv_pte,
                             .buffer_id = slot,
                             .lac = target.lac,
                             .start = target.iova,
                             .length = target.length,
                             .count = entry.counter ? entry.counter->for_commands() : Count{}});
      std::memcpy(place, words, sizeof(words));
    }
  }
  recv.free = entry.next;
  recv.used++;
  if (ended == IBV_WC_SUCCESS) {
    entry.state = Posted::posted;
    push_slot(recv, recv.posted, slot);
  } else {
    end_receive(qp, slot, ended);
  }
  return 0;
}

template <class Wr>
int post(ibv_qp* ibv, Wr* wr, Wr** bad) noexcept {
  Qp& qp = qp_of(ibv);
  RecvQueue& recv = qp.recv;
  int err = 0;
  bool wake = false;
  {
    Guard guard(recv.lock);
    for (; wr; wr = wr->next) {
      err = recv.limit ? append_receive(qp, *wr) : EINVAL;
      if (err) {
        *bad = wr;
        break;
      }
    }
    recv.commands.ring();
    if (recv.done.first) {
      push_ready(recv.side);
      wake = true;
    }
  }
  if (wake) wake_at(*qp.recv_cq, 1);
  return err;
}

/// Seconds of the clock whose two lowest bits the event has; right for four seconds.
std::uint64_t complete_timestamp(EventView event) noexcept {
  using Long = cassini::c_event_target_long;
  const std::uint64_t now = realtime_ns() / 1'000'000'000;
  const std::uint64_t seconds = now - ((now - Long::timestamp_sec_low::get(event.at)) & 3);
  return seconds * 1'000'000'000 + Long::timestamp_ns::get(event.at);
}

}  // namespace

int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept {
  return post(qp, wr, bad);
}

int post_recv64(ibv_qp* qp, ibv_recv_wr64* wr, ibv_recv_wr64** bad) noexcept {
  return post(qp, wr, bad);
}

bool complete_immediate_write(const Qp& qp, EventView event, Completion& out) noexcept {
  using Long = cassini::c_event_target_long;
  if (event.bytes != Long::bytes || event.return_code() != C_RC_OK) return false;
  out = {};
  out.qp_num = qp.ibv.qp.qp_num;
  out.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
  out.status = IBV_WC_SUCCESS;
  out.byte_len = static_cast<std::uint32_t>(Long::mlength::get(event.at));
  // The match bits are the key: the sender has put its source id where sends have its address.
  out.src_id = static_cast<std::uint32_t>(Long::initiator::get(event.at));
  out.job_id = static_cast<std::uint32_t>(Long::vni::get(event.at));
  out.wc_flags = IBV_WC_WITH_IMM;
  out.immediate = Long::header_data::get(event.at);
  if (qp.recv_cq->timestamps) out.timestamp_ns = complete_timestamp(event);
  return true;
}

bool complete_receive(Qp& qp, EventView event, Completion& out) noexcept {
  using Long = cassini::c_event_target_long;
  RecvQueue& recv = qp.recv;
  if (event.bytes != Long::bytes) return false;  // receive entries have long events only
  const auto slot = static_cast<std::uint16_t>(Long::buffer_id::get(event.at));
  if (slot == 0 || slot > recv.limit || recv.slots[slot].state != Posted::posted) return false;
  ibv_wc_status status = IBV_WC_SUCCESS;
  if (!receive_outcome(event.return_code(), status)) return false;

  RecvSlot& entry = recv.slots[slot];
  const std::uint32_t length = static_cast<std::uint32_t>(Long::mlength::get(event.at));
  if (status == IBV_WC_SUCCESS && length < Long::rlength::get(event.at))
    status = IBV_WC_LOC_LEN_ERR;
  if (entry.counter && status != IBV_WC_SUCCESS) {
    entry.counter->add_error();
    if (event.return_code() == C_RC_OK) entry.counter->take_off(length);
  }
  if (entry.staged_at != UnitMap::none)
    scatter({recv.pieces + std::size_t{slot} * recv.max_sge, entry.num_pieces},
            recv_staging(*qp.domain).memory + entry.staged_at, length);

  fill_common(qp, entry, out);
  const std::uint64_t bits = Long::match_bits::get(event.at);
  const auto sender = static_cast<std::uint32_t>(Long::initiator::get(event.at));
  out.status = status;
  out.vendor_err = status == IBV_WC_SUCCESS ? 0 : event.return_code();
  out.byte_len = length;
  out.src_qp = qpn::make(initiator_pid(sender, qp.context->geometry),
                         static_cast<std::uint32_t>(send_bits::ri::decode(bits)));
  out.src_id = static_cast<std::uint32_t>(send_bits::src_id::decode(bits));
  out.job_id = static_cast<std::uint32_t>(Long::vni::get(event.at));
  if (send_bits::immediate::decode(bits) != static_cast<unsigned>(Immediate::none)) {
    out.wc_flags = IBV_WC_WITH_IMM;
    out.immediate = Long::header_data::get(event.at);
  }
  if (qp.recv_cq->timestamps) out.timestamp_ns = complete_timestamp(event);
  unlink_slot(recv, recv.posted, slot);
  return true;
}

}  // namespace cxi
