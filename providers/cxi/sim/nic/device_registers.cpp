// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Registers whose values the model knows: who the NIC is, what it has counted, what is in use.
#include "ethernet/cassini_csrs.hpp"
#include "nic/engine.hpp"
#include "nic/register_places.hpp"

namespace sim::nic {
namespace {

namespace csr = cassini::csr;

constexpr uint64_t simulator_platform = 1;  // behaviour 13
constexpr unsigned pools_per_element = 16;

uint64_t identity(uint32_t cassini_version) {
  using rev = csr::c_mb_sts_rev;
  const bool second = cassini_version & 0x20;  // behaviour 12
  return rev::rev::encode(cassini_version & 0xf) |
         rev::device_id::encode(second ? 0x0371 : 0x0501) |
         rev::vendor_id::encode(second ? 0x1590 : 0x17db) |
         rev::platform::encode(simulator_platform);
}

}  // namespace

LiveWords Nic::live_words() {
  LiveWords words = counter_places(stats_, config_.cassini_version);
  const auto value = [&words](uint32_t offset, std::function<uint64_t()> what) {
    words[offset].value = std::move(what);
  };
  value(csr::c_mb_sts_rev::csr_offset, [this] { return identity(config_.cassini_version); });
  for (unsigned element = 0; element < pools_.size(); element++) {
    const auto in_use = [this, element] { return uint64_t{pools_[element].in_use()}; };
    // The model has one pool of list entries on each processing element, the first.
    using alloc = csr::c_lpe_sts_pe_le_alloc;
    value(alloc::csr_offset + element * pools_per_element * alloc::csr_bytes,
          [=] { return alloc::num_allocated::encode(in_use()); });
    using longest = csr::c_lpe_sts_net_max_attempts;
    value(longest::csr_offset + element * longest::csr_bytes,
          [this, element] { return longest::max::encode(stats_.lists.most_attempts[element]); });
    using shared = csr::c_lpe_cfg_pe_le_shared;
    value(shared::csr_offset + element * shared::csr_bytes, [this, element, in_use] {
      const uint64_t most = pools_[element].most();
      return shared::num_shared_allocated::encode(in_use()) |
             shared::num_total_allocated::encode(in_use()) | shared::num_shared::encode(most) |
             shared::num_total::encode(most);
    });
  }
  value(csr::c_cq_sts_tle_in_use::csr_offset,
        [this] { return csr::c_cq_sts_tle_in_use::count::encode(triggered_in_use()); });
  value(csr::c_pct_prf_spt_status::csr_offset, [this] {
    using status = csr::c_pct_prf_spt_status;
    return status::spt_in_use::encode(busy_messages_) |
           status::max_spt_in_use::encode(stats_.tracking.most_requests);
  });
  value(csr::c_pct_prf_mst_status::csr_offset, [this] {
    using status = csr::c_pct_prf_mst_status;
    return status::mst_in_use::encode(deliveries_.size()) |
           status::max_mst_in_use::encode(stats_.tracking.most_messages);
  });
  return words;
}

}  // namespace sim::nic
