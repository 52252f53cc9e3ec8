// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Portal entries of indexed regions: made by the first attachment, gone with the last.
#include <cerrno>

#include "uverbs/qp.hpp"

namespace sim::uverbs {

int Mr::join_index(Qp& qp) {
  const unsigned eqn = qp.recv_cq->queue().eqn();
  if (index_entry && eqn != index_eqn_) return EOPNOTSUPP;
  if (!index_entry) {
    auto entry = make_memory_entry(qp.lni, eqn);
    if (!entry) return entry.error;
    index_entry = std::move(entry.value);
    index_eqn_ = eqn;
  }
  for (size_t i = 0; i < qp.vnis.size(); ++i) {
    const uint16_t vni = qp.vnis[i];
    if (index_vnis_[vni]++ != 0) continue;
    int error = index_entry->map(vni, qp.pid, CXI_ABI_INDEX_INDEXED + *index);
    if (error == 0) error = index_entry->map(vni, qp.pid, CXI_ABI_INDEX_INDEXED_READ + *index);
    if (error == 0) continue;
    // The entry knows what it is mapped at; only this queue pair's part goes.
    for (size_t j = 0; j <= i; ++j)
      leave_vni(qp.vnis[j], qp.pid);
    if (index_vnis_.empty()) index_entry.reset();
    return error;
  }
  return 0;
}

void Mr::leave_vni(uint16_t vni, unsigned pid) {
  auto it = index_vnis_.find(vni);
  if (--it->second != 0) return;
  index_vnis_.erase(it);
  (void)index_entry->unmap(vni, pid, CXI_ABI_INDEX_INDEXED + *index);
  (void)index_entry->unmap(vni, pid, CXI_ABI_INDEX_INDEXED_READ + *index);
}

void Mr::leave_index(Qp& qp) {
  for (uint16_t vni : qp.vnis)
    leave_vni(vni, qp.pid);
  if (index_vnis_.empty()) index_entry.reset();
}

}  // namespace sim::uverbs
