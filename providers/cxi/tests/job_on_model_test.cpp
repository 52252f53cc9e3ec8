// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Jobs, their keys and address tables.
#include <unistd.h>

#include "on_model.hpp"

namespace on_model {
namespace {

class Jobs : public OnModel {};

TEST_F(Jobs, AddressTableNamesPeers) {
  Job table = alloc_job(10, 8);
  Key table_key(made(ibv_create_jkey(pd.get(), table.get(), 0), "jkey"));
  QpPtr a(made(try_create_qp(pd.get(), cq.get(), cq.get(), table_key.get(), {}), "qp"));
  QpPtr b(made(try_create_qp(pd.get(), cq.get(), cq.get(), table_key.get(), {}), "qp"));
  ibv_sge sge = {reinterpret_cast<std::uintptr_t>(buffer.data()), 64, mr->lkey};
  EXPECT_EQ(send_list(a, nullptr, 1, &sge, 1, IBV_SEND_SIGNALED, 0, 3), EINVAL);
  ibv_ah_attr_ex attr = address(b->qp_num);
  ASSERT_EQ(ibv_insert_addr(table.get(), &attr, 3, 0), 0);
  ibv_ah_attr_ex back;
  std::memset(&back, 0, sizeof(back));
  ASSERT_EQ(ibv_query_addr(table.get(), 3, &back, 0), 0);
  EXPECT_EQ(std::memcmp(&attr, &back, sizeof(attr)), 0);
  ASSERT_EQ(receive(b, 2, 4096, 64), 0);
  ASSERT_EQ(send_list(a, nullptr, 1, &sge, 1, IBV_SEND_SIGNALED, table_key->jkey, 3), 0);
  for (const ibv_wc& wc : wait(2))
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  ASSERT_EQ(ibv_remove_addr(table.get(), 3, 0), 0);
  EXPECT_EQ(send_list(a, nullptr, 1, &sge, 1, IBV_SEND_SIGNALED, table_key->jkey, 3), EINVAL);
  EXPECT_EQ(ibv_query_addr(table.get(), 3, &back, 0), ENOENT);
  EXPECT_EQ(ibv_insert_addr(table.get(), &attr, 8, 0), ENOENT);
}

TEST_F(Jobs, ExportedJobsShareTheTable) {
  Job table = alloc_job(10, 4);
  int fd = -1;
  ASSERT_EQ(ibv_export_job(table.get(), &fd), 0);
  Context other = open_device("cxi0");
  ibv_job* raw = nullptr;
  ASSERT_EQ(ibv_import_job(other.get(), fd, &raw), 0);
  Job imported(raw);
  close(fd);
  ibv_ah_attr_ex attr = address(5);
  ASSERT_EQ(ibv_insert_addr(table.get(), &attr, 1, 0), 0);
  ibv_ah_attr_ex back = {};
  EXPECT_EQ(ibv_query_addr(imported.get(), 1, &back, 0), 0);
  EXPECT_EQ(back.remote_qpn, 5u);
  ibv_job_attr query = {};
  query.comp_mask = IBV_JOB_ATTR_ID | IBV_JOB_ATTR_MAX_ADDR_ENTRIES;
  ASSERT_EQ(ibv_query_job(imported.get(), &query), 0);
  EXPECT_EQ(query.id, 10u);
  EXPECT_EQ(query.max_addr_entries, 4u);
}

TEST_F(Jobs, ForeignAndTwiceAreRefused) {
  ibv_job_attr attr = {};
  attr.comp_mask = IBV_JOB_ATTR_ID;
  attr.id = 1;
  EXPECT_EQ(ibv_alloc_job(context.get(), &attr, nullptr), nullptr);
  EXPECT_EQ(errno, EEXIST);
  attr.id = 77;
  EXPECT_EQ(ibv_alloc_job(context.get(), &attr, nullptr), nullptr);
  EXPECT_EQ(errno, EPERM);
  attr.id = 0x10000;
  EXPECT_EQ(ibv_alloc_job(context.get(), &attr, nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_dealloc_job(job.get()), EBUSY);
}

TEST_F(Jobs, ARequestCanTravelInAnotherJob) {
  Job other = alloc_job(10);
  Key other_key(made(ibv_create_jkey(pd.get(), other.get(), 0), "jkey"));
  QpPtr a = create_qp();
  QpPtr b(made(try_create_qp(pd.get(), cq.get(), cq.get(), other_key.get(), {}), "qp"));
  Ah to_b = address_of(b);
  for (unsigned i = 0; i < 4; i++)
    ASSERT_EQ(receive(b, 100, 4096, 64), 0);
  QpPtr c = create_qp();
  Ah to_c = address_of(c);
  for (unsigned i = 0; i < 4; i++)
    ASSERT_EQ(receive(c, 100, 4096, 64), 0);
  for (unsigned i = 0; i < 4; i++) {
    ASSERT_EQ(send(a, to_b, i, 0, 64, IBV_SEND_SIGNALED, other_key->jkey), 0);
    ASSERT_EQ(send(a, to_c, i, 0, 64, IBV_SEND_SIGNALED, key->jkey), 0);
  }
  for (const ibv_wc& wc : wait(16))
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
}

}  // namespace
}  // namespace on_model
