// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "kernel_fixture.hpp"

namespace sim::uverbs::test {
namespace {

constexpr uint32_t absolute = IB_UVERBS_QPN_UET_ABSOLUTE_ADDR_BIT;
constexpr uint32_t all_rights = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
                                IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC;

class Attachments : public ContextTest {
 protected:
  uint32_t pd = alloc_pd();
  MadeCq cq = create_cq();
  uint32_t job = alloc_job(1);
  uint32_t jkey = create_jkey(pd, job);
  MadeQp qp = finish_qp(qp_call(pd, cq.handle, cq.handle, jkey));

  uint32_t region(uint32_t access = all_rights, std::optional<uint32_t> key = std::nullopt) {
    auto ioctl = mr_call(pd, buffer_va, 4096, access);
    if (key) ioctl.handle(UVERBS_ATTR_REG_MR_JKEY_HANDLE, *key);
    EXPECT_EQ(issue(ioctl), 0);
    return ioctl.handle_of(UVERBS_ATTR_REG_MR_HANDLE);
  }
  Ioctl attach_call(uint32_t qp_handle, uint32_t mr) {
    auto ioctl = call(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_MR);
    ioctl.handle(UVERBS_ATTR_QP_ATTACH_MR_QP_HANDLE, qp_handle)
        .handle(UVERBS_ATTR_QP_ATTACH_MR_MR_HANDLE, mr)
        .out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_attach_mr_resp));
    return ioctl;
  }
  int attach(uint32_t qp_handle, uint32_t mr, cxi_abi_attach_mr_resp* resp = nullptr) {
    auto ioctl = attach_call(qp_handle, mr);
    int error = issue(ioctl);
    if (resp) *resp = ioctl.result<cxi_abi_attach_mr_resp>(UVERBS_ATTR_UHW_OUT);
    return error;
  }
  int detach(uint32_t qp_handle, uint32_t mr) {
    auto ioctl = call(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DETACH_MR);
    ioctl.handle(UVERBS_ATTR_QP_DETACH_MR_QP_HANDLE, qp_handle)
        .handle(UVERBS_ATTR_QP_DETACH_MR_MR_HANDLE, mr);
    return issue(ioctl);
  }
  uint32_t entries_used() {
    uint32_t sum = 0;
    for (uint32_t n : impl().nic.services.find(1)->in_use[CXI_ABI_RSRC_LE])
      sum += n;
    return sum;
  }
};

TEST_F(Attachments, HaveABufferIdForEachRight) {
  cxi_abi_attach_mr_resp resp;
  ASSERT_EQ(attach(qp.handle, region(), &resp), 0);
  EXPECT_EQ(resp.pte, qp.resp.mem_pte);
  std::set<uint16_t> ids = {resp.plain_buffer_id, resp.immediate_buffer_id, resp.atomic_buffer_id};
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_FALSE(ids.contains(0));
  ASSERT_EQ(attach(qp.handle, region(IB_UVERBS_ACCESS_REMOTE_READ), &resp), 0);
  EXPECT_FALSE(ids.contains(resp.plain_buffer_id));
  EXPECT_EQ(resp.immediate_buffer_id, 0);
  EXPECT_EQ(resp.atomic_buffer_id, 0);
}

TEST_F(Attachments, PayForTheirListEntries) {
  const uint32_t before = entries_used();
  const uint32_t mr = region();
  attach(qp.handle, mr);
  EXPECT_EQ(entries_used(), before + 3);
  EXPECT_EQ(detach(qp.handle, mr), 0);
  EXPECT_EQ(entries_used(), before);
}

TEST_F(Attachments, NeedListEntries) {
  const uint32_t mr = region();
  const uint32_t before = entries_used();
  impl().nic.services.find(1)->limits[CXI_ABI_RSRC_LE].max = 1;
  EXPECT_EQ(attach(qp.handle, mr), ENOSPC);
  EXPECT_EQ(entries_used(), before);
  EXPECT_EQ(detach(qp.handle, mr), EINVAL);
}

TEST_F(Attachments, AreMadeOncePerQueuePair) {
  const uint32_t mr = region();
  EXPECT_EQ(attach(qp.handle, mr), 0);
  EXPECT_EQ(attach(qp.handle, mr), EEXIST);
  auto other = finish_qp(qp_call(pd, cq.handle, cq.handle, jkey));
  EXPECT_EQ(attach(other.handle, mr), 0);
}

TEST_F(Attachments, StayInOnePd) {
  auto ioctl = mr_call(alloc_pd(), buffer_va, 4096, all_rights);
  ASSERT_EQ(issue(ioctl), 0);
  EXPECT_EQ(attach(qp.handle, ioctl.handle_of(UVERBS_ATTR_REG_MR_HANDLE)), EINVAL);
}

TEST_F(Attachments, OfJobRestrictedRegionsStayInTheJob) {
  EXPECT_EQ(attach(qp.handle, region(all_rights, jkey)), 0);
  const uint32_t foreign = region(all_rights, create_jkey(pd, alloc_job(10)));
  EXPECT_EQ(attach(qp.handle, foreign), EINVAL);
  auto wide = finish_qp(qp_call(pd, cq.handle, cq.handle, jkey)
                            .u32(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, absolute | 5u << 12));
  EXPECT_EQ(attach(wide.handle, region(all_rights, jkey)), EOPNOTSUPP);
  EXPECT_EQ(attach(wide.handle, region()), 0);
}

