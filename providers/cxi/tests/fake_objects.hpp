// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// One queue pair with one completion queue, whose rings are memory of the test: the test plays the
// NIC.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "ethernet/cassini_csrs.hpp"
#include "internal.hpp"
#include "ring_writer_of_events.hpp"

namespace cxi {

class QpOnPaper : public testing::Test {
 protected:
  static constexpr std::uint32_t depth = 4;
  static constexpr std::uint32_t tx_slots = 64;
  static constexpr std::uint32_t own_pid = 7;
  static constexpr std::uint32_t own_ri = 3;
  static constexpr std::uint32_t own_nid = 0x123;
  static constexpr std::uint32_t generation = 0x55;
  static constexpr std::uint16_t pte = 0x40;
  static constexpr std::uint32_t peer_key = 0x101;  // a job key on another profile

  QpOnPaper()
      : nic(16),
        tx_ring(tx_slots * 64),
        tgt_ring(64 * 64),
        slots(depth * send_slot_bytes),
        context(new Context{}),
        pd(new Pd{}),
        cq(new Cq{}),
        qp(new Qp{}),
        ah(new Ah{}) {
    context->geometry = {9};
    context->nid = own_nid;
    context->ibv.context.cmd_fd = -1;  // every command fails with EBADF
    context->ibv.priv = reinterpret_cast<verbs_ex_private*>(core_part.data());
    pthread_mutex_init(&context->topology, nullptr);
    pthread_mutex_init(&context->keys_mutex, nullptr);
    pd->base = pd.get();
    make_cq();
    make_qp();
    ah->peer = {.nid = 0x456, .pid = 9, .ri = 33};
    context->job_keys.insert(peer_key, pd.get(), nullptr, 11, 2);
    key = add_region(buffer.data(), buffer.size(), 0x1000'0000);
  }
  ~QpOnPaper() override {
    context->local_keys.destroy();
    std::free(qp->send.requests);
    std::free(qp->send.sges);
    std::free(qp->recv.slots);
    std::free(qp->recv.pieces);
  }

  std::uint32_t add_region(void* memory, std::size_t length, std::uint64_t iova) {
    std::uint32_t number = 0;
    LocalKey* entry = context->local_keys.reserve(number);
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    entry->pd = pd.get();
    entry->lac = 2;
    entry->base = address;
    entry->length = length;
    entry->iova_delta = (iova - address) & ((std::uint64_t{1} << 57) - 1);
    entry->local_write = true;
    entry->has_cpu = true;
    entry->cpu_delta = 0;
    LocalKeys::publish(*entry, number);
    return number;
  }

  std::uint64_t user(std::uint32_t index) const { return qp->user_ptr | index; }

  int send(std::uint64_t wr_id, std::size_t length, unsigned flags = IBV_SEND_SIGNALED) {
    ibv_sge sge = {reinterpret_cast<std::uintptr_t>(buffer.data()),
                   static_cast<std::uint32_t>(length), key};
    return send_list(wr_id, &sge, 1, flags);
  }
  int send_list(std::uint64_t wr_id, ibv_sge* sges, int count, unsigned flags = IBV_SEND_SIGNALED,
                std::uint32_t job_key = 0) {
    ibv_send_wr wr = {};
    wr.wr_id = wr_id;
    wr.sg_list = sges;
    wr.num_sge = count;
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = flags;
    wr.wr.ru.ah = &ah->ibv;
    wr.wr.ru.jkey = job_key;
    ibv_send_wr* bad = nullptr;
    return post_send(&qp->ibv.qp, &wr, &bad);
  }
  int receive(std::uint64_t wr_id, std::size_t offset, std::size_t length) {
    ibv_sge sge = {reinterpret_cast<std::uintptr_t>(buffer.data()) + offset,
                   static_cast<std::uint32_t>(length), key};
    ibv_recv_wr wr = {};
    wr.wr_id = wr_id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    return post_recv(&qp->ibv.qp, &wr, &bad);
  }

  std::vector<ibv_wc> poll(int most = 16) {
    std::vector<ibv_wc> wc(static_cast<std::size_t>(most));
    const int found = poll_cq(&cq->ibv.cq, most, wc.data());
    wc.resize(static_cast<std::size_t>(found));
    return wc;
  }
  std::vector<std::uint64_t> polled_ids() {
    std::vector<std::uint64_t> ids;
    for (const ibv_wc& wc : poll())
      ids.push_back(wc.wr_id);
    return ids;
  }

  NicSide nic;
  std::vector<std::byte> tx_ring;
  std::vector<std::byte> tgt_ring;
  std::vector<std::byte> slots;
  alignas(16) std::array<std::byte, 8192> core_part{};  // what the library hangs on a context
  std::array<std::byte, 4096> buffer{};
  std::uint64_t tx_doorbell = 0;
  std::uint64_t tgt_doorbell = 0;
  std::uint64_t sw_state = 0;
  std::uint32_t key = 0;
  std::unique_ptr<Context> context;
  std::unique_ptr<Pd> pd;
  std::unique_ptr<Cq> cq;
  std::unique_ptr<Qp> qp;
  std::unique_ptr<Ah> ah;

 private:
  void make_cq() {
    cq->context = context.get();
    cq->ring.init(nic.memory(), nic.bytes());
    cq->sw_state = &sw_state;
    cq->credits = depth;
    cq->acked_slot = 1;
    cq->next_value = 1;
    cq->eqn = 0x21;
    limit_unacknowledged(*cq);
    install_readers(*cq, std::uint64_t{IBV_WC_STANDARD_FLAGS} | IBV_WC_EX_WITH_IMM64 |
                             IBV_WC_EX_WITH_SRC_ID | IBV_WC_EX_WITH_JOB_ID |
                             IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
  }
  void make_qp() {
    qp->context = context.get();
    qp->domain = pd.get();
    qp->send_cq = qp->recv_cq = cq.get();
    qp->state = IBV_QPS_RTS;
    qp->slot = 5;
    qp->generation = generation;
    qp->user_ptr = user_ptr::qp_slot::encode(5) | user_ptr::generation::encode(generation);
    qp->initiator = initiator(own_pid, own_nid, context->geometry);
    qp->src_id = 0x77;
    qp->ri = own_ri;
    qp->eqn = 0x21;
    qp->recv_pte = pte;
    qp->mem_pte = pte + 1;
    qp->vni = 10;
    qp->rnr_retry = 1;
    qp->retry_cnt = 1;
    qp->min_rnr_timer = 1;
    qp->max_inline = max_inline_bytes;
    qp->ibv.qp.context = &context->ibv.context;
    qp->ibv.qp.qp_num = qpn::make(own_pid, own_ri);
    SendQueue& s = qp->send;
    s.side = {.qp = qp.get(), .cq = cq.get(), .is_send = true};
    s.limit = depth;
    s.mask = depth - 1;
    s.max_sge = 4;
    s.requests = allocate_array<SendRequest>(depth).release();
    s.sges = allocate_array<ibv_sge64>(4).release();
    s.slots = slots.data();
    s.commands.init(tx_ring.data(), tx_slots, &tx_doorbell, 17, 1);
    qp->first_lcid = 1;
    RecvQueue& r = qp->recv;
    r.side = {.qp = qp.get(), .cq = cq.get(), .is_send = false};
    r.limit = depth;
    r.max_sge = 4;
    r.slots = allocate_array<RecvSlot>(depth + 1).release();
    r.pieces = allocate_array<Piece>((depth + 1) * 4).release();
    for (std::uint16_t slot = depth; slot > 0; slot--) {
      r.slots[slot].next = r.free;
      r.free = slot;
    }
    r.commands.init(tgt_ring.data(), 64, &tgt_doorbell, 18, 0);
    context->qps[5] = qp.get();
    context->receivers[pte] = qp.get();
    s.side.next_on_cq = &r.side;
    cq->sides = &s.side;
    install_builder(
        *qp, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_SEND_WITH_IMM64);
  }
};

}  // namespace cxi
