// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What rdma/cxiverbs-native-abi.h and -device-abi.h say of a method's attributes is what the table has.
#include <gtest/gtest.h>
#include <rdma/cxiverbs-abi.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "uverbs/schema.hpp"

namespace sim::uverbs::test {
namespace {

std::string header_text() {
  std::ostringstream text;
  for (const char* name : {"cxiverbs-native-abi.h", "cxiverbs-device-abi.h"})
    text << std::ifstream(std::string(CXI_ABI_HEADERS) + name).rdbuf();
  return text.str();
}

// Method, as "EQ_CREATE", to what its paragraph says before its errors.
std::map<std::string, std::string> paragraphs() {
  std::map<std::string, std::string> found;
  const std::regex section(R"(^ \* ([A-Z]+): .*)"), method(R"(^ \* ([A-Z_]+) +(\S.*))"),
      more(R"(^ \*  +(\S.*))"), error(R"(^ \*  +E[A-Z0-9]+ .*)");
  std::string object, name;
  std::istringstream lines(header_text());
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, section)) {
      object = match[1];
      name.clear();
    } else if (!object.empty() && std::regex_match(line, match, method)) {
      name = object + "_" + match[1].str();
      found[name] = match[2];
    } else if (std::regex_match(line, error)) {
      name.clear();
    } else if (!name.empty() && std::regex_match(line, match, more)) {
      found[name] += " " + match[1].str();
    }
  }
  return found;
}

std::string name_of(const Method& method, uint16_t attribute) {
  if (method.object == CXI_OBJECT_EQ && method.id == CXI_METHOD_EQ_NOTIFY_AT)
    return attribute == CXI_ATTR_EQ_NOTIFY_AT_HANDLE ? "EQ_NOTIFY_AT_HANDLE" : "EQ_NOTIFY_AT_NS";
  static const std::map<uint16_t, std::string> names = {{CXI_ATTR_HANDLE, "HANDLE"},
                                                        {CXI_ATTR_LNI_HANDLE, "LNI_HANDLE"},
                                                        {CXI_ATTR_EQ_HANDLE, "EQ_HANDLE"},
                                                        {CXI_ATTR_CP_HANDLE, "CP_HANDLE"},
                                                        {CXI_ATTR_REQ, "REQ"},
                                                        {CXI_ATTR_DOMAIN_HANDLE, "DOMAIN_HANDLE"},
                                                        {CXI_ATTR_CHANNEL_FD, "CHANNEL_FD"},
                                                        {CXI_ATTR_RESP, "RESP"}};
  return names.at(attribute);
}

TEST(AbiText, NamesEveryAttributeOfEveryMethodAndItsNeed) {
  auto texts = paragraphs();
  std::set<std::string> in_table, in_text;
  for (const Method& method : methods()) {
    if (method.object < CXI_OBJECT_SVC) continue;
    SCOPED_TRACE(method.name);
    ASSERT_TRUE(texts.contains(method.name));
    std::string text = texts[method.name];
    // Two methods refer to the one before them.
    if (text.starts_with("the same attributes"))
      text = texts[method.object == CXI_OBJECT_PTE ? "PTE_MAP" : "CT_SET"];
    std::set<std::string> said, wanted;
    const std::regex attribute(R"(\b([A-Z_]+)([*?]))");
    for (std::sregex_iterator at(text.begin(), text.end(), attribute), end; at != end; ++at)
      said.insert(at->str());
    for (const AttrRule& rule : method.attrs)
      wanted.insert(name_of(method, rule.id) + (rule.required ? "*" : "?"));
    EXPECT_EQ(said, wanted);
    const bool makes =
        std::ranges::find(method.attrs, Kind::new_object, &AttrRule::kind) != method.attrs.end();
    EXPECT_EQ(text.find("(new)") != std::string::npos, makes);
    in_table.insert(method.name);
  }
  for (const auto& [name, text] : texts)
    in_text.insert(name);
  EXPECT_EQ(in_text, in_table);
}

}  // namespace
}  // namespace sim::uverbs::test
