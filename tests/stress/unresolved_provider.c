/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A provider for a library that has a function more: it cannot be loaded. */
#include <infiniband/driver.h>

void verbs_function_of_another_library(void);

static __attribute__((constructor)) void start(void)
{
	verbs_function_of_another_library();
}
