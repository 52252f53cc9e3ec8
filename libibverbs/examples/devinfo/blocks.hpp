// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The blocks that ibv_devinfo prints. The text is made from values that were queried before, so
// that it can be compared without a device.
#pragma once

#include <infiniband/verbs.h>

#include <optional>
#include <string>
#include <vector>

namespace devinfo {

/// What is known of a device.
struct DeviceFacts {
  std::string name;
  enum ibv_transport_type transport = IBV_TRANSPORT_UNKNOWN;
  std::string board_id;  ///< empty: not known
  ibv_device_attr_ex attr{};
  std::optional<ibv_comp_cntr_caps> comp_cntr;
  int num_comp_vectors = 0;
};

/// What is known of a port.
struct PortFacts {
  unsigned number = 0;
  ibv_port_attr attr{};
  std::optional<std::uint64_t> speed;  ///< in 100 Mb/s
  std::vector<ibv_gid_entry> gids;
};

std::string device_block(const DeviceFacts& device, bool verbose);

/// With the empty line behind it.
std::string port_block(const PortFacts& port, enum ibv_transport_type transport, bool verbose);

}  // namespace devinfo
