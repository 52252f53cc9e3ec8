/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A provider in C that does nothing but register, to be loaded by the tests. */
#include <infiniband/driver.h>

static const struct verbs_match_ent match_table[] = {
	VERBS_NAME_MATCH("loaded", NULL),
	{},
};

static const struct verbs_device_ops loaded_ops = {
	.name = "loaded",
	.match_min_abi_version = 1,
	.match_max_abi_version = 1,
	.match_table = match_table,
};

PROVIDER_DRIVER(loaded, loaded_ops)
