// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What the provider's files offer each other, and the operations that make up its table.
#pragma once

#include "channel.hpp"
#include "objects.hpp"

namespace cxi {

std::uint64_t monotonic_ns() noexcept;
/// The same clock, a few milliseconds behind.
std::uint64_t coarse_monotonic_ns() noexcept;
std::uint64_t realtime_ns() noexcept;

// dv_objects.cpp
void init_native(Context& context) noexcept;
/// Frees the library's side of the native objects that the program has left; the kernel's goes when
/// the device is closed.
void forget_native(Context& context) noexcept;

// region.cpp
ibv_mr* reg_mr(ibv_pd* pd, void* addr, std::size_t length, std::uint64_t hca_va,
               int access) noexcept;
ibv_mr* reg_mr_ex(ibv_pd* pd, ibv_mr_init_attr* attr) noexcept;
ibv_mr* reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova,
                      int fd, int access) noexcept;
int rereg_mr(verbs_mr* mr, int flags, ibv_pd* pd, void* addr, std::size_t length,
             int access) noexcept;
int dereg_mr(verbs_mr* mr) noexcept;
/// Gives a region back that is attached nowhere. Returns 0 or an errno value.
int release_region(Mr& mr) noexcept;

// attach.cpp
int attach_mr(ibv_qp* qp, ibv_mr* mr) noexcept;
int detach_mr(ibv_qp* qp, ibv_mr* mr) noexcept;
/// Detaches a region from every queue pair. Returns 0 or an errno value. With Context::topology.
int detach_everywhere(Mr& mr) noexcept;
/// Detaches the indexed regions of a queue pair, whose entries outlive it. With Context::topology.
void detach_indexed(Qp& qp) noexcept;
/// Forgets the regions of a queue pair that is no more. With Context::topology.
void forget_attachments(Qp& qp) noexcept;
/// Where an indexed region is attached whose immediate entry an event names; null: nowhere. With
/// the Cq::lock of the ring that has the event.
Attachment* find_indexed(const Context& context, EventView event) noexcept;
/// Takes the answer to a command of a target queue, if somebody waits for it. With Cq::lock.
bool take_answer(Cq& cq, EventView event) noexcept;

// counter.cpp
ibv_comp_cntr* create_comp_cntr(ibv_context* context, ibv_comp_cntr_init_attr* attr) noexcept;
int destroy_comp_cntr(ibv_comp_cntr* counter) noexcept;
int set_comp_cntr(ibv_comp_cntr* counter, std::uint64_t value) noexcept;
int inc_comp_cntr(ibv_comp_cntr* counter, std::uint64_t amount) noexcept;
int read_comp_cntr(ibv_comp_cntr* counter, std::uint64_t* value) noexcept;
int set_err_comp_cntr(ibv_comp_cntr* counter, std::uint64_t value) noexcept;
int inc_err_comp_cntr(ibv_comp_cntr* counter, std::uint64_t amount) noexcept;
int read_err_comp_cntr(ibv_comp_cntr* counter, std::uint64_t* value) noexcept;
int query_comp_cntr_caps(ibv_context* context, ibv_comp_cntr_caps* caps, std::size_t size) noexcept;
int qp_attach_comp_cntr(ibv_qp* qp, ibv_comp_cntr* counter,
                        ibv_qp_attach_comp_cntr_attr* attr) noexcept;
/// Of a queue pair that is no more.
void let_counters_go(Qp& qp) noexcept;

// pd.cpp
ibv_pd* alloc_pd(ibv_context* context) noexcept;
/// A domain on a logical NI. Returns 0 or an errno value.
int make_pd(Context& context, cxidv_lni* lni, std::uint32_t lni_handle, Pd*& made) noexcept;
int dealloc_pd(ibv_pd* pd) noexcept;
ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attr) noexcept;
int dealloc_td(ibv_td* td) noexcept;
ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attr) noexcept;
/// The staging areas of a domain, made when they are first needed. Returns 0 or an errno value.
int need_staging(Pd& domain) noexcept;
inline Staging& send_staging(Pd& domain) noexcept {
  return domain.staging[0];
}
inline Staging& recv_staging(Pd& domain) noexcept {
  return domain.staging[1];
}

