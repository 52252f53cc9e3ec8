// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake_verbs.hpp"

#include <endian.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace fake {

namespace {

State current;

struct Channel;

struct Cq {
  ibv_cq_ex ex{};
  Channel* channel = nullptr;
  std::deque<ibv_wc> entries;
  std::deque<std::uint64_t> imms;  // one for each entry
  ibv_wc polled{};
  std::uint64_t polled_imm = 0;
  bool armed = false;
};

struct Channel {
  ibv_comp_channel channel{};
  std::deque<Cq*> events;  // as many as the descriptor counts

  Channel() { channel.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE); }
  ~Channel() { close(channel.fd); }
};

using Pieces = std::vector<std::span<char>>;

struct Receive {
  std::uint64_t id;
  Pieces pieces;
};

struct Qp {
  ibv_qp_ex ex{};
  Cq* cq = nullptr;
  std::deque<Receive> receives;
  // The request that the builders are making.
  std::uint64_t imm = 0;
  bool has_imm = false;
  std::uint32_t destination = 0;
  Pieces pieces;
  std::string path;
};

struct Message {
  std::vector<char> data;
  bool has_imm;
  std::uint64_t imm;
};

struct Device {
  ibv_device device{};
  verbs_context context{};
  std::recursive_mutex mutex;
  std::map<std::uint32_t, Qp*> qps;
  std::map<std::uint32_t, std::deque<Message>> waiting;  // for a receive
  std::uint32_t next_qpn = 1;
};

Device* device;

Qp& of(ibv_qp* qp) {
  return *reinterpret_cast<Qp*>(qp);
}
Qp& of(ibv_qp_ex* qp) {
  return *reinterpret_cast<Qp*>(qp);
}
Cq& of(ibv_cq* cq) {
  return *reinterpret_cast<Cq*>(cq);
}
Cq& of(ibv_cq_ex* cq) {
  return *reinterpret_cast<Cq*>(cq);
}

/// The errno value with which the call is to be refused, or 0.
int refusal(const char* call) {
  const auto found = current.refusals.find(call);
  return found == current.refusals.end() ? 0 : found->second;
}

/// A zeroed object, or null and errno where the call is to be refused.
template <class T>
T* make(const char* call) {
  if (const int error = refusal(call)) {
    errno = error;
    return nullptr;
  }
  const std::lock_guard lock(device->mutex);
  current.alive++;
  return new T{};
}

template <class T>
int destroy(const char* call, T* object) {
  if (const int error = refusal(call)) {
    static std::vector<std::unique_ptr<T>> kept;  // it lives on, but not as a leak
    kept.emplace_back(object);
    return error;
  }
  const std::lock_guard lock(device->mutex);
  current.alive--;
  delete object;
  return 0;
}

void complete(Cq& cq, const ibv_wc& wc, std::uint64_t imm) {
  cq.entries.push_back(wc);
  cq.imms.push_back(imm);
  if (!cq.armed) return;
  cq.armed = false;
  cq.channel->events.push_back(&cq);
  eventfd_write(cq.channel->channel.fd, 1);
}

void deliver(Qp& qp) {
  auto& waiting = device->waiting[qp.ex.qp_base.qp_num];
  while (!waiting.empty() && !qp.receives.empty()) {
    const Message message = waiting.front();
    waiting.pop_front();
    const Receive receive = qp.receives.front();
    qp.receives.pop_front();
    ibv_wc wc{};
    wc.wr_id = receive.id;
    wc.opcode = IBV_WC_RECV;
    std::size_t at = 0;
    for (std::span<char> piece : receive.pieces) {
      const std::size_t count = std::min(piece.size(), message.data.size() - at);
      std::memcpy(piece.data(), message.data.data() + at, count);
      at += count;
    }
    if (at < message.data.size()) wc.status = IBV_WC_LOC_LEN_ERR;
    complete(*qp.cq, wc, current.corrupt_imm.value_or(message.imm));
  }
}

