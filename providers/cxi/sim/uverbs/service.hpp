// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Services: what a workload may use, and the account of what it does use.
#pragma once

#include <rdma/cxiverbs-abi.h>

#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "nic/device.hpp"
#include "uverbs/kernel.hpp"
#include "uverbs/limits.hpp"

namespace sim::uverbs {

struct Service {
  uint32_t id = 0;
  bool enabled = false;
  bool limited = false;  // limits apply; else every maximum is the device's
  bool vni_range = false;
  bool dying = false;  // its owner is gone: gives no new logical NI
  uint32_t tc_mask = 0;
  std::vector<uint16_t> vnis;  // a list, or the first and the last one of a range
  std::array<cxi_abi_svc_member, CXI_ABI_MAX_SVC_MEMBERS> members{};
  struct Limit {
    uint32_t max = 0, reserved = 0;
  };
  std::array<Limit, CXI_ABI_RSRC_COUNT> limits{};
  unsigned lnis = 0;

  // Counted by the NIC as commands take and leave them.
  std::shared_ptr<nic::TriggeredEntries> triggered;
  // In use; list entries are accounted per processing element, everything else in [0].
  std::array<std::array<uint32_t, processing_elements>, CXI_ABI_RSRC_COUNT> in_use{};

  bool has_vni(uint16_t vni) const;
  bool admits(const Credentials& credentials) const;
  uint32_t max(cxi_abi_resource type) const;
  uint32_t used(cxi_abi_resource type) const;  // the largest over the processing elements
  // The class that queues start with: the only or first one granted, best effort where all are.
  unsigned first_traffic_class() const;
};

// A part of a service's resources, given back when it goes out of scope.
class Charge {
 public:
  Charge() = default;
  Charge(Service& service, cxi_abi_resource type, uint32_t count, unsigned element)
      : service_(&service), type_(type), count_(count), element_(element) {}
  Charge(Charge&& other) noexcept { *this = std::move(other); }
  Charge& operator=(Charge&& other) noexcept {
    std::swap(service_, other.service_);
    std::swap(type_, other.type_);
    std::swap(count_, other.count_);
    std::swap(element_, other.element_);
    return *this;
  }
  ~Charge() {
    if (service_) service_->in_use[type_][element_] -= count_;
  }

 private:
  Service* service_ = nullptr;
  cxi_abi_resource type_ = CXI_ABI_RSRC_PTE;
  uint32_t count_ = 0;
  unsigned element_ = 0;
};

// The services of one device.
class Services {
 public:
  explicit Services(bool default_enabled);

  Service* find(uint32_t id);
  Service& add(Service service);
  void remove(uint32_t id) { by_id_.erase(id); }
  std::map<uint32_t, Service>& all() { return by_id_; }

  // What nobody has taken or reserved.
  uint32_t free(cxi_abi_resource type) const;
  // ENOSPC when the service's maximum or the device is exhausted. `element` counts for list
  // entries.
  nic::Made<Charge> charge(Service& service, cxi_abi_resource type, uint32_t count,
                           unsigned element = 0);

 private:
  uint32_t free(cxi_abi_resource type, unsigned element) const;

  std::map<uint32_t, Service> by_id_;
  uint32_t next_id_ = CXI_ABI_DEFAULT_SVC_ID;
};

}  // namespace sim::uverbs
