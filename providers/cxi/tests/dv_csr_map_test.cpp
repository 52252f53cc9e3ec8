// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Mapping the register space: in front of a kernel that has such a window, which the software NIC
// has not.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>

#include "dv.hpp"

namespace cxi {
namespace {

constexpr std::size_t window_bytes = 4096;

/// A memory file stands for the device: its first page is the register space.
struct Kernel {
  int fd = memfd_create("registers", MFD_CLOEXEC);
  int calls = 0;

  Kernel() { EXPECT_EQ(ftruncate(fd, window_bytes), 0); }
  ~Kernel() { close(fd); }

  /// Gives the place away once, as the kernel interface has it.
  int answer(const ib_uverbs_ioctl_hdr& header, const ib_uverbs_attr* attributes) {
    EXPECT_EQ(header.object_id, CXI_OBJECT_CSR);
    EXPECT_EQ(header.method_id, CXI_METHOD_CSR_MAP);
    if (calls++ > 0) return EBUSY;
    const cxi_abi_csr_map_resp response = {0, window_bytes};
    std::memcpy(reinterpret_cast<void*>(attributes[0].data), &response, sizeof response);
    return 0;
  }
};
Kernel* kernel;

class RegisterWindow : public testing::Test {
 protected:
  RegisterWindow() : context(std::make_unique<Context>()) {
    pthread_mutex_init(&context->native.mutex, nullptr);
    context->ibv.context.cmd_fd = here.fd;
    kernel = &here;
  }
  ~RegisterWindow() override {
    kernel = nullptr;
    pthread_mutex_destroy(&context->native.mutex);
  }
  int map() { return dv::map_registers(*context, base, length); }

  Kernel here;
  std::unique_ptr<Context> context;
  volatile void* base = nullptr;
  std::size_t length = 0;
};

TEST_F(RegisterWindow, IsMappedOnceAtATime) {
  ASSERT_EQ(map(), 0);
  EXPECT_EQ(length, window_bytes);
  volatile void* other = nullptr;
  EXPECT_EQ(dv::map_registers(*context, other, length), EBUSY);
  EXPECT_EQ(other, nullptr);
  EXPECT_EQ(dv::unmap_registers(*context), 0);
  EXPECT_EQ(dv::unmap_registers(*context), EINVAL);
}

TEST_F(RegisterWindow, IsMappedAgainWhenItWasUnmapped) {
  ASSERT_EQ(map(), 0);
  *static_cast<volatile std::uint64_t*>(base) = 0x1234;
  ASSERT_EQ(dv::unmap_registers(*context), 0);
  ASSERT_EQ(map(), 0) << "the kernel does not give the place twice";
  EXPECT_EQ(*static_cast<volatile std::uint64_t*>(base), 0x1234u);
  EXPECT_EQ(dv::unmap_registers(*context), 0);
}

TEST_F(RegisterWindow, IsMappedLaterWhereThereWasNoMemoryForIt) {
  context->ibv.context.cmd_fd = -1;  // for mmap(); the kernel below answers all the same
  EXPECT_EQ(map(), EBADF);
  EXPECT_EQ(base, nullptr);
  EXPECT_EQ(dv::unmap_registers(*context), EINVAL);
  context->ibv.context.cmd_fd = here.fd;
  ASSERT_EQ(map(), 0);
  EXPECT_EQ(dv::unmap_registers(*context), 0);
}

}  // namespace
}  // namespace cxi

// Linked into the program in front of libc's. All but the commands of these tests go through.
extern "C" int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list list;
  va_start(list, request);
  void* argument = va_arg(list, void*);
  va_end(list);
  if (!cxi::kernel || request != RDMA_VERBS_IOCTL)
    return static_cast<int>(syscall(SYS_ioctl, fd, request, argument));
  auto* header = static_cast<ib_uverbs_ioctl_hdr*>(argument);
  const int err = cxi::kernel->answer(*header, reinterpret_cast<const ib_uverbs_attr*>(header + 1));
  if (!err) return 0;
  errno = err;
  return -1;
}