void carry(Qp& from, std::uint64_t id) {
  const std::lock_guard lock(device->mutex);
  current.send_path = from.path;
  Message message{{}, from.has_imm, from.imm};
  for (std::span<char> piece : from.pieces)
    message.data.insert(message.data.end(), piece.begin(), piece.end());
  ibv_wc wc{};
  wc.wr_id = id;
  wc.opcode = IBV_WC_SEND;
  wc.status = current.send_status;
  complete(*from.cq, wc, 0);
  device->waiting[from.destination].push_back(std::move(message));
  const auto to = device->qps.find(from.destination);
  if (to != device->qps.end()) deliver(*to->second);
}

template <class Sge>
Pieces pieces_of(const Sge* list, std::size_t count) {
  Pieces pieces;
  for (std::size_t i = 0; i < count; i++)
    pieces.emplace_back(reinterpret_cast<char*>(list[i].addr), list[i].length);
  return pieces;
}

int post_send(ibv_qp* ibv, ibv_send_wr* wr, ibv_send_wr**) {
  if (const int error = refusal("post_send")) return error;
  Qp& qp = of(ibv);
  const bool wide = wr->send_flags & IBV_SEND_SGE64;
  const auto count = static_cast<std::size_t>(wr->num_sge);
  qp.pieces = wide ? pieces_of(wr->sg64_list, count) : pieces_of(wr->sg_list, count);
  qp.path = wide ? "post_send sge64" : "post_send sge";
  if (wr->send_flags & IBV_SEND_INLINE) qp.path += " inline";
  qp.has_imm = false;
  qp.destination = wr->wr.ru.ah->remote_qpn;
  carry(qp, wr->wr_id);
  return 0;
}

template <class Request>
int post_receive(ibv_qp* ibv, Request* wr) {
  if (const int error = refusal("post_recv")) return error;
  const std::lock_guard lock(device->mutex);
  Qp& qp = of(ibv);
  qp.receives.push_back({wr->wr_id, pieces_of(wr->sg_list, static_cast<std::size_t>(wr->num_sge))});
  deliver(qp);
  return 0;
}

int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr**) {
  return post_receive(qp, wr);
}
int post_recv64(ibv_qp* qp, ibv_recv_wr64* wr, ibv_recv_wr64**) {
  return post_receive(qp, wr);
}

int poll_cq(ibv_cq* ibv, int room, ibv_wc* wc) {
  const std::lock_guard lock(device->mutex);
  Cq& cq = of(ibv);
  int count = 0;
  for (; count < room && !cq.entries.empty(); count++) {
    wc[count] = cq.entries.front();
    cq.entries.pop_front();
    cq.imms.pop_front();
  }
  return count;
}

int next_poll(ibv_cq_ex* ex) {
  const std::lock_guard lock(device->mutex);
  Cq& cq = of(ex);
  if (cq.entries.empty()) return ENOENT;
  cq.polled = cq.entries.front();
  cq.polled_imm = cq.imms.front();
  cq.entries.pop_front();
  cq.imms.pop_front();
  ex->wr_id = cq.polled.wr_id;
  ex->status = cq.polled.status;
  return 0;
}

int req_notify_cq(ibv_cq* cq, int) {
  const std::lock_guard lock(device->mutex);
  of(cq).armed = true;
  return 0;
}

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr) {
  Cq* cq = make<Cq>("create_cq_ex");
  if (!cq) return nullptr;
  cq->ex.context = context;
  cq->channel = reinterpret_cast<Channel*>(attr->channel);
  cq->ex.channel = attr->channel;
  cq->ex.start_poll = [](ibv_cq_ex* ex, ibv_poll_cq_attr*) { return next_poll(ex); };
  cq->ex.next_poll = next_poll;
  cq->ex.end_poll = [](ibv_cq_ex*) {};
  cq->ex.read_opcode = [](ibv_cq_ex* ex) { return of(ex).polled.opcode; };
  cq->ex.read_vendor_err = [](ibv_cq_ex* ex) { return of(ex).polled.vendor_err; };
  cq->ex.read_imm_data = [](ibv_cq_ex* ex) { return static_cast<__be32>(of(ex).polled_imm); };
  cq->ex.read_imm64_data = [](ibv_cq_ex* ex) { return static_cast<__be64>(of(ex).polled_imm); };
  return &cq->ex;
}

