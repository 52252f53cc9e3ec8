// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The verbs objects of one side.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "../common/ru_device.hpp"
#include "address.hpp"
#include "options.hpp"

namespace ru_rma {

/// Work request numbers.
enum : unsigned { read_id = 1, write_id = 2, imm_id = 3 };

constexpr std::uint32_t imm32 = 0xcaca;
constexpr std::uint64_t imm64 = 0xcacacdeadbeef;
constexpr unsigned table_index = 3;
constexpr unsigned char server_fill = 0xca;
constexpr unsigned char client_fill = 0xbe;

/// Everything from the open device to the queue pair with its attached memory. What fails is
/// explained once, in one line, by the function that returns false.
class Endpoint {
 public:
  explicit Endpoint(const Options& options) : options_(options) {}
  ~Endpoint() { static_cast<void>(release()); }
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// Opens the device and makes all objects that do not depend on the peer.
  [[nodiscard]] bool open();

  /// Makes the way to the peer, and joins its job where this side is an absolute server.
  [[nodiscard]] bool connect(const Address& peer);

  /// Destroys everything, newest first.
  [[nodiscard]] bool close() { return release(); }

  /// Between the whole buffer of this side and that of the peer.
  [[nodiscard]] bool post_read();
  [[nodiscard]] bool post_write();
  [[nodiscard]] bool post_write_with_imm();

  const Address& local() const { return local_; }
  const Address& peer() const { return peer_; }
  unsigned ifindex() const { return device_.ifindex(); }
  ibv_cq* cq() const { return cq_; }
  ibv_cq_ex* cq_ex() const { return cq_ex_; }  ///< null where ibv_post_send is tried
  std::span<const unsigned char> buffer() const { return {buffer_.get(), options_.size}; }

 private:
  bool register_buffer();
  ibv_mr* register_used_region(int access);
  bool make_cq();
  bool make_qp();
  bool try_states();
  bool attach();
  bool join_peer_job();
  bool enter_peer();
  bool learn_short_key();
  bool post_request(enum ibv_wr_opcode opcode, unsigned id);
  void start(unsigned id);
  bool complete();
  bool release();

  /// The job that requests are of, and its key.
  ibv_job* sending_job() const { return peer_job_ ? peer_job_ : device_.job(); }
  ibv_job_key* sending_key() const { return peer_key_ ? peer_key_ : device_.key(); }

  struct FreePages {
    void operator()(unsigned char* pages) const;
  };

  const Options& options_;
  examples::RuDevice device_;
  std::unique_ptr<unsigned char, FreePages> buffer_;
  ibv_mr* parent_ = nullptr;  // with --derive-mr
  ibv_mr* mr_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_cq_ex* cq_ex_ = nullptr;
  ibv_qp* qp_ = nullptr;
  ibv_qp_ex* builders_ = nullptr;
  bool attached_ = false;
  ibv_job* peer_job_ = nullptr;  // of an absolute server whose client is in another job
  ibv_job_key* peer_key_ = nullptr;
  ibv_ah* ah_ = nullptr;
  bool entered_ = false;  // the peer has a place in the address table
  std::uint32_t short_key_ = 0;
  Address local_, peer_;
  std::array<ibv_sge, examples::max_sges> sges_{};
  std::array<ibv_sge64, examples::max_sges> sges64_{};
};

}  // namespace ru_rma
