// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The builder interface of sends: ibv_wr_start(), an operation with its setters per request, and
// ibv_wr_complete(). The first error is kept, and complete gives everything up for it.
#include <cstring>

#include "internal.hpp"
#include "remote_key.hpp"

namespace cxi {
namespace {

void fail(SendQueue& send, int error) noexcept {
  if (!send.error) send.error = error;
}

/// Appends the request that the setters since the last operation have described.
void close_work(Qp& qp) noexcept {
  SendQueue& send = qp.send;
  if (!send.work_open) return;
  send.work_open = false;
  if (send.error) return;
  if (!send.work.has_address || !send.work.has_data) return fail(send, EINVAL);
  Guard guard(send.lock);
  if (const int err = append_request(qp, send.work, send.sges)) fail(send, err);
}

void begin(ibv_qp_ex* ex, const Operation& operation, std::uint64_t immediate = 0) noexcept {
  Qp& qp = qp_of(ex);
  SendQueue& send = qp.send;
  close_work(qp);
  send.work = {};
  send.work.wr_id = ex->wr_id;
  send.work.flags = ex->wr_flags;
  send.work.operation = &operation;
  send.work.immediate = immediate;
  send.work_open = true;
}

/// The request that a setter works on; null, and the error kept, when there is none.
SendWork* open_work(SendQueue& send) noexcept {
  if (!send.work_open) {
    fail(send, EINVAL);
    return nullptr;
  }
  return &send.work;
}

SendWork* work_for_data(SendQueue& send, std::size_t num_sge) noexcept {
  SendWork* work = open_work(send);
  if (!work) return nullptr;
  if (work->has_data || num_sge > send.max_sge) {
    fail(send, EINVAL);
    return nullptr;
  }
  work->has_data = true;
  work->num_sge = static_cast<std::uint32_t>(num_sge);
  return work;
}

void wr_send(ibv_qp_ex* qp) noexcept {
  begin(qp, operations::send);
}
void wr_send_imm(ibv_qp_ex* qp, __be32 immediate) noexcept {
  begin(qp, operations::send_imm, immediate);
}
void wr_send_imm64(ibv_qp_ex* qp, __be64 immediate) noexcept {
  begin(qp, operations::send_imm64, immediate);
}

void begin_remote(ibv_qp_ex* ex, const Operation& operation, std::uint64_t key,
                  std::uint64_t address, std::uint64_t immediate = 0) noexcept {
  begin(ex, operation, immediate);
  SendWork& work = qp_of(ex).send.work;
  work.remote_key = key;
  work.remote_addr = address;
}

void wr_rdma_write(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address) noexcept {
  begin_remote(qp, operations::write, widen_remote_key(key), address);
}
void wr_rdma_write64(ibv_qp_ex* qp, std::uint64_t key, std::uint64_t address) noexcept {
  begin_remote(qp, operations::write, key, address);
}
void wr_rdma_write_imm(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address,
                       __be32 immediate) noexcept {
  begin_remote(qp, operations::write_imm, widen_remote_key(key), address, immediate);
}
void wr_rdma_write_imm64(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address,
                         __be64 immediate) noexcept {
  begin_remote(qp, operations::write_imm64, widen_remote_key(key), address, immediate);
}
void wr_rdma_write64_imm(ibv_qp_ex* qp, std::uint64_t key, std::uint64_t address,
                         __be32 immediate) noexcept {
  begin_remote(qp, operations::write_imm, key, address, immediate);
}
void wr_rdma_write64_imm64(ibv_qp_ex* qp, std::uint64_t key, std::uint64_t address,
                           __be64 immediate) noexcept {
  begin_remote(qp, operations::write_imm64, key, address, immediate);
}
void wr_rdma_read(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address) noexcept {
  begin_remote(qp, operations::read, widen_remote_key(key), address);
}
void wr_rdma_read64(ibv_qp_ex* qp, std::uint64_t key, std::uint64_t address) noexcept {
  begin_remote(qp, operations::read, key, address);
}
void wr_atomic_fetch_add(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address,
                         std::uint64_t add) noexcept {
  begin_remote(qp, operations::fetch_add, widen_remote_key(key), address);
  qp_of(qp).send.work.operand = add;
}
void wr_atomic_cmp_swp(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address,
                       std::uint64_t compare, std::uint64_t swap) noexcept {
  begin_remote(qp, operations::compare_swap, widen_remote_key(key), address);
  qp_of(qp).send.work.operand = swap;
  qp_of(qp).send.work.compare = compare;
}

void wr_set_sge64_list(ibv_qp_ex* ex, std::size_t count, const ibv_sge64* list) noexcept {
  SendQueue& send = qp_of(ex).send;
  if (work_for_data(send, count)) std::memcpy(send.sges, list, count * sizeof(*list));
}
void wr_set_sge64(ibv_qp_ex* ex, std::uint64_t lkey, std::uint64_t addr,
                  std::uint32_t length) noexcept {
  const ibv_sge64 sge = {addr, length, lkey};
  wr_set_sge64_list(ex, 1, &sge);
}
void wr_set_sge_list(ibv_qp_ex* ex, std::size_t count, const ibv_sge* list) noexcept {
  SendQueue& send = qp_of(ex).send;
  if (!work_for_data(send, count)) return;
  for (std::size_t i = 0; i < count; i++)
    send.sges[i] = {list[i].addr, list[i].length, list[i].lkey};
}
void wr_set_sge(ibv_qp_ex* ex, std::uint32_t lkey, std::uint64_t addr,
                std::uint32_t length) noexcept {
  wr_set_sge64(ex, lkey, addr, length);
}

/// Inline data is copied at once, into the slot that the request will have.
void wr_set_inline_data_list(ibv_qp_ex* ex, std::size_t count, const ibv_data_buf* list) noexcept {
  Qp& qp = qp_of(ex);
  SendQueue& send = qp.send;
  SendWork* work = work_for_data(send, 0);
  if (!work || send.error) return;
  {
    Guard guard(send.lock);
    if (send.next - send.head >= send.limit) return fail(send, ENOMEM);
  }
  std::byte* const slot = send_slot(qp, send.next) + payload_offset;
  std::size_t length = 0;
  for (std::size_t i = 0; i < count; i++) {
    if (list[i].length > qp.max_inline - length) return fail(send, EINVAL);
    std::memcpy(slot + length, list[i].addr, list[i].length);
    length += list[i].length;
  }
  work->has_inline = true;
  work->inline_bytes = static_cast<std::uint32_t>(length);
}
void wr_set_inline_data(ibv_qp_ex* ex, void* addr, std::size_t length) noexcept {
  const ibv_data_buf buffer = {addr, length};
  wr_set_inline_data_list(ex, 1, &buffer);
}

void wr_set_ru_addr(ibv_qp_ex* ex, ibv_ah_ex* ah, unsigned index) noexcept {
  SendQueue& send = qp_of(ex).send;
  SendWork* work = open_work(send);
  if (!work) return;
  if (work->has_address) return fail(send, EINVAL);
  work->has_address = true;
  work->addressed_by_table = ah == nullptr;
  if (ah)
    work->peer = reinterpret_cast<const Ah*>(ah)->peer;
  else
    work->table_index = index;
}

void wr_set_job_key(ibv_qp_ex* ex, std::uint32_t key) noexcept {
  SendQueue& send = qp_of(ex).send;
  SendWork* work = open_work(send);
  if (!work) return;
  if (key == 0 || work->job_key) return fail(send, EINVAL);
  work->job_key = key;
}

void wr_start(ibv_qp_ex* ex) noexcept {
  SendQueue& send = qp_of(ex).send;
  send.post_lock.lock();
  Guard guard(send.lock);
  send.building = true;
  send.work_open = false;
  send.error = send.limit ? 0 : EINVAL;
  send.announced = send.commands.mark();
}

void wr_abort(ibv_qp_ex* ex) noexcept {
  Qp& qp = qp_of(ex);
  SendQueue& send = qp.send;
  {
    Guard guard(send.lock);
    take_back(qp);
    send.building = false;
    send.work_open = false;
  }
  send.post_lock.unlock();
}

int wr_complete(ibv_qp_ex* ex) noexcept {
  Qp& qp = qp_of(ex);
  SendQueue& send = qp.send;
  close_work(qp);
  if (const int err = send.error) {
    wr_abort(ex);
    return err;
  }
  bool wake = false;
  {
    Guard guard(send.lock);
    wake = announce(qp);
    send.building = false;
  }
  send.post_lock.unlock();
  if (wake) wake_at(*qp.send_cq, 1);
  return 0;
}

constexpr std::uint64_t supported =
    IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_SEND_WITH_IMM64 |
    IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
    IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM64 | IBV_QP_EX_WITH_RDMA_WRITE64_WITH_IMM |
    IBV_QP_EX_WITH_RDMA_WRITE64_WITH_IMM64 | IBV_QP_EX_WITH_RDMA_READ |
    IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

/// Operations of either width of key have one flag where verbs have no second one.
void install_remote(ibv_qp_ex& ex, std::uint64_t operations) noexcept {
  if (operations & IBV_QP_EX_WITH_RDMA_WRITE) {
    ex.wr_rdma_write = wr_rdma_write;
    ex.wr_rdma_write64 = wr_rdma_write64;
  }
  if (operations & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM) {
    ex.wr_rdma_write_imm = wr_rdma_write_imm;
    ex.wr_rdma_write64_imm = wr_rdma_write64_imm;
  }
  if (operations & IBV_QP_EX_WITH_RDMA_WRITE64_WITH_IMM)
    ex.wr_rdma_write64_imm = wr_rdma_write64_imm;
  if (operations & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM64)
    ex.wr_rdma_write_imm64 = wr_rdma_write_imm64;
  if (operations & IBV_QP_EX_WITH_RDMA_WRITE64_WITH_IMM64)
    ex.wr_rdma_write64_imm64 = wr_rdma_write64_imm64;
  if (operations & IBV_QP_EX_WITH_RDMA_READ) {
    ex.wr_rdma_read = wr_rdma_read;
    ex.wr_rdma_read64 = wr_rdma_read64;
  }
  if (operations & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
    ex.wr_atomic_fetch_add = wr_atomic_fetch_add;
  if (operations & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP) ex.wr_atomic_cmp_swp = wr_atomic_cmp_swp;
}

}  // namespace

int install_builder(Qp& qp, std::uint64_t operations) noexcept {
  if (operations & ~supported) return EOPNOTSUPP;
  ibv_qp_ex& ex = qp.ibv.qp_ex;
  if (operations & IBV_QP_EX_WITH_SEND) ex.wr_send = wr_send;
  if (operations & IBV_QP_EX_WITH_SEND_WITH_IMM) ex.wr_send_imm = wr_send_imm;
  if (operations & IBV_QP_EX_WITH_SEND_WITH_IMM64) ex.wr_send_imm64 = wr_send_imm64;
  install_remote(ex, operations);
  ex.wr_set_sge = wr_set_sge;
  ex.wr_set_sge_list = wr_set_sge_list;
  ex.wr_set_sge64 = wr_set_sge64;
  ex.wr_set_sge64_list = wr_set_sge64_list;
  ex.wr_set_inline_data = wr_set_inline_data;
  ex.wr_set_inline_data_list = wr_set_inline_data_list;
  ex.wr_set_ru_addr = wr_set_ru_addr;
  ex.wr_set_job_key = wr_set_job_key;
  ex.wr_start = wr_start;
  ex.wr_complete = wr_complete;
  ex.wr_abort = wr_abort;
  return 0;
}

}  // namespace cxi
