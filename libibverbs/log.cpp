// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "log.hpp"

#include <infiniband/driver.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "environment.hpp"
#include "export.hpp"

namespace verbs {
namespace {

uint32_t log_level = VERBS_LOG_LEVEL_NONE;
FILE* log_stream;

FILE* default_stream() {
#ifdef VERBS_DEBUG
  return stderr;
#else
  return nullptr;
#endif
}

}  // namespace

void init_log() noexcept {
  const char* level = getenv("VERBS_LOG_LEVEL");
  log_level = level ? static_cast<uint32_t>(strtoul(level, nullptr, 0)) : 0;
  if (log_level == VERBS_LOG_LEVEL_NONE) return;
  const char* file = trusted_variable("VERBS_LOG_FILE");
  log_stream = file ? fopen(file, "a+e") : nullptr;
  if (!log_stream) log_stream = default_stream();
  if (!log_stream) log_level = VERBS_LOG_LEVEL_NONE;
}

}  // namespace verbs

// The sink of the verbs_err() family. Leaves errno alone, so that it can stand before a return.
VERBS_EXPORT void __verbs_log(verbs_context*, uint32_t level, const char* format, ...) {
  if (level > verbs::log_level || !verbs::log_stream) return;
  int kept = errno;
  va_list arguments;
  va_start(arguments, format);
  vfprintf(verbs::log_stream, format, arguments);
  va_end(arguments);
  errno = kept;
}
