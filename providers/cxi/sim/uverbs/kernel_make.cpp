// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The kernel as programs get it: NICs of the engine on one fabric in this process.
#include "fabric/fabric.hpp"
#include "uverbs/kernel_impl.hpp"

namespace sim::uverbs {

std::unique_ptr<Kernel> Kernel::make(const KernelConfig& config, nic::Clock& clock,
                                     nic::Trace& trace) {
  std::shared_ptr<fabric::Fabric> fabric = fabric::Fabric::in_process();
  auto factory = [&](const nic::DeviceConfig& device, nic::Interrupts& interrupts) {
    return nic::Device::make(device, *fabric, clock, trace, interrupts);
  };
  return make_kernel(config, clock, trace, factory, fabric);
}

}  // namespace sim::uverbs
