// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The objects that the provider hangs behind the public ones, and the way from one to the other.
//
// Locks, in the order in which they are taken:
//   Context::topology   which queue pairs exist and use which queues; state changes. May sleep.
//   SendQueue::post_lock  who posts; the builder holds it from wr_start to wr_complete.
//   Cq::lock            the reader of an event ring. A thread holds at most one.
//   SendQueue::lock, RecvQueue::lock   requests, and the commands for them. Never both.
//   Cq::ready_lock, Cq::arm_lock, Cq::wake_lock   the list of queues with completions that no event
//                       brings; the software-state word; the time at which to be woken.
// Between ibv_start_poll() and ibv_end_poll() a program holds a Cq::lock: what it may well call
// there (polls, posts, arming, reading counters) waits for neither the topology nor another
// Cq::lock. Where a program promises that one thread uses a Cq and everything on it, the Cq has no
// lock; share() gives it one as soon as something of another thread will look at it. A queue pair
// leaves its queues' lists under the Cq::lock of each, so that who holds it may use any queue pair
// that it finds there.
#pragma once

#include <infiniband/driver.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "address.hpp"
#include "command_queue.hpp"
#include "completion_table.hpp"
#include "counter.hpp"
#include "dv_objects.hpp"
#include "event_ring.hpp"
#include "key_table.hpp"
#include "lock.hpp"
#include "rdma/cxiverbs-abi.h"
#include "staging.hpp"

