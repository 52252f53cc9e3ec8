// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The Kernel on devices that the caller provides, so that a test can play the NIC.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "nic/device.hpp"
#include "uverbs/kernel.hpp"
#include "uverbs/nic_state.hpp"

namespace sim::uverbs {

// Makes a kernel. `keep_alive` is destroyed after the devices: the fabric that they are attached
// to.
std::unique_ptr<Kernel> make_kernel(const KernelConfig& config, nic::Clock& clock,
                                    nic::Trace& trace, const NicState::DeviceFactory& factory,
                                    std::shared_ptr<void> keep_alive);

}  // namespace sim::uverbs