void add_builders(ibv_qp_ex& ex) {
  ex.wr_start = [](ibv_qp_ex* qp) { of(qp).path = "builders"; };
  ex.wr_send = [](ibv_qp_ex* qp) { of(qp).has_imm = false; };
  ex.wr_send_imm = [](ibv_qp_ex* qp, __be32 imm) {
    of(qp).imm = imm;
    of(qp).path += " imm32";
  };
  ex.wr_send_imm64 = [](ibv_qp_ex* qp, __be64 imm) {
    of(qp).imm = imm;
    of(qp).path += " imm64";
  };
  ex.wr_set_ru_addr = [](ibv_qp_ex* qp, ibv_ah_ex* ah, unsigned) {
    of(qp).destination = ah->remote_qpn;
  };
  ex.wr_set_job_key = [](ibv_qp_ex*, std::uint32_t) {};
  ex.wr_set_sge_list = [](ibv_qp_ex* qp, std::size_t count, const ibv_sge* list) {
    of(qp).pieces = pieces_of(list, count);
    of(qp).path += " sge";
  };
  ex.wr_set_sge64_list = [](ibv_qp_ex* qp, std::size_t count, const ibv_sge64* list) {
    of(qp).pieces = pieces_of(list, count);
    of(qp).path += " sge64";
  };
  ex.wr_set_inline_data_list = [](ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* list) {
    of(qp).pieces.clear();
    for (std::size_t i = 0; i < count; i++)
      of(qp).pieces.emplace_back(static_cast<char*>(list[i].addr), list[i].length);
    of(qp).path += " inline";
  };
  ex.wr_complete = [](ibv_qp_ex* qp) {
    if (const int error = refusal("wr_complete")) return error;
    carry(of(qp), qp->wr_id);
    return 0;
  };
}

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr) {
  Qp* qp = make<Qp>("create_qp_ex");
  if (!qp) return nullptr;
  const std::lock_guard lock(device->mutex);
  qp->ex.qp_base.context = context;
  qp->cq = &of(attr->send_cq);
  const bool given = attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS;
  if (given) current.asked_qpn = attr->source_qpn;
  qp->ex.qp_base.qp_num = given ? attr->source_qpn : device->next_qpn++;
  device->qps[qp->ex.qp_base.qp_num] = qp;
  add_builders(qp->ex);
  return &qp->ex.qp_base;
}

int query_device_ex(ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex* attr,
                    std::size_t) {
  *attr = {};
  attr->orig_attr.max_sge = 8;
  attr->orig_attr.max_qp_wr = 4096;
  attr->orig_attr.phys_port_cnt = 1;
  attr->device_cap_flags_ex = current.caps;
  return refusal("query_device_ex");
}

int query_port(ibv_context*, std::uint8_t, ibv_port_attr* attr, std::size_t) {
  *attr = {};
  attr->gid_tbl_len = 2;
  attr->max_msg_sz = 1 << 20;
  return refusal("query_port");
}

}  // namespace

State& state() {
  return current;
}

State& reset() {
  current = {};
  delete device;
  device = new Device;
  device->device.transport_type = current.transport;
  verbs_context& context = device->context;
  context.sz = sizeof(context);
  context.context.device = &device->device;
  context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  context.context.ops.post_send = post_send;
  context.context.ops.post_recv = post_recv;
  context.context.ops.poll_cq = poll_cq;
  context.context.ops.req_notify_cq = req_notify_cq;
  context.post_recv64 = post_recv64;
  context.create_cq_ex = create_cq_ex;
  context.create_qp_ex = create_qp_ex;
  context.query_device_ex = query_device_ex;
  context.query_port = query_port;
  return current;
}

}  // namespace fake