// job.cpp
ibv_job* alloc_job(ibv_context* context, ibv_job_attr* attr, void* user_context) noexcept;
int dealloc_job(ibv_job* job) noexcept;
int query_job(ibv_job* job, ibv_job_attr* attr) noexcept;
int export_job(ibv_job* job, int* fd) noexcept;
int import_job(ibv_context* context, int fd, ibv_job** job) noexcept;
int insert_addr(ibv_job* job, ibv_ah_attr_ex* attr, unsigned index, unsigned flags) noexcept;
int remove_addr(ibv_job* job, unsigned index, unsigned flags) noexcept;
int query_addr(ibv_job* job, unsigned index, ibv_ah_attr_ex* attr, unsigned flags) noexcept;
ibv_job_key* create_jkey(ibv_pd* pd, ibv_job* job, unsigned flags) noexcept;
int destroy_jkey(ibv_job_key* key) noexcept;
/// Finds a peer in a job's address table. Returns 0 or EINVAL.
int find_in_table(const Context& context, const Job* job, std::uint32_t index, Peer& peer) noexcept;

// ah.cpp
ibv_ah* create_ah_ex(ibv_pd* pd, ibv_ah_attr_ex* attr) noexcept;
int destroy_ah(ibv_ah* ah) noexcept;
void to_kernel(const ibv_ah_attr_ex& from, ib_uverbs_ah_attr_ex& to) noexcept;
void from_kernel(const ib_uverbs_ah_attr_ex& from, ibv_ah_attr_ex& to) noexcept;

// telemetry.cpp
ibv_counters* create_counters(ibv_context* context, ibv_counters_init_attr* attr) noexcept;
int destroy_counters(ibv_counters* counters) noexcept;
int read_counters_ex(ibv_counters* counters, ibv_read_counters_attr* attr) noexcept;

// event_queue.cpp
ibv_cq* create_cq(ibv_context* context, int cqe, ibv_comp_channel* channel, int vector) noexcept;
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr) noexcept;
int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attr) noexcept;
int destroy_cq(ibv_cq* cq) noexcept;
/// What a CQ is built on.
struct CqBase {
  cxidv_lni* lni = nullptr;  // null: the context's own
  std::uint32_t lni_handle = CXI_ABI_HANDLE_NONE;
  dv::Eq* eq = nullptr;  // null: one is made
};
/// Returns 0 or an errno value.
int make_cq(Context& context, const ibv_cq_init_attr_ex& attr, const CqBase& base,
            Cq*& made) noexcept;
/// Gives what was read back to the NIC, and the credits to those who post. With Cq::lock.
void acknowledge(Cq& cq, bool now) noexcept;
/// Sees to it that what is read and not acknowledged leaves room for messages. With
/// Context::topology and Cq::lock, after the ring or what is reserved in it has changed.
void limit_unacknowledged(Cq& cq) noexcept;
/// Gives a queue without a lock one, and its queue pairs: threads beside its own will look at them.
/// By its own thread, with Context::topology.
void share(Cq& cq) noexcept;

// cq_resize.cpp
int resize_cq(ibv_cq* cq, int cqe) noexcept;
/// Sees to it that so many more slots can be reserved. Returns 0 or an errno value. With
/// Context::topology.
int make_room(Cq& cq, std::uint32_t more) noexcept;

// dv_lend.cpp: the program's event queues in the hands of CQs
/// Gives the queue to a CQ that has this channel. Returns 0 or an errno value.
int begin_lending(dv::Eq& eq, Cq& cq, ibv_comp_channel* channel) noexcept;
void end_lending(dv::Eq& eq) noexcept;
/// The CQ reads the queue from where the program has stopped, and the other way round.
void take_queue(Cq& cq, dv::Eq& eq) noexcept;
void give_queue_back(Cq& cq) noexcept;
std::uint32_t handle_of(const dv::Eq& eq) noexcept;

