// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What the library keeps behind an open device, out of sight of programs and providers.
#pragma once

#include <infiniband/driver.h>

struct verbs_ex_private {
  verbs_context_ops ops;  // no slot is ever empty
  uint32_t driver_id;
  bool imported;
};

namespace verbs {

inline verbs_context& extended_context(const ibv_context& context) noexcept {
  auto* bytes = reinterpret_cast<const char*>(&context) - offsetof(verbs_context, context);
  return *reinterpret_cast<verbs_context*>(const_cast<char*>(bytes));
}

inline verbs_ex_private& private_context(const ibv_context& context) noexcept {
  return *extended_context(context).priv;
}

// The provider's functions for a device.
inline const verbs_context_ops& ops_of(const ibv_context* context) noexcept {
  return private_context(*context).ops;
}

}  // namespace verbs
