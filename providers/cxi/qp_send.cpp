// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// ibv_post_send(): a list of requests, each read once and appended.
#include <cstring>

#include "internal.hpp"

namespace cxi {
namespace {

/// The operation that an opcode of post_send asks for; null: not supported.
const Operation* operation_of(ibv_wr_opcode opcode) noexcept {
  switch (opcode) {
    case IBV_WR_SEND:
      return &operations::send;
    case IBV_WR_SEND_WITH_IMM:
      return &operations::send_imm;
    case IBV_WR_RDMA_WRITE:
      return &operations::write;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return &operations::write_imm;
    case IBV_WR_RDMA_READ:
      return &operations::read;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return &operations::fetch_add;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return &operations::compare_swap;
    default:
      return nullptr;
  }
}

/// Reads a request of post_send. Returns 0 or the errno value that refuses it.
int read_request(Qp& qp, const ibv_send_wr& wr, SendWork& work, ibv_sge64* widened,
                 const ibv_sge64*& sges) noexcept {
  work = {};
  work.wr_id = wr.wr_id;
  work.flags = wr.send_flags;
  work.operation = operation_of(wr.opcode);
  if (!work.operation) return EOPNOTSUPP;
  if (work.operation->immediate != Immediate::none) work.immediate = wr.imm_data;
  if (wr.num_sge < 0 || static_cast<unsigned>(wr.num_sge) > qp.send.max_sge) return EINVAL;
  work.num_sge = static_cast<std::uint32_t>(wr.num_sge);
  work.job_key = wr.wr.ru.jkey;
  if (work.operation->action != Action::send) {
    work.remote_addr = wr.wr.ru_rdma.remote_addr;
    work.remote_key = wr.wr.ru_rdma.rkey64;
  }
  if (work.operation->action == Action::fetch_add) work.operand = wr.ru_atomic.compare_add;
  if (work.operation->action == Action::compare_swap) {
    work.compare = wr.ru_atomic.compare_add;
    work.operand = wr.ru_atomic.swap;
  }
  if (wr.wr.ru.ah) {
    work.peer = reinterpret_cast<const Ah*>(wr.wr.ru.ah)->peer;
  } else {
    work.addressed_by_table = true;
    work.table_index = wr.wr.ru.addr_idx;
  }
  if (wr.send_flags & IBV_SEND_SGE64) {
    sges = wr.sg64_list;
  } else {
    for (std::uint32_t i = 0; i < work.num_sge; i++)
      widened[i] = {wr.sg_list[i].addr, wr.sg_list[i].length, wr.sg_list[i].lkey};
    sges = widened;
  }
  return 0;
}

/// Copies the message of an inline request into the slot that it will have.
int copy_inline(Qp& qp, SendWork& work, const ibv_sge64* sges) noexcept {
  std::byte* to = send_slot(qp, qp.send.next) + payload_offset;
  std::uint64_t length = 0;
  for (std::uint32_t i = 0; i < work.num_sge; i++)
    length += sges[i].length;
  if (length > qp.max_inline) return EINVAL;
  for (std::uint32_t i = 0; i < work.num_sge; i++) {
    std::memcpy(to, reinterpret_cast<const void*>(static_cast<std::uintptr_t>(sges[i].addr)),
                sges[i].length);
    to += sges[i].length;
  }
  work.has_inline = true;
  work.inline_bytes = static_cast<std::uint32_t>(length);
  return 0;
}

}  // namespace

int post_send(ibv_qp* ibv, ibv_send_wr* wr, ibv_send_wr** bad) noexcept {
  Qp& qp = qp_of(ibv);
  SendQueue& send = qp.send;
  int err = 0;
  bool wake = false;
  {
    Guard post(send.post_lock);
    Guard guard(send.lock);
    if (send.limit == 0) {
      *bad = wr;
      return EINVAL;
    }
    send.announced = send.commands.mark();
    ibv_sge64 widened[max_sges];
    for (; wr; wr = wr->next) {
      SendWork work;
      const ibv_sge64* sges = nullptr;
      err = read_request(qp, *wr, work, widened, sges);
      if (!err && (wr->send_flags & IBV_SEND_INLINE))
        err = send.next - send.head < send.limit ? copy_inline(qp, work, sges) : ENOMEM;
      if (!err) err = append_request(qp, work, sges);
      if (err) {
        *bad = wr;
        break;
      }
    }
    wake = announce(qp);
  }
  if (wake) wake_at(*qp.send_cq, 1);
  return err;
}

}  // namespace cxi
