// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// How ibv_devinfo writes single values.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>

namespace devinfo {

const char* transport_text(enum ibv_transport_type transport);
const char* port_state_text(enum ibv_port_state state);
const char* phys_state_text(std::uint8_t state);
const char* atomic_cap_text(enum ibv_atomic_cap cap);
const char* mtu_text(enum ibv_mtu mtu);
const char* width_text(std::uint8_t width);
const char* speed_text(std::uint32_t speed);
const char* vl_text(std::uint8_t vl_num);
const char* link_layer_text(std::uint8_t link_layer);

/// xxxx:xxxx:xxxx:xxxx
std::string guid_text(__be64 guid);

/// A GID with its type, as it stands behind the index; empty for what is not to be shown: a GID
/// without an interface part, or of an unknown type.
std::string gid_text(const ibv_gid_entry& entry, std::uint8_t link_layer);

}  // namespace devinfo
