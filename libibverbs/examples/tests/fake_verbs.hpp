// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A verbs library with one device in the memory of the test, in place of libibverbs: it carries
// messages between queue pairs of the process, refuses what it is told to refuse and counts what is
// alive.
#pragma once

#include <infiniband/verbs.h>

#include <map>
#include <optional>
#include <string>

namespace fake {

struct State {
  bool device_exists = true;
  enum ibv_transport_type transport = IBV_TRANSPORT_SLINGSHOT;
  std::uint64_t caps = IBV_DEVICE_RU | IBV_DEVICE_KEY64 | IBV_DEVICE_IMM64;
  std::uint32_t max_inline = 0;
  std::map<std::string, int> refusals;  ///< name of the call without ibv_, errno value

  int alive = 0;  ///< objects that were made and not destroyed
  std::uint32_t job_id = 0;
  std::optional<std::uint32_t> asked_qpn;
  std::string send_path;  ///< how the last message was posted
  std::optional<std::uint64_t>
      corrupt_imm;  ///< immediate data that arrives instead of what was sent
  enum ibv_wc_status send_status = IBV_WC_SUCCESS;
};

/// A fresh library for each test.
State& reset();
State& state();

}  // namespace fake
