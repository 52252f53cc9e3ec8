// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "options.hpp"

#include <gmock/gmock.h>

#include "refusal.hpp"

namespace launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Options parse(std::vector<const char*> words) {
  words.insert(words.begin(), "cxi_launcher");
  return parse_command_line(static_cast<int>(words.size()), words.data()).options;
}

std::string refusal(const std::function<void()>& attempt) {
  try {
    attempt();
  } catch (const Refusal& refused) {
    EXPECT_EQ(std::string(refused.what()).find('\n'), std::string::npos) << refused.what();
    return refused.what();
  }
  ADD_FAILURE() << "was not refused";
  return {};
}

TEST(CommandLine, HasEveryOption) {
  const Options options = parse({"--device",  "cxi0,cxi1",
                                 "--vni",     "1024-1031",
                                 "--tc",      "low_latency,best_effort",
                                 "--limit",   "txqs=16,eqs=max",
                                 "--limit",   "cts=0",
                                 "--user",    "nobody",
                                 "--group",   "7",
                                 "--keep-fd", "5",
                                 "--keep-fd", "3",
                                 "--",        "./app",
                                 "--vni",     "-x"});
  EXPECT_THAT(options.devices, ElementsAre("cxi0", "cxi1"));
  EXPECT_TRUE(options.vnis.range);
  EXPECT_THAT(options.vnis.list, ElementsAre(1024, 1031));
  EXPECT_EQ(options.tc_mask, 1u << CXIDV_TC_LOW_LATENCY | 1u << CXIDV_TC_BEST_EFFORT);
  EXPECT_EQ(options.limits[CXIDV_RSRC_TXQ].count, 16u);
  EXPECT_TRUE(options.limits[CXIDV_RSRC_EQ].all);
  EXPECT_TRUE(options.limits[CXIDV_RSRC_CT].named);
  EXPECT_FALSE(options.limits[CXIDV_RSRC_CT].all);
  EXPECT_FALSE(options.limits[CXIDV_RSRC_PTE].named);
  EXPECT_EQ(options.user, "nobody");
  EXPECT_EQ(options.group, "7");
  EXPECT_THAT(options.keep_fds, ElementsAre(5, 3));
  EXPECT_THAT(options.program, ElementsAre("./app", "--vni", "-x"));
}

TEST(CommandLine, BeginsTheProgramAtTheFirstWordThatIsNoOption) {
  const Options options =
      parse({"--device", "cxi0", "--vni", "5", "./app", "--tc", "x", "--", "y"});
  EXPECT_THAT(options.devices, ElementsAre("cxi0"));
  EXPECT_THAT(options.program, ElementsAre("./app", "--tc", "x", "--", "y"));
  EXPECT_EQ(options.tc_mask, 1u << CXIDV_TC_BEST_EFFORT);
}

TEST(CommandLine, SaysWhatIsMissingOrUnknown) {
  EXPECT_THAT(refusal([] { parse({"--vni", "5"}); }), HasSubstr("no program"));
  EXPECT_THAT(refusal([] { parse({"--vni", "5", "--"}); }), HasSubstr("no program"));
  EXPECT_THAT(refusal([] { parse({"--", "./app"}); }), HasSubstr("no VNI"));
  EXPECT_THAT(refusal([] { parse({"--vni"}); }), HasSubstr("--help"));
  EXPECT_THAT(refusal([] {
                parse({"--vni", "5", "--keep-fd", "x", "./app"});
              }),
              HasSubstr("--help"));
  EXPECT_THAT(refusal([] { parse({"--vnis", "5", "./app"}); }), HasSubstr("--vnis"));
}

TEST(CommandLine, ExplainsItself) {
  const char* words[] = {"cxi_launcher", "--help"};
  const ParsedLine line = parse_command_line(2, words);
  EXPECT_TRUE(line.options.program.empty());
  for (const char* option : {"--device", "--vni", "--tc", "--limit", "--user", "--group",
                             "--keep-fd", "Usage: cxi_launcher"})
    EXPECT_THAT(line.answer, HasSubstr(option));
}

TEST(Vnis, AreUpToFourOrAnAlignedRange) {
  EXPECT_THAT(parse_vnis("7").list, ElementsAre(7));
  EXPECT_THAT(parse_vnis("7,1,65535,9").list, ElementsAre(7, 1, 65535, 9));
  EXPECT_FALSE(parse_vnis("7,1").range);
  EXPECT_THAT(parse_vnis("32768-65535").list, ElementsAre(32768, 65535));
  EXPECT_THAT(parse_vnis("9-9").list, ElementsAre(9, 9));
}

TEST(Vnis, ThatCannotBeAreExplained) {
  for (const char* none : {"", "0", "65536", "x", "5,", ",5", "-5", "5-", " 5", "+5", "5-6-7"})
    EXPECT_THAT(refusal([none] { parse_vnis(none); }), HasSubstr("from 1 to 65535")) << none;
  EXPECT_THAT(refusal([] { parse_vnis("1,2,3,4,5"); }), HasSubstr("at most 4"));
  EXPECT_THAT(refusal([] { parse_vnis("5,6,5"); }), HasSubstr("twice"));
  for (const char* range : {"1024-1030", "1025-1032", "9-8", "1-2"})
    EXPECT_THAT(refusal([range] { parse_vnis(range); }), HasSubstr("power of two")) << range;
}

TEST(Classes, AreNamed) {
  EXPECT_EQ(parse_classes("dedicated_access,low_latency,bulk_data,best_effort"), 0xfu);
  EXPECT_EQ(parse_classes("bulk_data"), 1u << CXIDV_TC_BULK_DATA);
  EXPECT_THAT(refusal([] { parse_classes("fast"); }),
              HasSubstr("there are dedicated_access, low_latency, bulk_data, best_effort"));
  EXPECT_THAT(refusal([] { parse_classes(""); }), HasSubstr("traffic class"));
}

TEST(ResourceLimits, ThatCannotBeAreExplained) {
  const auto attempt = [](const char* text) {
    return refusal([text] {
      Limits limits = {};
      parse_limits(text, limits);
    });
  };
  EXPECT_THAT(attempt("queues=1"),
              HasSubstr("there are ptes, txqs, tgqs, eqs, cts, les, tles, acs"));
  for (const char* text : {"txqs", "txqs=", "txqs=-1", "txqs=1x", "txqs=4294967296", "txqs=all"})
    EXPECT_THAT(attempt(text), HasSubstr("txqs=NUMBER or txqs=max")) << text;
  EXPECT_THAT(attempt("txqs=1,eqs=2,txqs=3"), HasSubstr("txqs is named twice"));
}

}  // namespace
}  // namespace launcher
