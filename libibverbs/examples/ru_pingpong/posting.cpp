// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The endpoint's sends and receives: what happens between open and close.
#include <endian.h>

#include <cstring>

#include "../common/text.hpp"
#include "endpoint.hpp"

namespace ru_pingpong {

using examples::complain;

/// Cuts the buffer into entries of equal length; the last one takes what is left over.
void Endpoint::lay_out_entries() {
  const std::uint32_t piece = options_.size / options_.sges;
  for (unsigned i = 0; i < options_.sges; i++) {
    char* start = buffer_.get() + std::size_t{piece} * i;
    const std::uint32_t length = i + 1 == options_.sges ? options_.size - piece * i : piece;
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    sges_[i] = {address, length, mr_->lkey};
    sges64_[i] = {address, length, mr_->lkey64};
    pieces_[i] = {start, length};
  }
}

int Endpoint::post_receive() {
  if (options_.lkey32) {
    ibv_recv_wr wr{};
    wr.wr_id = recv_id;
    wr.sg_list = sges_.data();
    wr.num_sge = static_cast<int>(options_.sges);
    ibv_recv_wr* bad;
    return ibv_post_recv(qp_, &wr, &bad);
  }
  ibv_recv_wr64 wr{};
  wr.wr_id = recv_id;
  wr.sg_list = sges64_.data();
  wr.num_sge = static_cast<int>(options_.sges);
  ibv_recv_wr64* bad;
  return ibv_post_recv64(qp_, &wr, &bad);
}

bool Endpoint::refill() {
  if (receives_ > 1) return true;
  for (; receives_ < options_.rx_depth; receives_++) {
    if (int error = post_receive()) {
      complain("receive %u of %u could not be posted: %s", receives_ + 1, options_.rx_depth,
               std::strerror(error));
      return false;
    }
  }
  return true;
}

int Endpoint::post_with_builders() {
  ibv_wr_start(builders_);
  builders_->wr_id = send_id;
  builders_->wr_flags = IBV_SEND_SIGNALED | (inline_ ? unsigned{IBV_SEND_INLINE} : 0U);
  if (options_.imm == 64) {
    ibv_wr_send_imm64(builders_, htobe64(imm64));
  } else if (options_.imm == 32) {
    ibv_wr_send_imm(builders_, htobe32(imm32));
  } else {
    ibv_wr_send(builders_);
  }
  ibv_wr_set_ru_addr(builders_, ibv_ah_to_ah_ex(ah_), 0);
  ibv_wr_set_job_key(builders_, device_.key()->jkey);
  if (inline_) {
    ibv_wr_set_inline_data_list(builders_, options_.sges, pieces_.data());
  } else if (options_.lkey32) {
    ibv_wr_set_sge_list(builders_, options_.sges, sges_.data());
  } else {
    ibv_wr_set_sge64_list(builders_, options_.sges, sges64_.data());
  }
  return ibv_wr_complete(builders_);
}

int Endpoint::post_with_request() {
  ibv_send_wr wr{};
  wr.wr_id = send_id;
  wr.num_sge = static_cast<int>(options_.sges);
  wr.opcode = IBV_WR_SEND;
  wr.send_flags = IBV_SEND_SIGNALED | (inline_ ? unsigned{IBV_SEND_INLINE} : 0U);
  wr.wr.ru.ah = ibv_ah_to_ah_ex(ah_);
  wr.wr.ru.jkey = device_.key()->jkey;
  if (options_.lkey32) {
    wr.sg_list = sges_.data();
  } else {
    wr.sg64_list = sges64_.data();
    wr.send_flags |= IBV_SEND_SGE64;
  }
  ibv_send_wr* bad;
  return ibv_post_send(qp_, &wr, &bad);
}

bool Endpoint::post_send() {
  const int error = builders_ ? post_with_builders() : post_with_request();
  if (error) complain("the send could not be posted: %s", std::strerror(error));
  return error == 0;
}

}  // namespace ru_pingpong
