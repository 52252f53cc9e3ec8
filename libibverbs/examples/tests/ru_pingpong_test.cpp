// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "../ru_pingpong/address.hpp"
#include "../ru_pingpong/options.hpp"
#include "../ru_pingpong/report.hpp"
#include "parsed_options.hpp"

namespace {

using namespace ru_pingpong;
using testing::HasSubstr;
using testing::StartsWith;

using Parsed = ParsedOptions<Options>;

TEST(Options, HaveTheDefaultsOfTheManual) {
  const Parsed none({});
  EXPECT_EQ(none.status, std::nullopt);
  const Options& o = none.options;
  EXPECT_TRUE(o.is_server());
  EXPECT_EQ(o.port, 18515);
  EXPECT_EQ(o.device, "");
  EXPECT_EQ(o.ib_port, 1U);
  EXPECT_EQ(o.size, 4096U);
  EXPECT_EQ(o.rx_depth, 500U);
  EXPECT_EQ(o.iters, 1000U);
  EXPECT_EQ(o.gid_index, std::nullopt);
  EXPECT_EQ(o.imm, 0U);
  EXPECT_EQ(o.sges, 1U);
  EXPECT_EQ(o.yield, std::nullopt);
  EXPECT_FALSE(o.events || o.check || o.builders || o.auto_qpn || o.lkey32);
}

TEST(Options, AreAllTaken) {
  const Parsed all({"-p",    "1",  "-d",         "cxi1", "-i",     "2",           "-s",
                    "65536", "-m", "2048",       "-r",   "7",      "-n",          "9",
                    "-e",    "-g", "3",          "-c",   "-N",     "-Q",          "-S",
                    "8",     "-L", "--pidonfep", "4",    "--ri=5", "--yield=off", "server"});
  EXPECT_EQ(all.status, std::nullopt) << all.err;
  const Options& o = all.options;
  EXPECT_EQ(o.host, "server");
  EXPECT_EQ(o.port, 1);
  EXPECT_EQ(o.device, "cxi1");
  EXPECT_EQ(o.ib_port, 2U);
  EXPECT_EQ(o.size, 65536U);
  EXPECT_EQ(o.mtu, 2048U);
  EXPECT_EQ(o.rx_depth, 7U);
  EXPECT_EQ(o.iters, 9U);
  EXPECT_EQ(o.gid_index, 3U);
  EXPECT_EQ(o.sges, 8U);
  EXPECT_EQ(o.pid_on_fep, 4U);
  EXPECT_EQ(o.ri, 5U);
  EXPECT_EQ(o.yield, false);
  EXPECT_TRUE(o.events && o.check && o.builders && o.auto_qpn && o.lkey32);
}

TEST(Options, ImmediateDataImpliesBuilders) {
  const Parsed imm({"--imm", "64"});
  EXPECT_EQ(imm.options.imm, 64U);
  EXPECT_TRUE(imm.options.builders);
  EXPECT_EQ(Parsed({"-I", "32"}).options.imm, 32U);
}

TEST(Options, BadValuesAreExplainedAndEndTheProgram) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"-p", "65536"}, "--port must be a number from 1 to 65535, not 65536"},
      {{"-i", "0"}, "--ib-port must be a number"},
      {{"-s", "0"}, "--size must be a number"},
      {{"-s", "4k"}, "--size must be a number"},
      {{"-m", "1000"}, "--mtu must be 256, 512"},
      {{"-m", "8192"}, "--mtu must be 256, 512"},
      {{"-n", "-5"}, "--iters must be a number"},
      {{"-g", "x"}, "--gid-idx must be a number"},
      {{"-I", "16"}, "--imm must be 32 or 64"},
      {{"-S", "9"}, "--sge must be a number from 1 to 8"},
      {{"-S", "8", "-s", "7"}, "--size must be at least --sge"},
      {{"--ri", "4096"}, "--ri must be a number from 0 to 4095"},
      {{"--yield", "maybe"}, "--yield must be on, off or auto"},
      {{"one", "two"}, "one host at most"},
  };
  for (const auto& [arguments, text] : cases) {
    const Parsed bad(arguments);
    EXPECT_EQ(bad.status, 1) << text;
    EXPECT_THAT(bad.err, HasSubstr(text));
    EXPECT_EQ(std::ranges::count(bad.err, '\n'), 1) << bad.err;
  }
}

