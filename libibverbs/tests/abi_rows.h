/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the headers say, seen by a C and by a C++ compiler, beside what the tables say.
 */
#ifndef ABI_ROWS_H
#define ABI_ROWS_H

#include <stddef.h>

struct abi_row {
	const char *name;
	const char *what;
	long long table;
	long long header;
};

struct abi_rows {
	const struct abi_row *row;
	size_t count;
};

#ifdef __cplusplus
extern "C" {
#endif

struct abi_rows abi_layouts_in_c(void);
struct abi_rows abi_values_in_c(void);
struct abi_rows abi_signatures_in_c(void);
struct abi_rows abi_layouts_in_cpp(void);
struct abi_rows abi_values_in_cpp(void);

#ifdef __cplusplus
}
#endif

#endif /* ABI_ROWS_H */
