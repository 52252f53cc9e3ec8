// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/trace_file.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <system_error>

namespace sim::host {

TraceFile::TraceFile(const std::string& path, nic::Clock& clock)
    : clock_(clock), start_ns_(clock.monotonic_ns()) {
  if (path.empty()) return;
  if (path == "-") {
    int copy = fcntl(2, F_DUPFD_CLOEXEC, 3);
    if (copy >= 0) file_ = fdopen(copy, "w");
  } else {
    file_ = std::fopen(path.c_str(), "we");
  }
  if (file_ == nullptr) throw std::system_error(errno, std::generic_category(), path);
  std::setvbuf(file_, nullptr, _IOFBF, 1 << 16);
}

TraceFile::~TraceFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void TraceFile::line(std::string_view text) {
  if (file_ == nullptr) return;
  uint64_t us = (clock_.monotonic_ns() - start_ns_) / 1000;
  std::lock_guard guard(lock_);
  std::fprintf(file_, "%" PRIu64 ".%06" PRIu64 " %.*s\n", us / 1'000'000, us % 1'000'000,
               static_cast<int>(text.size()), text.data());
}

void TraceFile::flush() {
  if (file_ == nullptr) return;
  std::lock_guard guard(lock_);
  if (std::fflush(file_) == 0 && std::ferror(file_) == 0) return;
  if (!complained_) std::fprintf(stderr, "cxi_sim: the trace is incomplete: %s\n", strerror(errno));
  complained_ = true;
}

}  // namespace sim::host
