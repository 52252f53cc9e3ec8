// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Direct verbs in front of the software NIC: devices, services, and the end of both.
#include <gmock/gmock.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "dv_on_model.hpp"

namespace on_model {
namespace {

class Devices : public Native {};

TEST_F(Devices, SayWhatTheyHave) {
  cxidv_device_attr attr = {};
  ASSERT_EQ(cxidv_query_device(context.get(), &attr, sizeof attr), 0);
  EXPECT_EQ(attr.svc_id, 1u);
  EXPECT_LT(attr.nid, 1u << 20);
  EXPECT_EQ(attr.pid_bits, 9u);
  EXPECT_EQ(attr.pid_granule, 256u);
  EXPECT_EQ(attr.rdzv_get_index, 255u);
  EXPECT_EQ(attr.max_inline, 192u);
  EXPECT_EQ(attr.num_ptes, 2047u);
  EXPECT_EQ(attr.num_txqs, 1024u);
  EXPECT_EQ(attr.num_tgqs, 512u);
  EXPECT_EQ(attr.num_eqs, 2047u);
  EXPECT_EQ(attr.num_cts, 2047u);
  EXPECT_TRUE(attr.window_flags & CXIDV_WINDOW_DOORBELL);
  EXPECT_EQ(attr.link_state, std::uint32_t{IBV_PORT_ACTIVE});
  EXPECT_GT(attr.link_mbps, 0u);
  EXPECT_EQ(attr.clock_hz, 1'000'000'000u);
  EXPECT_EQ(cxidv_query_device(context.get(), &attr, sizeof attr - 1), EINVAL);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(cxidv_query_device(context.get(), nullptr, sizeof attr), EINVAL);
  EXPECT_EQ(cxidv_query_device(nullptr, &attr, sizeof attr), EINVAL);
}

TEST_F(Devices, HaveNoSpeedWithoutALink) {
  ASSERT_EQ(std::system(CXI_SIM " set link cxi0 down"), 0);
  cxidv_device_attr attr = {};
  ASSERT_EQ(cxidv_query_device(context.get(), &attr, sizeof attr), 0);
  EXPECT_EQ(attr.link_state, std::uint32_t{IBV_PORT_DOWN});
  EXPECT_EQ(attr.link_mbps, 0u);
  ASSERT_EQ(std::system(CXI_SIM " set link cxi0 up"), 0);
}

TEST_F(Devices, AreOpenedOnAChosenService) {
  NEEDS_PRIVILEGE();
  EXPECT_TRUE(cxidv_is_supported(context->device));
  EXPECT_FALSE(cxidv_is_supported(nullptr));
  SvcPtr svc = make_svc(grant());
  Context elsewhere(made(open_on("cxi0", svc->svc_id), "open"));
  cxidv_device_attr attr = {};
  ASSERT_EQ(cxidv_query_device(elsewhere.get(), &attr, sizeof attr), 0);
  EXPECT_EQ(attr.svc_id, svc->svc_id);
  cxidv_lni* own = made(cxidv_context_lni(elsewhere.get()), "context lni");
  EXPECT_EQ(own->svc_id, svc->svc_id);
  cxidv_open_attr open = {};
  open.comp_mask = 1;
  EXPECT_EQ(error_of(cxidv_open_device(context->device, &open)), EINVAL);
  open = {};
  open.flags = 1;
  EXPECT_EQ(error_of(cxidv_open_device(context->device, &open)), EINVAL);
  EXPECT_EQ(error_of(cxidv_open_device(context->device, nullptr)), EINVAL);
  EXPECT_EQ(error_of(cxidv_open_device(nullptr, &open)), EINVAL);
}

TEST_F(Devices, TheServiceOfTheEnvironmentIsTheDefaultChoice) {
  NEEDS_PRIVILEGE();
  SvcPtr svc = make_svc(grant());
  setenv("SLINGSHOT_SVC_IDS", std::to_string(svc->svc_id).c_str(), 1);
  setenv("SLINGSHOT_DEVICES", "cxi0", 1);
  Context by_environment(made(open_on("cxi0", 0), "open"));
  Context chosen(made(open_on("cxi0", 1), "open"));
  unsetenv("SLINGSHOT_SVC_IDS");
  unsetenv("SLINGSHOT_DEVICES");
  EXPECT_EQ(made(cxidv_context_lni(by_environment.get()), "lni")->svc_id, svc->svc_id);
  EXPECT_EQ(made(cxidv_context_lni(chosen.get()), "lni")->svc_id, 1u);
}

class Services : public Native {
 protected:
  int refusal(std::function<void(cxidv_svc_attr&)> change) {
    cxidv_svc_attr attr = grant();
    change(attr);
    return error_of(cxidv_alloc_svc(context.get(), &attr));
  }
  int modify(std::uint32_t id, const cxidv_svc_attr& attr) {
    return cxidv_modify_svc(context.get(), id, &attr);
  }
  std::vector<std::uint32_t> list() {
    std::vector<std::uint32_t> ids(1000);
    std::size_t count = ids.size();
    EXPECT_EQ(cxidv_list_svcs(context.get(), ids.data(), &count), 0);
    ids.resize(count);
    return ids;
  }
};

TEST_F(Services, TellWhatTheyGrantAndWhatIsUsed) {
  NEEDS_PRIVILEGE();
  cxidv_svc_attr attr = grant();
  attr.flags |= CXIDV_SVC_LIMITED;
  attr.limits[CXIDV_RSRC_EQ] = {5, 2, 0, 0};
  SvcPtr svc(made(cxidv_alloc_svc(context.get(), &attr), "alloc svc"));
  EXPECT_EQ(attr.svc_id, svc->svc_id);
  EXPECT_EQ(attr.limits[CXIDV_RSRC_EQ].in_use, 0u);
  LniPtr on = lni_on(svc->svc_id);
  EqPtr eq = make_eq(on);
  cxidv_svc_attr found = {};
  ASSERT_EQ(cxidv_query_svc(context.get(), svc->svc_id, &found, sizeof found), 0);
  EXPECT_EQ(found.svc_id, svc->svc_id);
  EXPECT_EQ(found.flags, attr.flags);
  EXPECT_EQ(found.num_vnis, 1u);
  EXPECT_EQ(found.vnis[0], 700);
  EXPECT_EQ(found.tc_mask, attr.tc_mask);
  EXPECT_EQ(found.members[0].type, std::uint32_t{CXIDV_MEMBER_ANY});
  EXPECT_EQ(found.limits[CXIDV_RSRC_EQ].max, 5u);
  EXPECT_EQ(found.limits[CXIDV_RSRC_EQ].reserved, 2u);
  EXPECT_EQ(found.limits[CXIDV_RSRC_EQ].in_use, 1u);
  EXPECT_EQ(found.limits[CXIDV_RSRC_EQ].free, 2045u);
  EXPECT_EQ(cxidv_query_svc(context.get(), 99, &found, sizeof found), EINVAL);
  EXPECT_EQ(cxidv_query_svc(context.get(), 1, &found, sizeof found - 1), EINVAL);
  EXPECT_EQ(cxidv_query_svc(context.get(), 1, nullptr, sizeof found), EINVAL);
  EXPECT_EQ(cxidv_query_svc(nullptr, 1, &found, sizeof found), EINVAL);
}

TEST_F(Services, AreRefusedWithWhatMakesNoSense) {
  NEEDS_PRIVILEGE();
  EXPECT_EQ(refusal([](auto& a) { a.comp_mask = 1; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.flags |= CXIDV_SVC_DYING; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.flags |= 1 << 8; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.num_vnis = 5; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.vnis[0] = 0; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.tc_mask = 0x10; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.members[1].type = 4; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.limits[CXIDV_RSRC_CT] = {1, 2, 0, 0}; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.limits[CXIDV_RSRC_CT] = {2048, 0, 0, 0}; }), EINVAL);
  const auto range = [](std::uint16_t first, std::uint16_t last) {
    return [=](cxidv_svc_attr& a) {
      a.flags |= CXIDV_SVC_VNI_RANGE;
      a.num_vnis = 2;
      a.vnis[0] = first;
      a.vnis[1] = last;
    };
  };
  EXPECT_EQ(refusal(range(1000, 1002)), EINVAL);
  EXPECT_EQ(refusal(range(1001, 1004)), EINVAL);
  cxidv_svc_attr aligned = grant();
  range(1024, 1031)(aligned);
  SvcPtr svc = make_svc(aligned);
  EXPECT_EQ(refusal(range(1028, 1029)), EEXIST);
  EXPECT_EQ(error_of(cxidv_alloc_svc(context.get(), nullptr)), EINVAL);
  EXPECT_EQ(error_of(cxidv_alloc_svc(nullptr, &aligned)), EINVAL);
  EXPECT_EQ(cxidv_destroy_svc(nullptr), EINVAL);
}

TEST_F(Services, SayWhatIsFreeWhereAReservationIsNot) {
  NEEDS_PRIVILEGE();
  cxidv_svc_attr attr = small_grant(1000);
  attr.limits[CXIDV_RSRC_TGQ].max = 300;
  attr.limits[CXIDV_RSRC_TGQ].reserved = 300;
  SvcPtr svc = make_svc(attr);
  EXPECT_EQ(error_of(cxidv_alloc_svc(context.get(), &attr)), ENOSPC);
  EXPECT_EQ(attr.limits[CXIDV_RSRC_TGQ].free, 212u);
  EXPECT_EQ(attr.limits[CXIDV_RSRC_TGQ].max, 300u);
  EXPECT_EQ(attr.svc_id, 0u);
}

TEST_F(Services, AreBusyWhileALogicalNiLivesOnThem) {
  NEEDS_PRIVILEGE();
  SvcPtr svc = make_svc(grant());
  {
    LniPtr on = lni_on(svc->svc_id);
    EXPECT_EQ(cxidv_destroy_svc(svc.get()), EBUSY);
    EXPECT_EQ(cxidv_remove_svc(context.get(), svc->svc_id), EBUSY);
  }
  EXPECT_THAT(list(), testing::ElementsAre(1, svc->svc_id));
  const std::uint32_t id = svc->svc_id;
  svc.reset();
  EXPECT_EQ(cxidv_remove_svc(context.get(), id), EINVAL);
  EXPECT_EQ(cxidv_remove_svc(context.get(), 1), EINVAL);  // the default one stays
  EXPECT_EQ(cxidv_remove_svc(nullptr, 1), EINVAL);
}

TEST_F(Services, AreRemovedByTheirNumber) {
  NEEDS_PRIVILEGE();
  Context elsewhere(made(open_on("cxi0", 0), "open"));
  cxidv_svc_attr attr = grant();
  cxidv_svc* svc = made(cxidv_alloc_svc(elsewhere.get(), &attr), "svc");
  EXPECT_EQ(cxidv_remove_svc(context.get(), svc->svc_id), 0);
  EXPECT_THAT(list(), testing::ElementsAre(1));
  // What its maker makes next is not taken for it.
  cxidv_svc* next = made(cxidv_alloc_svc(elsewhere.get(), &attr), "svc");
  EXPECT_EQ(cxidv_destroy_svc(svc), 0);
  EXPECT_THAT(list(), testing::ElementsAre(1, next->svc_id));
  EXPECT_EQ(cxidv_destroy_svc(next), 0);
}

TEST_F(Services, AreModifiedButForLimits) {
  NEEDS_PRIVILEGE();
  cxidv_svc_attr attr = small_grant(8);
  SvcPtr svc(made(cxidv_alloc_svc(context.get(), &attr), "svc"));
  cxidv_svc_attr changed = attr;
  changed.vnis[0] = 701;
  EXPECT_EQ(modify(svc->svc_id, changed), 0);
  cxidv_svc_attr found = {};
  ASSERT_EQ(cxidv_query_svc(context.get(), svc->svc_id, &found, sizeof found), 0);
  EXPECT_EQ(found.vnis[0], 701);
  cxidv_svc_attr limits = changed;
  limits.limits[CXIDV_RSRC_EQ].max = 9;
  EXPECT_EQ(modify(svc->svc_id, limits), EINVAL);
  limits = changed;
  limits.comp_mask = 1;
  EXPECT_EQ(modify(svc->svc_id, limits), EINVAL);
  EXPECT_EQ(modify(99, changed), EINVAL);
  EXPECT_EQ(cxidv_modify_svc(context.get(), svc->svc_id, nullptr), EINVAL);
  LniPtr on = lni_on(svc->svc_id);
  cxidv_svc_attr disabled = changed;
  disabled.flags &= ~std::uint32_t{CXIDV_SVC_ENABLED};
  EXPECT_EQ(modify(svc->svc_id, disabled), 0);
  changed.vnis[0] = 702;
  EXPECT_EQ(modify(svc->svc_id, changed), EBUSY);
  disabled.members[1] = {CXIDV_MEMBER_UID, 77};
  EXPECT_EQ(modify(svc->svc_id, disabled), EBUSY);
}

TEST_F(Services, AreListedHoweverManyThereAre) {
  NEEDS_PRIVILEGE();
  std::vector<SvcPtr> all;
  for (unsigned i = 0; i < 150; i++)
    all.push_back(make_svc(grant()));
  const std::vector<std::uint32_t> ids = list();
  ASSERT_EQ(ids.size(), 151u);
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  std::uint32_t some[101];
  some[100] = 12345;
  std::size_t count = 100;
  EXPECT_EQ(cxidv_list_svcs(context.get(), some, &count), ENOSPC);
  EXPECT_EQ(count, 151u);
  EXPECT_TRUE(std::equal(some, some + 100, ids.begin()));
  EXPECT_EQ(some[100], 12345u);
  count = 0;
  EXPECT_EQ(cxidv_list_svcs(context.get(), nullptr, &count), ENOSPC);
  EXPECT_EQ(count, 151u);
  EXPECT_EQ(cxidv_list_svcs(context.get(), nullptr, &count), EINVAL);
  EXPECT_EQ(cxidv_list_svcs(context.get(), some, nullptr), EINVAL);
  EXPECT_EQ(cxidv_list_svcs(nullptr, some, &count), EINVAL);
}

TEST_F(Services, AreForTheirMembersToSeeAndForRootToMake) {
  NEEDS_PRIVILEGE();
  cxidv_svc_attr theirs = grant();
  theirs.members[0] = {CXIDV_MEMBER_UID, 1000};
  cxidv_svc_attr others = grant();
  others.members[0] = {CXIDV_MEMBER_GID, 1001};
  SvcPtr visible = make_svc(theirs), hidden = make_svc(others);
  EXPECT_EQ(as_user(1000,
                    [&] {
                      ibv_context* mine = open_on("cxi0", visible->svc_id);
                      if (!mine) return 10;
                      cxidv_svc_attr attr = grant();
                      if (error_of(cxidv_alloc_svc(mine, &attr)) != EPERM) return 1;
                      if (cxidv_modify_svc(mine, visible->svc_id, &theirs) != EPERM) return 2;
                      if (cxidv_remove_svc(mine, visible->svc_id) != EPERM) return 3;
                      if (cxidv_query_svc(mine, visible->svc_id, &attr, sizeof attr)) return 4;
                      if (cxidv_query_svc(mine, hidden->svc_id, &attr, sizeof attr) != EPERM)
                        return 5;
                      std::uint32_t ids[8];
                      std::size_t count = 8;
                      if (cxidv_list_svcs(mine, ids, &count) || count != 2) return 6;
                      if (ids[0] != 1 || ids[1] != visible->svc_id) return 7;
                      if (!cxidv_context_lni(mine)) return 8;
                      cxidv_lni_attr on = {};
                      on.svc_id = hidden->svc_id;
                      if (error_of(cxidv_create_lni(mine, &on)) != EPERM) return 9;
                      return 0;
                    }),
            0);
}

class Closing : public testing::Test {
 protected:
  /// Opens a device, makes one of everything on both kinds of logical NI, and closes the device.
  static void make_everything_and_close() {
    Context context(made(open_on("cxi0", 0), "open"));
    cxidv_svc_attr attr = {};
    attr.flags = CXIDV_SVC_ENABLED;
    attr.num_vnis = 1;
    attr.vnis[0] = 700;
    attr.tc_mask = 1 << CXIDV_TC_BEST_EFFORT;
    attr.members[0].type = CXIDV_MEMBER_ANY;
    cxidv_svc* svc = made(cxidv_alloc_svc(context.get(), &attr), "svc");
    cxidv_lni_attr on = {};
    on.svc_id = svc->svc_id;
    make_on(made(cxidv_create_lni(context.get(), &on), "lni"), 700);
    make_on(made(cxidv_context_lni(context.get()), "own"), first_vni);
  }
  static void make_on(cxidv_lni* lni, std::uint32_t vni) {
    cxidv_cp_attr cp_attr = {};
    cp_attr.vni = vni;
    cp_attr.traffic_class = CXIDV_TC_BEST_EFFORT;
    cxidv_cp* cp = made(cxidv_alloc_cp(lni, &cp_attr), "cp");
    cxidv_domain* domain = nullptr;
    ASSERT_TRUE(eventually([&] { return (domain = cxidv_create_domain(lni, vni, 333)); }));
    cxidv_eq_attr eq_attr = {};
    eq_attr.slots = 64;
    cxidv_eq* eq = made(cxidv_create_eq(lni, &eq_attr), "eq");
    ASSERT_EQ(cxidv_resize_eq(eq, 128), 0);
    cxidv_cmdq_attr cmdq_attr = {};
    cmdq_attr.flags = CXIDV_CMDQ_TRANSMIT;
    cmdq_attr.cp = cp;
    cmdq_attr.eq = eq;
    made(cxidv_create_cmdq(lni, &cmdq_attr), "cmdq");
    cxidv_pte_attr pte_attr = {};
    pte_attr.eq = eq;
    cxidv_pte* pte = made(cxidv_create_pte(lni, &pte_attr), "pte");
    ASSERT_EQ(cxidv_map_pte(pte, domain, 5, 0), 0);
    made(cxidv_create_ct(lni, nullptr), "ct");
    static char memory[64];
    cxidv_md_attr md_attr = {};
    md_attr.addr = memory;
    md_attr.length = sizeof memory;
    md_attr.flags = CXIDV_MD_WRITE;
    made(cxidv_map_md(lni, &md_attr), "md");
  }
  static std::size_t mappings() {
    std::ifstream maps("/proc/self/maps");
    std::size_t lines = 0;
    for (std::string line; std::getline(maps, line);)
      lines++;
    return lines;
  }
};

TEST_F(Closing, GivesTheKernelsSideBack) {
  NEEDS_PRIVILEGE();
  make_everything_and_close();
  Context context(made(open_on("cxi0", 0), "open"));
  cxidv_lni* own = made(cxidv_context_lni(context.get()), "own");
  EXPECT_TRUE(eventually([&] { return cxidv_create_domain(own, first_vni, 333); }));
  EXPECT_TRUE(eventually([&] {
    std::uint32_t id;
    std::size_t count = 1;
    return cxidv_list_svcs(context.get(), &id, &count) == 0 && id == 1;
  }));
}

TEST_F(Closing, LeavesNeitherMemoryNorMappings) {
  NEEDS_PRIVILEGE();
  constexpr unsigned rounds = 10;
  // What is made once stays.
  for (unsigned round = 0; round < rounds; round++)
    make_everything_and_close();
  mappings();
  const std::size_t mapped = mappings();
  const std::size_t allocated = mallinfo2().uordblks;
  for (unsigned round = 0; round < rounds; round++)
    make_everything_and_close();
  // The allocator's caches, which count, may still fill. A leak is a chunk in each round, and the
  // smallest has 32 bytes.
  EXPECT_LT(mallinfo2().uordblks, allocated + rounds * 32);
  EXPECT_EQ(mappings(), mapped);
}

class Gone : public Native {};

TEST_F(Gone, DevicesMakeNothingAndLetEverythingBeDestroyed) {
  NEEDS_PRIVILEGE();
  SvcPtr svc = make_svc(grant());
  CpPtr cp = make_cp(lni);
  DomainPtr domain = make_domain(lni);
  Channel channel(made(ibv_create_comp_channel(context.get()), "channel"));
  EqPtr eq = make_eq(lni, channel.get());
  CmdqPtr queue(made(try_transmit_queue(lni, cp.get()), "queue"));
  PtePtr pte = make_pte(lni, eq.get());
  ASSERT_EQ(cxidv_map_pte(pte.get(), domain.get(), 5, 0), 0);
  CtPtr ct(made(cxidv_create_ct(lni.get(), nullptr), "ct"));
  char memory[64];
  cxidv_md_attr attr = {};
  attr.addr = memory;
  attr.length = sizeof memory;
  attr.flags = CXIDV_MD_WRITE;
  MdPtr md(made(cxidv_map_md(lni.get(), &attr), "map"));
  ASSERT_EQ(std::system(CXI_SIM " set device cxi0 failed"), 0);

  EXPECT_EQ(error_of(cxidv_create_lni(context.get(), nullptr)), EIO);
  EXPECT_EQ(error_of(cxidv_create_domain(lni.get(), first_vni, C_PID_ANY)), EIO);
  EXPECT_EQ(error_of(try_eq(lni)), EIO);
  EXPECT_EQ(error_of(try_target_queue(lni)), EIO);
  EXPECT_EQ(error_of(cxidv_map_md(lni.get(), &attr)), EIO);
  EXPECT_EQ(error_of(cxidv_create_ct(lni.get(), nullptr)), EIO);
  EXPECT_EQ(cxidv_inc_ct(ct.get(), 1, 0), EIO);
  EXPECT_EQ(cxidv_wait_ct(ct.get(), 1, UINT64_MAX, nullptr, nullptr), EIO);
  EXPECT_EQ(cxidv_unmap_pte(pte.get(), domain.get(), 5, 0), EIO);
  EXPECT_EQ(cxidv_resize_eq(eq.get(), 128), EIO);
  cxidv_lni_info info = {};
  EXPECT_EQ(cxidv_query_lni(lni.get(), &info, sizeof info), EIO);
  cxidv_device_attr device = {};
  EXPECT_EQ(cxidv_query_device(context.get(), &device, sizeof device), EIO);
  std::size_t count = 0;
  EXPECT_EQ(cxidv_list_svcs(context.get(), nullptr, &count), EIO);
  std::uint64_t word = 0;
  EXPECT_EQ(cxidv_read_csr(context.get(), C_MB_STS_REV_OFFSET, &word, sizeof word), EIO);
  // The owners here expect 0 of every destroy call.
}

}  // namespace
}  // namespace on_model
