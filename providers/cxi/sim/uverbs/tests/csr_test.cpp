// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Registers and telemetry: who may read and write what.
#include <ethernet/cassini_cntr_defs.h>

#include "ethernet/cassini_telemetry.hpp"
#include "kernel_fixture.hpp"

namespace sim::uverbs::test {
namespace {

constexpr uint64_t data_va = buffer_va + 0x1000;
constexpr uint32_t public_csr = 0x100, private_csr = 0x200;

class CsrTest : public ContextTest {
 protected:
  CsrTest() {
    device().public_csrs = {public_csr, public_csr + 8};
    device().csrs = {{public_csr, 11}, {public_csr + 8, 12}, {private_csr, 21}};
    caller.who.cap_sys_admin = false;
  }
  int csr(uint16_t method, uint32_t offset, uint32_t length = 8, uint64_t data = data_va) {
    auto ioctl = call(CXI_OBJECT_CSR, method);
    ioctl.in(CXI_ATTR_REQ, cxi_abi_csr_req{offset, length, data});
    return issue(ioctl);
  }
  int read(uint32_t offset, uint32_t length = 8, uint64_t data = data_va) {
    return csr(CXI_METHOD_CSR_READ, offset, length, data);
  }
  int write(uint32_t offset, uint32_t length = 8, uint64_t data = data_va) {
    return csr(CXI_METHOD_CSR_WRITE, offset, length, data);
  }
  uint64_t data(unsigned word = 0) { return caller.load<uint64_t>(data_va + 8 * word); }
  void put_data(uint64_t value, unsigned word = 0) { caller.store(data_va + 8 * word, value); }
};

TEST_F(CsrTest, EverybodyReadsThePublicSet) {
  EXPECT_EQ(read(public_csr, 16), 0);
  EXPECT_EQ(data(0), 11u);
  EXPECT_EQ(data(1), 12u);
}

TEST_F(CsrTest, OthersThanAdministratorsReadNothingElse) {
  put_data(99);
  EXPECT_EQ(read(private_csr), EPERM);
  EXPECT_EQ(read(public_csr, 24), EPERM);  // the third word is not public
  EXPECT_EQ(data(), 99u);
}

TEST_F(CsrTest, AdministratorsReadEverything) {
  caller.who.cap_sys_admin = true;
  EXPECT_EQ(read(private_csr), 0);
  EXPECT_EQ(data(), 21u);
}

TEST_F(CsrTest, OnlyAdministratorsWrite) {
  put_data(33);
  EXPECT_EQ(write(private_csr), EPERM);
  EXPECT_EQ(write(public_csr), EPERM);
  EXPECT_EQ(device().csrs[public_csr], 11u);
  caller.who.cap_sys_admin = true;
  put_data(44, 1);
  EXPECT_EQ(write(private_csr, 16), 0);
  EXPECT_EQ(device().csrs[private_csr], 33u);
  EXPECT_EQ(device().csrs[private_csr + 8], 44u);
}

TEST_F(CsrTest, PlacesThatAreNoRegistersAreInvalid) {
  caller.who.cap_sys_admin = true;
  for (const auto method : {CXI_METHOD_CSR_READ, CXI_METHOD_CSR_WRITE}) {
    const auto id = static_cast<uint16_t>(method);
    EXPECT_EQ(csr(id, public_csr + 4), EINVAL);
    EXPECT_EQ(csr(id, public_csr, 4), EINVAL);
    EXPECT_EQ(csr(id, public_csr, 0), EINVAL);
    EXPECT_EQ(csr(id, 0, CXI_ABI_CSR_MAX_LEN + 8), EINVAL);
    EXPECT_EQ(csr(id, 0x28000000), EINVAL);
    EXPECT_EQ(csr(id, 0x27fffff8, 16), EINVAL);
    EXPECT_EQ(csr(id, 0xfffffff8, 16), EINVAL);
    EXPECT_EQ(csr(id, FakeDevice::csr_end), EINVAL);  // inside the aperture, but nothing is there
  }
  EXPECT_EQ(read(0, CXI_ABI_CSR_MAX_LEN), 0);
}

TEST_F(CsrTest, ReadOnlyRegistersRefuseAWriteAsAWhole) {
  caller.who.cap_sys_admin = true;
  put_data(33);
  EXPECT_EQ(write(FakeDevice::read_only_csr), EACCES);
  EXPECT_EQ(write(public_csr, 16), EACCES);  // its second word
  EXPECT_EQ(write(FakeDevice::csr_end - 8, 16), EINVAL);
  EXPECT_EQ(device().csrs[public_csr], 11u);
  EXPECT_FALSE(device().csrs.contains(FakeDevice::csr_end - 8));
}

TEST_F(CsrTest, DataThatCannotBeReachedIsAFault) {
  caller.who.cap_sys_admin = true;
  EXPECT_EQ(read(public_csr, 8, 16), EFAULT);
  EXPECT_EQ(write(private_csr, 8, 16), EFAULT);
  EXPECT_EQ(device().csrs[private_csr], 21u);
}

TEST_F(CsrTest, RequestsGrowAtTheirEndOnly) {
  struct {
    cxi_abi_csr_req req;
    uint64_t more;
  } longer{{public_csr, 8, data_va}, 0};
  const auto with = [&](size_t size) {
    auto ioctl = call(CXI_OBJECT_CSR, CXI_METHOD_CSR_READ);
    ioctl.in_bytes(CXI_ATTR_REQ, &longer, size);
    return issue(ioctl);
  };
  EXPECT_EQ(with(sizeof longer), 0);
  longer.more = 1;
  EXPECT_EQ(with(sizeof longer), E2BIG);
  EXPECT_EQ(with(8), EINVAL);
}

TEST_F(CsrTest, TheApertureCannotBeMapped) {
  for (const bool admin : {false, true}) {
    caller.who.cap_sys_admin = admin;
    auto ioctl = call(CXI_OBJECT_CSR, CXI_METHOD_CSR_MAP);
    ioctl.out(CXI_ATTR_RESP, sizeof(cxi_abi_csr_map_resp));
    EXPECT_EQ(issue(ioctl), EOPNOTSUPP);
  }
}

TEST_F(CsrTest, NeedsNoServiceThatAdmitsTheCaller) {
  auto other = open();
  EXPECT_EQ(get_context(*other, 1), 0);
  caller.who.euid = caller.who.uid = 4242;
  auto ioctl = call(CXI_OBJECT_CSR, CXI_METHOD_CSR_READ);
  ioctl.in(CXI_ATTR_REQ, cxi_abi_csr_req{public_csr, 8, data_va});
  EXPECT_EQ(issue(*other, ioctl), 0);
  EXPECT_TRUE(device().rgids.empty());
}

class TelemTest : public CsrTest {
 protected:
  static uint32_t offset_of(uint32_t item) {
    return cassini::telemetry_items[item].cassini2.offset;
  }
  int telem(const std::vector<uint32_t>& items, uint32_t count, uint32_t reserved = 0,
            uint64_t items_va = buffer_va, uint64_t results_va = data_va) {
    if (!items.empty()) caller.memory()->write(buffer_va, std::as_bytes(std::span(items)));
    auto ioctl = call(CXI_OBJECT_TELEM, CXI_METHOD_TELEM_READ);
    ioctl.in(CXI_ATTR_REQ, cxi_abi_telem_req{items_va, results_va, count, reserved});
    return issue(ioctl);
  }
  cxi_abi_telem_result result(unsigned i) {
    return caller.load<cxi_abi_telem_result>(data_va + i * sizeof(cxi_abi_telem_result));
  }
};

TEST_F(TelemTest, EverybodyReadsItemsInTheOrderAskedFor) {
  device().csrs[offset_of(C_TELEM_LPE_SUCCESS_CNTR)] = 5;
  device().csrs[offset_of(C_TELEM_CQ_SUCCESS_TX_CNTR)] = 6;
  clock.now = 777;
  EXPECT_EQ(telem({C_TELEM_CQ_SUCCESS_TX_CNTR, C_TELEM_LPE_SUCCESS_CNTR}, 2), 0);
  EXPECT_EQ(result(0).item, uint32_t{C_TELEM_CQ_SUCCESS_TX_CNTR});
  EXPECT_EQ(result(0).value, 6u);
  EXPECT_EQ(result(0).status, 0u);
  EXPECT_EQ(result(0).timestamp_ns, 777u);
  EXPECT_EQ(result(1).item, uint32_t{C_TELEM_LPE_SUCCESS_CNTR});
  EXPECT_EQ(result(1).value, 5u);
}

TEST_F(TelemTest, AnItemThatIsAFieldHasItsBitsOnly) {
  const uint32_t item = C_TELEM_LPE_CFG_PE_LE_SHARED_NUM_TOTAL_ALLOCATED_1;
  const auto& place = cassini::telemetry_items[item].cassini2;
  device().csrs[place.offset] = ~uint64_t{0} ^ (uint64_t{0x55} << place.lsb);
  EXPECT_EQ(telem({item}, 1), 0);
  EXPECT_EQ(result(0).value, ((uint64_t{1} << place.width) - 1) ^ 0x55);
}

TEST_F(TelemTest, AnItemThatCannotBeReadDoesNotStopTheOthers) {
  device().csrs[offset_of(C_TELEM_LPE_SUCCESS_CNTR)] = 5;
  const auto end = static_cast<uint32_t>(std::size(cassini::telemetry_items));
  EXPECT_EQ(telem({0, end, 0xffffffff, C_TELEM_LPE_SUCCESS_CNTR}, 4), 0);
  for (unsigned i = 0; i < 3; i++) {
    EXPECT_EQ(result(i).status, uint32_t{EINVAL});
    EXPECT_EQ(result(i).value, 0u);
  }
  EXPECT_EQ(result(3).status, 0u);
  EXPECT_EQ(result(3).value, 5u);
}

TEST_F(TelemTest, CallsThatAskForNothingOrTooMuchAreInvalid) {
  EXPECT_EQ(telem({1}, 0), EINVAL);
  EXPECT_EQ(telem({1}, CXI_ABI_TELEM_MAX_ITEMS + 1), EINVAL);
  EXPECT_EQ(telem({1}, 1, 1), EINVAL);
  EXPECT_EQ(telem(std::vector<uint32_t>(CXI_ABI_TELEM_MAX_ITEMS, 1), CXI_ABI_TELEM_MAX_ITEMS, 0,
                  buffer_va, buffer_va + 0x8000),
            0);
}

class CountersTest : public TelemTest {
 protected:
  CountersTest() {
    auto ioctl = call(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE);
    ioctl.fresh(UVERBS_ATTR_CREATE_COUNTERS_HANDLE);
    EXPECT_EQ(issue(ioctl), 0);
    counters = ioctl.handle_of(UVERBS_ATTR_CREATE_COUNTERS_HANDLE);
  }
  Ioctl plain(uint32_t flags = 0) {
    auto ioctl = call(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ);
    ioctl.handle(UVERBS_ATTR_READ_COUNTERS_HANDLE, counters)
        .out(UVERBS_ATTR_READ_COUNTERS_BUFF, 16)
        .u32(UVERBS_ATTR_READ_COUNTERS_FLAGS, flags);
    return ioctl;
  }
  Ioctl items(const std::vector<uint32_t>& numbers, size_t results, uint32_t flags = 0) {
    auto ioctl = plain(flags);
    ioctl.in_bytes(UVERBS_ATTR_READ_COUNTERS_ITEMS, numbers.data(), numbers.size() * 4)
        .out(UVERBS_ATTR_READ_COUNTERS_RESULTS, results * sizeof(ib_uverbs_counter_result));
    return ioctl;
  }
  uint32_t counters = 0;
};

TEST_F(CountersTest, ReadTelemetryItems) {
  device().csrs[offset_of(C_TELEM_LPE_SUCCESS_CNTR)] = 5;
  clock.now = 99;
  auto ioctl = items({C_TELEM_LPE_SUCCESS_CNTR, 0}, 2, IB_UVERBS_READ_COUNTERS_PREFER_CACHED);
  ASSERT_EQ(issue(ioctl), 0);
  const auto results =
      ioctl.result<std::array<ib_uverbs_counter_result, 2>>(UVERBS_ATTR_READ_COUNTERS_RESULTS);
  EXPECT_EQ(results[0].value, 5u);
  EXPECT_EQ(results[0].timestamp, 99u);
  EXPECT_EQ(results[0].item, uint32_t{C_TELEM_LPE_SUCCESS_CNTR});
  EXPECT_EQ(results[0].status, 0u);
  EXPECT_EQ(results[1].status, uint32_t{EINVAL});
  EXPECT_EQ(ioctl.result<uint64_t>(UVERBS_ATTR_READ_COUNTERS_BUFF), 5u);
}

TEST_F(CountersTest, NeedBothListsOfTheSameLength) {
  auto without_results = plain();
  without_results.u32(UVERBS_ATTR_READ_COUNTERS_ITEMS, 1);
  EXPECT_EQ(issue(without_results), EINVAL);
  auto shorter = items({1, 2}, 1), longer = items({1}, 2);
  EXPECT_EQ(issue(shorter), EINVAL);
  EXPECT_EQ(issue(longer), EINVAL);
  auto unknown_flag = items({1}, 1, 2);
  EXPECT_EQ(issue(unknown_flag), EINVAL);
}

TEST_F(CountersTest, HaveNoPointsOfFlows) {
  auto ioctl = plain();
  EXPECT_EQ(issue(ioctl), EOPNOTSUPP);
}

TEST_F(CountersTest, AreDestroyed) {
  EXPECT_EQ(destroy(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY, counters), 0);
  auto ioctl = items({1}, 1);
  EXPECT_EQ(issue(ioctl), ENOENT);
}

TEST_F(TelemTest, ListsThatCannotBeReachedAreAFault) {
  EXPECT_EQ(telem({1}, 1, 0, 16), EFAULT);
  EXPECT_EQ(telem({1}, 1, 0, buffer_va, 16), EFAULT);
}

}  // namespace
}  // namespace sim::uverbs::test
