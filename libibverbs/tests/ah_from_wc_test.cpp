// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The sender's address from a completion and its header.
#include <arpa/inet.h>
#include <endian.h>
#include <gtest/gtest.h>

#include <vector>

#include "fake_kernel.hpp"

namespace {

struct Slot {
  ibv_gid gid;
  uint32_t type;
};

class AhFromWcTest : public testing::Test {
 protected:
  AhFromWcTest() {
    kernel.on(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, [this](const fake::Call& call) {
      auto index = call.at(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX).value<uint64_t>();
      if (index >= table.size()) return EINVAL;
      ibv_gid_entry entry{};
      entry.gid = table[index].gid;
      entry.gid_type = table[index].type;
      call.at(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY).answer(entry);
      return 0;
    });
    wc.wc_flags = IBV_WC_GRH;
    wc.slid = 4;
    wc.sl = 5;
    wc.dlid_path_bits = 6;
  }

  static ibv_gid gid_of(const char* text) {
    ibv_gid gid;
    EXPECT_EQ(inet_pton(AF_INET6, text, gid.raw), 1) << text;
    return gid;
  }

  // A right IPv4 header behind 20 bytes of nothing.
  void put_ipv4(const char* from, const char* to) {
    memset(&grh, 0, sizeof(grh));
    auto* header = reinterpret_cast<uint8_t*>(&grh) + 20;
    header[0] = 0x45;
    header[1] = 0x28;  // type of service
    header[8] = 61;    // time to live
    header[9] = 17;
    inet_pton(AF_INET, from, header + 12);
    inet_pton(AF_INET, to, header + 16);
    uint32_t sum = 0;
    for (int i = 0; i < 20; i += 2)
      sum += uint32_t{header[i]} << 8 | header[i + 1];
    while (sum >> 16)
      sum = (sum & 0xffff) + (sum >> 16);
    header[10] = static_cast<uint8_t>(~sum >> 8);
    header[11] = static_cast<uint8_t>(~sum);
  }

  int init() {
    errno = 0;
    return ibv_init_ah_from_wc(&device.context(), 1, &wc, &grh, &attr);
  }

  fake::Kernel kernel;
  fake::Device device;
  std::vector<Slot> table;
  ibv_wc wc{};
  ibv_grh grh{};
  ibv_ah_attr attr{};
};

TEST_F(AhFromWcTest, WithoutAHeaderTheLocalRouteIsEnough) {
  wc.wc_flags = 0;
  ASSERT_EQ(ibv_init_ah_from_wc(&device.context(), 2, &wc, nullptr, &attr), 0);
  EXPECT_EQ(attr.dlid, 4);
  EXPECT_EQ(attr.sl, 5);
  EXPECT_EQ(attr.src_path_bits, 6);
  EXPECT_EQ(attr.port_num, 2);
  EXPECT_EQ(attr.is_global, 0);
}

TEST_F(AhFromWcTest, AGrhGivesTheReverseRoute) {
  table = {{gid_of("fe80::1"), IBV_GID_TYPE_ROCE_V2}, {gid_of("fe80::1"), IBV_GID_TYPE_ROCE_V1}};
  grh.version_tclass_flow = htobe32(0x6a512345);
  grh.next_hdr = 0x1b;
  grh.hop_limit = 7;
  grh.sgid = gid_of("fe80::2");
  grh.dgid = gid_of("fe80::1");
  ASSERT_EQ(init(), 0);
  EXPECT_EQ(attr.is_global, 1);
  EXPECT_EQ(attr.grh.flow_label, 0x12345u);
  EXPECT_EQ(attr.grh.traffic_class, 0xa5);
  EXPECT_EQ(attr.grh.hop_limit, 7);
  EXPECT_EQ(attr.grh.sgid_index, 1);  // the one of the right type
  EXPECT_EQ(attr.grh.dgid.raw[15], 2);
  grh.next_hdr = 17;
  ASSERT_EQ(init(), 0);
  EXPECT_EQ(attr.grh.sgid_index, 0);
}

TEST_F(AhFromWcTest, AnIpv4HeaderIsFoundBehindNothing) {
  table = {{gid_of("fe80::1"), IBV_GID_TYPE_ROCE_V2},
           {gid_of("::ffff:10.0.0.1"), IBV_GID_TYPE_ROCE_V2}};
  put_ipv4("10.0.0.2", "10.0.0.1");
  ASSERT_EQ(init(), 0);
  EXPECT_EQ(attr.grh.sgid_index, 1);
  EXPECT_EQ(attr.grh.dgid.raw[15], 2);
  EXPECT_EQ(attr.grh.dgid.raw[11], 0xff);
  EXPECT_EQ(attr.grh.hop_limit, 61);
  EXPECT_EQ(attr.grh.traffic_class, 0x28);
}

TEST_F(AhFromWcTest, ARightIpv4HeaderCountsBeforeASixInFront) {
  table = {{gid_of("::ffff:10.0.0.1"), IBV_GID_TYPE_ROCE_V2}};
  put_ipv4("10.0.0.2", "10.0.0.1");
  grh.version_tclass_flow = htobe32(0x60000000);
  EXPECT_EQ(init(), 0);
  EXPECT_EQ(attr.grh.dgid.raw[15], 2);
  reinterpret_cast<uint8_t*>(&grh)[31] ^= 1;  // a wrong checksum: it is an IPv6 header after all
  EXPECT_EQ(init(), -1);
  EXPECT_EQ(errno, EPROTONOSUPPORT);
}

TEST_F(AhFromWcTest, MulticastIsNobodysAddress) {
  put_ipv4("10.0.0.2", "224.0.0.1");
  EXPECT_EQ(init(), -1);
  EXPECT_EQ(errno, EINVAL);
  grh = {};
  grh.version_tclass_flow = htobe32(0x60000000);
  grh.next_hdr = 17;
  grh.dgid = gid_of("ff02::1");
  EXPECT_EQ(init(), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(AhFromWcTest, AnAddressThatIsNotOursIsRefused) {
  table = {{gid_of("fe80::1"), IBV_GID_TYPE_ROCE_V2}};
  put_ipv4("10.0.0.2", "10.0.0.1");
  EXPECT_EQ(init(), -1);
  memset(&grh, 0, sizeof(grh));
  EXPECT_EQ(init(), -1);
  EXPECT_EQ(errno, EPROTONOSUPPORT);
}

}  // namespace
