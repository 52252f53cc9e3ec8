// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "../ru_rma/address.hpp"
#include "../ru_rma/options.hpp"
#include "parsed_options.hpp"

namespace {

using namespace ru_rma;
using testing::HasSubstr;

using Parsed = ParsedOptions<Options>;

Address address(std::uint32_t qpn, std::uint32_t job) {
  Address made;
  made.qpn = qpn;
  made.rkey = 0x8000000012345678;
  made.job_id = job;
  inet_pton(AF_INET6, "fe80::102:304", &made.gid);
  return made;
}

TEST(RmaOptions, HaveTheDefaultsOfTheManual) {
  const Parsed none({});
  EXPECT_EQ(none.status, std::nullopt);
  const Options& o = none.options;
  EXPECT_TRUE(o.is_server());
  EXPECT_EQ(o.port, 18515);
  EXPECT_EQ(o.size, 4096U);
  EXPECT_EQ(o.mtu, 1024U);
  EXPECT_EQ(o.rx_depth, 500U);
  EXPECT_EQ(o.iters, 100U);
  EXPECT_EQ(o.test, ru_rma::Test::rma_ex64);
  EXPECT_EQ(o.sges, 1U);
  EXPECT_EQ(o.gid_index, std::nullopt);
  EXPECT_EQ(o.job_id, std::nullopt);
  EXPECT_EQ(o.user_rkey, std::nullopt);
  EXPECT_FALSE(o.events || o.check || o.auto_qpn || o.derive || o.addr_table || o.job_mr ||
               o.absolute || o.write32 || o.read32);
}

TEST(RmaOptions, AreAllTaken) {
  const Parsed all({"-p", "1",   "-d",         "cxi1", "-i",
                    "2",  "-s",  "65536",      "-m",   "2048",
                    "-r", "7",   "-n",         "9",    "-e",
                    "-g", "3",   "-c",         "-t",   "rma_ex",
                    "-D", "-A",  "-J",         "-u",   "0x123456789abcdef",
                    "-b", "-j",  "77",         "-W",   "-R",
                    "-S", "8",   "--pidonfep", "4",    "--ri",
                    "5",  "host"});
  EXPECT_EQ(all.status, std::nullopt) << all.err;
  const Options& o = all.options;
  EXPECT_EQ(o.host, "host");
  EXPECT_EQ(o.port, 1);
  EXPECT_EQ(o.device, "cxi1");
  EXPECT_EQ(o.ib_port, 2U);
  EXPECT_EQ(o.size, 65536U);
  EXPECT_EQ(o.mtu, 2048U);
  EXPECT_EQ(o.rx_depth, 7U);
  EXPECT_EQ(o.iters, 9U);
  EXPECT_EQ(o.gid_index, 3U);
  EXPECT_EQ(o.test, ru_rma::Test::rma_ex);
  EXPECT_EQ(o.user_rkey, 0x123456789abcdefU);
  EXPECT_EQ(o.job_id, 77U);
  EXPECT_EQ(o.sges, 8U);
  EXPECT_EQ(o.pid_on_fep, 4U);
  EXPECT_EQ(o.ri, 5U);
  EXPECT_TRUE(o.events && o.check && o.derive && o.addr_table && o.job_mr && o.absolute &&
              o.write32 && o.read32);
}

struct Bad {
  std::vector<std::string> arguments;
  const char* said;
};

TEST(RmaOptions, BadOnesAreExplainedInOneLine) {
  const Bad all[] = {
      {{"-t", "send"}, "--test must be rma, rma_ex or rma_ex64, not send"},
      {{"-S", "9"}, "--sge must be a number from 1 to 8, not 9"},
      {{"-u", "key"}, "--user-rkey must be a number"},
      {{"-s", "3", "-S", "4"}, "--size must be at least --sge"},
      {{"-Q", "-b"}, "--auto-qpn lets the device choose"},
      {{"-Q", "--ri", "1"}, "--auto-qpn lets the device choose"},
      {{"-t", "rma", "-W"}, "need the builders"},
      {{"-t", "rma", "-R"}, "need the builders"},
      {{"-j", "4294967296"}, "--job-id must be a number"},
  };
  for (const Bad& bad : all) {
    const Parsed parsed(bad.arguments);
    EXPECT_EQ(parsed.status, 255);
    EXPECT_THAT(parsed.err, HasSubstr(bad.said));
    EXPECT_EQ(std::ranges::count(parsed.err, '\n'), 1) << parsed.err;
  }
}

TEST(RmaOptions, TheDeviceChoosesTheNumberOnSlingshotUnlessPartsAreGiven) {
  EXPECT_EQ(Parsed({}).options.qpn(true), std::nullopt);
  EXPECT_EQ(Parsed({}).options.qpn(false), 0xf00aU);
  EXPECT_EQ(Parsed({"-Q"}).options.qpn(false), std::nullopt);
  EXPECT_EQ(Parsed({"--ri", "3"}).options.qpn(true), 0x300aU);
}

TEST(RmaOptions, OnlyAnAbsoluteServerHasAnAbsoluteNumber) {
  EXPECT_EQ(Parsed({"-b"}).options.qpn(true), 0x8000f00aU);
  EXPECT_EQ(Parsed({"-b", "host"}).options.qpn(true), std::nullopt);
}

TEST(RmaAddress, TravelsAsFixedText) {
  const AddressText text = encode(address(0x8000f00a, 46));
  EXPECT_EQ(std::string(text.data()),
            "8000f00a:8000000012345678:0000002e:fe800000000000000000000001020304");
  const auto back = parse(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->qpn, 0x8000f00aU);
  EXPECT_EQ(back->rkey, 0x8000000012345678U);
  EXPECT_EQ(back->job_id, 46U);
  EXPECT_EQ(encode(*back), text);
}

TEST(RmaAddress, OtherTextIsRefused) {
  for (const std::string text :
       {"", "1:2:3", "1:2:3:4", "x:2:3:fe800000000000000000000001020304",
        "100000000:2:3:fe800000000000000000000001020304", "1:2:3:fe8000000000000000000000010203zz"})
    EXPECT_FALSE(parse(text)) << text;
}

TEST(RmaAddress, IsDescribedForPeople) {
  EXPECT_EQ(describe(address(0xf00a, 1)), "QPN 0x00f00a, GID fe80::102:304");
}

TEST(RmaAddress, SidesOfTwoJobsMeetAtAnAbsoluteServerOnly) {
  const auto relative = address(0xf00a, 1), absolute = address(0x8000f00a, 1);
  EXPECT_EQ(why_apart(relative, address(1, 1)), "");
  EXPECT_EQ(why_apart(absolute, address(1, 10)), "");
  EXPECT_THAT(why_apart(relative, address(1, 10)), HasSubstr("--absolute"));
}

}  // namespace
