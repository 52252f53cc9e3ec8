// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Environment variables, and which of them a set-user-id program listens to.
#pragma once

#include <stdlib.h>

#include <cstring>

namespace verbs {

// Variables that name files to read, write or load: unset for a program that runs with rights its
// caller does not have.
inline const char* trusted_variable(const char* name) noexcept {
  return secure_getenv(name);
}

// Switches. On means: set to anything but "0".
inline bool variable_is_on(const char* name) noexcept {
  const char* value = getenv(name);
  return value && strcmp(value, "0") != 0;
}

inline bool variable_exists(const char* name) noexcept {
  return getenv(name) != nullptr;
}

}  // namespace verbs
