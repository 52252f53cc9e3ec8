// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "slingshot.hpp"

#include <rdma/cxiverbs-abi.h>

#include <cerrno>
#include <cstring>

#include "text.hpp"

namespace examples {

bool is_slingshot(const ibv_device& device) {
  return device.transport_type == IBV_TRANSPORT_SLINGSHOT;
}

std::uint32_t first_vni(const char* list) {
  if (!list || *list == '\0') return 1;
  // A list has commas between VNIs, a range has a dash: both start with a VNI.
  const std::string first(list, std::strcspn(list, ",-"));
  return static_cast<std::uint32_t>(number(first.c_str(), 1, UINT16_MAX).value_or(0));
}

std::optional<std::uint32_t> short_rkey(std::uint64_t rkey) {
  constexpr std::uint64_t serial = (std::uint64_t{1} << CXI_ABI_RKEY_SERIAL_BITS) - 1;
  if (rkey & ~(CXI_ABI_RKEY_DRIVER | CXI_ABI_RKEY_INDEXED | serial)) return std::nullopt;
  return (rkey & CXI_ABI_RKEY_DRIVER ? CXI_ABI_RKEY32_DRIVER : 0) |
         (rkey & CXI_ABI_RKEY_INDEXED ? CXI_ABI_RKEY32_INDEXED : 0) |
         static_cast<std::uint32_t>(rkey & serial);
}

std::string why_no_grant(const char* device, std::uint32_t vni, int error) {
  if (vni == 0 && error == EPERM)
    return format("%s gives jobs to privileged users only: ask the administrator", device);
  switch (error) {
    case EPERM:
      return format(
          "no grant for VNI %u on %s: run it under cxi_launcher, ask the workload manager or the "
          "administrator for a service with it, or name a granted one in SLINGSHOT_VNIS",
          vni, device);
    case EKEYREVOKED:
      return format(
          "the default service of %s is disabled: ask the workload manager or the "
          "administrator for a service with VNI %u",
          device, vni);
    case EINVAL:
      if (vni == 0) break;
      return format(
          "%s has no service of the number that SLINGSHOT_SVC_IDS names: start it under a launcher "
          "whose service still exists, or without that variable",
          device);
    case ENOSPC:
      return format(
          "%s or its service has no resources left: end other programs or ask for a "
          "larger service",
          device);
    default:
      break;
  }
  return format("%s refused a job: %s", device, std::strerror(error));
}

}  // namespace examples
