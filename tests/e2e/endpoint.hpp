// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// One side of a reliable-unconnected exchange, for end-to-end tests: opens a device, makes
// everything a queue pair needs, and knows how to fill and to check a buffer. Failures throw: a
// test program prints what() and exits with 1.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace e2e {

struct Address {  // what a peer has to know
  union ibv_gid gid;
  uint32_t qpn;
  uint64_t rkey64;  // of the buffer, where peers may access it
  uint32_t rkey;
};

struct Options {
  std::string device = "cxi0";
  uint32_t job_id = 1;
  std::function<ibv_job*(ibv_context*)> make_job = {};  // instead of allocating it
  uint32_t depth = 16;                                  // send and receive work requests
  uint32_t sges = 1;
  bool events = false;  // sleep on the completion channel instead of polling
  bool imm64 = false;   // ask for 64-bit immediate data
  bool timestamps = false;
  bool rma = false;             // peers may read, write and change the buffer
  bool indexed = false;         // the buffer's region has a portal index of its own
  std::optional<uint32_t> qpn;  // asked for
  uint32_t src_id = 7;
  uint8_t rnr_retry = 7;
  uint8_t retry_cnt = 7;
  size_t buffer_bytes = 1 << 20;
};

struct Completion {
  uint64_t wr_id;
  ibv_wc_status status;
  uint32_t vendor_err;
  ibv_wc_opcode opcode;
  uint32_t byte_len;
  unsigned wc_flags;
  uint64_t imm;    // in host order
  uint32_t imm32;  // the same, of a message with 32 bits
  uint32_t job_id, src_id, src_qp, qp_num;
  uint64_t raw_time, wall_ns;  // where they were asked for
};

enum class Operation {
  send,
  send_imm,
  send_imm64,
  write,
  write_imm,
  write_imm64,
  read,
  fetch_add,
  cmp_swap
};

// What a request names instead of the peer's buffer.
struct Remote {
  uint64_t rkey64;
  uint32_t rkey;
  uint64_t address;
};

// A request through the builders: between a part of the own buffer and a part of the peer's.
struct Request {
  Operation operation;
  uint64_t wr_id;
  size_t peer = 0;  // in order of connect()
  size_t at = 0, bytes = 0;
  uint64_t remote_at = 0;
  bool use_inline = false, solicited = false;
  uint64_t imm = 0;
  uint64_t operand = 0, swap = 0;  // what is added, or compared with
  std::optional<Remote> remote = {};
  std::optional<uint32_t> jkey = {};      // another than the own
  std::optional<unsigned> addr_idx = {};  // instead of the peer's address handle
};

inline bool is_atomic(Operation operation) {
  return operation == Operation::fetch_add || operation == Operation::cmp_swap;
}
inline bool is_send(Operation operation) {
  return operation <= Operation::send_imm64;
}
// 0, 32 or 64 bits.
unsigned imm_bits(Operation operation);
const char* name(Operation operation);
// What the initiator's completion must say.
ibv_wc_opcode opcode_of(Operation operation);

[[noreturn]] inline void fail(const std::string& what, int error = 0) {
  throw std::runtime_error(error ? what + ": " + strerror(error) : what);
}

template <class T, int (*release)(T*)>
struct Releaser {
  void operator()(T* object) const { release(object); }
};
template <class T, int (*release)(T*)>
using Owned = std::unique_ptr<T, Releaser<T, release>>;

class Endpoint {
 public:
  explicit Endpoint(const Options& options);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  Address address() const;
  void connect(const Address& peer);  // one more peer

  // The usable part of the buffer; 64 guard bytes stand before and behind it.
  uint8_t* data() { return buffer_.data() + guard; }
  void clear();
  // The bytes of a message are one after the other, or lie where the pieces of a request do.
  enum class Layout { straight, pieces };
  // A message with the pattern of `seed`, at the start.
  void fill(size_t bytes, uint32_t seed, Layout layout = Layout::straight);
  // Throws unless that message is at the start and the rest is untouched.
  void check(size_t bytes, uint32_t seed, Layout layout = Layout::straight) const;
  // The message in the pieces of a request, for which there is room at `at`.
  std::vector<uint8_t> gather(size_t at, size_t bytes) const;
  void scatter(size_t at, std::span<const uint8_t> message);

  static uint8_t pattern(size_t at, uint32_t seed);
  std::span<const uint8_t> guarded() const { return buffer_; }

  int post_recv(uint64_t wr_id, size_t bytes, size_t at = 0);
  // Waits until the NIC has the receives that were posted: it executes the commands of a queue in
  // order, and attaching waits for its own. What a peer sends earlier may be refused; it is
  // repeated then, behind what was sent later.
  void wait_until_posted();
  int post(const Request& request);
  enum class Immediate { none, imm32, imm64 };
  // Through ibv_post_send where builders is false (then no 64-bit immediate data).
  int post_send(uint64_t wr_id, size_t bytes, Immediate immediate, uint64_t imm, bool builders,
                bool use_inline = false);

  bool poll(Completion& completion);  // one completion, if there is one
  // Waits for one completion, by polling or by sleeping on the channel as the options say. `alive`
  // is asked now and then; false gives up.
  Completion wait(const std::function<bool()>& alive = {});

  ibv_context* context() { return context_.get(); }
  ibv_pd* pd() { return pd_.get(); }
  ibv_job* job() { return job_.get(); }
  ibv_job_key* job_key() { return jkey_.get(); }
  ibv_mr* mr() { return mr_.get(); }
  ibv_comp_channel* channel() { return channel_.get(); }
  ibv_cq* cq() { return cq_owner_.get(); }
  ibv_qp* qp() { return qp_.get(); }
  ibv_qp* release_qp() { return qp_.release(); }  // the caller destroys it
  void set_state(ibv_qp_state state);

  static constexpr size_t guard = 64;

 private:
  void open();
  void make_queue_pair();
  struct Piece {
    size_t at, bytes;
  };
  static std::vector<Piece> pieces(size_t bytes, size_t count);
  std::vector<ibv_sge64> slices(size_t at, size_t bytes, size_t count) const;

  Options options_;
  Owned<ibv_context, ibv_close_device> context_;
  Owned<ibv_comp_channel, ibv_destroy_comp_channel> channel_;
  Owned<ibv_pd, ibv_dealloc_pd> pd_;
  Owned<ibv_job, ibv_dealloc_job> job_;
  Owned<ibv_job_key, ibv_destroy_jkey> jkey_;
  std::vector<uint8_t> buffer_;
  Owned<ibv_mr, ibv_dereg_mr> mr_;
  ibv_cq_ex* cq_ = nullptr;
  Owned<ibv_cq, ibv_destroy_cq> cq_owner_;
  Owned<ibv_qp, ibv_destroy_qp> qp_;
  ibv_qp_ex* qp_ex_ = nullptr;
  std::vector<Address> peers_;
  std::vector<Owned<ibv_ah, ibv_destroy_ah>> ways_;
  union ibv_gid gid_ {};
  unsigned unacknowledged_ = 0;
};

}  // namespace e2e
