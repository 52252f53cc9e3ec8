// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Opening, importing and closing devices.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "../private_context.hpp"
#include "../scoped.hpp"
#include "fake_kernel.hpp"

using verbs::Fd;

namespace {

bool fails;
void* given;

verbs_context* alloc_context(ibv_device* device, int fd, void* private_data) {
  given = private_data;
  if (fails) {
    if (fd >= 0) close(fd);
    errno = EPERM;
    return nullptr;
  }
  void* memory = _verbs_init_and_alloc_context(device, fd, sizeof(verbs_context), nullptr, 5);
  auto* context = static_cast<verbs_context*>(memory);
  verbs_context_ops ops{};
  ops.free_context = [](ibv_context* closing) {
    auto* extended = &verbs::extended_context(*closing);
    verbs_uninit_context(extended);
    free(extended);
  };
  verbs_set_ops(context, &ops);
  return context;
}

class ContextTest : public testing::Test {
 protected:
  ContextTest() {
    fails = false;
    ops.alloc_context = alloc_context;
    device.ops = &ops;
    device.refcount = 1;
  }

  verbs_device_ops ops{};
  verbs_device device{};
};

TEST_F(ContextTest, ADeviceOfAProviderAloneNeedsNoKernel) {
  ibv_context* context = verbs_open_device(&device.device, this);
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(given, this);
  EXPECT_EQ(context->cmd_fd, -1);
  EXPECT_EQ(context->async_fd, -1);
  EXPECT_EQ(context->device, &device.device);
  EXPECT_EQ(verbs_get_ctx(context)->sz, sizeof(verbs_context));
  EXPECT_NE(verbs_get_ctx(context)->query_port, nullptr);
  EXPECT_EQ(device.refcount, 2);
  EXPECT_EQ(ibv_close_device(context), 0);
  EXPECT_EQ(device.refcount, 1);
}

TEST_F(ContextTest, ARefusalOfTheProviderComesBack) {
  fails = true;
  errno = 0;
  EXPECT_EQ(ibv_open_device(&device.device), nullptr);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(device.refcount, 1);
}

TEST_F(ContextTest, AMissingNodeIsAnError) {
  verbs_sysfs_dev record{};
  strcpy(record.sysfs_name, "uverbs-missing");
  device.sysfs = &record;
  errno = 0;
  EXPECT_EQ(ibv_open_device(&device.device), nullptr);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(ContextTest, OnlyVerbsDevicesCanBeImported) {
  Fd file(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  errno = 0;
  EXPECT_EQ(ibv_import_device(file.get()), nullptr);
  EXPECT_EQ(errno, EINVAL);
  Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  errno = 0;
  EXPECT_EQ(ibv_import_device(null.get()), nullptr);
  EXPECT_EQ(errno, ENODEV);
  errno = 0;
  EXPECT_EQ(ibv_import_device(-1), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
