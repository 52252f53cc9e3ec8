// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Appending a request: from what the application asked for to commands in the ring, and to a slot
// from which they can be repeated.
#include <algorithm>
#include <cstring>
#include <limits>

#include "internal.hpp"
#include "remote_key.hpp"

namespace cxi {
namespace {

constexpr std::uint64_t max_message = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t offset_end = std::uint64_t{1} << 56;  // what a command can say
constexpr std::uint64_t iova_mask = (std::uint64_t{1} << 57) - 1;

/// The local side of a request: memory whose keys have been looked up.
struct Local {
  Piece pieces[max_sges];
  std::size_t count;
  std::uint64_t length;
  bool cpu;  // all of it can be reached by the CPU
};

/// What the commands say of the local side.
struct Source {
  Form form;
  std::uint8_t lac;
  std::uint64_t iova;
  std::uint32_t staged_at;
};

/// The way to the target.
struct Route {
  std::uint16_t vni;
  std::uint8_t lcid;
  Peer peer;
  std::uint32_t portal;
  std::uint64_t match_bits;
  bool possible;  // some target may accept it
  bool indexed;
};

int find_peer(const Qp& qp, const SendWork& work, Route& route) noexcept {
  const Job* job = qp.job;
  route.lcid = qp.first_lcid;
  route.vni = qp.vni;
  if (work.job_key) {
    const JobKeyEntry* key = qp.context->job_keys.find(work.job_key, qp.domain);
    if (!key) return EINVAL;
    if (work.job_key != qp.profile_key) route.lcid = key->lcid;
    route.vni = key->vni;
    job = key->job;
  }
  route.peer = work.peer;
  return work.addressed_by_table ? find_in_table(*qp.context, job, work.table_index, route.peer)
                                 : 0;
}

/// What a send tells its receiver beside the data.
std::uint64_t match_bits_of_send(const Qp& qp, const SendWork& work) noexcept {
  return send_bits::src_id::encode(qp.src_id) | send_bits::ri::encode(qp.ri) |
         send_bits::immediate::encode(static_cast<unsigned>(work.operation->immediate)) |
         send_bits::solicited::encode((work.flags & IBV_SEND_SOLICITED) != 0);
}

bool is_atomic(const Operation& operation) noexcept {
  return operation.action == Action::fetch_add || operation.action == Action::compare_swap;
}

/// Which entry of the target, and how it is asked.
void find_entry(const Qp& qp, const SendWork& work, std::uint64_t length, Route& route) noexcept {
  const Operation& operation = *work.operation;
  if (operation.action == Action::send) {
    route.portal = operation.portal + route.peer.ri;
    route.match_bits = match_bits_of_send(qp, work);
    route.possible = true;
    return;
  }
  const RemoteKey key = take_remote_key(work.remote_key, route.peer.ri);
  route.indexed = key.indexed;
  route.portal = key.indexed ? operation.indexed + key.index : operation.portal + route.peer.ri;
  route.match_bits = key.match_bits;
  if (operation.immediate != Immediate::none) route.match_bits |= CXI_ABI_RKEY_IMMEDIATE;
  if (is_atomic(operation)) route.match_bits |= CXI_ABI_RKEY_ATOMIC;
  // What a command cannot say is past the end of every region.
  route.possible =
      key.possible && work.remote_addr <= offset_end && length <= offset_end - work.remote_addr;
}

/// Sets the lengths and looks the keys up. Returns 0, EINVAL for a length that cannot be, or EFAULT
/// for a range that its key does not allow.
int find_local(const Qp& qp, const SendWork& work, const ibv_sge64* sges, Local& local) noexcept {
  local.length = work.inline_bytes;
  local.count = 0;
  local.cpu = true;
  const bool atomic = is_atomic(*work.operation);
  const bool written = atomic || work.operation->action == Action::read;
  if (written && work.has_inline) return EINVAL;
  if (atomic && (work.num_sge != 1 || sges[0].length != sizeof(std::uint64_t))) return EINVAL;
  if (work.has_inline) return 0;
  for (std::uint32_t i = 0; i < work.num_sge; i++) {
    const ibv_sge64& sge = sges[i];
    if (sge.length == 0) continue;
    Piece& piece = local.pieces[local.count++];
    if (!find_piece(qp.context->local_keys, qp.domain, sge.lkey64, sge.addr, sge.length, written,
                    piece))
      return EFAULT;
    local.cpu = local.cpu && piece.cpu;
    local.length += sge.length;
  }
  return local.length > max_message ? EINVAL : 0;
}

/// The slot's own memory behind its command, as the NIC reaches it.
void use_slot(const Qp& qp, std::uint32_t index, Source& source) noexcept {
  const std::uint64_t slot = index & qp.send.mask;
  source.lac = qp.send.slots_lac;
  source.iova = (qp.send.slots_iova + slot * send_slot_bytes + payload_offset) & iova_mask;
}

/// Puts the bytes where the commands will take them from. Returns 0 or an errno value.
int find_source(Qp& qp, const SendWork& work, Local& local, Source& source) noexcept {
  const Action action = work.operation->action;
  source.staged_at = UnitMap::none;
  source.form = Form::dma;
  const bool small = action == Action::send && local.length <= max_inline_bytes;
  if (work.has_inline || (small && local.cpu)) {
    if (!work.has_inline)
      gather(send_slot(qp, qp.send.next) + payload_offset, {local.pieces, local.count});
    if (action == Action::send)
      source.form = Form::message;
    else
      use_slot(qp, qp.send.next, source);
    return 0;
  }
  if (local.count > 1) local.count = merge_pieces({local.pieces, local.count});
  if (local.count <= 1) {
    if (is_atomic(*work.operation)) source.form = Form::atomic;
    source.lac = local.count ? local.pieces[0].lac : 0;
    source.iova = local.count ? local.pieces[0].iova : 0;
    return 0;
  }
  const bool one_command = action == Action::send || work.operation->immediate != Immediate::none;
  if (!one_command) {
    source.form = Form::pieces;
    source.lac = local.pieces[0].lac;
    source.iova = local.pieces[0].iova;
    return 0;
  }
  if (local.cpu && local.length <= max_inline_bytes) {
    gather(send_slot(qp, qp.send.next) + payload_offset, {local.pieces, local.count});
    use_slot(qp, qp.send.next, source);
    return 0;
  }
  if (!local.cpu || local.length > Staging::bytes) return EINVAL;
  Staging& staging = send_staging(*qp.domain);
  source.staged_at = staging.take(local.length);
  if (source.staged_at == UnitMap::none) return ENOMEM;
  gather(staging.memory + source.staged_at, {local.pieces, local.count});
  source.lac = staging.lac;
  source.iova = staging.iova + source.staged_at;
  return 0;
}

void write_atomic(const Qp& qp, const SendWork& work, const Route& route, const Source& source,
                  std::uint32_t dfa, std::uint64_t user, std::byte* image) noexcept {
  Source operand{};
  use_slot(qp, qp.send.next, operand);
  std::uint64_t words[16];
  encode_dma_atomic(words, {.compare_swap = work.operation->action == Action::compare_swap,
                            .dfa = dfa,
                            .index_ext = static_cast<std::uint8_t>(index_ext(route.portal)),
                            .operand_lac = operand.lac,
                            .result_lac = source.lac,
                            .eq = qp.eqn,
                            .operand_addr = operand.iova + operand_offset - payload_offset,
                            .result_addr = source.iova,
                            .compare = work.compare,
                            .remote_offset = work.remote_addr,
                            .initiator = qp.initiator,
                            .match_bits = route.match_bits,
                            .user_ptr = user});
  std::memcpy(image, words, sizeof(words));
  std::memcpy(image + operand_offset, &work.operand, sizeof(work.operand));
}

/// Fills the slot's command image.
void write_image(const Qp& qp, const SendWork& work, const Route& route, const Local& local,
                 const Source& source, std::uint32_t index, SendRequest& request) noexcept {
  const Operation& operation = *work.operation;
  const std::uint32_t dfa = fabric_address(route.peer, route.portal, qp.context->geometry);
  const std::uint64_t user = qp.user_ptr | user_ptr::request::encode(index & qp.send.mask);
  std::byte* image = send_slot(qp, index);
  request.index_ext = static_cast<std::uint8_t>(index_ext(route.portal));
  request.lcid = route.lcid;
  request.form = source.form;
  request.commands = 1;
  if (source.form == Form::message) {
    std::uint64_t words[4];
    encode_small_message(words, {.dfa = dfa,
                                 .payload = static_cast<std::uint8_t>(request.length),
                                 .match_bits = route.match_bits,
                                 .header_data = work.immediate,
                                 .user_ptr = user});
    std::memcpy(image, words, sizeof(words));
    return;
  }
  if (source.form == Form::atomic) return write_atomic(qp, work, route, source, dfa, user, image);
  // A write with immediate data names its source where others name the sender: the match bits are
  // the key's.
  const bool immediate_write =
      operation.action == Action::write && operation.immediate != Immediate::none;
  const DmaTransfer transfer{.dfa = dfa,
                             .index_ext = request.index_ext,
                             .lac = source.lac,
                             .eq = qp.eqn,
                             .local_addr = source.iova,
                             .remote_offset = work.remote_addr,
                             .length = request.length,
                             .initiator = immediate_write ? qp.src_id : qp.initiator,
                             .match_bits = route.match_bits,
                             .header_data = work.immediate,
                             .user_ptr = user,
                             .count = count_by_nic(request)};
  std::uint64_t words[8];
  if (operation.action == Action::read)
    encode_dma_get(words, transfer);
  else
    encode_dma_put(words, transfer);
  std::memcpy(image, words, sizeof(words));
  if (source.form != Form::pieces) return;
  request.commands = static_cast<std::uint8_t>(local.count);
  for (std::size_t i = 0; i < local.count; i++)
    remember_piece(image, i, local.pieces[i]);
}

Counter* find_counter(const SendQueue& send, Action action) noexcept {
  switch (action) {
    case Action::send:
      return send.counters[static_cast<unsigned>(Counted::sends)];
    case Action::read:
      return send.counters[static_cast<unsigned>(Counted::reads)];
    case Action::write:
      return send.counters[static_cast<unsigned>(Counted::writes)];
    case Action::fetch_add:
    case Action::compare_swap:
      break;
  }
  return nullptr;
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
  request.form = Form::dma;
  request.counter = find_counter(qp.send, work.operation->action);
  request.commands = 0;
  request.answers_left = 0;
  request.failed_code = 0;
  request.rnr_left = qp.rnr_retry;
  request.transport_left = qp.retry_cnt;
  request.transport_tries = 0;
}

/// A request that ends without having been sent, in its turn.
int append_ended(Qp& qp, SendRequest& request, ibv_wc_status status) noexcept {
  request.progress = Progress::done;
  request.status = status;
  qp.send.next++;
  return 0;
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
  if (const int err = find_peer(qp, work, route)) return err;
  request.vni = route.vni;
  if (state != IBV_QPS_RTS || qp.context->dead.load(std::memory_order_relaxed)) [[unlikely]]
    return append_ended(qp, request, IBV_WC_WR_FLUSH_ERR);

  Local local;
  int err = find_local(qp, work, sges, local);
  if (err == EFAULT) return append_ended(qp, request, IBV_WC_LOC_PROT_ERR);
  if (err) return err;
  request.length = static_cast<std::uint32_t>(local.length);
  find_entry(qp, work, local.length, route);
  if (!route.possible) return append_ended(qp, request, IBV_WC_REM_ACCESS_ERR);
  if (route.indexed) request.op = indexed_class(request.op);

  Source source{};
  err = find_source(qp, work, local, source);
  if (err) return err;
  request.staged_at = source.staged_at;
  write_image(qp, work, route, local, source, index, request);
  // Places for the answers in the ring, before anything is written that could bring one.
  if (!take_credits(*qp.send_cq, request.commands)) err = ENOMEM;
  if (!err && !emit_request(qp, index, work.flags & IBV_SEND_FENCE)) {
    give_credits(*qp.send_cq, request.commands);
    err = ENOMEM;
  }
  if (err) {
    if (request.staged_at != UnitMap::none)
      send_staging(*qp.domain).give_back(request.staged_at, request.length);
    return err;
  }
  request.answers_left = request.commands;
  send.next++;
  return 0;
}

void take_back(Qp& qp) noexcept {
  SendQueue& send = qp.send;
  for (; send.next != send.tail; send.next--) {
    SendRequest& request = send.requests[(send.next - 1) & send.mask];
    if (request.progress == Progress::in_flight) give_credits(*qp.send_cq, request.answers_left);
    if (request.staged_at != UnitMap::none)
      send_staging(*qp.domain).give_back(request.staged_at, request.length);
  }
  send.commands.back_to(send.announced);
}

bool announce(Qp& qp) noexcept {
  SendQueue& send = qp.send;
  bool ended = false;
  const bool flush = qp.state.load(std::memory_order_relaxed) != IBV_QPS_RTS ||
                     qp.context->dead.load(std::memory_order_relaxed);
  for (; send.tail != send.next; send.tail++) {
    SendRequest& request = send.requests[send.tail & send.mask];
    // The state changed, or the device went, while the builder was at work: what it appended is
    // flushed with the rest.
    if (flush && request.progress == Progress::in_flight) {
      give_credits(*qp.send_cq, request.answers_left);
      finish_request(qp, send.tail, IBV_WC_WR_FLUSH_ERR, 0);
    } else if (request.progress == Progress::done) {
      count_end(request);  // it had ended when it was appended
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

}  // namespace cxi