TEST_F(Attachments, AreCutOffWhenTheyEnd) {
  cxi_abi_attach_mr_resp resp;
  const uint32_t mr = region(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE);
  ASSERT_EQ(attach(qp.handle, mr, &resp), 0);
  ASSERT_EQ(detach(qp.handle, mr), 0);
  std::vector<std::pair<unsigned, unsigned>> expected = {{0, resp.plain_buffer_id},
                                                         {0, resp.immediate_buffer_id}};
  EXPECT_EQ(device().invalidated, expected);
  EXPECT_EQ(detach(qp.handle, mr), EINVAL);
  // The numbers are not the next ones to be used.
  cxi_abi_attach_mr_resp again;
  ASSERT_EQ(attach(qp.handle, mr, &again), 0);
  EXPECT_NE(again.plain_buffer_id, resp.plain_buffer_id);
}

TEST_F(Attachments, KeepTheRegionBusyUntilTheQueuePairGoes) {
  const uint32_t mr = region();
  attach(qp.handle, mr);
  EXPECT_EQ(destroy_mr(mr), EBUSY);
  EXPECT_EQ(destroy_qp(qp.handle), 0);
  EXPECT_EQ(destroy_mr(mr), 0);
}

TEST_F(Attachments, ThatCannotBeAnsweredAreUndone) {
  const uint32_t mr = region();
  auto ioctl = attach_call(qp.handle, mr);
  ioctl.attrs.back().data = 0xdead0000;
  EXPECT_EQ(issue(ioctl), EFAULT);
  EXPECT_EQ(destroy_mr(mr), 0);
}

TEST_F(Attachments, EndWithTheDescriptor) {
  attach(qp.handle, region());
  attach(qp.handle, region(all_rights | CXI_ABI_ACCESS_INDEXED));
  kernel->release(*file);
  EXPECT_TRUE(device().empty());
  EXPECT_EQ(entries_used(), 0u);
}

class IndexedRegions : public Attachments {
 protected:
  uint32_t mr = region(all_rights | CXI_ABI_ACCESS_INDEXED);
};

TEST_F(IndexedRegions, HaveAnEntryOfTheirOwn) {
  const size_t entries = device().ptes.size();
  cxi_abi_attach_mr_resp resp;
  ASSERT_EQ(attach(qp.handle, mr, &resp), 0);
  EXPECT_EQ(device().ptes.size(), entries + 1);
  EXPECT_NE(resp.pte, qp.resp.mem_pte);
  EXPECT_EQ(device().portals.at({1, 0, CXI_ABI_INDEX_INDEXED}), resp.pte);
  EXPECT_EQ(device().portals.at({1, 0, CXI_ABI_INDEX_INDEXED_READ}), resp.pte);
  EXPECT_EQ(device().states.at(resp.pte), nic::PteState::enabled);
  ASSERT_EQ(device().appended.at(resp.pte).size(), 1u);  // the guard
  EXPECT_EQ(detach(qp.handle, mr), 0);
  EXPECT_EQ(device().ptes.size(), entries);
  EXPECT_FALSE(device().portals.contains({1, 0, CXI_ABI_INDEX_INDEXED}));
}

TEST_F(IndexedRegions, ShareItBetweenQueuePairs) {
  auto other = finish_qp(qp_call(pd, cq.handle, cq.handle, jkey));
  cxi_abi_attach_mr_resp a, b;
  ASSERT_EQ(attach(qp.handle, mr, &a), 0);
  ASSERT_EQ(attach(other.handle, mr, &b), 0);
  EXPECT_EQ(a.pte, b.pte);
  EXPECT_NE(a.plain_buffer_id, b.plain_buffer_id);
  detach(qp.handle, mr);
  EXPECT_TRUE(device().portals.contains({1, 0, CXI_ABI_INDEX_INDEXED}));
  detach(other.handle, mr);
  EXPECT_FALSE(device().portals.contains({1, 0, CXI_ABI_INDEX_INDEXED}));
}

TEST_F(IndexedRegions, NeedOneReceiveQueue) {
  auto second = create_cq();
  auto other = finish_qp(qp_call(pd, cq.handle, second.handle, jkey));
  ASSERT_EQ(attach(qp.handle, mr), 0);
  EXPECT_EQ(attach(other.handle, mr), EOPNOTSUPP);
}

TEST_F(IndexedRegions, LeaveNoTraceOfARefusal) {
  auto ptes = device().ptes;
  auto portals = device().portals;
  for (const char* refusal : {"create_pte", "append", "set_pte_state", "map_portal"}) {
    device().refuse = refusal;
    EXPECT_NE(attach(qp.handle, mr), 0) << refusal;
    device().refuse.clear();
    EXPECT_EQ(device().ptes, ptes) << refusal;
    EXPECT_EQ(device().portals, portals) << refusal;
  }
  EXPECT_EQ(attach(qp.handle, mr), 0);
}

