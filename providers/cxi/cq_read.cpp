// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The extended way of polling: one completion at a time, its members read on demand.
#include "internal.hpp"

namespace cxi {
namespace {

bool take(Cq& cq) noexcept {
  if (!poll_one(cq, cq.current)) return false;
  cq.ibv.cq_ex.status = cq.current.status;
  cq.ibv.cq_ex.wr_id = cq.current.wr_id;
  return true;
}

int start_poll(ibv_cq_ex* ibv, ibv_poll_cq_attr* attr) noexcept {
  if (attr && attr->comp_mask) return EINVAL;
  Cq& cq = cq_of(ibv);
  cq.lock.lock();
  begin_poll(cq);
  if (take(cq)) return 0;
  end_of_poll(cq, false);
  cq.lock.unlock();
  after_poll(cq);
  return ENOENT;
}

int next_poll(ibv_cq_ex* ibv) noexcept {
  return take(cq_of(ibv)) ? 0 : ENOENT;
}

void end_poll(ibv_cq_ex* ibv) noexcept {
  Cq& cq = cq_of(ibv);
  end_of_poll(cq, true);
  cq.lock.unlock();
  after_poll(cq);
}

ibv_wc_opcode read_opcode(ibv_cq_ex* cq) noexcept {
  return cq_of(cq).current.opcode;
}
std::uint32_t read_vendor_err(ibv_cq_ex* cq) noexcept {
  return cq_of(cq).current.vendor_err;
}
unsigned read_wc_flags(ibv_cq_ex* cq) noexcept {
  return cq_of(cq).current.wc_flags;
}
std::uint32_t read_byte_len(ibv_cq_ex* cq) noexcept {
  return cq_of(cq).current.byte_len;
}
__be32 read_imm_data(ibv_cq_ex* cq) noexcept {
  return static_cast<__be32>(cq_of(cq).current.immediate);
}
__be64 read_imm64_data(ibv_cq_ex* cq) noexcept {
  return cq_of(cq).current.immediate;
}
std::uint32_t read_qp_num(ibv_cq_ex* cq) noexcept {
  return cq_of(cq).current.qp_num;
}
std::uint32_t read_src_qp(ibv_cq_ex* cq) noexcept {
  return cq_of(cq).current.src_qp;
}
std::uint32_t read_src_id(ibv_cq_ex* cq) noexcept {
  return cq_of(cq).current.src_id;
}
std::uint32_t read_job_id(ibv_cq_ex* cq) noexcept {
  return cq_of(cq).current.job_id;
}
std::uint32_t read_slid(ibv_cq_ex*) noexcept {
  return 0;
}
std::uint8_t read_sl(ibv_cq_ex*) noexcept {
  return 0;
}
std::uint8_t read_dlid_path_bits(ibv_cq_ex*) noexcept {
  return 0;
}
std::uint64_t read_timestamp(ibv_cq_ex* cq) noexcept {
  return cq_of(cq).current.timestamp_ns;  // the NIC's clock is the wall clock
}

}  // namespace

void install_readers(Cq& cq, std::uint64_t wc_flags) noexcept {
  ibv_cq_ex& ex = cq.ibv.cq_ex;
  ex.start_poll = start_poll;
  ex.next_poll = next_poll;
  ex.end_poll = end_poll;
  ex.read_opcode = read_opcode;
  ex.read_vendor_err = read_vendor_err;
  ex.read_wc_flags = read_wc_flags;
  const auto wants = [wc_flags](std::uint64_t flag) { return (wc_flags & flag) != 0; };
  if (wants(IBV_WC_EX_WITH_BYTE_LEN)) ex.read_byte_len = read_byte_len;
  if (wants(IBV_WC_EX_WITH_IMM)) ex.read_imm_data = read_imm_data;
  if (wants(IBV_WC_EX_WITH_QP_NUM)) ex.read_qp_num = read_qp_num;
  if (wants(IBV_WC_EX_WITH_SRC_QP)) ex.read_src_qp = read_src_qp;
  if (wants(IBV_WC_EX_WITH_SLID)) ex.read_slid = read_slid;
  if (wants(IBV_WC_EX_WITH_SL)) ex.read_sl = read_sl;
  if (wants(IBV_WC_EX_WITH_DLID_PATH_BITS)) ex.read_dlid_path_bits = read_dlid_path_bits;
  if (wants(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)) ex.read_completion_ts = read_timestamp;
  if (wants(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK))
    ex.read_completion_wallclock_ns = read_timestamp;
  if (wants(IBV_WC_EX_WITH_IMM64)) ex.read_imm64_data = read_imm64_data;
  if (wants(IBV_WC_EX_WITH_SRC_ID)) ex.read_src_id = read_src_id;
  if (wants(IBV_WC_EX_WITH_JOB_ID)) ex.read_job_id = read_job_id;
}

}  // namespace cxi
