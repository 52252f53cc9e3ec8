// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Windows that the software NIC does not have: the register space, and the doorbell pages of
// counting events. A kernel that has them is put in front of it.
#include <optional>

#include "faults_on_model.hpp"
#include "rdma/cxiverbs-native-abi.h"

namespace on_model {
namespace {

using faults::Fault;
using faults::Holdings;
using faults::holdings;
using faults::Source;

class Windows : public faults::MoreKernel {
 public:
  static constexpr off_t registers_cookie = off_t{1} << 40, doorbell_cookie = off_t{1} << 41;
  static constexpr std::size_t bytes = 8192;

  int command(ib_uverbs_ioctl_hdr& header, int error) override {
    if (header.object_id == CXI_OBJECT_CSR && header.method_id == CXI_METHOD_CSR_MAP) {
      if (geteuid() != 0) return EPERM;
      answer<cxi_abi_csr_map_resp>(header) = {registers_cookie, bytes};
      return 0;
    }
    if (header.object_id == CXI_OBJECT_CT && header.method_id == CXI_METHOD_CT_CREATE && !error) {
      auto& made = answer<cxi_abi_ct_resp>(header);
      made.window_flags |= CXI_ABI_WINDOW_CT;
      made.doorbell_cookie = doorbell_cookie;
    }
    return error;
  }
  int memory_of(off_t cookie) override {
    return cookie == registers_cookie || cookie == doorbell_cookie ? memory.fd : -1;
  }
  std::uint64_t word(std::size_t offset) const {
    std::uint64_t found = 0;
    EXPECT_EQ(pread(memory.fd, &found, sizeof found, static_cast<off_t>(offset)),
              static_cast<ssize_t>(sizeof found));
    return found;
  }
  Descriptor memory{memory_file()};

 private:
  template <class T>
  static T& answer(ib_uverbs_ioctl_hdr& header) {
    for (unsigned i = 0; i < header.num_attrs; i++)
      if (header.attrs[i].attr_id == CXI_ATTR_RESP)
        return *reinterpret_cast<T*>(static_cast<std::uintptr_t>(header.attrs[i].data));
    throw std::runtime_error("no answer is asked for");
  }
};

class RegisterWindow : public testing::Test {
 protected:
  int map() { return cxidv_map_csr(context.get(), &base, &length); }
  int unmap() { return cxidv_unmap_csr(context.get()); }

  Windows windows;
  Context context{made(open_on("cxi0", 0), "open")};
  volatile void* base = nullptr;
  std::size_t length = 0;
};

TEST_F(RegisterWindow, IsMappedOnceInAContext) {
  NEEDS_PRIVILEGE();
  EXPECT_EQ(unmap(), EINVAL);
  ASSERT_EQ(map(), 0);
  EXPECT_EQ(length, Windows::bytes);
  auto* words = static_cast<volatile std::uint64_t*>(base);
  words[512] = 0x1234;
  EXPECT_EQ(windows.word(4096), 0x1234u);
  volatile void* second = nullptr;
  std::size_t room = 77;
  EXPECT_EQ(cxidv_map_csr(context.get(), &second, &room), EBUSY);
  EXPECT_EQ(errno, EBUSY);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(room, 77u);
  words[512] = 0x1235;
  EXPECT_EQ(windows.word(4096), 0x1235u);
  Context other(made(open_on("cxi0", 0), "open"));
  EXPECT_EQ(cxidv_map_csr(other.get(), &second, &room), 0);
  EXPECT_EQ(unmap(), 0);
  EXPECT_EQ(unmap(), EINVAL);
  EXPECT_EQ(map(), 0);
}

TEST_F(RegisterWindow, GoesWithItsContext) {
  NEEDS_PRIVILEGE();
  const Holdings before = holdings();
  Context other(made(open_on("cxi0", 0), "open"));
  ASSERT_EQ(cxidv_map_csr(other.get(), &base, &length), 0);
  other.reset();
  EXPECT_EQ(holdings(), before);
}

TEST_F(RegisterWindow, IsForTheAdministrator) {
  NEEDS_PRIVILEGE();
  EXPECT_EQ(as_user(1000, [&] { return map(); }), EPERM);
}

TEST_F(RegisterWindow, IsThereAsAWholeOrNotAtAll) {
  NEEDS_PRIVILEGE();
  for (const int error : {ENOMEM, EIO}) {
    for (unsigned n : {1u, 2u}) {
      const Holdings before = holdings();
      Fault fault(Source::kernel, n, error);
      const int err = map();
      EXPECT_TRUE(fault.end());
      EXPECT_EQ(err, error);
      EXPECT_EQ(base, nullptr);
      EXPECT_EQ(length, 0u);
      EXPECT_EQ(unmap(), EINVAL);
      EXPECT_EQ(holdings(), before);
    }
    ASSERT_EQ(map(), 0);
    EXPECT_EQ(unmap(), 0);
    // The kernel is asked once in the life of a context.
    context = Context(made(open_on("cxi0", 0), "open"));
    base = nullptr;
    length = 0;
  }
}

class DoorbellWindow : public testing::Test {
 protected:
  Windows windows;
  Context context{made(open_on("cxi0", 0), "open")};
  LniPtr lni{made(cxidv_create_lni(context.get(), nullptr), "lni")};
};

TEST_F(DoorbellWindow, TakesWhatIsCounted) {
  CtPtr ct(made(cxidv_create_ct(lni.get(), nullptr), "ct"));
  EXPECT_TRUE(ct->window_flags & CXIDV_WINDOW_CT);
  ASSERT_NE(ct->doorbell, nullptr);
  EXPECT_EQ(cxidv_ct_inc_success(ct.get(), 5), 0);
  EXPECT_EQ(windows.word(CT_INC_SUCCESS_OFFSET), 5u);
  EXPECT_EQ(cxidv_ct_inc_failure(ct.get(), 3), 0);
  EXPECT_EQ(windows.word(CT_INC_FAILURE_OFFSET), 3u);
  EXPECT_EQ(cxidv_ct_set_success(ct.get(), 9), 0);
  EXPECT_EQ(windows.word(CT_INC_SUCCESS_OFFSET), 9u);
  EXPECT_EQ(cxidv_ct_inc_success(ct.get(), std::uint64_t{1} << C_CT_SUCCESS_BITS), EINVAL);
  EXPECT_EQ(cxidv_ct_inc_failure(ct.get(), std::uint64_t{1} << C_CT_FAILURE_BITS), EINVAL);
  EXPECT_EQ(windows.word(CT_INC_SUCCESS_OFFSET), 9u);
}

TEST_F(DoorbellWindow, IsMappedOrThereIsNoCounter) {
  for (const int error : {ENOMEM, EIO}) {
    for (unsigned n : {1u, 2u}) {
      const Holdings before = holdings();
      Fault fault(Source::kernel, n, error);
      const int err = error_of(cxidv_create_ct(lni.get(), nullptr));
      EXPECT_TRUE(fault.end());
      EXPECT_EQ(err, error);
      EXPECT_EQ(holdings(), before);
    }
    const Holdings before = holdings();
    CtPtr(made(cxidv_create_ct(lni.get(), nullptr), "ct"));
    EXPECT_EQ(holdings(), before);
  }
}

}  // namespace
}  // namespace on_model
