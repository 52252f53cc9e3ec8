// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The address of the sender of a datagram, from its completion and the header in front of its data.
#include <endian.h>
#include <infiniband/driver.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "error.hpp"
#include "export.hpp"

namespace verbs {
namespace {

// The header is 40 bytes: a GRH or an IPv6 header, or 20 bytes of nothing and an IPv4 header.
constexpr size_t ipv4_offset = 20;
constexpr uint8_t next_header_ib = 0x1b;

struct Ipv4Header {
  uint8_t version_and_length;
  uint8_t tos;
  uint8_t unused[6];
  uint8_t ttl;
  uint8_t protocol;
  uint8_t checksum[2];
  uint8_t source[4];
  uint8_t destination[4];
};
static_assert(sizeof(Ipv4Header) == 20);

Ipv4Header ipv4_of(const ibv_grh& grh) {
  Ipv4Header header;
  memcpy(&header, reinterpret_cast<const uint8_t*>(&grh) + ipv4_offset, sizeof(header));
  return header;
}

// The ones' complement sum of a header with a right checksum is all ones.
bool checksum_is_right(const Ipv4Header& header) {
  std::array<uint8_t, sizeof(header)> bytes;
  memcpy(bytes.data(), &header, sizeof(header));
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes.size(); i += 2)
    sum += uint32_t{bytes[i]} << 8 | bytes[i + 1];
  while (sum >> 16)
    sum = (sum & 0xffff) + (sum >> 16);
  return sum == 0xffff;
}

// 4 or 6; 0 for something else. The bytes in front of an IPv4 header may look like anything, so a
// header that is a right IPv4 one is taken for that first.
int ip_version(const ibv_grh& grh) {
  const Ipv4Header ipv4 = ipv4_of(grh);
  int version = static_cast<int>(be32toh(grh.version_tclass_flow) >> 28);
  if (version != 6) return ipv4.version_and_length >> 4 == 4 ? 4 : 0;
  return ipv4.version_and_length == 0x45 && checksum_is_right(ipv4) ? 4 : 6;
}

ibv_gid map_ipv4(const uint8_t (&address)[4]) {
  ibv_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  std::ranges::copy(address, gid.raw + 12);
  return gid;
}

// The slot of the port's table with this GID and type.
std::optional<uint8_t> find_gid(ibv_context& context, uint8_t port, const ibv_gid& wanted,
                                ibv_gid_type_sysfs wanted_type) {
  for (int index = 0;; index++) {
    ibv_gid gid;
    ibv_gid_type_sysfs type;
    if (ibv_query_gid(&context, port, index, &gid)) return {};
    if (memcmp(&gid, &wanted, sizeof(gid)) != 0) continue;
    if (ibv_query_gid_type(&context, port, static_cast<unsigned>(index), &type)) return {};
    if (type == wanted_type) return static_cast<uint8_t>(index);
  }
}

int address_from_ipv4(ibv_context& context, uint8_t port, const ibv_grh& grh, ibv_ah_attr& attr) {
  const Ipv4Header header = ipv4_of(grh);
  if (header.destination[0] >> 4 == 0xe) return minus_one(EINVAL);  // multicast is no one's address
  auto index = find_gid(context, port, map_ipv4(header.destination), IBV_GID_TYPE_SYSFS_ROCE_V2);
  if (!index) return -1;
  attr.grh.dgid = map_ipv4(header.source);
  attr.grh.sgid_index = *index;
  attr.grh.hop_limit = header.ttl;
  attr.grh.traffic_class = header.tos;
  return 0;
}

int address_from_grh(ibv_context& context, uint8_t port, const ibv_grh& grh, ibv_ah_attr& attr) {
  ibv_gid_type_sysfs type;
  if (grh.dgid.raw[0] == 0xff) return minus_one(EINVAL);
  if (grh.next_hdr == IPPROTO_UDP)
    type = IBV_GID_TYPE_SYSFS_ROCE_V2;
  else if (grh.next_hdr == next_header_ib)
    type = IBV_GID_TYPE_SYSFS_IB_ROCE_V1;
  else
    return minus_one(EPROTONOSUPPORT);
  auto index = find_gid(context, port, grh.dgid, type);
  if (!index) return -1;
  attr.grh.dgid = grh.sgid;
  attr.grh.sgid_index = *index;
  attr.grh.hop_limit = grh.hop_limit;
  attr.grh.traffic_class = static_cast<uint8_t>(be32toh(grh.version_tclass_flow) >> 20);
  return 0;
}

}  // namespace
}  // namespace verbs

using namespace verbs;

// 0, or -1 with errno.
VERBS_EXPORT int ibv_init_ah_from_wc(ibv_context* context, uint8_t port, ibv_wc* wc, ibv_grh* grh,
                                     ibv_ah_attr* attr) {
  memset(attr, 0, sizeof(*attr));
  attr->dlid = wc->slid;
  attr->sl = wc->sl;
  attr->src_path_bits = wc->dlid_path_bits;
  attr->port_num = port;
  if (!(wc->wc_flags & IBV_WC_GRH)) return 0;
  attr->is_global = 1;
  attr->grh.flow_label = be32toh(grh->version_tclass_flow) & IB_GRH_FLOWLABEL_MASK;
  switch (ip_version(*grh)) {
    case 4:
      return address_from_ipv4(*context, port, *grh, *attr);
    case 6:
      return address_from_grh(*context, port, *grh, *attr);
    default:
      return minus_one(EPROTONOSUPPORT);
  }
}

VERBS_EXPORT ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, uint8_t port) {
  ibv_ah_attr attr;
  if (ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr)) return nullptr;
  return ibv_create_ah(pd, &attr);
}
