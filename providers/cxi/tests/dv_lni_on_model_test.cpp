// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs in front of the software NIC: logical NIs, communication profiles, PIDs and domains.
#include <atomic>
#include <thread>

#include "dv_on_model.hpp"

namespace on_model {
namespace {

class Lnis : public Native {};

TEST_F(Lnis, LiveOnTheServiceOfTheirContextOrAnother) {
  NEEDS_PRIVILEGE();
  EXPECT_EQ(lni->svc_id, 1u);
  EXPECT_NE(lni->rgid, 0u);
  SvcPtr svc = make_svc(grant());
  LniPtr other = lni_on(svc->svc_id);
  EXPECT_EQ(other->svc_id, svc->svc_id);
  EXPECT_NE(other->rgid, lni->rgid);
  Context elsewhere(made(open_on("cxi0", svc->svc_id), "open"));
  LniPtr there(made(cxidv_create_lni(elsewhere.get(), nullptr), "create lni"));
  EXPECT_EQ(there->svc_id, svc->svc_id);
}

TEST_F(Lnis, TheContextsOwnIsMadeOnceAndBorrowed) {
  cxidv_lni* own = made(cxidv_context_lni(context.get()), "context lni");
  EXPECT_EQ(cxidv_context_lni(context.get()), own);
  EXPECT_EQ(own->svc_id, 1u);
  EXPECT_NE(own->rgid, lni->rgid);
  EXPECT_EQ(own->context, context.get());
  EXPECT_EQ(cxidv_destroy_lni(own), EINVAL);
  EXPECT_EQ(errno, EINVAL);
  Pd pd(made(ibv_alloc_pd(context.get()), "pd"));
  EXPECT_EQ(cxidv_context_lni(context.get()), own);
}

TEST_F(Lnis, TellWhatIsInUse) {
  cxidv_lni_info info = {};
  ASSERT_EQ(cxidv_query_lni(lni.get(), &info, sizeof info), 0);
  EXPECT_EQ(info.svc_id, lni->svc_id);
  EXPECT_EQ(info.rgid, lni->rgid);
  EXPECT_EQ(info.num_cps, 0u);
  EXPECT_EQ(info.num_acs, 0u);
  CpPtr cp = make_cp(lni);
  std::vector<char> memory(100);
  cxidv_md_attr attr = {};
  attr.addr = memory.data();
  attr.length = memory.size();
  attr.flags = CXIDV_MD_READ;
  MdPtr md(made(cxidv_map_md(lni.get(), &attr), "map"));
  ASSERT_EQ(cxidv_query_lni(lni.get(), &info, sizeof info), 0);
  EXPECT_EQ(info.num_cps, 1u);
  EXPECT_EQ(info.num_acs, 1u);
  cxidv_lni* own = cxidv_context_lni(context.get());
  ASSERT_EQ(cxidv_query_lni(own, &info, sizeof info), 0);
  EXPECT_EQ(info.rgid, own->rgid);
}

TEST_F(Lnis, FillStructuresAsFarAsTheyGo) {
  struct {
    cxidv_lni_info info;
    unsigned char later[8];
  } longer;
  std::memset(&longer, 0xff, sizeof longer);
  ASSERT_EQ(cxidv_query_lni(lni.get(), &longer.info, sizeof longer), 0);
  EXPECT_EQ(longer.info.rgid, lni->rgid);
  for (unsigned char byte : longer.later)
    EXPECT_EQ(byte, 0);
  EXPECT_EQ(cxidv_query_lni(lni.get(), &longer.info, sizeof longer.info - 1), EINVAL);
  EXPECT_EQ(cxidv_query_lni(lni.get(), nullptr, sizeof longer), EINVAL);
  EXPECT_EQ(cxidv_query_lni(nullptr, &longer.info, sizeof longer.info), EINVAL);
}

TEST_F(Lnis, AreRefusedOnServicesThatAdmitNobody) {
  NEEDS_PRIVILEGE();
  cxidv_lni_attr attr = {};
  attr.svc_id = 99;
  EXPECT_EQ(error_of(cxidv_create_lni(context.get(), &attr)), EINVAL);
  cxidv_svc_attr disabled = grant();
  disabled.flags = 0;
  SvcPtr svc = make_svc(disabled);
  attr.svc_id = svc->svc_id;
  EXPECT_EQ(error_of(cxidv_create_lni(context.get(), &attr)), EKEYREVOKED);
  Context elsewhere(made(open_on("cxi0", svc->svc_id), "open"));
  EXPECT_EQ(error_of(cxidv_context_lni(elsewhere.get())), EKEYREVOKED);
  cxidv_svc_attr members = grant();
  members.members[0] = {CXIDV_MEMBER_UID, 12345};
  SvcPtr others = make_svc(members);
  attr.svc_id = others->svc_id;
  EXPECT_EQ(error_of(cxidv_create_lni(context.get(), &attr)), EPERM);
  attr = {};
  attr.comp_mask = 1;
  EXPECT_EQ(error_of(cxidv_create_lni(context.get(), &attr)), EINVAL);
  attr = {};
  attr.flags = 1;
  EXPECT_EQ(error_of(cxidv_create_lni(context.get(), &attr)), EINVAL);
  EXPECT_EQ(error_of(cxidv_create_lni(nullptr, nullptr)), EINVAL);
}

TEST_F(Lnis, RunOut) {
  constexpr std::size_t most = 254;  // 255 resource groups; one is the fixture's
  std::vector<LniPtr> all;
  EXPECT_TRUE(eventually([&] {  // contexts that were closed before may have some for a moment
    while (cxidv_lni* more = cxidv_create_lni(context.get(), nullptr)) {
      all.emplace_back(more);
      if (all.size() > most) return true;
    }
    return errno != ENOSPC || all.size() == most;
  }));
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(all.size(), most);
}

TEST_F(Lnis, AreBusyWhileAnythingLivesOnThem) {
  const auto busy = [&] {
    const int err = cxidv_destroy_lni(lni.get());
    return err == EBUSY && errno == EBUSY;
  };
  {
    CpPtr cp = make_cp(lni);
    EXPECT_TRUE(busy());
  }
  {
    DomainPtr domain = make_domain(lni);
    EXPECT_TRUE(busy());
  }
  {
    EqPtr eq = make_eq(lni);
    EXPECT_TRUE(busy());
  }
  {
    CmdqPtr queue = make_target_queue(lni);
    EXPECT_TRUE(busy());
  }
  {
    PtePtr pte = make_pte(lni);
    EXPECT_TRUE(busy());
  }
  {
    CtPtr ct(made(cxidv_create_ct(lni.get(), nullptr), "ct"));
    EXPECT_TRUE(busy());
  }
  {
    char memory[64];
    cxidv_md_attr attr = {};
    attr.addr = memory;
    attr.length = sizeof memory;
    attr.flags = CXIDV_MD_WRITE;
    MdPtr md(made(cxidv_map_md(lni.get(), &attr), "map"));
    EXPECT_TRUE(busy());
  }
  // Nothing has changed: it still makes things.
  EXPECT_TRUE(make_cp(lni));
}

TEST_F(Lnis, ServeSeveralThreadsAtOnce) {
  // What is made at once is told apart, and every object finds its way out of the context's list.
  std::vector<std::thread> threads;
  std::atomic<unsigned> refused = 0;
  for (unsigned i = 0; i < 4; i++)
    threads.emplace_back([&] {
      for (unsigned round = 0; round < 20; round++) {
        std::vector<cxidv_ct*> counters;
        for (unsigned n = 0; n < 8; n++)
          counters.push_back(cxidv_create_ct(lni.get(), nullptr));
        cxidv_domain* domain = cxidv_create_domain(lni.get(), first_vni, C_PID_ANY);
        if (!domain || !cxidv_context_lni(context.get()) || cxidv_destroy_domain(domain)) refused++;
        for (cxidv_ct* counter : counters)
          if (!counter || cxidv_destroy_ct(counter)) refused++;
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(refused, 0u);
}

class Profiles : public Native {
 protected:
  int refusal(const cxidv_cp_attr& attr) { return error_of(cxidv_alloc_cp(lni.get(), &attr)); }
  static cxidv_cp_attr best_effort(std::uint32_t vni) {
    cxidv_cp_attr attr = {};
    attr.vni = vni;
    attr.traffic_class = CXIDV_TC_BEST_EFFORT;
    return attr;
  }
};

TEST_F(Profiles, AreSharedWhereTheyAreTheSame) {
  CpPtr a = make_cp(lni), b = make_cp(lni), c = make_cp(lni, second_vni);
  EXPECT_EQ(a->lcid, b->lcid);
  EXPECT_NE(a->lcid, c->lcid);
  EXPECT_EQ(c->vni, second_vni);
  EXPECT_EQ(c->lni, lni.get());
  EXPECT_EQ(c->traffic_class, std::uint32_t{CXIDV_TC_BEST_EFFORT});
}

TEST_F(Profiles, AreRefusedWhereTheServiceOrTheFabricHasNone) {
  NEEDS_PRIVILEGE();
  EXPECT_EQ(refusal(best_effort(0)), EINVAL);
  EXPECT_EQ(refusal(best_effort(0x10001)), EINVAL);
  EXPECT_EQ(refusal(best_effort(2)), ENOENT);
  cxidv_cp_attr attr = best_effort(first_vni);
  attr.traffic_class = CXIDV_TC_DEDICATED_ACCESS;
  EXPECT_EQ(refusal(attr), EINVAL);
  attr.traffic_class = 99;
  EXPECT_EQ(refusal(attr), EINVAL);
  attr.traffic_class = 0x10003;
  EXPECT_EQ(refusal(attr), EINVAL);
  attr = best_effort(first_vni);
  attr.traffic_class_type = CXIDV_TC_TYPE_COLL_LEAF;
  EXPECT_EQ(refusal(attr), EINVAL);
  attr.traffic_class_type = 0x10000;
  EXPECT_EQ(refusal(attr), EINVAL);
  attr = best_effort(first_vni);
  attr.flags = 2;
  EXPECT_EQ(refusal(attr), EINVAL);
  attr = best_effort(first_vni);
  attr.comp_mask = 1;
  EXPECT_EQ(refusal(attr), EINVAL);
  EXPECT_EQ(error_of(cxidv_alloc_cp(lni.get(), nullptr)), EINVAL);
  SvcPtr svc = make_svc(grant());
  LniPtr other = lni_on(svc->svc_id);
  attr = best_effort(700);
  attr.traffic_class = CXIDV_TC_BULK_DATA;  // the fabric has it, the service does not
  EXPECT_EQ(error_of(cxidv_alloc_cp(other.get(), &attr)), EINVAL);
  attr = best_effort(first_vni);
  EXPECT_EQ(error_of(cxidv_alloc_cp(other.get(), &attr)), ENOENT);
}

TEST_F(Profiles, AreRefusedToCallersThatLostTheirMembership) {
  NEEDS_PRIVILEGE();
  cxidv_svc_attr root_only = grant();
  root_only.members[0] = {CXIDV_MEMBER_UID, 0};
  SvcPtr svc = make_svc(root_only);
  // The logical NI is made with the rights of root, in the child, before it gives them up.
  const pid_t child = fork();
  if (child == 0) {
    ibv_context* mine = open_on("cxi0", svc->svc_id);
    cxidv_lni* own = mine ? cxidv_context_lni(mine) : nullptr;
    if (!own || setresgid(1000, 1000, 1000) || setresuid(1000, 1000, 1000)) _exit(255);
    const cxidv_cp_attr attr = best_effort(700);
    if (error_of(cxidv_alloc_cp(own, &attr)) != EPERM) _exit(1);
    if (error_of(cxidv_create_domain(own, 700, C_PID_ANY)) != EPERM) _exit(2);
    std::uint32_t pid;
    if (cxidv_reserve_pids(own, 700, C_PID_ANY, 1, &pid) != EPERM) _exit(3);
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Profiles, TriggeredOnesHaveTheFirstNumber) {
  cxidv_cp_attr attr = best_effort(second_vni);
  attr.flags = CXIDV_CP_TRIGGERED;
  CpPtr triggered(made(cxidv_alloc_cp(lni.get(), &attr), "cp"));
  EXPECT_EQ(triggered->lcid, 0);
  attr.vni = first_vni;
  EXPECT_EQ(refusal(attr), ENOSPC);
}

TEST_F(Profiles, RunOut) {
  NEEDS_PRIVILEGE();
  cxidv_svc_attr many = grant();
  many.num_vnis = 4;
  many.tc_mask = 0xf;
  for (unsigned i = 0; i < 4; i++)
    many.vnis[i] = static_cast<std::uint16_t>(700 + i);
  SvcPtr svc = make_svc(many);
  LniPtr on = lni_on(svc->svc_id);
  std::vector<CpPtr> all;
  for (unsigned i = 0; i < 20; i++) {
    cxidv_cp_attr attr = best_effort(700 + i % 4);
    constexpr std::uint32_t classes[][2] = {
        {CXIDV_TC_BEST_EFFORT, CXIDV_TC_TYPE_DEFAULT},
        {CXIDV_TC_BEST_EFFORT, CXIDV_TC_TYPE_HRP},
        {CXIDV_TC_BEST_EFFORT, CXIDV_TC_TYPE_RESTRICTED},
        {CXIDV_TC_LOW_LATENCY, CXIDV_TC_TYPE_DEFAULT},
        {CXIDV_TC_BULK_DATA, CXIDV_TC_TYPE_DEFAULT},
    };
    attr.traffic_class = classes[i / 4][0];
    attr.traffic_class_type = classes[i / 4][1];
    cxidv_cp* cp = cxidv_alloc_cp(on.get(), &attr);
    if (i < 16) {
      all.emplace_back(made(cp, "cp"));
    } else {
      EXPECT_EQ(error_of(cp), ENOSPC);
    }
  }
}

TEST_F(Profiles, AreBusyWhileAQueueUsesThem) {
  CpPtr cp = make_cp(lni);
  {
    CmdqPtr queue(made(try_transmit_queue(lni, cp.get()), "queue"));
    EXPECT_EQ(cxidv_free_cp(cp.get()), EBUSY);
    EXPECT_EQ(errno, EBUSY);
    EXPECT_EQ(cp->vni, first_vni);
  }
}

class Domains : public Native {
 protected:
  int refusal(std::uint32_t vni, std::uint32_t pid) {
    return error_of(cxidv_create_domain(lni.get(), vni, pid));
  }
  int reserve(std::uint32_t vni, std::uint32_t pid, std::uint32_t count) {
    return cxidv_reserve_pids(lni.get(), vni, pid, count, &first);
  }
  std::uint32_t first = 0;
};

TEST_F(Domains, HaveTheirOwnPidInEachVni) {
  DomainPtr a = make_domain(lni), b = make_domain(lni);
  EXPECT_NE(a->pid, b->pid);
  EXPECT_EQ(a->vni, first_vni);
  DomainPtr c = make_domain(lni, second_vni, a->pid);
  EXPECT_EQ(c->pid, a->pid);
  EXPECT_EQ(refusal(first_vni, a->pid), EEXIST);
}

TEST_F(Domains, AreRefusedWithBadNumbers) {
  EXPECT_EQ(refusal(0, 5), EINVAL);
  EXPECT_EQ(refusal(0x10000, 5), EINVAL);
  EXPECT_EQ(refusal(first_vni, 512), EINVAL);
  EXPECT_EQ(refusal(2, 5), ENOENT);
  EXPECT_EQ(error_of(cxidv_create_domain(nullptr, 1, 5)), EINVAL);
}

TEST_F(Domains, RunOut) {
  ASSERT_EQ(reserve(second_vni, 0, 511), 0);
  LniPtr other = second_lni();
  EXPECT_EQ(error_of(cxidv_create_domain(other.get(), second_vni, C_PID_ANY)), ENOSPC);
  EXPECT_EQ(error_of(cxidv_create_domain(other.get(), second_vni, 17)), EEXIST);
  EXPECT_EQ(cxidv_reserve_pids(other.get(), second_vni, C_PID_ANY, 1, &first), ENOSPC);
}

TEST_F(Domains, OfReservedPidsAreTheReserversUntilItGoes) {
  ASSERT_EQ(reserve(first_vni, 100, 4), 0);
  EXPECT_EQ(first, 100u);
  ASSERT_EQ(reserve(first_vni, C_PID_ANY, 8), 0);
  EXPECT_TRUE(first + 8 <= 100 || first >= 104);
  LniPtr other = second_lni();
  EXPECT_EQ(error_of(cxidv_create_domain(other.get(), first_vni, 102)), EEXIST);
  EXPECT_EQ(cxidv_reserve_pids(other.get(), first_vni, 103, 2, &first), EEXIST);
  { DomainPtr mine = make_domain(lni, first_vni, 102); }
  EXPECT_EQ(error_of(cxidv_create_domain(other.get(), first_vni, 102)), EEXIST);
  lni.reset();
  DomainPtr theirs = make_domain(other, first_vni, 102);
}

TEST_F(Domains, OfReservedPidsAreRefusedWithBadNumbers) {
  EXPECT_EQ(reserve(0, 1, 1), EINVAL);
  EXPECT_EQ(reserve(first_vni, 512, 1), EINVAL);
  EXPECT_EQ(reserve(first_vni, 1, 0), EINVAL);
  EXPECT_EQ(reserve(first_vni, 1, 512), EINVAL);
  EXPECT_EQ(reserve(2, 1, 1), ENOENT);
  EXPECT_EQ(cxidv_reserve_pids(lni.get(), first_vni, 1, 1, nullptr), EINVAL);
  EXPECT_EQ(cxidv_reserve_pids(nullptr, first_vni, 1, 1, &first), EINVAL);
}

TEST_F(Domains, AreBusyWhileAnEntryIsMappedInThem) {
  DomainPtr domain = make_domain(lni);
  PtePtr pte = make_pte(lni);
  ASSERT_EQ(cxidv_map_pte(pte.get(), domain.get(), 3, 0), 0);
  EXPECT_EQ(cxidv_destroy_domain(domain.get()), EBUSY);
  EXPECT_EQ(cxidv_destroy_pte(pte.get()), EBUSY);
  EXPECT_EQ(cxidv_unmap_pte(pte.get(), domain.get(), 3, 0), 0);
}

}  // namespace
}  // namespace on_model