TEST(Options, UnknownOnesShowTheUsage) {
  const Parsed unknown({"--frobnicate"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.out, StartsWith("Usage:"));
  const Parsed help({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.out, unknown.out);
  EXPECT_EQ(help.err, "");
}

TEST(Qpn, IsTheDevicesChoiceOnSlingshotUnlessGiven) {
  Options options;
  EXPECT_EQ(options.qpn(true), std::nullopt);
  EXPECT_EQ(options.qpn(false), 0x00f00aU);
  options.ri = 2;
  EXPECT_EQ(options.qpn(true), 0x00200aU);
  options.pid_on_fep = 0;
  EXPECT_EQ(options.qpn(true), 0x002000U);
  options.auto_qpn = true;
  EXPECT_EQ(options.qpn(true), std::nullopt);
  EXPECT_EQ(options.qpn(false), std::nullopt);
}

Address some_address() {
  Address address{0x1a2b, 0x00f00a, 0xabcdef, {}};
  inet_pton(AF_INET6, "fe80::2:3", address.gid.raw);
  return address;
}

TEST(AddressText, IsWhatGoesOverTheWire) {
  const AddressText text = encode(some_address());
  EXPECT_EQ(text.size(), 57U);
  EXPECT_STREQ(text.data(), "1a2b:00f00a:abcdef:fe800000000000000000000000020003");
}

TEST(AddressText, IsReadBack) {
  for (const std::uint32_t qpn : {0U, 0x00f00aU, 0x80fff1feU}) {
    Address address = some_address();
    address.qpn = qpn;
    const auto read = parse(encode(address));
    ASSERT_TRUE(read) << qpn;
    EXPECT_EQ(read->lid, address.lid);
    EXPECT_EQ(read->qpn, qpn);
    EXPECT_EQ(read->psn, address.psn);
    EXPECT_EQ(std::memcmp(read->gid.raw, address.gid.raw, 16), 0);
  }
}

TEST(AddressText, ThatIsNoneIsRefused) {
  const char* gid = "fe800000000000000000000000020003";
  for (const std::string& text :
       {std::string(), std::string("GET / HTTP/1.1"), std::string("0:1:2:"),
        std::string("0:1:") + gid, std::string("0:1:2:3:") + gid, std::string("0::2:") + gid,
        std::string("0:1:2:") + gid + "0", std::string("0:1:2:g") + (gid + 1),
        std::string("0:1ffffffff:2:") + gid})
    EXPECT_FALSE(parse(text)) << text;
}

TEST(AddressText, WithoutAnEndIsReadNoFurtherThanItGoes) {
  const std::vector<char> full(57, '1');
  EXPECT_FALSE(parse(full));
}

TEST(AddressText, ForPeopleHasFixedWidths) {
  EXPECT_EQ(describe(some_address()), "LID 0x1a2b, QPN 0x00f00a, PSN 0xabcdef, GID fe80::2:3");
}

TEST(Figures, AreConsistent) {
  // 1000 exchanges of 4096 bytes each way in 10 ms: 10 us per exchange, 5 us one way.
  EXPECT_EQ(figures(4096, 1000, 10000.0),
            "8192000 bytes in 0.01 seconds = 6553.60 Mbit/sec\n"
            "1000 iters in 0.01 seconds = 10.00 usec/iter\n"
            "4096-byte messages, 1000 iterations: half round trip 5.00 usec, "
            "bandwidth 819.20 MB/sec\n");
}

TEST(Figures, DoNotOverflow) {
  EXPECT_THAT(figures(1U << 30, 1U << 20, 1e6), StartsWith("2251799813685248 bytes in 1.00"));
}

TEST(CheckPages, NamesThePagesThatDiffer) {
  std::vector<char> buffer(3 * 16 + 1, 0x7c);
  for (const std::size_t at : {0, 16, 32, 48})
    buffer[at] = 0;
  EXPECT_EQ(check_pages(buffer, 16), "");
  buffer[16] = buffer[48] = 1;
  EXPECT_EQ(check_pages(buffer, 16), "invalid data in page 1\ninvalid data in page 3\n");
}

}  // namespace
