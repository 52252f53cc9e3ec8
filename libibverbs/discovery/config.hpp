// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The configuration folder, which says what providers are to be loaded.
#pragma once

#include <cstdio>

#include "../memory.hpp"

namespace verbs {

using Names = Array<char*>;  // each from malloc()

void free_names(Names& names) noexcept;

// Adds the drivers that one file names. Lines that make no sense are reported with this file name
// and skipped. 0 or ENOMEM.
int read_config(FILE* file, const char* name, Names& names) noexcept;

// The same for every regular file of a folder. A folder that cannot be opened is reported.
int read_config_folder(const char* path, Names& names) noexcept;

// Adds the names of a list with ':' or ';' between them. 0 or ENOMEM.
int split_names(const char* list, Names& names) noexcept;

}  // namespace verbs
