// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

namespace launcher {

/// This process, and what it executes, can no longer put input into a terminal (TIOCSTI, and the
/// paste of a virtual console): a shell that reads it there may have more rights. Needs
/// no_new_privs. Throws std::system_error.
void forbid_terminal_input();

}  // namespace launcher
