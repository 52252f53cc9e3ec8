// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The register file by itself, and the registers of a NIC that describe what it is and has.
#include "nic/registers.hpp"

#include <cerrno>

#include "ethernet/cassini_csrs.hpp"
#include "ethernet/cassini_registers.hpp"
#include "ethernet/cassini_telemetry.hpp"
#include "nic/tests/driver.hpp"

namespace sim::nic::testing {
namespace {

namespace csr = cassini::csr;

constexpr uint32_t counted =
    csr::c_cq_cntrs::csr_offset + csr::c_cq_cntrs::success_tx_cntr::lsb / 8;
constexpr uint32_t not_modelled =
    csr::c_cq_cntrs::csr_offset + csr::c_cq_cntrs::mem_cor_err_cntr::lsb / 8;
constexpr uint32_t governs = csr::c_cq_cfg_event_cnts::csr_offset;
constexpr uint64_t enable = csr::c_cq_cfg_event_cnts::enable::mask;
constexpr uint64_t init = csr::c_cq_cfg_event_cnts::init::mask;

class RegisterFile : public ::testing::Test {
 protected:
  static LiveWords live(const uint64_t& number) {
    LiveWords words;
    words[counted].counter = &number;
    words[csr::c_mb_sts_rev::csr_offset].value = [] { return uint64_t{77}; };
    return words;
  }
  uint64_t value(uint32_t offset) {
    const auto read = registers.read(offset);
    EXPECT_EQ(read.error, 0);
    return read.value;
  }
  uint64_t number = 0;
  Registers registers{0x21, live(number)};
};

TEST_F(RegisterFile, HoldsTheResetValuesOfTheTable) {
  EXPECT_EQ(value(csr::c_atu_cfg_ptid_pool::csr_offset), 32u);
  EXPECT_EQ(value(csr::c_atu_err_irqa_msk::csr_offset), ~uint64_t{0});
  EXPECT_EQ(value(csr::c_atu_cfg_ats_dynamic::csr_offset), 256u | 128u << 16 | uint64_t{32} << 32);
}

TEST_F(RegisterFile, KeepsOnlyBitsThatSoftwareWrites) {
  EXPECT_EQ(registers.write(csr::c_atu_cfg_ptid_pool::csr_offset, ~uint64_t{0}), 0);
  EXPECT_EQ(value(csr::c_atu_cfg_ptid_pool::csr_offset), 63u);
}

TEST_F(RegisterFile, EveryWordOfAnArrayIsItsOwn) {
  const uint32_t first = csr::c_atu_dbg_cfg_lsa_sel_idx::csr_offset;
  EXPECT_EQ(registers.write(first + 8, 3), 0);
  EXPECT_EQ(value(first), 15u);
  EXPECT_EQ(value(first + 8), 3u);
}

TEST_F(RegisterFile, WordsOfAWideRegisterHaveTheirOwnBits) {
  const uint32_t at = csr::c_atu_msc_shadow::csr_offset;
  for (uint64_t word = 0; word < 4; word++)
    EXPECT_EQ(registers.write(at + 8 * static_cast<uint32_t>(word), word + 1), 0);
  for (uint64_t word = 0; word < 4; word++)
    EXPECT_EQ(value(at + 8 * static_cast<uint32_t>(word)), word + 1);
}

TEST_F(RegisterFile, AWrittenOneClearsAnErrorFlagAndAZeroSetsNone) {
  EXPECT_EQ(registers.write(csr::c_atu_err_flg::csr_offset, ~uint64_t{0}), 0);
  EXPECT_EQ(value(csr::c_atu_err_flg::csr_offset), 0u);
}

TEST_F(RegisterFile, BitsThatStartSomethingReadAsZero) {
  EXPECT_EQ(registers.write(csr::c_atu_err_clr::csr_offset, ~uint64_t{0}), 0);
  EXPECT_EQ(value(csr::c_atu_err_clr::csr_offset), 0u);
}

TEST_F(RegisterFile, RefusesToWriteWhatOnlyHardwareWrites) {
  EXPECT_EQ(registers.write(csr::c_mb_sts_rev::csr_offset, 1), EACCES);
  EXPECT_EQ(registers.check_write(csr::c_cq_sts_tle_in_use::csr_offset), EACCES);
  EXPECT_EQ(value(csr::c_mb_sts_rev::csr_offset), 77u);
}

TEST_F(RegisterFile, RefusesPlacesWithoutARegister) {
  EXPECT_EQ(registers.read(4).error, EINVAL);
  EXPECT_EQ(registers.read(csr::c_mb_sts_rev::csr_offset + 1).error, EINVAL);
  EXPECT_EQ(registers.read(0x27fffff8).error, EINVAL);
  EXPECT_EQ(registers.read(0xfffffff8).error, EINVAL);
  EXPECT_EQ(registers.write(csr::c_mb_sts_rev::csr_offset + 4, 1), EINVAL);
  EXPECT_EQ(registers.check_write(0x28000000), EINVAL);
  EXPECT_FALSE(registers.is_public(4));
}

TEST_F(RegisterFile, HasTheRegistersOfItsGenerationOnly) {
  // The transmit counters of Cassini 2 end where those of Cassini 1 have ended already.
  const uint32_t both = csr::c2_oxe_cntrs::csr_offset;
  const auto& one = csr::c1_mb_sts_rstc::csr_offset;
  Registers older(0x12, {});
  EXPECT_EQ(older.read(one).error, 0);
  EXPECT_EQ(registers.read(one).error, EINVAL);
  EXPECT_EQ(older.read(both).error, 0);
  EXPECT_EQ(registers.read(both).error, 0);
}

TEST_F(RegisterFile, EveryRegisterOfTheTableIsThereWithItsLastWord) {
  for (const auto& r : cassini::registers) {
    if (!(r.generations & 2)) continue;
    EXPECT_EQ(registers.read(r.offset).error, 0) << r.name;
    EXPECT_EQ(registers.read(r.offset + r.size * r.entries - 8).error, 0) << r.name;
  }
}

TEST_F(RegisterFile, TelemetryAndIdentityArePublicAndNothingElse) {
  for (const auto& item : cassini::telemetry_items) {
    if (!item.cassini2.exists()) continue;
    EXPECT_TRUE(registers.is_public(item.cassini2.offset)) << item.name;
  }
  EXPECT_TRUE(registers.is_public(csr::c_mb_sts_rev::csr_offset));
  for (const uint32_t offset :
       {csr::c_atu_cfg_ats::csr_offset, csr::c_atu_err_flg::csr_offset, csr::c_me_entry::csr_offset,
        csr::c_ee_cfg_eq_descriptor::csr_offset, csr::c_mb_msc_flash_window0::csr_offset})
    EXPECT_FALSE(registers.is_public(offset)) << offset;
}

TEST_F(RegisterFile, CountersRunFromDriverLoad) {
  EXPECT_EQ(value(governs), enable | csr::c_cq_cfg_event_cnts::init_done::mask);
  number = 5;
  EXPECT_EQ(value(counted), 5u);
}

TEST_F(RegisterFile, AWrittenCounterCountsOnFromThere) {
  number = 5;
  EXPECT_EQ(registers.write(counted, 100), 0);
  number += 3;
  EXPECT_EQ(value(counted), 103u);
}

TEST_F(RegisterFile, ACounterHas56Bits) {
  EXPECT_EQ(registers.write(counted, ~uint64_t{0}), 0);
  EXPECT_EQ(value(counted), (uint64_t{1} << 56) - 1);
  number++;
  EXPECT_EQ(value(counted), 0u);
}

TEST_F(RegisterFile, ACounterOfWhatTheModelHasNotKeepsWhatIsWritten) {
  EXPECT_EQ(value(not_modelled), 0u);
  EXPECT_EQ(registers.write(not_modelled, 9), 0);
  EXPECT_EQ(value(not_modelled), 9u);
}

TEST_F(RegisterFile, CountersStandStillWhileTheirBlockIsOff) {
  number = 5;
  EXPECT_EQ(registers.write(governs, 0), 0);
  number = 50;
  EXPECT_EQ(value(counted), 5u);
  EXPECT_EQ(registers.write(counted, 7), 0);
  EXPECT_EQ(value(counted), 7u);
  EXPECT_EQ(registers.write(governs, enable), 0);
  EXPECT_EQ(value(counted), 7u);
  number++;
  EXPECT_EQ(value(counted), 8u);
}

TEST_F(RegisterFile, InitRestartsTheCountersOfTheBlock) {
  EXPECT_EQ(registers.write(not_modelled, 9), 0);
  number = 5;
  EXPECT_EQ(registers.write(governs, enable | init), 0);
  EXPECT_EQ(value(governs) & init, 0u);
  EXPECT_EQ(value(counted), 0u);
  EXPECT_EQ(value(not_modelled), 0u);
  number = 6;
  EXPECT_EQ(value(counted), 1u);
}

TEST_F(RegisterFile, InitOfAStoppedBlockLeavesItStopped) {
  number = 5;
  EXPECT_EQ(registers.write(governs, 0), 0);
  number = 6;
  EXPECT_EQ(registers.write(governs, init), 0);
  EXPECT_EQ(value(counted), 0u);
  number = 7;
  EXPECT_EQ(value(counted), 0u);
  EXPECT_EQ(registers.write(governs, enable), 0);
  number = 9;
  EXPECT_EQ(value(counted), 2u);
}

class RegistersOfANic : public TwoNics {
 protected:
  uint64_t read(uint32_t offset) {
    const auto word = a.device->read_csr(offset);
    EXPECT_EQ(word.error, 0);
    return word.value;
  }
};

TEST_F(RegistersOfANic, SayWhatItIs) {
  using rev = csr::c_mb_sts_rev;
  const uint64_t word = read(rev::csr_offset);
  EXPECT_EQ(rev::rev::decode(word), 1u);
  EXPECT_EQ(rev::vendor_id::decode(word), 0x1590u);
  EXPECT_EQ(rev::device_id::decode(word), 0x0371u);
  EXPECT_EQ(rev::platform::decode(word), 1u);
}

TEST_F(RegistersOfANic, SayHowManyListEntriesAreInUse) {
  using shared = csr::c_lpe_cfg_pe_le_shared;
  const auto in_use = [&] {
    uint64_t all = 0;
    for (uint32_t element = 0; element < 4; element++) {
      const uint64_t word = read(shared::csr_offset + 8 * element);
      EXPECT_EQ(shared::num_total::decode(word), 16384u);
      const auto alloc = csr::c_lpe_sts_pe_le_alloc::csr_offset + 8 * 16 * element;
      EXPECT_EQ(shared::num_total_allocated::decode(word), read(alloc));
      all += read(alloc);
    }
    return all;
  };
  EXPECT_EQ(in_use(), 0u);
  const unsigned pte = a.add_pte(5, 3);
  for (unsigned id = 0; id < 3; id++)
    a.target.push(a.buffer(pte, C_PTL_LIST_PRIORITY, id, 0, 64));
  go(a.target);
  run();
  EXPECT_EQ(in_use(), 3u);
}

TEST_F(RegistersOfANic, SayHowManyRequestsAreUnderWay) {
  using status = csr::c_pct_prf_spt_status;
  b.device->set_link(false);
  a.tx.push(a.put(dfa(2, 5, 3), 3, 0, 8));
  go(a.tx);
  run();
  EXPECT_EQ(status::spt_in_use::decode(read(status::csr_offset)), 1u);
  b.device->set_link(true);
  clock.mono += 2'000'000;
  run();
  EXPECT_EQ(status::spt_in_use::decode(read(status::csr_offset)), 0u);
  EXPECT_EQ(status::max_spt_in_use::decode(read(status::csr_offset)), 1u);
}

}  // namespace
}  // namespace sim::nic::testing
