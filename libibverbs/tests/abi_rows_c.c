/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "abi_tables.inc"

/* The pointer decides: a function type itself would be compared without its qualifiers. */
#define SIGNATURE(function, returns, params)                                                       \
	{#function, "signature", 1,                                                                \
	 __builtin_types_compatible_p(__typeof__(&(function)), returns(*) params)},

static const struct abi_row signatures[] = {
#include "abi_signature_rows.inc"
};

#define ROWS(table) ((struct abi_rows){(table), sizeof(table) / sizeof((table)[0])})

struct abi_rows abi_layouts_in_c(void)
{
	return ROWS(layouts);
}

struct abi_rows abi_values_in_c(void)
{
	return ROWS(values);
}

struct abi_rows abi_signatures_in_c(void)
{
	return ROWS(signatures);
}
