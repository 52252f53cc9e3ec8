// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The provider's face to the library: which devices it serves.
#include <infiniband/driver.h>

#include "context.hpp"
#include "dv.hpp"
#include "memory.hpp"
#include "rdma/cxiverbs-abi.h"

namespace cxi {
namespace {

const verbs_match_ent match_table[] = {
    VERBS_DRIVER_ID(RDMA_DRIVER_CXI),
    VERBS_PCI_MATCH(0x17db, 0x0501, nullptr),  // Cassini 1
    VERBS_PCI_MATCH(0x1590, 0x0371, nullptr),  // Cassini 2
    VERBS_PCI_MATCH(0x1590, 0x0372, nullptr),  // Cassini 2, virtual function
    {},
};

verbs_device* alloc_device(verbs_sysfs_dev*) noexcept {
  auto device = allocate<verbs_device>();
  if (!device) return nullptr;
  device->device.transport_type = IBV_TRANSPORT_SLINGSHOT;
  return device.release();
}

void uninit_device(verbs_device* device) noexcept {
  std::free(device);
}

const verbs_device_ops device_ops = {
    .name = "cxi",
    .match_min_abi_version = CXI_ABI_VERSION,
    .match_max_abi_version = CXI_ABI_VERSION,
    .match_table = match_table,
    .alloc_context = alloc_context,
    .alloc_device = alloc_device,
    .uninit_device = uninit_device,
};

PROVIDER_DRIVER(cxi, device_ops)

}  // namespace

bool drives(const ibv_device& device) noexcept {
  return verbs_get_device(&device)->ops == &device_ops;
}

}  // namespace cxi
