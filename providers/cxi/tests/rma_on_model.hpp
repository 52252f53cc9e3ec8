// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// An initiator, a target with memory between guard zones, and the requests between them.
#pragma once

#include <array>
#include <numeric>

#include "on_model.hpp"

namespace on_model {

constexpr int all_rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                           IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr int indexed_access = 1 << 29;

/// Memory of which only the middle is registered.
class Window {
 public:
  static constexpr std::size_t guard = 4096;

  Window(ibv_pd* pd, std::size_t size, int access) : Window(size) {
    region = Mr(made(ibv_reg_mr(pd, data(), size, access), "window"));
  }
  explicit Window(std::size_t size) : length(size), bytes_(size + 2 * guard, fill) {}

  std::uint8_t* data() { return bytes_.data() + guard; }
  ibv_mr* mr() const { return region.get(); }

  /// Nothing has been written outside of [from, from + count) of the registered part.
  bool untouched_but(std::size_t from, std::size_t count) const {
    for (std::size_t i = 0; i < bytes_.size(); i++) {
      const bool inside = i >= guard + from && i < guard + from + count;
      if (!inside && bytes_[i] != fill) return false;
    }
    return true;
  }
  bool untouched() const { return untouched_but(0, 0); }

  static constexpr std::uint8_t fill = 0x5c;
  std::size_t length;
  Mr region;

 private:
  std::vector<std::uint8_t> bytes_;
};

class Rma : public OnModel {
 protected:
  static constexpr std::uint64_t builders =
      IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
      IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM64 | IBV_QP_EX_WITH_RDMA_WRITE64_WITH_IMM64 |
      IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
      IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

  Rma() {
    std::iota(buffer.begin(), buffer.end(), std::uint8_t{1});
    source = create_qp({.sges = 16, .retry_cnt = 1, .operations = builders});
    target = create_qp({.src_id = 0x99}, target_cq.get(), target_cq.get());
    to_target = address_of(target);
  }

  std::uintptr_t local(std::size_t offset) const {
    return reinterpret_cast<std::uintptr_t>(buffer.data()) + offset;
  }
  int rma_list(ibv_wr_opcode opcode, std::uint64_t id, ibv_sge* sges, int count, std::uint64_t key_,
               std::uint64_t remote, unsigned flags = IBV_SEND_SIGNALED, std::uint32_t jkey = 0) {
    ibv_send_wr wr = {};
    wr.wr_id = id;
    wr.sg_list = sges;
    wr.num_sge = count;
    wr.opcode = opcode;
    wr.send_flags = flags;
    wr.imm_data = htobe32(0x12345678);
    wr.wr.ru_rdma.ah = ibv_ah_to_ah_ex(to_target.get());
    wr.wr.ru_rdma.jkey = jkey;
    wr.wr.ru_rdma.remote_addr = remote;
    wr.wr.ru_rdma.rkey64 = key_;
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(source.get(), &wr, &bad);
  }
  int rma(ibv_wr_opcode opcode, std::size_t offset, std::uint32_t length, std::uint64_t key_,
          std::uint64_t remote, unsigned flags = IBV_SEND_SIGNALED, std::uint32_t jkey = 0) {
    ibv_sge sge = {local(offset), length, mr->lkey};
    return rma_list(opcode, 7, &sge, 1, key_, remote, flags, jkey);
  }
  /// The same for an atomic whose result goes to offset.
  int atomic(ibv_wr_opcode opcode, std::size_t offset, std::uint64_t key_, std::uint64_t remote,
             std::uint64_t compare_add, std::uint64_t swap, unsigned flags = IBV_SEND_SIGNALED) {
    ibv_sge sge = {local(offset), 8, mr->lkey};
    ibv_send_wr wr = {};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = opcode;
    wr.send_flags = flags;
    wr.wr.ru_rdma.ah = ibv_ah_to_ah_ex(to_target.get());
    wr.wr.ru_rdma.remote_addr = remote;
    wr.wr.ru_rdma.rkey64 = key_;
    wr.ru_atomic.compare_add = compare_add;
    wr.ru_atomic.swap = swap;
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(source.get(), &wr, &bad);
  }
  /// One access, and how it ended.
  ibv_wc_status outcome(ibv_wr_opcode opcode, std::size_t offset, std::uint32_t length,
                        std::uint64_t key_, std::uint64_t remote, std::uint32_t jkey = 0) {
    EXPECT_EQ(rma(opcode, offset, length, key_, remote, IBV_SEND_SIGNALED, jkey), 0);
    return wait(1)[0].status;
  }
  template <class Operation>
  ibv_wc_status build(Operation&& operation, std::size_t offset, std::uint32_t length) {
    ibv_qp_ex* ex = ibv_qp_to_qp_ex(source.get());
    ibv_wr_start(ex);
    ex->wr_id = 7;
    ex->wr_flags = IBV_SEND_SIGNALED;
    operation(ex);
    ibv_wr_set_ru_addr(ex, ibv_ah_to_ah_ex(to_target.get()), 0);
    ibv_wr_set_sge(ex, mr->lkey, local(offset), length);
    const int err = ibv_wr_complete(ex);
    EXPECT_EQ(err, 0);
    return err ? IBV_WC_GENERAL_ERR : wait(1)[0].status;
  }
  int attach(const Window& window) { return ibv_attach_mr(target.get(), window.mr()); }
  int detach(const Window& window) { return ibv_detach_mr(target.get(), window.mr()); }

  /// Nothing was reported to the target, and messages still pass in both directions.
  void expect_quiet_and_usable() {
    ibv_wc wc;
    EXPECT_EQ(ibv_poll_cq(target_cq.get(), 1, &wc), 0);
    Ah to_source = address_of(source);
    EXPECT_EQ(receive(target, 1, 0, 64), 0);
    EXPECT_EQ(receive(source, 2, 0, 64), 0);
    // Who sends polls: a message that comes before its receive is repeated.
    EXPECT_EQ(send(source, to_target, 3, 0, 64), 0);
    EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
    EXPECT_EQ(send(target, to_source, 4, 0, 64), 0);
    for (const ibv_wc& good : wait(target_cq.get(), 2))
      EXPECT_EQ(good.status, IBV_WC_SUCCESS);
    EXPECT_EQ(wait(1)[0].status, IBV_WC_SUCCESS);
  }

  CqPtr target_cq = create_cq(64);
  QpPtr source;
  QpPtr target;
  Ah to_target;
};

}  // namespace on_model