namespace cxi {

struct Qp;
struct Cq;
struct Attachment;
namespace dv {
struct Eq;
}

constexpr std::uint32_t max_inline_bytes = 192;
constexpr std::uint32_t max_sges = 16;          // what a send slot can remember of a request
constexpr std::uint32_t send_slot_bytes = 256;  // header at 0, payload at payload_offset
constexpr std::uint32_t payload_offset = 64;
constexpr std::uint32_t operand_offset = 128;  // of an atomic, behind its longer command
constexpr std::uint32_t qp_slots = 1024;
constexpr std::uint32_t pte_numbers = 2048;

struct Context {
  verbs_context ibv;
  Geometry geometry;
  std::uint32_t nid;
  std::uint32_t svc_id;
  std::uint32_t max_inline;
  std::uint32_t max_eq_reserve;
  NativeObjects native;
  pthread_mutex_t topology;
  pthread_mutex_t keys_mutex;
  LocalKeys local_keys;
  JobKeys job_keys;
  std::atomic<bool> dead;               // the device is gone
  std::atomic<std::uint64_t> asked_ns;  // when a poll has last asked whether it is
  std::uint32_t next_generation;
  std::atomic<Qp*> qps[qp_slots];           // by the slot in user_ptr
  std::atomic<Qp*> receivers[pte_numbers];  // by receive or memory entry
  // By the entry of an indexed region: where it is attached. Guarded by the Cq::lock of the queue
  // that serves the entry.
  std::atomic<Attachment*> indexed[pte_numbers];
};

struct Td {
  ibv_td ibv;
  std::atomic<unsigned> references;  // parent domains, completion queues
};

struct Pd {
  ibv_pd ibv;
  Pd* base;  // the domain itself, or the one that a parent domain stands for
  Td* td;    // of a parent domain
  std::atomic<unsigned> references;  // what was made in it, its staging area, parent domains
  cxidv_lni* lni;                    // null: the context's own
  std::atomic<std::uint32_t> pid;    // of its queue pairs; C_PID_ANY before the first one
  Staging* staging;  // two, send and receive; made by the first queue pair that needs them
  ibv_mr* staging_mr;
};

struct Mr {
  verbs_mr ibv;
  std::uint32_t key;
  std::uint8_t lac;
  std::uint64_t iova;  // of its first byte, for the NIC
  std::uint64_t length;
  Mr* parent;                     // of a derived region
  std::atomic<unsigned> derived;  // regions that share its memory
  Attachment* attachments;        // guarded by Context::topology
};

/// A region that a queue pair gives access to. Guarded by Context::topology; its place in
/// Context::indexed by the Cq::lock of the receive queue.
struct Attachment {
  Qp* qp;
  Mr* mr;
  Attachment* next_of_qp;
  Attachment* next_of_mr;
  Attachment* next_indexed;
  std::uint16_t pte;
  std::uint16_t plain_id;  // of its list entries; 0: there is none
  std::uint16_t immediate_id;
  std::uint16_t atomic_id;
};

/// Answers to commands of a target queue that somebody waits for. Guarded by Cq::lock.
struct AwaitedAnswers {
  std::uint16_t pte;
  std::uint16_t ids[3];  // 0: not, or not any more
  unsigned missing;
  bool refused;
};

struct Job {
  ibv_job ibv;
  const std::uint64_t* table;
  std::size_t table_bytes;
  std::uint32_t entries;
  std::atomic<unsigned> keys;
};

struct JobKey {
  ibv_job_key ibv;
  Job* job;
};

struct Ah {
  ibv_ah_ex ibv;
  Peer peer;
};

/// What a poll finds: everything that any reader may ask for.
struct Completion {
  std::uint64_t wr_id;
  std::uint64_t immediate;  // as it lies in memory at both ends
  std::uint64_t timestamp_ns;
  std::uint32_t byte_len;
  std::uint32_t qp_num;
  std::uint32_t src_qp;
  std::uint32_t src_id;
  std::uint32_t job_id;
  std::uint32_t vendor_err;
  std::uint32_t wc_flags;
  ibv_wc_status status;
  ibv_wc_opcode opcode;
};

/// One direction of a queue pair, as a member of the lists of its completion queue.
struct Side {
  Qp* qp;
  Cq* cq;
  bool is_send;
  bool queued;       // on the ready list; guarded by the side's own lock
  Side* next_ready;  // guarded by Cq::ready_lock
  Side* next_on_cq;  // guarded by Cq::lock and Context::topology
};

struct Cq {
  verbs_cq ibv;
  Context* context;
  Lock lock;
  EventRing ring;
  std::byte* sw_page;
  volatile std::uint64_t* sw_state;
  std::uint32_t eq_handle;
  std::uint32_t eqn;
  std::uint32_t reserve;  // slots that network events cannot take; guarded by Context::topology
  bool ring_b;            // which of two rings is read; they change when the NIC switches
  std::uint32_t eq_flags;
  cxidv_lni* lni;    // null: the context's own
  Pd* parent;        // the parent domain that it was made with, if any
  dv::Eq* borrowed;  // the program's event queue; null: the CQ made its own
  bool has_channel;
  bool timestamps;
  std::atomic<bool> failed_qps;  // a COMMAND_FAILURE was read: the queue pair's state must follow
  std::atomic<bool> quiet;    // polls find nothing: it is time to see whether the device is there
  std::uint32_t empty_polls;  // in a row
  bool dead_flushed;
  AwaitedAnswers* awaited;

  // Commands that may still be in flight. Each holds two slots of the ring that network events
  // cannot take, until the event that answers it has been acknowledged.
  std::atomic<std::int32_t> credits;
  std::uint32_t credits_here;    // answers read from the slot that is partly read
  std::uint32_t credits_passed;  // answers in slots that can be acknowledged
  std::uint32_t acked_slot;
  std::uint32_t ack_after;  // slots that may be read and not acknowledged

  Lock ready_lock;
  std::atomic<Side*> ready_head;
  Side* ready_tail;

  Side* sides;
  std::atomic<std::uint32_t>
      foreign_sends;                    // receiving sides whose sends complete on another queue
  std::atomic<std::uint32_t> retrying;  // queue pairs with requests that wait for their repeat

