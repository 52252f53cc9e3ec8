// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Send requests: from what the application posts to a slot that holds its command.
#include <algorithm>
#include <cstring>
#include <limits>

#include "internal.hpp"

namespace cxi {
namespace {

constexpr std::uint64_t max_message = std::numeric_limits<std::uint32_t>::max();

/// Where the bytes of a message are taken from.
struct Source {
  enum class Kind { payload, memory } kind;
  std::uint8_t lac;
  std::uint64_t iova;
  std::uint32_t staged_at;
};

/// What a request is sent with beside its data.
struct Route {
  std::uint16_t vni;
  std::uint8_t lcid;
  Peer peer;
};

int find_route(const Qp& qp, const SendWork& work, Route& route) noexcept {
  const Job* job = qp.job;
  route.lcid = qp.first_lcid;
  route.vni = qp.vni;
  if (work.job_key) {
    const JobKeyEntry* key = qp.context->job_keys.find(work.job_key, qp.domain);
    if (!key) return EINVAL;
    route.lcid = key->lcid;
    route.vni = key->vni;
    job = key->job;
  }
  route.peer = work.peer;
  return work.addressed_by_table ? find_in_table(*qp.context, job, work.table_index, route.peer)
                                 : 0;
}

/// Sets the lengths and looks the keys up. Returns 0, EINVAL for a message that is too long, or
/// EFAULT for a range that its key does not allow.
int find_pieces(const Qp& qp, const SendWork& work, const ibv_sge64* sges, Piece* pieces,
                std::uint64_t& length, std::size_t& count, bool& cpu) noexcept {
  length = 0;
  count = 0;
  cpu = true;
  for (std::uint32_t i = 0; i < work.num_sge; i++) {
    const ibv_sge64& sge = sges[i];
    if (sge.length == 0) continue;
    Piece& piece = pieces[count++];
    if (!find_piece(qp.context->local_keys, qp.domain, sge.lkey64, sge.addr, sge.length, false,
                    piece))
      return EFAULT;
    cpu = cpu && piece.cpu;
    length += sge.length;
  }
  return length > max_message ? EINVAL : 0;
}

/// Puts the bytes where the command will take them from. Returns 0 or an errno value.
int find_source(Qp& qp, const SendWork& work, Piece* pieces, std::size_t count,
                std::uint64_t length, bool cpu, Source& source) noexcept {
  source.staged_at = UnitMap::none;
  if (work.has_inline) {  // copied already
    source.kind = Source::Kind::payload;
    return 0;
  }
  if (length <= max_inline_bytes && cpu) {
    gather(send_slot(qp, qp.send.next) + payload_offset, {pieces, count});
    source.kind = Source::Kind::payload;
    return 0;
  }
  count = count > 1 ? merge_pieces({pieces, count}) : count;
  source.kind = Source::Kind::memory;
  if (count == 1) {
    source.lac = pieces[0].lac;
    source.iova = pieces[0].iova;
    return 0;
  }
  if (!cpu || length > Staging::bytes) return EINVAL;
  Staging& staging = send_staging(*qp.domain);
  source.staged_at = staging.take(length);
  if (source.staged_at == UnitMap::none) return ENOMEM;
  gather(staging.memory + source.staged_at, {pieces, count});
  source.lac = staging.lac;
  source.iova = staging.iova + source.staged_at;
  return 0;
}

/// What a send tells its receiver beside the data.
std::uint64_t match_bits(const Qp& qp, const SendWork& work) noexcept {
  return send_bits::src_id::encode(qp.src_id) | send_bits::ri::encode(qp.ri) |
         send_bits::immediate::encode(static_cast<unsigned>(work.operation->immediate)) |
         send_bits::solicited::encode((work.flags & IBV_SEND_SOLICITED) != 0);
}

/// Fills the slot's command image.
void write_image(const Qp& qp, const SendWork& work, const Route& route, const Source& source,
                 std::uint32_t index, SendRequest& request) noexcept {
  const std::uint32_t portal = work.operation->portal + route.peer.ri;
  const std::uint32_t dfa = fabric_address(route.peer, portal, qp.context->geometry);
  const std::uint64_t user = qp.user_ptr | user_ptr::request::encode(index & qp.send.mask);
  const std::uint64_t bits = match_bits(qp, work);
  std::byte* image = send_slot(qp, index);
  request.index_ext = static_cast<std::uint8_t>(index_ext(portal));
  request.lcid = route.lcid;
  request.small = source.kind == Source::Kind::payload;
  if (request.small) {
    std::uint64_t words[4];
    encode_small_message(words, {.dfa = dfa,
                                 .payload = static_cast<std::uint8_t>(request.length),
                                 .match_bits = bits,
                                 .header_data = work.immediate,
                                 .user_ptr = user});
    std::memcpy(image, words, sizeof(words));
  } else {
    std::uint64_t words[8];
    encode_dma_put(words, {.dfa = dfa,
                           .index_ext = request.index_ext,
                           .lac = source.lac,
                           .eq = qp.eqn,
                           .local_addr = source.iova,
                           .length = request.length,
                           .initiator = qp.initiator,
                           .match_bits = bits,
                           .header_data = work.immediate,
                           .user_ptr = user});
    std::memcpy(image, words, sizeof(words));
  }
}

void begin_request(const Qp& qp, const SendWork& work, SendRequest& request) noexcept {
  request.wr_id = work.wr_id;
  request.timestamp_ns = 0;
  request.length = 0;
  request.staged_at = UnitMap::none;
  request.progress = Progress::in_flight;
  request.op = work.operation->op;
  request.opcode = work.operation->completion;
  request.status = IBV_WC_SUCCESS;
  request.vendor_err = 0;
  request.reported = qp.signal_all || (work.flags & IBV_SEND_SIGNALED);
  request.rnr_left = qp.rnr_retry;
  request.transport_left = qp.retry_cnt;
  request.transport_tries = 0;
}

/// A request that ends without having been sent, in its turn.
void append_ended(Qp& qp, SendRequest& request, ibv_wc_status status) noexcept {
  request.progress = Progress::done;
  request.status = status;
  qp.send.next++;
}

}  // namespace

int append_request(Qp& qp, const SendWork& work, const ibv_sge64* sges) noexcept {
  SendQueue& send = qp.send;
  const ibv_qp_state state = qp.state.load(std::memory_order_relaxed);
  if (state == IBV_QPS_RESET) return EINVAL;
  if (send.next - send.head >= send.limit) return ENOMEM;
  const std::uint32_t index = send.next;
  SendRequest& request = send.requests[index & send.mask];
  begin_request(qp, work, request);

  Route route{};
  if (const int err = find_route(qp, work, route)) return err;
  request.vni = route.vni;
  if (state != IBV_QPS_RTS || qp.context->dead.load(std::memory_order_relaxed)) [[unlikely]] {
    append_ended(qp, request, IBV_WC_WR_FLUSH_ERR);
    return 0;
  }

  Piece pieces[max_sges];
  std::uint64_t length = work.inline_bytes;
  std::size_t count = 0;
  bool cpu = true;
  if (!work.has_inline) {
    const int err = find_pieces(qp, work, sges, pieces, length, count, cpu);
    if (err == EFAULT) {
      append_ended(qp, request, IBV_WC_LOC_PROT_ERR);
      return 0;
    }
    if (err) return err;
  }
  request.length = static_cast<std::uint32_t>(length);

  // A place for the answer in the ring, before anything is written that could bring one.
  if (qp.send_cq->credits.fetch_sub(1, std::memory_order_acquire) <= 0) {
    qp.send_cq->credits.fetch_add(1, std::memory_order_relaxed);
    return ENOMEM;
  }
  Source source{};
  int err = find_source(qp, work, pieces, count, length, cpu, source);
  if (!err) {
    request.staged_at = source.staged_at;
    write_image(qp, work, route, source, index, request);
    if (!emit_request(qp, index, work.flags & IBV_SEND_FENCE)) err = ENOMEM;
  }
  if (err) {
    qp.send_cq->credits.fetch_add(1, std::memory_order_relaxed);
    if (request.staged_at != UnitMap::none)
      send_staging(*qp.domain).give_back(request.staged_at, request.length);
    return err;
  }
  send.next++;
  return 0;
}

void take_back(Qp& qp) noexcept {
  SendQueue& send = qp.send;
  for (; send.next != send.tail; send.next--) {
    SendRequest& request = send.requests[(send.next - 1) & send.mask];
    if (request.progress == Progress::in_flight)
      qp.send_cq->credits.fetch_add(1, std::memory_order_relaxed);
    if (request.staged_at != UnitMap::none)
      send_staging(*qp.domain).give_back(request.staged_at, request.length);
  }
  send.commands.back_to(send.announced);
}

bool announce(Qp& qp) noexcept {
  SendQueue& send = qp.send;
  bool ended = false;
  const bool flush = qp.state.load(std::memory_order_relaxed) != IBV_QPS_RTS;
  for (; send.tail != send.next; send.tail++) {
    SendRequest& request = send.requests[send.tail & send.mask];
    // The state changed while the builder was at work: what it appended is flushed with the rest.
    if (flush && request.progress == Progress::in_flight) {
      qp.send_cq->credits.fetch_add(1, std::memory_order_relaxed);
      finish_request(qp, send.tail, IBV_WC_WR_FLUSH_ERR, 0);
    }
    ended = ended || request.progress == Progress::done;
  }
  if (flush)
    send.commands.back_to(send.announced);
  else
    send.commands.ring();
  if (ended && settle_head(send)) {
    push_ready(send.side);
    return true;
  }
  return false;
}

namespace {

/// The operation that an opcode of post_send asks for; null: not supported.
const Operation* operation_of(ibv_wr_opcode opcode) noexcept {
  switch (opcode) {
    case IBV_WR_SEND:
      return &operations::send;
    case IBV_WR_SEND_WITH_IMM:
      return &operations::send_imm;
    default:
      return nullptr;
  }
}

/// Reads a request of post_send. Returns 0 or the errno value that refuses it.
int read_request(Qp& qp, const ibv_send_wr& wr, SendWork& work, ibv_sge64* widened,
                 const ibv_sge64*& sges) noexcept {
  work = {};
  work.wr_id = wr.wr_id;
  work.flags = wr.send_flags;
  work.operation = operation_of(wr.opcode);
  if (!work.operation) return EOPNOTSUPP;
  if (work.operation->immediate != Immediate::none) work.immediate = wr.imm_data;
  if (wr.num_sge < 0 || static_cast<unsigned>(wr.num_sge) > qp.send.max_sge) return EINVAL;
  work.num_sge = static_cast<std::uint32_t>(wr.num_sge);
  work.job_key = wr.wr.ru.jkey;
  if (wr.wr.ru.ah) {
    work.peer = reinterpret_cast<const Ah*>(wr.wr.ru.ah)->peer;
  } else {
    work.addressed_by_table = true;
    work.table_index = wr.wr.ru.addr_idx;
  }
  if (wr.send_flags & IBV_SEND_SGE64) {
    sges = wr.sg64_list;
  } else {
    for (std::uint32_t i = 0; i < work.num_sge; i++)
      widened[i] = {wr.sg_list[i].addr, wr.sg_list[i].length, wr.sg_list[i].lkey};
    sges = widened;
  }
  return 0;
}

/// Copies the message of an inline request into the slot that it will have.
int copy_inline(Qp& qp, SendWork& work, const ibv_sge64* sges) noexcept {
  std::byte* to = send_slot(qp, qp.send.next) + payload_offset;
  std::uint64_t length = 0;
  for (std::uint32_t i = 0; i < work.num_sge; i++)
    length += sges[i].length;
  if (length > qp.max_inline) return EINVAL;
  for (std::uint32_t i = 0; i < work.num_sge; i++) {
    std::memcpy(to, reinterpret_cast<const void*>(static_cast<std::uintptr_t>(sges[i].addr)),
                sges[i].length);
    to += sges[i].length;
  }
  work.has_inline = true;
  work.inline_bytes = static_cast<std::uint32_t>(length);
  return 0;
}

}  // namespace

int post_send(ibv_qp* ibv, ibv_send_wr* wr, ibv_send_wr** bad) noexcept {
  Qp& qp = qp_of(ibv);
  SendQueue& send = qp.send;
  int err = 0;
  bool wake = false;
  {
    Guard post(send.post_lock);
    Guard guard(send.lock);
    if (send.limit == 0) {
      *bad = wr;
      return EINVAL;
    }
    send.announced = send.commands.mark();
    ibv_sge64 widened[max_sges];
    for (; wr; wr = wr->next) {
      SendWork work;
      const ibv_sge64* sges = nullptr;
      err = read_request(qp, *wr, work, widened, sges);
      if (!err && (wr->send_flags & IBV_SEND_INLINE))
        err = send.next - send.head < send.limit ? copy_inline(qp, work, sges) : ENOMEM;
      if (!err) err = append_request(qp, work, sges);
      if (err) {
        *bad = wr;
        break;
      }
    }
    wake = announce(qp);
  }
  if (wake) wake_at(*qp.send_cq, 1);
  return err;
}

}  // namespace cxi
