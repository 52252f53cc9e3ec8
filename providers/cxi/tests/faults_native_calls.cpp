// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The same for direct verbs.
#include "faults_on_model.hpp"

namespace on_model {
namespace {

cxidv_svc_attr grant() {
  cxidv_svc_attr attr = {};
  attr.num_vnis = 1;
  attr.vnis[0] = 700;
  attr.tc_mask = 1 << CXIDV_TC_BEST_EFFORT;
  attr.members[0] = {CXIDV_MEMBER_ANY, 0};
  return attr;
}

Call eq(const char* name, std::function<cxidv_eq*(World&)> create) {
  return creates<cxidv_eq, cxidv_destroy_eq>(name, std::move(create));
}
Call cmdq(const char* name, std::uint32_t flags) {
  return creates<cxidv_cmdq, cxidv_destroy_cmdq>(name, [flags](World& world) {
    cxidv_cmdq_attr attr = {};
    attr.flags = flags;
    attr.slots = 64;
    attr.eq = world.eq.get();
    if (flags & CXIDV_CMDQ_TRANSMIT) attr.cp = world.cp.get();
    return cxidv_create_cmdq(world.lni.get(), &attr);
  });
}

void add_devices(std::vector<Call>& calls) {
  calls.push_back(creates<ibv_context, ibv_close_device>("open_device", [](World& world) {
    const cxidv_open_attr attr = {0, 1, 0};
    return cxidv_open_device(world.context->device, &attr);
  }));
  calls.push_back(asks("query_device", [](World& world) {
    cxidv_device_attr attr = {};
    const int err = cxidv_query_device(world.context.get(), &attr, sizeof attr);
    EXPECT_EQ(attr.num_eqs == 0, err != 0);
    return err;
  }));
  // Asked for once in the life of a context.
  Call own = asks("context_lni",
                  [](World& world) { return error_of(cxidv_context_lni(world.other.get())); });
  own.allocates = true;
  calls.push_back(own);
}

void add_services(std::vector<Call>& calls) {
  calls.push_back(asks("query_svc", [](World& world) {
    cxidv_svc_attr attr = {};
    const int err = cxidv_query_svc(world.context.get(), 1, &attr, sizeof attr);
    EXPECT_EQ(attr.num_vnis == 0, err != 0);
    return err;
  }));
  calls.push_back(asks("list_svcs", [](World& world) {
    std::uint32_t ids[8] = {};
    std::size_t count = 8;
    const int err = cxidv_list_svcs(world.context.get(), ids, &count);
    EXPECT_EQ(count == 8, err != 0);
    return err;
  }));
  if (geteuid() != 0) return;
  calls.push_back(creates<cxidv_svc, cxidv_destroy_svc>("alloc_svc", [](World& world) {
    cxidv_svc_attr attr = grant();
    return cxidv_alloc_svc(world.context.get(), &attr);
  }));
  calls.push_back({"modify_and_remove_svc",
                   [](World& world) {
                     cxidv_svc_attr attr = grant();
                     cxidv_svc* made = cxidv_alloc_svc(world.context.get(), &attr);
                     if (!made) return errno;
                     attr = grant();
                     attr.flags = CXIDV_SVC_ENABLED;
                     const int err = cxidv_modify_svc(world.context.get(), made->svc_id, &attr);
                     faults::Fault::stop();
                     EXPECT_EQ(cxidv_destroy_svc(made), 0);
                     return err;
                   },
                   nullptr, Effect::none, true});
}

void add_lnis(std::vector<Call>& calls) {
  calls.push_back(creates<cxidv_lni, cxidv_destroy_lni>(
      "create_lni", [](World& world) { return cxidv_create_lni(world.context.get(), nullptr); }));
  calls.push_back(asks("query_lni", [](World& world) {
    cxidv_lni_info info = {};
    return cxidv_query_lni(world.lni.get(), &info, sizeof info);
  }));
  calls.push_back(creates<cxidv_cp, cxidv_free_cp>(
      "alloc_cp", [](World& world) { return try_cp(world.lni.get(), second_vni); }));
  calls.push_back(creates<cxidv_domain, cxidv_destroy_domain>("create_domain", [](World& world) {
    return cxidv_create_domain(world.lni.get(), first_vni, C_PID_ANY);
  }));
  calls.push_back(asks("reserve_pids", [](World& world) {
    std::uint32_t first = 7777;
    const int err = cxidv_reserve_pids(world.lni.get(), second_vni, C_PID_ANY, 1, &first);
    EXPECT_EQ(first == 7777, err != 0);
    return err;
  }));
  calls.push_back(creates<cxidv_md, cxidv_unmap_md>("map_md", [](World& world) {
    cxidv_md_attr attr = {};
    attr.addr = world.memory.at;
    attr.length = Pages::bytes;
    attr.flags = CXIDV_MD_READ | CXIDV_MD_WRITE;
    return cxidv_map_md(world.lni.get(), &attr);
  }));
  calls.push_back(creates<cxidv_md, cxidv_unmap_md>("map_md_of_a_file", [](World& world) {
    cxidv_md_attr attr = {};
    attr.comp_mask = CXIDV_MD_MASK_DMABUF;
    attr.length = Pages::bytes;
    attr.flags = CXIDV_MD_READ;
    attr.dmabuf_fd = world.file.fd;
    return cxidv_map_md(world.lni.get(), &attr);
  }));
}

void add_queues(std::vector<Call>& calls) {
  calls.push_back(
      eq("create_eq", [](World& world) { return try_eq_of(world.lni.get(), nullptr, 64); }));
  calls.push_back(eq("create_eq_with_channel", [](World& world) {
    return try_eq_of(world.lni.get(), world.native_channel.get(), 64);
  }));
  Call resize = {"resize_eq",
                 [](World& world) {
                   return cxidv_resize_eq(world.eq.get(), world.eq->byte_size == 4096 ? 512 : 64);
                 },
                 [](World& world) {
                   // The queue crosses over when it reads that the NIC has.
                   const std::uint32_t before = world.eq->byte_size;
                   do {
                     errno = 0;
                     EXPECT_EQ(cxidv_eq_peek(world.eq.get()), nullptr);
                     if (errno == EIO) return EIO;
                   } while (world.eq->byte_size == before);
                   return 0;
                 },
                 Effect::change, false};
  resize.insists = true;
  calls.push_back(resize);
  calls.push_back(cmdq("create_cmdq_target", 0));
  calls.push_back(cmdq("create_cmdq_transmit", CXIDV_CMDQ_TRANSMIT));
  calls.push_back(cmdq("create_cmdq_triggered", CXIDV_CMDQ_TRANSMIT | CXIDV_CMDQ_TRIGGERED));
}

void add_entries(std::vector<Call>& calls) {
  calls.push_back(creates<cxidv_pte, cxidv_destroy_pte>("create_pte", [](World& world) {
    cxidv_pte_attr attr = {};
    attr.flags = CXIDV_PTE_MATCHING;
    attr.le_charge = 3;
    attr.eq = world.eq.get();
    return cxidv_create_pte(world.lni.get(), &attr);
  }));
  calls.push_back(
      {"map_pte",
       [](World& world) { return cxidv_map_pte(world.pte.get(), world.domain.get(), 5, 0); },
       [](World& world) { return cxidv_unmap_pte(world.pte.get(), world.domain.get(), 5, 0); },
       Effect::change, false});
  calls.push_back(asks("query_pte", [](World& world) {
    cxidv_pte_status status = {};
    status.state = 77;
    const int err = cxidv_query_pte(world.pte.get(), &status, sizeof status);
    EXPECT_EQ(status.state == 77, err != 0);
    return err;
  }));
  calls.push_back(asks("invalidate_le", [](World& world) {
    return cxidv_invalidate_le(world.pte.get(), C_PTL_LIST_PRIORITY, 1);
  }));
  calls.push_back(creates<cxidv_pte, cxidv_destroy_pte>("transition_pte", [](World& world) {
    cxidv_pte* made = try_pte(world.lni.get(), world.eq.get());
    if (!made) return made;
    const int err = cxidv_transition_pte(made, 0);
    if (!err) return made;
    EXPECT_EQ(cxidv_destroy_pte(made), 0);
    errno = err;
    return static_cast<cxidv_pte*>(nullptr);
  }));
}

void add_counters(std::vector<Call>& calls) {
  calls.push_back(creates<cxidv_ct, cxidv_destroy_ct>("create_ct", [](World& world) {
    return cxidv_create_ct(world.lni.get(), &world.writeback);
  }));
  calls.push_back(asks("set_ct", [](World& world) { return cxidv_set_ct(world.ct.get(), 5, 0); }));
  calls.push_back(asks("inc_ct", [](World& world) { return cxidv_inc_ct(world.ct.get(), 1, 0); }));
  calls.push_back(asks("read_ct", [](World& world) {
    std::uint64_t success = 7777, failure = 7777;
    const int err = cxidv_read_ct(world.ct.get(), &success, &failure);
    EXPECT_EQ(success == 7777, err != 0);
    EXPECT_EQ(failure == 7777, err != 0);
    return err;
  }));
  calls.push_back(asks("wait_ct", [](World& world) {
    std::uint64_t success = 7777, failure = 7777;
    const int err = cxidv_wait_ct(world.ct.get(), 0, 0, &success, &failure);
    EXPECT_EQ(success == 7777, err != 0);
    return err;
  }));
  calls.push_back(asks("read_csr", [](World& world) {
    std::uint64_t word = 7777;
    return cxidv_read_csr(world.context.get(), cxidv_csr_by_name("mb_sts_rev")->offset, &word,
                          sizeof word);
  }));
}

}  // namespace

std::vector<Call> native_calls() {
  std::vector<Call> calls;
  add_devices(calls);
  add_services(calls);
  add_lnis(calls);
  add_queues(calls);
  add_entries(calls);
  add_counters(calls);
  return calls;
}

}  // namespace on_model
