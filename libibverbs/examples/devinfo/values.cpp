// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "values.hpp"

#include <arpa/inet.h>
#include <endian.h>

#include <algorithm>
#include <span>

#include "../common/text.hpp"

namespace devinfo {

using examples::append;
using examples::format;

const char* transport_text(enum ibv_transport_type transport) {
  switch (transport) {
    case IBV_TRANSPORT_IB:
      return "InfiniBand";
    case IBV_TRANSPORT_IWARP:
      return "iWARP";
    case IBV_TRANSPORT_USNIC:
      return "usNIC";
    case IBV_TRANSPORT_USNIC_UDP:
      return "usNIC UDP";
    case IBV_TRANSPORT_UNSPECIFIED:
      return "unspecified";
    case IBV_TRANSPORT_SLINGSHOT:
      return "Slingshot";
    default:
      return "invalid transport";
  }
}

const char* port_state_text(enum ibv_port_state state) {
  switch (state) {
    case IBV_PORT_DOWN:
      return "PORT_DOWN";
    case IBV_PORT_INIT:
      return "PORT_INIT";
    case IBV_PORT_ARMED:
      return "PORT_ARMED";
    case IBV_PORT_ACTIVE:
      return "PORT_ACTIVE";
    default:
      return "invalid state";
  }
}

const char* phys_state_text(std::uint8_t state) {
  switch (state) {
    case 1:
      return "SLEEP";
    case 2:
      return "POLLING";
    case 3:
      return "DISABLED";
    case 4:
      return "PORT_CONFIGURATION TRAINNING";  // spelled like this wherever scripts look for it
    case 5:
      return "LINK_UP";
    case 6:
      return "LINK_ERROR_RECOVERY";
    case 7:
      return "PHY TEST";
    default:
      return "invalid physical state";
  }
}

const char* atomic_cap_text(enum ibv_atomic_cap cap) {
  switch (cap) {
    case IBV_ATOMIC_NONE:
      return "ATOMIC_NONE";
    case IBV_ATOMIC_HCA:
      return "ATOMIC_HCA";
    case IBV_ATOMIC_GLOB:
      return "ATOMIC_GLOB";
    default:
      return "invalid atomic capability";
  }
}

const char* mtu_text(enum ibv_mtu mtu) {
  switch (mtu) {
    case IBV_MTU_256:
      return "256";
    case IBV_MTU_512:
      return "512";
    case IBV_MTU_1024:
      return "1024";
    case IBV_MTU_2048:
      return "2048";
    case IBV_MTU_4096:
      return "4096";
    default:
      return "invalid MTU";
  }
}

const char* width_text(std::uint8_t width) {
  switch (width) {
    case 1:
      return "1";
    case 2:
      return "4";
    case 4:
      return "8";
    case 8:
      return "12";
    case 16:
      return "2";
    default:
      return "invalid width";
  }
}

const char* speed_text(std::uint32_t speed) {
  switch (speed) {
    case 1:
      return "2.5 Gbps";
    case 2:
      return "5.0 Gbps";
    case 4:
    case 8:
      return "10.0 Gbps";
    case 16:
      return "14.0 Gbps";
    case 32:
      return "25.0 Gbps";
    case 64:
      return "50.0 Gbps";
    case 128:
      return "100.0 Gbps";
    case 256:
      return "200.0 Gbps";
    default:
      return "invalid speed";
  }
}

const char* vl_text(std::uint8_t vl_num) {
  switch (vl_num) {
    case 1:
      return "1";
    case 2:
      return "2";
    case 3:
      return "4";
    case 4:
      return "8";
    case 5:
      return "15";
    default:
      return "invalid value";
  }
}

const char* link_layer_text(std::uint8_t link_layer) {
  switch (link_layer) {
    case IBV_LINK_LAYER_UNSPECIFIED:
      return "Unspecified";
    case IBV_LINK_LAYER_INFINIBAND:
      return "InfiniBand";
    case IBV_LINK_LAYER_ETHERNET:
      return "Ethernet";
    default:
      return "Unknown";
  }
}

std::string guid_text(__be64 guid) {
  const std::uint64_t value = be64toh(guid);
  const auto group = [value](unsigned shift) {
    return static_cast<unsigned>(value >> shift & 0xffff);
  };
  return format("%04x:%04x:%04x:%04x", group(48), group(32), group(16), group(0));
}

namespace {

std::string in_groups(const ibv_gid& gid) {
  std::string text;
  for (unsigned i = 0; i < sizeof(gid.raw); i += 2)
    append(text, "%s%02x%02x", i ? ":" : "", gid.raw[i], gid.raw[i + 1]);
  return text;
}

std::string as_internet_address(const ibv_gid& gid) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, gid.raw, text, sizeof(text));
  return text;
}

}  // namespace

std::string gid_text(const ibv_gid_entry& entry, std::uint8_t link_layer) {
  const std::span interface_part(entry.gid.raw + 8, 8);
  if (std::ranges::all_of(interface_part, [](std::uint8_t byte) { return byte == 0; })) return {};
  const bool ethernet = link_layer == IBV_LINK_LAYER_ETHERNET;
  switch (entry.gid_type) {
    case IBV_GID_TYPE_IB:
    case IBV_GID_TYPE_ROCE_V1:
      return in_groups(entry.gid) + (ethernet ? ", RoCE v1" : "");
    case IBV_GID_TYPE_ROCE_V2:
      return as_internet_address(entry.gid) + (ethernet ? ", RoCE v2" : "");
    case IBV_GID_TYPE_UET_UDP:
      return as_internet_address(entry.gid) + ", UET UDP";
    case IBV_GID_TYPE_UET_IP:
      return as_internet_address(entry.gid) + ", UET IP";
    case IBV_GID_TYPE_UET_UFH:
      return as_internet_address(entry.gid) + ", UET UFH";
    case IBV_GID_TYPE_SLINGSHOT:
      return as_internet_address(entry.gid) + ", Slingshot";
    default:
      return {};
  }
}

}  // namespace devinfo
