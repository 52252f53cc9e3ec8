// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Ethernet addresses that can be told from IP addresses.
#include "../neighbour.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

using namespace verbs;

namespace {

ibv_gid gid_of(const char* text) {
  ibv_gid gid;
  EXPECT_EQ(inet_pton(AF_INET6, text, gid.raw), 1) << text;
  return gid;
}

std::optional<Mac> mac_of(const char* text) {
  return mac_in_address(address_of_gid(gid_of(text)));
}

TEST(AddressOfGidTest, MappedAddressesAreIpv4) {
  const IpAddress address = address_of_gid(gid_of("::ffff:10.1.2.3"));
  EXPECT_EQ(address.family, AF_INET);
  EXPECT_EQ(address.bytes[0], 10);
  EXPECT_EQ(address.bytes[3], 3);
  EXPECT_EQ(address_of_gid(gid_of("ff0e::ffff:224.1.2.3")).family, AF_INET);
  EXPECT_EQ(address_of_gid(gid_of("::10.1.2.3")).family, AF_INET6);
  EXPECT_EQ(address_of_gid(gid_of("fe80::1")).family, AF_INET6);
}

TEST(MacInAddressTest, MulticastAddressesHaveOne) {
  EXPECT_EQ(mac_of("ff0e::ffff:239.129.2.3"), (Mac{0x01, 0x00, 0x5e, 0x01, 2, 3}));
  EXPECT_EQ(mac_of("ff02::1:ff02:304"), (Mac{0x33, 0x33, 0xff, 0x02, 0x03, 0x04}));
}

TEST(MacInAddressTest, LinkLocalAddressesHaveOne) {
  EXPECT_EQ(mac_of("fe80::0200:00ff:fe12:3456"), (Mac{0x00, 0x00, 0x00, 0x12, 0x34, 0x56}));
}

TEST(MacInAddressTest, OthersHaveNone) {
  EXPECT_EQ(mac_of("::ffff:10.1.2.3"), std::nullopt);
  EXPECT_EQ(mac_of("2001:db8::1"), std::nullopt);
  EXPECT_EQ(mac_of("fe80:0:0:1::1"), std::nullopt);
}

TEST(ResolvePeerTest, ASourceThatNobodyHasIsRefused) {
  Peer peer;
  EXPECT_EQ(resolve_peer(address_of_gid(gid_of("2001:db8::77")),
                         address_of_gid(gid_of("2001:db8::78")), peer),
            -EINVAL);
}

}  // namespace
