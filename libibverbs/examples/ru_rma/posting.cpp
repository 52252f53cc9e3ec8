// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The way to the peer, and the requests that go it.
#include <endian.h>

#include <cerrno>
#include <cstring>

#include "../common/slingshot.hpp"
#include "../common/text.hpp"
#include "endpoint.hpp"

namespace ru_rma {

using examples::complain;

bool Endpoint::connect(const Address& peer) {
  peer_ = peer;
  const bool server = options_.is_server();
  const std::string apart = why_apart(server ? local_ : peer_, server ? peer_ : local_);
  if (!apart.empty()) {
    complain("%s", apart.c_str());
    return false;
  }
  if (!join_peer_job() || !learn_short_key()) return false;
  if (options_.addr_table) return enter_peer();
  ibv_ah_attr_ex way = device_.way_to(peer_.gid, peer_.qpn);
  ah_ = ibv_create_ah_ex(device_.pd(), &way);
  if (!ah_)
    complain("no way to the peer's GID: %s; use GIDs of one kind on both sides (--gid-idx)",
             std::strerror(errno));
  return ah_ != nullptr;
}

/// The client's queue pair is reached within its job only, so the answers are of that job.
bool Endpoint::join_peer_job() {
  if (!options_.absolute_server() || peer_.job_id == local_.job_id) return true;
  ibv_job_attr attr = device_.job_attr();
  attr.id = peer_.job_id;
  peer_job_ = ibv_alloc_job(device_.context(), &attr, nullptr);
  if (peer_job_) peer_key_ = ibv_create_jkey(device_.pd(), peer_job_, 0);
  if (!peer_key_)
    complain("no part in the client's job %u: %s", peer_.job_id, std::strerror(errno));
  return peer_key_ != nullptr;
}

/// Gives the peer a place in the address table, and looks whether it reads back.
bool Endpoint::enter_peer() {
  ibv_ah_attr_ex way = device_.way_to(peer_.gid, peer_.qpn);
  int error = ibv_insert_addr(sending_job(), &way, table_index, 0);
  if (error) {
    complain("the peer could not be entered into the address table: %s; leave out --addr-table",
             std::strerror(error));
    return false;
  }
  entered_ = true;
  ibv_ah_attr_ex back;
  std::memset(&back, 0, sizeof(back));
  error = ibv_query_addr(sending_job(), table_index, &back, 0);
  if (error) {
    complain("the address table could not be read: %s", std::strerror(error));
    return false;
  }
  if (std::memcmp(&way, &back, sizeof(way)) == 0) return true;
  complain("the address table gives back something else than was entered");
  return false;
}

/// Only 64-bit keys are exchanged.
bool Endpoint::learn_short_key() {
  if (options_.is_server() || !(options_.write32 || options_.read32)) return true;
  std::optional<std::uint32_t> key;
  if (device_.slingshot()) {
    key = examples::short_rkey(peer_.rkey);
  } else if (peer_.rkey <= UINT32_MAX) {
    key = static_cast<std::uint32_t>(peer_.rkey);
  }
  if (!key)
    complain("the server's key 0x%llx has no 32-bit form: leave out --write32 and --read32",
             static_cast<unsigned long long>(peer_.rkey));
  short_key_ = key.value_or(0);
  return key.has_value();
}

bool Endpoint::post_request(enum ibv_wr_opcode opcode, unsigned id) {
  ibv_send_wr wr{};
  wr.wr_id = id;
  wr.sg_list = sges_.data();
  wr.num_sge = static_cast<int>(options_.sges);
  wr.opcode = opcode;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.imm_data = htobe32(imm32);
  wr.wr.ru_rdma.ah = ah_ ? ibv_ah_to_ah_ex(ah_) : nullptr;
  wr.wr.ru_rdma.addr_idx = table_index;
  wr.wr.ru_rdma.jkey = sending_key()->jkey;
  wr.wr.ru_rdma.rkey64 = peer_.rkey;
  ibv_send_wr* bad;
  const int error = ibv_post_send(qp_, &wr, &bad);
  if (error) complain("a request could not be posted: %s", std::strerror(error));
  return error == 0;
}

/// What every request has behind its operation.
bool Endpoint::complete() {
  ibv_wr_set_ru_addr(builders_, ah_ ? ibv_ah_to_ah_ex(ah_) : nullptr, table_index);
  ibv_wr_set_job_key(builders_, sending_key()->jkey);
  ibv_wr_set_sge64_list(builders_, options_.sges, sges64_.data());
  const int error = ibv_wr_complete(builders_);
  if (error) complain("a request could not be posted: %s", std::strerror(error));
  return error == 0;
}

void Endpoint::start(unsigned id) {
  ibv_wr_start(builders_);
  builders_->wr_id = id;
  builders_->wr_flags = IBV_SEND_SIGNALED;
}

bool Endpoint::post_read() {
  if (!builders_) return post_request(IBV_WR_RDMA_READ, read_id);
  start(read_id);
  if (options_.read32) {
    ibv_wr_rdma_read(builders_, short_key_, 0);
  } else {
    ibv_wr_rdma_read64(builders_, peer_.rkey, 0);
  }
  return complete();
}

bool Endpoint::post_write() {
  if (!builders_) return post_request(IBV_WR_RDMA_WRITE, write_id);
  start(write_id);
  if (options_.write32) {
    ibv_wr_rdma_write(builders_, short_key_, 0);
  } else {
    ibv_wr_rdma_write64(builders_, peer_.rkey, 0);
  }
  return complete();
}

bool Endpoint::post_write_with_imm() {
  if (!builders_) return post_request(IBV_WR_RDMA_WRITE_WITH_IMM, imm_id);
  start(imm_id);
  if (options_.test == Test::rma_ex64) {
    ibv_wr_rdma_write64_imm64(builders_, peer_.rkey, 0, htobe64(imm64));
  } else {
    ibv_wr_rdma_write64_imm(builders_, peer_.rkey, 0, htobe32(imm32));
  }
  return complete();
}

}  // namespace ru_rma