  // Notification. The NIC notifies once per value of the armed word.
  Lock arm_lock;
  std::atomic<bool> armed;
  bool ever_armed;
  std::uint8_t armed_value;
  std::uint8_t next_value;
  std::uint8_t arms;  // calls of req_notify with next_value
  Lock wake_lock;
  std::uint64_t wake_ns;  // when the kernel is to wake who sleeps since the last arming; 0: never

  Completion current;  // between start_poll and end_poll
  // Without locks: one thread uses the queue, its queue pairs and what is attached to them.
  std::atomic<bool> single_threaded;
  Td* td;  // the thread domain whose thread that is, if it is one's
};

enum class Progress : std::uint8_t { in_flight, waiting, done };

/// How the commands of a request are kept in its slot.
enum class Form : std::uint8_t {
  message,  ///< header of a small message, payload behind it
  dma,      ///< one DMA command
  pieces,   ///< a DMA command, and the pieces of memory for which it is repeated
  atomic,   ///< a DMA command of the longer kind, its operand behind it
};

struct SendRequest {
  std::uint64_t wr_id;
  std::uint64_t due_ns;  // when it waits: of its repeat
  std::uint64_t timestamp_ns;
  std::uint32_t length;
  std::uint32_t staged_at;  // offset of its staging block, or UnitMap::none
  Progress progress;
  OpClass op;
  ibv_wc_opcode opcode;
  ibv_wc_status status;
  std::uint8_t vendor_err;
  bool reported;  // asked for a completion also when it succeeds
  Form form;
  std::uint8_t commands;      // that it takes; each holds a credit
  std::uint8_t answers_left;  // while in flight
  Counter* counter;           // of its kind of request when it was posted; null: none
  std::uint8_t failed_code;   // of the answers so far, what counts most; 0: none failed
  Outcome failure;
  std::uint8_t index_ext;
  std::uint8_t lcid;
  std::uint16_t vni;
  std::uint8_t rnr_left;
  std::uint8_t transport_left;
  std::uint8_t transport_tries;
};

enum class Action : std::uint8_t { send, write, read, fetch_add, compare_swap };

/// What a kind of request is: for return codes, in its completion, on the wire.
struct Operation {
  Action action;
  OpClass op;
  ibv_wc_opcode completion;
  Immediate immediate;
  std::uint8_t portal;   // entries that it goes to; the target's resource index is added
  std::uint8_t indexed;  // the same for indexed regions, to which their index is added
};
namespace operations {
inline constexpr Operation send{Action::send,    OpClass::send,      IBV_WC_SEND,
                                Immediate::none, CXI_ABI_INDEX_RECV, 0};
inline constexpr Operation send_imm{Action::send,      OpClass::send,      IBV_WC_SEND,
                                    Immediate::bits32, CXI_ABI_INDEX_RECV, 0};
inline constexpr Operation send_imm64{Action::send,      OpClass::send,      IBV_WC_SEND,
                                      Immediate::bits64, CXI_ABI_INDEX_RECV, 0};
inline constexpr Operation write{Action::write,   OpClass::rdma,        IBV_WC_RDMA_WRITE,
                                 Immediate::none, CXI_ABI_INDEX_MEMORY, CXI_ABI_INDEX_INDEXED};
inline constexpr Operation write_imm{Action::write,        OpClass::rdma_immediate,
                                     IBV_WC_RDMA_WRITE,    Immediate::bits32,
                                     CXI_ABI_INDEX_MEMORY, CXI_ABI_INDEX_INDEXED};
inline constexpr Operation write_imm64{Action::write,        OpClass::rdma_immediate,
                                       IBV_WC_RDMA_WRITE,    Immediate::bits64,
                                       CXI_ABI_INDEX_MEMORY, CXI_ABI_INDEX_INDEXED};
inline constexpr Operation read{Action::read,
                                OpClass::rdma,
                                IBV_WC_RDMA_READ,
                                Immediate::none,
                                CXI_ABI_INDEX_MEMORY_READ,
                                CXI_ABI_INDEX_INDEXED_READ};
inline constexpr Operation fetch_add{Action::fetch_add,    OpClass::rdma,
                                     IBV_WC_FETCH_ADD,     Immediate::none,
                                     CXI_ABI_INDEX_MEMORY, CXI_ABI_INDEX_INDEXED};
inline constexpr Operation compare_swap{Action::compare_swap, OpClass::rdma,
                                        IBV_WC_COMP_SWAP,     Immediate::none,
                                        CXI_ABI_INDEX_MEMORY, CXI_ABI_INDEX_INDEXED};
}  // namespace operations

/// A request between the builder's calls, or as post_send reads it.
struct SendWork {
  const Operation* operation;
  std::uint64_t wr_id;
  std::uint64_t immediate;
  unsigned flags;
  bool has_address;
  bool has_data;
  bool has_inline;
  bool addressed_by_table;
  std::uint32_t table_index;
  Peer peer;
  std::uint32_t job_key;  // 0: the queue pair's own
  std::uint32_t inline_bytes;
  std::uint32_t num_sge;
  std::uint64_t remote_key;  // in its wide form
  std::uint64_t remote_addr;
  std::uint64_t operand;  // what is added, or what is swapped in
  std::uint64_t compare;
};

struct SendQueue {
  Side side;
  Lock post_lock;
  Lock lock;
  CommandQueue commands;
  SendRequest* requests;
  std::uint32_t mask;
  std::uint32_t limit;
  std::uint32_t max_sge;
  std::uint32_t head;     // oldest request that is not over
  std::uint32_t tail;     // behind the last one that was announced
  std::uint32_t next;     // behind the last one that was appended
  std::uint32_t waiting;  // requests that wait for their repeat
  std::uint64_t next_due_ns;
  std::byte* slots;
  std::size_t slots_bytes;
  std::uint64_t slots_iova;
  std::uint8_t slots_lac;

