// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What leaves the library. Which version a name has stands in libibverbs.map; only names that exist
// in more than one version are tied to the older one here.
#pragma once

#define VERBS_EXPORT extern "C" __attribute__((visibility("default")))

// The same for a variable, which a header has declared as C.
#define VERBS_EXPORT_DATA __attribute__((visibility("default")))

// VERBS_OLD_VERSION(function, "name@NODE"): programs that were linked against an old version of a
// name get this function. A program linked today never does.
#define VERBS_OLD_VERSION(function, versioned_name) \
  __asm__(".symver " #function ", " versioned_name)
