// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// ibv_devices: the devices of this machine and their GUIDs.
#include "common/devices.hpp"

#include <endian.h>

#include <cinttypes>
#include <cstdio>

#include "common/text.hpp"

int main() {
  using namespace examples;
  const DeviceList list;
  if (list.error()) {
    std::fprintf(stderr, "%s\n", why_no_list(list.error()).c_str());
    return 1;
  }
  std::printf("    %-16s\t   node GUID\n", "device");
  std::printf("    %-16s\t----------------\n", "------");
  for (ibv_device* device : list.devices())
    std::printf("    %-16s\t%016" PRIx64 "\n", ibv_get_device_name(device),
                be64toh(ibv_get_device_guid(device)));
  if (list.devices().empty()) complain("%s", why_no_device().c_str());
  return output_written() ? 0 : 1;
}
