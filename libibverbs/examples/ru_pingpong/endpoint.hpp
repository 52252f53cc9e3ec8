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

namespace ru_pingpong {

/// Work request numbers, which are also bits of the work that is pending.
enum : unsigned { recv_id = 1, send_id = 2 };

constexpr std::uint32_t imm32 = 0x0000cafe;
constexpr std::uint64_t imm64 = 0xcacadeadbeef;

/// Everything from the open device to the queue pair with its receives. What fails is explained
/// once, in one line, by the function that returns false.
class Endpoint {
 public:
  explicit Endpoint(const Options& options) : options_(options) {}
  ~Endpoint() { static_cast<void>(release()); }
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// Opens the device and makes all objects but the address handle; posts the first receives.
  [[nodiscard]] bool open();

  /// Makes the address handle of the peer.
  [[nodiscard]] bool connect(const Address& peer);

  /// Destroys everything, newest first.
  [[nodiscard]] bool close();

  /// Posts receives up to the depth, if at most one is left. False after a complaint.
  [[nodiscard]] bool refill();
  void received() { receives_--; }

  [[nodiscard]] bool post_send();

  const Address& local() const { return local_; }
  const Address& peer() const { return peer_; }
  unsigned ifindex() const { return device_.ifindex(); }
  ibv_cq_ex* cq() const { return cq_; }
  std::span<char> buffer() { return {buffer_.get(), options_.size}; }

 private:
  bool register_buffer();
  bool make_cq();
  bool make_qp();
  bool learn_inline_limit();
  void lay_out_entries();
  int post_with_builders();
  int post_with_request();
  int post_receive();
  bool release();

  struct FreePages {
    void operator()(char* pages) const;
  };

  const Options& options_;
  examples::RuDevice device_;
  std::unique_ptr<char, FreePages> buffer_;
  ibv_mr* mr_ = nullptr;
  ibv_cq_ex* cq_ = nullptr;
  ibv_qp* qp_ = nullptr;
  ibv_qp_ex* builders_ = nullptr;
  ibv_ah* ah_ = nullptr;
  Address local_;
  Address peer_;
  std::array<ibv_sge, examples::max_sges> sges_{};
  std::array<ibv_sge64, examples::max_sges> sges64_{};
  std::array<ibv_data_buf, examples::max_sges> pieces_{};
  bool inline_ = false;
  unsigned receives_ = 0;
};

}  // namespace ru_pingpong
