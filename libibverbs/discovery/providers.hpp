// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The providers of this process: those that registered themselves, and how more are loaded.
#pragma once

#include <infiniband/driver.h>

#include "../memory.hpp"

namespace verbs {

// In the order of registration. Belongs to whoever holds the lock of the device list.
using Providers = GlobalArray<const verbs_device_ops*>;
Providers& registered_providers() noexcept;

// Loads what the environment and the configuration name. Providers register themselves meanwhile.
void load_providers() noexcept;

// The best match of a provider for a device: its table, then its own word. On a match, record.match
// is the entry that matched, if the table has one.
bool provider_matches(const verbs_device_ops& provider, verbs_sysfs_dev& record) noexcept;

}  // namespace verbs
