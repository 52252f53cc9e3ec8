// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The seccomp filter that brings a program's calls here. It names every call that can touch the
// modelled trees or a device; all else, and every call of a foreign architecture, passes in the
// kernel.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "host/fd.hpp"

namespace sim::host {

// Program text of the filter for the architecture that this was built for.
std::vector<sock_filter> filter_program();

// 0, or the errno that says why system calls cannot be brought here on this kernel at all.
int filter_support();

// Puts the calling thread, and all that it starts from now on, under the filter. With CAP_SYS_ADMIN
// set-uid programs keep working; without it, no_new_privs is set first. Returns 0 and the listener,
// or a positive errno; EBUSY: somebody is listening already.
int install_filter(Fd* listener);

}  // namespace sim::host
