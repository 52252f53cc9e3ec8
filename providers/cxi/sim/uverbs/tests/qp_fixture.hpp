// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A protection domain, queues and a job key, and the queue pairs that are made of them.
#pragma once

#include "kernel_fixture.hpp"

namespace sim::uverbs::test {

class QueuePairs : public ContextTest {
 protected:
  uint32_t pd = alloc_pd();
  MadeCq send = create_cq(), recv = create_cq();
  uint32_t job = alloc_job(1);
  uint32_t jkey = create_jkey(pd, job);

  Ioctl right() { return qp_call(pd, send.handle, recv.handle, jkey); }
  MadeQp make() { return finish_qp(right()); }
  MadeQp make(uint32_t qpn) {
    return finish_qp(right().u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, qpn));
  }
  int status(Ioctl ioctl) { return issue(ioctl); }
  int status_with(uint32_t qpn) {
    return status(right().u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, qpn));
  }
  static void set(Ioctl& ioctl, uint16_t id, uint64_t value) {
    for (auto& a : ioctl.attrs) {
      if (a.attr_id == id) a.data = value;
    }
  }
  static void drop(Ioctl& ioctl, uint16_t id) {
    std::erase_if(ioctl.attrs, [id](auto& a) { return a.attr_id == id; });
  }
  // What exists on the NIC, to see that a refusal leaves no trace.
  auto census() {
    FakeDevice& d = device();
    return std::tuple(d.eqs, d.cmdqs, d.ptes, d.maps, d.portals, d.wakes.size(), d.cps,
                      d.eq_configs.at(send.eq.eqn).reserved_slots,
                      d.eq_configs.at(recv.eq.eqn).reserved_slots, impl().objects.size());
  }
};

}  // namespace sim::uverbs::test
