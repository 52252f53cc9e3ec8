// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A send request has the same members in several layouts: of today, of verbs 1.0, of the kernel.
#pragma once

#include <infiniband/verbs.h>

namespace verbs {

// Copies what the opcode needs of the peer's memory, between any two of the layouts.
template <class To, class From>
void copy_remote_part(To& to, const From& from) noexcept {
  switch (from.opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_RDMA_READ:
      to.wr.rdma.remote_addr = from.wr.rdma.remote_addr;
      to.wr.rdma.rkey = from.wr.rdma.rkey;
      break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      to.wr.atomic.remote_addr = from.wr.atomic.remote_addr;
      to.wr.atomic.compare_add = from.wr.atomic.compare_add;
      to.wr.atomic.swap = from.wr.atomic.swap;
      to.wr.atomic.rkey = from.wr.atomic.rkey;
      break;
    default:
      break;
  }
}

}  // namespace verbs
