// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "endpoint.hpp"

#include <endian.h>
#include <poll.h>
#include <rdma/cxiverbs-abi.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>

namespace e2e {

namespace {

constexpr uint8_t untouched = 0xee;

constexpr uint64_t all_operations =
    IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE64_WITH_IMM |
    IBV_QP_EX_WITH_RDMA_WRITE64_WITH_IMM64 | IBV_QP_EX_WITH_RDMA_READ |
    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP;

}  // namespace

unsigned imm_bits(Operation operation) {
  switch (operation) {
    case Operation::send_imm:
    case Operation::write_imm:
      return 32;
    case Operation::send_imm64:
    case Operation::write_imm64:
      return 64;
    default:
      return 0;
  }
}

const char* name(Operation operation) {
  constexpr const char* names[] = {"send",        "send_imm", "send_imm64", "write",   "write_imm",
                                   "write_imm64", "read",     "fetch_add",  "cmp_swap"};
  return names[static_cast<size_t>(operation)];
}

ibv_wc_opcode opcode_of(Operation operation) {
  switch (operation) {
    case Operation::write:
    case Operation::write_imm:
    case Operation::write_imm64:
      return IBV_WC_RDMA_WRITE;
    case Operation::read:
      return IBV_WC_RDMA_READ;
    case Operation::fetch_add:
      return IBV_WC_FETCH_ADD;
    case Operation::cmp_swap:
      return IBV_WC_COMP_SWAP;
    default:
      return IBV_WC_SEND;
  }
}

uint8_t Endpoint::pattern(size_t at, uint32_t seed) {
  return static_cast<uint8_t>(at * 131 + (at >> 8) * 17 + seed * 29 + 1);
}

Address Endpoint::address() const {
  return {gid_, qp_->qp_num, mr_->rkey64, mr_->rkey};
}

Endpoint::Endpoint(const Options& options)
    : options_(options), buffer_(options.buffer_bytes + 2 * guard, untouched) {
  open();
  make_queue_pair();
}

Endpoint::~Endpoint() {
  if (cq_owner_ && unacknowledged_) ibv_ack_cq_events(cq_owner_.get(), unacknowledged_);
}

void Endpoint::open() {
  ibv_device** list = ibv_get_device_list(nullptr);
  if (!list) fail("device list", errno);
  ibv_device** found = list;
  while (*found && options_.device != ibv_get_device_name(*found))
    ++found;
  if (*found) context_.reset(ibv_open_device(*found));
  int error = errno;
  bool missing = !*found;
  ibv_free_device_list(list);
  if (missing) fail("no device " + options_.device);
  if (!context_) fail("open " + options_.device, error);

  if (int err = ibv_query_gid(context_.get(), 1, 0, &gid_)) fail("query gid", err);
  if (options_.events) {
    channel_.reset(ibv_create_comp_channel(context_.get()));
    if (!channel_) fail("create completion channel", errno);
  }
  pd_.reset(ibv_alloc_pd(context_.get()));
  if (!pd_) fail("allocate PD", errno);
  ibv_job_attr attr{};
  attr.comp_mask = IBV_JOB_ATTR_ID | IBV_JOB_ATTR_PORT_NUM | IBV_JOB_ATTR_SGID_INDEX;
  attr.id = options_.job_id;
  attr.port_num = 1;
  job_.reset(options_.make_job ? options_.make_job(context_.get())
                               : ibv_alloc_job(context_.get(), &attr, nullptr));
  if (!job_) fail("allocate job", errno);
  jkey_.reset(ibv_create_jkey(pd_.get(), job_.get(), 0));
  if (!jkey_) fail("create job key", errno);
  unsigned access = IBV_ACCESS_LOCAL_WRITE;
  if (options_.rma)
    access |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  if (options_.indexed) access |= CXI_ABI_ACCESS_INDEXED;
  mr_.reset(ibv_reg_mr(pd_.get(), buffer_.data(), buffer_.size(), access));
  if (!mr_) fail("register memory", errno);
}

void Endpoint::make_queue_pair() {
  ibv_cq_init_attr_ex cq_attr{};
  cq_attr.cqe = 2 * options_.depth;
  cq_attr.channel = channel_.get();
  cq_attr.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM |
                     IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SRC_ID | IBV_WC_EX_WITH_JOB_ID;
  if (options_.imm64) cq_attr.wc_flags |= IBV_WC_EX_WITH_IMM64;
  if (options_.timestamps)
    cq_attr.wc_flags |=
        IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
  cq_ = ibv_create_cq_ex(context_.get(), &cq_attr);
  if (!cq_) fail("create CQ", errno);
  cq_owner_.reset(ibv_cq_ex_to_cq(cq_));

  ibv_qp_semantics semantics{};
  semantics.comp_mask = IBV_QP_SEMANTICS_MASK_IMM;
  semantics.imm_data_size = options_.imm64 ? IBV_IMM_DATA_SIZE_64 : IBV_IMM_DATA_SIZE_32;
  ibv_qp_attr qp_attr{};
  qp_attr.port_num = 1;
  qp_attr.rnr_retry = options_.rnr_retry;
  qp_attr.retry_cnt = options_.retry_cnt;
  ibv_qp_init_attr_ex attr{};
  attr.send_cq = attr.recv_cq = cq_owner_.get();
  attr.cap = {options_.depth, options_.depth, options_.sges, options_.sges, 192};
  attr.qp_type = IBV_QPT_RU;
  attr.pd = pd_.get();
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_JKEY | IBV_QP_INIT_ATTR_SRC_ID |
                   IBV_QP_INIT_ATTR_QP_SEMANTICS | IBV_QP_INIT_ATTR_QP_ATTR |
                   IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attr.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
  if (options_.imm64) attr.send_ops_flags |= IBV_QP_EX_WITH_SEND_WITH_IMM64;
  if (options_.rma) attr.send_ops_flags |= all_operations;
  attr.job_key = jkey_.get();
  attr.src_id = options_.src_id;
  attr.qp_semantics = &semantics;
  attr.qp_attr = &qp_attr;
  attr.qp_attr_mask = IBV_QP_PORT | IBV_QP_RNR_RETRY | IBV_QP_RETRY_CNT;
  if (options_.qpn) {
    attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
    attr.create_flags = IBV_QP_CREATE_SOURCE_QPN;
    attr.source_qpn = *options_.qpn;
  }
  qp_.reset(ibv_create_qp_ex(context_.get(), &attr));
  if (!qp_) fail("create QP", errno);
  qp_ex_ = ibv_qp_to_qp_ex(qp_.get());
  if (!qp_ex_) fail("the QP has no extended interface");
  if (!options_.rma) return;
  if (int err = ibv_attach_mr(qp_.get(), mr_.get())) fail("attach memory", err);
}

void Endpoint::connect(const Address& peer) {
  ibv_ah_attr_ex attr{};
  attr.ah_attr.is_global = 1;
  attr.ah_attr.grh.dgid = peer.gid;
  attr.ah_attr.grh.hop_limit = 1;
  attr.ah_attr.port_num = 1;
  attr.remote_qpn = peer.qpn;
  ways_.emplace_back(ibv_create_ah_ex(pd_.get(), &attr));
  if (!ways_.back()) fail("create address handle", errno);
  peers_.push_back(peer);
}

void Endpoint::set_state(ibv_qp_state state) {
  ibv_qp_attr attr{};
  attr.qp_state = state;
  if (int err = ibv_modify_qp(qp_.get(), &attr, IBV_QP_STATE))
    fail("change the state of the QP", err);
}

void Endpoint::fill(size_t bytes, uint32_t seed, Layout layout) {
  std::vector<uint8_t> message(bytes);
  for (size_t at = 0; at < bytes; ++at)
    message[at] = pattern(at, seed);
  if (layout == Layout::pieces)
    scatter(0, message);
  else
    std::copy(message.begin(), message.end(), data());
}

std::vector<uint8_t> Endpoint::gather(size_t at, size_t bytes) const {
  std::vector<uint8_t> message;
  const uint8_t* start = buffer_.data() + guard + at;
  for (Piece piece : pieces(bytes, options_.sges))
    message.insert(message.end(), start + piece.at, start + piece.at + piece.bytes);
  return message;
}

void Endpoint::scatter(size_t at, std::span<const uint8_t> message) {
  for (Piece piece : pieces(message.size(), options_.sges)) {
    std::copy_n(message.begin(), piece.bytes, data() + at + piece.at);
    message = message.subspan(piece.bytes);
  }
}

void Endpoint::clear() {
  std::fill(buffer_.begin(), buffer_.end(), untouched);
}

void Endpoint::check(size_t bytes, uint32_t seed, Layout layout) const {
  const uint8_t* start = buffer_.data() + guard;
  std::vector<uint8_t> message =
      layout == Layout::pieces ? gather(0, bytes) : std::vector(start, start + bytes);
  for (size_t at = 0; at < bytes; ++at)
    if (message[at] != pattern(at, seed))
      fail("byte " + std::to_string(at) + " of " + std::to_string(bytes) + " is " +
           std::to_string(message[at]) + ", not " + std::to_string(pattern(at, seed)));
  for (size_t at = 0; at < buffer_.size(); ++at)
    if ((at < guard || at >= guard + bytes) && buffer_[at] != untouched)
      fail("byte " + std::to_string(static_cast<long>(at) - static_cast<long>(guard)) +
           " was changed, beside a message of " + std::to_string(bytes));
}

// That many pieces, or one where there are too few bytes; the last takes the rest. They lie in
// memory the other way round, since what is adjacent would be sent as one piece.
std::vector<Endpoint::Piece> Endpoint::pieces(size_t bytes, size_t count) {
  std::vector<Piece> list(bytes < count ? 1 : count);
  size_t length = bytes / list.size(), end = bytes;
  for (Piece& piece : list) {
    piece.bytes = &piece == &list.back() ? end : length;
    end -= piece.bytes;
    piece.at = end;
  }
  return list;
}

std::vector<ibv_sge64> Endpoint::slices(size_t at, size_t bytes, size_t count) const {
  std::vector<ibv_sge64> list;
  auto base = reinterpret_cast<uint64_t>(buffer_.data() + guard + at);
  for (Piece piece : pieces(bytes, count))
    list.push_back({base + piece.at, static_cast<uint32_t>(piece.bytes), mr_->lkey64});
  return list;
}

int Endpoint::post_recv(uint64_t wr_id, size_t bytes, size_t at) {
  auto list = slices(at, bytes, options_.sges);
  ibv_recv_wr64 wr{wr_id, nullptr, list.data(), static_cast<int>(list.size())};
  ibv_recv_wr64* bad = nullptr;
  return ibv_post_recv64(qp_.get(), &wr, &bad);
}

void Endpoint::wait_until_posted() {
  Owned<ibv_mr, ibv_dereg_mr> mr(
      ibv_reg_mr(pd_.get(), buffer_.data(), buffer_.size(), IBV_ACCESS_LOCAL_WRITE));
  if (!mr) fail("register memory", errno);
  if (int err = ibv_attach_mr(qp_.get(), mr.get())) fail("attach memory", err);
  if (int err = ibv_detach_mr(qp_.get(), mr.get())) fail("detach memory", err);
}

int Endpoint::post(const Request& request) {
  Remote there{0, 0, guard + request.remote_at};
  if (request.remote) {
    there = *request.remote;
  } else if (!is_send(request.operation)) {
    there.rkey64 = peers_[request.peer].rkey64;
    there.rkey = peers_[request.peer].rkey;
  }
  ibv_wr_start(qp_ex_);
  qp_ex_->wr_id = request.wr_id;
  qp_ex_->wr_flags = IBV_SEND_SIGNALED;
  if (request.use_inline) qp_ex_->wr_flags |= IBV_SEND_INLINE;
  if (request.solicited) qp_ex_->wr_flags |= IBV_SEND_SOLICITED;
  __be32 imm32 = htobe32(static_cast<uint32_t>(request.imm));
  __be64 imm64 = htobe64(request.imm);
  switch (request.operation) {
    case Operation::send:
      ibv_wr_send(qp_ex_);
      break;
    case Operation::send_imm:
      ibv_wr_send_imm(qp_ex_, imm32);
      break;
    case Operation::send_imm64:
      ibv_wr_send_imm64(qp_ex_, imm64);
      break;
    case Operation::write:
      ibv_wr_rdma_write64(qp_ex_, there.rkey64, there.address);
      break;
    case Operation::write_imm:
      ibv_wr_rdma_write64_imm(qp_ex_, there.rkey64, there.address, imm32);
      break;
    case Operation::write_imm64:
      ibv_wr_rdma_write64_imm64(qp_ex_, there.rkey64, there.address, imm64);
      break;
    case Operation::read:
      ibv_wr_rdma_read64(qp_ex_, there.rkey64, there.address);
      break;
    case Operation::fetch_add:
      ibv_wr_atomic_fetch_add(qp_ex_, there.rkey, there.address, request.operand);
      break;
    case Operation::cmp_swap:
      ibv_wr_atomic_cmp_swp(qp_ex_, there.rkey, there.address, request.operand, request.swap);
      break;
  }
  if (request.addr_idx)
    ibv_wr_set_ru_addr(qp_ex_, nullptr, *request.addr_idx);
  else
    ibv_wr_set_ru_addr(qp_ex_, ibv_ah_to_ah_ex(ways_[request.peer].get()), 0);
  ibv_wr_set_job_key(qp_ex_, request.jkey.value_or(jkey_->jkey));
  if (request.use_inline) {
    ibv_wr_set_inline_data(qp_ex_, data() + request.at, request.bytes);
  } else {
    size_t count = is_atomic(request.operation) ? 1 : options_.sges;
    auto list = slices(request.at, request.bytes, count);
    ibv_wr_set_sge64_list(qp_ex_, list.size(), list.data());
  }
  return ibv_wr_complete(qp_ex_);
}

int Endpoint::post_send(uint64_t wr_id, size_t bytes, Immediate immediate, uint64_t imm,
                        bool builders, bool use_inline) {
  if (builders) {
    Request request{};
    request.operation = immediate == Immediate::none    ? Operation::send
                        : immediate == Immediate::imm32 ? Operation::send_imm
                                                        : Operation::send_imm64;
    request.wr_id = wr_id;
    request.bytes = bytes;
    request.use_inline = use_inline;
    request.imm = imm;
    return post(request);
  }
  auto list = slices(0, bytes, options_.sges);
  ibv_send_wr wr{}, *bad = nullptr;
  wr.wr_id = wr_id;
  wr.sg64_list = list.data();
  wr.num_sge = static_cast<int>(list.size());
  wr.opcode = immediate == Immediate::none ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM;
  wr.imm_data = htobe32(static_cast<uint32_t>(imm));
  wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SGE64;
  if (use_inline) wr.send_flags |= IBV_SEND_INLINE;
  wr.wr.ru.ah = ibv_ah_to_ah_ex(ways_.front().get());
  wr.wr.ru.jkey = jkey_->jkey;
  return ibv_post_send(qp_.get(), &wr, &bad);
}

bool Endpoint::poll(Completion& completion) {
  ibv_poll_cq_attr attr{};
  int err = ibv_start_poll(cq_, &attr);
  if (err == ENOENT) return false;
  if (err) fail("start poll", err);
  completion = {};
  completion.wr_id = cq_->wr_id;
  completion.status = cq_->status;
  completion.vendor_err = ibv_wc_read_vendor_err(cq_);
  completion.opcode = ibv_wc_read_opcode(cq_);
  completion.qp_num = ibv_wc_read_qp_num(cq_);
  if (options_.timestamps) {
    completion.raw_time = ibv_wc_read_completion_ts(cq_);
    completion.wall_ns = ibv_wc_read_completion_wallclock_ns(cq_);
  }
  if (completion.status == IBV_WC_SUCCESS && (completion.opcode & IBV_WC_RECV)) {
    completion.wc_flags = ibv_wc_read_wc_flags(cq_);
    completion.byte_len = ibv_wc_read_byte_len(cq_);
    completion.job_id = ibv_wc_read_job_id(cq_);
    completion.src_id = ibv_wc_read_src_id(cq_);
    completion.src_qp = ibv_wc_read_src_qp(cq_);
    if (completion.wc_flags & IBV_WC_WITH_IMM) {
      completion.imm32 = be32toh(ibv_wc_read_imm_data(cq_));
      completion.imm = options_.imm64 ? be64toh(ibv_wc_read_imm64_data(cq_)) : completion.imm32;
    }
  }
  ibv_end_poll(cq_);
  return true;
}

Completion Endpoint::wait(const std::function<bool()>& alive) {
  Completion completion;
  for (unsigned idle = 0;; ++idle) {
    if (poll(completion)) return completion;
    if (alive && idle % 64 == 63 && !alive()) fail("gave up waiting for a completion");
    if (!options_.events) {
      sched_yield();
      continue;
    }
    if (int err = ibv_req_notify_cq(cq_owner_.get(), 0)) fail("request notification", err);
    if (poll(completion)) return completion;
    pollfd descriptor{channel_->fd, POLLIN, 0};
    int ready = ::poll(&descriptor, 1, 1000);
    if (ready < 0 && errno != EINTR) fail("poll the completion channel", errno);
    if (ready > 0) {
      ibv_cq* cq = nullptr;
      void* cq_context = nullptr;
      if (ibv_get_cq_event(channel_.get(), &cq, &cq_context)) fail("completion event", errno);
      if (cq != cq_owner_.get()) fail("the event names another CQ");
      ++unacknowledged_;
    }
  }
}

}  // namespace e2e
