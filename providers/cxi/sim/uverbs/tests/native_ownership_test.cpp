// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Who may do what with which object: what is in use stays, what is left at the end goes, what is
// used up, not granted or another's is refused, and a refusal changes nothing.
#include "native_fixture.hpp"

namespace sim::uverbs::test {
namespace {

class Ownership : public NativeTest {
 protected:
  OpenFile* target() override { return on ? on : file.get(); }

  std::vector<std::pair<uint16_t, uint64_t>> on_lni(
      uint32_t ni, std::vector<std::pair<uint16_t, uint64_t>> more = {}) {
    more.push_back({CXI_ATTR_HANDLE, 0});
    more.push_back({CXI_ATTR_LNI_HANDLE, ni});
    return more;
  }
  Answer eq_on(uint32_t ni) {
    return native(CXI_OBJECT_EQ, CXI_METHOD_EQ_CREATE, eq_request(), sizeof(cxi_abi_eq_info),
                  on_lni(ni));
  }
  Answer cmdq_on(uint32_t ni, std::optional<uint32_t> profile,
                 std::optional<uint32_t> queue = std::nullopt) {
    auto handles = on_lni(ni);
    if (profile) handles.push_back({CXI_ATTR_CP_HANDLE, *profile});
    if (queue) handles.push_back({CXI_ATTR_EQ_HANDLE, *queue});
    const uint32_t flags = profile ? CXI_ABI_CMDQ_TRANSMIT : 0;
    return native(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_CREATE, cxi_abi_cmdq_req{flags, 64, 0, 0},
                  sizeof(cxi_abi_cmdq_info), handles);
  }
  Answer md_on(uint32_t ni) {
    return native(CXI_OBJECT_MD, CXI_METHOD_MD_MAP,
                  cxi_abi_md_req{buffer_va, 4096, CXI_ABI_MD_READ, -1}, sizeof(cxi_abi_md_resp),
                  on_lni(ni));
  }
  Answer ct_on(uint32_t ni) {
    return native(CXI_OBJECT_CT, CXI_METHOD_CT_CREATE, cxi_abi_ct_req{}, sizeof(cxi_abi_ct_resp),
                  on_lni(ni));
  }
  Answer pte_on(uint32_t ni, uint32_t charge = 0) {
    return pte(0, charge, {{CXI_ATTR_LNI_HANDLE, ni}});
  }
  Answer domain_on(uint32_t ni, uint32_t pid = C_PID_ANY) { return domain(1, pid, ni); }
  Answer cp_on(uint32_t ni) { return cp({1, 0, CXI_ABI_TC_BEST_EFFORT, 0}, ni); }

  // What the service has in use, the device's tables and the open file's handles: what no refusal
  // may change.
  std::string state(OpenFile& of) {
    auto& f = static_cast<File&>(of);
    std::string text;
    for (const auto& [id, service] : f.nic.services.all()) {
      text += std::to_string(id) + ":" + std::to_string(service.lnis);
      for (unsigned type = 0; type < CXI_ABI_RSRC_COUNT; ++type)
        text += "," + std::to_string(service.used(static_cast<cxi_abi_resource>(type)));
      text += ";";
    }
    for (const auto& [id, object] : f.objects.all())
      text += std::to_string(id) + "=" + std::to_string(object->type) + "/" +
              std::to_string(object->uses) + ";";
    const FakeDevice& d = device();
    for (const size_t size : {d.rgids.size(), d.cps.size(), d.maps.size(), d.eqs.size(),
                              d.cmdqs.size(), d.ptes.size(), d.cts.size(), d.portals.size()})
      text += std::to_string(size) + " ";
    return text;
  }
  int destroy_of(uint16_t object, uint32_t handle) {
    for (const Method& method : methods()) {
      for (const AttrRule& rule : method.attrs) {
        if (rule.kind == Kind::destroyed && rule.object == object)
          return destroy_native(method.object, method.id, handle);
      }
    }
    return -1;
  }
  // The user keeps the used one busy; without it the used one goes.
  void expect_busy(uint16_t used_type, uint32_t used, uint16_t user_type, uint32_t user) {
    const std::string before = state(*file);
    EXPECT_EQ(destroy_of(used_type, used), EBUSY);
    EXPECT_EQ(state(*file), before);
    EXPECT_EQ(destroy_of(user_type, user), 0);
    EXPECT_EQ(destroy_of(used_type, used), 0);
  }
  uint32_t make_service(std::function<void(cxi_abi_svc_desc&)> change) {
    caller.who.cap_sys_admin = true;
    cxi_abi_svc_desc desc{};
    desc.flags = CXI_ABI_SVC_ENABLED | CXI_ABI_SVC_LIMITED;
    desc.num_vnis = 1;
    desc.vnis[0] = 1;
    desc.tc_mask = 0xf;
    desc.members[0].type = CXI_ABI_MEMBER_ANY;
    for (unsigned type = 0; type < CXI_ABI_RSRC_COUNT; ++type)
      desc.limits[type].max = device_totals[type];
    change(desc);
    auto made = native(CXI_OBJECT_SVC, CXI_METHOD_SVC_ALLOC, desc, sizeof desc);
    EXPECT_EQ(made.error, 0);
    caller.who.cap_sys_admin = false;
    return made.resp<cxi_abi_svc_desc>().svc_id;
  }

