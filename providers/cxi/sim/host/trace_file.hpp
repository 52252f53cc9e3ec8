// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The trace that `--trace` asks for: one line per event, with the seconds since the start in front.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include "nic/ports.hpp"

namespace sim::host {

class TraceFile final : public nic::Trace {
 public:
  // Empty: no trace; "-": standard error. Throws std::system_error if the file cannot be made.
  TraceFile(const std::string& path, nic::Clock& clock);
  ~TraceFile() override;

  bool enabled() const override { return file_ != nullptr; }
  void line(std::string_view text) override;
  void flush();

 private:
  nic::Clock& clock_;
  const uint64_t start_ns_;
  std::mutex lock_;
  FILE* file_ = nullptr;
  bool complained_ = false;
};

}  // namespace sim::host
