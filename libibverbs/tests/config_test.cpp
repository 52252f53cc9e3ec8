// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "../discovery/config.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "temp_tree.hpp"

using namespace verbs;

namespace {

class ConfigTest : public testing::Test {
 protected:
  ~ConfigTest() override { free_names(names); }

  std::vector<std::string> read(std::string text) {
    FILE* file = fmemopen(text.data(), text.size(), "r");
    testing::internal::CaptureStderr();
    EXPECT_EQ(read_config(file, "test.driver", names), 0);
    warnings = testing::internal::GetCapturedStderr();
    fclose(file);
    return take();
  }

  std::vector<std::string> take() {
    std::vector<std::string> taken(names.begin(), names.end());
    free_names(names);
    return taken;
  }

  Names names;
  std::string warnings;
};

using Strings = std::vector<std::string>;

TEST_F(ConfigTest, DriversAreNamedOneALine) {
  EXPECT_EQ(read("driver cxiverbs\ndriver /opt/lib/other\n"),
            (Strings{"cxiverbs", "/opt/lib/other"}));
  EXPECT_EQ(warnings, "");
}

TEST_F(ConfigTest, BlanksAndCommentsDoNotCount) {
  EXPECT_EQ(read("\n  \t\n# driver no\n \t# driver no\n\t driver \t yes \t more text\ndriver last"),
            (Strings{"yes", "last"}));
  EXPECT_EQ(warnings, "");
}

TEST_F(ConfigTest, NonsenseIsReportedAndSkipped) {
  EXPECT_EQ(read("drivers x\ndriver\nload y\ndriver \ndriver ok\n"), Strings{"ok"});
  EXPECT_NE(warnings.find("'drivers' in file 'test.driver'"), std::string::npos);
  EXPECT_NE(warnings.find("'driver' in file"), std::string::npos);
  EXPECT_NE(warnings.find("'load' in file"), std::string::npos);
}

TEST_F(ConfigTest, AVeryLongLineIsALine) {
  const std::string name(100000, 'n');
  EXPECT_EQ(read("driver " + name + "\n"), Strings{name});
}

TEST_F(ConfigTest, EveryRegularFileOfAFolderIsRead) {
  TempTree tree;
  tree.put("a.driver", "driver a\n");
  tree.put("b.conf", "driver b\n");
  tree.folder("c");
  ASSERT_EQ(mkfifo(tree.path("d").c_str(), 0600), 0);
  EXPECT_EQ(read_config_folder(tree.path().c_str(), names), 0);
  Strings found = take();
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (Strings{"a", "b"}));
}

TEST_F(ConfigTest, AMissingFolderIsOnlyReported) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(read_config_folder("/nonexistent/libibverbs.d", names), 0);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("/nonexistent/libibverbs.d"),
            std::string::npos);
  EXPECT_TRUE(names.empty());
}

TEST_F(ConfigTest, ListsAreSplitAtColonsAndSemicolons) {
  EXPECT_EQ(split_names("a:b;/c/d::;e", names), 0);
  EXPECT_EQ(take(), (Strings{"a", "b", "/c/d", "e"}));
  EXPECT_EQ(split_names("", names), 0);
  EXPECT_TRUE(names.empty());
}

}  // namespace
