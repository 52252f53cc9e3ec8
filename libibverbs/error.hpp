// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// How errors leave this library. Inside, a function returns 0 or a positive errno value and leaves
// errno alone; these functions are used on the last line of a public function only.
#pragma once

#include <cerrno>
#include <cstddef>

namespace verbs {

// Whether something failed for want of memory or descriptors: it may well work the next time.
inline bool is_shortage(int error) noexcept {
  return error == ENOMEM || error == EMFILE || error == ENFILE;
}

// A pointer function failed: NULL, with errno saying why.
inline std::nullptr_t null_with_errno(int error) noexcept {
  errno = error;
  return nullptr;
}

// A function of the old school failed: -1, with errno saying why.
inline int minus_one(int error) noexcept {
  errno = error;
  return -1;
}

// An rc-style function: returns what it got, and tells errno too when that is an error.
inline int with_errno(int error) noexcept {
  if (error) errno = error;
  return error;
}

}  // namespace verbs