class Counters : public Attachments {
 protected:
  uint32_t create() {
    auto ioctl = call(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_CREATE);
    ioctl.fresh(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE)
        .out(UVERBS_ATTR_UHW_OUT, sizeof(cxi_abi_create_comp_cntr_resp));
    EXPECT_EQ(issue(ioctl), 0);
    number = ioctl.result<cxi_abi_create_comp_cntr_resp>(UVERBS_ATTR_UHW_OUT).ct;
    return ioctl.handle_of(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE);
  }
  int modify(uint32_t handle, uint64_t entry, uint64_t op, uint64_t value) {
    auto ioctl = call(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_MODIFY);
    ioctl.handle(UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE, handle)
        .constant(UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY, entry)
        .constant(UVERBS_ATTR_MODIFY_COMP_CNTR_OP, op)
        .in(UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE, value);
    return issue(ioctl);
  }
  int read_value(uint32_t handle, uint64_t entry, uint64_t* value = nullptr) {
    auto ioctl = call(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_READ);
    ioctl.handle(UVERBS_ATTR_READ_COMP_CNTR_HANDLE, handle)
        .constant(UVERBS_ATTR_READ_COMP_CNTR_ENTRY, entry)
        .out(UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE, 8);
    int error = issue(ioctl);
    if (value) *value = ioctl.result<uint64_t>(UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE);
    return error;
  }
  int attach_counter(uint32_t handle, uint32_t ops) {
    auto ioctl = call(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_COMP_CNTR);
    ioctl.handle(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE, qp.handle)
        .handle(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE, handle)
        .u32(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK, ops);
    return issue(ioctl);
  }
  static constexpr uint64_t comp = IB_UVERBS_COMP_CNTR_ENTRY_COMP,
                            err = IB_UVERBS_COMP_CNTR_ENTRY_ERR;
  static constexpr uint64_t set = IB_UVERBS_COMP_CNTR_MODIFY_OP_SET,
                            inc = IB_UVERBS_COMP_CNTR_MODIFY_OP_INC;
  uint32_t number = 0;
};

TEST_F(Counters, AreCountingEvents) {
  const uint32_t c = create();
  EXPECT_TRUE(device().cts.contains(number));
  EXPECT_EQ(destroy(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_DESTROY, c), 0);
  EXPECT_TRUE(device().cts.empty());
}

TEST_F(Counters, AreSetAddedToAndRead) {
  const uint32_t c = create();
  uint64_t value = 1;
  EXPECT_EQ(read_value(c, comp, &value), 0);
  EXPECT_EQ(value, 0u);
  EXPECT_EQ(modify(c, comp, set, 40), 0);
  EXPECT_EQ(modify(c, comp, inc, 2), 0);
  EXPECT_EQ(modify(c, err, set, 5), 0);
  EXPECT_EQ(modify(c, err, inc, 1), 0);
  read_value(c, comp, &value);
  EXPECT_EQ(value, 42u);
  read_value(c, err, &value);
  EXPECT_EQ(value, 6u);
}

TEST_F(Counters, RefuseWhatTheyCannotHold) {
  const uint32_t c = create();
  EXPECT_EQ(modify(c, comp, set, 1ull << 48), EINVAL);
  EXPECT_EQ(modify(c, err, set, 128), EINVAL);
  EXPECT_EQ(modify(c, 2, set, 1), EINVAL);
  EXPECT_EQ(modify(c, comp, 2, 1), EINVAL);
  EXPECT_EQ(read_value(c, 2), EINVAL);
  EXPECT_EQ(modify(c, comp, set, (1ull << 48) - 1), 0);
}

TEST_F(Counters, CountOperationsOfQueuePairs) {
  const uint32_t c = create();
  EXPECT_EQ(attach_counter(c, 0), EINVAL);
  EXPECT_EQ(attach_counter(c, 1u << 6), EINVAL);
  EXPECT_EQ(attach_counter(c, IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ), EOPNOTSUPP);
  EXPECT_EQ(attach_counter(c, 0b10111), 0);
  EXPECT_EQ(attach_counter(create(), IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_SEND), EBUSY);
  EXPECT_EQ(destroy(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_DESTROY, c), EBUSY);
  destroy_qp(qp.handle);
  EXPECT_EQ(destroy(UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_DESTROY, c), 0);
}

TEST_F(Counters, EndWithTheDescriptor) {
  attach_counter(create(), 1);
  kernel->release(*file);
  EXPECT_TRUE(device().empty());
}

TEST_F(Counters, TellTheirLimits) {
  auto ioctl = call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_COMP_CNTR_CAPS);
  ioctl.out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, 4)
      .out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE, 8)
      .out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS, 4);
  ASSERT_EQ(issue(ioctl), 0);
  EXPECT_EQ(ioctl.result<uint32_t>(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS), 2047u);
  EXPECT_EQ(ioctl.result<uint64_t>(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE), (1ull << 48) - 1);
  EXPECT_EQ(ioctl.result<uint32_t>(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS),
            0b10111u);
}

}  // namespace
}  // namespace sim::uverbs::test