// notify.cpp
int req_notify_cq(ibv_cq* cq, int solicited_only) noexcept;
void cq_event(ibv_cq* cq) noexcept;
void async_event(ibv_context* context, ibv_async_event* event) noexcept;
/// Wakes who sleeps on the channel at a time of the monotonic clock or before, if the queue is
/// armed. What there will be to find then is written before.
void wake_at(Cq& cq, std::uint64_t when_ns) noexcept;
/// Writes the software-state word: what is read, and what is armed.
void store_sw_state(Cq& cq) noexcept;

// cq_poll.cpp
int poll_cq(ibv_cq* cq, int count, ibv_wc* wc) noexcept;
/// The next completion of the queue. With Cq::lock.
bool poll_one(Cq& cq, Completion& out) noexcept;
/// What every poll does before it looks, and after it has looked. With Cq::lock.
void begin_poll(Cq& cq) noexcept;
void end_of_poll(Cq& cq, bool found) noexcept;
/// Follows up what cannot be done under the queue's lock. Without any lock.
void after_poll(Cq& cq) noexcept;
/// Takes answers to send requests out of the ring, so that repeats carry on. With Cq::lock.
void look_at_answers(Cq& cq) noexcept;
/// Whether the NIC refused a command of that transmit or target queue.
bool is_failure_of(const CommandQueue& commands, bool target, EventView event) noexcept;
/// A queue whose command the NIC refused. With Cq::lock.
void note_command_failure(Cq& cq, EventView event) noexcept;
/// Reads past fillers, so that their places are given back. With Cq::lock.
void drop_fillers(Cq& cq) noexcept;
/// Event slots that each side of a queue pair reserves for what is no answer to a request.
constexpr std::uint32_t side_reserve = 8;
/// Sees to it that so many events of that kind find room in those slots: what was read is given
/// back, and events that nobody has read are set aside where answers that were taken from behind
/// them fill the slots. False: there is no memory for them. With Cq::lock.
bool make_way(Cq& cq, std::uint32_t events) noexcept;

// cq_read.cpp
void install_readers(Cq& cq, std::uint64_t wc_flags) noexcept;

// ready.cpp
void push_ready(Side& side) noexcept;  // with the side's lock
void drop_ready(Side& side) noexcept;  // with Cq::lock and the side's lock
/// Takes a completion from the ready list. With Cq::lock.
bool pop_ready(Cq& cq, Completion& out) noexcept;

// qp_create.cpp, qp_modify.cpp
ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) noexcept;
ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr) noexcept;
/// A queue pair that starts on a profile of the program, or with CXI_ABI_HANDLE_NONE on that of its
/// job key. Returns 0 or an errno value.
int make_qp(Context& context, ibv_qp_init_attr_ex& attr, std::uint32_t cp_handle,
            Qp*& result) noexcept;
int destroy_qp(ibv_qp* qp) noexcept;
int modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) noexcept;
int query_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask, ibv_qp_init_attr* init) noexcept;
int query_qp_semantics(ibv_context* context, ibv_qp_type type, std::uint8_t port,
                       std::uint8_t sgid_index, ibv_qp_semantics* semantics,
                       std::size_t length) noexcept;
/// Brings a queue pair whose command failed to the error state, as the kernel has. With
/// Context::topology.
void follow_failure(Qp& qp) noexcept;
/// The kernel tells of it, perhaps late. With Context::topology.
void hear_of_failure(Qp& qp) noexcept;

/// Only changes the kernel's state. Returns 0 or an errno value.
int command_state(Qp& qp, ibv_qp_state state) noexcept;
/// How often and how fast requests are repeated: 0, or EINVAL for a value that verbs do not have.
int check_retry_attributes(const ibv_qp_attr& attr, int mask) noexcept;
void take_retry_attributes(Qp& qp, const ibv_qp_attr& attr, int mask) noexcept;

// flush.cpp: what a change of state does to requests. With the Cq::lock of the side's queue; who
// forgets has Context::topology too.
void flush_send(Qp& qp) noexcept;
void flush_recv(Qp& qp) noexcept;
void forget_send(Qp& qp) noexcept;
void forget_recv(Qp& qp) noexcept;

