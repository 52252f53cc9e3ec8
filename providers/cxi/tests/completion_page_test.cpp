// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What cxiverbs(7) says of return codes is what the code does: the list is made from the one table
// and compared with the page.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "completion_table.hpp"
#include "ethernet/cassini_user_defs.h"

namespace cxi {
namespace {

constexpr unsigned codes = 64;

const std::map<unsigned, std::string> code_names = {
    {C_RC_UNDELIVERABLE, "UNDELIVERABLE"},
    {C_RC_PT_DISABLED, "PT_DISABLED"},
    {C_RC_OP_VIOLATION, "OP_VIOLATION"},
    {C_RC_NO_SPACE, "NO_SPACE"},
    {C_RC_ENTRY_NOT_FOUND, "ENTRY_NOT_FOUND"},
    {C_RC_VNI_NOT_FOUND, "VNI_NOT_FOUND"},
    {C_RC_PTLTE_NOT_FOUND, "PTLTE_NOT_FOUND"},
    {C_RC_MST_CANCELLED, "MST_CANCELLED"},
    {C_RC_INVALID_AC, "INVALID_AC"},
    {C_RC_PAGE_PERM_ERROR, "PAGE_PERM_ERROR"},
    {C_RC_NO_TRANSLATION, "NO_TRANSLATION"},
    {C_RC_AMO_INVAL_OP_ERROR, "AMO_INVAL_OP_ERROR"},
    {C_RC_AMO_ALIGN_ERROR, "AMO_ALIGN_ERROR"},
    {C_RC_AMO_FP_INVALID, "AMO_FP_INVALID"},
    {C_RC_AMO_FP_UNDERFLOW, "AMO_FP_UNDERFLOW"},
    {C_RC_AMO_FP_OVERFLOW, "AMO_FP_OVERFLOW"},
    {C_RC_AMO_FP_INEXACT, "AMO_FP_INEXACT"},
    {C_RC_ADDR_OUT_OF_RANGE, "ADDR_OUT_OF_RANGE"},
    {C_RC_CONN_CLOSED, "CONN_CLOSED"},
    {C_RC_CANCELED, "CANCELED"},
    {C_RC_AMO_LENGTH_ERROR, "AMO_LENGTH_ERROR"},
};

std::string name_of(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_LOC_PROT_ERR:
      return "IBV_WC_LOC_PROT_ERR";
    case IBV_WC_REM_INV_REQ_ERR:
      return "IBV_WC_REM_INV_REQ_ERR";
    case IBV_WC_REM_ACCESS_ERR:
      return "IBV_WC_REM_ACCESS_ERR";
    case IBV_WC_REM_OP_ERR:
      return "IBV_WC_REM_OP_ERR";
    case IBV_WC_RETRY_EXC_ERR:
      return "IBV_WC_RETRY_EXC_ERR";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "IBV_WC_RNR_RETRY_EXC_ERR";
    default:
      return "status " + std::to_string(status);
  }
}

std::string describe(const Outcome& outcome) {
  const std::string status = "**" + name_of(outcome.status) + "**";
  switch (outcome.verdict) {
    case Verdict::rnr:
      return "repeated *rnr_retry* times, then " + status;
    case Verdict::transport:
      return "repeated *retry_cnt* times, then " + status;
    case Verdict::final:
      break;
  }
  return status;
}

std::string describe(OpClass op, unsigned code) {
  const std::string target = describe(outcome_of(op, code, true));
  const std::string local = describe(outcome_of(op, code, false));
  return target == local ? target : target + " where the target found it, else " + local;
}

std::string describe(OpClass plain, OpClass indexed, unsigned code) {
  const std::string usual = describe(plain, code);
  const std::string special = describe(indexed, code);
  return usual == special ? usual : usual + "; at a region with an index of its own " + special;
}

struct Row {
  std::string send, rdma, immediate;
  bool operator==(const Row&) const = default;
};

Row row_of(unsigned code) {
  return {describe(OpClass::send, code), describe(OpClass::rdma, OpClass::rdma_indexed, code),
          describe(OpClass::rdma_immediate, OpClass::rdma_immediate_indexed, code)};
}

std::string text_of(const Row& row) {
  if (row.send == row.rdma && row.rdma == row.immediate) return row.send + ".";
  if (row.send == row.immediate)
    return "Sends and writes with immediate data: " + row.send +
           ". Other writes, reads and atomics: " + row.rdma + ".";
  if (row.rdma == row.immediate)
    return "Sends: " + row.send + ". Writes, reads and atomics: " + row.rdma + ".";
  return "Sends: " + row.send + ". Writes with immediate data: " + row.immediate +
         ". Other writes, reads and atomics: " + row.rdma + ".";
}

/// Codes with the same outcome share an item; those that have none end like the unknown ones.
std::string list() {
  const Row usual = row_of(codes - 1);
  std::vector<std::pair<Row, std::string>> rows;
  for (unsigned code = C_RC_OK + 1; code < codes; code++) {
    const Row row = row_of(code);
    if (row == usual) continue;
    const auto name = code_names.find(code);
    const std::string item =
        (name == code_names.end() ? "?" : name->second) + " (" + std::to_string(code) + ")";
    const auto same = std::ranges::find(rows, row, &std::pair<Row, std::string>::first);
    if (same == rows.end())
      rows.emplace_back(row, item);
    else
      same->second += ", " + item;
  }
  std::string all;
  for (const auto& [row, items] : rows)
    all += items + "\n: " + text_of(row) + "\n\n";
  return all + "every other\n: " + text_of(usual) + "\n";
}

/// One space for any white space: where lines are broken is a matter of taste.
std::string words_of(const std::string& text) {
  std::istringstream from(text);
  std::string all, word;
  while (from >> word)
    all += word + ' ';
  return all;
}

TEST(CompletionPage, SaysWhatTheCodeDoes) {
  std::ifstream file(CXIVERBS_PAGE);
  std::stringstream page;
  page << file.rdbuf();
  ASSERT_FALSE(page.str().empty()) << CXIVERBS_PAGE;
  EXPECT_EQ(list().find('?'), std::string::npos) << "a return code without a name";
  const std::string found = words_of(page.str());
  const std::string wanted = "is the return code of the NIC. " + words_of(list());
  EXPECT_NE(found.find(wanted), std::string::npos) << "The page needs this list:\n\n" << list();
}

}  // namespace
}  // namespace cxi