  Counter* counters[3];  // by enum class Counted

  CommandQueue::Mark announced;  // where the command queue stood then

  // The builder, from wr_start to wr_complete or wr_abort.
  SendWork work;
  bool building;   // commands stand in the ring that may be taken back: nobody else adds any
  bool work_open;  // a request was begun and is not appended yet
  int error;       // the first one
  ibv_sge64* sges;
};

enum class Posted : std::uint8_t { free, posted, done };

struct RecvSlot {
  std::uint64_t wr_id;
  std::uint64_t capacity;
  std::uint32_t staged_at;
  std::uint32_t num_pieces;  // of its scatter list, when staged
  Counter* counter;          // of the queue when it was posted; null: none
  std::uint16_t next;
  std::uint16_t previous;
  Posted state;
  Completion completion;  // once it is done without being polled
};

/// Receive slots in the order of a list; slot numbers start at 1, as buffer ids do.
struct SlotList {
  std::uint16_t first;
  std::uint16_t last;
};

struct RecvQueue {
  Side side;
  Lock lock;
  CommandQueue commands;
  RecvSlot* slots;   // [0] unused
  Counter* counter;  // of receives
  Piece* pieces;     // max_sge per slot, where max_sge > 1
  std::uint32_t limit;
  std::uint32_t max_sge;
  std::uint32_t used;
  std::uint16_t free;
  SlotList posted;
  SlotList done;
};

struct Qp {
  verbs_qp ibv;
  Context* context;
  Pd* domain;
  Cq* send_cq;
  Cq* recv_cq;
  std::atomic<ibv_qp_state> state;
  std::uint32_t slot;
  std::uint32_t generation;
  std::uint64_t user_ptr;  // of its requests, with index 0
  std::uint32_t initiator;
  std::uint32_t src_id;
  std::uint32_t ri;
  std::uint16_t eqn;  // of the send CQ
  std::uint16_t recv_pte;
  std::uint16_t mem_pte;
  std::uint16_t vni;
  Job* job;                   // of its own key
  std::uint32_t profile_key;  // the own key, where the profile is not that of the key; else 0
  std::uint8_t first_lcid;
  bool signal_all;
  std::atomic<bool> failed;
  std::atomic<bool> target_stopped;  // the NIC executes no command of its target queue any more
  Attachment* attachments;           // guarded by Context::topology
  std::uint8_t rnr_retry;
  std::uint8_t retry_cnt;
  std::uint8_t min_rnr_timer;
  std::uint32_t max_inline;
  std::int32_t credits;  // added to the send CQ when it was made
  SendQueue send;
  RecvQueue recv;
};

inline Context& context_of(ibv_context* context) noexcept {
  return *reinterpret_cast<Context*>(reinterpret_cast<std::byte*>(context) -
                                     offsetof(verbs_context, context));
}
static_assert(offsetof(Context, ibv) == 0);

/// What is still to come of earlier requests is not taken for the answer to later ones. With
/// Context::topology and, while events can find the queue pair, SendQueue::lock and Cq::lock.
inline void begin_generation(Qp& qp) noexcept {
  qp.generation = ++qp.context->next_generation;
  qp.user_ptr = user_ptr::qp_slot::encode(qp.slot) | user_ptr::generation::encode(qp.generation);
}

inline Pd& pd_of(ibv_pd* pd) noexcept {
  return *reinterpret_cast<Pd*>(pd);
}
inline Job& job_of(ibv_job* job) noexcept {
  return *reinterpret_cast<Job*>(job);
}
inline Cq& cq_of(ibv_cq* cq) noexcept {
  return *reinterpret_cast<Cq*>(cq);
}
inline Cq& cq_of(ibv_cq_ex* cq) noexcept {
  return *reinterpret_cast<Cq*>(cq);
}
inline Qp& qp_of(ibv_qp* qp) noexcept {
  return *reinterpret_cast<Qp*>(qp);
}
inline Qp& qp_of(ibv_qp_ex* qp) noexcept {
  return *reinterpret_cast<Qp*>(qp);
}
static_assert(offsetof(Pd, ibv) == 0 && offsetof(Job, ibv) == 0 && offsetof(Cq, ibv) == 0 &&
              offsetof(Qp, ibv) == 0 && offsetof(Mr, ibv) == 0 && offsetof(Ah, ibv) == 0);

/// For pthread mutexes of the slow paths.
class [[nodiscard]] MutexGuard {
 public:
  explicit MutexGuard(pthread_mutex_t& mutex) noexcept : mutex_(mutex) {
    pthread_mutex_lock(&mutex_);
  }
  MutexGuard(const MutexGuard&) = delete;
  MutexGuard& operator=(const MutexGuard&) = delete;
  ~MutexGuard() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t& mutex_;
};

/// The same, taken only if it is free: for who may hold the lock of a queue that is being polled,
/// which the one who holds the mutex may wait for.
class [[nodiscard]] MutexTry {
 public:
  explicit MutexTry(pthread_mutex_t& mutex) noexcept
      : mutex_(mutex), taken_(pthread_mutex_trylock(&mutex) == 0) {}
  MutexTry(const MutexTry&) = delete;
  MutexTry& operator=(const MutexTry&) = delete;
  ~MutexTry() {
    if (taken_) pthread_mutex_unlock(&mutex_);
  }
  explicit operator bool() const noexcept { return taken_; }

 private:
  pthread_mutex_t& mutex_;
  bool taken_;
};

/// Pointer functions end with this: NULL, and errno says why.
inline std::nullptr_t null_with_errno(int error) noexcept {
  errno = error;
  return nullptr;
}
/// Integer functions of jobs and the like: the errno value, told to errno too.
inline int with_errno(int error) noexcept {
  if (error) errno = error;
  return error;
}

}  // namespace cxi
