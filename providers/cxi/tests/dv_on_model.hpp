// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Native resources for tests in front of the software NIC.
#pragma once

#include <infiniband/cxidv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "on_model.hpp"

/// Of tests that make services, which not everybody may.
#define NEEDS_PRIVILEGE() \
  if (geteuid() != 0) GTEST_SKIP() << "making a service needs root"

namespace on_model {

/// Tries again while a call fails in a way that passes: the software NIC learns of a closed device
/// a moment after close() has returned.
template <class F>
bool eventually(F&& f) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!f()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::yield();
  }
  return true;
}

struct DestroySvc {
  void operator()(cxidv_svc* svc) const {
    int err = 0;
    EXPECT_TRUE(eventually([&] { return (err = cxidv_destroy_svc(svc)) != EBUSY; }));
    EXPECT_EQ(err, 0);
  }
};
using SvcPtr = std::unique_ptr<cxidv_svc, DestroySvc>;
using LniPtr = Owned<cxidv_lni, cxidv_destroy_lni>;
using CpPtr = Owned<cxidv_cp, cxidv_free_cp>;
using DomainPtr = Owned<cxidv_domain, cxidv_destroy_domain>;
using MdPtr = Owned<cxidv_md, cxidv_unmap_md>;
using EqPtr = Owned<cxidv_eq, cxidv_destroy_eq>;
using CmdqPtr = Owned<cxidv_cmdq, cxidv_destroy_cmdq>;
using PtePtr = Owned<cxidv_pte, cxidv_destroy_pte>;
using CtPtr = Owned<cxidv_ct, cxidv_destroy_ct>;

constexpr std::uint32_t first_vni = 1, second_vni = 10;  // of the default service

inline ibv_context* open_on(const std::string& name, std::uint32_t svc_id) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  ibv_context* context = nullptr;
  cxidv_open_attr attr = {};
  attr.svc_id = svc_id;
  for (int i = 0; i < count; i++)
    if (name == ibv_get_device_name(list[i])) context = cxidv_open_device(list[i], &attr);
  ibv_free_device_list(list);
  return context;
}

/// The errno of a call that has returned nothing; 0 where it has returned something.
template <class T>
int error_of(T* made) {
  return made ? 0 : errno;
}

/// Runs f in a child that has given up every privilege, and is user and group `id`. What f returns
/// is the child's exit status.
template <class F>
int as_user(unsigned id, F&& f) {
  const pid_t child = fork();
  if (child == 0) {
    if (setresgid(id, id, id) || setresuid(id, id, id)) _exit(255);
    _exit(f());
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

class Native : public testing::Test {
 protected:
  Native()
      : context(made(open_on("cxi0", 0), "open device")),
        lni(made(cxidv_create_lni(context.get(), nullptr), "create lni")) {}

  static CpPtr make_cp(const LniPtr& on, std::uint32_t vni = first_vni,
                       std::uint32_t tc = CXIDV_TC_BEST_EFFORT) {
    cxidv_cp_attr attr = {};
    attr.vni = vni;
    attr.traffic_class = tc;
    return CpPtr(made(cxidv_alloc_cp(on.get(), &attr), "alloc cp"));
  }
  static cxidv_eq* try_eq(const LniPtr& on, ibv_comp_channel* channel = nullptr,
                          std::uint32_t slots = 64) {
    cxidv_eq_attr attr = {};
    attr.slots = slots;
    attr.channel = channel;
    return cxidv_create_eq(on.get(), &attr);
  }
  static EqPtr make_eq(const LniPtr& on, ibv_comp_channel* channel = nullptr,
                       std::uint32_t slots = 64) {
    return EqPtr(made(try_eq(on, channel, slots), "create eq"));
  }
  static cxidv_cmdq* try_target_queue(const LniPtr& on, cxidv_eq* eq = nullptr) {
    cxidv_cmdq_attr attr = {};
    attr.slots = 64;
    attr.eq = eq;
    return cxidv_create_cmdq(on.get(), &attr);
  }
  static CmdqPtr make_target_queue(const LniPtr& on, cxidv_eq* eq = nullptr) {
    return CmdqPtr(made(try_target_queue(on, eq), "create cmdq"));
  }
  static cxidv_cmdq* try_transmit_queue(const LniPtr& on, cxidv_cp* cp, std::uint32_t flags = 0) {
    cxidv_cmdq_attr attr = {};
    attr.flags = CXIDV_CMDQ_TRANSMIT | flags;
    attr.cp = cp;
    return cxidv_create_cmdq(on.get(), &attr);
  }
  static PtePtr make_pte(const LniPtr& on, cxidv_eq* eq = nullptr, std::uint32_t flags = 0) {
    cxidv_pte_attr attr = {};
    attr.flags = flags;
    attr.eq = eq;
    return PtePtr(made(cxidv_create_pte(on.get(), &attr), "create pte"));
  }
  static DomainPtr make_domain(const LniPtr& on, std::uint32_t vni = first_vni,
                               std::uint32_t pid = C_PID_ANY) {
    return DomainPtr(made(cxidv_create_domain(on.get(), vni, pid), "create domain"));
  }

  /// The next event, or the failure of the test.
  static const c_event* next(const EqPtr& eq) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (true) {
      if (const c_event* event = cxidv_eq_next(eq.get())) return event;
      if (std::chrono::steady_clock::now() > give_up) throw std::runtime_error("no event");
      std::this_thread::yield();
    }
  }
  /// Brings an entry to another state; the event that tells of it comes to its event queue.
  static int set_state(const CmdqPtr& queue, const PtePtr& pte, std::uint32_t state) {
    c_set_state_cmd command = {};
    command.ptlte_index = pte->ptn;
    command.ptlte_state = state;
    const int err = cxidv_emit_setstate(queue.get(), &command);
    cxidv_cmdq_ring(queue.get());
    return err;
  }
  static cxidv_svc_attr grant() {
    cxidv_svc_attr attr = {};
    attr.flags = CXIDV_SVC_ENABLED;
    attr.num_vnis = 1;
    attr.vnis[0] = 700;
    attr.tc_mask = 1 << CXIDV_TC_BEST_EFFORT;
    attr.members[0] = {CXIDV_MEMBER_ANY, 0};
    return attr;
  }
  /// A grant that limits resources: so many of each, and none reserved.
  static cxidv_svc_attr small_grant(std::uint32_t each) {
    cxidv_svc_attr attr = grant();
    attr.flags |= CXIDV_SVC_LIMITED;
    for (cxidv_svc_limit& limit : attr.limits)
      limit.max = each;
    return attr;
  }
  SvcPtr make_svc(cxidv_svc_attr attr) {
    return SvcPtr(made(cxidv_alloc_svc(context.get(), &attr), "alloc svc"));
  }
  LniPtr lni_on(std::uint32_t svc_id) {
    cxidv_lni_attr attr = {};
    attr.svc_id = svc_id;
    return LniPtr(made(cxidv_create_lni(context.get(), &attr), "create lni"));
  }
  LniPtr second_lni() { return lni_on(0); }

  Context context;
  LniPtr lni;
};

}  // namespace on_model