  OpenFile* on = nullptr;
};

TEST_F(Ownership, EverythingOnALogicalNiKeepsItBusy) {
  const auto check = [&](uint16_t type, auto make) {
    SCOPED_TRACE(type);
    const uint32_t ni = lni().handle();
    auto made = make(ni);
    ASSERT_EQ(made.error, 0);
    expect_busy(CXI_OBJECT_LNI, ni, type, made.handle());
  };
  check(CXI_OBJECT_CP, [&](uint32_t ni) { return cp_on(ni); });
  check(CXI_OBJECT_DOMAIN, [&](uint32_t ni) { return domain_on(ni); });
  check(CXI_OBJECT_MD, [&](uint32_t ni) { return md_on(ni); });
  check(CXI_OBJECT_EQ, [&](uint32_t ni) { return eq_on(ni); });
  check(CXI_OBJECT_CMDQ, [&](uint32_t ni) { return cmdq_on(ni, std::nullopt); });
  check(CXI_OBJECT_PTE, [&](uint32_t ni) { return pte_on(ni); });
  check(CXI_OBJECT_CT, [&](uint32_t ni) { return ct_on(ni); });
}

TEST_F(Ownership, QueuesKeepWhatTheyWereMadeWithBusy) {
  const uint32_t ni = lni().handle();
  const uint32_t profile = cp_on(ni).handle();
  expect_busy(CXI_OBJECT_CP, profile, CXI_OBJECT_CMDQ, cmdq_on(ni, profile).handle());
  const uint32_t events = eq_on(ni).handle();
  expect_busy(CXI_OBJECT_EQ, events, CXI_OBJECT_CMDQ, cmdq_on(ni, std::nullopt, events).handle());
  const uint32_t more = eq_on(ni).handle();
  auto entry = pte(0, 0, {{CXI_ATTR_LNI_HANDLE, ni}, {CXI_ATTR_EQ_HANDLE, more}});
  expect_busy(CXI_OBJECT_EQ, more, CXI_OBJECT_PTE, entry.handle());
}

TEST_F(Ownership, AMappingKeepsBothItsEndsBusy) {
  const uint32_t ni = lni().handle();
  for (const uint32_t multicast : {0u, 1u}) {
    auto place = domain_on(ni);
    auto entry = pte_on(ni);
    cxi_abi_pte_req req{};
    req.multicast = multicast;
    ASSERT_EQ(pte_work(CXI_METHOD_PTE_MAP, entry.handle(), req, place.handle()), 0);
    const std::string before = state(*file);
    EXPECT_EQ(destroy_of(CXI_OBJECT_DOMAIN, place.handle()), EBUSY);
    EXPECT_EQ(destroy_of(CXI_OBJECT_PTE, entry.handle()), EBUSY);
    EXPECT_EQ(state(*file), before);
    EXPECT_EQ(pte_work(CXI_METHOD_PTE_UNMAP, entry.handle(), req, place.handle()), 0);
    EXPECT_EQ(destroy_of(CXI_OBJECT_DOMAIN, place.handle()), 0);
    EXPECT_EQ(destroy_of(CXI_OBJECT_PTE, entry.handle()), 0);
  }
}

TEST_F(Ownership, PartsOfVerbsObjectsGoWithThemOnly) {
  const uint32_t pd = alloc_pd(), job = alloc_job(), jkey = create_jkey(pd, job);
  auto cq = create_cq();
  auto qp = finish_qp(qp_call(pd, cq.handle, cq.handle, jkey));
  const std::string before = state(*file);
  EXPECT_EQ(destroy_of(CXI_OBJECT_EQ, cq.eq.handle), EBUSY);
  EXPECT_EQ(destroy_of(CXI_OBJECT_CMDQ, qp.resp.txq.handle), EBUSY);
  EXPECT_EQ(destroy_of(CXI_OBJECT_CMDQ, qp.resp.tgq.handle), EBUSY);
  EXPECT_EQ(state(*file), before);
  EXPECT_EQ(destroy_qp(qp.handle), 0);
  EXPECT_EQ(destroy_of(CXI_OBJECT_CMDQ, qp.resp.txq.handle), ENOENT);
  EXPECT_EQ(destroy_cq(cq.handle), 0);
  EXPECT_EQ(destroy_of(CXI_OBJECT_EQ, cq.eq.handle), ENOENT);
}

TEST_F(Ownership, ClosingDestroysTheNewestFirst) {
  const uint32_t ni = lni().handle();
  auto events = eq_on(ni);
  auto queue = cmdq_on(ni, std::nullopt, events.handle());
  auto entry = pte(0, 0, {{CXI_ATTR_LNI_HANDLE, ni}, {CXI_ATTR_EQ_HANDLE, events.handle()}});
  auto place = domain_on(ni);
  ASSERT_EQ(pte_work(CXI_METHOD_PTE_MAP, entry.handle(), {}, place.handle()), 0);
  ASSERT_EQ(ct_on(ni).error, 0);
  ASSERT_EQ(md_on(ni).error, 0);
  device().log.clear();
  kernel->release(*file);
  EXPECT_EQ(device().log, (std::vector<std::string>{"unmap memory", "destroy ct", "destroy pte",
                                                    "destroy cmdq", "destroy eq", "free rgid"}));
  EXPECT_TRUE(device().empty());
}

TEST_F(Ownership, NumbersOfHandlesAreGivenAgainButNeverNameAnotherType) {
  auto events = eq();
  ASSERT_EQ(destroy_of(CXI_OBJECT_EQ, events.handle()), 0);
  EXPECT_EQ(destroy_of(CXI_OBJECT_EQ, events.handle()), ENOENT);
  auto counter =
      native(CXI_OBJECT_CT, CXI_METHOD_CT_CREATE, cxi_abi_ct_req{}, sizeof(cxi_abi_ct_resp));
  EXPECT_EQ(counter.handle(), events.handle());
  EXPECT_EQ(destroy_of(CXI_OBJECT_EQ, counter.handle()), EINVAL);
  EXPECT_EQ(destroy_of(CXI_OBJECT_CT, counter.handle()), 0);
}

class Limits : public Ownership {
 protected:
  // With room for one of a type, the second is refused and takes nothing; when the first has gone
  // there is room again.
  void expect_limit(cxi_abi_resource type, uint16_t object,
                    const std::function<Answer(uint32_t)>& make) {
    SCOPED_TRACE(type);
    const uint32_t service = make_service([&](auto& d) { d.limits[type].max = 1; });
    const uint32_t ni = lni(service).handle();
    auto first = make(ni);
    ASSERT_EQ(first.error, 0);
    EXPECT_EQ(impl().nic.services.find(service)->used(type), 1u);
    const std::string before = state(*file);
    EXPECT_EQ(make(ni).error, ENOSPC);
    EXPECT_EQ(state(*file), before);
    EXPECT_EQ(destroy_of(object, first.handle()), 0);
    EXPECT_EQ(impl().nic.services.find(service)->used(type), 0u);
    EXPECT_EQ(make(ni).error, 0);
  }
};

TEST_F(Limits, OfEachTypeAreKept) {
  expect_limit(CXI_ABI_RSRC_PTE, CXI_OBJECT_PTE, [&](uint32_t ni) { return pte_on(ni); });
  expect_limit(CXI_ABI_RSRC_TGQ, CXI_OBJECT_CMDQ,
               [&](uint32_t ni) { return cmdq_on(ni, std::nullopt); });
  expect_limit(CXI_ABI_RSRC_EQ, CXI_OBJECT_EQ, [&](uint32_t ni) { return eq_on(ni); });
  expect_limit(CXI_ABI_RSRC_CT, CXI_OBJECT_CT, [&](uint32_t ni) { return ct_on(ni); });
}

TEST_F(Limits, OfTransmitQueuesAreKept) {
  std::map<uint32_t, uint32_t> profiles;
  expect_limit(CXI_ABI_RSRC_TXQ, CXI_OBJECT_CMDQ, [&](uint32_t ni) {
    if (!profiles.contains(ni)) profiles[ni] = cp_on(ni).handle();
    return cmdq_on(ni, profiles[ni]);
  });
}

TEST_F(Limits, OfListEntriesAreThoseOfOneProcessingElement) {
  const uint32_t service = make_service([](auto& d) { d.limits[CXI_ABI_RSRC_LE].max = 10; });
  const uint32_t ni = lni(service).handle();
  for (unsigned element = 0; element < processing_elements; ++element)
    EXPECT_EQ(pte_on(ni, 6).error, 0);
  const std::string before = state(*file);
  EXPECT_EQ(pte_on(ni, 5).error, ENOSPC);
  EXPECT_EQ(state(*file), before);
  EXPECT_EQ(pte_on(ni, 4).error, 0);
}

TEST_F(Limits, OfAddressContextsAreKept) {
  const uint32_t service = make_service([](auto& d) { d.limits[CXI_ABI_RSRC_AC].max = 1; });
  const uint32_t ni = lni(service).handle();
  EXPECT_EQ(md_on(ni).error, 0);
  EXPECT_EQ(md_on(ni).error, 0) << "in the same one";
  device().next_lac = 2;
  const std::string before = state(*file);
  EXPECT_EQ(md_on(ni).error, ENOSPC);
  EXPECT_EQ(state(*file), before);
}

TEST_F(Limits, OfProfilesAreSixteenForALogicalNi) {
  const uint32_t service = make_service([](auto& d) {
    d.flags |= CXI_ABI_SVC_VNI_RANGE;
    d.num_vnis = 2;
    d.vnis[0] = 1024;
    d.vnis[1] = 1055;
  });
  const uint32_t ni = lni(service).handle();
  for (uint16_t i = 0; i < 16; ++i)
    EXPECT_EQ(cp({static_cast<uint16_t>(1024 + i), 0, 3, 0}, ni).error, 0);
  const std::string before = state(*file);
  EXPECT_EQ(cp({1040, 0, 3, 0}, ni).error, ENOSPC);
  EXPECT_EQ(state(*file), before);
  EXPECT_EQ(cp({1024, 0, 3, 0}, ni).error, 0) << "there already";
  EXPECT_EQ(cp({1056, 0, 3, 0}, ni).error, ENOENT);
}

TEST_F(Limits, OfLogicalNisAreTheDevices) {
  std::vector<uint32_t> made;
  for (;;) {
    auto one = lni();
    if (one.error) {
      EXPECT_EQ(one.error, ENOSPC);
      break;
    }
    made.push_back(one.handle());
  }
  EXPECT_EQ(made.size(), 255u);
  EXPECT_EQ(destroy_of(CXI_OBJECT_LNI, made[7]), 0);
  EXPECT_EQ(lni().error, 0);
}

TEST_F(Limits, OfPidsAreThoseOfTheVni) {
  for (unsigned i = 0; i < 511; ++i)
    ASSERT_EQ(domain(1, C_PID_ANY).error, 0);
  const std::string before = state(*file);
  EXPECT_EQ(domain(1, C_PID_ANY).error, ENOSPC);
  EXPECT_EQ(domain(1, 17).error, EEXIST);
  EXPECT_EQ(reserve(1, C_PID_ANY, 1).error, ENOSPC);
  EXPECT_EQ(state(*file), before);
  EXPECT_EQ(domain(10, C_PID_ANY).error, 0);
}

// Two programs on one NIC.
class Strangers : public Ownership {
 protected:
  Strangers() {
    other = open();
    EXPECT_EQ(get_context(*other), 0);
  }
  // The other program's calls.
  template <class F>
  auto as_other(F call_it) {
    on = other.get();
    auto result = call_it();
    on = nullptr;
    return result;
  }
  std::shared_ptr<OpenFile> other;
};

TEST_F(Strangers, HandlesNameNothingInAnotherOpenFile) {
  const uint32_t ni = lni().handle();
  auto profile = cp_on(ni);
  auto place = domain_on(ni);
  auto events = eq_on(ni);
  auto entry = pte_on(ni);
  const std::string mine = state(*file), others = state(*other);
  const auto of_stranger = [&](uint16_t type, uint32_t handle) {
    return as_other([&] { return destroy_of(type, handle); });
  };
  EXPECT_EQ(of_stranger(CXI_OBJECT_LNI, ni), ENOENT);
  EXPECT_EQ(of_stranger(CXI_OBJECT_CP, profile.handle()), ENOENT);
  EXPECT_EQ(of_stranger(CXI_OBJECT_DOMAIN, place.handle()), ENOENT);
  EXPECT_EQ(of_stranger(CXI_OBJECT_EQ, events.handle()), ENOENT);
  EXPECT_EQ(of_stranger(CXI_OBJECT_PTE, entry.handle()), ENOENT);
  EXPECT_EQ(as_other([&] { return cp_on(ni).error; }), ENOENT);
  EXPECT_EQ(as_other([&] { return eq_on(ni).error; }), ENOENT);
  EXPECT_EQ(as_other([&] { return cmdq_on(ni, profile.handle()).error; }), ENOENT);
  EXPECT_EQ(
      as_other([&] { return pte_work(CXI_METHOD_PTE_MAP, entry.handle(), {}, place.handle()); }),
      ENOENT);
  EXPECT_EQ(state(*file), mine);
  EXPECT_EQ(state(*other), others);
}

TEST_F(Strangers, ANumberOfAnotherNamesTheirOwnObjectIfAnything) {
  auto mine = eq();
  auto theirs = as_other([&] { return eq(); });
  ASSERT_EQ(mine.handle(), theirs.handle()) << "numbers are per open file";
  EXPECT_EQ(as_other([&] { return destroy_of(CXI_OBJECT_EQ, mine.handle()); }), 0);
  EXPECT_EQ(device().eqs.count(mine.resp<cxi_abi_eq_info>().eqn), 1u);
  EXPECT_EQ(device().eqs.count(theirs.resp<cxi_abi_eq_info>().eqn), 0u);
}

TEST_F(Strangers, ChannelsAreOfTheirOpenFile) {
  const int channel = comp_channel();
  const std::string before = state(*other);
  auto refused = as_other([&] {
    return native(CXI_OBJECT_EQ, CXI_METHOD_EQ_CREATE, eq_request(), sizeof(cxi_abi_eq_info),
                  {{CXI_ATTR_HANDLE, 0}, {CXI_ATTR_CHANNEL_FD, static_cast<uint64_t>(channel)}})
        .error;
  });
  EXPECT_EQ(refused, EBADF);
  EXPECT_EQ(state(*other), before);
}

TEST_F(Strangers, PidsAreTakenFromAllOfAVni) {
  const uint32_t pid = domain(1, C_PID_ANY).resp<cxi_abi_domain_resp>().pid;
  EXPECT_EQ(as_other([&] { return domain(1, pid).error; }), EEXIST);
  EXPECT_EQ(as_other([&] { return reserve(1, pid, 1).error; }), EEXIST);
  EXPECT_NE(as_other([&] { return domain(1, C_PID_ANY).resp<cxi_abi_domain_resp>().pid; }), pid);
}

TEST_F(Strangers, ReservedPidsComeFreeWithTheirLogicalNi) {
  ASSERT_EQ(reserve(1, 40, 8).error, 0);
  EXPECT_EQ(as_other([&] { return domain(1, 44).error; }), EEXIST);
  EXPECT_EQ(as_other([&] { return reserve(1, 47, 2).error; }), EEXIST);
  EXPECT_EQ(reserve(1, 41, 1).error, EEXIST) << "once, even by the same program";
  kernel->release(*file);
  EXPECT_EQ(as_other([&] { return domain(1, 44).error; }), 0);
  EXPECT_EQ(as_other([&] { return reserve(1, 45, 3).error; }), 0);
}

TEST_F(Strangers, AReservationThatDoesNotFitTakesNothing) {
  ASSERT_EQ(as_other([&] { return domain(1, 52).error; }), 0);
  EXPECT_EQ(reserve(1, 50, 4).error, EEXIST);
  EXPECT_EQ(reserve(1, 509, 3).error, EEXIST) << "past the last PID";
  for (const unsigned pid : {50u, 51u, 53u, 509u, 510u})
    EXPECT_EQ(as_other([&] { return domain(1, pid).error; }), 0);
}

TEST_F(Strangers, RightsAreThoseOfTheCallerAtTheTimeOfTheCall) {
  const uint32_t ni = lni().handle();
  impl().nic.services.find(1)->members[0] = {CXI_ABI_MEMBER_UID, 1000};
  EXPECT_EQ(cp_on(ni).error, 0);
  caller.who.euid = 1001;
  const std::string before = state(*file);
  EXPECT_EQ(cp({10, 0, 3, 0}, ni).error, EPERM);
  EXPECT_EQ(domain_on(ni).error, EPERM);
  EXPECT_EQ(lni().error, EPERM);
  EXPECT_EQ(as_other([&] { return eq().error; }), EPERM) << "it has no logical NI yet";
  EXPECT_EQ(state(*file), before);
  EXPECT_EQ(eq_on(ni).error, 0) << "what is there may be used";
}

TEST_F(Strangers, VnisAndClassesThatAreNotGrantedAreRefused) {
  const uint32_t service = make_service([](auto& d) {
    d.vnis[0] = 77;
    d.tc_mask = 1 << CXI_ABI_TC_LOW_LATENCY;
  });
  const uint32_t ni = lni(service).handle();
  const std::string before = state(*file);
  EXPECT_EQ(cp({1, 0, CXI_ABI_TC_LOW_LATENCY, 0}, ni).error, ENOENT);
  EXPECT_EQ(domain(1, 5, ni).error, ENOENT);
  EXPECT_EQ(cp({77, 0, CXI_ABI_TC_BEST_EFFORT, 0}, ni).error, EINVAL);
  EXPECT_EQ(cp({77, 0, CXI_ABI_TC_DEDICATED_ACCESS, 0}, ni).error, EINVAL);
  EXPECT_EQ(state(*file), before);
  EXPECT_EQ(cp({77, 0, CXI_ABI_TC_LOW_LATENCY, 0}, ni).error, 0);
  EXPECT_EQ(cp({77, 0, CXI_ABI_TC_LOW_LATENCY, 0}).error, ENOENT) << "the default service has not";
}

TEST_F(Strangers, AServiceThatIsDisabledGivesNoLogicalNiAndLeavesTheOthers) {
  const uint32_t ni = lni().handle();
  impl().nic.services.find(1)->enabled = false;
  const std::string before = state(*file);
  EXPECT_EQ(lni().error, EKEYREVOKED);
  EXPECT_EQ(as_other([&] { return eq().error; }), EKEYREVOKED);
  EXPECT_EQ(state(*file), before);
  EXPECT_EQ(destroy_of(CXI_OBJECT_LNI, ni), 0);
}

}  // namespace
}  // namespace sim::uverbs::test