// What libibverbs exports, as far as the program calls it.
extern "C" {

using namespace fake;

ibv_device** ibv_get_device_list(int* count) {
  device->device.transport_type = current.transport;
  *count = current.device_exists ? 1 : 0;
  return new ibv_device* [2] { current.device_exists ? &device->device : nullptr, nullptr };
}
void ibv_free_device_list(ibv_device** list) {
  delete[] list;
}
const char* ibv_get_device_name(ibv_device*) {
  return "cxi0";
}

ibv_context* ibv_open_device(ibv_device*) {
  if (const int error = refusal("open_device")) {
    errno = error;
    return nullptr;
  }
  const std::lock_guard lock(device->mutex);
  current.alive++;
  return &device->context.context;
}
int ibv_close_device(ibv_context*) {
  const std::lock_guard lock(device->mutex);
  current.alive--;
  return 0;
}

int _ibv_query_gid_ex(ibv_context*, std::uint32_t, std::uint32_t index, ibv_gid_entry* entry,
                      std::uint32_t, std::size_t) {
  if (index != 0) return ENODATA;
  *entry = {};
  entry->gid.raw[0] = 0xfe;
  entry->gid.raw[1] = 0x80;
  entry->gid.raw[15] = 1;
  return refusal("query_gid_ex");
}

ibv_comp_channel* ibv_create_comp_channel(ibv_context*) {
  return reinterpret_cast<ibv_comp_channel*>(make<Channel>("create_comp_channel"));
}
int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  return destroy("destroy_comp_channel", reinterpret_cast<Channel*>(channel));
}
int ibv_get_cq_event(ibv_comp_channel* ibv, ibv_cq** cq, void**) {
  auto* channel = reinterpret_cast<Channel*>(ibv);
  eventfd_t one;
  if (eventfd_read(channel->channel.fd, &one) != 0) return -1;
  const std::lock_guard lock(device->mutex);
  *cq = ibv_cq_ex_to_cq(&channel->events.front()->ex);
  channel->events.pop_front();
  return 0;
}
void ibv_ack_cq_events(ibv_cq* cq, unsigned count) {
  of(cq).ex.comp_events_completed += count;
}

ibv_pd* ibv_alloc_pd(ibv_context*) {
  return make<ibv_pd>("alloc_pd");
}
int ibv_dealloc_pd(ibv_pd* pd) {
  return destroy("dealloc_pd", pd);
}

ibv_job* ibv_alloc_job(ibv_context*, ibv_job_attr* attr, void*) {
  current.job_id = attr->id;
  return make<ibv_job>("alloc_job");
}
int ibv_dealloc_job(ibv_job* job) {
  return destroy("dealloc_job", job);
}
ibv_job_key* ibv_create_jkey(ibv_pd*, ibv_job*, unsigned) {
  return make<ibv_job_key>("create_jkey");
}
int ibv_destroy_jkey(ibv_job_key* key) {
  return destroy("destroy_jkey", key);
}

#undef ibv_reg_mr
ibv_mr* ibv_reg_mr(ibv_pd*, void*, std::size_t, int) {
  return make<ibv_mr>("reg_mr");
}
ibv_mr* ibv_reg_mr_iova2(ibv_pd*, void*, std::size_t, std::uint64_t, unsigned) {
  return make<ibv_mr>("reg_mr");
}
int ibv_dereg_mr(ibv_mr* mr) {
  return destroy("dereg_mr", mr);
}

int ibv_destroy_cq(ibv_cq* cq) {
  return destroy("destroy_cq", &of(cq));
}
int ibv_destroy_qp(ibv_qp* qp) {
  {
    const std::lock_guard lock(device->mutex);
    device->qps.erase(qp->qp_num);
  }
  return destroy("destroy_qp", &of(qp));
}
ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  return &of(qp).ex;
}
int ibv_query_qp(ibv_qp*, ibv_qp_attr*, int, ibv_qp_init_attr* init) {
  init->cap.max_inline_data = current.max_inline;
  return refusal("query_qp");
}

ibv_ah* ibv_create_ah_ex(ibv_pd*, ibv_ah_attr_ex* attr) {
  auto* ah = make<ibv_ah_ex>("create_ah_ex");
  if (!ah) return nullptr;
  ah->remote_qpn = attr->remote_qpn;
  return &ah->ah_base;
}
ibv_ah_ex* ibv_ah_to_ah_ex(ibv_ah* ah) {
  return reinterpret_cast<ibv_ah_ex*>(ah);
}
int ibv_destroy_ah(ibv_ah* ah) {
  return destroy("destroy_ah", ibv_ah_to_ah_ex(ah));
}

const char* ibv_wc_status_str(enum ibv_wc_status) {
  return "some status";
}
}
