// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A logical NI: a resource group of the device, charged to one service, and its communication
// profiles.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "uverbs/service.hpp"

namespace sim::uverbs {

class NicState;

class Lni {
 public:
  // The refusals, in this order: EINVAL no such service, EKEYREVOKED it is disabled, EPERM the
  // caller is not a member, ENOSPC no resource group is left.
  static nic::Made<std::shared_ptr<Lni>> make(NicState& nic, uint32_t service,
                                              const Credentials& credentials);
  ~Lni();
  Lni(const Lni&) = delete;
  Lni& operator=(const Lni&) = delete;

  NicState& nic() { return nic_; }
  nic::Device& device();
  Service& service() { return service_; }
  unsigned rgid() const { return rgid_; }
  nic::Made<Charge> charge(cxi_abi_resource type, uint32_t count = 1, unsigned element = 0);

  // The profile for a VNI and a class: the one there is already, else the lowest free LCID. A use
  // is counted; profiles stay until the last use is gone, those with `keep` until the logical NI
  // goes.
  nic::Made<unsigned> take_profile(uint16_t vni, unsigned tc, unsigned tc_type, bool keep);
  // LCID 0, the only one that triggered queues may use. ENOSPC when it stands for something else.
  nic::Made<unsigned> take_trigger_profile(uint16_t vni, unsigned tc, unsigned tc_type);
  void drop_profile(unsigned lcid);
  bool has_profile(unsigned lcid) const { return lcid < profiles_.size() && profiles_[lcid]; }
  unsigned profiles() const;

  // Address contexts appear and go with the memory that is mapped in them. ENOSPC: not charged.
  int use_ac(unsigned lac);
  void drop_ac(unsigned lac);
  unsigned acs() const;

  std::set<std::pair<uint16_t, unsigned>> reserved;  // VNIs and PIDs, its own until it goes

  // Portal entries are spread over the processing elements in turn (behaviour 3.2).
  unsigned next_element() { return element_++ % processing_elements; }

 private:
  struct Profile {
    uint16_t vni;
    unsigned tc, tc_type;
    unsigned uses;
    bool keep;
  };
  struct AddressContext {
    unsigned uses = 0;
    Charge charge;
  };

  Lni(NicState& nic, Service& service, unsigned rgid);
  nic::Made<unsigned> take(unsigned lcid, const Profile& wanted);

  NicState& nic_;
  Service& service_;
  const unsigned rgid_;
  unsigned element_;
  std::array<std::optional<Profile>, lcids_per_rgid> profiles_;
  std::array<AddressContext, lacs_per_rgid> acs_;
};

}  // namespace sim::uverbs