// qp_send.cpp
int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad) noexcept;

// qp_append.cpp
/// Adds a request, its commands not yet announced. With SendQueue::lock. Returns 0 or an errno
/// value.
int append_request(Qp& qp, const SendWork& work, const ibv_sge64* sges) noexcept;
/// Takes back what was appended and not announced. With SendQueue::lock.
void take_back(Qp& qp) noexcept;
/// Announces what was appended. With SendQueue::lock. Returns whether a completion is there
/// already, so that whoever sleeps must be woken.
[[nodiscard]] bool announce(Qp& qp) noexcept;
inline std::byte* send_slot(const Qp& qp, std::uint32_t index) noexcept {
  return qp.send.slots + std::size_t{index & qp.send.mask} * send_slot_bytes;
}

/// Room for answers in a ring. False: there is none.
inline bool take_credits(Cq& cq, unsigned count) noexcept {
  const auto wanted = static_cast<std::int32_t>(count);
  std::int32_t left = cq.credits.load(std::memory_order_relaxed);
  do {
    if (left < wanted) return false;
  } while (!cq.credits.compare_exchange_weak(left, left - wanted, std::memory_order_acquire,
                                             std::memory_order_relaxed));
  return true;
}
inline void give_credits(Cq& cq, unsigned count) noexcept {
  cq.credits.fetch_add(static_cast<std::int32_t>(count), std::memory_order_relaxed);
}

// qp_emit.cpp
/// What the NIC counts of a request: only those of one command, each answer counts.
inline Count count_by_nic(const SendRequest& request) noexcept {
  const bool counted = request.counter && request.form != Form::pieces;
  return counted ? request.counter->for_commands() : Count{};
}
/// Keeps a piece of a request in its slot, for emit_request().
void remember_piece(std::byte* slot, std::size_t index, const Piece& piece) noexcept;
/// Writes the commands of a request, first time or again. False: no room, the queue is as before.
bool emit_request(Qp& qp, std::uint32_t index, bool fence) noexcept;

// qp_retry.cpp
/// What the answer to a request's command means for it. False: no request awaits it, and no place
/// in the ring was kept for it. With SendQueue::lock.
bool answer_request(Qp& qp, std::uint32_t index, EventView event) noexcept;
/// Repeats what is due on the queue pairs of a completion queue. With Cq::lock.
void repeat_due(Cq& cq) noexcept;
/// When the earliest repeat of its queue pairs is due; 0: none waits. With Cq::lock.
std::uint64_t earliest_repeat(const Cq& cq) noexcept;
/// Counts a request that has ended, if its queue pair counts such. With SendQueue::lock.
void count_end(const SendRequest& request) noexcept;
/// Ends a request. With SendQueue::lock.
void finish_request(Qp& qp, std::uint32_t index, ibv_wc_status status,
                    unsigned vendor_err) noexcept;
/// Drops finished requests that nobody is told of. Returns whether one at the head wants to be
/// told.
bool settle_head(SendQueue& send) noexcept;
/// The completion at the head; settle_head() has said that there is one. With SendQueue::lock.
void take_head(Qp& qp, Completion& out) noexcept;

// qp_builder.cpp
int install_builder(Qp& qp, std::uint64_t operations) noexcept;

// qp_recv.cpp
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept;
int post_recv64(ibv_qp* qp, ibv_recv_wr64* wr, ibv_recv_wr64** bad) noexcept;
/// The receive that a message took; false: the event concerns none. With RecvQueue::lock.
bool complete_receive(Qp& qp, EventView event, Completion& out) noexcept;
/// The write with immediate data that an event of a region's entry tells of; false: none was done.
bool complete_immediate_write(const Qp& qp, EventView event, Completion& out) noexcept;
void push_slot(RecvQueue& recv, SlotList& list, std::uint16_t slot) noexcept;
void unlink_slot(RecvQueue& recv, SlotList& list, std::uint16_t slot) noexcept;
void free_slot(Qp& qp, std::uint16_t slot) noexcept;

}  // namespace cxi
