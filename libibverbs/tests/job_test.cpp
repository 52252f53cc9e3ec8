// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Jobs, job keys and extended address handles: what the library adds to the provider's answer.
#include <gtest/gtest.h>

#include <cerrno>

#include "fake_kernel.hpp"

namespace {

class JobTest : public testing::Test {
 protected:
  fake::Device device;
};

TEST_F(JobTest, WithoutAProviderEverythingIsNotSupported) {
  ibv_job job{};
  job.context = &device.context();
  ibv_pd pd{&device.context(), 0};
  ibv_job_key key{&pd, 0, 0};
  ibv_job* imported;
  int fd;
  errno = 0;
  EXPECT_EQ(ibv_alloc_job(&device.context(), nullptr, nullptr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(ibv_dealloc_job(&job), EOPNOTSUPP);
  EXPECT_EQ(ibv_query_job(&job, nullptr), EOPNOTSUPP);
  EXPECT_EQ(ibv_export_job(&job, &fd), EOPNOTSUPP);
  EXPECT_EQ(ibv_import_job(&device.context(), 0, &imported), EOPNOTSUPP);
  EXPECT_EQ(ibv_insert_addr(&job, nullptr, 0, 0), EOPNOTSUPP);
  EXPECT_EQ(ibv_remove_addr(&job, 0, 0), EOPNOTSUPP);
  EXPECT_EQ(ibv_query_addr(&job, 0, nullptr, 0), EOPNOTSUPP);
  EXPECT_EQ(ibv_create_jkey(&pd, &job, 0), nullptr);
  EXPECT_EQ(ibv_destroy_jkey(&key), EOPNOTSUPP);
  EXPECT_EQ(ibv_create_ah_ex(&pd, nullptr), nullptr);
}

TEST_F(JobTest, ErrorsAreReturnedAndStandInErrno) {
  verbs_context_ops ops{};
  ops.dealloc_job = [](ibv_job*) { return EBUSY; };
  ops.query_job = [](ibv_job*, ibv_job_attr*) { return 0; };
  device.set(ops);
  ibv_job job{};
  job.context = &device.context();
  errno = 0;
  EXPECT_EQ(ibv_dealloc_job(&job), EBUSY);
  EXPECT_EQ(errno, EBUSY);
  errno = 0;
  EXPECT_EQ(ibv_query_job(&job, nullptr), 0);
  EXPECT_EQ(errno, 0);
}

TEST_F(JobTest, ObjectsKnowWhereTheyBelong) {
  static ibv_job job;
  static ibv_job_key key;
  static ibv_ah_ex ah;
  verbs_context_ops ops{};
  ops.alloc_job = [](ibv_context*, ibv_job_attr*, void*) { return &job; };
  ops.import_job = [](ibv_context*, int, ibv_job** to) {
    *to = &job;
    return 0;
  };
  ops.create_jkey = [](ibv_pd*, ibv_job*, unsigned) { return &key; };
  ops.create_ah_ex = [](ibv_pd*, ibv_ah_attr_ex*) { return &ah.ah_base; };
  device.set(ops);
  ibv_pd pd{&device.context(), 0};
  ASSERT_EQ(ibv_alloc_job(&device.context(), nullptr, this), &job);
  EXPECT_EQ(job.context, &device.context());
  EXPECT_EQ(job.user_context, this);
  job.context = nullptr;
  ibv_job* imported = nullptr;
  ASSERT_EQ(ibv_import_job(&device.context(), 4, &imported), 0);
  EXPECT_EQ(imported->context, &device.context());
  ASSERT_EQ(ibv_create_jkey(&pd, &job, 0), &key);
  EXPECT_EQ(key.pd, &pd);
  ASSERT_EQ(ibv_create_ah_ex(&pd, nullptr), &ah.ah_base);
  EXPECT_EQ(ah.ah_base.pd, &pd);
  EXPECT_EQ(ibv_ah_to_ah_ex(&ah.ah_base), &ah);
}

}  // namespace
