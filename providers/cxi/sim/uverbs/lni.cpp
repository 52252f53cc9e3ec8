// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs/lni.hpp"

#include <algorithm>
#include <cerrno>

#include "uverbs/nic_state.hpp"

namespace sim::uverbs {

nic::Made<std::shared_ptr<Lni>> Lni::make(NicState& nic, uint32_t id,
                                          const Credentials& credentials) {
  Service* service = nic.services.find(id);
  if (!service) return {nullptr, EINVAL};
  if (!service->enabled || service->dying) return {nullptr, EKEYREVOKED};
  if (!service->admits(credentials)) return {nullptr, EPERM};
  auto rgid = nic.device->alloc_rgid(service->triggered);
  if (!rgid) return {nullptr, rgid.error};
  return {std::shared_ptr<Lni>(new Lni(nic, *service, rgid.value)), 0};
}

Lni::Lni(NicState& nic, Service& service, unsigned rgid)
    : nic_(nic), service_(service), rgid_(rgid), element_(rgid % processing_elements) {
  ++service_.lnis;
}

Lni::~Lni() {
  for (unsigned lcid = 0; lcid < profiles_.size(); ++lcid) {
    if (profiles_[lcid]) device().clear_cp(rgid_, lcid);
  }
  for (auto [vni, pid] : reserved) {
    nic_.pids.release(vni, pid);
  }
  device().free_rgid(rgid_);
  // A service whose owner has gone lasts as long as its logical NIs.
  if (--service_.lnis == 0 && service_.dying) nic_.services.remove(service_.id);
}

nic::Device& Lni::device() {
  return *nic_.device;
}

nic::Made<Charge> Lni::charge(cxi_abi_resource type, uint32_t count, unsigned element) {
  return nic_.services.charge(service_, type, count, element);
}

nic::Made<unsigned> Lni::take(unsigned lcid, const Profile& wanted) {
  auto& profile = profiles_[lcid];
  if (!profile) {
    if (int error = device().set_cp(rgid_, lcid, wanted.vni, wanted.tc, wanted.tc_type)) {
      return {0, error};
    }
    profile = wanted;
  }
  ++profile->uses;
  profile->keep |= wanted.keep;
  return {lcid, 0};
}

nic::Made<unsigned> Lni::take_profile(uint16_t vni, unsigned tc, unsigned tc_type, bool keep) {
  const Profile wanted{vni, tc, tc_type, 0, keep};
  std::optional<unsigned> unused;
  for (unsigned lcid = 0; lcid < profiles_.size(); ++lcid) {
    const auto& profile = profiles_[lcid];
    if (!profile) {
      if (!unused) unused = lcid;
    } else if (profile->vni == vni && profile->tc == tc && profile->tc_type == tc_type) {
      return take(lcid, wanted);
    }
  }
  if (!unused) return {0, ENOSPC};
  return take(*unused, wanted);
}

nic::Made<unsigned> Lni::take_trigger_profile(uint16_t vni, unsigned tc, unsigned tc_type) {
  const auto& profile = profiles_[0];
  if (profile && (profile->vni != vni || profile->tc != tc || profile->tc_type != tc_type)) {
    return {0, ENOSPC};
  }
  return take(0, Profile{vni, tc, tc_type, 0, false});
}

void Lni::drop_profile(unsigned lcid) {
  auto& profile = profiles_[lcid];
  if (--profile->uses != 0 || profile->keep) return;
  device().clear_cp(rgid_, lcid);
  profile.reset();
}

unsigned Lni::profiles() const {
  return static_cast<unsigned>(
      std::ranges::count_if(profiles_, [](const auto& p) { return p.has_value(); }));
}

int Lni::use_ac(unsigned lac) {
  if (lac >= acs_.size()) return ENOSPC;
  AddressContext& ac = acs_[lac];
  if (ac.uses == 0) {
    auto charged = charge(CXI_ABI_RSRC_AC);
    if (!charged) return charged.error;
    ac.charge = std::move(charged.value);
  }
  ++ac.uses;
  return 0;
}

void Lni::drop_ac(unsigned lac) {
  AddressContext& ac = acs_[lac];
  if (--ac.uses == 0) ac.charge = Charge();
}

unsigned Lni::acs() const {
  return static_cast<unsigned>(
      std::ranges::count_if(acs_, [](const auto& ac) { return ac.uses != 0; }));
}

}  // namespace sim::uverbs
