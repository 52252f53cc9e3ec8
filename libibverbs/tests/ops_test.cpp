// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Tables of functions: defaults, overlays, and where programs find them.
#include "../ops.hpp"

#include <gtest/gtest.h>

#include <array>

#include "../private_context.hpp"
#include "fake_kernel.hpp"

using namespace verbs;

namespace {

using Slots = std::array<void (*)(), sizeof(verbs_context_ops) / sizeof(void (*)())>;

Slots slots_of(const verbs_context_ops& ops) {
  Slots slots;
  memcpy(&slots, &ops, sizeof(slots));
  return slots;
}

TEST(DefaultOpsTest, NoSlotIsEmpty) {
  const Slots slots = slots_of(default_ops);
  for (size_t i = 0; i < slots.size(); i++)
    EXPECT_NE(slots[i], nullptr) << "slot " << i;
}

TEST(DefaultOpsTest, MissingVerbsAreRefused) {
  fake::Device device;
  const verbs_context_ops& ops = ops_of(&device.context());
  errno = 0;
  EXPECT_EQ(ops.alloc_pd(&device.context()), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(ops.query_port(&device.context(), 1, nullptr), EOPNOTSUPP);
  ibv_qp qp{};
  ibv_recv_wr64 wr{};
  ibv_recv_wr64* bad = &wr;
  EXPECT_EQ(ops.post_recv64(&qp, &wr, &bad), EOPNOTSUPP);
  EXPECT_EQ(ops.query_qp_data_in_order(&qp, IBV_WR_SEND, 0), 0);
  errno = 0;
  EXPECT_EQ(ops.dm_export_dmabuf_fd(nullptr), -1);
  EXPECT_EQ(errno, EOPNOTSUPP);
  errno = 0;
  EXPECT_EQ(ops.rereg_mr(nullptr, 0, nullptr, nullptr, 0, 0), IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST(DefaultOpsTest, HooksDoNothing) {
  fake::Device device;
  const verbs_context_ops& ops = ops_of(&device.context());
  ops.async_event(&device.context(), nullptr);
  ops.cq_event(nullptr);
  ops.unimport_pd(nullptr);
}

TEST(DefaultOpsTest, BuffersArePlainPageAlignedMemory) {
  fake::Device device;
  ibv_pd pd{&device.context(), 0};
  ibv_buf* buffer = nullptr;
  void* memory = ibv_alloc_buf(&pd, 100, &buffer);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 4096, 0u);
  EXPECT_EQ(buffer->size, 100u);
  EXPECT_EQ(buffer->dmabuf_fd, -1);
  errno = 0;
  EXPECT_EQ(ibv_export_buf_dmabuf_fd(buffer), -1);
  EXPECT_EQ(errno, ENODATA);
  ibv_free_buf(buffer);
}

TEST(SetOpsTest, OnlyWhatATableHasIsReplaced) {
  fake::Device device;
  const Slots before = slots_of(ops_of(&device.context()));
  verbs_context_ops ops{};
  ops.dealloc_pd = [](ibv_pd*) { return 7; };
  device.set(ops);
  const Slots after = slots_of(ops_of(&device.context()));
  size_t changed = 0;
  for (size_t i = 0; i < before.size(); i++)
    changed += before[i] != after[i];
  EXPECT_EQ(changed, 1u);
  ibv_pd pd{&device.context(), 0};
  EXPECT_EQ(ibv_dealloc_pd(&pd), 7);
}

TEST(SetOpsTest, LaterTablesWin) {
  fake::Device device;
  verbs_context_ops ops{};
  ops.dealloc_pd = [](ibv_pd*) { return 7; };
  device.set(ops);
  ops.dealloc_pd = [](ibv_pd*) { return 8; };
  device.set(ops);
  ibv_pd pd{&device.context(), 0};
  EXPECT_EQ(ibv_dealloc_pd(&pd), 8);
}

TEST(SetOpsTest, InlineVerbsReachTheProvider) {
  fake::Device device;
  verbs_context_ops ops{};
  ops.attach_mr = [](ibv_qp*, ibv_mr*) { return 21; };
  ops.poll_cq = [](ibv_cq*, int, ibv_wc*) { return 22; };
  ops.query_qp_semantics = [](ibv_context*, ibv_qp_type, uint8_t, uint8_t, ibv_qp_semantics*,
                              size_t) { return 23; };
  ops.destroy_flow = [](ibv_flow*) { return 24; };
  device.set(ops);
  ibv_qp qp{};
  qp.context = &device.context();
  ibv_cq cq{};
  cq.context = &device.context();
  ibv_flow flow{};
  flow.context = &device.context();
  EXPECT_EQ(ibv_attach_mr(&qp, nullptr), 21);
  EXPECT_EQ(ibv_poll_cq(&cq, 0, nullptr), 22);
  EXPECT_EQ(ibv_query_qp_semantics(&device.context(), IBV_QPT_RU, 1, 0, nullptr, 0), 23);
  EXPECT_EQ(ibv_destroy_flow(&flow), 24);
}

TEST(LibraryEntryPointTest, ExtendedCqsAreFilledInByTheLibrary) {
  fake::Device device;
  static ibv_cq_ex made;
  verbs_context_ops ops{};
  ops.create_cq_ex = [](ibv_context*, ibv_cq_init_attr_ex*) { return &made; };
  device.set(ops);
  set_library_entry_points(device.extended());
  ibv_comp_channel channel{&device.context(), -1, 0};
  ibv_cq_init_attr_ex attr{};
  attr.channel = &channel;
  attr.cq_context = &attr;
  ASSERT_EQ(ibv_create_cq_ex(&device.context(), &attr), &made);
  EXPECT_EQ(made.context, &device.context());
  EXPECT_EQ(made.cq_context, &attr);
  EXPECT_EQ(channel.refcnt, 1);
  attr.wc_flags = uint64_t{1} << 40;
  errno = 0;
  EXPECT_EQ(ibv_create_cq_ex(&device.context(), &attr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

}  // namespace
